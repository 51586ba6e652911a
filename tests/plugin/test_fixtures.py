"""The fixtures of the plugin, as this package's own pytest has them: shoe, line, dealer and bridge together."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from dealershoe.bench.dealer import Dealer
from dealershoe.bench.line import FaultyLine
from dealershoe.bench.table import Table
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from hil.hostend import HostEnd
from shoelink import schema

HAND = "hand seats=1-3 button=3\n"


def test_a_host_of_ones_own_gets_every_card_through_a_bad_line(
    emulated_shoe: EmulatedShoe, shoe_line: FaultyLine
) -> None:
    with HostEnd(shoe_line.port) as host:
        shoe_line.faults(loss=0.2, bit_error=0.1, duplicate=0.1, inserted=0.05, dropped=0.05)
        for target in (1, 2, 3, 1, 2, 3):
            emulated_shoe.pull(target=target)
        cards = host.next(schema.Card, 6)
    assert [card.draw for card in cards] == [1, 2, 3, 4, 5, 6]
    assert shoe_line.log


def test_the_dealer_tells_the_bridge_what_the_shoe_cannot_sense(shoe_dealer: Dealer, shoe_bridge: Table) -> None:
    shoe_dealer.play(HAND + "card 1\ncard 2 boxed")
    shoe_bridge.wait_for(lambda: shoe_bridge.snapshot().rulings, "the boxed card to be ruled on")
    assert shoe_dealer.said == ["hand seats=1-3 button=3"]


def test_the_bridge_resumes_behind_a_line_that_was_pulled(
    shoe_dealer: Dealer, shoe_bridge: Table, shoe_line: FaultyLine, emulated_shoe: EmulatedShoe
) -> None:
    shoe_dealer.play(HAND + "card 1")
    shoe_line.disconnect()
    emulated_shoe.pull(target=2)
    shoe_bridge.wait_for(lambda: shoe_bridge.snapshot().link == "unsupervised", "the loss")
    shoe_line.reconnect()
    shoe_bridge.wait_for(lambda: shoe_bridge.sessions >= 2, "the way back")
    shoe_bridge.wait_for(lambda: [seat.cards for seat in shoe_bridge.snapshot().seats][:2] == [1, 1], "both cards")


def test_a_dealer_without_a_host_keeps_what_he_would_say(shoe_dealer: Dealer) -> None:
    shoe_dealer.play(HAND + "deal 2\nact 1 fold")
    assert shoe_dealer.said == ["hand seats=1-3 button=3", "act 1 fold"]


def test_a_target_that_there_is_not_is_refused_before_a_card_moves(emulated_shoe: EmulatedShoe) -> None:
    wrong: list[Any] = [0, 12, "seat 3", "mukc", "3", 3.0, True, None]
    for target in wrong:
        for pull in (emulated_shoe.pull, partial(emulated_shoe.draw, 10.0)):
            with pytest.raises(UserError) as refused:
                pull(target=target)
            assert str(refused.value) == (
                f"no card goes to {target!r}; the targets are the numbers of the seats, 1 to 11, "
                'and "burn", "board", "muck", "off-table"'
            )
    assert len(emulated_shoe.deck) == 52
    assert emulated_shoe.pull(target=11).name == "2c"
    assert emulated_shoe.pull(target="off-table").name == "3c"
