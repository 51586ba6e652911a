"""The floor's page: who needs it first, what was ruled and what others would say, and decisions with a reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.pages import Dealer, Floor
from browser.room import Room

HAND = "hand seats=1-6 button=6\n"
EXPOSED = HAND + "deal 1\ncard 2 exposed by=dealer\n"


@pytest.mark.rules(t1="tda-2024", t2="roberts")
def test_the_table_that_needs_a_person_comes_first(room: Room, floor: Callable[..., Floor]) -> None:
    page = floor()
    page.see("#tables li:nth-child(2)")
    room.tables["t1"].play(HAND)
    room.tables["t2"].play(HAND)
    page.see("#calling", "no table needs a person")
    room.tables["t2"].play("deal 1\ncard 2 exposed by=dealer")
    page.see("#tables li:nth-child(1)", "t2")
    page.see("#calling", "Tables that need a person: 1")
    page.page.locator("#tables button").first.click()
    page.see("#title", "Table t2 · Hand 1")
    assert page.page.locator("#tables [aria-current]").count() == 1


@pytest.mark.rules(t1="roberts")
def test_a_decision_needs_a_reason_and_reaches_the_dealer(
    room: Room, floor: Callable[..., Floor], dealer: Callable[..., Dealer]
) -> None:
    page, tablet = floor(), dealer()
    room.tables["t1"].play(HAND + "deal hole\nbetting complete\ndeal flop\ncard burn\ncard board")
    page.see("#happened", "the turn before the betting was complete")
    assert "Robert's" in page.read("#clause")
    page.newest()
    page.page.locator("#decision").click()
    page.see("#notice.refused", "Choose what you decide")
    page.page.get_by_label("Misdeal").check(force=True)
    page.page.locator("#decision").click()
    page.see("#notice.refused", "A decision needs a reason")
    page.page.locator("#reason").fill("two cards fell on the floor")
    page.page.locator("#decision").click()
    page.see("#notice.taken", "Decide: taken")
    tablet.see("#signal.stop", "STOP")
    tablet.see("#clause", "decision of the floor")
    assert page.read("#reason") == ""


def test_the_floor_begins_hands(room: Room, floor: Callable[..., Floor]) -> None:
    page = floor()
    page.see("#signal.align")
    page.sheet("#begin", [1, 2, 3, 4], 4)
    page.see("#title", "Hand 1")
    page.see("#history li", "button")
    page.newest()
    page.page.locator("#begin").click()
    page.see("#start h2")
    page.page.locator("#start .strong").click()  # the next one, by the rules
    page.see("#title", "Hand 2")


def test_an_auditor_looks_and_touches_nothing(room: Room, opened: Callable[..., object]) -> None:
    page = Floor.open(opened(), room, "auditor")
    page.see("#signal.align")
    for key in ("#decide", "#ack", "#undo", "#begin", "#rules"):
        assert not page.page.locator(key).is_visible()
