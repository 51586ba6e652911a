"""The host's end of the link: what it swaps in for speed."""
