"""Which draw a seat node's arrival is booked to when several cards are in the air."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from firmware.test_events import Shoe
from shoelink import schema

lane_of: Any = import_module("shoe.lanes").lane_of
DOWN = schema.WAY_DOWN


@pytest.fixture
def shoe() -> Shoe:
    return Shoe()


def test_the_node_that_takes_each_card_of_others_is_the_liar_not_those_that_it_robs(shoe: Shoe) -> None:
    """Seat 5's gate sees the dealer's sleeve with each card; the seats where the cards come to lie tell the truth."""
    said = []
    for seat in (1, 2, 3):
        shoe.due(1, schema.DUE_SEAT, seat)
        shoe.draw(covered=1 << lane_of(seat))
        said += [shoe.events.arrived(5, DOWN), shoe.events.arrived(seat, DOWN)]
    assert said == [-1, 5, -1, 5, -1, 5]
    assert [(event.draw, event.place) for event in shoe.all if isinstance(event, schema.Seat)] == [
        (1, 5), (1, 1), (2, 5), (2, 2), (3, 5), (3, 3),
    ]  # fmt: skip


def test_a_robbed_seat_claims_its_own_card_also_when_the_next_one_is_in_the_air(shoe: Shoe) -> None:
    shoe.due(1, schema.DUE_SEAT, 1)
    shoe.draw()
    assert shoe.events.arrived(5, DOWN) == -1
    shoe.due(1, schema.DUE_SEAT, 2)
    shoe.draw()
    assert [shoe.events.arrived(1, DOWN), shoe.events.arrived(2, DOWN)] == [5, 0]
    told = [event for event in shoe.all if isinstance(event, schema.Seat)]
    assert [(event.draw, event.place, event.certainty) for event in told] == [(1, 5, 95), (1, 1, 95), (2, 2, 95)]


def test_a_card_in_place_of_one_that_strayed_is_itself(shoe: Shoe) -> None:
    """Seat 1's first card lands at seat 5, and its second where it belongs: nobody claims the first."""
    shoe.due(1, schema.DUE_SEAT, 1)
    shoe.draw()
    said = [shoe.events.arrived(5, DOWN)]
    shoe.draw()
    said.append(shoe.events.arrived(1, DOWN))
    assert (said, seats(shoe)) == ([-1, 0], [1, 2])


def test_a_card_of_the_hand_before_is_nobodys(shoe: Shoe) -> None:
    shoe.due(1, schema.DUE_SEAT, 1)
    shoe.draw()
    shoe.events.arrived(5, DOWN)
    shoe.due(2, schema.DUE_SEAT, 1)
    assert shoe.events.arrived(1, DOWN) == 1
    assert (shoe.last.hand, shoe.last.draw, shoe.last.certainty) == (2, 0, 30)


def test_a_card_that_strayed_to_another_seat_is_its_nodes_and_nobody_is_a_liar(shoe: Shoe) -> None:
    said = []
    for seat in (1, 2, 3):
        shoe.due(1, schema.DUE_SEAT, seat)
        shoe.draw()
        said.append(shoe.events.arrived(5, DOWN))
    assert said == [-1, 0, 0]  # nobody has claimed them
    assert seats(shoe) == [1, 2, 3]


def test_an_arrival_with_no_card_about_is_of_the_node_that_tells_it(shoe: Shoe) -> None:
    assert shoe.events.arrived(5, DOWN) == 5
    shoe.due(1, schema.DUE_SEAT, 1)
    shoe.draw()
    assert [shoe.events.arrived(5, DOWN), shoe.events.arrived(2, DOWN)] == [-1, 2]  # not seat 2's card
    shoe.clock.advance(3000 * 20)  # ms
    assert shoe.events.arrived(1, DOWN) == 1  # too late to be it
    doubted = [event.certainty for event in shoe.all if isinstance(event, schema.Seat)]
    assert doubted == [30, 95, 30, 30]


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
