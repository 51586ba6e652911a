"""The PN5180, a reader at 13.56 MHz on SPI, asked which ISO 15693 tag lies in its field. For the board of variant rfid.

Nothing here waits: `step` does what can be done at once, one frame on the wire at most, and comes back; a pause is so
many samples of the shoe's clock. Nothing is allocated after the construction. It is called while a card passes, so it
is written for speed: 0.3 ms at most (tests/hil/test_pico_rfid.py).

What is known of the part is from NXP's data sheet PN5180A0XX-C3/C4 as published drivers cite it (tueddy/PN5180-Library,
NXP's own reader library): nobody has held this driver against a real one. A frame (11.4.1, 11.4.3.1): BUSY is low; NSS
low; the bytes; BUSY goes high; NSS high; BUSY goes low. A command that answers takes a second frame, in which it is
read. Numbers are little-endian. Commands: 11.4.3.3. IRQ_STATUS is not masked by IRQ_ENABLE, which only says what the
pin IRQ tells; that pin is not connected, so IRQ_ENABLE keeps a mark: a reader that has started again by itself has lost
it.

The air (ISO/IEC 15693-2 and -3, one subcarrier, 26.48 kbit/s, 1 of 4): the request, one slot, 1.62 ms; 0.32 ms; the
answer, 12 bytes, 3.93 ms: flags 0, DSFID, UID with its lowest byte first and E0 last, CRC-16. The reader is told to
leave the CRC in the answer, so that it is checked here and covers the wire of the SPI as well. Two answers at once are
a collision. Nothing here ever tells a tag to be quiet; one that is all the same forgets it without a field: `cycle`.
"""

from array import array

from machine import SPI, Pin
from micropython import const
from shoe.sampleclock import PER_MS

NOBODY, ONE, SEVERAL, TORN = 0, 1, 2, 3  # `found`; TORN: an answer that broke off, or that none could read

# `trouble`, the detail of FAULT READER: it takes no frame or says nothing of itself; BUSY stays high; it has not sent
# what it was told to; it has started again by itself; what it gives is no answer of a tag; its field stays off.
WELL, ABSENT, BUSY, FROZEN, RESTARTED, LIES, NO_FIELD = 0, 1, 2, 3, 4, 5, 6

HERTZ = 4_000_000  # 7 MHz at most: 11.4.1
PATIENCE = 20 * PER_MS  # samples for BUSY, once in this many steps at least
LEAST_STEPS = 4
IN_RESET = PER_MS // 2  # samples; 10 µs at least
BOOTS = 3 * PER_MS  # 2 ms to ramp up, and a half
TRY_AGAIN = 1000 * PER_MS  # after a start that came to nothing
FIELD_OFF = 5 * PER_MS  # by then a tag has forgotten
FIELD_ON = 2 * PER_MS  # until a tag can hear: 1 ms, ISO/IEC 15693-3
SOF_BY = 48  # samples, 2.4 ms: request, pause and the answer's start of frame, 2.09 ms
WHOLE_BY = 120  # 6.0 ms: the whole answer, 5.87 ms
ANSWER_BY = 200  # 10 ms: by now none comes any more
AGAIN = 8  # samples between two looks at an answer that should have been whole
MOST_LIES = 3  # in a row

_MASK = const(0x3FFFFFFF)  # of the sample clock
_RX, _TX, _SOF, _RF_ON, _ERROR = const(0x01), const(0x02), const(0x40), const(0x02), const(0x02)  # see _look
_BAD_RX = const(0x13)  # of RX_STATUS's byte 2: data integrity, protocol; any error
_COLLISION = const(0x04)
_MARK = const(0x03)  # IRQ_ENABLE: RX and TX
_ANSWER = const(12)
_RESIDUE = const(0xF0B8)  # of a CRC-16 over its own complement: ISO/IEC 13239
_E0 = const(0xE0)  # the highest byte of every UID: ISO/IEC 15693-3

# (command, bytes that are answered, samples to wait behind it), in the order in which they follow each other
_VERSION, _CONFIG, _SETTINGS, _FIELD = const(0), const(1), const(2), const(3)
_FIELD_IS, _LISTEN, _ASK, _LOOK, _FETCH, _OFF = const(4), const(5), const(6), const(7), const(8), const(9)
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

# Phases: nothing to do; until a time; a frame is to be sent or read; to be taken, BUSY high; done, BUSY low; an answer
# is to be checked, and its second half.
_RESTS, _PAUSES, _SENDS, _TAKEN, _DONE = const(0), const(1), const(2), const(3), const(4)
_CHECKS, _CHECKED = const(5), const(6)


def _crcs():
    """Of each byte, the polynomial 8408 from the low end."""
    table = array("H", bytes(512))
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
        table[byte] = crc
    return table


class Pn5180:
    """`ready`: `ask` and `cycle` are heeded. `inventories` counts those that have ended (modulo 2^16), `found` is what
    the last one found, `uid` the tag's eight bytes, lowest first, if it was ONE, and `asked` the sample index at which
    it was asked. `started`: the field is on. `trouble`: what is wrong with the reader; WELL again when an inventory has
    ended well.
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
        self.started = self.ready = False
        self._crcs = _crcs()
        self._crc = 0
        self._back = bytearray(_ANSWER)
        self._views = tuple([memoryview(self._back)[:size] if size else None for _, size, _ in _SCRIPT])
        self._halves = (memoryview(self._back)[:6], memoryview(self._back)[6:])
        self._uid = memoryview(self._back)[2:10]
        self._command = _VERSION
        self._held = True  # in reset
        self._reading = False  # the second frame of a command
        self._tried = False  # a start has come to nothing
        self._lies = 0
        self._steps = 0
        self._since = -1  # the phase began; -1: with the first step
        self._pause = IN_RESET
        self._phase = _PAUSES

    def ask(self) -> None:
        """Begin an inventory."""
        self.ready = False
        self._command = _LISTEN
        self._phase = _SENDS
        self._steps = 0

    def cycle(self) -> None:
        """Switch the field off and on again: what lies in it begins anew."""
        self.ready = self.started = False
        self._command = _OFF
        self._phase = _SENDS
        self._steps = 0

    def step(self, now: int) -> None:
        """What can be done at once, at sample index `now`."""
        phase = self._phase
        if phase == _RESTS:
            return
        if phase == _PAUSES:
            if self._since < 0:
                self._since = now
            if (now - self._since) & _MASK < self._pause:
                return
            if self._held:
                self._held = False
                self._reset(1)
                self._wait(now, BOOTS)
                return
            phase = self._phase = _SENDS
            self._steps = 0
        elif phase >= _CHECKS:
            self._check(phase)
            return
        if not self._steps:
            self._since = now
        self._steps += 1
        busy = self._busy
        if phase == _SENDS:
            if busy():
                self._miss(now, BUSY)
                return
            self._nss(0)
            if self._reading:
                self._spi.readinto(self._views[self._command], 0xFF)
            else:
                self._spi.write(_SCRIPT[self._command][0])
            phase = self._phase = _TAKEN
        if phase == _TAKEN:
            if not (busy() or busy() or busy()):
                self._miss(now, ABSENT)
                return
            self._nss(1)
            self._phase = _DONE
        if busy() and busy() and busy() and busy():
            self._miss(now, BUSY)
            return
        self._steps = 0
        self._phase = _SENDS
        if self._reading or self._views[self._command] is None:
            self._reading = False
            self._done(now)
        else:
            self._reading = True

    def _wait(self, now: int, samples: int) -> None:
        self._pause = samples
        self._since = now
        self._phase = _PAUSES

    def _miss(self, now: int, why: int) -> None:
        """BUSY is not yet as it should be."""
        if self._steps >= LEAST_STEPS and (now - self._since) & _MASK >= PATIENCE:
            self._fail(now, why)

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

    def _done(self, now: int) -> None:
        """The next command."""
        command = self._command
        if command == _LISTEN:
            self._command = _ASK
        elif command == _ASK:
            self.asked = now
            self._command = _LOOK
            self._wait(now, SOF_BY)
        elif command == _LOOK:
            self._look(now)
        elif command == _FETCH:
            self._phase = _CHECKS  # in a step of its own
        else:
            self._start(now, command)

    def _start(self, now: int, command: int) -> None:
        """Of what is not done while a card passes."""
        if command == _VERSION and (self._all(0x00) or self._all(0xFF)):
            self._fail(now, ABSENT)
            return
        if command == _FIELD_IS:
            if self._back[1] & _RF_ON:
                self.started = self.ready = True
                self._phase = _RESTS
            else:
                self._fail(now, NO_FIELD)
            return
        self._command = _FIELD if command == _OFF else command + 1
        if _SCRIPT[command][2]:
            self._wait(now, _SCRIPT[command][2])

    def _all(self, byte: int) -> bool:
        """Whether the six bytes of the versions are all so: nobody drives the line."""
        for i in range(6):
            if self._back[i] != byte:
                return False
        return True

    def _look(self, now: int) -> None:
        """Whether the request went out, and what came: IRQ_STATUS in bytes 0 to 3, RX_STATUS 4 to 7, IRQ_ENABLE."""
        back = self._back
        if back[8] != _MARK:
            self._fail(now, RESTARTED)
        elif back[2] & _ERROR or not back[0] & _TX:
            self._fail(now, FROZEN)
        elif not back[0] & _RX:
            took = (now - self.asked) & _MASK
            if not back[1] & _SOF:
                self._end(NOBODY)
            elif took >= ANSWER_BY:
                self._end(TORN)
            else:
                self._wait(now, max(WHOLE_BY - took, AGAIN))
        elif back[6] & _COLLISION:
            self._end(SEVERAL)
        elif back[6] & _BAD_RX or back[4] != _ANSWER or back[5] & 0x01:  # 9 bits of length
            self._end(TORN)
        else:
            self._command = _FETCH

    def _check(self, phase: int) -> None:
        """What the reader calls a good answer must be one; by halves, of 0.2 ms each."""
        back, crcs = self._back, self._crcs
        crc = self._crc if phase == _CHECKED else 0xFFFF
        for byte in self._halves[phase - _CHECKS]:
            crc = crc >> 8 ^ crcs[(crc ^ byte) & 0xFF]
        if phase == _CHECKS:
            self._crc = crc
            self._phase = _CHECKED
            return
        if crc != _RESIDUE or back[0] or back[9] != _E0:
            self._lies += 1
            if self._lies >= MOST_LIES:
                self.trouble = LIES
            self._end(TORN)
            return
        self._lies = 0
        self.uid[:] = self._uid
        self._end(ONE)

    def _end(self, found: int) -> None:
        self.found = found
        self.inventories = self.inventories + 1 & 0xFFFF
        self._phase = _RESTS
        self.ready = True
        self._tried = False
        if not self._lies:
            self.trouble = WELL
