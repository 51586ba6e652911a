"""The MB85RC256V, 32,768 bytes of FRAM on I2C, byte by byte as its data sheet has it (Fujitsu DS501-00017-3v0-E).

For both tiers of emulation: a plug calls `connect`, `write`, `read`, `stop` as they happen on the bus.
"""

SIZE = 32768
ADDRESS = 0x50  # 1010 A2 A1 A0, all three to ground
RESERVED = 0x7C  # reserved slave ID F8/F9: asks for the device ID
DEVICE_ID = b"\x00\xa5\x10"  # manufacturer 00A, density 5, product 510

# "absent": nobody answers. "stuck": SDA is held low, no transfer begins. "forgets": acknowledges writes and keeps
# nothing. "protected": its WP pin is high, so writes are acknowledged and ignored. "flips": bit 4 of what is read is
# wrong. "stranger": another make answers at its address.
FAULTS = ("absent", "stuck", "forgets", "protected", "flips", "stranger")


TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable


class PowerLossError(Exception):
    """The supply went during a transfer: what was written byte by byte until then is kept, the rest never happens."""


class Fram:
    """`memory` is a bytearray of SIZE bytes (default: blank, zeros). `on_write(address, byte)` hears each byte kept.

    A byte is in the cells once it is acknowledged; there is no write time and no page. `cut` counts down the bytes
    written until PowerLossError is raised, before that byte is kept (`torn`: it is kept with the bits of `torn` only).
    """

    def __init__(self, memory: "bytearray | None" = None, on_write: "Callable[[int, int], None] | None" = None) -> None:
        self.memory = bytearray(SIZE) if memory is None else memory
        self.fault = ""
        self.cut = -1
        self.torn: int | None = None
        self.writes = 0  # bytes kept
        self._on_write = on_write
        self._address = 0  # the part's own counter: a read without an address goes on from here
        self._expected = 0  # bytes of address still to come in this write
        self._id_at = -1  # device ID: how much of it is read; -1: not asked for
        self._reading_id = False

    def connect(self, address: int, reading: bool) -> bool:
        """START (or repeated START) and the slave address; whether it is acknowledged."""
        if self.fault == "stuck":
            raise OSError(110)
        if self.fault == "absent":
            return False
        if address == RESERVED:
            self._reading_id = reading and self._id_at >= 0
            if not reading:
                self._id_at = -2  # the device address word comes next
                self._expected = 0
            return self._reading_id or not reading
        if address != ADDRESS:
            return False
        self._id_at = -1
        self._reading_id = False
        self._expected = 0 if reading else 2
        return True

    def write(self, byte: int) -> bool:
        """A byte from the master; whether it is acknowledged."""
        if self._id_at == -2:
            if byte >> 1 != ADDRESS:
                self._id_at = -1
                return False
            self._id_at = 0
        elif self._expected:
            self._expected -= 1
            self._address = (self._address << 8 | byte) & (SIZE - 1)  # the first address bit is a don't care
        else:
            self._keep(byte)
            self._address = (self._address + 1) & (SIZE - 1)
        return True

    def read(self) -> int:
        """A byte to the master; sequential reads roll over from 7FFF to 0000, the ID begins again."""
        if self._reading_id:
            byte = (b"\x04\x42\x00" if self.fault == "stranger" else DEVICE_ID)[self._id_at]
            self._id_at = (self._id_at + 1) % len(DEVICE_ID)
            return byte
        byte = self.memory[self._address]
        self._address = (self._address + 1) & (SIZE - 1)
        return byte ^ 0x10 if self.fault == "flips" else byte

    def stop(self) -> None:
        """STOP, or the next START: nothing waits to be written."""
        self._id_at = -1
        self._reading_id = False

    def _keep(self, byte: int) -> None:
        if self.cut >= 0:
            if self.cut == 0:
                self.cut = -1
                if self.torn is not None:
                    was = self.memory[self._address]
                    self._store(was & ~self.torn & 0xFF | byte & self.torn)
                raise PowerLossError
            self.cut -= 1
        if self.fault not in ("forgets", "protected"):
            self._store(byte)

    def _store(self, byte: int) -> None:
        self.memory[self._address] = byte
        self.writes += 1
        if self._on_write:
            self._on_write(self._address, byte)
