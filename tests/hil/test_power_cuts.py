"""The firmware is killed (SIGKILL) at any event and starts again on the same FRAM: no card is lost, none doubled."""

from __future__ import annotations

import random

import pytest
from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.emulate.mechanics import printed
from dealershoe.emulate.shoe import EmulatedShoe
from hil.hostend import HostEnd
from shoelink import schema


def cards_of(host: HostEnd) -> list[tuple[int, int]]:
    """(draw, card) of every card that the host has, in order."""
    return [(event.draw, schema.value(event.token)) for event in host.events if isinstance(event, schema.Card)]


def expected(count: int) -> list[tuple[int, int]]:
    return [(number + 1, number % 52) for number in range(count)]


def deal(shoe: EmulatedShoe, count: int) -> None:
    for _ in range(count):
        if not shoe.deck:
            shoe.load(printed(name) for name in FIFTY_TWO)
        shoe.pull(arrives=False, speed=1.5)


def test_the_journal_and_its_numbers_go_on_and_only_the_boot_is_another() -> None:
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:
        deal(shoe, 3)
        host.wait_for(lambda: len(cards_of(host)) == 3, "three cards")
        before = host.greetings[-1].hello
        shoe.power_cycle(holding="exposed")
        host.wait_for(lambda: len(host.greetings) > 1 and host.link.up, "it greets again")
        after = host.greetings[-1].hello
        assert (after.journal, after.boot != before.boot) == (before.journal, True)
        assert after.next >= 4
        deal(shoe, 2)
        host.wait_for(lambda: len(cards_of(host)) == 5, "two more")
        assert cards_of(host) == expected(5)  # the draws of the hand go on as well


def test_cards_drawn_without_a_host_outlive_the_power() -> None:
    with EmulatedShoe(pace="fast", opened=True) as shoe:
        for _ in range(4):
            deal(shoe, 4)
            shoe.quiet()
            shoe.power_cycle(holding="exposed")
        with HostEnd(shoe.port) as host:
            host.wait_for(lambda: len(cards_of(host)) == 16, "sixteen cards")
            assert cards_of(host) == expected(16)


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_moments_of_a_busy_link_every_card_comes_once(seed: int) -> None:
    rng = random.Random(seed)
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:
        dealt = 0
        for _ in range(6):
            count = rng.randint(1, 5)
            deal(shoe, count)
            dealt += count
            host.frozen = rng.random() < 0.4  # what was sent may not be stored, what was stored not be acknowledged
            shoe.power_cycle(holding="exposed")
            host.frozen = False
        host.wait_for(lambda: len(cards_of(host)) >= dealt, f"{dealt} cards")
        deal(shoe, 1)
        host.wait_for(lambda: len(cards_of(host)) > dealt, "and one more")
        assert cards_of(host) == expected(dealt + 1)


def test_a_sealed_hand_goes_on_under_its_secret_and_is_revealed_at_its_end() -> None:
    """protocol/README.md, "Cards under a secret": a reset in the middle of a hand, with a memory that keeps."""
    with EmulatedShoe(pace="fast") as shoe, HostEnd(shoe.port) as host:
        host.want(schema.Due(0, 7, schema.DUE_SEAT, 1, 1))
        shoe.wait_for(lambda: shoe.line.due is not None, "DUE has reached the shoe")
        shoe.quiet()
        shoe.pull("As", arrives=False)
        shoe.quiet()
        shoe.power_cycle()
        host.wait_for(lambda: len(host.greetings) > 1 and host.link.up, "it greets again")
        shoe.pull("As", arrives=False)
        first, second = host.next(schema.Card, 2)
        assert (first.hand, first.draw, second.hand, second.draw) == (7, 1, 7, 2)
        assert first.token == second.token  # a card that comes twice is found, over the reset too
        shoe.press("new-hand")
        assert host.next(schema.Reveal)[0].hand == 7
