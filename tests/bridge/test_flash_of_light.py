"""A flash blinds the heads of an emulated shoe (real firmware, pty) as a card leaves: what the bridge makes of it.

Expected: RULES BOX-1 and EXP-1 by Robert's Rules (irregularities 7, misdeals 2(a)).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import open_bridge
from dealershoe.deal.grammar import parse
from dealershoe.demo.player import wait_for_session
from dealershoe.emulate.accidents import Accident
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.entries import RulingRow
from dealershoe.record.read import opened
from dealershoe.record.replay import Packs, replay
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession

RULES = "roberts"


class Table:
    """A shoe that is blinded for one card, its bridge, and what people said there."""

    def __init__(self, shoe: EmulatedShoe, bridge: Bridge) -> None:
        self.shoe, self.bridge = shoe, bridge
        self.said: list[str] = []

    def deal(self, script: str, blinded: int) -> None:
        """Play a script; the heads are blinded while the card of that number leaves."""
        session = TableSession(load_stack(RULES))
        flash = (Accident("flash", blinded),)
        dealer = ScriptedDealer(self.shoe, session, self._tell, between=0.0, accidents=flash, hosted=True)
        for _ in dealer.play(parse("hand seats=1-6 button=6\n" + script, "flash.deal")):
            pass

    def _tell(self, line: str) -> None:
        self.said.append(line)
        self.bridge.ask(line, "dealer")
        self.shoe.wait_for(self._knows_what_is_due, f"the shoe to hear what follows from `{line}`")

    def _knows_what_is_due(self) -> bool:
        heard, wanted = self.shoe.line.due, self.bridge.desk.shown_due
        return wanted is None or (heard is not None and tuple(heard)[1:] == tuple(wanted))

    @property
    def rulings(self) -> list[tuple[str, int]]:
        """The rulings that stand, each with its seat."""
        return [(ruling.ruling, ruling.seat) for ruling in self.bridge.desk.session.rulings]

    @property
    def found(self) -> list[str]:
        """What way up and how the card that was blinded is shown, as the screen has it."""
        draws = self.bridge.snapshot().draws
        return [f"#{draw.number} {draw.way_up}" for draw in draws if draw.way_up != "down"]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with EmulatedShoe(pace="fast") as shoe:
        bridge = open_bridge(shoe.port, RULES, tmp_path / "journal", lambda _: None)
        bridge.start()
        try:
            wait_for_session(shoe, bridge, 1)
            yield Table(shoe, bridge)
        finally:
            bridge.stop()
        assert bridge.error is None


def test_box_1_a_seat_node_sees_the_boxed_card_that_the_heads_did_not(table: Table) -> None:
    table.deal("deal 3\ncard 4 boxed\ndeal 9\n", blinded=4)
    assert table.said == ["hand seats=1-6 button=6"]  # nobody had to say it
    assert table.rulings == [("replace", 4)]
    session = table.bridge.desk.session
    assert [session.seat_cards(seat) for seat in (3, 4, 5, 6)] == [(3, 10), (5, 11), (6, 12), (7, 13)]
    assert session.places("muck") == (4,)
    assert any("no head saw #4 in the shoe, and it lies face up: taken as boxed" in n for n in table.bridge.desk.notes)


def test_box_1_a_person_says_that_the_card_came_face_up_where_there_is_no_node(table: Table) -> None:
    table.deal("deal 3\ncard 4 boxed inferred\ndeal 9\n", blinded=4)
    assert table.said == ["hand seats=1-6 button=6", "report boxed #4"]
    assert table.rulings == [("replace", 4)]
    session = table.bridge.desk.session
    assert [session.seat_cards(seat) for seat in (3, 4, 5, 6)] == [(3, 10), (5, 11), (6, 12), (7, 13)]
    assert session.places("muck") == (4,)


def test_box_1_the_word_comes_after_the_next_card(table: Table) -> None:
    table.deal("deal 3\ncard 4 inferred\ndeal 1\n", blinded=4)
    asked = table.bridge.snapshot()
    assert asked.question == "no head saw which way up #4 left the shoe: if it came face up, say `report boxed #4`"
    assert table.found == ["#4 unseen"]
    table.bridge.ask("report boxed #4", "dealer")
    assert table.rulings == [("replace", 4)]
    assert table.found == ["#4 boxed"]
    assert str(table.bridge.desk.session.due) == "seat 6"  # the next below is seat 5's: seat 4 gets one after the round


def test_exp_1_a_card_that_a_node_sees_face_down_was_not_boxed(table: Table) -> None:
    table.deal("deal 1\ncard 2\ndeal 2\n", blinded=2)
    assert table.rulings == []
    assert (table.bridge.snapshot().question, table.found) == (None, [])


def test_exp_1_a_dealer_who_turned_it_over_says_so_by_its_number(table: Table) -> None:
    table.deal("deal 1\ncard 2 exposed\n", blinded=2)
    assert table.said[1:] == ["exposed #2"]
    assert table.rulings == [("misdeal", 2)]


def test_the_journal_replayed_gives_the_same(table: Table, tmp_path: Path) -> None:
    table.deal("deal 3\ncard 4 boxed\ndeal 2\n", blinded=4)
    table.bridge.ask("exposed #4", "dealer")
    table.bridge.ask("report boxed #4", "dealer")
    table.bridge.stop()
    with opened(tmp_path / "journal") as db, Packs(db) as packs:
        (hand,) = replay(db, packs)
    assert hand.same
    assert len(hand.judged[RulingRow]) >= 1
