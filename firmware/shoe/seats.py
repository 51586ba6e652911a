"""The seat nodes' bus: bytes in, arrivals out. For the main loop.

A node sends four bytes when a card comes to lie on it: A5, the place's code (1..11 a seat, 32 burn, 33 board, 34
muck), flags (bit 0 a card has arrived, bit 1 face up), CRC-8H2F of the three. Bytes that make no frame are passed
over one at a time, so a damaged frame costs itself only.
"""

from shoe.crc8 import crc8

BEGIN = 0xA5
ARRIVED, FACE_UP = 1, 2
_PLACES = tuple(range(1, 12)) + (32, 33, 34)


class SeatBus:
    """Tells `arrived(place, face_up)` for each frame of an arrival. `damaged` counts bytes passed over."""

    def __init__(self, arrived):
        self._arrived = arrived
        self._frame = bytearray(4)
        self._have = 0
        self.damaged = 0

    def feed(self, data, n: int) -> None:
        """The next `n` bytes of the bus."""
        for i in range(n):
            self._frame[self._have] = data[i]
            self._have += 1
            if self._have == 4 and self._whole():
                self._have = 0
            while self._have and (self._have == 4 or self._frame[0] != BEGIN):
                self._drop()

    def _whole(self) -> bool:
        frame = self._frame
        if frame[0] != BEGIN or crc8(frame, 3) != frame[3] or frame[1] not in _PLACES:
            return False
        if frame[2] & ARRIVED:
            self._arrived(frame[1], bool(frame[2] & FACE_UP))
        return True

    def _drop(self) -> None:
        frame = self._frame
        frame[0] = frame[1]
        frame[1] = frame[2]
        frame[2] = frame[3]
        self._have -= 1
        self.damaged += 1
