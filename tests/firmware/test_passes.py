"""A few thousand of the simulated passes, the parts they are made of, and what they prove nothing without."""

from __future__ import annotations

import random
import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from firmware.hand import SAMPLE_MS, G, Hand
from firmware.kept_parts import KeptParts
from firmware.listening import Left, told_of
from firmware.magnitudes import Magnitudes
from firmware.optics import BEFORE, GRAIN, Paper, Press, Window, covered, spot
from firmware.passes import KINDS, Maker, Reader, fast, run, run_doubles, scan_changes, total, totals
from firmware.physics import HEAD_AT, cell_at

from firmware import kept_parts, passes

edges: Any = import_module("shoe.edges")
bench: Any = import_module("bench.bench_card_code")
HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "hardware" / "card-code.md"
SIZE = Magnitudes()
PASSES = 1500
KINDS_TOLD = len(KINDS) + 3  # flash, rest and drawn back are told apart by whether the card was soiled


def made(seed: int, number: int) -> list[bytes]:
    maker = Maker(seed)
    kinds = list(KINDS)
    return [maker.make(kinds[i % len(kinds)]).samples for i in range(number)]


@pytest.fixture(scope="module")
def counted() -> Counter[str]:
    with fast():
        return run(2026, PASSES)


# ---- what they say


def test_no_card_is_taken_for_another(counted: Counter[str]) -> None:
    print(dict(sorted(counted.items())))
    assert total(counted, "passes") == PASSES
    assert total(counted, "misread") == total(counted, "boxed misread") == 0
    assert total(counted, "right") > PASSES // 2  # or the run would prove nothing


def test_clean_cards_are_read_and_boxed_ones_found(counted: Counter[str]) -> None:
    assert counted["clean unread"] == 0
    assert counted["clean right"] == counted["clean cards"] > PASSES // 4
    assert counted["clean boxed found"] == counted["clean boxed"] > 0
    assert total(counted, "boxed taken for face down") == 0


def test_two_cards_close_behind_each_other_are_two(counted: Counter[str]) -> None:
    assert counted["close doubted"] == 0
    assert counted["close right"] + counted["close unread"] == counted["close cards"] > 0


def test_the_same_run_misreads_without_the_checks() -> None:
    with fast(("crc", "complement")):
        blind = run(2026, PASSES)
    with fast(("crc",)):
        trusting = run(2026, PASSES)
    assert total(trusting, "misread") > 0
    assert total(blind, "misread") > total(trusting, "misread")
    assert blind["clean misread"] == 0  # what is wrong comes from dirt, not from a broken reader


def test_doubles_are_found_and_single_cards_are_not() -> None:
    with fast():
        count = run_doubles(5, 400)
    assert count["double told as two"] == count["double passes"] == 400
    assert count["soiled-double passes"] == 400
    assert count["soiled-double told as two"] == 400
    for kind in ("resting-double", "turned-double"):
        assert count[f"{kind} passes"] + count[f"{kind}-soiled passes"] == 400
        assert count[f"{kind} told as two"] == count[f"{kind} passes"] > count[f"{kind}-soiled passes"] > 0
        assert count[f"{kind}-soiled told as two"] >= count[f"{kind}-soiled passes"] - 1
    assert total(count, "misread") == 0
    assert count["single told as two"] == 0
    assert count["single passes"] == 400


def test_the_counts_do_not_depend_on_the_number_of_processes() -> None:
    assert totals(40, 10, seed=3) == totals(40, 10, seed=3, processes=2)


def test_a_run_that_was_cut_off_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "parts"
    whole = totals(30, 5, seed=3)
    assert totals(30, seed=3, keep=file) + totals(0, 5, seed=3, keep=file) == whole
    file.write_text(file.read_text()[:-9])  # killed while it wrote its last part
    assert totals(30, 5, seed=3, keep=file) == whole
    assert len(KeptParts(file)) == 2
    monkeypatch.setattr(passes, "part", None)  # nothing is run any more
    assert totals(30, 5, seed=3, keep=file) == whole
    monkeypatch.setattr(kept_parts, "digest", lambda: "another decoder")
    assert len(KeptParts(file)) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--passes", "-5"), "'-5' is no whole number from 0 on"),
        (("--processes", "0"), "'0' is no whole number from 1 on"),
        (("--passes", "1e6"), "'1e6' is no whole number"),
        (("--passes", "1", "--keep", "."), "cannot keep the parts of a run"),
    ],
)
def test_a_run_that_cannot_be_is_refused_in_a_sentence(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["passes.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        passes.main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_file_of_something_else_has_no_parts(tmp_path: Path) -> None:
    file = tmp_path / "parts"
    file.write_text('7\n["digest"]\n{"digest": null}\nhearts\n')
    assert len(KeptParts(file)) == 0


def test_the_figures_of_the_page_are_of_this_decoder_and_these_physics() -> None:
    """After a change of either: run the million passes again (`passes.py` says how), and write down what they say."""
    page = PAGE.read_text()
    assert re.findall(r"the digest `([0-9a-f]+)`", page.replace("\n", " ")) == [kept_parts.digest()]
    rows = [
        [int(cell.split()[0].replace(",", "")) if cell.strip()[:1].isdigit() else 0 for cell in row.split("|")[2:7]]
        for row in re.findall(r"^\| .*", page[page.index("| kind | cards |") :].split("\n\n")[0], re.MULTILINE)[2:]
    ]
    cards = sum(row[0] for row in rows[:KINDS_TOLD])
    assert f"{cards:,} cards" in page
    assert all(row[0] == row[1] + row[2] for row in rows[:KINDS_TOLD])  # each right or unread, so none misread
    assert sum(row[3] for row in rows) == 0
    found = re.findall(r"^\| (.*?) \| ([\d,]+) pairs .* told as two: ([\d,]+) ", page, re.MULTILINE)
    doubles = [(name, int(pairs.replace(",", "")), int(told.replace(",", ""))) for name, pairs, told in found]
    assert len(doubles) == 6  # in one go, at rest, drawn back; and the same with a soiled card
    for name, pairs, told in doubles:
        assert told >= (0.998 if "soiled" in name else 0.999) * pairs, name
    assert sum(told for *_, told in doubles) >= 0.999 * sum(pairs for _, pairs, _ in doubles)
    clean, unread = rows[0][0], rows[0][2]
    assert f"unread in {unread} of {clean:,}" in page
    assert bench.most(unread) / clean <= bench.NOREADS


@pytest.mark.parametrize(
    ("seen", "of", "said"),
    [
        (0, 119_000, None),  # 3 / n, the bound of none seen, is 2.52e-5
        (0, 120_000, True),
        (1, 420_000, True),
        (3, 120_000, None),  # just the rate, so half the chance that it is above
        (9, 120_000, False),
        (1, 2_500, None),  # one in 2,500 happens once in 16 times at this rate
        (4, 2_500, False),
    ],
)
def test_a_rate_is_reached_with_95_percent_confidence_or_not_said(seen: int, of: int, said: bool | None) -> None:
    assert bench.reached(seen, of, 2.5e-5) is said


def test_the_bounds_are_those_of_the_poisson_tables() -> None:
    # Pearson & Hartley, Biometrika Tables I, table 40: one-sided 95 % limits of a Poisson mean
    assert [round(bench.most(seen), 2) for seen in (0, 1, 2, 5, 10)] == [3.00, 4.74, 6.30, 10.51, 16.96]
    assert [round(bench.least(seen), 3) for seen in (0, 1, 2, 5, 10)] == [0.0, 0.051, 0.355, 1.970, 5.425]


# ---- what they are made of


def test_the_quick_scan_finds_the_same_edges() -> None:
    for samples in made(1, 40):
        n = len(samples)
        plain, quick = edges.new_state(), edges.new_state()
        a, b = edges.new_out(n), edges.new_out(n)
        assert edges.scan_python(samples, n, plain, a) == scan_changes(samples, n, quick, b)
        assert (a, plain) == (b, quick)


def test_the_reader_hears_what_the_firmware_tells_in_small_chunks() -> None:
    for samples in made(2, 40):
        with fast():
            heard = Reader().feed(samples)
        left = [told for told in told_of(samples + bytes(8), [37, 256, 1]) if isinstance(told, Left)]
        assert [(one.code, one.double) for one in heard] == [
            (None if one.card is None else (one.card, one.deck), one.double) for one in left
        ]


@pytest.mark.parametrize("seed", range(20))
def test_a_hand_keeps_within_speed_acceleration_and_jerk(seed: int) -> None:
    places = Hand(random.Random(seed), SIZE).draw(120)
    speed = np.diff(places) / SAMPLE_MS
    low, high = SIZE.range("speed")
    assert low - 1e-6 <= speed.min() <= speed.max() <= high + 1e-6
    pull = np.diff(speed) / SAMPLE_MS
    assert abs(pull).max() <= SIZE.high("acceleration") * G * 1.001
    jerk = np.diff(pull) / SAMPLE_MS  # where two bends meet it may be that of both
    assert abs(jerk).max() <= 8 * SIZE.high("acceleration") * G / SIZE.range("swing")[0]
    assert places[0] < 0
    assert places[-1] > 120


def test_a_hand_turns_back_at_every_cell() -> None:
    hand = Hand(random.Random(3), SIZE)
    for cell in range(-1, 19):
        there = HEAD_AT + cell_at(cell) + 1.0
        places = hand.halting(120, there, back=True)
        turns = [places[i] for i in range(1, len(places) - 1) if places[i - 1] < places[i] > places[i + 1]]
        rests = np.flatnonzero(abs(np.diff(places)) < 1e-9)
        assert abs(np.array([*turns, *places[rests]]) - there).min() < 0.2
        assert places.max() > 120
        assert np.diff(places).min() < 0


def test_a_spot_blurs_what_is_under_it() -> None:
    """Under a spot as wide as the mark the dark is not black and the light beside it is not white."""
    row = np.convolve(covered([(20.0, 21.25)]), spot(8.0), "same")
    middle, beside = (row[round((at + BEFORE) / GRAIN)] for at in (20.625, 22.0))
    # Gaussian of 0.4 mm: erf(0.625 / (0.4 √2)) = 0.882; beside, 0.75 to 2.0 mm away: 0.030
    assert middle == pytest.approx(0.882, abs=0.01)
    assert beside == pytest.approx(0.030, abs=0.01)


@pytest.mark.parametrize("above", [False, True])
def test_the_card_nearest_to_a_head_hides_the_other_from_it(above: bool) -> None:
    """Two cards, the second 30 mm behind. Below, the first that is given is seen; above, the last."""
    rng = random.Random(5)
    press = Press(rng, SIZE)
    window = Window(rng, SIZE)
    coded, plain = press.edge((21, 0), boxed=above), press.edge(None, boxed=above)
    clock = 8 if above else 1

    def marks(pair: list[tuple[Paper, float]]) -> int:
        samples = np.frombuffer(window.samples(pair, np.arange(-5.0, 150.0, 0.04)), np.uint8)
        return int((np.diff((samples & clock).astype(int)) > 0).sum())

    hides = [(plain, 0.0), (coded, 30.0)]
    shows = [(coded, 30.0), (plain, 0.0)]
    if above:
        hides, shows = shows, hides
    assert marks(shows) == 18
    # of the second card all up to 33.5 mm is under the first: of its cells the ten from 34.25 mm on are left
    assert marks(hides) in (8, 9)


def test_coverage_counts_overlapping_stretches_once() -> None:
    row = covered([(10.0, 11.0), (10.5, 11.02), (12.0, 12.0)])
    assert row.sum() * GRAIN == pytest.approx(1.02, abs=1e-5)
    assert row.max() == pytest.approx(1.0, abs=1e-5)


def test_every_magnitude_has_a_source_and_is_used() -> None:
    texts = "".join((HERE / name).read_text() for name in ("hand.py", "optics.py", "passes.py"))
    for name, entry in SIZE.table.items():
        assert entry["unit"], name
        assert entry["source"].startswith(("assumption: ", "QRE1113/D: ", "hardware/", "the range", "a turn")), name
        assert f'"{name}"' in texts, f"{name} is used nowhere"
