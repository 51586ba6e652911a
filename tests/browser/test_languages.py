"""What a dealer reads when it matters is in the dealer's own language: what happened, what to do, why, what fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from browser.pages import Dealer, Floor
from browser.room import Room

HAND = "hand seats=1-6 button=6\n"
TURN = HAND + "deal hole\nbetting complete\ndeal flop\nact 1 check\ncard burn\ncard board"
HAPPENED = {
    "de-DE": "der Turn, bevor die Setzrunde fertig war",
    "es-ES": "el turn antes de cerrarse las apuestas",
    "en-GB": "the turn before the betting was complete",
}
TO_DO = {"de-DE": "Setzrunde fertig spielen", "es-ES": "se cierren las apuestas", "en-GB": "the betting be completed"}


@pytest.mark.rules(t1="tda-2024")
def test_what_happened_and_what_to_do_are_said_in_the_language_of_the_page(
    room: Room, opened: Callable[..., Any]
) -> None:
    room.tables["t1"].play(TURN)
    for locale in HAPPENED:
        page = Dealer.open(opened(locale=locale), room, "dealer")
        page.see("#happened", HAPPENED[locale])
        steps = page.page.locator("#steps li, #now").all_inner_texts()
        assert any(TO_DO[locale] in step for step in steps), steps
        if locale != "en-GB":  # a rule book's own words stay as they are, and are marked so for a screen reader
            assert page.page.locator("#happened [lang], #now [lang], #steps [lang]").count() == 0
            assert page.page.locator("#verdict [lang=en]").count() == 1
            page.page.locator("#menu summary").click()
            page.page.locator("#language").select_option("en")
            page.see("#happened", HAPPENED["en-GB"])
            assert page.page.locator("#happened [lang=en]").count() == 1


def test_faults_and_why_the_shoe_is_not_there_are_said_in_the_language_of_the_page(
    room: Room, opened: Callable[..., Any]
) -> None:
    dealer = Dealer.open(opened(locale="de"), room, "dealer")
    floor = Floor.open(opened(locale="es"), room, "floor")
    table = room.tables["t1"]
    table.play(HAND)
    table.shoe.dazzle()
    dealer.see("#banner", "Der Schuh meldet: zu viel Licht fällt in den Schuh")
    floor.see("#health", "entra demasiada luz en el sabot")
    floor.see("#history li", "entra demasiada luz en el sabot")
    room.unplug("t1")
    dealer.see("#banner", "Der Schuh fehlt: am Anschluss:")  # what the system says of it stays in its words
    assert dealer.page.locator("#banner [lang=en]").count() >= 1
    floor.see("#health", "azul, una lámpara sí y otra no; dos pitidos graves")
