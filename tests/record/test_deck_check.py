"""A deck dealt out after the pot: of no hand, compared with itself alone; the hand's if the push was wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dealershoe.bridge.start import desk_from
from dealershoe.desk.look import snapshot
from dealershoe.entries import EventRow, FindingRow, RulingRow
from dealershoe.record.faces import is_over
from dealershoe.record.journal import Journal
from dealershoe.record.read import last_hands, opened
from dealershoe.record.replay import Packs, replay
from dealershoe.rules.shelf import Shelf
from record.dealing import DEVICE, Table
from shoelink import schema

DEALT = 12  # cards of six seats before the flop


@pytest.fixture(params=[False, True], ids=["open", "sealed"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    """Twelve cards out."""
    with Journal(tmp_path / "journal") as journal:
        table = Table(journal, 5, sealed=request.param)
        table.shuffle()
        table.say("hand seats=1-6 button=6")
        if table.sealed:
            table.commit_to()
        for _ in range(DEALT):
            table.draw_due()
        yield table


def passes(table: Table, cards: list[int], first: int = DEALT + 1, flags: int = 0) -> None:
    """These cards leave the shoe one after the other; the last has `flags`."""
    for draw, card in enumerate(cards, first):
        table.deck = [card]
        table.pass_card(draw, flags if card == cards[-1] else 0)


def found(table: Table) -> list[object]:
    """All that was found and ruled."""
    table.commit()
    return [*table.journal.rows(FindingRow), *table.journal.rows(RulingRow)]


def test_a_whole_deck_is_said_to_be_whole_and_is_not_compared_with_the_hand_before(table: Table) -> None:
    table.say("award")
    passes(table, list(range(52)))
    assert found(table) == []
    assert table.desk.signal == "ready"
    assert snapshot(table.desk, "", "").question is None
    assert table.desk.session.draws == DEALT
    first, last = table.desk.notes
    assert first.startswith("the pot is pushed, and cards leave the shoe: they are of no hand")
    assert last == "deck check: 52 cards, all different: the deck is whole"
    table.say("hand next")
    if table.sealed:
        table.commit_to()
    table.draw_due()
    assert (table.desk.session.draws, table.desk.align_why) == (1, "")


@pytest.mark.parametrize(
    ("cards", "flags", "said"),
    [
        ([*range(20), 3], 0, "deck check: card 21 is the same as card 4"),
        (list(range(20)), schema.CARD_FOREIGN, "deck check: card 20 does not belong to the deck"),
        (list(range(20)), schema.CARD_JOKER, "deck check: card 20 does not belong to the deck"),
    ],
)
def test_what_is_wrong_with_it_is_said_at_once_and_ruled_on_by_nobody(
    table: Table, cards: list[int], flags: int, said: str
) -> None:
    table.say("award")
    passes(table, cards, flags=flags)
    assert table.desk.notes[-1] == said
    assert found(table) == []


def test_a_card_that_was_pushed_back_and_drawn_again_is_one_card(table: Table) -> None:
    table.say("award")
    passes(table, [7])
    table.report(schema.CardBack(table.desk.hand, DEALT + 1, bytes(4), 300))
    passes(table, [7, *(card for card in range(52) if card != 7)])
    assert table.desk.notes[-1] == "deck check: 52 cards, all different: the deck is whole"


def test_an_unread_card_leaves_the_deck_unknown(table: Table) -> None:
    table.say("award")
    passes(table, list(range(52)), flags=schema.CARD_UNREAD)
    assert not any("whole" in note for note in table.desk.notes)


def board(table: Table, pushed: bool, again: Path | None = None) -> tuple[object, ...]:
    """Burn and flop, the pot pushed too early or not, the bridge started again in between or not."""
    table.say("betting complete")
    if pushed:
        table.say("award")
    passes(table, [50, 49])
    table.report(schema.CardBack(table.desk.hand, DEALT + 2, bytes(4), 300))
    passes(table, [49], DEALT + 2)
    if again:
        table.commit()
        table.desk = desk_from(
            table.journal, table.desk.session.stack, Shelf(again / "shelf"), open_table=not table.sealed
        )
        table.desk.device = DEVICE
    if pushed:
        assert table.desk.session.draws == DEALT
        table.say("undo")
    passes(table, [48, 47], DEALT + 3)
    hand = table.desk.session.hand
    assert hand is not None
    return table.desk.session.due, table.desk.align_why, [card[:5] for card in hand.cards], hand.awarded


@pytest.mark.parametrize("restarted", [False, True])
def test_a_push_that_is_taken_back_makes_them_cards_of_the_hand(table: Table, restarted: bool, tmp_path: Path) -> None:
    after = board(table, pushed=True, again=tmp_path if restarted else None)
    path = table.journal.path
    table.commit()
    with opened(path) as db, Packs(db) as packs:
        assert [hand.same for hand in replay(db, packs)] == [True]
        assert not is_over(db, last_hands(db, 1)[0])
    draws = [row[2] for row in table.journal.rows(EventRow) if row[3] == "Draw"]
    assert draws == [*range(1, DEALT + 1), DEALT + 1, DEALT + 2, DEALT + 2, DEALT + 3, DEALT + 4]
    with Journal(tmp_path / "other") as journal:
        other = Table(journal, 5, sealed=table.sealed)
        other.shuffle()
        other.say("hand seats=1-6 button=6")
        if other.sealed:
            other.commit_to()
        for _ in range(DEALT):
            other.draw_due()
        assert board(other, pushed=False) == after


def test_what_is_told_of_a_card_of_the_check_is_not_told_of_the_hand(table: Table) -> None:
    """The key for an exposed card, and a seat node, mean the card that left last."""
    table.say("award")
    passes(table, [50])
    table.report(schema.Key(table.desk.hand, bytes(4), schema.KEY_EXPOSED, schema.PRESS_SHORT))
    table.report(schema.Seat(table.desk.hand, DEALT + 1, bytes(4), 3, schema.WAY_UP, 100))
    hand = table.desk.session.hand
    assert hand is not None
    assert not any(card.exposed for card in hand.cards)
    assert found(table) == []
    with opened(table.journal.path) as db, Packs(db) as packs:
        assert [hand.same for hand in replay(db, packs)] == [True]
