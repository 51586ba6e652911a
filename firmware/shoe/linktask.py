"""The shoe's end of the link: bytes between the UART and `shoelink.link.Link`, and what the host wants. Each turn."""

from shoelink import notice, schema

_ROOM = 32  # bytes taken from the UART in a turn: a sealed SIGNAL or DUE, for each takes a Pico 8 ms


class LinkTask:
    """`uart` has `any`, `readinto` and `write` (none waits), `link` is a shoe's Link, `clock` the sample clock,
    `sampler` what drives it.

    `signals` obeys SIGNAL, `events` takes DUE and the faults that the link itself meets.
    """

    def __init__(self, uart, link, clock, sampler, signals, events):
        self._uart = uart
        self._link = link
        self._clock = clock
        self._sampler = sampler
        self._signals = signals
        self._events = events
        self.test = 0  # what the host wants tested; the loop takes it
        self._in = bytearray(_ROOM)
        self._in_view = memoryview(self._in)
        self._out_view = memoryview(link.out)
        link.stamp = bytearray(4)

    def turn(self, now: int) -> None:
        """`now` in `ticks_ms`. Takes what has come, runs the timers, gives away what the UART takes."""
        if self._uart.any():
            self._stamp()
            n = self._uart.readinto(self._in)
            if n:
                self._heed(self._link.receive(self._in_view[:n], now), now)
        self.say(now)

    def say(self, now: int) -> None:
        """Only the second half: what is to be told is not to wait until the host was heard, 6 ms a frame on a Pico."""
        link = self._link
        self._stamp()
        self._heed(link.poll(now), now)
        if link.ready:
            link.taken(self._uart.write(self._out_view[: link.ready]) or 0)
        self._signals.supervised = link.up

    def _stamp(self) -> None:
        """It is now, not the time of what has been looked at."""
        self._clock.stamp_ahead(self._sampler.waiting(), self._link.stamp)

    def _heed(self, notices, now: int) -> None:
        for told in notices:
            kind = type(told)
            if kind is notice.Delivered:
                if told.kind == schema.SIGNAL:
                    self._signals.obey(told.message.signal, told.message.mode)
                elif told.kind == schema.DUE:
                    self._events.take_due(told.message)
                elif told.kind == schema.TEST:
                    self.test = told.message.what
                elif told.kind == schema.ENROLL:
                    self._link.send(schema.Enrolled(schema.ENROLLED_CLOSED), now)
            elif kind is notice.Stopped:
                self._events.fault(schema.FAULT_UNKNOWN_KIND, told.kind, self._clock.index)
            elif kind is notice.LinkUp:
                self._events.clear(schema.FAULT_UNKNOWN_KIND, 0, self._clock.index)
