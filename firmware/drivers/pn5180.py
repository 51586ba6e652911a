"""The PN5180, a reader at 13.56 MHz on SPI, asked which ISO 15693 tag lies in its field. For the board of variant rfid.

Nothing here waits: `step` does what can be done at once, two frames on the wire at most, and comes back; a pause is so
many samples of the shoe's clock. Nothing is allocated after the construction.

A frame (data sheet PN5180A0XX-C3/C4, 11.4.1 and 11.4.3): BUSY is low; NSS low; the bytes; BUSY goes high; NSS high;
BUSY goes low. A command that answers takes a second frame, in which the answer is read. Numbers are little-endian.
Commands: 11.4.3.3; registers: 12. IRQ_STATUS is not masked by IRQ_ENABLE, which only says what the pin IRQ tells; that
pin is not connected, so IRQ_ENABLE keeps a mark: a reader that has started again by itself has lost it.

The air (ISO/IEC 15693-2 and -3, one subcarrier, 26.48 kbit/s, 1 of 4): the request, one slot, 1.62 ms; 0.32 ms; the
answer, 12 bytes, 3.93 ms: flags 0, DSFID, UID with its lowest byte first and E0 last, CRC-16. The reader is told to
leave the CRC in the answer, so that it is checked here and covers the wire of the SPI as well. Two answers at once are
a collision. Nothing here ever tells a tag to be quiet; one that is all the same forgets it without a field: `cycle`.
"""

from machine import SPI, Pin
from shoe.sampleclock import PER_MS, since

NOBODY, ONE, SEVERAL, TORN = 0, 1, 2, 3  # `found`; TORN: an answer that broke off, or that none could read

# `trouble`, the detail of FAULT READER: it takes no frame or says nothing of itself; BUSY stays high; it has not sent
# what it was told to; it has started again by itself; what it gives is no answer of a tag; its field stays off.
WELL, ABSENT, BUSY, FROZEN, RESTARTED, LIES, NO_FIELD = 0, 1, 2, 3, 4, 5, 6

HERTZ = 4_000_000  # 7 MHz at most: 11.4.1
PATIENCE = 20 * PER_MS  # samples for BUSY, once in this many steps at least
LEAST_STEPS = 4
POLLS = 6  # looks at BUSY in a step, some 5 µs each
MOVES = 2  # frames in a step
IN_RESET = PER_MS // 2  # samples; 10 µs at least: 11.6 (reset), and a step is longer
BOOTS = 3 * PER_MS  # 2.5 ms at most: 10.1 (start-up)
TRY_AGAIN = 1000 * PER_MS  # after a start that came to nothing
FIELD_OFF = 5 * PER_MS  # by then a tag has forgotten
FIELD_ON = 2 * PER_MS  # until a tag can hear: 1 ms, ISO/IEC 15693-3
SOF_BY = 52  # samples, 2.6 ms: request, pause and the answer's start of frame, 2.09 ms
WHOLE_BY = 120  # 6.0 ms: the whole answer, 5.87 ms
ANSWER_BY = 170  # 8.5 ms: by now none comes any more
AGAIN = 8  # samples between two looks at an answer that should have been whole
MOST_LIES = 3  # in a row

_RX, _TX, _SOF, _RF_ON, _ERROR = 0x01, 0x02, 0x40, 0x02, 0x02  # of IRQ_STATUS's bytes 0, 0, 1, 1, 2
_BAD_RX = 0x13  # of RX_STATUS's byte 2: data integrity, protocol; any error
_COLLISION = 0x04
_MARK = 0x03  # IRQ_ENABLE: RX and TX
_ANSWER = 12
_RESIDUE = 0xF0B8  # of a CRC-16 over its own complement: ISO/IEC 13239

# (command, bytes that are answered, samples to wait behind it), in the order in which they follow each other
_VERSION, _CONFIG, _SETTINGS, _FIELD, _FIELD_IS, _LISTEN, _ASK, _LOOK, _FETCH, _OFF = range(10)
_SCRIPT = (
    (b"\x07\x10\x06", 6, 0),  # READ_EEPROM: product, firmware and EEPROM version
    (b"\x11\x0d\x8d", 0, 0),  # LOAD_RF_CONFIG: ISO 15693, 26 kbit/s, both ways
    # WRITE_REGISTER_MULTIPLE (1 write, 2 or, 3 and): CRC_RX_CONFIG without RX_CRC_ENABLE; IRQ_ENABLE; IRQ_CLEAR
    (b"\x03\x12\x03\xfe\xff\xff\xff\x01\x01\x03\x00\x00\x00\x03\x01\xff\xff\x0f\x00", 0, 0),
    (b"\x16\x00", 0, FIELD_ON),  # RF_ON
    (b"\x05\x02", 4, 0),  # READ_REGISTER_MULTIPLE: IRQ_STATUS
    # SYSTEM_CONFIG to idle; IRQ_CLEAR, or the last answer would look like a new one; SYSTEM_CONFIG to transceive
    (b"\x03\x00\x03\xf8\xff\xff\xff\x03\x01\xff\xff\x0f\x00\x00\x02\x03\x00\x00\x00", 0, 0),
    (b"\x09\x00\x26\x01\x00", 0, SOF_BY),  # SEND_DATA: inventory, one slot, high data rate; no mask
    (b"\x05\x02\x13\x01", 12, 0),  # IRQ_STATUS, RX_STATUS, IRQ_ENABLE
    (b"\x0a\x00", _ANSWER, 0),  # READ_DATA
    (b"\x17\x00", 0, FIELD_OFF),  # RF_OFF
)
_CRC = (  # of four bits: the polynomial 8408 from the low end
    0x0000, 0x1081, 0x2102, 0x3183, 0x4204, 0x5285, 0x6306, 0x7387,
    0x8408, 0x9489, 0xA50A, 0xB58B, 0xC60C, 0xD68D, 0xE70E, 0xF78F,
)  # fmt: skip

_RESTS, _PAUSES, _SENDS, _IS_TAKEN, _IS_DONE, _CHECKS = range(6)  # phases


class Pn5180:
    """`inventories` counts those that have ended (modulo 2^16), `found` is what the last one found, `uid` the tag's
    eight bytes, lowest first, if it was ONE, and `asked` the sample index at which it was asked. `trouble`: what is
    wrong with the reader; WELL again when an inventory has ended well.
    """

    def __init__(self, number: int, sck: int, mosi: int, miso: int, nss: int, busy: int, reset: int):
        self._nss = Pin(nss, Pin.OUT, value=1)
        self._reset = Pin(reset, Pin.OUT, value=0)
        self._busy = Pin(busy, Pin.IN, Pin.PULL_DOWN)  # and 10 kΩ at the module: a loose wire does not look busy
        self._spi = SPI(number, baudrate=HERTZ, polarity=0, phase=0, sck=Pin(sck), mosi=Pin(mosi), miso=Pin(miso))
        self.uid = bytearray(8)
        self.found = NOBODY
        self.inventories = 0
        self.asked = 0
        self.trouble = WELL
        self.started = False  # and the field is on
        self._back = bytearray(_ANSWER)
        self._views = tuple([memoryview(self._back)[:size] if size else None for _, size, _ in _SCRIPT])
        self._command = _VERSION
        self._held = True  # in reset
        self._reading = False  # the second frame of a command
        self._tried = False  # a start has come to nothing
        self._lies = 0
        self._steps = 0
        self._since = -1  # the phase began; -1: with the first step
        self._pause = IN_RESET
        self._phase = _PAUSES

    @property
    def ready(self) -> bool:
        """Whether `ask` and `cycle` are heeded."""
        return self.started and self._phase == _RESTS

    def ask(self) -> None:
        """Begin an inventory."""
        self._begin(_LISTEN)

    def cycle(self) -> None:
        """Switch the field off and on again: what lies in it begins anew."""
        self.started = False
        self._begin(_OFF)

    def step(self, now: int) -> None:
        """What can be done at once, at sample index `now`."""
        if self._since < 0:
            self._since = now
        for _ in range(MOVES):
            if not self._move(now):
                return

    def _begin(self, command: int) -> None:
        self._command = command
        self._reading = False
        self._phase = _SENDS
        self._steps = 0

    def _move(self, now: int) -> bool:
        """On by one frame, or less; whether there is more to do at once."""
        phase = self._phase
        if phase == _RESTS:
            return False
        if phase == _CHECKS:
            self._check()
            return False
        if phase == _PAUSES:
            if since(now, self._since) < self._pause:
                return False
            if self._held:
                self._held = False
                self._reset(1)
                self._wait(now, BOOTS)
                return False
            phase = self._enter(_SENDS, now)
        self._steps += 1
        if phase == _SENDS:
            if self._steps == 1:
                self._since = now
            if self._busy():
                return self._miss(now, BUSY)
            self._nss(0)
            if self._reading:
                self._spi.readinto(self._views[self._command], 0xFF)
            else:
                self._spi.write(_SCRIPT[self._command][0])
            phase = self._enter(_IS_TAKEN, now)
        if phase == _IS_TAKEN:
            if not self._becomes(1):
                return self._miss(now, ABSENT)
            self._nss(1)
            self._enter(_IS_DONE, now)
        if not self._becomes(0):
            return self._miss(now, BUSY)
        if self._reading or not _SCRIPT[self._command][1]:
            return self._done(now)
        self._reading = True
        self._enter(_SENDS, now)
        return True

    def _enter(self, phase: int, now: int) -> int:
        self._phase = phase
        self._since = now
        self._steps = 0
        return phase

    def _wait(self, now: int, samples: int) -> None:
        self._pause = samples
        self._enter(_PAUSES, now)

    def _becomes(self, level: int) -> bool:
        for _ in range(POLLS):
            if self._busy() == level:
                return True
        return False

    def _miss(self, now: int, why: int) -> bool:
        """BUSY is not yet as it should be."""
        if self._steps >= LEAST_STEPS and since(now, self._since) >= PATIENCE:
            self._fail(now, why)
        return False

    def _fail(self, now: int, why: int) -> None:
        """Begin anew: at once, if it has worked since the last time."""
        self._nss(1)  # or all that comes would be one frame with what was said until now
        self.trouble = why
        self._reset(0)
        self._held = True
        self._command = _VERSION
        self._reading = False
        self._wait(now, IN_RESET if self.started and not self._tried else TRY_AGAIN)
        self._tried = True
        self.started = False

    # ---- what follows when a command is done

    def _done(self, now: int) -> bool:
        """The next command; whether it can be begun at once."""
        command, back = self._command, self._back
        if command == _VERSION:
            if self._all(0x00) or self._all(0xFF):
                self._fail(now, ABSENT)
                return False
        elif command == _FIELD_IS:
            if not back[1] & _RF_ON:
                self._fail(now, NO_FIELD)
                return False
            self.started = True
            self._phase = _RESTS
            return False
        elif command == _LOOK:
            return self._look(now)
        elif command == _FETCH:
            self._phase = _CHECKS  # in a step of its own: 0.2 ms
            return False
        elif command == _ASK:
            self.asked = now
        pause = _SCRIPT[command][2]
        self._begin(_FIELD if command == _OFF else command + 1)
        if pause:
            self._wait(now, pause)
            return False
        self._since = now
        return True

    def _all(self, byte: int) -> bool:
        """Whether the six bytes of the versions are all so: nobody drives the line."""
        for i in range(6):
            if self._back[i] != byte:
                return False
        return True

    def _look(self, now: int) -> bool:
        """Whether the request went out, and what came."""
        back = self._back
        if back[8] != _MARK:
            self._fail(now, RESTARTED)
        elif back[2] & _ERROR or not back[0] & _TX:
            self._fail(now, FROZEN)
        elif not back[0] & _RX:
            if not back[1] & _SOF:
                self._end(NOBODY)
            elif since(now, self.asked) >= ANSWER_BY:
                self._end(TORN)
            else:
                self._begin(_LOOK)
                self._wait(now, max(WHOLE_BY - since(now, self.asked), AGAIN))
        elif back[6] & _COLLISION:
            self._end(SEVERAL)
        elif back[6] & _BAD_RX or back[4] != _ANSWER or back[5] & 0x01:  # 9 bits of length
            self._end(TORN)
        else:
            self._begin(_FETCH)
            self._since = now
            return True
        return False

    def _check(self) -> None:
        """What the reader calls a good answer must be one."""
        back, crc = self._back, 0xFFFF
        for byte in back:
            crc = crc >> 4 ^ _CRC[(crc ^ byte) & 0x0F]
            crc = crc >> 4 ^ _CRC[(crc ^ byte >> 4) & 0x0F]
        if crc != _RESIDUE or back[0] or back[9] != 0xE0:
            self._end(TORN, True)
            return
        uid = self.uid
        for i in range(8):
            uid[i] = back[2 + i]
        self._end(ONE)

    def _end(self, found: int, lie: bool = False) -> None:
        self.found = found
        self.inventories = self.inventories + 1 & 0xFFFF
        self._phase = _RESTS
        if lie:
            self._lies += 1
            if self._lies >= MOST_LIES:
                self.trouble = LIES
            return
        if found == ONE:
            self._lies = 0
        if not self._lies:
            self.trouble = WELL
        self._tried = False
