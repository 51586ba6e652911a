"""Listens on the shoe's serial line, both ways: what the shoe reported, what it was told. For the scripted dealer.

It takes no part in the link. A dealer at a table sees the light change before the next card; a scripted one knows here
that the host has answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from shoelink import schema
from shoelink.frame import Decoder

SILENCE = 1.0  # seconds without a frame from the host: nobody is there
KEPT = 200  # frames each way
T = TypeVar("T")


class Newest(Generic[T]):
    """The newest of many. Whoever goes through them goes through those of that moment: more may come on a thread."""

    def __init__(self, most: int) -> None:
        self._kept: deque[T] = deque(maxlen=most)

    def append(self, one: T) -> None:
        """One more; the oldest goes where there are enough."""
        self._kept.append(one)

    def clear(self) -> None:
        """Forget them."""
        self._kept.clear()

    def __iter__(self) -> Iterator[T]:
        return iter(self._kept.copy())  # one step of the interpreter: no other thread comes between

    def __len__(self) -> int:
        return len(self._kept)


class Heard(NamedTuple):
    """A frame on the line; `message` None: a kind that this schema does not know."""

    from_host: bool
    kind: int
    number: int  # low 16 bits of the journal number, for reliable kinds
    message: Any


class Sniffer:
    """Fed with the bytes of the line in their order; `on_frame` is called for each whole frame."""

    def __init__(self, on_frame: Callable[[Heard], None] | None = None) -> None:
        self.on_frame = on_frame
        self.heard: Newest[Heard] = Newest(KEPT)
        self.up = False  # a session is going on
        self.greetings = 0  # of either end: as long as there is no other, the session is the same
        self.due: Any = None  # the newest schema.Due that the shoe has confirmed: it shows it, and reads cards as of it
        self.signal: Any = None
        self._wished: dict[int, Any] = {}  # what the host sent last, by kind
        self.reported = 0  # events of the shoe's journal, each counted once
        self._journal: bytes | None = None  # which the numbers are of
        self._sent: int | None = None  # newest number of the shoe's journal on the line, low 16 bits
        self._stored: int | None = None  # ... that the host says it has stored
        self._host_at = 0.0
        self._decoders = _decoders()

    @property
    def answered(self) -> bool:
        """Whether the host has stored all that the shoe reported, so that what it wants now has been said too."""
        return self._sent is None or (self._stored is not None and not _later(self._sent, self._stored))

    def restart(self) -> None:
        """The shoe was switched off: its half of the line begins anew."""
        self.up = False
        self._sent = self._stored = None
        self._decoders = _decoders()

    def alive(self, now: float) -> bool:
        """Whether a host has been in session lately. `now` in seconds, as given to `feed`."""
        return self.up and now - self._host_at < SILENCE

    def feed(self, from_host: bool, data: bytes, now: float) -> None:
        """Bytes that the shoe read (from_host) or wrote at `now`."""
        for kind, _flags, seq, ack, body in self._decoders[from_host].feed(data):
            plain = schema.known(kind, from_host)
            try:
                message = schema.unpack(plain, body) if plain else None
            except schema.ShortBodyError:
                message = None
            if plain == schema.HELLO:
                self.up = False
                self.greetings += 1
                if not from_host and message is not None and message.journal != self._journal:
                    self._journal = message.journal  # its memory has failed: it begins with number 1
                    self._sent = self._stored = None
            elif plain != schema.IDENT:
                self.up = True
                if from_host:
                    self._stored = ack
                    self._host_at = now
            if from_host:
                if isinstance(message, schema.Due | schema.Signal):
                    self._wished[schema.KIND_OF[type(message)]] = message
            elif isinstance(message, schema.Ack):
                self._confirmed(message)
            elif kind & schema.RELIABLE and (self._sent is None or _later(seq, self._sent)):
                self._sent = seq
                self.reported += 1
            heard = Heard(from_host, kind, seq, message)
            self.heard.append(heard)
            if self.on_frame is not None:
                self.on_frame(heard)

    def _confirmed(self, told: Any) -> None:
        wished = self._wished.get(told.kind)
        if wished is None or wished.generation != told.generation:
            return
        if isinstance(wished, schema.Due):
            self.due = wished
        else:
            self.signal = wished


def _decoders() -> tuple[Decoder, Decoder]:
    """One for each direction. They read sealed frames too: a tag is only more bytes behind a body."""
    pair = (Decoder(), Decoder())
    for decoder in pair:
        decoder.keyed = True
    return pair


def _later(number: int, than: int) -> bool:
    """Whether a 16-bit number comes after another one, within half a turn."""
    return 0 < (number - than) & 0xFFFF < 0x8000
