"""Parts that fail together, at awkward moments, and come back: each is named, nothing hangs, no card is another one.

The real firmware runs; the parts are the models of `test_part_failures.py`, which fails them one at a time.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.emulate.mechanics import P1, printed
from dealershoe.emulate.parts import FAILURES
from dealershoe.emulate.shoe import EmulatedShoe
from hil.hostend import HostEnd
from hil.test_part_failures import TABLE, magenta
from shoelink import schema

READY = schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED)
NAMES = {code: name for code, name in schema.CODES["code"]}  # noqa: C416 (a tuple of pairs, for mypy)


@pytest.fixture
def shoe() -> Iterator[EmulatedShoe]:
    with EmulatedShoe(pace="fast", opened=True) as made:
        yield made


@pytest.fixture
def host(shoe: EmulatedShoe) -> Iterator[HostEnd]:
    with HostEnd(shoe.port) as end:
        end.want(READY)
        shoe.wait_for(lambda: shoe.lights[0] != (0, 0, 0) and not magenta(shoe), "no fault at first")
        yield end


def faults(host: HostEnd) -> set[str]:
    return {NAMES[event.code] for event in host.events if isinstance(event, schema.Fault)}


def cards(host: HostEnd) -> list[int | None]:
    """The number of each card told, in order; None: unread."""
    tokens = [event.token for event in host.events if isinstance(event, schema.Card)]
    return [None if token == schema.TOKEN_UNREAD else schema.value(token) for token in tokens]


def named(shoe: EmulatedShoe, host: HostEnd, *names: str) -> None:
    host.wait_for(lambda: faults(host) >= set(names), f"FAULT {names}")
    shoe.wait_for(lambda: magenta(shoe), "magenta")


def test_the_memory_dies_while_a_seat_node_babbles(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.fail("seats", "bus noisy")
    shoe.fail("fram", "stuck")
    shoe.press("action")
    shoe.rest(2_300)
    named(shoe, host, "FRAM", "SEAT_BUS")
    for name in ("Qs", "2c", "9h"):
        shoe.pull(name, arrives=False)
    host.wait_for(lambda: len(cards(host)) == 3, "three cards")
    assert cards(host) == [card_number(name) for name in ("Qs", "2c", "9h")]


def test_the_supply_dips_while_the_memory_forgets_and_both_outlast_the_power_cut(
    shoe: EmulatedShoe, host: HostEnd
) -> None:
    for number, name in enumerate(FIFTY_TWO[:3]):
        shoe.pull(name, arrives=False)
        host.wait_for(lambda count=number + 1: len(cards(host)) == count, "the card")  # type: ignore[misc]
    shoe.fail("supply", "low")
    shoe.fail("fram", "forgets")
    shoe.pull("Ts", arrives=False)
    shoe.rest(1_000)
    named(shoe, host, "SUPPLY", "FRAM")
    host.wait_for(lambda: len(cards(host)) == 4, "the fourth card")
    shoe.mend()
    shoe.power_cycle(holding="exposed")
    host.wait_for(lambda: len(host.greetings) > 1 and host.link.up, "it greets again")
    shoe.pull("Js", arrives=False)
    expected = [card_number(name) for name in (*FIFTY_TWO[:3], "Ts", "Js")]
    host.wait_for(lambda: len(cards(host)) == 5, "the fifth card")
    assert cards(host) == expected  # each once


def test_a_key_sticks_as_the_lid_comes_off_and_neither_key_nor_undo_is_told(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.fail("lid", "open")
    shoe.fail("keys", "done held")
    shoe.rest(6_000)
    named(shoe, host, "LID")
    shoe.mend()
    shoe.fail("keys", "done held")
    shoe.rest(31_000)
    named(shoe, host, "KEYS")
    shoe.press("action")  # what the ladder shows is done still
    shoe.mend()
    shoe.rest(1_500)
    assert not [event for event in host.events if isinstance(event, schema.Key)]
    shoe.press("action")
    host.wait_for(lambda: any(isinstance(event, schema.Key) for event in host.events), "a key that counts again")


def test_a_head_that_fails_with_a_card_half_out_reads_it_as_itself_or_not_at_all(
    shoe: EmulatedShoe, host: HostEnd
) -> None:
    ways = ("dark", "blind", "one track dark", "one track blind")
    for how, out in itertools.product(ways, (8.0, 20.0, P1 + 6.0, 50.0)):
        shoe.deck.insert(0, printed("Qs"))
        shoe.draw(out)
        shoe.fail("heads", how)
        shoe.finish(arrives=False)
        shoe.settle()
        shoe.mend()
        shoe.rest(100)
    shoe.quiet()
    assert set(cards(host)) <= {None, card_number("Qs")}
    host.events.clear()
    shoe.pull("2c", arrives=False)
    host.wait_for(lambda: cards(host) == [card_number("2c")], "a card that is read again")


@pytest.mark.parametrize("moment", [4.0, P1 + 10.0])
def test_the_sampler_stands_still_with_a_card_half_out_and_goes_on(
    moment: float, shoe: EmulatedShoe, host: HostEnd
) -> None:
    shoe.deck.insert(0, printed("Qs"))
    shoe.draw(moment)
    shoe.fail("sampler", "stalled")
    shoe.finish(arrives=False)
    named(shoe, host, "SAMPLER")
    assert set(cards(host)) <= {None, card_number("Qs")}
    shoe.mend()
    shoe.rest(3_000)
    host.wait_for(lambda: any(isinstance(e, schema.Clear) and e.code == schema.FAULT_SAMPLER for e in host.events),
                  "it is over")  # fmt: skip
    host.events.clear()
    for name in ("2c", "3d"):  # the first passes what the shoe still holds for a card
        shoe.pull(name, arrives=False)
    shoe.quiet()
    assert set(cards(host)) <= {None, card_number("2c"), card_number("3d")}
    assert cards(host)[-1] == card_number("3d")


def test_a_light_that_dies_with_each_card_does_not_make_it_another_one(shoe: EmulatedShoe, host: HostEnd) -> None:
    """It may make one double of it: hardware/faults.md says so."""
    for name in ("Qs", "2c", "7d"):
        shoe.deck.insert(0, printed(name))
        shoe.draw(P1 + 2.0)
        shoe.fail("light", "dark")
        shoe.finish(arrives=False)
        shoe.mend()
        shoe.rest(200)
    host.wait_for(lambda: len(cards(host)) == 3, "three cards")
    assert cards(host) == [card_number(name) for name in ("Qs", "2c", "7d")]


def test_lanes_that_lie_and_a_node_that_lies_name_no_place_for_certain(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.fail("lanes", "high")
    shoe.fail("seats", "node 5 lies")
    shoe.rest(2_300)
    named(shoe, host, "LANES", "SEAT_NODE")
    certain = [event for event in host.events if isinstance(event, schema.Seat) and event.certainty >= 50]
    assert certain == []
    host.events.clear()
    shoe.pull("Qs", target=3)
    shoe.quiet()
    (card,) = (event for event in host.events if isinstance(event, schema.Card))
    (seat,) = (event for event in host.events if isinstance(event, schema.Seat))
    assert card.target == schema.TARGET_UNKNOWN
    assert (seat.place, seat.draw, seat.certainty) == (3, 1, 95)


def test_parts_that_come_and_go_by_the_second_leave_every_card_and_the_journal_its_room(
    shoe: EmulatedShoe, host: HostEnd
) -> None:
    """Thirty seconds of loose wires with cards between; the host is frozen for all of it, so all must fit."""
    loose = [("lid", "open"), ("lanes", "low"), ("ambient", "dazzled"), ("seats", "node 5 absent"), ("tamper", "open")]
    host.frozen = True
    dealt = []
    for name, (part, how) in zip(FIFTY_TWO[:30], itertools.cycle(loose), strict=False):
        shoe.fail(part, how)
        shoe.rest(350)
        shoe.mend()
        shoe.pull(name, arrives=False)
        dealt.append(card_number(name))
        shoe.rest(300)
    host.frozen = False
    host.wait_for(lambda: len(cards(host)) == len(dealt), "every card")
    assert cards(host) == dealt
    told = [event for event in host.events if isinstance(event, schema.Fault | schema.Clear)]
    print(f"{len(told)} faults and ends in 20 s of five loose wires")
    assert len(told) <= 60
    assert faults(host) >= {"LID", "LANES", "DAZZLE", "TAMPER"}


def test_everything_fails_at_once_and_the_shoe_still_answers_and_names_it(shoe: EmulatedShoe, host: HostEnd) -> None:
    everything = {
        "fram": "stuck", "lanes": "open", "light": "saturated", "ambient": "dazzled", "keys": "between", "lid": "open",
        "tamper": "open", "supply": "dead", "heads": "dark", "seats": "bus shorted",
    }  # fmt: skip
    for part, how in everything.items():
        assert (part, how) in FAILURES
        shoe.fail(part, how)
    shoe.rest(3_000)
    named(shoe, host, *{TABLE[part, how].fault for part, how in everything.items()})
    host.events.clear()
    shoe.pull("Qs", arrives=False)
    host.wait_for(lambda: len(cards(host)) == 1, "the card that left")
    assert cards(host) == [None]
    shoe.mend()
    shoe.rest(4_000)
    ends = {TABLE[part, how].fault for part, how in everything.items()} - {"FRAM", "SEAT_BUS"}
    host.wait_for(
        lambda: {NAMES[e.code] for e in host.events if isinstance(e, schema.Clear)} >= ends, "the ends of all of them"
    )
    host.events.clear()
    shoe.pull("2c", arrives=False)
    host.wait_for(lambda: cards(host) == [card_number("2c")], "a card that is read")


@pytest.mark.parametrize("seed", range(3))
def test_three_random_parts_at_random_moments_of_ten_cards(seed: int, shoe: EmulatedShoe, host: HostEnd) -> None:
    """No card is told that did not leave, none is told as another, and what can be read is, once all is well again."""
    rng = random.Random(seed)
    ways = [one for one in FAILURES if one[0] not in ("sampler",) and TABLE[one].in_use]
    dealt: list[int] = []
    for name in FIFTY_TWO[:10]:
        if rng.random() < 0.4:
            shoe.mend()
        if rng.random() < 0.6:
            shoe.fail(*rng.choice(ways))
        shoe.rest(rng.choice((50, 400, 2_300)))
        if rng.random() < 0.3:
            shoe.deck.insert(0, printed(name))
            shoe.draw(rng.uniform(4.0, 50.0))
            shoe.fail(*rng.choice(ways))
            shoe.finish(arrives=False)
        else:
            shoe.pull(name, arrives=False)
        dealt.append(card_number(name))
    shoe.mend()
    shoe.rest(3_000)
    shoe.quiet()
    left = iter(dealt)
    for told in cards(host):
        assert told is None or told in left, (told, dealt)  # in their order
    assert len(cards(host)) <= len(dealt) + 1
    host.events.clear()
    for name in ("As", "Ks"):
        shoe.pull(name, arrives=False)
    host.wait_for(lambda: cards(host)[-1:] == [card_number("Ks")], "a card that is read")
    assert set(cards(host)) <= {None, card_number("As"), card_number("Ks")}
