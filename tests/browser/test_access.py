"""WCAG 2.2 AA by axe, on every page, in each state, light and dark; and all of it without a mouse."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from browser.pages import Dealer, Floor
from browser.room import Room

STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
HAND = "hand seats=1-6 button=6\n"
SMALLEST = 44  # CSS pixels of a target, either way: what fingers need (WCAG 2.5.5)
LABELLED = ("mute", "typed")  # boxes to tick: their whole label is the target, and as high as a key
SPEAK = "(select, tag) => { select.value = tag; select.dispatchEvent(new Event('change')); }"
SIZES = [(1280, 800), (1024, 768), (800, 1280), (400, 800), (640, 400)]  # the last: 1280 by 800 enlarged to 200 %


def check(page: Any, what: str) -> None:
    """No violation in the light; in the dark what can differ there, the contrast."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    for scheme, only in (("light", {"type": "tag", "values": STANDARD}), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme)
        options = {"runOnly": only, "resultTypes": ["violations"]}
        found = Axe().run(page, options=options)
        assert found.violations_count == 0, f"{what}, {scheme}: {found.generate_report()}"


@pytest.mark.rules(t1="roberts")
def test_no_page_violates_wcag(room: Room, opened: Callable[..., Any]) -> None:
    options = {"bypass_csp": True, "reduced_motion": "reduce", "viewport": {"width": 1024, "height": 768}}
    login = opened(**options)
    login.goto(f"{room.url}login")
    login.get_by_text("dealershoe users add").wait_for()
    check(login, "log in")
    login.evaluate("document.querySelector('label').remove()")
    with pytest.raises(AssertionError, match="label"):
        check(login, "a field without a label")
    table = room.tables["t1"]
    page = Dealer.open(opened(**options), room, "dealer")
    floor = Floor.open(opened(**options), room, "floor")
    page.see("#signal.align")
    check(page.page, "no hand")
    page.page.locator("#seats").click()
    check(page.page, "the sheet")
    page.page.keyboard.press("Escape")
    page.page.locator("#menu summary").click()
    check(page.page, "the settings")
    page.page.keyboard.press("Escape")
    table.play(HAND + "deal hole\nbetting complete\ndeal flop")
    page.see("#signal.ready")
    check(page.page, "ready")
    check(floor.page, "the floor, ready")
    table.play("card burn\ncard board")
    page.see("#signal.attention")
    check(page.page, "attention")
    page.press("call floor")
    page.see("#signal.floor")
    check(page.page, "floor")
    table.bridge.ask("floor misdeal", "test")
    page.see("#signal.stop")
    floor.see("#signal.stop")
    check(page.page, "stop")
    check(floor.page, "the floor, stop")
    floor.page.locator("#hands button").first.click()
    floor.see("#story li")
    check(floor.page, "the story of a hand")
    page.page.context.set_offline(True)
    page.see("#banner.urgent")
    check(page.page, "no connection")
    room.unplug("t1")
    page.page.context.set_offline(False)
    page.see("#signal.unsupervised")
    check(page.page, "unsupervised")


def test_targets_are_large_and_nothing_is_cut_off(room: Room, opened: Callable[..., Any]) -> None:
    room.tables["t1"].play(HAND)
    for role, kind in (("dealer", Dealer), ("floor", Floor)):
        page = kind.open(opened(), room, role).page
        for language, (width, high) in product(("en", "de", "es"), SIZES):
            page.set_viewport_size({"width": width, "height": high})
            page.locator("#language").evaluate(SPEAK, language)
            page.locator(f"html[lang={language}]").wait_for()
            where = f"{role}, {language}, {width}"
            targets = page.locator("button, summary, select, input:not([type=radio])").evaluate_all(
                "all => all.map(one => [one.id || one.textContent, one.offsetWidth, one.offsetHeight])"
            )
            small = [one for one in targets if 0 < min(one[1:]) < SMALLEST and one[0] not in LABELLED]
            assert small == [], where
            assert page.evaluate("document.documentElement.scrollWidth") <= width, where
            cut = "all => all.filter(key => key.scrollWidth > key.clientWidth).map(key => key.textContent)"
            assert page.locator("#keys .key").evaluate_all(cut) == [], where


def test_a_hand_without_a_mouse(room: Room, opened: Callable[..., Any]) -> None:
    page = opened()
    keyboard = page.keyboard
    page.goto(f"{room.url}login")
    page.locator("#language option").first.wait_for(state="attached")
    keyboard.type(room.tokens["dealer"])
    keyboard.press("Enter")
    dealer = Dealer(page, room)
    dealer.see(".link:not(.lost)")
    keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("id") == "seats"
    assert page.locator(":focus").evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
    keyboard.press("Enter")
    dealer.see("#start h2")
    for _ in range(9):  # seats 1 to 9 are in; of these 7, 8 and 9 are not
        if page.locator(":focus").get_attribute("value") in ("7", "8", "9"):
            keyboard.press("Space")
        keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("name") == "button"
    keyboard.press("Space")
    keyboard.press("Enter")
    dealer.due("next: seat 2")
    assert "Seat 1: cards 0, button" in dealer.read("#spoken")
    room.tables["t1"].tell = lambda line: None
    room.tables["t1"].play("hand seats=1-6 button=1\ndeal hole")
    dealer.due("betting")
    dealer.newest()
    keyboard.press("a")
    dealer.see("#notice.taken", "Action: taken")
    dealer.newest()
    keyboard.press("c")
    dealer.due("next: burn")
    # letters can be switched off, for whoever dictates (WCAG 2.1.4)
    page.locator("#menu summary").focus()
    keyboard.press("Enter")
    page.locator("#typed").focus()
    keyboard.press("Space")
    keyboard.press("Escape")
    assert page.locator(":focus").evaluate("element => element.tagName") == "SUMMARY"
    page.locator("#ruling").focus()
    keyboard.press("f")
    dealer.newest()
    assert dealer.read("#notice") != "Call floor: taken"
    assert page.locator("#signal.ready").count() == 1


def test_every_language_is_spoken_throughout(room: Room, opened: Callable[..., Any]) -> None:
    room.tables["t1"].play(HAND)
    page = Dealer.open(opened(locale="de-DE"), room, "dealer")
    page.see("#signal", "BEREIT")
    page.due("nächste: Platz 1")
    assert page.page.locator("html").get_attribute("lang") == "de"
    page.page.locator("#menu summary").click()
    page.page.locator("#language").select_option("es")
    page.see("#signal", "LISTO")
    page.see("#keys .key", "Apuestas completas")
    page.page.locator("#try").click()
    page.see("#notice", "Tono de ATENCIÓN")
    page.page.reload()
    page.see("#signal", "LISTO")  # it was kept
    assert not re.search(
        r"\b(key|due|signal|street|start|floor|ruling|now)\.[a-z]", page.page.locator("body").inner_text()
    )
