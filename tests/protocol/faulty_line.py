"""Two real links on a line that loses, damages, repeats and delays, in virtual time: for tests and benchmarks.

Time goes from one thing that can happen to the next (`Link.wait`, an arrival, a card): `wait` is on trial too.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from dealershoe.bench.faults import DAMAGE, Faults, Wire
from dealershoe.link import codec
from shoelink import journal, link, notice, schema, timing

BYTES_A_MS = 11.52  # 115,200 Bd, 8N1


def damaged(share: float) -> dict[str, float]:
    """Faults that damage about this share of the frames, all kinds alike."""
    return dict.fromkeys(DAMAGE, share / len(DAMAGE))


def damage(piece: bytes, dice: random.Random) -> bytes:
    """One fault of a serial line, of any kind."""
    data = bytearray(piece)
    dice.choice([*DAMAGE.values()])(data, dice)
    return bytes(data)


class Line(Wire):
    """One direction at the speed of a serial line, with what a test wants to know and an attacker can do."""

    def __init__(self, name: str, seed: int, faults: Faults | None = None, delay_ms: float = 1.0) -> None:
        super().__init__(name, seed, BYTES_A_MS, delay_ms)
        self.faults = faults or Faults()
        self.silent_until = 0.0  # everything sent before is lost
        self.kept: list[bytes] = []  # every frame sent, for an attacker

    def send(self, data: bytes, now: float) -> None:
        """Put bytes on the line; each frame in them meets its own fate."""
        self.silent = now < self.silent_until
        super().send(data, now)

    def put_in(self, data: bytes, now: float) -> None:
        """Somebody else puts bytes on the line; they arrive at once."""
        self._put_at(data, now)

    def _frame(self, piece: bytes, now: float) -> None:
        self.kept.append(piece)
        super()._frame(piece, now)


KEY = bytes(range(100, 132))
KEYS = {b"s" * 8: KEY}  # of the shoe that is called "s"


def ident(letter: bytes) -> schema.Ident:
    """An end that is called by one letter."""
    return schema.Ident(letter * 8, b"0.1.0".ljust(12, b"\0"), letter * 16)


def card(draw: int) -> schema.Card:
    """A CARD whose fields follow from its draw number."""
    return schema.Card(
        draw >> 8,
        draw & 0xFFFF,
        schema.word(draw * 500_000 & 0xFFFFFFFF),
        schema.word(draw % 52),
        draw & 3,
        schema.WAY_DOWN,
        draw % 9 + 1,
        schema.ORIGIN_LANE,
        60,
        0,
        900,
        0,
    )


class Rig:
    """A shoe and a host, each behind its own `Link`, with a store that takes its time.

    `stored` is what the host's journal has, by the shoe's journal: never forgotten, not even when the host is reset.
    """

    def __init__(
        self,
        seed: int = 0,
        faults: Faults | None = None,
        delay: float = 1.0,
        commit: float = 2.0,
        start: int = 0,
        shoe_keys: dict[bytes, bytes] | None = None,
        host_keys: dict[bytes, bytes] | None = None,
    ) -> None:
        self.dice = random.Random(seed)
        self.now: float = 0.0
        self.commit = commit
        self.up_line = Line("up", seed, faults, delay)
        self.down_line = Line("down", seed, faults, delay)
        self.notices: list[tuple[float, int, notice.Notice]] = []
        self.stored: dict[bytes, list[tuple[int, int, bytes]]] = {}
        self.latencies: list[float] = []
        self.signals: list[schema.Signal | schema.Due] = []
        self.reported: dict[tuple[bytes, int], tuple[float, schema.Message]] = {}
        self.before_turn: Callable[[], None] = lambda: None  # sets the stamps of both ends, say
        self._start = start
        self._shoe_keys, self._host_keys = shoe_keys, host_keys
        self._frozen_until = 0.0
        self._queue: list[tuple[float, notice.Recorded]] = []  # handed out, not committed
        self._journal_id = b""
        self.shoe_journal = self._new_journal()
        self.shoe = self._new_shoe()
        self.host = self._new_host()

    # ---- things that happen to the ends

    def reset_shoe(self, ram_lost: bool) -> None:
        """The shoe boots; with a journal in FRAM its events survive."""
        if ram_lost:
            self.shoe_journal = self._new_journal()
        self.shoe = self._new_shoe()
        self.up_line.cut()

    def reset_host(self) -> None:
        """The bridge is killed and started again: what it had not committed is gone."""
        self._queue.clear()
        self.host = self._new_host()
        self.down_line.cut()

    def replug(self) -> None:
        """The port is closed and opened again."""
        self.up_line.cut()
        self.down_line.cut()
        self.host.start(self.ticks())

    def silence(self, length: float, *lines: Line) -> None:
        """Nothing gets through for a while, either way or on the lines that are named."""
        for line in lines or (self.up_line, self.down_line):
            line.cut()
            line.silent_until = self.now + length

    def freeze_host(self, length: float) -> None:
        """The host's process does nothing for a while; what comes for it waits in its buffers."""
        self._frozen_until = self.now + length

    def report(self, message: schema.Message) -> int:
        """The shoe senses something."""
        number = self.shoe.report(message)
        if number:
            self.reported[self.shoe_journal.id, number] = (self.now, message)
        return number

    # ---- time

    def ticks(self) -> int:
        """The clock of both ends."""
        return (self._start + int(self.now)) & timing.TICKS

    def run(self, until: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Let time pass until `until`, or until `stop()`."""
        while True:
            self._turn()
            if self.now >= until or stop():
                return
            ticks = self.ticks()
            waits = [self.now + self.shoe.wait(ticks), self._arrival(self.down_line)]
            if self.now < self._frozen_until:
                waits.append(self._frozen_until)
            else:
                waits += [self.now + self.host.wait(ticks), self._arrival(self.up_line)]
                waits += [self._queue[0][0]] if self._queue else []
            self.now = min(until, max(self.now + 0.1, min(waits)))

    def _arrival(self, line: Line) -> float:
        wait = line.wait(self.now)
        return float("inf") if wait is None else self.now + wait

    def _turn(self) -> None:
        ticks = self.ticks()
        self.before_turn()
        self._heed(schema.SHOE, self.shoe.receive(self.down_line.arrived(self.now), ticks))
        if self.now >= self._frozen_until:
            self._heed(schema.HOST, self.host.receive(self.up_line.arrived(self.now), ticks))
            while self._queue and self._queue[0][0] <= self.now:
                self._store(self._queue.pop(0)[1])
            self._heed(schema.HOST, self.host.poll(ticks))
            self.down_line.send(self.host.take(), self.now)
        self._heed(schema.SHOE, self.shoe.poll(ticks))
        self.up_line.send(self.shoe.take(), self.now)

    def _heed(self, side: int, notices: tuple[notice.Notice, ...]) -> None:
        for what in notices:
            self.notices.append((self.now, side, what))
            if isinstance(what, notice.Greeting):
                for _, recorded in self._queue:
                    self._store(recorded)
                self._queue.clear()
                self._journal_id = what.hello.journal
                held = self.stored.get(self._journal_id, [])
                self.host.resume(held[-1][0] if held else 0, self.ticks())
            elif isinstance(what, notice.Recorded):
                self._queue.append((self.now + self.dice.uniform(0, 2 * self.commit), what))
                self._queue.sort(key=lambda entry: entry[1].number)
            elif isinstance(what, notice.Delivered) and isinstance(what.message, schema.Signal | schema.Due):
                self.signals.append(what.message)

    def _store(self, recorded: notice.Recorded) -> None:
        self.stored.setdefault(self._journal_id, []).append((recorded.number, recorded.kind, recorded.body))
        self.host.stored(recorded.number)
        key = (self._journal_id, recorded.number)
        if key in self.reported:
            self.latencies.append(self.now - self.reported[key][0])

    # ---- the ends

    def _entropy(self, length: int) -> bytes:
        return self.dice.randbytes(length)

    def _new_journal(self) -> journal.Journal:
        return journal.Journal(self._entropy(4))

    def _new_shoe(self) -> link.Link:
        shoe = link.Link(
            schema.SHOE,
            ident(b"s"),
            self._entropy,
            self.shoe_journal,
            boot=self._entropy(4),
            reset=schema.RESET_POWER,
            keys=self._shoe_keys,
        )
        shoe.start(self.ticks())
        return shoe

    def _new_host(self) -> link.Link:
        host = link.Link(schema.HOST, ident(b"h"), self._entropy, decoder=codec.Decoder(), keys=self._host_keys)
        host.start(self.ticks())
        return host

    # ---- verdicts

    def check(self, all_of: journal.Journal) -> None:
        """Each journal was stored once, in order and as reported; `all_of` completely."""
        for key, events in self.stored.items():
            assert [number for number, _, _ in events] == list(range(1, len(events) + 1)), f"journal {key.hex()}"
            for number, kind, body in events:
                message = self.reported[key, number][1]
                assert (kind, body) == (schema.KIND_OF[type(message)], schema.pack(message))
        assert len(self.stored.get(all_of.id, [])) == all_of.next - 1, "cards are missing"

    def of(self, side: int, type: type[notice.Notice]) -> list[tuple[float, notice.Notice]]:
        """What one end was told, of one type, with the time."""
        return [(now, what) for now, end, what in self.notices if end == side and isinstance(what, type)]
