# Stands in for MicroPython's machine on a Pico: inputs come from the model's timeline, outputs go back as events.
#
# The parts behind the pins that only answer (74HC165 of the exit lanes, ADC inputs) are here, because asking another
# process for each bit would cost more than the firmware's whole turn.
import io
import os
import struct
import sys

import uselect
import utime
from umachine import *  # PinBase, Signal, mem8 mem16 mem32, idle
from umachine import PinBase

import _model

PWRON_RESET, WDT_RESET = 1, 3  # reset causes of the rp2 port
_CAUSE = int(os.getenv("HAL_CAUSE") or PWRON_RESET)
_UID = bytes(int(os.getenv("HAL_UID")[i : i + 2], 16) for i in range(0, 16, 2))

# board wiring that has a part of its own behind it (hardware/pinout.md)
_SAMPLED = 10  # GP10 to GP16: the level bits of a sample
_LANE_DATA, _LANE_CLOCK, _LANE_LOAD = 17, 18, 19
_HEAD_EMIT, _SEAT_DE, _DOUBLE_EMIT = 3, 6, 7
_NSS, _BUSY, _RESET = 5, 6, 7
if _model.reader is None:
    _NSS = _BUSY = _RESET = -1
else:
    _HEAD_EMIT = _SEAT_DE = _DOUBLE_EMIT = -1

streams = []  # what wakes a sleep: the files of the UARTs in use
_uarts = []


def freq(*_):
    return 125000000


def unique_id():
    return _UID


def reset_cause():
    return _CAUSE


def reset():
    _model.post(_model.OUT_RESET)
    sys.exit(0)


def disable_irq():
    return 0


def enable_irq(state):
    pass


def unread():
    """Whether a UART holds bytes that the firmware has not read: then a sleep ends at once."""
    return any(uart._held for uart in _uarts)


def lightsleep(ms=0):
    raise NotImplementedError("the stand-in board does not sleep deeper than time.sleep_ms")


class Pin(PinBase):
    IN, OUT, OPEN_DRAIN, ALT = 0, 1, 2, 3
    PULL_UP, PULL_DOWN = 1, 2
    IRQ_RISING, IRQ_FALLING = 8, 4

    def __init__(self, id, mode=-1, pull=-1, *, value=None, alt=-1):
        self.id = 25 if id == "LED" else id
        self._level = 0
        self._known = False  # the model has been told the level
        self.init(mode, pull, value=value)

    def init(self, mode=-1, pull=-1, *, value=None, alt=-1):
        self._mode, self._pull = mode, pull
        if value is not None:
            self.value(value)

    def value(self, *level):
        if level:
            self._drive(1 if level[0] else 0)
            return None
        if self._mode == Pin.OUT:
            return self._level
        if self.id == _LANE_DATA:
            return _model.register.data()
        if self.id == _BUSY:
            return _model.reader.busy(_model.air_us())
        if _SAMPLED <= self.id < _SAMPLED + 7:
            return _model.levels() >> (self.id - _SAMPLED) & 1
        return _model.switches.get(self.id, 1 if self._pull == Pin.PULL_UP else 0)

    __call__ = value

    def _drive(self, level):
        was, self._level = self._level, level
        if self.id == _LANE_CLOCK:
            _model.register.clock(level)
        elif self.id == _LANE_LOAD:
            _model.register.load(level)
        elif self.id in (_HEAD_EMIT, _DOUBLE_EMIT):
            _model.lit[self.id] = level
        elif self.id == _NSS:
            _model.reader.select(level, _model.air_us())
        elif self.id == _RESET:
            _model.reader.reset(level, _model.air_us())
        elif self.id == _SEAT_DE:
            _model.seat_line.drive(level, utime.ticks_us() & 0x3FFFFFFF)
        elif level != was or not self._known:
            self._known = True
            _model.post(_model.OUT_PIN, bytes((self.id, level)))

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)

    high, low = on, off

    def toggle(self):
        self.value(not self._level)

    def irq(self, handler=None, trigger=12, hard=False):
        if handler is not None:
            raise NotImplementedError("the stand-in pins give no interrupts: the firmware is one loop")


def _number(pin):
    return pin.id if isinstance(pin, Pin) else pin


class ADC:
    def __init__(self, pin):
        self.id = _number(pin)

    def read_u16(self):
        return _model.adc(self.id)


class PWM:
    def __init__(self, pin, *, freq=0, duty_u16=0):
        self.id, self._hz, self._duty, self._told = _number(pin), freq, duty_u16, None
        self._tell()

    def _tell(self):
        now = (self._hz, self._duty)
        if now != self._told:
            self._told = now
            _model.post(_model.OUT_PWM, struct.pack("<BIH", self.id, self._hz, self._duty))

    def init(self, *, freq=None, duty_u16=None):
        self._hz = self._hz if freq is None else freq
        self._duty = self._duty if duty_u16 is None else duty_u16
        self._tell()

    def freq(self, *hz):
        if not hz:
            return self._hz
        if not 8 <= hz[0] <= 62500000:
            raise ValueError("freq too %s" % ("small" if hz[0] < 8 else "large"))  # as the rp2 port at 125 MHz
        self._hz = hz[0]
        return self._tell()

    def duty_u16(self, *duty):
        if not duty:
            return self._duty
        self._duty = duty[0]
        return self._tell()

    def deinit(self):
        self._duty = 0
        self._tell()


def _now():
    return utime.ticks_us() & 0x3FFFFFFF


class UART(io.IOBase):
    """UART 0: the master of the pty whose other end is the host's port. UART 1: the seat bus and its nodes."""

    def __init__(self, id, baudrate=115200, **_):
        self.id = id
        self._held = b""  # read from the system, not yet by the firmware
        self._file = None
        if id == 0:
            self._file = open(int(os.getenv("HAL_UART0")), "r+b", buffering=0)
            streams.append(self._file)
        _uarts.append(self)

    def init(self, baudrate=115200, **_):
        pass

    def any(self):
        if self._file is None:
            return _model.seat_line.any(_now())
        _model.turn()
        if not self._held:
            self._held = self._file.read(256) or b""
            if self._held:
                _model.post(_model.OUT_RECEIVED, self._held)
        return len(self._held)

    def read(self, size=256):
        size = min(size, self.any())
        if not size:
            return None
        if self._file is None:
            data = _model.seat_line.read(size, _now())
        else:
            data, self._held = self._held[:size], self._held[size:]
        return data

    def readinto(self, buffer, size=-1):
        data = self.read(len(buffer) if size < 0 else min(size, len(buffer)))
        if data is None:
            return None
        buffer[: len(data)] = data
        return len(data)

    def write(self, data):
        if self._file is None:
            _model.seat_line.write(bytes(data), _now())
            return len(data)
        sent = self._file.write(data)
        if sent:
            _model.post(_model.OUT_SENT, bytes(data[:sent]))
        return sent

    def ioctl(self, request, flags):
        if request != 3:  # only polling
            return 0
        ready = uselect.POLLIN if self.any() else 0
        return (ready | uselect.POLLOUT) & flags

    def txdone(self):
        return self._file is not None or _model.seat_line.done(_now())

    def flush(self):
        pass

    def deinit(self):
        pass


class WDT:
    """Tells the model its time-out once; it never bites, for a busy test machine is not a hung shoe."""

    def __init__(self, id=0, timeout=5000):
        if not 1 <= timeout <= 8388:
            raise ValueError("timeout out of range")  # as the rp2 port
        _model.post(_model.OUT_WATCHDOG, struct.pack("<I", timeout))
        _model.starting = True

    def feed(self):
        _model.starting = False


class I2C:
    """I2C 0, with the FRAM on it."""

    def __init__(self, id=0, *, scl, sda, freq=400000, timeout=50000):
        if freq > 1000000:
            raise ValueError("the FRAM takes 1 MHz at most")
        self.writeto = _model.i2c.writeto
        self.readfrom_into = _model.i2c.readfrom_into

    def readfrom(self, address, size):
        data = bytearray(size)
        self.readfrom_into(address, data)
        return bytes(data)


class SPI:
    """SPI 0, with the reader of tags on it."""

    def __init__(self, id=0, baudrate=1000000, *, polarity=0, phase=0, sck, mosi, miso):
        if baudrate > 7000000 or polarity or phase:
            raise ValueError("the PN5180 takes 7 MHz at most, mode 0")

    def write(self, data):
        for byte in data:
            _model.reader.transfer(byte, _model.air_us())

    def readinto(self, buffer, write=0):
        for i in range(len(buffer)):
            buffer[i] = _model.reader.transfer(write, _model.air_us())


def bitstream(pin, encoding, timing, data):
    _model.post(_model.OUT_BITS, bytes((pin.id,)) + bytes(data))
