"""The CRC-8 of the card code and of the seat nodes' frames: AUTOSAR CRC8H2F.

Polynomial 0x2F, start 0xFF, not reflected, inverted at the end (AUTOSAR SWS CRC library). Any two words of the card
code (8 bits and their check) differ in at least 4 bits, so up to 3 wrong bits are always seen (a test looks at all).

A cyclic code sees badly that bits are out of place: one in five of its words, moved by a cell, is another word. So the
card code has bit 5 of the CRC the other way about. Of all 256 constants this one sees it best when a mark is lost and
another counted twice, anywhere: one of 216 codes at most becomes another one, nearly always none (a test).
"""


def _table():
    table = bytearray(256)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x2F) & 0xFF if crc & 0x80 else crc << 1
        table[byte] = crc
    return bytes(table)


_TABLE = _table()


def crc8(data, n: int) -> int:
    """The CRC of the first `n` bytes of `data`."""
    crc = 0xFF
    for i in range(n):
        crc = _TABLE[crc ^ data[i]]
    return crc ^ 0xFF


def check_of(byte: int) -> int:
    """The check of a card's byte on its strip."""
    return _TABLE[0xFF ^ byte] ^ 0xDF
