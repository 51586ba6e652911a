"""For type checkers, which do not know viper's types."""

from array import array

def rhythm(halves: array[int], mark: int) -> int: ...
