"""A shoe's link and a table's joined by a wire in virtual time; the journal commits when the test says so."""

from __future__ import annotations

import itertools
import struct
from typing import Any

from dealershoe.desk.desk import Desk, Moment
from dealershoe.desk.table_link import TICKS, TableLink, message_of
from dealershoe.entries import Entry, Fact
from dealershoe.rules.stack import Stack
from dealershoe.session import TableSession
from shoelink import notice, schema
from shoelink.journal import Journal as ShoeJournal
from shoelink.link import Link

HAND = "hand seats=1-6 button=6"
NO_RULES = Stack("none", ())  # every finding goes to the floor
SHOE_IDENT = schema.Ident(b"TESTSHOE", b"1".ljust(12, b"\0"), bytes(16))
HOST_IDENT = schema.Ident(b"testhost", b"1".ljust(12, b"\0"), bytes(16))
WALL_NS = 1_700_000_000_000_000_000
NONCES = itertools.count(1)


def entropy(size: int) -> bytes:
    """Never the same bytes twice, and no chance in it."""
    return struct.pack("<Q", next(NONCES)).rjust(size, b"\0")[-size:]


class Shoe:
    """The shoe's end: reports what it is told to, remembers what it is to show."""

    def __init__(self, journal_id: bytes = b"JRN1") -> None:
        self.journal = ShoeJournal(journal_id)
        self.link = Link(schema.SHOE, SHOE_IDENT, entropy, self.journal)
        self.signal: Any = None
        self.due: Any = None
        self.dues: list[Any] = []

    def restart(self, now: int) -> None:
        """A new boot with the same journal."""
        self.link = Link(schema.SHOE, SHOE_IDENT, entropy, self.journal)
        self.link.start(now)

    def heed(self, told: tuple[Any, ...]) -> None:
        for one in told:
            if isinstance(one, notice.Delivered):
                if isinstance(one.message, schema.Signal):
                    self.signal = one.message
                elif isinstance(one.message, schema.Due):
                    self.due = one.message
                    self.dues.append(one.message)


class Rig:
    """Both ends. `commit` is the disk: until then nothing is durable. `kill` is what a `kill -9` leaves of the host."""

    def __init__(self, shoe: Shoe | None = None, rules: Stack = NO_RULES) -> None:
        self.shoe = shoe or Shoe()
        self.rules = rules
        self.ms = 1_000
        self.durable: list[Entry] = []
        self.stored: dict[bytes, int] = {}
        self.order: list[str] = []  # "signal NAME", "commit N", "ack N" as they happened
        self.table = self._host()
        self.shoe.link.start(self.ms)
        self.plug()

    def _host(self) -> TableLink:
        facts = sum(isinstance(entry, Fact) for entry in self.durable)
        desk = Desk(TableSession(self.rules), next_fact=facts + 1)
        hands = [entry for entry in self.durable if getattr(entry, "kind", "") == "Hand"]
        if hands:
            first: Any = hands[-1]
            in_play = [e for e in self.durable if isinstance(e, Fact) and e.id >= first.fact]
            desk.resume(first.hand, in_play, message_of, lambda _: self.rules)
        return TableLink(Link(schema.HOST, HOST_IDENT, entropy), desk, dict(self.stored))

    @property
    def at(self) -> Moment:
        return Moment(self.ms * 1_000_000, WALL_NS + self.ms * 1_000_000)

    @property
    def desk(self) -> Desk:
        return self.table.desk

    def plug(self) -> None:
        """The host opens its port."""
        self.table.opened(self.at)

    def kill(self) -> None:
        """The host is gone with everything that was not committed, and comes back."""
        self.table = self._host()
        self.plug()

    def run(self, ms: int, commit: bool = True) -> None:
        """Let time pass; each millisecond what was written arrives at the other end."""
        for _ in range(ms):
            self.ms += 1
            now = self.ms & TICKS
            up = self.table.take()
            acked = self.shoe.journal.oldest
            self.shoe.heed(self.shoe.link.receive(up, now))
            self.shoe.heed(self.shoe.link.poll(now))
            if self.shoe.journal.oldest != acked:
                self.order.append(f"ack {self.shoe.journal.oldest - 1}")
            down = self.shoe.link.take()
            if down:
                self.table.received(down, self.at)
            if commit:
                self.commit()
            self.table.turn(self.at)

    def commit(self) -> None:
        """The disk has it."""
        entries, self.desk.entries = self.desk.entries, []
        self.durable += entries
        for entry in entries:
            if isinstance(entry, Fact) and entry.journal is not None and entry.number is not None:
                self.stored[entry.journal] = entry.number
                self.order.append(f"commit {entry.number}")
        self.table.committed(self.stored, self.at)

    def say(self, text: str) -> None:
        """A person's line."""
        self.desk.say(text, "stdin", 1, self.at)

    # ---- what the shoe reports

    def card(self, draw: int, **changed: Any) -> int:
        """Card `draw` of the hand that the shoe is in, where it was due, face down, unread unless said otherwise."""
        hand = self.shoe.due.hand if self.shoe.due else 0
        told = schema.Card(hand, draw, bytes(4), schema.word(0x1000 + draw), 0, 0, 0, 0, 30, 0, 1000, 0)
        return int(self.shoe.link.report(told._replace(**changed)))

    def back(self, draw: int) -> None:
        """Card `draw` went back into the shoe."""
        self.shoe.link.report(schema.CardBack(self.shoe.due.hand, draw, bytes(4), 300))

    def key(self, key: int, press: int = schema.PRESS_SHORT, hand: int | None = None) -> None:
        """A key of the shoe."""
        number = hand if hand is not None else self.shoe.due.hand
        self.shoe.link.report(schema.Key(number, bytes(4), key, press))

    def seat(self, draw: int, place: int, way_up: int = schema.WAY_DOWN) -> None:
        """A seat node's report."""
        self.shoe.link.report(schema.Seat(self.shoe.due.hand, draw, bytes(4), place, way_up, 100))

    @property
    def said(self) -> list[str]:
        """The plain lines so far."""
        return [happening.as_line() for happening in self.desk.happenings]


def ready(rules: Stack = NO_RULES) -> Rig:
    """A rig with a hand begun and the shoe knowing what is due."""
    rig = Rig(rules=rules)
    rig.run(50)
    rig.say(HAND)
    rig.run(20)
    return rig
