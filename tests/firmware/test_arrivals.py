"""Which draw a seat node's arrival is booked to when several cards are in the air."""

from __future__ import annotations

import pytest
from firmware.test_events import Shoe
from shoelink import schema

DOWN = schema.WAY_DOWN


@pytest.fixture
def shoe() -> Shoe:
    return Shoe()


def seats(shoe: Shoe) -> list[int]:
    """The draws of all arrivals."""
    return [event.draw for event in shoe.all if isinstance(event, schema.Seat)]


def test_of_two_in_the_air_over_one_lane_the_older_arrives_first(shoe: Shoe) -> None:
    """Seats 6 and 7 share lane 3: that seat 7 is due when the second card leaves does not make it land first."""
    shoe.due(1, schema.DUE_SEAT, 6)
    shoe.draw(covered=0b00001000)
    shoe.due(1, schema.DUE_SEAT, 7)
    shoe.draw(covered=0b00001000)
    shoe.events.arrived(7, DOWN)
    shoe.events.arrived(7, DOWN)
    assert seats(shoe) == [1, 2]


def test_an_arrival_is_not_booked_to_a_card_that_was_seen_over_another_lane(shoe: Shoe) -> None:
    shoe.due(1, schema.DUE_SEAT, 3)
    shoe.draw(covered=0b00100000)  # 1: seen over lane 5
    shoe.draw()  # 2: seen nowhere, expected at seat 3
    shoe.draw()  # 3: the same
    shoe.events.arrived(3, DOWN)
    shoe.events.arrived(1, DOWN)  # expected nowhere: rather one that may have flown there
    shoe.events.arrived(9, DOWN)  # lane 5
    assert seats(shoe) == [2, 3, 1]
