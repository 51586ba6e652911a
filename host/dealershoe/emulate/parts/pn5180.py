"""The PN5180 with ISO 15693 tags in its field: frames on SPI with NSS and BUSY, registers, the air. For both tiers.

Data sheet PN5180A0XX-C3/C4, 11.4.1 and 11.4.3 (frames, commands), and the registers, as published drivers cite it
(tueddy/PN5180-Library, NXP's reader library). Of the air (ISO/IEC 15693-2, -3; one subcarrier, 26.48 kbit/s): a request
of 5 bytes takes 1.62 ms, the pause 0.32, an answer of 12 bytes 3.93 ms. Times are microseconds of whoever plugs it in,
ever growing. How long the part is busy with a command, and that it boots in 2.5 ms, are assumptions.
"""

# "absent": nobody answers, BUSY stays low. "zeros": it has no supply and holds the lines low, but BUSY follows NSS.
# "busy": BUSY stays high. "floats": BUSY's wire is loose and reads anything. "freezes": when a tag leaves in the middle
# of its answer the transceiver hangs until the reset. "restarts": a dip of its supply now and then. "flips": a bit of
# each answer is wrong. "no E0": answers are whole and no UIDs. "no field": the transmitter does not come on.
FAULTS = ("absent", "zeros", "busy", "floats", "freezes", "restarts", "flips", "no E0", "no field")

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable

SYSTEM_CONFIG, IRQ_ENABLE, IRQ_STATUS, IRQ_CLEAR, CRC_RX_CONFIG, RX_STATUS, RF_STATUS = 0, 1, 2, 3, 0x12, 0x13, 0x1D
RX, TX, IDLE, TX_RFOFF, TX_RFON, SOF, GENERAL_ERROR = 1, 2, 4, 0x100, 0x200, 0x4000, 0x20000
VERSIONS = b"\x05\x03\x05\x03\x00\x91"  # of EEPROM 10: product 3.5, firmware 3.5, EEPROM 145.0
REQUEST_US, PAUSE_US, SOF_US, ANSWER_US = 1620, 320, 150, 3930
POWERED_US = 1000  # a tag hears so long after it has come into the field
BOOT_US = 2500
BUSY_US = {0x07: 60, 0x11: 300, 0x16: 800, 0x17: 100}  # else 25
RESTART_US = 400_000  # from one dip to the next


def crc16(data: "bytes | bytearray") -> int:
    """As it is sent: ISO/IEC 13239, preset FFFF, polynomial 8408, complemented."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return crc ^ 0xFFFF


def uid_of(serial: int) -> bytes:
    """The UID of a tag of some maker, lowest byte first as on the air: E0, the maker, a number."""
    return bytes((serial & 0xFF, serial >> 8 & 0xFF, serial >> 16 & 0xFF, serial >> 24 & 0xFF, 0, 1, 4, 0xE0))


class Pn5180:
    """`enter` and `leave` move tags, by their UIDs, in its field. `select`, `transfer`, `busy`, `reset` are its pins.

    `at_once`: the part takes no time over its commands, though the air does. `quiet`: tags that were told to be, and so
    ignore an inventory until they lose the field. `field_ons` counts how often the field was switched on, `heard` the
    inventories that went out, `frames` what came on SPI. `busy_until`: when it is done with the last command.
    """

    def __init__(self, at_once: bool = False) -> None:
        self.fault = ""
        self.quiet: list[bytes] = []
        self.field_ons = self.heard = self.frames = 0
        self.on_frame: Callable[[bytes], None] | None = None
        self._at_once = at_once
        self._tags: list[tuple[bytes, int]] = []  # (UID, since when it has been in the field)
        self._selected = False
        self._in: bytearray = bytearray()
        self._out = b""  # an answer that waits to be read
        self._reads = False
        self._lost = False  # this frame came while it was busy
        self.busy_until = 0
        self._held = True
        self._boots = 0
        self._restarted = 0
        self._noise = 1
        self._registers: dict[int, int] = {}
        self._field = -1  # since when it is on
        self._received = b""
        self._asked = -1  # when the request on the air began; -1: none
        self._answers: list[bytes] = []
        self._torn = False
        self._frozen = False
        self._begin(0)

    # ---- the world

    def enter(self, uid: bytes, now: int) -> None:
        """A tag comes into the field."""
        self._settle(now)
        self._tags = [tag for tag in self._tags if tag[0] != uid] + [(uid, now)]

    def leave(self, uid: bytes, now: int) -> None:
        """A tag leaves it."""
        self._settle(now)
        self._tags = [tag for tag in self._tags if tag[0] != uid]
        self.quiet = [other for other in self.quiet if other != uid]
        if self._asked >= 0 and uid in self._answers:
            if now < self._asked + REQUEST_US + PAUSE_US + SOF_US:
                self._answers.remove(uid)
            else:
                self._torn = True

    def clear(self, now: int) -> None:
        """No tag is left in the field."""
        for uid, _ in list(self._tags):
            self.leave(uid, now)

    # ---- pins

    def reset(self, level: int, now: int) -> None:
        """RESET_N."""
        if not level:
            self._held = True
            self._begin(now)
        elif self._held:
            self._held = False
            self._boots = now + (0 if self._at_once else BOOT_US)

    def select(self, level: int, now: int) -> None:
        """NSS: low begins a frame, high ends it and has it done."""
        if not level and not self._selected:
            self._selected = True
            self._in = bytearray()
            self._reads = bool(self._out)
            self._lost = self.busy(now) != 0
        elif level and self._selected:
            self._selected = False
            if self._in and not self._lost:
                self._heed(now)

    def transfer(self, byte: int, now: int) -> int:
        """A byte each way."""
        if self.fault == "absent":
            return 0xFF
        if self._held or not self._selected:
            return 0
        at = len(self._in)
        self._in.append(byte)
        if self.fault == "zeros":
            return 0
        if self._reads and not self._lost:
            return self._out[at] if at < len(self._out) else 0xFF
        return 0xFF

    def busy(self, now: int) -> int:
        """BUSY."""
        if self.fault == "busy":
            return 1
        if self.fault == "absent":
            return 0
        if self.fault == "floats":
            self._noise = self._noise * 75 % 65537
            return self._noise >> 4 & 1
        if self._held or now < self._boots:
            return 0
        return 1 if now < self.busy_until or (self._selected and self._in) else 0

    # ---- commands

    def _begin(self, now: int) -> None:
        self._registers = {IRQ_STATUS: IDLE, CRC_RX_CONFIG: 0}
        self._field = -1
        self._received = self._out = b""
        self._asked = -1
        self._answers = []
        self._torn = self._frozen = False
        self.busy_until = 0
        self._restarted = now
        self.quiet = []

    def _heed(self, now: int) -> None:
        self.frames += 1
        self._settle(now)
        data = bytes(self._in)
        if self.on_frame:
            self.on_frame(data)
        if self._reads:
            self._out = b""
        elif now >= self._boots:
            self.busy_until = now + (0 if self._at_once else BUSY_US.get(data[0], 25))
            self._do(data, now)

    def _do(self, data: bytes, now: int) -> None:
        command, rest = data[0], data[1:]
        if command in (0, 1, 2) and len(rest) == 5:
            self._write(rest[0], command + 1, _number(rest[1:]))
        elif command == 3 and rest and len(rest) % 6 == 0:
            for at in range(0, len(rest), 6):
                self._write(rest[at], rest[at + 1], _number(rest[at + 2 : at + 6]))
        elif command in (4, 5) and rest:
            self._answer(b"".join([_four(self._read(address)) for address in rest]))
        elif command == 7 and len(rest) == 2:
            memory = bytes(0x10) + VERSIONS + bytes(0xE9)
            self._answer(memory[rest[0] : rest[0] + rest[1]])
        elif command == 9 and len(rest) > 1:
            self._send(rest[1:], now)
        elif command == 0x0A:
            self._answer(self._received)
        elif command == 0x11 and len(rest) == 2:
            if rest == b"\x0d\x8d":  # ISO 15693, 26 kbit/s; with its CRCs
                self._registers[CRC_RX_CONFIG] = 1
        elif command == 0x16:
            self.field_ons += 1
            if self.fault != "no field":
                self._field = now
                self._raise(TX_RFON)
        elif command == 0x17:
            self._field = -1
            self.quiet = []
            self._raise(TX_RFOFF)
        else:
            self._raise(GENERAL_ERROR)

    def _answer(self, data: bytes) -> None:
        self._out = data

    def _raise(self, bit: int) -> None:
        self._registers[IRQ_STATUS] |= bit

    def _read(self, address: int) -> int:
        return self._registers.get(address, 0)

    def _write(self, address: int, action: int, value: int) -> None:
        if address == IRQ_CLEAR:
            self._registers[IRQ_STATUS] &= ~value
            return
        was = self._registers.get(address, 0)
        new = value if action == 1 else was | value if action == 2 else was & value
        self._registers[address] = new
        if address == SYSTEM_CONFIG and new & 7 == 0 and not self._frozen:
            self._asked = -1  # idle: what is on the air is not heard

    # ---- the air

    def _send(self, request: bytes, now: int) -> None:
        if self._frozen or self._read(SYSTEM_CONFIG) & 7 != 3 or self._asked >= 0:
            self._raise(GENERAL_ERROR)
            return
        self._asked = now
        self._torn = False
        self._answers = []
        if self._field >= 0 and request == b"\x26\x01\x00":
            self.heard += 1
            self._answers = [
                uid
                for uid, since in self._tags
                if uid not in self.quiet and now >= max(since, self._field) + POWERED_US
            ]

    def _settle(self, now: int) -> None:
        """What has come over the air by now."""
        if self.fault == "restarts" and not self._held and now - self._restarted >= RESTART_US:
            self._begin(now)
            self._boots = now + (0 if self._at_once else BOOT_US)
        if self._asked < 0:
            return
        if now >= self._asked + REQUEST_US:
            self._raise(TX)
        answers = now >= self._asked + REQUEST_US + PAUSE_US + SOF_US and self._answers
        if not answers:
            return
        self._raise(SOF)
        if self._torn and self.fault == "freezes":
            self._frozen = True
            return
        if now < self._asked + REQUEST_US + PAUSE_US + ANSWER_US:
            return
        self._raise(RX)
        self._asked = -1
        uid = self._answers[0]
        if self.fault == "no E0":
            uid = uid[:7] + b"\x16"
        whole = b"\x00\x00" + uid
        crc = crc16(whole)
        whole += bytes((crc & 0xFF, crc >> 8))
        if self.fault == "flips":
            whole = whole[:3] + bytes((whole[3] ^ 0x10,)) + whole[4:]
        if self._registers[CRC_RX_CONFIG] & 1:
            whole = whole[:-2]
        error = 0
        if self._torn:
            error, whole = 0x120000, whole[:5]
        elif len(self._answers) > 1:
            error, whole = 0x140000, bytes([whole[i] | self._answers[1][i - 2] for i in range(2, 10)])
        self._received = whole
        self._registers[RX_STATUS] = error | len(whole)


def _number(four: bytes) -> int:
    return four[0] | four[1] << 8 | four[2] << 16 | four[3] << 24


def _four(value: int) -> bytes:
    return bytes((value & 0xFF, value >> 8 & 0xFF, value >> 16 & 0xFF, value >> 24 & 0xFF))
