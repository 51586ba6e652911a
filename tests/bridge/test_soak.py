"""A short soak: the emulated shoe deals random hands with faults at the real bridge, and says what came of them."""

from __future__ import annotations

import random
from collections import Counter
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from dealershoe.deck.cards import card_number
from dealershoe.emulate.command import command
from dealershoe.emulate.mechanics import printed
from dealershoe.emulate.soak import FAULTS, Soak, Soaked
from dealershoe.errors import UserError
from shoelink import schema

bench: Any = import_module("bench.bench_soak")
NO_SHOE: Any = SimpleNamespace(line=SimpleNamespace(on_frame=None))


def test_a_soak_at_the_bridge_finds_nothing_wrong() -> None:
    figures = {figure["name"]: figure for figure in bench.figures(0.3)}
    for name in ("soak_misreads", "soak_noreads", "soak_false_alarms", "soak_faults_missed", "soak_cards_lost"):
        assert figures[name]["ok"], figures[name]
    assert figures["soak_answer_p99_ms"]["value"] > 0


def told(fault: str, **changed: Any) -> Counter[str]:
    """What a soak counts when this is reported of the 7d that this fault befell."""
    fine = schema.Card(1, 1, bytes(4), schema.word(card_number("7d")), 0, schema.WAY_DOWN, 0, 0, 0, 0, 1000, 0)
    soak = Soak(NO_SHOE, lambda line: None)
    soak._heard.append(fine._replace(**changed))
    soak._judge(printed("7d"), fault)
    return +soak.result.counts


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
