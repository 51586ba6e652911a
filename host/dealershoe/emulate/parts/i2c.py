"""An I2C bus with parts on it: turns `machine.I2C` calls into what each part sees byte by byte. For both tiers."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Iterable
    from typing import Any


class Bus:
    """`parts` have `connect`, `write`, `read`, `stop` (see `fram.py`). Errors as of the rp2 port: EIO without an
    acknowledgement, ETIMEDOUT when the bus is held. `transfers` and `bytes` count what passed."""

    EIO, ETIMEDOUT = 5, 110

    def __init__(self, parts: "Iterable[Any]") -> None:
        self.parts = list(parts)
        self._talking: Any = None
        self.transfers = 0
        self.bytes = 0

    def connect(self, address: int, reading: bool) -> bool:
        """START and address: whether anyone acknowledges."""
        self.transfers += 1
        self.bytes += 1
        for part in self.parts:
            if part.connect(address, reading):
                self._talking = part
                return True
        self._talking = None
        return False

    def writeto(self, address: int, data: "bytes | bytearray", stop: bool = True) -> int:
        if not self.connect(address, False):
            self.stop()
            raise OSError(self.EIO)
        acknowledged = 0
        for byte in data:
            self.bytes += 1
            if not self._talking.write(byte):
                self.stop()
                raise OSError(self.EIO)
            acknowledged += 1
        if stop:
            self.stop()
        return acknowledged

    def readfrom_into(self, address: int, buffer: bytearray, stop: bool = True) -> None:
        if not self.connect(address, True):
            self.stop()
            raise OSError(self.EIO)
        for i in range(len(buffer)):
            buffer[i] = self._talking.read()
        self.bytes += len(buffer)
        if stop:
            self.stop()

    def stop(self) -> None:
        """STOP: every part hears it."""
        for part in self.parts:
            part.stop()
