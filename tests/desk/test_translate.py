"""What each report of the shoe means at the table; codes and fields as `shoelink.schema` has them."""

from __future__ import annotations

from typing import Any

import pytest
from dealershoe.desk.translate import Context, Told, card_of, place_of, table_events
from dealershoe.events import (
    Ack,
    Act,
    BettingComplete,
    DeckLoaded,
    Draw,
    Event,
    Exposed,
    NextHand,
    PullBack,
    ReportBoxed,
    ReportTarget,
    ShuffledStub,
    Undo,
)
from shoelink import schema

T = bytes(4)
DOWN = Context(hand=7, last=3, numbers={3: 3})


def card(**changed: Any) -> Any:
    """A card as a shoe on an open table reports it: #3, the ace of spades, face down, through the lane of seat 3."""
    told = schema.Card(7, 3, T, schema.word(51), 0, schema.WAY_DOWN, 3, schema.ORIGIN_LANE, 60, 0, 1000, 0)
    return told._replace(**changed)


@pytest.mark.parametrize(
    ("changed", "draw"),
    [
        ({}, Draw(3, "As", confirmed=False, number=3, deck=0)),
        ({"origin": schema.ORIGIN_SEAT_SENSOR}, Draw(3, "As", confirmed=True, number=3, deck=0)),
        ({"target": 0, "origin": 0}, Draw(None, "As", confirmed=False, number=3, deck=0)),
        ({"target": 32}, Draw("burn", "As", confirmed=False, number=3, deck=0)),
        ({"target": 33}, Draw("board", "As", confirmed=False, number=3, deck=0)),
        ({"way_up": schema.WAY_UP}, Draw(3, "As", boxed=True, confirmed=False, number=3, deck=0)),
        ({"token": b"\xff" * 4, "flags": 4, "deck": 255}, Draw(3, None, unread=True, confirmed=False, number=3)),
        (
            {"token": b"\xff" * 4, "flags": 4, "deck": 255, "way_up": schema.WAY_UNKNOWN},
            Draw(3, None, unread=True, confirmed=False, number=3, unseen=True),
        ),
        ({"flags": 1}, Draw(3, "As", double=True, confirmed=False, number=3, deck=0)),
        ({"flags": 8}, Draw(3, "As", foreign=True, confirmed=False, number=3, deck=0)),
        ({"token": schema.word(0x12345678)}, Draw(3, "~78563412", confirmed=False, number=3, deck=0)),
        ({"token": schema.word(0x12345678), "flags": 16}, Draw(3, "joker", confirmed=False, number=3, deck=0)),
        ({"token": schema.word(52)}, Draw(3, "joker", confirmed=False, number=3, deck=0)),
    ],
)
def test_a_card_is_a_draw_inferred_unless_a_seat_sensor_saw_it(changed: dict[str, Any], draw: Draw) -> None:
    assert table_events(card(**changed), DOWN) == Told((draw,))


def test_a_card_told_by_its_tag_is_that_card_and_that_is_said() -> None:
    """The rules have a card that was read; which way up it lay nobody saw."""
    told = table_events(card(way_up=schema.WAY_UNKNOWN, flags=schema.CARD_BY_TAG), DOWN)
    assert told.events == (Draw(3, "As", confirmed=False, number=3, deck=0, unseen=True),)
    assert told.note == "no head could read #3: it was read by its tag"


def seat(place: int, way_up: int, certainty: int = 100) -> Any:
    return schema.Seat(7, 3, T, place, way_up, certainty)


@pytest.mark.parametrize(
    ("message", "events"),
    [
        (seat(3, schema.WAY_DOWN), (ReportTarget(3, 3),)),
        (seat(3, schema.WAY_UP), (ReportTarget(3, 3), Exposed(3, "dealer"))),
        (seat(32, schema.WAY_UP), (ReportTarget(3, "burn"), Exposed(3, "dealer"))),
        (seat(33, schema.WAY_UP), (ReportTarget(3, "board"),)),  # the board lies face up
        (schema.CardBack(7, 3, T, 300), (PullBack(),)),
    ],
)
def test_a_seat_node_confirms_a_place_and_says_if_the_card_is_face_up(message: Any, events: tuple[Event, ...]) -> None:
    assert table_events(message, DOWN) == Told(events)


@pytest.mark.parametrize(
    ("message", "events"),
    [
        (seat(3, schema.WAY_UP), (ReportTarget(5, 3), ReportBoxed(5))),
        (seat(32, schema.WAY_UP), (ReportTarget(5, "burn"), ReportBoxed(5))),
        (seat(3, schema.WAY_DOWN), (ReportTarget(5, 3), ReportBoxed(5, False))),
        (seat(3, schema.WAY_UNKNOWN), (ReportTarget(5, 3),)),
        (seat(3, schema.WAY_UP, certainty=49), ()),  # not sure enough to confirm anything
    ],
)
def test_of_a_card_that_no_head_saw_a_seat_node_says_which_way_up_it_left_the_shoe(
    message: Any, events: tuple[Event, ...]
) -> None:
    told = table_events(message, DOWN._replace(numbers={3: 5}, unseen=(4, 5)))
    assert told.events == events
    assert ("taken as boxed; if somebody turned it over, say `exposed #5`" in told.note) is (ReportBoxed(5) in events)


def test_a_card_that_had_not_left_and_goes_back_is_not_taken_for_the_last_one() -> None:
    told = table_events(schema.CardBack(7, 4, T, 300), DOWN)
    assert told.events == ()
    assert "#4 went back" in told.note


def test_the_shoe_counts_passages_and_the_table_counts_cards() -> None:
    again = DOWN._replace(last=2, numbers={3: 2})  # the shoe's third passage was card #2, back from the top of the deck
    assert table_events(seat(3, schema.WAY_UP), again).events == (ReportTarget(2, 3), Exposed(2, "dealer"))
    assert table_events(schema.CardBack(7, 3, T, 300), again).events == (PullBack(),)
    assert "not sure" in table_events(seat(3, schema.WAY_UP), DOWN._replace(numbers={})).note


def test_a_seat_node_that_is_not_sure_confirms_nothing() -> None:
    told = table_events(seat(3, schema.WAY_UP, certainty=49), DOWN)
    assert told.events == ()
    assert "not sure about #3" in told.note


@pytest.mark.parametrize(
    ("key", "press", "told"),
    [
        (schema.KEY_ACTION, schema.PRESS_SHORT, Told((Act(None, None),))),
        (schema.KEY_BETTING_COMPLETE, schema.PRESS_SHORT, Told((BettingComplete(),))),
        (schema.KEY_EXPOSED, schema.PRESS_SHORT, Told((Exposed(None, "dealer"),))),
        (schema.KEY_EXPOSED, schema.PRESS_HELD, Told((Exposed(None, "player"),))),
        (schema.KEY_DONE, schema.PRESS_SHORT, Told((Ack(),))),
        (schema.KEY_DONE, schema.PRESS_HELD, Told((Undo(),))),
        (schema.KEY_FLOOR, schema.PRESS_SHORT, Told(floor_called=True)),
    ],
)
def test_what_the_keys_say(key: int, press: int, told: Told) -> None:
    assert table_events(schema.Key(7, T, key, press), DOWN) == told


def test_the_new_hand_key_begins_the_next_hand_unless_the_host_has_begun_it() -> None:
    assert table_events(schema.Key(8, T, schema.KEY_NEW_HAND, 0), DOWN) == Told((NextHand(),))
    assert table_events(schema.Key(7, T, schema.KEY_NEW_HAND, 0), DOWN) == Told()


@pytest.mark.parametrize(("waits", "events"), [("stub", (ShuffledStub(),)), ("deck", (DeckLoaded(),)), ("", ())])
def test_cards_put_in_the_shoe_are_what_a_remedy_waits_for(waits: str, events: tuple[Event, ...]) -> None:
    message = schema.Deck(7, T, schema.DECK_LOADED, 0, schema.COUNT_UNKNOWN)
    assert table_events(message, DOWN._replace(shuffle=waits)).events == events


def test_places_and_faces() -> None:
    assert [place_of(code) for code in (0, 1, 11, 12, 32, 33, 34, 35)] == [
        None, 1, 11, None, "burn", "board", "muck", "off-table",
    ]  # fmt: skip
    assert card_of(schema.word(0)) == "2c"
    assert card_of(schema.TOKEN_UNREAD) is None
