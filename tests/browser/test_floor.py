"""The floor's page: who needs it first, what was ruled and what others would say, and decisions with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browser.pages import Dealer, Floor
from browser.room import Room, until

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
    page.page.goto(f"{room.url}dealer?table=t2")  # the floor may look at a dealer's page, too
    page.see("#happened")
    page.page.locator("#menu summary").click()
    page.page.locator("#tables").select_option("t1")
    page.see("#signal.ready")


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
    assert page.page.locator("#reason").input_value() == ""
    page.page.locator("#hands button").first.click()
    page.see("#story .reason", "Reason: two cards fell on the floor")
    page.page.locator("#story button").click()
    page.gone("#story h2")


@pytest.mark.rules(t1="tda-2024")
def test_every_book_is_heard_and_another_put_in_force(room: Room, floor: Callable[..., Floor]) -> None:
    """Two boxed cards in the deal: a misdeal by TDA 35-A and Robert's, and the house is silent (RULES BOX-2)."""
    page = floor()
    room.tables["t1"].play(HAND + "deal 2\ncard 3 boxed\ncard 4 boxed")
    page.page.locator("#books tbody tr", has_text="Misdeal").first.wait_for()  # what is said of the second card
    said = page.page.locator("#books tbody tr").all_inner_texts()
    assert any("tda-2024" in row and "Misdeal" in row for row in said), said
    assert any("house" in row and "Call the floor" in row for row in said), said
    page.page.locator("#stack").select_option("roberts")
    page.page.locator("#activate").click()
    page.see("#notice.taken", "roberts: in force at all tables, from the next hand on")
    page.see("#rules-now dd:last-child", "roberts")
    page.newest()
    page.page.locator("#begin").click()
    page.page.locator("#start .strong").click()
    page.see("#title", "Hand 2")
    page.see("#rules-now dd:nth-of-type(1)", "roberts")


def test_the_floor_begins_hands(room: Room, floor: Callable[..., Floor]) -> None:
    page = floor()
    page.see("#signal.align")
    page.sheet("#begin", [1, 2, 3, 4], 4, away=3)
    page.see("#title", "Hand 1")
    page.see("#history li", "button")
    assert "Seat 3: cards 0, away" in page.read("#spoken")
    page.newest()
    page.page.locator("#begin").click()
    page.see("#start h2")
    page.page.locator("#start .strong").click()  # the next one, by the rules
    page.see("#title", "Hand 2")


@pytest.mark.rules(t1="tda-2024")
def test_the_story_of_a_hand_is_told_in_the_language_of_the_page(room: Room, opened: Callable[..., Any]) -> None:
    page = Floor.open(opened(locale="de"), room, "floor")
    room.tables["t1"].play(HAND + "deal hole\nact 3 raise\nbetting complete\ncard burn\ncard board")
    page.see("#history li", "Platz 3 handelt: Raise")
    told = page.page.locator("#history li").all_inner_texts()
    for words in (
        "Die Hand beginnt: Plätze 1, 2, 3, 4, 5, 6, Button 6",
        "Die Setzrunde ist fertig",
        "Karte #13: Burns",
    ):
        assert any(words in line for line in told), (words, told)
    assert not [line for line in told if re.search(r"\b[a-z]+=|story\.|flag\.|undefined", line)]


def test_blinds_and_the_game_are_said_on_the_sheet(room: Room, floor: Callable[..., Floor]) -> None:
    page = floor()
    page.page.locator("#begin").click()
    page.page.locator("#start .more summary").click()
    page.page.locator("#start [name=button][value='4']").check(force=True)
    page.page.locator("#start [name=sb][value=dead]").check(force=True)
    page.page.locator("#start [name=bb][value='7']").check(force=True)
    page.page.locator("#start .strong").click()
    page.see("#title", "Hand 1")
    page.newest()
    marks = {mark: view.seat for view in room.tables["t1"].bridge.snapshot().seats for mark in view.marks}
    assert marks == {"button": 4, "bb": 7}


def test_an_auditor_looks_and_touches_nothing(room: Room, opened: Callable[..., object]) -> None:
    page = Floor.open(opened(), room, "auditor")
    page.see("#signal.align")
    for key in ("#decide", "#ack", "#undo", "#begin", "#rules"):
        assert not page.page.locator(key).is_visible()


@pytest.mark.rules(t1="tda-2024", t2="roberts")
def test_a_table_that_has_failed_is_said_and_the_others_go_on(room: Room, opened: Callable[..., Any]) -> None:
    page = Floor.open(opened(locale="de"), room, "floor")
    for table in room.tables.values():
        table.play(HAND)
    page.see("#calling", "kein Tisch braucht jemanden")
    room.tables["t2"].bridge.keep(object())  # type: ignore[arg-type]  # what no journal can write: a defect
    until(lambda: not room.tables["t2"].bridge.alive, "the end of its bridge")
    page.see("#tables li:nth-child(1)", "t2")
    page.see("#tables li:nth-child(1)", "OHNE AUFSICHT")
    page.page.locator("#tables button").first.click()
    page.see("#health", "der Host dieses Tisches ist ausgefallen")
    room.tables["t1"].play("deal 3")
    page.page.locator("#tables button", has_text="t1").click()
    page.see("#oval .due-text", "nächste: Platz 4")
