# The wire between the firmware's stand-in hardware and the model of the shoe in the process that started it.
#
# HAL_FD is one end of a socket pair, not blocking. The model sends a timeline of 10-byte records (kind, pins, lanes,
# spare, level u16, number u32); the samples of the timeline reach the firmware through `supply`, which rp2.DMA calls.
# Outputs go back as (kind, length u16, data). The same file runs on MicroPython and on CPython.
import os
import struct

import uselect
import utime

LEVELS, BUS, KEYS, AMBIENT, MARK, PIN, ARRIVED = range(7)  # records of the timeline
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
lanes = 0
light = 60000  # of the double-feed receiver, as an ADC reading
keys = int(os.getenv("HAL_KEYS") or 65535)
ambient = 3000
switches = {}  # other input pins: number -> level
bus = b""  # what seat nodes have said and the firmware has not read yet
sampled = 0  # samples since the sampler started

_fast = os.getenv("HAL_PACE") == "fast"
_unread = b""
_at = 0  # how much of _unread is used
_left = 0  # samples of the present record still to come
_marks = []  # [number, sample number] that the timeline has passed and the model has not been told of
_late = []  # [sample number, bytes] for the seat bus, soonest first
_flying = False  # the timeline does not go on before every card has arrived
_started = None  # ticks_us of the last look
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
    global _unread, _at, _left, pins, lanes, light, keys, ambient, _flying
    if len(_unread) - _at < _SIZE:
        more = channel.read(4000)
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
        pins, lanes, light, _left = a, b, level, number
    elif kind == BUS:
        _late.append((sampled + number, struct.pack("<BBH", a, b, level)))  # four bytes, a node's whole message
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
    return True


def busy():
    """Whether the timeline has more to give at once: then nothing may wait for the wall clock (fast pace only)."""
    if not _fast or _started is None:
        return False
    return _left > 0 or bool(_late) or len(_unread) - _at >= _SIZE


def turn():
    """The firmware looks at its host's line, once a turn of its loop: it has dealt with what the sensors said before.

    A mark says so to the model; the firmware's answer, if there is one, is written before its next turn.
    """
    if _marks and not bus:
        number, at = _marks.pop(0)
        post(OUT_MARK, struct.pack("<II", number, at))


def start():
    """The sampler begins: its clock is zero now."""
    global _started, _owed
    _started = utime.ticks_us()
    _owed = 0


def supply(room, store):
    """The samples that are due, at most `room`: store(level, count) for each run of equal levels, in order."""
    global _left, _started, _owed, _flying, sampled, bus
    now = utime.ticks_us()
    _owed += utime.ticks_diff(now, _started)
    _started = now
    due = _owed // SAMPLE_US
    allowed = min(room, due)
    stepped = 0
    while True:
        while _late and _late[0][0] <= sampled:
            bus += _late.pop(0)[1]
        if not _late:
            _flying = False
        while _left == 0 and not _flying:
            if not _next_record():
                break
        moving = _left > 0 or bool(_late)
        if moving and stepped >= _STEP and 0 < _left < _LONG:
            break  # late or fast, a moving card passes in small steps
        count = room if moving and _fast else allowed
        if _left:
            count = min(count, _left)
        if _late:
            count = min(count, max(1, _late[0][0] - sampled))
        if 0 < _left < _LONG:
            count = min(count, _STEP - stepped)
        if count <= 0:
            break
        store(pins, count)
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
