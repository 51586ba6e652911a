"""What a dealer reads when it matters is in the dealer's own language: what happened, what to do, why, what fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.pages import KEYS, Dealer, Floor
from browser.room import Room
from dealershoe.rules.stack import SHIPPED as PACKS

HAND = "hand seats=1-6 button=6\n"
TURN = HAND + "deal hole\nbetting complete\ndeal flop\nact 1 check\ncard burn\ncard board"
HAPPENED = {
    "de-DE": "der Turn, bevor die Setzrunde fertig war",
    "es-ES": "el turn antes de cerrarse las apuestas",
    "en-GB": "the turn before the betting was complete",
}
SAYS = {
    "de-DE": "Zu früh: Turn. Die Karten gehen zurück",
    "es-ES": "Demasiado pronto: turn. Las cartas vuelven",
    "en-GB": "The turn came too soon: it goes back",
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
        page.see("#verdict", SAYS[locale])
        page.see("#aloud", SAYS[locale])
        if locale != "en-GB":
            assert page.page.locator("#happened [lang], #verdict [lang], #now [lang], #steps [lang]").count() == 0
            assert page.page.locator("#clause [lang=en]").count() == 1  # of a book; marked so for a screen reader
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


def test_how_the_link_fares_and_the_notes_are_said_in_the_language_of_the_page(
    room: Room, opened: Callable[..., Any]
) -> None:
    waits = {"en": "waits for the next hand", "de": "wartet auf die nächste Hand", "es": "espera la próxima mano"}
    pages = {locale: Floor.open(opened(locale=locale), room, "floor") for locale in waits}
    for locale, page in pages.items():
        page.see("#health dd:nth-of-type(1)", waits[locale])
    room.unplug("t1")
    for locale, said in (("de", "ohne Aufsicht: am Anschluss:"), ("es", "sin supervisión: ")):
        pages[locale].see("#health dd", said)
        assert "unsupervised" not in pages[locale].read("#health")


@pytest.mark.rules(t1="tda-2024")
def test_clauses_of_past_hands_are_marked_as_the_language_they_are_in(room: Room, opened: Callable[..., Any]) -> None:
    """WCAG 3.1.2. The words around a clause are in the language of the page."""
    room.tables["t1"].play(TURN)
    for locale in ("de-DE", "es-ES"):
        floor = Floor.open(opened(locale=locale), room, "floor")
        assert "RP-5" in str(floor.see("#hands [lang=en]").text_content())
        cell = floor.page.locator("#hands td").last
        unmarked = str(cell.text_content())
        for marked in cell.locator("[lang]").all_text_contents():
            unmarked = unmarked.replace(marked, "")
        assert unmarked.strip()
        assert "RP-5" not in unmarked


def test_why_a_key_is_not_taken_is_said_in_the_language_of_the_page(room: Room, opened: Callable[..., Any]) -> None:
    page = Dealer.open(opened(locale="es"), room, "dealer")
    room.tables["t1"].play(HAND)
    page.due("sigue: asiento 1")
    page.newest()
    page.page.locator(KEYS["exposed by dealer"]).click()
    page.see("#notice.refused", "en esta mano aún no ha salido ninguna carta")
    assert page.page.locator("#notice [lang]").count() == 0


def test_a_room_s_own_sentences_stay_as_they_are_and_are_marked_as_the_language_they_are_in(
    browser: Any, opened: Callable[..., Any], tmp_path: Path
) -> None:
    """WCAG 3.1.2: a screen reader says each part in its own language."""
    pack = (PACKS / "tda-2024.toml").read_text().replace('id = "tda-2024"', 'id = "sala"\nlanguage = "es-MX"')
    theirs = "El {street} se adelantó: regresa al mazo"
    pack = pack.replace("The {street} came too soon: it goes back, the burn stays", theirs)
    (tmp_path / "sala.toml").write_text(re.sub(r"(?s)\n\[\[scenarios\]\].*", "", pack))
    with Room(tmp_path, {"t1": str(tmp_path / "sala.toml")}) as room:
        room.tables["t1"].play(TURN)
        page = Dealer.open(opened(locale="de"), room, "dealer")
        page.see("#verdict [lang=es-MX]", "El turn se adelantó: regresa al mazo")
        page.see("#clause [lang=es-MX]", "sala")
        heard = page.page.locator("#aloud")
        assert heard.locator("[lang=es-MX]").all_inner_texts() == page.page.locator("#verdict [lang]").all_inner_texts()
        assert HAPPENED["de-DE"] in str(heard.text_content())  # not in the Spanish part
        assert HAPPENED["de-DE"] not in "".join(heard.locator("[lang]").all_text_contents())
        page.see("#happened", HAPPENED["de-DE"])
        floor = Floor.open(opened(locale="en"), room, "floor")
        floor.see("#verdict [lang=es-MX]", "El turn se adelantó")
        floor.see("#books [lang=es-MX]", "El turn se adelantó")
        floor.see("#history [lang=es-MX]", "El turn se adelantó")
        clause = floor.see("#hands [lang=es-MX]").text_content()
        assert clause == f"({room.tables['t1'].bridge.snapshot().rulings[-1].cite})"
