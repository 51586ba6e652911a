"""How a session comes up and goes down: greet, meet, resume, lose. The half of `link.Link` that owns the state.

A session is up when each end has heard the other's HELLO, answering its own nonce, and IDENT, both sealed if there are
keys. There is one way back from any trouble: greet again, resume.
"""

from shoelink import frame, notice, schema, timing
from shoelink.desired import Obeyed, Wishes
from shoelink.greeting import Greeting
from shoelink.journal import Journal, Reporter
from shoelink.lookup import Teller
from shoelink.numbered import Receiver, Sender
from shoelink.outbox import Outbox
from shoelink.seal import Guard

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable, Mapping
    from typing import Any

_NOTHING: "tuple[notice.Notice, ...]" = ()


class Session:
    """What an end knows of its peer. `link.Link` says what each argument is."""

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
        keys: "Mapping[bytes, bytes] | None" = None,
    ) -> None:
        self.side = side
        self.ident = ident
        self.up = False
        self.stamp = b"\0\0\0\0"
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
            "echoes": 0,  # our own frames, come back: the wrong direction
            "bad_tag": 0,  # frames that this session did not seal
            "replayed": 0,  # sealed frames that were here before
            "unsealed": 0,  # frames without a tag, where only sealed ones count
            "untried": 0,  # greetings that were not held against every key, for there were too many
            "lost": 0,  # sessions lost
        }
        self._host = side == schema.HOST
        self._mark = schema.FROM_HOST if self._host else 0
        self._peers = 0 if self._host else schema.FROM_HOST
        self._known = bytes([schema.known(kind, not self._host) for kind in range(256)])
        self._events = [self._event(kind) for kind in range(256)] if self._host else []
        self._guard = Guard(side, ident.device, keys, self.count) if keys else None
        self.decoder.keyed = self._guard is not None
        self._outbox = Outbox(self._mark, self._guard, self.count, self.decoder.encode_into)
        self._greeting = Greeting(entropy, boot, reset, room)
        self._reporter = Reporter(self.journal)
        self._sender = Sender(self.journal)
        self._receiver = Receiver()
        self._wishes = Wishes()
        self._obeyed = Obeyed()
        self._teller = Teller()
        self._notices: "list[notice.Notice]" = []
        self._started = False
        self._heard_at = self._pinged_at = self._bytes_at = self._tried_at = 0
        self._clean()

    @property
    def peer(self) -> "schema.Hello | None":
        """The HELLO of the end that is there, None while nobody has greeted."""
        return self._greeting.peer

    @property
    def peer_ident(self) -> "schema.Ident | None":
        """And its IDENT."""
        return self._greeting.ident

    @property
    def sealed(self) -> "bytes | None":
        """The device that has proven its key, from its Greeting on as long as the session lasts; None: none has."""
        return self._guard.seal.device if self._guard and self._guard.seal and self._greeting.ident else None

    # ---- coming up and going down

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

    def _clean(self) -> None:
        """What a session leaves behind means nothing to the next one."""
        self._receiver.close()
        self._teller.forget()
        self._stopped = False
        self._ack_due = False
        self._pong = b""  # the stamps of a PING to be answered
        self._nak = 0  # the reason of a NAK to be sent
        self._may_nak = True

    def _greet(self) -> None:
        self.up = False
        self._clean()
        self._greeting.begin()
        if self._guard:
            self._guard.begin(self._greeting.nonce)

    def _lose(self, reason: str) -> None:
        self.count["lost"] += 1
        self._notices.append(notice.LinkLost(reason))
        self._greet()

    def _refuse(self, reason: str, detail: str) -> None:
        if self._greeting.refuse():
            self._notices.append(notice.Refused(reason, detail))

    def _refuse_key(self, detail: str) -> None:
        """What is heard cannot be met for want of a key: told once a greeting, for anyone can say such things."""
        if self._host and not self.up and not self._greeting.foreign:
            self._greeting.foreign = True
            self._notices.append(notice.Refused("key", detail))

    def _hello(self, hello: "schema.Hello", flags: int, now: int) -> None:
        if self.up and self._greeting.strange(hello):
            self._lose("restart")
            if self._guard and not self._host:
                self._guard.follow(hello.nonce)
        if self._greeting.strange(hello):
            self._heard_at = now
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
        elif self._sender.resume(peer.next, peer.receive, schema.TAG if self._guard else 0):
            self._obeyed = Obeyed()
        else:
            held = (peer.next, self.journal.oldest, self.journal.next - 1)
            self._refuse("journal", "the host asks for event %d, this journal has %d to %d" % held)
            return
        self.up = True
        self._heard_at = now
        self._pinged_at = now - timing.PING_MS if self._host else now  # a host asks for the shoe's time at once
        self._notices.append(notice.LinkUp(peer, ident, min(peer.minor, schema.MINOR)))

    def _say_hello(self, now: int) -> None:
        greeting = self._greeting
        ack_due = self._ack_due
        if not self._host:
            hello = greeting.say(self.journal.id, self.journal.oldest, self.journal.next, now)
        else:
            hello = greeting.say(self._journal_named(), 0, self._receiver.stored + 1 if greeting.resumed else 0, now)
        self._emit(hello, 0 if self.up else schema.FLAG_ASK, now)
        if not self._guard or self._guard.proven:
            self._emit(self.ident, 0, now)
        self._ack_due = ack_due  # no session reads the `ack` of a HELLO

    def _emit(self, message: "schema.Message", flags: int, now: int) -> None:
        self._outbox.put(message, flags, self._receiver.stored if self._host else 0, now)
        self._ack_due = False  # every frame of a host acknowledges

    def _event(self, kind: int) -> "tuple[int, Any, Any]":
        """Bytes that the body of a known event has at least, its type and what reads it; 255, which no body has, for
        all other kinds."""
        if not (kind & schema.RELIABLE and self._known[kind]):
            return 255, None, None
        return schema.MINIMUM[kind], schema.TYPES[kind], self.decoder.reader(schema.LAYOUTS[kind])

    def _tell(self) -> "tuple[notice.Notice, ...]":
        if not self._notices:
            return _NOTHING
        notices = tuple(self._notices)
        self._notices = []
        return notices
