"""What an end has to say, as frames that wait to be written; sealed, if it has a key."""

from shoelink import schema
from shoelink.seal import Guard

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable

SIZE = 319  # bytes kept: a greeting and five events, 28 ms at 115,200 Bd; no whole USB packets, so that `pad` has room
_USB_PACKET = 64  # a write of whole packets can stall (micropython #15960)


class Outbox:
    """`buffer` has `ready` bytes to be written. `count` is the link's: "sent" is counted here.

    `encode_into` is `frame.encode_into`, or does the same.

    Without a guard nothing here allocates on MicroPython, or a card could not be sent from a full heap.
    """

    def __init__(
        self, mark: int, guard: "Guard | None", count: "dict[str, int]", encode_into: "Callable[..., int]"
    ) -> None:
        self.buffer = bytearray(SIZE)
        self.ready = 0
        self.at = 0  # tick of the last frame
        self._mark = mark  # schema.FROM_HOST for a host
        self._guard = guard
        self._count = count
        self._encode_into = encode_into
        self._body = bytearray(schema.BODY)
        self._seq = 0

    def room(self, size: int) -> bool:
        """Whether a frame of `size` bytes can be added."""
        return self.ready + size <= SIZE

    def put(self, message: "schema.Message", flags: int, ack: int, now: int) -> None:
        """Add a frame with a number of its own; there must be room for schema.FRAME."""
        length = schema.pack_into(self._body, 0, message)
        kind = schema.KIND_OF[type(message)] | self._mark
        self._seq = (self._seq + 1) & 0xFFFF
        if self._guard:
            self._close(self._guard, False, self._seq, kind, flags, ack, bytes(self._body[:length]))
        else:
            self.ready = self._encode_into(self.buffer, self.ready, kind, flags, self._seq, ack, self._body, 0, length)
        self._sent(now)

    def put_event(self, number: int, kind: int, body: bytearray, start: int, length: int, now: int) -> None:
        """Add the frame of event `number`, whose body is in `body` from `start`."""
        if self._guard:
            self._close(self._guard, True, number, kind, 0, 0, bytes(body[start : start + length]))
        else:
            self.ready = self._encode_into(self.buffer, self.ready, kind, 0, number, 0, body, start, length)
        self._sent(now)

    def pad(self) -> None:
        """Call before writing: what waits must not be a multiple of a USB packet."""
        if self.ready and self.ready % _USB_PACKET == 0:
            self.buffer[self.ready] = 0
            self.ready += 1

    def taken(self, written: int) -> None:
        """The first `written` bytes are written."""
        left = self.ready - written
        for i in range(left):
            self.buffer[i] = self.buffer[written + i]
        self.ready = left

    def _close(self, guard: Guard, numbered: bool, number: int, kind: int, flags: int, ack: int, body: bytes) -> None:
        seq, tag = guard.close(numbered, number, kind, flags, ack, body)
        if tag:
            flags |= schema.FLAG_AUTH
        self.ready = self._encode_into(self.buffer, self.ready, kind, flags, seq, ack, body, 0, len(body), tag)

    def _sent(self, now: int) -> None:
        self._count["sent"] += 1
        self.at = now
