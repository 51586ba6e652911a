"""The link: one object for both ends, bytes and ticks in, notices and bytes out. It owns no port, thread or clock.

A session begins when each end has heard the other's HELLO, answering its own nonce, and IDENT. Then the shoe sends its
journal from the first event the host has not stored, the host repeats what the light should show until the shoe
confirms it, and both listen for silence. Every trouble has one way out: greet again, resume. `protocol/README.md`
tells the whole; `schema.py` has the messages, `numbered.py` and `desired.py` the two directions.
"""

from shoelink import frame, notice, schema, timing
from shoelink.desired import Obeyed, Wishes
from shoelink.journal import Journal
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
    it. `now` is in milliseconds of a 30-bit clock (`timing.TICKS`).
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
        self.peer: "schema.Hello | None" = None
        self.peer_ident: "schema.Ident | None" = None
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
            "refused": 0,  # events that found the journal full
        }
        self._host = side == schema.HOST
        self._mark = schema.FROM_HOST if self._host else 0
        self._entropy = entropy
        self._boot = boot
        self._reset = reset
        self._receive = room
        self._sender = Sender(self.journal)
        self._receiver = Receiver()
        self._wishes = Wishes()
        self._obeyed = Obeyed()
        self._notices: "list[notice.Notice]" = []
        self._body = bytearray(schema.BODY)
        self._seq = 0
        self._refused = 0  # events refused since the journal filled up
        self._started = False
        self._stopped = False
        self._heard_at = self._sent_at = self._pinged_at = self._hello_at = self._bytes_at = 0
        self._resumed = False
        self._forget()

    # ---- the owner's side

    def start(self, now: int) -> None:
        """Begin to greet; also after the port was closed and opened again. Output that waits is dropped."""
        self._started = True
        self.up = False
        self.ready = 0
        self._greet(now)

    def receive(self, data: "bytes | bytearray | memoryview", now: int) -> "tuple[notice.Notice, ...]":
        """Take bytes from the line, cut anywhere."""
        if self._started and len(data):
            quiet = elapsed(now, self._bytes_at) >= timing.QUIET_MS
            pending = self.decoder.pending()
            if quiet and not pending:
                self._may_nak = True
            self._bytes_at = now
            damaged = self.decoder.damaged
            for kind, flags, seq, ack, body in self.decoder.feed(data):
                self._take(kind, flags, seq, ack, body, now)
            if self.decoder.damaged != damaged and self.up:
                self._reject(schema.NAK_DAMAGED)
            if quiet and pending:  # what has ended began before the silence and was no new condition
                self._may_nak = True
        return self._tell()

    def poll(self, now: int) -> "tuple[notice.Notice, ...]":
        """Run the timers and fill `out`. Call it each turn of a loop, or when `wait` says and after any call below."""
        if self._started:
            if self.up and elapsed(now, self._heard_at) >= timing.LOST_MS:
                self._lose("silence", now)
            if self._refused:
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
        if self._hello_due:
            return 0
        if not self.up:
            return self._hello_wait(now)
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
        if self._refused:
            self._reopen()
        at = -1 if self._refused else self.journal.open(kind, length)
        if at < 0:
            self.count["refused"] += 1
            self._refused += 1
            if self._refused == 1:
                self._own(schema.FAULT, schema.Fault(self.stamp, schema.FAULT_JOURNAL_FULL, 0))
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
            count["refused"],
            overruns,
            free,
        )
        return schema.Stats(self.stamp, *[min(value, 0xFFFF) for value in values])

    # ---- the host's owner

    def resume(self, last: int, now: int) -> None:
        """Answer a Greeting: `last` is the last event stored for the journal that it named, 0 if there is none.

        Events that were handed out and are not yet stored come again: store what is queued before answering.
        """
        peer = self.peer
        if peer is None or self._resumed:  # lost again meanwhile
            return
        oldest = frame.extend(peer.oldest, peer.next)
        if last >= peer.next:
            self._refuse("journal", "event %d is stored here, the shoe's next is %d" % (last, peer.next))
            return
        expected = max(last + 1, oldest)
        if expected > last + 1:
            self._notices.append(notice.Gap(last + 1, expected))
        self._receiver.resume(expected)
        self._resumed = True
        self._hello_due = True
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

    def _forget(self) -> None:
        """Nothing is known of a peer."""
        self.peer = None
        self.peer_ident = None
        self._nonce = b"\0\0\0\0\0\0\0\0"
        self._answered = False  # the peer's HELLO answers our nonce
        self._greeted = False  # host: the Greeting is out
        self._resumed = False  # host: and answered
        self._told = b""  # the nonce and journal that our last HELLO answered
        self._refused_nonce = b""
        self._hello_due = False
        self._ack_due = False
        self._pong = b""  # the stamps of a PING to be answered
        self._nak = 0
        self._may_nak = True

    def _greet(self, now: int) -> None:
        self._forget()
        self._nonce = self._entropy(8)
        self._hello_due = True

    def _lose(self, reason: str, now: int) -> None:
        self.up = False
        self.count["lost"] += 1
        self._notices.append(notice.LinkLost(reason))
        self._greet(now)

    def _refuse(self, reason: str, detail: str) -> None:
        peer = self.peer
        if peer and peer.nonce != self._refused_nonce:
            self._refused_nonce = peer.nonce
            self._notices.append(notice.Refused(reason, detail))

    def _hello(self, hello: "schema.Hello", flags: int, now: int) -> None:
        if self.peer is None or self.peer.nonce != hello.nonce:
            if self.up:
                self._lose("restart", now)
            self.peer_ident = None
            self._greeted = self._resumed = False
        self.peer = hello
        self._answered = hello.answers == self._nonce[:4]
        if hello.major != schema.MAJOR:
            self._refuse(
                "major",
                "the peer speaks link %d.%d, this end %d.%d: update the older one"
                % (hello.major, hello.minor, schema.MAJOR, schema.MINOR),
            )
        elif flags & schema.FLAG_ASK and (self.up or self._told != hello.nonce + self._journal_told()):
            # What was said is not said again at once, or two ends that are not up would answer each other for ever.
            self._hello_due = True
        self._rise(now)

    def _rise(self, now: int) -> None:
        """The session is up once each end has answered the other."""
        peer = self.peer
        ident = self.peer_ident
        if self.up or peer is None or ident is None or peer.major != schema.MAJOR:
            return
        if self._host:
            if not self._greeted:
                self._greeted = True
                self._notices.append(notice.Greeting(peer, ident))
            if not (self._answered and self._resumed):
                return
            self._wishes.again(True)
        else:
            if not (self._answered and peer.journal == self.journal.id):
                return
            if not self._sender.resume(peer.next, peer.receive):
                self._refuse(
                    "journal",
                    "the host asks for event %d, this journal has %d to %d"
                    % (peer.next, self.journal.oldest, self.journal.next - 1),
                )
                return
            self._obeyed = Obeyed()
        self.up = True
        self._stopped = False
        self._heard_at = self._pinged_at = now
        self._notices.append(notice.LinkUp(peer, ident, min(peer.minor, schema.MINOR)))

    def _journal_told(self) -> bytes:
        if not self._host:
            return self.journal.id
        return self.peer.journal if self.peer and self._resumed else schema.NO_JOURNAL

    # ---- frames in

    def _take(self, kind: int, flags: int, seq: int, ack: int, body: bytes, now: int) -> None:
        from_host = kind & schema.FROM_HOST != 0
        if from_host == self._host:
            self.count["echoes"] += 1
            return
        self.count["received"] += 1
        plain = schema.known(kind, from_host)
        if plain and len(body) < schema.MINIMUM[plain]:
            self.count["short_body"] += 1
            if kind & schema.RELIABLE and self.up:
                self._stop("short body", kind, seq)
            return
        if plain == schema.HELLO:
            self._heard_at = now
            self._hello(schema.unpack(plain, body), flags, now)
        elif plain == schema.IDENT:
            self._heard_at = now
            self.peer_ident = schema.unpack(plain, body)
            self._rise(now)
        elif not self.up:
            self.count["early"] += 1
        else:
            self._heard_at = now
            if not self._host and not self._sender.acked(ack, now):
                self.count["bad_ack"] += 1
            if not kind & schema.RELIABLE:
                self._unnumbered(kind, plain, body, now)
            elif self._host:
                self._numbered(kind, plain, seq, body)
            else:
                self._desired(kind, plain, body)

    def _numbered(self, kind: int, plain: int, seq: int, body: bytes) -> None:
        if self._stopped:
            return
        verdict = self._receiver.judge(seq)
        if verdict == DUPLICATE:
            self.count["duplicates"] += 1
            self._ack_due = True  # the acknowledgement was lost, or would the shoe repeat for ever
        elif verdict == GAP:
            self.count["gaps"] += 1
            self._reject(schema.NAK_GAP)
        elif not plain and kind & schema.CRITICAL:
            self._stop("unknown critical kind", kind, self._receiver.expected)
        else:
            self._may_nak = True
            if not plain:
                self.count["unknown"] += 1
            message = schema.unpack(plain, body) if plain else None
            self._notices.append(notice.Recorded(self._receiver.take(), kind, message, body))

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
            return
        if plain == schema.PING:
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
        elif self._host:
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
        if (self._hello_due or (not self.up and self._hello_wait(now) == 0)) and self._room(2 * schema.FRAME):
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
        peer = self.peer
        if self._host:
            next = self._receiver.stored + 1 if self._resumed else 0
            oldest = 0
        else:
            next = self.journal.next
            oldest = self.journal.oldest & 0xFFFF
        journal = self._journal_told()
        hello = schema.Hello(
            schema.MAJOR,
            schema.MINOR,
            schema.SCHEMA,
            journal,
            self._boot,
            self._reset,
            oldest,
            next,
            self._receive,
            self._nonce,
            peer.nonce[:4] if peer else b"\0\0\0\0",
        )
        self._emit(hello, 0 if self.up else schema.FLAG_ASK, now)
        self._emit(self.ident, 0, now)
        self._told = (peer.nonce if peer else b"") + journal
        self._hello_due = False
        self._ack_due = self.up and self._host  # no session reads the `ack` of a HELLO
        self._hello_at = now

    def _hello_wait(self, now: int) -> int:
        period = timing.HELLO_AGAIN_MS if self.peer and not self._refused_nonce else timing.HELLO_MS
        return max(0, period - elapsed(now, self._hello_at))

    def _ping_wait(self, now: int) -> int:
        if self._host:
            left = timing.PING_MS - elapsed(now, self._pinged_at)
        else:
            left = timing.IDLE_MS - elapsed(now, self._sent_at)
        probe = timing.PROBE_AFTER_MS - elapsed(now, self._heard_at)
        return max(0, min(left, max(probe, timing.PROBE_MS - elapsed(now, self._pinged_at))))

    # ---- the journal's edge

    def _own(self, kind: int, message: "schema.Message") -> None:
        """Journal an event of the link itself, in the slots that are kept for that."""
        at = self.journal.open(kind, schema.MINIMUM[kind], True)
        if at >= 0:
            schema.pack_into(self.journal.buffer, at, message)
            self.journal.close()

    def _reopen(self) -> None:
        """There is room again: say in the journal itself how many events are missing there."""
        if self.journal.room() >= 2:  # for the CLEAR and the event after it
            self._own(schema.CLEAR, schema.Clear(self.stamp, schema.FAULT_JOURNAL_FULL, min(self._refused, 0xFFFF)))
            self._notices.append(notice.JournalRoom(self._refused))
            self._refused = 0

    def _tell(self) -> "tuple[notice.Notice, ...]":
        if not self._notices:
            return _NOTHING
        notices = tuple(self._notices)
        self._notices = []
        return notices
