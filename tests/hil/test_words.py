"""Light and sound in plain words."""

from __future__ import annotations

import pytest
from dealershoe.emulate.words import Pixel, Watcher, colour, lamps

WHITE, AMBER, RED, BLUE, MAGENTA, DARK = (40, 40, 40), (90, 45, 0), (120, 0, 0), (0, 0, 90), (90, 0, 90), (0, 0, 0)


def bar(pattern: int, pixel: Pixel) -> tuple[Pixel, ...]:
    return tuple(pixel if pattern >> n & 1 else DARK for n in range(8))


@pytest.mark.parametrize(
    ("pixel", "name"),
    [(WHITE, "white"), (AMBER, "amber"), (RED, "red"), (BLUE, "blue"), (MAGENTA, "magenta"), (DARK, "dark"),
     ((0, 80, 0), "green"), ((0, 80, 80), "cyan")],
)  # fmt: skip
def test_a_colour_has_the_name_a_person_gives_it(pixel: Pixel, name: str) -> None:
    assert colour(pixel) == name


def test_lamps_are_named_by_their_number() -> None:
    assert lamps(bar(0xFF, WHITE)) == "white on all lamps"
    assert lamps(bar(0x3C, AMBER)) == "amber on lamps 3 to 6"
    assert lamps(bar(0x01, RED)) == "red on lamp 1"
    assert lamps(bar(0x00, RED)) == "dark"


def watched(steps: list[tuple[int, float]], pixel: Pixel, until: float = 3.0) -> str:
    watcher = Watcher()
    at = 0.0
    while at < until:
        for pattern, lasts in steps:
            watcher.light(at, bar(pattern, pixel))
            at += lasts
    return watcher.words(until).split(";")[0]


def test_rhythms_are_told_apart() -> None:
    assert watched([(0xFF, 10.0)], WHITE) == "light white on all lamps"
    assert watched([(0x3C, 0.6), (0x00, 0.6)], AMBER) == "light amber on lamps 3 to 6, flashing slowly"
    assert watched([(0xFF, 0.12), (0x00, 0.12)], RED) == "light red on all lamps, flashing fast"
    assert watched([(0xF0, 0.4), (0x0F, 0.4)], RED) == "light red on lamps 1 to 4 and red on lamps 5 to 8 in turn"
    assert watched([(1 << n, 0.025) for n in range(8)], WHITE) == "light white, running along the lamps"


def test_two_tones_are_both_told() -> None:
    watcher = Watcher()
    for at, hz in ((0.0, 880), (0.2, 660), (0.4, 880), (0.6, 0)):
        watcher.tone(at, hz)
    assert watcher.words(1.0).endswith("sound 880 Hz and 660 Hz")
    assert watcher.words(9.0).endswith("sound none")
