"""The serial port of a shoe: which one it is, and its bytes."""
