# The wire between the firmware's stand-in hardware and the model of the shoe in the process that started it.
#
# HAL_FD is one end of a socket pair, not blocking. The model sends a timeline of 10-byte records (kind, pins, lanes,
# spare, level u16, number u32); the samples of the timeline reach the firmware through `supply`, which rp2.DMA calls.
# Outputs go back as (kind, length u16, data). The same file runs on MicroPython and on CPython.
import os
import struct

import uselect
import utime
from node import talk
from parts import EVERY_FAILURE
from parts.fram import SIZE, Fram
from parts.i2c import Bus
from parts.register165 import Register165
from parts.seatline import Gate, SeatLine

LEVELS, BUS, KEYS, AMBIENT, MARK, PIN, ARRIVED, FAIL, TAG = range(9)  # records of the timeline
OUT_PIN, OUT_PWM, OUT_BITS, OUT_MARK, OUT_WATCHDOG, OUT_RESET, OUT_RATE, OUT_SENT, OUT_RECEIVED = range(9)  # outputs
_SIZE = 10
SAMPLE_US = 50
# The samples of a moving card come at most this many a look, so that the firmware's other sensors keep up with them.
_STEP = 50  # 2.5 ms: a Pico's turn is no shorter
_LONG = 200  # a level that stays for so many samples may pass in larger ones,
MOST = 240  # ... up to this: less than the firmware takes out of the ring in one look, so that nothing is overrun

fd = int(os.getenv("HAL_FD"))
channel = open(fd, "r+b", buffering=0)

pins = 0  # the level bits of a sample
light = 60000  # of the double-feed receiver, as an ADC reading
keys = int(os.getenv("HAL_KEYS") or 57343)  # none
ambient = 3000
supply_level = 30800  # a third of VSYS at 4.65 V
switches = {2: 0, 22: 0}  # other input pins: number -> level; base plate and lid are closed
failing = {}  # part -> how
lit = {3: 1, 7: 1}  # the emitters' pins: heads, double feed; with a reader they are always on
reader = None
tagged = 0  # cards' tags in its field: while there is one no level passes in large steps
if os.getenv("HAL_VARIANT") == "rfid":
    from parts import pn5180

    reader = pn5180.Pn5180(os.getenv("HAL_PACE") == "fast")
    STRAY = pn5180.uid_of(0xFFFFFFFF)  # a tag that lies before the shoe
register = Register165()
sampled = 0  # samples since the sampler started

_fast = os.getenv("HAL_PACE") == "fast"
_unread = b""
_at = 0  # how much of _unread is used
_left = 0  # samples of the present record still to come
_marks = []  # [number, sample number] that the timeline has passed and the model has not been told of
_late = []  # [sample number, bytes] for the seat bus, soonest first
_flying = False  # the timeline does not go on before every card has arrived
_started = None  # ticks_us of the last look


def _memory():
    """The FRAM, whose content is a file: each byte is there as soon as the part has acknowledged it."""
    name = os.getenv("HAL_FRAM")
    if not name:
        return Fram()
    memory = bytearray(SIZE)
    try:
        file = open(name, "r+b", buffering=0)
    except OSError:
        with open(name, "wb") as new:
            new.write(memory)
        file = open(name, "r+b", buffering=0)
    file.readinto(memory)

    def keep(address, byte):
        file.seek(address)
        file.write(bytes((byte,)))

    return Fram(memory, keep)


fram = _memory()
i2c = Bus([fram])
gates = {place: Gate() for place in talk.PLACES}
seat_line = SeatLine(
    [talk.Answerer(place, gates[place]) for place in talk.PLACES],  # in their order, which a dict here does not keep
    talk.TURN_US,
    os.getenv("HAL_PACE") == "fast",
)


def fail(part, how):
    """A part fails in that way from now on; "" mends it."""
    failing[part] = how
    if part == "fram":
        fram.fault = how
    elif part == "lanes":
        stuck = how == "lane 3 covered"
        register.stuck = 8 if stuck else 0
        register.fault = "" if stuck else how
    elif part == "seats":
        seat_line.absent = {4} if how == "node 5 absent" else set()
        seat_line.garbling = {4} if how == "node 5 garbled" else set()
        seat_line.shorted = how == "bus shorted"
        seat_line.noisy = how == "bus noisy"
        gates[5].blocked = how == "node 5 blocked"
        if how == "node 5 lies":
            gates[5].arrived += [0] * 4
    elif part == "reader":
        at_rest = how == "tag at rest"
        (reader.enter if at_rest else reader.leave)(STRAY, air_us())
        reader.fault = "" if at_rest else how
    elif part in ("lid", "tamper"):
        switches[22 if part == "lid" else 2] = 1 if how else 0


# what a failure of heads or slots does to the bits of a sample: held at 0, light and free; held at 1
_LIGHT = {"blind": 0x1F, "one track blind": 0x02, "throat free": 0x20, "lip free": 0x40}
_DARK = {"dark": 0x1F, "one track dark": 0x04, "throat blocked": 0x20, "lip blocked": 0x40}


def air_us():
    """The reader's time: the cards', so that a tag that passes quickly is in the field for as few requests."""
    return sampled * SAMPLE_US


def levels():
    """The pins of heads and slots now."""
    now = pins | (0 if lit[3] else 0x1F)
    now = now & ~_LIGHT.get(failing.get("heads"), 0) | _DARK.get(failing.get("heads"), 0)
    return now & ~_LIGHT.get(failing.get("slots"), 0) | _DARK.get(failing.get("slots"), 0)


def adc(pin):
    """A reading of an ADC input, 0 to 65535."""
    if pin == 26:
        return _double_feed()
    if pin == 27:
        return {"dazzled": 60000, "dead": 0}.get(failing.get("ambient"), ambient)
    if pin == 28:
        return {"done held": 40959, "between": 20479, "at ground": 0, "off": 65535}.get(failing.get("keys"), keys)
    if pin == 29:
        return {"low": 27000, "dead": 0}.get(failing.get("supply"), supply_level)
    raise ValueError("nothing is connected to ADC GP%d" % pin)


def _double_feed():
    how = failing.get("light")
    if how == "saturated":
        return 65535
    if how == "stuck at one card":
        return 30000
    if how == "does not go off":
        return light
    if how == "dark" or not lit[7]:
        return 400
    return light * 2 // 5 if how == "dusty" else light


for _failure in (os.getenv("HAL_FAIL") or "").split(";"):
    if _failure:
        fail(*_failure.split("="))
starting = False  # the firmware has set its watchdog and not fed it yet: the world waits until its loop runs
_owed = 0  # microseconds of wall time not yet turned into samples


def post(kind, data=b""):
    """An output of the shoe, told to the model."""
    message = struct.pack("<BH", kind, len(data)) + data
    while message:
        sent = channel.write(message)
        if sent is None:
            _wait_writable()
        else:
            message = message[sent:]


def _wait_writable():
    poll = uselect.poll()
    poll.register(channel, uselect.POLLOUT)
    poll.poll(1000)


def _next_record():
    """Take the next record of the timeline; False when there is none (yet)."""
    global _unread, _at, _left, pins, light, keys, ambient, tagged, _flying
    if starting:
        return False
    if len(_unread) - _at < _SIZE:
        more = channel.read(1000)  # in one piece of a heap that is as full as a Pico's
        if more is not None:
            if not more:
                raise SystemExit  # the process that started this one is gone
            _unread = _unread[_at:] + more
            _at = 0
        if len(_unread) - _at < _SIZE:
            return False
    kind, a, b, _, level, number = struct.unpack_from("<BBBBHI", _unread, _at)
    _at += _SIZE
    if kind == LEVELS:
        pins, register.lanes, light, _left = a, b, level, number
    elif kind == BUS:
        _late.append((sampled + number, a, b))  # a card comes to lie at place a, face up or not
        _late.sort()
    elif kind == KEYS:
        keys = level
    elif kind == AMBIENT:
        ambient = level
    elif kind == MARK:
        _marks.append((number, sampled & 0xFFFFFFFF))
    elif kind == PIN:
        switches[a] = b
    elif kind == ARRIVED:
        _flying = True
    elif kind == TAG:
        if reader is not None:
            tagged += 1 if a else -1
            (reader.enter if a else reader.leave)(pn5180.uid_of(number), air_us())
    elif kind == FAIL:
        part, how = EVERY_FAILURE[a]
        if b:
            fail(part, how)
        elif failing.get(part):
            fail(part, "")
    return True


def busy():
    """Whether the timeline has more to give at once: then nothing may wait for the wall clock (fast pace only)."""
    if not _fast or _started is None:
        return False
    return _left > 0 or bool(_late) or len(_unread) - _at >= _SIZE


def arriving():
    """Whether a card has come to lie at a place that the firmware has not heard of."""
    return not seat_line.shorted and any(
        gate.arrived for place, gate in gates.items() if talk.PLACES.index(place) not in seat_line.absent
    )


def turn():
    """The firmware looks at its host's line, once a turn of its loop: it has dealt with what the sensors said before.

    A mark says so to the model; the firmware's answer, if there is one, is written before its next turn.
    """
    if _marks and not arriving():
        number, at = _marks.pop(0)
        post(OUT_MARK, struct.pack("<II", number, at))


def start():
    """The sampler begins: its clock is zero now."""
    global _started, _owed
    _started = utime.ticks_us()
    _owed = 0


def _nothing(level, count):
    pass


def supply(room, store):
    """The samples that are due, at most `room`: store(level, count) for each run of equal levels, in order.

    A state machine that is stalled stores none, and the cards move on.
    """
    global _left, _started, _owed, _flying, sampled
    if failing.get("sampler"):
        store = _nothing
    now = utime.ticks_us()
    _owed += utime.ticks_diff(now, _started)
    _started = now
    due = _owed // SAMPLE_US
    allowed = min(room, due)
    stepped = 0
    while True:
        while _late and _late[0][0] <= sampled:
            _, place, face_up = _late.pop(0)
            gates[place].arrived.append(face_up)
        if not _late:
            _flying = False
        while _left == 0 and not _flying:
            if not _next_record():
                break
        moving = _left > 0 or bool(_late)
        small = 0 < _left < _LONG or (_left > 0 and tagged)
        step = _STEP // 2 if tagged else _STEP  # a turn with a reader looks twice, for it asks how many samples wait
        if moving and stepped >= step and small:
            break  # late or fast, a moving card passes in small steps
        count = room if moving and _fast else allowed
        if _left:
            count = min(count, _left)
        if _late:
            count = min(count, max(1, _late[0][0] - sampled))
        if small:
            count = min(count, step - stepped)
        if count <= 0:
            break
        store(levels(), count)
        sampled += count
        stepped += count
        room -= count
        allowed = max(0, allowed - count)
        _owed = max(0, _owed - count * SAMPLE_US)
        if _left:
            _left -= count
    if _owed > 1000000:
        _owed = 1000000  # a process that was stopped for long does not catch up for ever


def wait(ms, streams):
    """Sleep up to `ms`, less when bytes arrive on one of `streams` or the timeline goes on."""
    if busy():
        return
    poll = uselect.poll()
    if _left == 0 and not _flying:
        poll.register(channel, uselect.POLLIN)
    for stream in streams:
        poll.register(stream, uselect.POLLIN)
    poll.poll(ms)
