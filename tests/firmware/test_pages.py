"""The pages in hardware/ say what the firmware does: signals against the code; tests/hardware has the pinout."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

signals: Any = import_module("shoe.signals")

ROOT = Path(__file__).resolve().parents[2]
COLOURS = {"white": "WHITE", "amber": "AMBER", "red": "RED", "blue": "BLUE", "magenta": "MAGENTA"}
CLASSES = ("READY", "OPEN", "ATTENTION", "STOP", "FLOOR", "ALIGN", "UNSUPERVISED", "FAULT")


def rows(page: str) -> dict[str, list[str]]:
    """The rows of the page's tables by their first cell."""
    lines = (ROOT / "hardware" / page).read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: row[1:] for row in cells}


def numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def outer_lamps(mask: int) -> set[int]:
    """First and last lamp of a block, as the page names it; none for all lamps or a pattern of many blocks."""
    lit = [lamp + 1 for lamp in range(8) if mask >> lamp & 1]
    return set() if len(lit) in (0, 8) or mask in (0xAA, 0x55) else {lit[0], lit[-1]}


@pytest.mark.parametrize("name", CLASSES)
def test_the_page_of_signals(name: str) -> None:
    colour, light, sound = signals.PATTERNS[getattr(signals, name)]
    said_colour, said_light, said_sound, _ = rows("signals.md")[name]
    assert getattr(signals, COLOURS[said_colour]) == colour
    steady = all(ms == 0 for _, ms in light)
    assert ("steady" in said_light) == steady
    expected = {ms for _, ms in light if ms}.union(*(outer_lamps(lamps) for lamps, _ in light))
    assert numbers(said_light) == expected
    hertz = {hz for hz, _ in sound if hz}
    assert hertz <= numbers(said_sound)
    assert (said_sound == "none") == (not sound)
