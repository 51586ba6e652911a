"""The byte work of `_plain.py` for the shoe: the same five functions as machine code that allocates nothing.

Only MicroPython can read this file; `frame.py` falls back to `_plain.py` everywhere else.
"""

# ruff: noqa: F821
from array import array

import micropython


@micropython.viper
def _fill(table: ptr32):
    polynomial = -0x12477CE0  # 0xEDB88320, reflected (IEEE 802.3)
    one = 1
    below = ~(one << 31)  # as a literal it were no machine word
    for i in range(256):
        remainder = i
        for _ in range(8):
            odd = remainder & 1
            remainder = (remainder >> 1) & below
            if odd:
                remainder ^= polynomial
        table[i] = remainder


_TABLE = array("I", bytes(4 * 256))  # of 8 bits a step
_fill(_TABLE)


@micropython.viper
def copy(target: ptr8, at: int, source: ptr8, start: int, length: int):
    for i in range(length):
        target[at + i] = source[start + i]


@micropython.viper
def head_into(target: ptr8, at: int, kind: int, flags: int, seq: int, ack: int):
    target[at] = kind
    target[at + 1] = flags
    target[at + 2] = seq
    target[at + 3] = seq >> 8
    target[at + 4] = ack
    target[at + 5] = ack >> 8


@micropython.viper
def crc_into(buffer: ptr8, at: int, length: int, target: ptr8, where: int):
    table = ptr32(_TABLE)
    remainder = -1  # an int is 32 bits on the Pico and 64 on a computer: only the low 32 are used
    for i in range(at, at + length):
        remainder = ((remainder >> 8) & 0x00FFFFFF) ^ table[(remainder ^ buffer[i]) & 255]
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
