"""A card that no head of the shoe saw: on their pages dealer and floor are asked which way up it came out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.pages import Dealer, Floor, Page
from browser.room import Room, until

BLIND = "hand seats=1-6 button=6\ndeal 3\ncard 4 unread unseen inferred"  # no seat node saw it arrive either


def answer(page: Page, name: str) -> None:
    """Touch a key, once there has been time to see for which card it is."""
    page.newest()
    body = page.page.locator("body")
    until(lambda: body.get_attribute("data-settled") == body.get_attribute("data-version"), "time to see the page")
    page.see("#ways .key", name).click()


@pytest.mark.rules(t1="roberts")
def test_the_dealer_says_that_it_came_face_up(
    room: Room, dealer: Callable[..., Dealer], floor: Callable[..., Floor]
) -> None:
    page, watch, table = dealer(), floor(), room.tables["t1"]
    table.play(BLIND)
    page.see("#banner", "no head saw which way up #4 left the shoe: if it came face up, say")
    watch.see("#asked", "no head saw which way up #4 left the shoe")
    page.due("next: seat 5")  # the deal goes on
    answer(page, "#4: face up")
    page.see("#signal.attention", "ATTENTION")
    page.due("next: seat 4")  # BOX-1: the next card below
    for asked in ("#faced", "#banner"):
        page.gone(asked)
    watch.gone("#asked")
    watch.see("#history li", "Card #4 left the shoe face up")
    assert [ruling.ruling for ruling in table.bridge.desk.session.rulings] == ["replace"]


@pytest.mark.rules(t1="roberts")
def test_the_floor_says_that_it_came_face_down_in_its_own_language(room: Room, floor: Callable[..., Floor]) -> None:
    watch, table = floor(locale="de"), room.tables["t1"]
    table.play(BLIND + "\ncard 5 unread unseen inferred")
    watch.see("#asked", "kein Lesekopf sah, wie herum #4, #5 den Schuh verließ")
    answer(watch, "#4: verdeckt")
    watch.gone("#ways .key:nth-child(3)")
    answer(watch, "#5: verdeckt")
    watch.gone("#faced")
    assert table.bridge.desk.session.rulings == ()
    assert table.bridge.snapshot().question is None
