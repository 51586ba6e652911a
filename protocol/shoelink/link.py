"""The link: one object for both ends, bytes and ticks in, notices and bytes out. It owns no port, thread or clock.

A session is up when each end has heard the other's HELLO, answering its own nonce, and IDENT. Then the shoe sends its
journal from the first event the host has not stored, the host repeats what the light should show until the shoe
confirms it, and both listen for silence. Every trouble has one way out: greet again, resume. `protocol/README.md`
tells the whole; `greeting.py`, `numbered.py` and `desired.py` have the parts, `schema.py` the messages.
"""

from shoelink import frame, notice, schema, timing
from shoelink.desired import Obeyed, Wishes
from shoelink.greeting import Greeting
from shoelink.journal import Journal, Reporter
from shoelink.numbered import DUPLICATE, GAP, OVERHEAD, Receiver, Sender
from shoelink.timing import elapsed

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable

_OUT = 320  # bytes of output kept: a greeting and five events, 28 ms at 115,200 Bd
_USB_PACKET = 64  # a write of whole packets can stall (micropython #15960)
_NOTHING: "tuple[notice.Notice, ...]" = ()


class Link:
    """One end of the link; `side` is schema.SHOE or schema.HOST.

    `ident` says who this end is; `entropy(n)` gives n random bytes, for nonces. A shoe passes its `journal`, the 4
    random bytes of this `boot` and why it was `reset`. `decoder` is `frame.Decoder` or one with the same methods.
    `room` is how many bytes this end can take before it reads them.

    The owner sets `stamp`, 4 bytes of this end's microsecond clock, before `receive` and `poll`: PING and PONG carry
    it. `now` is in milliseconds of a 30-bit clock (`timing.TICKS`) and never goes back.
    """

    def __init__(
        self,
        side: int,
        ident: "schema.Ident",
        entropy: "Callable[[int], bytes]",
        journal: "Journal | None" = None,
        decoder: "frame.Decoder | None" = None,
        boot: bytes = b"\0\0\0\0",
        reset: int = schema.RESET_UNKNOWN,
        room: int = 256,
    ) -> None:
        self.side = side
        self.ident = ident
        self.up = False
        self.stamp = b"\0\0\0\0"
        self.out = bytearray(_OUT)
        self.ready = 0  # bytes of `out` to be written
        self.decoder = decoder or frame.Decoder()
        self.journal = journal or Journal(schema.NO_JOURNAL, 0)
        self.count = {
            "sent": 0,  # frames
            "received": 0,  # frames of the peer
            "naks": 0,  # NAKs sent
            "gaps": 0,  # numbered frames that came too early
            "duplicates": 0,  # numbered frames and desired states that were here before
            "stale": 0,  # desired states older than the present one
            "unknown": 0,  # frames of kinds this schema does not know, skipped
            "short_body": 0,
            "bad_ack": 0,  # acknowledgements of numbers never sent
            "early": 0,  # frames before the session was up
            "echoes": 0,  # our own frames, come back
            "lost": 0,  # sessions lost
        }
        self._host = side == schema.HOST
        self._mark = schema.FROM_HOST if self._host else 0
        self._peers = 0 if self._host else schema.FROM_HOST
        self._known = bytes([schema.known(kind, not self._host) for kind in range(256)])
        self._events = bytes([self._shortest_event(kind) for kind in range(256)])
        self._greeting = Greeting(entropy, boot, reset, room)
        self._reporter = Reporter(self.journal)
        self._sender = Sender(self.journal)
        self._receiver = Receiver()
        self._wishes = Wishes()
        self._obeyed = Obeyed()
        self._notices: "list[notice.Notice]" = []
        self._body = bytearray(schema.BODY)
        self._seq = 0
        self._started = False
        self._heard_at = self._sent_at = self._pinged_at = self._bytes_at = 0
        self._clean()

    # ---- the owner's side

    @property
    def peer(self) -> "schema.Hello | None":
        """The HELLO of the end that is there, None while nobody has greeted."""
        return self._greeting.peer

    @property
    def peer_ident(self) -> "schema.Ident | None":
        """And its IDENT."""
        return self._greeting.ident

    def start(self, now: int) -> None:
        """Begin to greet; also after the port was closed and opened again. Output that waits is dropped."""
        self._started = True
        self.ready = 0
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
            self._take(self.decoder.feed(data), now)
            if self.decoder.damaged != damaged and self.up:
                self._reject(schema.NAK_DAMAGED)
            if quiet and pending:  # what has ended began before the silence and was no new condition
                self._may_nak = True
        return self._tell()

    def poll(self, now: int) -> "tuple[notice.Notice, ...]":
        """Run the timers and fill `out`. Call it each turn of a loop, or when `wait` says and after any call below."""
        if self._started:
            if self.up and elapsed(now, self._heard_at) >= timing.LOST_MS:
                self._lose("silence")
            if self._reporter.missing:
                self._reopen()
            self._fill(now)
            if self.ready and self.ready % _USB_PACKET == 0 and self.ready < _OUT:
                self.out[self.ready] = 0
                self.ready += 1
        return self._tell()

    def wait(self, now: int) -> int:
        """Milliseconds until `poll` has something to do if nothing is received until then."""
        if not self._started:
            return timing.HELLO_MS
        if not self.up or self._greeting.due:
            return self._greeting.wait(now)
        if self._pong or self._nak or self._ack_due or self._obeyed.confirm or self._sender.ready():
            return 0
        least = min(timing.LOST_MS - elapsed(now, self._heard_at), self._ping_wait(now))
        for left in (self._sender.wait(now), self._wishes.wait(now)):
            if left >= 0:
                least = min(least, left)
        return max(0, least)

    def take(self) -> bytes:
        """The bytes to write now; they count as written."""
        data = bytes(self.out[: self.ready])
        self.ready = 0
        return data

    def taken(self, written: int) -> None:
        """The first `written` bytes of `out` are written (a shoe's way to write without allocation)."""
        left = self.ready - written
        for i in range(left):
            self.out[i] = self.out[written + i]
        self.ready = left

    def send(self, message: "schema.Message", now: int) -> bool:
        """Send an unnumbered message once. False: no session or no room, and it is not kept."""
        if not self.up or not self._room(schema.FRAME):
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

    def resume(self, last: int, now: int) -> None:
        """Answer a Greeting: `last` is the last event stored for the journal that it named, 0 if there is none.

        Events that were handed out and are not yet stored come again: store what is queued before answering.
        """
        greeting = self._greeting
        peer = greeting.peer
        if peer is None or greeting.resumed:  # lost again meanwhile
            return
        if last >= peer.next:
            self._refuse("journal", "event %d is stored here, the shoe's next is %d" % (last, peer.next))
            return
        expected = max(last + 1, frame.extend(peer.oldest, peer.next))
        if expected > last + 1:
            self._notices.append(notice.Gap(last + 1, expected))
        self._receiver.resume(expected)
        greeting.resumed = greeting.due = True
        self._rise(now)

    def stored(self, number: int) -> None:
        """Everything up to event `number` is stored for good: acknowledged with the next `poll`."""
        if self._receiver.store(number):
            self._ack_due = True

    def desire(self, message: "schema.Signal | schema.Due") -> int:
        """What the shoe should show (SIGNAL) or expect (DUE); its generation is given here and returned.

        Repeated until the shoe confirms it, and again after every reconnect. The present state is not sent again.
        """
        return self._wishes.desire(message)

    # ---- sessions

    def _shortest_event(self, kind: int) -> int:
        """Bytes that the body of a known event has at least; 255, which no body has, for all other kinds."""
        return schema.MINIMUM[kind] if self._host and kind & schema.RELIABLE and self._known[kind] else 255

    def _clean(self) -> None:
        """What a session leaves behind means nothing to the next one."""
        self._receiver.close()
        self._stopped = False
        self._ack_due = False
        self._pong = b""  # the stamps of a PING to be answered
        self._nak = 0  # the reason of a NAK to be sent
        self._may_nak = True

    def _greet(self) -> None:
        self.up = False
        self._clean()
        self._greeting.begin()

    def _lose(self, reason: str) -> None:
        self.count["lost"] += 1
        self._notices.append(notice.LinkLost(reason))
        self._greet()

    def _refuse(self, reason: str, detail: str) -> None:
        if self._greeting.refuse():
            self._notices.append(notice.Refused(reason, detail))

    def _hello(self, hello: "schema.Hello", flags: int, now: int) -> None:
        if self.up and self._greeting.strange(hello):
            self._lose("restart")
        self._greeting.hear(hello, flags & schema.FLAG_ASK != 0, self.up, self._journal_named())
        self._rise(now)

    def _journal_named(self) -> bytes:
        """The journal that a HELLO of this end names: a shoe's own, the one that a host resumes."""
        greeting = self._greeting
        if not self._host:
            return self.journal.id
        return greeting.peer.journal if greeting.peer and greeting.resumed else schema.NO_JOURNAL

    def _rise(self, now: int) -> None:
        """The session is up once each end has answered the other."""
        greeting = self._greeting
        peer = greeting.peer
        ident = greeting.ident
        if self.up or peer is None:
            return
        if peer.major != schema.MAJOR:
            self._refuse(
                "major",
                "the peer speaks link %d.%d, this end %d.%d: update the older one"
                % (peer.major, peer.minor, schema.MAJOR, schema.MINOR),
            )
            return
        if ident is None:
            return
        if self._host and not greeting.told:
            greeting.told = True
            self._notices.append(notice.Greeting(peer, ident))
        if not greeting.answered or not (greeting.resumed if self._host else peer.journal == self.journal.id):
            return
        if self._host:
            self._receiver.open()
            self._wishes.again(True)
        elif self._sender.resume(peer.next, peer.receive):
            self._obeyed = Obeyed()
        else:
            held = (peer.next, self.journal.oldest, self.journal.next - 1)
            self._refuse("journal", "the host asks for event %d, this journal has %d to %d" % held)
            return
        self.up = True
        self._heard_at = self._pinged_at = now
        self._notices.append(notice.LinkUp(peer, ident, min(peer.minor, schema.MINOR)))

    # ---- frames in

    def _take(self, frames: "list[tuple[int, int, int, int, bytes]]", now: int) -> None:
        """Act on frames, in order. What a host gets most, the event that it waits for, takes the shortest way."""
        unpack = self.decoder.unpack
        build = self.decoder.build
        tell = self._notices.append
        receiver = self._receiver
        events = self._events
        echoes = 0
        for kind, flags, seq, ack, body in frames:
            if seq == receiver.low and len(body) >= events[kind]:
                self._may_nak = True
                tell(build(notice.Recorded, (receiver.take(), kind, unpack(kind, body), body)))
                continue
            plain = self._known[kind]
            if kind & schema.FROM_HOST != self._peers:
                echoes += 1
            elif plain and len(body) < schema.MINIMUM[plain]:
                self.count["short_body"] += 1
                if kind & schema.RELIABLE and self.up:
                    self._stop("short body", kind, seq)
            elif plain == schema.HELLO:
                self._hello(unpack(plain, body), flags, now)
            elif plain == schema.IDENT:
                self._greeting.ident = unpack(plain, body)
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
        if len(frames) > echoes:
            self._heard_at = now
        self.count["received"] += len(frames) - echoes
        self.count["echoes"] += echoes

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
            self._notices.append(notice.Recorded(self._receiver.take(), kind, None, body))

    def _desired(self, kind: int, plain: int, body: bytes) -> None:
        if plain:
            message = self.decoder.unpack(plain, body)
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
                self._sender.back(self.decoder.unpack(plain, body).expected)
        elif plain == schema.ACK:
            if self._host:
                ack = self.decoder.unpack(plain, body)
                self._wishes.confirm(ack.kind, ack.generation, now)
        elif self._host:
            self._notices.append(notice.Delivered(plain, self.decoder.unpack(plain, body)))

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

    def _room(self, size: int) -> bool:
        return self.ready + size <= _OUT

    def _put(
        self, kind: int, flags: int, seq: int, body: "bytes | bytearray", start: int, length: int, now: int
    ) -> None:
        ack = self._receiver.stored if self._host else 0
        self.ready = frame.encode_into(self.out, self.ready, kind, flags, seq, ack, body, start, length)
        self.count["sent"] += 1
        self._sent_at = now
        self._ack_due = False  # every frame of a host acknowledges

    def _emit(self, message: "schema.Message", flags: int, now: int) -> None:
        kind = schema.KIND_OF[type(message)]
        length = schema.pack_into(self._body, 0, message)
        self._seq = (self._seq + 1) & 0xFFFF
        self._put(kind | self._mark, flags, self._seq, self._body, 0, length, now)

    def _fill(self, now: int) -> None:
        if (not self.up or self._greeting.due) and self._greeting.wait(now) == 0 and self._room(2 * schema.FRAME):
            self._say_hello(now)
        if not self.up:
            return
        if self._pong and self._room(schema.FRAME):
            self._emit(schema.Pong(self._pong[:4], self._pong[4:], self.stamp), 0, now)
            self._pong = b""
        if self._nak and self._room(schema.FRAME):
            self.count["naks"] += 1
            self._emit(schema.Nak(self._receiver.expected & 0xFFFF, self._nak), 0, now)
            self._nak = 0
        if self._host:
            while self._room(schema.FRAME):
                wish = self._wishes.due(now)
                if wish is None:
                    break
                self._emit(wish, 0, now)
            if self._ack_due and self._room(schema.FRAME):
                self._emit(schema.Ack(0, 0), 0, now)
        else:
            while self._obeyed.confirm and self._room(schema.FRAME):
                kind, generation = self._obeyed.confirm.popitem()
                self._emit(schema.Ack(kind, generation), 0, now)
            self._send_events(now)
        if self._ping_wait(now) == 0 and self._room(schema.FRAME):
            self._pinged_at = now
            self._emit(schema.Ping(self.stamp), 0, now)

    def _send_events(self, now: int) -> None:
        journal = self.journal
        sender = self._sender
        sender.expire(now)
        number = sender.ready()
        while number and self._room(journal.length(number) + OVERHEAD):
            at = journal.load(number)
            self._put(journal.buffer[at - 2], 0, number, journal.buffer, at, journal.length(number), now)
            sender.sent(number, now)
            number = sender.ready()

    def _say_hello(self, now: int) -> None:
        greeting = self._greeting
        if not self._host:
            hello = greeting.say(self.journal.id, self.journal.oldest, self.journal.next, now)
        else:
            hello = greeting.say(self._journal_named(), 0, self._receiver.stored + 1 if greeting.resumed else 0, now)
        self._emit(hello, 0 if self.up else schema.FLAG_ASK, now)
        self._emit(self.ident, 0, now)
        self._ack_due = self.up and self._host  # no session reads the `ack` of a HELLO

    def _ping_wait(self, now: int) -> int:
        if self._host:
            left = timing.PING_MS - elapsed(now, self._pinged_at)
        else:
            left = timing.IDLE_MS - elapsed(now, self._sent_at)
        probe = timing.PROBE_AFTER_MS - elapsed(now, self._heard_at)
        return max(0, min(left, max(probe, timing.PROBE_MS - elapsed(now, self._pinged_at))))

    # ---- what the owner is told

    def _reopen(self) -> None:
        missing = self._reporter.reopen(self.stamp)
        if missing:
            self._notices.append(notice.JournalRoom(missing))

    def _tell(self) -> "tuple[notice.Notice, ...]":
        if not self._notices:
            return _NOTHING
        notices = tuple(self._notices)
        self._notices = []
        return notices
