"""The seat nodes' bus: a half-duplex pair with the shoe at one end and nodes along it, byte by byte in microseconds.

The nodes run the firmware's own answerer; what is modelled is the line: a byte of 8N1 lasts 86.8 us at 115,200 Bd,
whoever drives it is heard by all (the shoe hears itself), two that drive at once are heard as neither, and a driver
that is let go before its last stop bit has cut its byte. For both tiers of emulation.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Sequence
    from typing import Any

BYTE_US = 87
TICKS = 0x3FFFFFFF


def after(a: int, b: int) -> int:
    """Microseconds from tick `b` to tick `a`."""
    return ((a - b + 0x20000000) & TICKS) - 0x20000000


class Gate:
    """What the answerer asks of its gate, with cards put into it by hand (`firmware/node/gate.py` has the sensors)."""

    def __init__(self) -> None:
        self.arrived: list[int] = []
        self.blocked = False
        self.lost = 0


class SeatLine:
    """`nodes` have `hear(byte)`, `answer` and `silence()`; `turn_us` is how long each waits before it answers.

    `absent`: nodes that have no power. `late`: node -> microseconds that it waits longer. `shorted`: the pair is,
    nothing gets through. `garbling`: nodes whose answers collide with another's. `at_once`: time plays no part, an
    answer is there when the shoe has let go, and nothing collides by itself.
    """

    def __init__(self, nodes: "Sequence[Any]", turn_us: int, at_once: bool = False) -> None:
        self.nodes = list(nodes)
        self.absent: set[int] = set()
        self.late: dict[int, int] = {}
        self.garbling: set[int] = set()
        self.shorted = False
        self.noisy = False
        self.collisions = 0  # bytes that two drove at once
        self.cut = 0  # questions whose driver was let go too early
        self._turn_us = turn_us
        self._at_once = at_once
        self._driving = False
        self._until = 0  # when the shoe's last byte has left
        self._sent: list[tuple[int, int]] = []  # (when it has left, byte) of the shoe, not yet heard by the nodes
        self._coming: list[tuple[int, int, bool]] = []  # (when it has come, byte, of a node), for the shoe to read

    def drive(self, level: int, now: int) -> None:
        """The shoe's driver: on (1) or off. Bytes that have not left are cut."""
        if not level and self._driving:
            self._hear(now)
            if self._sent:
                self.cut += 1
                self._sent = []
                self._coming = [come for come in self._coming if after(come[0], now) <= 0]
            for i, (at, byte, of_node) in enumerate(self._coming):
                if of_node and not self._at_once and after(at - BYTE_US, now) < 0:  # both drove
                    self._coming[i] = (at, byte & 0x36, True)
                    self.collisions += 1
        self._driving = bool(level)

    def write(self, data: bytes, now: int) -> None:
        """The shoe's UART sends."""
        at = now
        if self._sent and after(self._sent[-1][0], now) > 0:
            at = self._sent[-1][0]
        for byte in data:
            at = at + (0 if self._at_once else BYTE_US)
            self._until = at
            if self._driving:
                byte = self._arrive(at, byte)
                self._sent.append((at, byte))

    def done(self, now: int) -> bool:
        """Whether all of it has left."""
        return after(self._until, now) <= 0

    def any(self, now: int) -> int:
        """Bytes that the shoe can read."""
        self._hear(now)
        if self.noisy and len(self._coming) < 40:
            self._coming += [(now, 0x55, True)] * 8
        return len([1 for come in self._coming if after(come[0], now) <= 0])

    def read(self, size: int, now: int) -> bytes:
        """The next of them."""
        count = min(size, self.any(now))
        data = bytes([come[1] for come in self._coming[:count]])
        self._coming = self._coming[count:]
        return data

    def _arrive(self, at: int, byte: int, of_node: bool = False) -> int:
        """A byte whose last bit is on the line at `at`; returns what all hear."""
        byte = 0 if self.shorted else byte
        place = len(self._coming)
        for i, (when, other, node) in enumerate(self._coming):
            apart = after(at, when)
            if not self._at_once and -BYTE_US < apart < BYTE_US and (of_node or node):
                if apart == 0 and byte == other:  # two that send the same at the same time are heard as one
                    return byte
                self.collisions += 1
                self._coming[i] = (when, byte & other & 0x36, node)
                return byte & other & 0x36
            if apart < 0:
                place = min(place, i)
        self._coming.insert(place, (at, byte, of_node))
        return byte

    def _hear(self, now: int) -> None:
        """Let the nodes hear what has left by now; the one that is asked answers."""
        while self._sent and after(self._sent[0][0], now) <= 0:
            at, byte = self._sent.pop(0)
            if self.shorted:
                continue
            for number, node in enumerate(self.nodes):
                if number not in self.absent and node.hear(byte):
                    self._answer(number, node, at)

    def _answer(self, number: int, node: "Any", asked: int) -> None:
        start = asked + (0 if self._at_once else self._turn_us + self.late.get(number, 0))
        for i, byte in enumerate(bytes(node.answer)):
            at = start if self._at_once else start + (i + 1) * BYTE_US
            self._arrive(at, byte & 0x36 if number in self.garbling else byte, True)
