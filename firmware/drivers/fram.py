"""The MB85RC256V: 32 kB of memory that keeps without power, on I2C. Written at bus speed, with no wait behind a write.

Data sheet: Fujitsu DS501-00017-5v1-E. An RP2040 told 1 MHz takes 10.3 µs a byte: 0.4 ms for a journal record.
"""

from machine import I2C, Pin

SIZE = 32768
_ADDRESS = 0x50
_RESERVED = 0x7C  # reserved slave ID F8: the next byte names the part that is to say what it is
_NAME = b"\xa0"  # of the part at 0x50
DEVICE_ID = b"\x00\xa5\x10"  # Fujitsu (00A), density 5, product 510
_HERTZ = 1_000_000  # the most that the part takes, from 2.7 V on; hardware/board.toml has the bus for it
_TIMEOUT_US = 4000  # of a transfer: 388 bytes; a bus that is held low must not stop the loop
_FREE = 9  # clocks that at most end whatever byte a part was in when this processor was reset (NXP UM10204, 3.1.16)


class Fram:
    """`read_into`, `write` and `device_id` raise OSError when the part does not answer."""

    DEVICE_ID = DEVICE_ID

    def __init__(self, number: int, scl: int, sda: int):
        self._number = number
        self._scl = scl
        self._sda = sda
        self._at = bytearray(2)
        self.recover()

    def recover(self) -> None:
        """Free a bus on which a part holds SDA low, and begin anew."""
        sda = Pin(self._sda, Pin.IN, Pin.PULL_UP)
        if not sda():
            scl = Pin(self._scl, Pin.OPEN_DRAIN, value=1)
            for _ in range(_FREE):
                scl(0)
                scl(1)
                if sda():  # who acknowledged a byte of a write would take more clocks for one of ones, and keep it
                    break
        self._bus = I2C(self._number, scl=Pin(self._scl), sda=Pin(self._sda), freq=_HERTZ, timeout=_TIMEOUT_US)  # type: ignore[call-overload]  # timeout is not in the stubs

    def device_id(self) -> bytes:
        """The three bytes of the part's identity."""
        self._bus.writeto(_RESERVED, _NAME, False)
        return self._bus.readfrom(_RESERVED, 3)

    def read_into(self, address: int, buffer) -> None:
        """Fill `buffer` from `address` on."""
        at = self._at
        at[0] = address >> 8
        at[1] = address & 0xFF
        self._bus.writeto(_ADDRESS, at, False)
        self._bus.readfrom_into(_ADDRESS, buffer)

    def write(self, message) -> None:
        """Write `message`: two bytes of address, high first, and what is kept from there on. Allocates nothing."""
        self._bus.writeto(_ADDRESS, message)
