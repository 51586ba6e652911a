"""From what the shoe reports to what the table is told. Pure; for the desk. Facts change their form, no more."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from shoelink import schema, tokens

from dealershoe.deck.cards import card_name, sealed_name
from dealershoe.events import (
    Ack,
    Act,
    BettingComplete,
    DeckLoaded,
    Draw,
    Event,
    Exposed,
    NextHand,
    Place,
    PullBack,
    ReportBoxed,
    ReportTarget,
    ShuffledStub,
    Undo,
)

CERTAIN = 50  # percent: a seat node that is less sure than this does not confirm
PLACES: dict[int, Place] = {
    schema.TARGET_BURN: "burn",
    schema.TARGET_BOARD: "board",
    schema.TARGET_MUCK: "muck",
    schema.TARGET_OFF_TABLE: "off-table",
}
SLOT_BLIND = 0x100  # in the detail of FAULT SLOT: a code went by and a slot saw nothing (hardware/faults.md)


class Context(NamedTuple):
    """What of the table the meaning of a report depends on."""

    hand: int = 0  # the shoe's number of the hand in play
    last: int = 0  # the table's number of the card that left last, if it is still out
    numbers: Mapping[int, int] = MappingProxyType({})  # the shoe's number of a draw → the table's
    shuffle: str = ""  # what a remedy waits for: "stub", "deck", or "" for none
    unseen: tuple[int, ...] = ()  # the table's numbers of cards that no head saw and that are to lie face down


ANY_CONTEXT = Context()  # for a card: what it says does not depend on the table


class Told(NamedTuple):
    """The events for the table, in order, and what only the desk acts on."""

    events: tuple[Event, ...] = ()
    floor_called: bool = False
    note: str = ""


def place_of(code: int) -> Place | None:
    """The place at the table that a code names; None: unknown."""
    return code if 1 <= code <= 11 else PLACES.get(code)


def card_of(token: bytes, joker: bool = False) -> str | None:
    """The card that a token names: "As" on an open table, "~9f3a21c0" on a sealed one, "joker"; None: unread."""
    if token == schema.TOKEN_UNREAD:
        return None
    number = schema.value(token)
    return "joker" if joker else card_name(number) if number < tokens.CARDS else sealed_name(token)


def names_its_card(message: Any) -> bool:
    """Whether a message tells everyone on the line which card it is, or that the cards of a hand will be told."""
    if isinstance(message, schema.Commit):
        return bytes(message.commitment) == tokens.OPEN
    return isinstance(message, schema.Card) and schema.value(message.token) < tokens.CARDS


def table_events(message: Any, context: Context) -> Told:
    """What the table is to be told of `message`, a message of `shoelink.schema` that the shoe sends."""
    reader = READERS.get(type(message))
    return reader(message, context) if reader else Told()


def _card(card: Any, _: Context) -> Told:
    """The target is inferred from the exit lane, or is what was due: only a seat sensor confirms it (DESIGN 2)."""
    flags = card.flags
    draw = Draw(
        target=place_of(card.target),
        card=card_of(card.token, bool(flags & schema.CARD_JOKER)),
        boxed=card.way_up == schema.WAY_UP,
        double=bool(flags & schema.CARD_DOUBLE),
        unread=bool(flags & schema.CARD_UNREAD),
        foreign=bool(flags & schema.CARD_FOREIGN),
        confirmed=card.origin == schema.ORIGIN_SEAT_SENSOR,
        number=card.draw,
        deck=None if card.deck == schema.DECK_UNKNOWN else card.deck,
        unseen=card.way_up == schema.WAY_UNKNOWN,
    )
    if flags & schema.CARD_BY_TAG:
        return Told((draw,), note=f"no head could read #{card.draw}: it was read by its tag")
    return Told((draw,))


def _card_back(back: Any, context: Context) -> Told:
    """The last card is back in the shoe. One that had not left yet was never counted."""
    if context.numbers.get(back.draw) != context.last:
        return Told(note=f"#{back.draw} went back into the shoe")
    return Told((PullBack(),))


def _seat(seat: Any, context: Context) -> Told:
    """A seat node confirms an arrival; face up is exposed (the table knows stud's upcards), by the dealer at first.

    Where no head of the shoe saw the card, the node has: one that arrives face up is taken as boxed.
    """
    place, number = place_of(seat.place), context.numbers.get(seat.draw)
    if place is None or number is None or seat.certainty < CERTAIN:
        return Told(note=f"a seat node is not sure about #{seat.draw}")
    events: tuple[Event, ...] = (ReportTarget(number, place),)
    if number in context.unseen:
        up = seat.way_up == schema.WAY_UP
        note = f"no head saw #{number} in the shoe, and it lies face up: taken as boxed; if somebody turned it over, "
        note += f"say `exposed #{number}`"
        known = schema.WAY_UP, schema.WAY_DOWN
        return Told((*events, ReportBoxed(number, up)) if seat.way_up in known else events, note=note if up else "")
    if seat.way_up == schema.WAY_UP and (isinstance(place, int) or place == "burn"):
        events += (Exposed(number),)
    return Told(events)


def _key(key: Any, context: Context) -> Told:
    held = key.press == schema.PRESS_HELD
    match key.key:
        case schema.KEY_NEW_HAND:
            # The host may have begun the same hand already: then the key says nothing new.
            return Told() if key.hand == context.hand else Told((NextHand(),))
        case schema.KEY_ACTION:
            return Told((Act(None, None),))
        case schema.KEY_BETTING_COMPLETE:
            return Told((BettingComplete(),))
        case schema.KEY_EXPOSED:
            return Told((Exposed(None, "player" if held else "dealer"),))
        case schema.KEY_DONE:
            return Told((Undo() if held else Ack(),))
        case schema.KEY_FLOOR:
            return Told(floor_called=True)
    return Told(note=f"the shoe has a key {key.key} that this bridge does not know")


def _deck(deck: Any, context: Context) -> Told:
    if deck.event == schema.DECK_EMPTY:
        return Told(note="the shoe is empty")
    if context.shuffle:
        return Told((ShuffledStub() if context.shuffle == "stub" else DeckLoaded(),))
    return Told(note="a deck was put in the shoe")


READERS = {
    schema.Card: _card,
    schema.CardBack: _card_back,
    schema.Seat: _seat,
    schema.Key: _key,
    schema.Deck: _deck,
}
