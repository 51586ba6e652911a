"""The link: one object for both ends, bytes and ticks in, notices and bytes out. It owns no port, thread or clock.

A session is up when each end has heard the other's HELLO, answering its own nonce, and IDENT. Then the shoe sends its
journal from the first event the host has not stored, the host repeats what the light should show until the shoe
confirms it, and both listen for silence. Every trouble has one way out: greet again, resume. `protocol/README.md`
tells the whole; `session.py` and `greeting.py`, `seal.py`, `numbered.py`, `desired.py`, `lookup.py` and `outbox.py`
have the parts, `schema.py` the messages.
"""

from shoelink import notice, schema, timing
from shoelink.numbered import DUPLICATE, GAP
from shoelink.seal import FOREIGN, FRESH, REFUSED, TRIES, Guard
from shoelink.session import Session
from shoelink.timing import elapsed


class Link(Session):
    """One end of the link; `side` is schema.SHOE or schema.HOST.

    `ident` says who this end is; `entropy(n)` gives n random bytes, for nonces. A shoe passes its `journal`, the 4
    random bytes of this `boot` and why it was `reset`. `decoder` is `frame.Decoder` or one with the same methods.
    `room` is how many bytes this end can take before it reads them. `keys`: device → the 32 bytes that prove it; a shoe
    has its own, a host those of the shoes that are enrolled there. An end with a key takes nothing that is not sealed.

    The owner sets `stamp`, 4 bytes of this end's microsecond clock, before `receive` and `poll`: PING and PONG carry
    it. `now` is in milliseconds of a 30-bit clock (`timing.TICKS`) and never goes back.
    """

    # ---- the owner's side

    @property
    def out(self) -> bytearray:
        """The output; its first `ready` bytes are to be written."""
        return self._outbox.buffer

    @property
    def ready(self) -> int:
        """Bytes of `out` to be written."""
        return self._outbox.ready

    def start(self, now: int) -> None:
        """Begin to greet; also after the port was closed and opened again. Output that waits is dropped."""
        self._started = True
        self._tried_at = now
        self._outbox.ready = 0
        self._greet()

    def receive(self, data: "bytes | bytearray | memoryview", now: int) -> "tuple[notice.Notice, ...]":
        """Take bytes from the line, cut anywhere."""
        if self._started and len(data):
            quiet = elapsed(now, self._bytes_at) >= timing.QUIET_MS
            pending = self.decoder.pending()
            if quiet and not pending:
                self._may_nak = True
            self._bytes_at = now
            damaged = self.decoder.damaged
            flags = self.decoder.count["flags"]
            frames = self.decoder.feed(data)
            if self._guard:
                self._open(self._guard, frames, now)
            elif self._take(frames, now):
                self._heard_at = now
            if self.decoder.count["flags"] != flags and not self._guard:
                self._refuse_key("the shoe there seals what it says, and no key of it is here: enroll it here")
            if self.decoder.damaged != damaged and self.up:
                self._reject(schema.NAK_DAMAGED)
            if quiet and pending:  # what has ended began before the silence and was no new condition
                self._may_nak = True
        return self._tell()

    def poll(self, now: int) -> "tuple[notice.Notice, ...]":
        """Run the timers and fill `out`. Call it each turn of a loop, or when `wait` says and after any call below."""
        if self._started:
            if elapsed(now, self._heard_at) >= timing.LOST_MS:
                if self.up:
                    self._lose("silence")
                elif self._guard and self._greeting.peer:  # who has called cannot hear us, or was a replay
                    self._greet()
            if self._reporter.missing:
                self._reopen()
            self._fill(now)
            self._outbox.pad()
        return self._tell()

    def wait(self, now: int) -> int:
        """Milliseconds until `poll` has something to do if nothing is received until then."""
        if not self._started:
            return timing.HELLO_MS
        greeting = self._greeting.wait(now, self.up)
        if not self.up or greeting == 0:
            return greeting
        if self._pong or self._nak or self._ack_due or self._obeyed.confirm or self._teller.asked:
            return 0
        if self._sender.ready():
            return 0
        least = min(timing.LOST_MS - elapsed(now, self._heard_at), self._ping_wait(now))
        for left in (greeting, self._sender.wait(now), self._wishes.wait(now)):
            if left >= 0:
                least = min(least, left)
        return max(0, least)

    def take(self) -> bytes:
        """The bytes to write now; they count as written."""
        outbox = self._outbox
        data = bytes(outbox.buffer[: outbox.ready])
        outbox.ready = 0
        return data

    def taken(self, written: int) -> None:
        """The first `written` bytes of `out` are written (a shoe's way to write without allocation)."""
        self._outbox.taken(written)

    def send(self, message: "schema.Message", now: int) -> bool:
        """Send an unnumbered message once. False: no session or no room, and it is not kept."""
        if not self.up or not self._outbox.room(schema.FRAME):
            return False
        self._emit(message, 0, now)
        return True

    # ---- the shoe's owner

    def report(self, message: "schema.Message") -> int:
        """Journal an event and return its number; 0: the journal is full, which a FAULT and a notice say once."""
        kind = schema.KIND_OF[type(message)]
        at = self.open(kind, schema.MINIMUM[kind])
        if at < 0:
            return 0
        schema.pack_into(self.journal.buffer, at, message)
        return self.journal.close()

    def open(self, kind: int, length: int) -> int:
        """`report` without allocation: where in `journal.buffer` the body goes, -1 if full; then `journal.close()`."""
        if self._reporter.missing:
            self._reopen()
        at = self._reporter.open(kind, length, self.stamp)
        if at < 0 and self._reporter.missing == 1:
            self._notices.append(notice.JournalFull(1))
        return at

    def stats(self, overruns: int, free: int) -> "schema.Stats":
        """This end's counters for STATS; the owner adds the sampler's overruns and the free memory in 16-byte units."""
        count = self.count
        values = (
            self.decoder.count["frames"],
            self.decoder.damaged,
            count["sent"],
            self._sender.resent,
            count["naks"],
            count["lost"],
            self.journal.held(),
            self.journal.peak,
            self._reporter.refused,
            overruns,
            free,
        )
        return schema.Stats(self.stamp, *[min(value, 0xFFFF) for value in values])

    # ---- the host's owner

    def stored(self, number: int) -> None:
        """Everything up to event `number` is stored for good: acknowledged with the next `poll`."""
        if self._receiver.store(number):
            self._ack_due = True

    def desire(self, message: "schema.Signal | schema.Due") -> int:
        """What the shoe should show (SIGNAL) or expect (DUE); its generation is given here and returned.

        Repeated until the shoe confirms it, and again after every reconnect. The present state is not sent again.
        """
        return self._wishes.desire(message)

    # ---- frames in

    def _open(self, guard: Guard, frames: "list[tuple[int, int, int, int, bytes]]", now: int) -> None:
        """Take sealed frames, one after the other, for one can end the session of the next; nothing else gets by."""
        if elapsed(now, self._tried_at) >= timing.HELLO_MS:
            self._tried_at = now
            guard.tries = TRIES
        for kind, flags, seq, ack, body in frames:
            if kind & schema.FROM_HOST != self._peers:
                self.count["echoes"] += 1
                continue
            worth = guard.open(kind, flags, seq, ack, body, self.up, self._receiver.expected)
            if worth >= REFUSED:
                if worth == FOREIGN:
                    self._refuse_key("what greets there does not prove to be a shoe that is enrolled here: enroll it")
                continue
            self._take([(kind, flags, seq, ack, body[: -schema.TAG])], now)
            if worth == FRESH:
                self._heard_at = now

    def _take(self, frames: "list[tuple[int, int, int, int, bytes]]", now: int) -> int:
        """Act on frames, in order; returns how many are the peer's.

        What a host gets most, the event that it waits for, takes the shortest way.
        """
        build, recorded = self.decoder.build, notice.Recorded
        tell = self._notices.append
        receiver = self._receiver
        events = self._events
        number, low = receiver.expected, receiver.low
        echoes = 0
        for kind, flags, seq, ack, body in frames:
            if seq == low:  # never at a shoe
                least, type, read = events[kind]
                if len(body) >= least:
                    tell(build(recorded, (number, kind, build(type, read(body)), body)))
                    number += 1
                    low = number & 0xFFFF
                    continue
            self._come_to(number)
            plain = self._known[kind]
            if kind & schema.FROM_HOST != self._peers:
                echoes += 1
            elif plain and len(body) < schema.MINIMUM[plain]:
                self.count["short_body"] += 1
                if kind & schema.RELIABLE and self.up:
                    self._stop("short body", kind, seq)
            elif plain == schema.HELLO:
                self._hello(schema.unpack(plain, body), flags, now)
            elif plain == schema.IDENT:
                self._greeting.ident = schema.unpack(plain, body)
                self._rise(now)
            elif not self.up:
                self.count["early"] += 1
            elif not self._host:
                if not self._sender.acked(ack, now):
                    self.count["bad_ack"] += 1
                if kind & schema.RELIABLE:
                    self._desired(kind, plain, body)
                else:
                    self._unnumbered(kind, plain, body, now)
            elif not kind & schema.RELIABLE:
                self._unnumbered(kind, plain, body, now)
            else:
                self._irregular(kind, seq, body)
            number, low = receiver.expected, receiver.low
        self._come_to(number)
        self.count["received"] += len(frames) - echoes
        self.count["echoes"] += echoes
        return len(frames) - echoes

    def _come_to(self, number: int) -> None:
        """Events were taken in order; `number` is expected now."""
        if self._receiver.take_to(number):
            self._may_nak = True

    def _irregular(self, kind: int, seq: int, body: bytes) -> None:
        """An event that is not the known kind with the number expected."""
        if self._stopped:
            return
        verdict = self._receiver.judge(seq)
        if verdict == DUPLICATE:
            self.count["duplicates"] += 1
            self._ack_due = True  # the acknowledgement was lost, or would the shoe repeat for ever
        elif verdict == GAP:
            self.count["gaps"] += 1
            self._reject(schema.NAK_GAP)
        elif kind & schema.CRITICAL:
            self._stop("unknown critical kind", kind, self._receiver.expected)
        else:
            self.count["unknown"] += 1
            self._notices.append(notice.Recorded(self._receiver.expected, kind, None, body))
            self._come_to(self._receiver.expected + 1)

    def _desired(self, kind: int, plain: int, body: bytes) -> None:
        if plain:
            message = schema.unpack(plain, body)
            before = self._obeyed.newest.get(plain)
            if self._obeyed.take(plain, message.generation):
                self._may_nak = True
                self._notices.append(notice.Delivered(plain, message))
            else:
                self.count["duplicates" if message.generation == before else "stale"] += 1
        elif kind & schema.CRITICAL:
            self._stop("unknown critical kind", kind, 0)
        elif len(body) >= 2:
            self.count["unknown"] += 1
            self._obeyed.take(kind, body[0] | body[1] << 8)

    def _unnumbered(self, kind: int, plain: int, body: bytes, now: int) -> None:
        if not plain:
            if kind & schema.CRITICAL:
                self._stop("unknown critical kind", kind, 0)
            else:
                self.count["unknown"] += 1
        elif plain == schema.PING:
            self._pong = body[:4] + self.stamp
        elif plain == schema.NAK:
            if self._host:
                self._wishes.again(False)
            else:
                self._sender.back(schema.unpack(plain, body).expected)
        elif plain == schema.ACK:
            if self._host:
                ack = schema.unpack(plain, body)
                self._wishes.confirm(ack.kind, ack.generation, now)
        elif plain == schema.LOOKUP:
            self._teller.ask(schema.unpack(plain, body).offset)
        elif self._host or plain in (schema.ENROLL, schema.TEST):
            self._notices.append(notice.Delivered(plain, schema.unpack(plain, body)))

    def _reject(self, reason: int) -> None:
        """One NAK for a condition: again only after something in order, or after silence."""
        if self._may_nak:
            self._may_nak = False
            self._nak = reason

    def _stop(self, reason: str, kind: int, number: int) -> None:
        """Something that must be understood is not: say so once a session, deliver nothing numbered after it."""
        if self._stopped:
            return
        self._stopped = True
        self._receiver.close()
        self._notices.append(notice.Stopped(reason, kind, number))
        if not self._host:
            self.report(schema.Fault(self.stamp, schema.FAULT_UNKNOWN_KIND, kind))

    # ---- frames out

    def _fill(self, now: int) -> None:
        if self._greeting.wait(now, self.up) == 0 and self._outbox.room(2 * schema.FRAME):
            self._say_hello(now)
        if not self.up:
            return
        if self._pong and self._outbox.room(schema.FRAME):
            self._emit(schema.Pong(self._pong[:4], self._pong[4:], self.stamp), 0, now)
            self._pong = b""
        if self._nak and self._outbox.room(schema.FRAME):
            self.count["naks"] += 1
            self._emit(schema.Nak(self._receiver.expected & 0xFFFF, self._nak), 0, now)
            self._nak = 0
        if self._host:
            while self._outbox.room(schema.FRAME):
                wish = self._wishes.due(now)
                if wish is None:
                    break
                self._emit(wish, 0, now)
            if self._ack_due and self._outbox.room(schema.FRAME):
                self._emit(schema.Ack(0, 0), 0, now)
        else:
            while self._obeyed.confirm and self._outbox.room(schema.FRAME):
                kind, generation = self._obeyed.confirm.popitem()
                self._emit(schema.Ack(kind, generation), 0, now)
            self._send_events(now)
            if self._teller.asked and self._outbox.room(schema.FRAME):
                self._emit(self._teller.say(), 0, now)
        if self._ping_wait(now) == 0 and self._outbox.room(schema.FRAME):
            self._pinged_at = now
            self._emit(schema.Ping(self.stamp), 0, now)

    def _send_events(self, now: int) -> None:
        journal = self.journal
        sender = self._sender
        sender.expire(now)
        number = sender.ready()
        while number and self._outbox.room(journal.length(number) + sender.overhead):
            at = journal.load(number)
            self._outbox.put_event(number, journal.buffer[at - 2], journal.buffer, at, journal.length(number), now)
            sender.sent(number, now)
            number = sender.ready()

    def _ping_wait(self, now: int) -> int:
        if self._host:
            left = timing.PING_MS - elapsed(now, self._pinged_at)
        else:
            left = timing.IDLE_MS - elapsed(now, self._outbox.at)
        probe = timing.PROBE_AFTER_MS - elapsed(now, self._heard_at)
        return max(0, min(left, max(probe, timing.PROBE_MS - elapsed(now, self._pinged_at))))

    # ---- what the owner is told

    def _reopen(self) -> None:
        missing = self._reporter.reopen(self.stamp)
        if missing:
            self._notices.append(notice.JournalRoom(missing))
