"""Which cards a hand's draws were, for whoever may know: never of a sealed hand that is not over. For the commands."""

from __future__ import annotations

import sqlite3

from shoelink import schema, tokens

from dealershoe.deck.cards import card_name
from dealershoe.desk.sealed import card_names
from dealershoe.desk.table_link import message_of
from dealershoe.entries import SHOE, EventRow, Fact
from dealershoe.errors import UserError
from dealershoe.record.read import END, HandSpan, between

REVEALED = "Revealed"  # kind of the event of a secret that the shoe had committed itself to


def is_over(db: sqlite3.Connection, span: HandSpan) -> bool:
    """Has the pot been pushed, and nothing been taken back since, or another hand begun?"""
    if span.end != END:
        return True
    latest = db.execute(
        "SELECT kind FROM events WHERE kind IN ('Award', 'Undo') AND fact >= ? ORDER BY fact DESC, seq DESC LIMIT 1",
        (span.row.fact,),
    ).fetchone()
    return bool(latest == ("Award",))


def faces(db: sqlite3.Connection, span: HandSpan) -> dict[int, str]:
    """Card by fact. A card that was not read, or whose secret the shoe has not revealed, is not in it.

    Raises UserError while the hand of a table that is not open is in play.
    """
    if not span.row.open_table and not is_over(db, span):
        raise UserError(
            f"the hand that began with fact {span.row.fact} is in play",
            "nobody is told its cards before it is over",
            "ask again without --open, or later",
        )
    names = secret_names(db, span.row.hand, span.row.fact)
    found: dict[int, str] = {}
    for fact in between(db, Fact, span.row.fact, span.end):
        message = message_of(fact.raw) if fact.origin == SHOE else None
        if isinstance(message, schema.Commit) and message.hand == span.row.hand:
            found.clear()  # a secret chosen after a card left proves nothing about it
        if isinstance(message, schema.Card) and not message.flags & schema.CARD_UNREAD:
            token = bytes(message.token)
            number = schema.value(token)
            name = names.get(token) or (card_name(number) if number < tokens.CARDS else None)
            if name is not None:
                found[fact.id] = name
    return found


def secret_names(db: sqlite3.Connection, hand: int, after: int) -> dict[bytes, str]:
    """Token → card in the shoe's hand `hand`; {} where no secret that holds was revealed after fact `after`."""
    row = db.execute(
        "SELECT facts.raw FROM events JOIN facts ON facts.id = events.fact "
        "WHERE events.kind = ? AND events.hand = ? AND events.fact > ? ORDER BY events.fact LIMIT 1",
        (REVEALED, hand, after),
    ).fetchone()
    message = message_of(row[0]) if row else None
    if not isinstance(message, schema.Reveal):
        return {}
    return card_names(bytes(message.secret))


def named(event: EventRow, known: dict[int, str]) -> str:
    """The card of a draw, "" where it is not known or not to be told."""
    return known.get(event.fact, "") if event.kind == "Draw" else ""
