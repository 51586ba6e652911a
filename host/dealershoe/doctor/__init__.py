"""What is plugged in, what works, what does not, and what to do: for whoever stands before a shoe that does not."""
