"""What was measured on this very shoe, kept in FRAM in two copies. For main.py; the levels of the board are the
defaults.

The light is measured; the keys never are: their levels are the board's, which a copy only carries along for a firmware
that takes them from there. One that was kept with another ladder, by another firmware, is good for its light.

A copy (little-endian): "DSC" | version u8 | turn u16 | eleven readings u16 | CRC-32. The readings: free, one, dazzle,
dazzle_over, six keys, tolerance. Copies are written in turn, so a power cut while one is written leaves the other. A
newer version may have more readings behind these; its CRC is at its end, so an older firmware does not know it and
takes the defaults, and says so.
"""

import struct

from shoelink.frame import crc_into

PLACES = (0x0040, 0x0080)
VERSION = 1
_LAYOUT = "<3sBH11H"
_SIZE = struct.calcsize(_LAYOUT) + 4  # 32 bytes

GOOD, DEFAULTS, SPOILT = 0, 1, 2  # detail of FAULT CALIBRATION: kept; never kept; there, but damaged


class Calibration:
    """`free`, `one`: the double-feed light through no card and through one, `dazzle`, `dazzle_over`: the ambient light,
    `keys`: the ladder's level of each key and of none, `tolerance`. All are readings, 0 to 65535. `state` says where
    those of the light are from.

    `defaults` are twelve such numbers, in this order; `memory` a `drivers.fram.Fram` or None.
    """

    def __init__(self, memory, defaults):
        self._memory = memory
        self._turn = 0
        self.state = DEFAULTS
        self.keys = tuple(defaults[4:11])
        self.tolerance = defaults[11]
        self._set(defaults)
        if memory is not None:
            self._load()

    def _set(self, values) -> None:
        self.free, self.one, self.dazzle, self.dazzle_over = values[:4]

    def _load(self) -> None:
        copy = bytearray(_SIZE)
        crc = bytearray(4)
        best = None
        for place in PLACES:
            try:
                self._memory.read_into(place, copy)
            except OSError:
                continue
            crc_into(copy, 0, _SIZE - 4, crc, 0)
            magic, version, turn, *values = struct.unpack_from(_LAYOUT, copy, 0)
            if magic == b"DSC" and version == VERSION and copy[_SIZE - 4 :] == crc and sensible(values):
                if best is None or (turn - best[0]) & 0xFFFF < 0x8000:
                    best = (turn, values)
            elif any(byte not in (0x00, 0xFF) for byte in copy):
                self.state = SPOILT
        if best:
            self._turn = best[0]
            self._set(best[1])
            self.state = GOOD

    def keep(self, free: int, one: int) -> bool:
        """Take new levels of the double-feed light and keep everything; whether that went well."""
        values = (free, one, self.dazzle, self.dazzle_over) + self.keys[:6] + (self.tolerance,)
        if self._memory is None or not sensible(values):
            return False
        turn = (self._turn + 1) & 0xFFFF
        place = PLACES[turn & 1]
        message = bytearray(2 + _SIZE)
        message[0] = place >> 8
        message[1] = place & 0xFF
        struct.pack_into(_LAYOUT, message, 2, b"DSC", VERSION, turn, *values)
        crc_into(message, 2, _SIZE - 4, message, 2 + _SIZE - 4)
        back = bytearray(_SIZE)
        try:
            self._memory.write(message)
            self._memory.read_into(place, back)
        except OSError:
            return False
        if back != message[2:]:
            return False
        self._turn = turn
        self._set(values)
        self.state = GOOD
        return True


def sensible(values) -> bool:
    """Whether such numbers can be true: one card takes 30 to 75 % of a light that is there, keys are apart."""
    free, one, dazzle, over = values[:4]
    levels, tolerance = values[4:10], values[10]
    if not (free >= 8000 and 4 * one >= free and 10 * one <= 7 * free and over < dazzle and tolerance > 0):
        return False
    return all(b - a > 2 * tolerance for a, b in zip(levels, levels[1:]))
