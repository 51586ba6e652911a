"""The byte work of `_plain.py` for the shoe: the same four functions as machine code that allocates nothing.

Only MicroPython can read this file; `frame.py` falls back to `_plain.py` everywhere else.
"""

# ruff: noqa: F821
from array import array

import micropython


def _nibbles():
    table = array("I", [0] * 16)  # of the reflected polynomial 0xEDB88320 (IEEE 802.3), 4 bits a step
    for i in range(16):
        remainder = i
        for _ in range(4):
            remainder = (remainder >> 1) ^ 0xEDB88320 if remainder & 1 else remainder >> 1
        table[i] = remainder
    return table


_TABLE = _nibbles()


@micropython.viper
def copy(target: ptr8, at: int, source: ptr8, start: int, length: int):
    for i in range(length):
        target[at + i] = source[start + i]


@micropython.viper
def crc_into(buffer: ptr8, at: int, length: int, target: ptr8, where: int):
    table = ptr32(_TABLE)
    remainder = -1  # an int is 32 bits on the Pico and 64 on a computer: only the low 32 are used
    for i in range(at, at + length):
        remainder ^= buffer[i]
        remainder = ((remainder >> 4) & 0x0FFFFFFF) ^ table[remainder & 15]
        remainder = ((remainder >> 4) & 0x0FFFFFFF) ^ table[remainder & 15]
    remainder ^= -1
    for i in range(4):
        target[where + i] = remainder & 255
        remainder >>= 8


@micropython.viper
def stuff(buffer: ptr8, at: int, length: int):
    code = at
    end = at + 1 + length
    for i in range(at + 1, end):
        if buffer[i] == 0:
            buffer[code] = i - code
            code = i
    buffer[code] = end - code


@micropython.viper
def unstuff(buffer: ptr8, length: int) -> bool:
    i = int(buffer[0])
    while i < length:
        code = int(buffer[i])
        buffer[i] = 0
        i += code
    return i == length
