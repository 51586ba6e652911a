"""Whole hands from the dealer's page while an emulated shoe deals: what is shown, and what its keys do."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser.pages import Dealer
from browser.room import Room

FACE = re.compile(r"\b(10|[2-9TJQKA])([cdhs]\b|[♣♦♥♠])")


def acknowledge(page: Dealer, to: str) -> list[str]:
    """Do step after step until `to` is what is due; the steps that were done."""
    done: list[str] = []
    while page.read("#oval .due-text") != to:
        assert len(done) < 10, done
        done.append(page.read("#now"))
        page.press("ack")
        page.newest()
    return done


def to_a_premature_turn(page: Dealer, room: Room) -> None:
    table = room.tables["t1"]

    def sheet(line: str) -> None:
        assert line == "hand seats=1-6 button=6"
        page.sheet("#seats", [1, 2, 3, 4, 5, 6], 6)

    table.tell = sheet
    table.play("hand seats=1-6 button=6")
    page.see("#signal", "READY")
    page.due("next: seat 1")
    table.play("deal hole")
    page.due("betting")
    assert page.page.locator("#oval .seat:not(.empty) .back").count() == 12
    page.say(table, "betting complete")
    page.due("next: burn")
    table.play("deal flop")
    page.due("betting")
    page.say(table, "act")
    table.play("card burn\ncard board")
    page.see("#signal.attention", "ATTENTION")
    page.newest()
    assert "The turn before the betting was complete" in page.read("#happened").capitalize()
    assert page.page.locator("#steps li[aria-current=step]").count() == 1
    if "#" in page.read("#now"):  # nobody at a table counts cards
        assert "is the last card that left the shoe" in page.read("#which-card")
    page.say(table, "betting complete")
    page.newest()


@pytest.mark.rules(t1="roberts")
def test_a_premature_turn_under_roberts(room: Room, dealer: Callable[..., Dealer]) -> None:
    """The river's card becomes the turn; the premature card is shuffled in for a river without a burn (RULES BRD-2)."""
    page, table = dealer(), room.tables["t1"]
    to_a_premature_turn(page, room)
    assert "roberts" in page.read("#clause")
    page.due("next: burn")
    table.play("card burn\ncard board")
    page.due("betting")
    page.say(table, "betting complete")
    page.newest()
    steps = acknowledge(page, "next: board")
    assert any("huffle" in step for step in steps), steps
    table.tell = lambda line: None  # the page has said so, step by step
    table.play("shuffled stub\ncard board")
    page.due("betting")
    page.see("#signal", "READY")
    page.newest()
    assert page.page.locator("#oval .pile .back").count() == 5
    assert "Board 5, burns 3" in page.read("#spoken")
    page.say(table, "betting complete")
    page.newest()
    page.press("hand next")
    page.see("#hand", "Hand 2")


@pytest.mark.rules(t1="tda-2024")
def test_a_premature_turn_under_tda(room: Room, dealer: Callable[..., Dealer]) -> None:
    """The stub is shuffled with the premature card, and the turn is dealt from it without another burn (RP-5-B).

    No card's face is anywhere in the page at any time: the table is sealed.
    """
    page, table = dealer(), room.tables["t1"]
    assert FACE.search("seat 3 has Ah")
    to_a_premature_turn(page, room)
    assert not FACE.search(page.page.content())
    steps = acknowledge(page, "next: board")
    assert any("huffle" in step for step in steps), steps
    table.tell = lambda line: None  # the page has said so, step by step
    table.play("shuffled stub\ndeal turn")
    page.due("betting")
    page.see("#signal", "READY")
    page.say(table, "betting complete")
    table.play("deal river")
    page.due("betting")
    page.say(table, "betting over")
    page.newest()
    assert not FACE.search(page.page.content())
    assert "Board 5, burns 3" in page.read("#spoken")
