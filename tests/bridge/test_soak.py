"""A short soak: the emulated shoe deals random hands with faults at the real bridge, and says what came of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from dealershoe.deck.cards import card_number
from dealershoe.emulate.command import command
from dealershoe.emulate.mechanics import printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.sniffer import Heard
from dealershoe.emulate.soak import FAULTS, Soak, Soaked
from dealershoe.errors import UserError
from hil.hostend import HostEnd
from shoelink import schema

bench: Any = import_module("bench.bench_soak")
NO_SHOE: Any = SimpleNamespace(line=SimpleNamespace(on_frame=None))


def test_a_soak_at_the_bridge_finds_nothing_wrong() -> None:
    figures = {figure["name"]: figure for figure in bench.figures(0.3)}
    for name in ("misreads", "noreads", "false_alarms", "faults_missed", "cards_lost", "cards_out_of_nothing"):
        assert figures[f"soak_{name}"]["ok"], figures[f"soak_{name}"]
    assert figures["soak_answer_p99_ms"]["value"] > 0


def told(fault: str, **changed: Any) -> Counter[str]:
    """What a soak counts when this is reported of the 7d that this fault befell."""
    fine = schema.Card(1, 1, bytes(4), schema.word(card_number("7d")), 0, schema.WAY_DOWN, 0, 0, 0, 0, 1000, 0)
    soak = Soak(NO_SHOE, lambda line: None)
    soak._heard.append(fine._replace(**changed))
    soak._judge(printed("7d"), fault)
    return +soak.result.counts


def soak_of(*messages: Any, fault: str = "clean", open_already: int = 0) -> Counter[str]:
    """What a soak counts when this is heard while the 7d passes."""
    soak = Soak(NO_SHOE, lambda line: None)
    soak._open.add(open_already)
    for number, message in enumerate(messages):
        soak._hear(Heard(False, schema.KIND_OF[type(message)], number, message))
    soak._judge(printed("7d"), fault)
    return +soak.result.counts


FINE = schema.Card(1, 1, bytes(4), schema.word(card_number("7d")), 0, schema.WAY_DOWN, 0, 0, 0, 0, 1000, 0)
LID = schema.Fault(bytes(4), schema.FAULT_LID, 0)
DAZZLED = schema.Fault(bytes(4), schema.FAULT_DAZZLE, 0)


def test_what_else_is_told_with_a_card_is_counted() -> None:
    wrong = FINE._replace(token=schema.word(3))
    assert soak_of(FINE) == {}
    assert soak_of(FINE, wrong) == {"phantom": 1}  # a second card that was not
    assert soak_of(wrong, FINE) == {"misread": 1, "phantom": 1}
    assert soak_of(FINE._replace(deck=2)) == {"misread": 1}
    assert soak_of(FINE, schema.CardBack(1, 1, bytes(4), 635)) == {"phantom": 1}
    for fault in ("clean", "dirty", "boxed", "double", "unread", "dazzled"):
        assert soak_of(FINE, LID, fault=fault)["false alarm"] == 1, fault


def test_a_fault_that_stands_is_told_and_one_that_is_over_is_not() -> None:
    assert soak_of(FINE, DAZZLED, fault="dazzled") == {}
    assert soak_of(FINE, fault="dazzled", open_already=schema.FAULT_DAZZLE) == {}
    clear = schema.Clear(bytes(4), schema.FAULT_DAZZLE, 0)
    assert soak_of(clear, FINE, fault="dazzled", open_already=schema.FAULT_DAZZLE) == {"missed": 1}


def test_an_event_that_is_sent_again_is_one() -> None:
    soak = Soak(NO_SHOE, lambda line: None)
    for number in (5, 5, 5):
        soak._hear(Heard(False, schema.CARD, number, FINE))
    soak._judge(printed("7d"), "clean")
    assert +soak.result.counts == {}


def test_what_is_told_between_two_cards_is_of_nothing() -> None:
    soak = Soak(NO_SHOE, lambda line: None)
    told: list[Any] = [FINE, LID, schema.Clear(bytes(4), schema.FAULT_LID, 0)]
    for number, message in enumerate(told):
        soak._hear(Heard(False, schema.KIND_OF[type(message)], number, message))
    soak._judge_rest()
    assert +soak.result.counts == {"phantom": 1, "false alarm": 1}


def test_a_card_that_reads_as_another_is_a_misread_through_the_real_firmware() -> None:
    """The strip of a 2c on a 7d, that is: a reading which is not what was pulled."""
    with EmulatedShoe([printed("7d"), printed("8d")], pace="fast", opened=True) as shoe, HostEnd(shoe.port):
        soak = Soak(shoe, lambda line: None, seed=3)
        soak._random = SimpleNamespace(choices=lambda *_: ["clean"], uniform=lambda low, high: low)  # type: ignore[assignment]
        soak._card("board")
        assert +soak.result.counts == {"cards": 1}
        shoe.deck[0] = replace(printed("8d"), ends=printed("2c").ends)
        soak._card("board")
        assert +soak.result.counts == {"cards": 2, "misread": 1}


@pytest.mark.parametrize(
    ("fault", "changed", "counted"),
    [
        ("clean", {}, {}),
        ("clean", {"token": schema.word(3)}, {"misread": 1}),
        ("clean", {"token": schema.TOKEN_UNREAD, "flags": schema.CARD_UNREAD}, {"no-read": 1, "false alarm": 1}),
        ("turned", {"flags": schema.CARD_DOUBLE}, {"false alarm": 1}),
        ("boxed", {"way_up": schema.WAY_UP}, {}),
        ("boxed", {}, {"missed": 1}),
        ("double", {}, {"missed": 1}),
        ("unread", {}, {"misread": 1, "missed": 1}),
        ("dirty", {"token": schema.TOKEN_UNREAD, "flags": schema.CARD_UNREAD}, {}),
        ("half-drawn", {}, {"missed": 1}),
    ],
)
def test_what_is_held_against_a_report(fault: str, changed: dict[str, Any], counted: dict[str, int]) -> None:
    assert told(fault, **changed) == counted


def test_a_card_that_is_not_told_is_lost() -> None:
    soak = Soak(NO_SHOE, lambda line: None)
    soak._judge(printed("7d"), "clean")
    assert soak.result.counts["lost"] == 1


def test_every_fault_can_befall_a_card_and_most_cards_are_clean() -> None:
    assert 0 < sum(FAULTS.values()) < 500  # of a thousand
    rng = random.Random(1)
    assert set(rng.choices(list(FAULTS), list(FAULTS.values()), k=5000)) == set(FAULTS)


def test_the_report_says_it_all() -> None:
    soaked = Soaked(answered_ms=[float(ms) for ms in range(1, 101)], free=[90, 70, 80], virtual_s=90.0)
    text = "\n".join(soaked.lines())
    assert "1.5 min on the shoe's clock" in text
    assert "p99 100.0 ms, worst 100.0 ms" in text
    assert "first 90, least 70, last 80 bytes" in text


def test_a_script_and_a_soak_are_not_for_one_shoe() -> None:
    with pytest.raises(UserError, match="a soak deals hands"):
        CliRunner().invoke(command, ["some.deal", "--soak", "1"], catch_exceptions=False)
