"""A card that the shoe itself doubts lights up at once, with or without a host, and the host's word counts more."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from firmware.physics import Card, Scene, print_card, ride
from firmware.test_events import STEADY, Shoe
from shoelink import schema

signals: Any = import_module("shoe.signals")


def lit(lights: Any, now: int) -> int:
    lights.turn(now)
    return int(lights.shown())


@pytest.mark.parametrize(
    ("paper", "doubtful"),
    [
        (print_card(20), False),
        (print_card(52), False),  # a joker is no doubt of the shoe's
        (print_card(20, boxed=True), True),
        (print_card(20, mirrored=True), True),
        (print_card(54), True),
        (Card(), True),
    ],
)
def test_which_cards_the_shoe_doubts(paper: Card, doubtful: bool) -> None:
    shoe = Shoe()
    shoe.draw(paper)
    assert shoe.events.doubtful is doubtful
    shoe.draw()
    assert not shoe.events.doubtful


def test_a_double_is_doubted() -> None:
    shoe = Shoe()
    shoe.feed(Scene([(print_card(3), 0), (Card(), 20)]).samples(ride([(160, 1000, 1000)])))
    assert shoe.events.doubtful
    shoe.feed(Scene([(print_card(3), 0)]).samples(STEADY))
    assert not shoe.events.doubtful


@pytest.mark.parametrize("supervised", [True, False])
def test_a_doubt_is_shown_until_the_next_card_or_for_a_while(supervised: bool) -> None:
    lights = signals.Signals(0)
    lights.supervised = supervised
    rest = signals.READY if supervised else signals.UNSUPERVISED
    assert lit(lights, 1) == rest
    lights.doubt(10)
    assert lit(lights, 10) == signals.FAULT
    assert lights.lamps
    assert lit(lights, 1509) == signals.FAULT
    assert lit(lights, 1510) == rest
    lights.doubt(2000)
    lights.accept(2300)
    assert lit(lights, 2300) == rest


def test_the_next_doubt_is_lit_at_once_though_the_light_was_between_two_flashes() -> None:
    lights = signals.Signals(0)
    lights.supervised = True
    lights.doubt(10)
    assert lit(lights, 10) == signals.FAULT
    assert lit(lights, 320) == signals.FAULT
    assert lights.lamps == 0
    lights.doubt(400)
    assert lights.turn(400)
    assert lights.lamps
    assert lights.hertz


def test_what_the_host_says_next_counts_more() -> None:
    lights = signals.Signals(0)
    lights.supervised = True
    for signal in (schema.SIGNAL_ATTENTION, schema.SIGNAL_READY, schema.SIGNAL_STOP):
        lights.doubt(10)
        assert lit(lights, 10) == signals.FAULT
        lights.obey(signal, schema.MODE_SUPERVISED)
        assert lit(lights, 11) != signals.FAULT
    lights.doubt(20)  # and a stop is not hidden by a card that is pulled all the same
    assert lit(lights, 20) == signals.STOP
