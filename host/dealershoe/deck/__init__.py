"""The coded deck: card names and numbers, and the code strips that are printed on the faces."""
