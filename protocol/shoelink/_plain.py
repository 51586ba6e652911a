"""The byte work of a frame in plain Python: what CPython runs, and MicroPython where it cannot compile `_viper.py`.

Zeros are stuffed in place: a frame is shorter than 254 bytes, so COBS is one leading code and, in the place of every
zero, the distance to the next one (Cheshire and Baker, "Consistent Overhead Byte Stuffing", 1999).
"""

from binascii import crc32


def copy(target: bytearray, at: int, source: bytes | bytearray | memoryview, start: int, length: int) -> None:
    """Copy `length` bytes of `source` from `start` into `target` from `at`."""
    target[at : at + length] = source[start : start + length]


def head_into(target: bytearray, at: int, kind: int, flags: int, seq: int, ack: int) -> None:
    """Write the six bytes of a header into `target` from `at`; of `seq` and `ack` the low 16 bits."""
    target[at] = kind
    target[at + 1] = flags
    target[at + 2] = seq & 255
    target[at + 3] = (seq >> 8) & 255
    target[at + 4] = ack & 255
    target[at + 5] = (ack >> 8) & 255


def crc_into(buffer: bytearray, at: int, length: int, target: bytearray, where: int) -> None:
    """Write the CRC-32 (IEEE 802.3) of `length` bytes from `at` into `target` from `where`, little-endian."""
    target[where : where + 4] = crc32(buffer[at : at + length]).to_bytes(4, "little")


def stuff(buffer: bytearray, at: int, length: int) -> None:
    """Stuff the `length` bytes from `at + 1` in place; the leading code goes to `at`."""
    code = at
    for i in range(at + 1, at + 1 + length):
        if buffer[i] == 0:
            buffer[code] = i - code
            code = i
    buffer[code] = at + 1 + length - code


def unstuff(buffer: bytearray, length: int) -> bool:
    """Undo `stuff` on the `length` bytes from 0; False when the chain of codes does not end where the bytes end."""
    i = buffer[0]
    while i < length:
        code = buffer[i]
        buffer[i] = 0
        i += code
    return i == length
