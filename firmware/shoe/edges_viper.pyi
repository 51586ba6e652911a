from array import array

def scan(
    samples: bytes | bytearray | memoryview, n: int, state: array[int], out: array[int]
) -> int: ...
