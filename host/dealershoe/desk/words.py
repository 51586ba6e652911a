"""The bridge's wording: an event, a place, a ruling as one plain line. For pipes, logs and the record. No card is named
unless the table is open."""

from __future__ import annotations

from typing import Any

from dealershoe.deal.grammar import render
from dealershoe.deck.cards import face
from dealershoe.events import Draw, Event, Hand, Misread, NextHand, Place, ReportTarget
from dealershoe.rules.ruling import Ruling
from dealershoe.session import TableSession

SENSOR = "seat sensor"


def place_words(place: Place | None) -> str:
    """ "seat 3", "burn", "board", …"""
    return f"seat {place}" if isinstance(place, int) else str(place or "unknown")


def way_up_words(boxed: bool, unseen: bool = False) -> str:
    """Which way up a card lay in the shoe; `unseen`: nobody knows."""
    return "boxed" if boxed else "unseen" if unseen else "down"


def event_words(event: Event, session: TableSession, origin: str, open_table: bool) -> tuple[str, str, dict[str, Any]]:
    """The kind of happening, its line and its data, for an event that the session has just taken."""
    if isinstance(event, Draw):
        return _draw_words(event, session, open_table)
    if isinstance(event, Hand | NextHand) and session.hand is not None:
        setup = session.hand.setup
        words = f"hand {session.hand_number}: seats {', '.join(map(str, setup.seats))}, button {setup.button}"
        return "hand", words, {"hand": session.hand_number, "seats": list(setup.seats), "button": setup.button}
    if isinstance(event, ReportTarget) and origin == SENSOR:
        place = place_words(event.target)
        return "seat", f"#{event.number} lies at {place}, says its seat sensor", {"draw": event.number, "place": place}
    words = render(event) if open_table or not _names_cards(event) else type(event).__name__
    return "event", f"{words}  ({origin})", {"origin": origin}


def _names_cards(event: Event) -> bool:
    told = isinstance(event, Misread) and event.card is not None
    return told or bool(getattr(event, "ids", ()) or type(event).__name__ == "DrawForButton")


def _draw_words(event: Draw, session: TableSession, open_table: bool) -> tuple[str, str, dict[str, Any]]:
    card = session.hand.cards[-1] if session.hand and session.hand.cards else None
    number = event.number if event.number is not None else session.draws
    if session.hand is not None and 0 < number <= len(session.hand.cards):
        card = session.hand.cards[number - 1]
    place = place_words(card.place if card else event.target)
    sure = "" if card is not None and card.confirmed else " (inferred)"
    marks = [name for name in ("double", "unread", "foreign") if getattr(event, name)]
    seen = face(event.card) if open_table else None
    shown = f" {seen}" if seen else ""
    words = f"#{number} {way_up_words(event.boxed, event.unseen)} → {place}{sure}{shown}"
    words += "".join(f" {mark}" for mark in marks)
    data: dict[str, Any] = {"draw": number, "place": place, "confirmed": not sure, "boxed": event.boxed, "marks": marks}
    if seen:
        data["card"] = seen
    return "draw", words, data


def ruling_words(ruling: Ruling) -> tuple[str, dict[str, Any]]:
    """A ruling with its clause and the layer it comes from, its line and its data."""
    steps = "".join(f"; {number}. {step}" for number, step in enumerate(ruling.remedy, 1))
    source = "; ".join(part for part in (ruling.cite, ruling.layer, f"{ruling.decider} decides") if part)
    words = f"{ruling.ruling.upper()}: {ruling.say} [{source}]{steps}"
    return words, {
        "ruling": ruling.ruling,
        "rule": ruling.rule,
        "cite": ruling.cite,
        "layer": ruling.layer,
        "version": ruling.version,
        "digest": ruling.digest,
        "seat": ruling.seat or None,
        "cards": list(ruling.cards),
        "say": ruling.say,
        "decider": ruling.decider,
        "signal": ruling.signal,
        "remedy": list(ruling.remedy),
    }
