"""A card that turns up twice: the table proposes which read was wrong, the floor decides, the record shows both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.entries import EventRow, Fact, ProposalRow, RulingRow
from dealershoe.record.journal import Journal
from dealershoe.record.read import opened
from dealershoe.record.replay import Packs, replay
from dealershoe.table.misread import Read, propose
from dealershoe.table.setup import first_setup
from dealershoe.table.state import Card, HandState, begin
from record.dealing import Table
from shoelink import schema, tokens

NINE = FIFTY_TWO.index("9h")


class Twice(Table):
    """A table where the card of draw 2 shows again as draw 5; what is said is kept."""

    def dealt_twice(self, first: Read, second: Read) -> None:
        self.say("hand seats=1-6 button=6")
        if self.sealed:
            self.commit_to()
        for draw, card, read in ((1, 0, Read()), (2, NINE, first), (3, 1, Read()), (4, 2, Read()), (5, NINE, second)):
            token = tokens.tokens(self.secret)[4 * card : 4 * card + 4] if self.sealed else schema.word(card)
            flags = schema.CARD_REVERSED * read.ran_back
            self.report(
                schema.Card(
                    self.desk.hand, draw, bytes(4), token, 0, 0, 0, 0, 60, flags, read.speed or 900, read.erasures
                )
            )


def ruled(table: Table) -> list[str]:
    """The rulings of the hand that stand."""
    return [ruling.ruling for ruling in table.desk.session.rulings]


@pytest.fixture(params=[False, True], ids=["open", "sealed"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Twice]:
    with Journal(tmp_path / "journal") as journal:
        yield Twice(journal, 1, sealed=request.param)


def test_the_weaker_read_is_proposed_with_its_reasons_and_no_card_is_named(table: Twice) -> None:
    table.dealt_twice(Read(erasures=3), Read())
    assert table.desk.session.rulings[-1].ruling == "void"
    (said,) = [
        happening for happening in table.desk.happenings if happening.kind == "question" and "misread" in happening.text
    ]
    assert said.text == (
        "#2 or #5 may have been misread: #2 rather than the other (cells that could not be read: 3 against 0; 48 cards "
        "of the deck have not been seen: it is one of them); turn it up: if it is another card, the floor says "
        "`report misread #2`"
    )
    if table.sealed:
        assert not re.search(r"\b[2-9TJQKA][cdhs]\b", "".join(one.as_json() for one in table.desk.happenings))


def test_the_floor_puts_the_read_right_and_the_ruling_falls_and_the_record_shows_both(table: Twice) -> None:
    table.dealt_twice(Read(erasures=3), Read())
    assert table.desk.signal == "stop"
    assert table.say("report misread #2" if table.sealed else "report misread #2 9d", who="floor: Ann")
    assert ruled(table) == []
    assert table.desk.signal == "ready"
    table.draw_due()
    table.say("award")
    table.commit()
    journal = table.journal
    (proposal,) = (ProposalRow(*row) for row in journal.rows(ProposalRow))
    assert (json.loads(proposal.cards), proposal.misread) == ([2, 5], 2)
    assert [row[4] for row in journal.rows(RulingRow)] == ["void"]  # as it was ruled then
    events = [EventRow(*row) for row in journal.rows(EventRow)]
    (put_right,) = (event for event in events if event.kind == "Misread")
    assert json.loads(put_right.body) == {"number": 2}  # the card itself stands in the fact alone
    facts = {fact.id: fact for fact in journal.facts()}
    assert facts[put_right.fact].who == "floor: Ann"
    read = [schema.unpack(fact.raw[0], fact.raw[1:]) for fact in facts.values() if fact.origin == "shoe"]
    cards = [bytes(message.token) for message in read if isinstance(message, schema.Card)]
    assert cards[1] == cards[4]  # and so does what the shoe had read
    with opened(journal.path) as db, Packs(db) as packs:
        assert [hand.same for hand in replay(db, packs)] == [True]


def test_what_was_put_right_can_be_taken_back(table: Twice) -> None:
    table.dealt_twice(Read(), Read(ran_back=True))
    table.say("report misread #5")
    assert ruled(table) == []
    table.say("undo")
    assert ruled(table) == ["void"]


def test_it_is_too_late_once_the_remedy_is_under_way(table: Twice) -> None:
    table.dealt_twice(Read(), Read(erasures=1))
    table.say("ack")
    table.say("report misread #5")
    assert ruled(table) == ["void"]
    assert any("too late to put it right" in note for note in table.desk.notes)


def test_a_card_put_right_into_another_one_that_is_out_is_found(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        table = Twice(journal, 1)
        table.dealt_twice(Read(erasures=2), Read())
        table.say("report misread #2 2c")  # draw 1 is the two of clubs
        assert [(one.finding, one.cards) for one in table.desk.session.rulings] == [("duplicate", (1, 2))]


def test_a_report_about_a_card_that_is_not_out_is_refused(table: Twice) -> None:
    table.dealt_twice(Read(), Read())
    assert not table.say("report misread #9")
    assert Fact(0, "", b"", 0, 0) not in list(table.journal.facts())


def state(cards: list[str]) -> HandState:
    from dealershoe.events import Hand

    hand = begin(first_setup(Hand((1, 2, 3), 3)))
    return hand._replace(cards=tuple(Card(number, "muck", card=card) for number, card in enumerate(cards, 1)))


@pytest.mark.parametrize(
    ("first", "second", "number", "reason"),
    [
        (Read(), Read(), 0, "both reads are as good"),
        (Read(erasures=1), Read(), 1, "cells that could not be read: 1 against 0"),
        (Read(erasures=1), Read(erasures=4), 2, "cells that could not be read: 4 against 1"),
        (Read(erasures=4), Read(ran_back=True), 2, "it ran back on its way"),
        (Read(speed=2_900), Read(speed=800), 1, "it was pulled at 2.9 m/s"),
        (Read(speed=2_000), Read(speed=800), 0, "both reads are as good"),
    ],
)
def test_reads_are_weighed(first: Read, second: Read, number: int, reason: str) -> None:
    proposal = propose(state(["Ah", "Ah"]), (1, 2), {1: first, 2: second})
    assert proposal is not None
    assert proposal.number == number
    assert reason in proposal.reasons


def test_the_last_card_that_was_not_seen_is_what_it_must_be() -> None:
    proposal = propose(state([*FIFTY_TWO[:51], "2c"]), (1, 52), {})
    assert proposal is not None
    assert "one card of the deck has not been seen: it must be that one" in proposal.reasons
    assert propose(state(["Ah"]), (1,), {}) is None
