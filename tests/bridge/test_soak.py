"""A short soak: the emulated shoe deals random hands with faults at the real bridge, and says what came of them."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dealershoe.deck.cards import card_number
from dealershoe.emulate.command import command
from dealershoe.emulate.mechanics import printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.sniffer import Heard
from dealershoe.emulate.soak import BAD, FAULTS, PAIR, STATS_S, Soak, Soaked
from dealershoe.errors import UserError
from hil.hostend import HostEnd
from shoelink import schema

emulate_command: Any = import_module("dealershoe.emulate.command")
bench: Any = import_module("bench.bench_soak")
NO_SHOE: Any = SimpleNamespace(line=SimpleNamespace(on_frame=None))


def test_a_soak_at_the_bridge_finds_nothing_wrong() -> None:
    figures = {figure["name"]: figure for figure in bench.figures(0.3)}
    for name in ("misreads", "noreads", "false_alarms", "faults_missed", "cards_lost", "cards_out_of_nothing"):
        assert figures[f"soak_{name}"]["ok"], figures[f"soak_{name}"]
    assert figures["soak_cards_a_hand"]["ok"], figures["soak_cards_a_hand"]
    assert figures["soak_answer_p99_ms"]["value"] > 0


def test_a_soak_at_a_host_that_judges_nothing_is_refused(tmp_path: Path) -> None:
    """Without --open the bridge judges nothing at an open shoe: one card a hand, and all counts are 0."""
    port, said = tmp_path / "shoe", tmp_path / "said"
    os.mkfifo(said)
    emulate = ["emulate", "--soak", "60", "--pace", "fast", "--link", str(port), "--say", str(said)]
    with subprocess.Popen([*bench.MAIN, *emulate], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shoe:
        assert shoe.stdout is not None
        assert shoe.stdout.readline() == f"port {port}\n"
        run = [*bench.MAIN, "run", "--port", str(port), "--journal", str(tmp_path / "journal")]
        with said.open() as lines, subprocess.Popen(run, stdin=lines, stdout=subprocess.DEVNULL) as bridge:
            output, errors = shoe.communicate(timeout=60)
            bridge.terminate()
    assert shoe.returncode == 2
    assert re.fullmatch(r"dealershoe: 6 hands on end brought fewer than 9 cards each, \d+ in all: .*\n", errors)
    assert "without --open" in errors
    assert "run --port shoe --open" in errors
    assert "misreads" not in output  # no report that says all is well


def test_the_bench_wants_a_sensible_number_of_cards_a_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    for cards, ok in ((433, True), (19, False)):
        well = Soaked(counts=Counter(hands=19, cards=cards, whole=1), answered_ms=[1.0])
        monkeypatch.setattr(bench, "soaked", lambda minutes, well=well: "\n".join(well.lines()))
        figures = {figure["name"]: figure["ok"] for figure in bench.figures(1.0)}
        assert figures["soak_cards_a_hand"] is ok
        assert figures["soak_misreads"] is True


@pytest.mark.parametrize("bad", BAD)
def test_whatever_is_bad_makes_the_exit_status_1(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert soak_with(Counter(hands=1, cards=26, whole=1), monkeypatch).exit_code == 0
    found = soak_with(Counter({"hands": 1, "cards": 26, "whole": 1, bad: 1}), monkeypatch)
    assert found.exit_code == 1
    assert f"{BAD[bad]} 1" in found.stdout


def test_a_soak_that_is_broken_off_before_a_hand_has_proven_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    few = soak_with(Counter(hands=2, cards=2), monkeypatch)
    assert "0 of them with 9 cards or more" in few.stdout
    assert few.exit_code == 1
    none = soak_with(Counter(), monkeypatch)
    assert none.stdout.splitlines()[1:] == ["nothing was dealt"]
    assert none.exit_code == 1


def soak_with(counts: Counter[str], monkeypatch: pytest.MonkeyPatch) -> Result:
    """`emulate --soak` whose host is there, and which Ctrl-C ends when so much has been counted."""

    def run(soak: Soak, *_: object) -> None:
        soak.result.counts.update(counts)
        raise KeyboardInterrupt

    monkeypatch.setattr(emulate_command, "_wait_for_host", lambda *_: None)
    monkeypatch.setattr(Soak, "run", run)
    return CliRunner().invoke(command, ["--soak", "1", "--pace", "fast"], catch_exceptions=False)


def test_ctrl_c_before_a_host_came_says_that_nothing_was_dealt() -> None:
    soak = [*bench.MAIN, "emulate", "--soak", "1"]
    with subprocess.Popen(soak, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shoe:
        assert shoe.stdout is not None
        while "waiting for a host" not in shoe.stdout.readline():
            assert shoe.poll() is None
        shoe.send_signal(signal.SIGINT)
        assert shoe.communicate(timeout=30) == ("nothing was dealt\n", "")
    assert shoe.returncode == 1


@pytest.mark.parametrize("minutes", ["nan", "inf", "-inf", "0", "-1", "1e+12", "43201"])
def test_what_is_no_length_of_a_soak_is_refused(minutes: str) -> None:
    with pytest.raises(UserError) as refused:
        CliRunner().invoke(command, ["--soak", minutes], catch_exceptions=False)
    assert str(refused.value) == (
        f"`--soak {minutes}` is no length for a soak; "
        "give minutes, more than 0 and at most 43200 (30 days); Ctrl-C ends it too"
    )


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["some.deal"], "a script"),
        (["--fault", "boxed@2"], "--fault"),
        (["--rules", "tda-2024+house"], "--rules"),
        (["--no-wait"], "--no-wait"),
        (["-v"], "--verbose"),
        (["-v", "--no-wait"], "--no-wait and --verbose"),
    ],
)
def test_what_means_nothing_to_a_soak_is_refused(given: list[str], named: str) -> None:
    with pytest.raises(UserError, match=f"a soak deals hands.*; {named} would do nothing"):
        CliRunner().invoke(command, ["--soak", "1", *given], catch_exceptions=False)


def test_the_help_names_both_ends_of_a_soak() -> None:
    said = CliRunner().invoke(command, ["--help"]).stdout
    for end in PAIR:
        assert end in said
    assert " --open " in PAIR[0]


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
    soaked = Soaked(
        counts=Counter(hands=3, whole=2, cards=60),
        answered_ms=[float(ms) for ms in range(1, 101)],
        free=[70, 90, 60, 50, 80, 80, 85, 40],
        virtual_s=90.0,
    )
    text = "\n".join(soaked.lines())
    assert "1.5 min on the shoe's clock: 3 hands, 2 of them with 9 cards or more, 60 cards" in text
    assert "p99 100.0 ms, worst 100.0 ms" in text
    assert "90 bytes at most in the first quarter, 85 in the last; 40 at least" in text
    soaked.free.clear()  # a short one: nothing is left out in silence
    assert soaked.lines()[-1].startswith("free memory of the shoe: it says how much each 5 s, and this soak took less")


def test_the_shoe_says_how_much_memory_is_free_as_often_as_a_soak_says() -> None:
    assert import_module("shoe.loop").STATS_MS == 1000 * STATS_S
