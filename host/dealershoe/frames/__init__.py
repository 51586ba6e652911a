"""Captures of the line, taken apart byte by byte: for whoever looks at a link that does not do what it should."""
