"""The variant rfid on the emulated Pico: stock MicroPython, our .mpy files, a PN5180 on the emulated SPI.

As `test_pico.py`, which has the same budgets for the other variant, and wants the same .uf2 in HIL_PICO_UF2. All times
are emulated and repeat exactly; flash waits are not in them, so silicon is slower.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from dealershoe.deck.cards import card_number
from dealershoe.deck.strip import TRAVEL
from dealershoe.emulate.mechanics import READER_AT, READER_REACH, plain, printed
from dealershoe.emulate.parts.fram import Fram
from dealershoe.emulate.parts.pn5180 import Pn5180, uid_of
from firmware.physics import Card, Scene, ride
from hil.emulated_pico import SAMPLE_NS, EmulatedPico, compiled, file_system
from hil.pico_reader import plug_reader
from hil.pico_shoe import PicoShoe, booted, plug_fram
from hil.test_pico import (
    DEALING_NS,
    GAP_MS,
    PHASE,
    ROOT,
    SHOELINK,
    UF2,
    assert_in_time,
    entered,
    firmware_image,
    needs_uf2,
    plain_light,
    soiled_pair,
    timed,
    written,
)
from shoelink import schema

TAG, OTHER = 52, 77
STEP_US = 450  # one of the reader's steps at most, with what the tags make of it
PASSED_US = 350  # what the tags add to the decoding of a card
PHASES = 4


@pytest.fixture(scope="module")
def shoe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PicoShoe]:
    """As `enrolled` of test_pico.py: a key, and a journal that has been full."""
    key = bytes(range(32))
    image = firmware_image(tmp_path_factory.mktemp("rfid"), key, "rfid")
    shoe = booted(Path(UF2), image, key, written(), Pn5180())
    print(f"its loop runs at {shoe.host.first_ns / 1e6:.0f} ms, the link is up at {shoe.up_ns / 1e6:.0f}")
    assert 0 < shoe.host.first_ns <= DEALING_NS
    shoe.fresh()
    yield shoe
    assert b"Traceback" not in shoe.pico.console, shoe.pico.console.decode()


def faults(shoe: PicoShoe) -> list[object]:
    return [event for event in shoe.host.events if isinstance(event, schema.Fault)]


@needs_uf2
def test_a_tag_is_read_within_one_pass_of_a_card_at_1_m_s(shoe: PicoShoe) -> None:
    """Whatever the loop was at when it came: learned from the first card, told of those that cannot be read; one of
    them comes 30 ms behind the one before."""
    reader = shoe.reader
    assert reader is not None
    assert reader.field_ons == 1
    shoe.pull(printed("As", tag=TAG), arrives=False, speed=1.0)
    (card,) = shoe.host.next(schema.Card)
    assert (schema.value(card.token), card.flags) == (card_number("As"), 0)
    shoe.run_ms(GAP_MS)
    for phase in range(PHASES):
        shoe.run_ms(phase * PHASE * SAMPLE_NS / 1e6 + (GAP_MS if phase % 2 else 0))
        heard = reader.heard
        shoe.pull(replace(plain("As"), tag=TAG), arrives=False, speed=1.0)
        (card,) = shoe.host.next(schema.Card)
        print(f"{phase}: {reader.heard - heard} requests while the card passed")
        assert (schema.value(card.token), card.flags) == (card_number("As"), schema.CARD_BY_TAG)
        assert (card.deck, card.way_up) == (0, schema.WAY_UNKNOWN)
    assert reader.field_ons == 1  # never off between two requests
    assert faults(shoe) == []


class Pass(NamedTuple):
    """Cards, their tags, and how fast they are, m/s."""

    cards: list[tuple[Card, float]]
    tags: tuple[int, ...]
    speed: float


PASSES = {
    "unread, at 1 m/s": Pass([(Card(), 0.0)], (TAG,), 1.0),
    "unread, at 3 m/s": Pass([(Card(), 0.0)], (TAG,), 3.0),
    "two, soiled, at 3 m/s": Pass(soiled_pair(), (TAG, OTHER), 3.0),
}


@needs_uf2
@pytest.mark.parametrize("what", PASSES)
def test_with_the_reader_asking_a_card_is_decoded_within_5_ms_and_lit_within_10(shoe: PicoShoe, what: str) -> None:
    """The tags come over the loop as the cards do, or at 3 m/s are there from the throat on: so there is an answer."""
    reader, (cards, tags, speed) = shoe.reader, PASSES[what]
    assert reader is not None
    samples, found = Scene(cards).samples(ride([(cards[-1][1] + 110, 1000 * speed, 1000 * speed)])), []
    over = TRAVEL / 2 + READER_AT
    comes, goes = (entered(samples) + mm / speed / 0.05 for mm in (over - READER_REACH, over + READER_REACH))
    if speed > 1:
        comes = entered(samples)

    def move(how: str) -> None:
        for tag in tags:
            getattr(reader, how)(uid_of(tag), int(shoe.pico.ns / 1000))

    enter, leave = shoe.pico.alarm(partial(move, "enter")), shoe.pico.alarm(partial(move, "leave"))
    for phase in range(PHASES):
        plain_light(shoe)
        shoe.host.want(schema.Due(0, 100 + shoe.hand, schema.DUE_SEAT, 1 + phase, 1))
        shoe.host.turn()
        enter.schedule((phase * PHASE + comes) * SAMPLE_NS)
        leave.schedule((phase * PHASE + goes) * SAMPLE_NS)
        found.append((phase, timed(shoe, bytes(phase * PHASE) + samples)))
        shoe.settle()
        shoe.run_ms(GAP_MS)
    assert_in_time(what, found)
    assert faults(shoe) == []


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """What `pico_rfid_budget.py` prints."""
    folder = tmp_path_factory.mktemp("budget")
    root = compiled([ROOT / "firmware"], folder)
    compiled([SHOELINK], root / "shoelink")
    shutil.copy(Path(__file__).with_name("pico_rfid_budget.py"), root / "main.py")
    pico, part = EmulatedPico(Path(UF2), file_system(root)), Pn5180()
    plug_fram(pico, Fram())
    plug_reader(pico, part)
    assert pico.run(lambda: b"go" in pico.sent or b"Error" in pico.console, emulated_s=5, wall_s=1500)
    part.enter(uid_of(TAG), int(pico.ns / 1000))
    pico.run(lambda: b" end" in pico.console or b"Error" in pico.console, emulated_s=5, wall_s=1500)
    said = pico.console.decode()
    print(said)
    assert " end" in said, said
    return [line.split() for line in said[: said.index(" end")].splitlines() if line]


@needs_uf2
def test_while_a_card_passes_nothing_is_allocated_and_each_step_is_short(budget: list[list[str]]) -> None:
    """The heap was locked while a tag was read again and again, and when its card had left: an allocation would have
    been a MemoryError. The first card was read and its pair kept, the second is told by its tag."""
    started, first, second, learned, told = budget
    assert started[:2] == ["started", "0"]
    print(f"the table is read in {int(started[2]) / 1000:.1f} ms, a pair is kept in {learned[1]} us")
    assert [first[1], second[1]] == ["-1", "51"]
    for card in (first, second):
        inventories, found, step_us, passed_us = map(int, card[2:])
        assert inventories >= 2
        assert found == 1
        assert 0 < step_us <= STEP_US
        assert 0 < passed_us <= PASSED_US
    assert learned[2] == "9"
    assert told[:2] == ["faults", "0"]
