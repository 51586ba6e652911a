"""Two cards drawn as one that rest or turn about, and single cards that do so: which is which, and what is read.

Lengths are those of `hardware/card-code.md`: a code's cells of 2.5 mm begin 9.25 mm behind the leading edge of a card
of 63.5 mm. `test_passage.py` has those that are drawn in one go.
"""

from __future__ import annotations

from array import array
from importlib import import_module
from typing import Any

import pytest
from firmware.listening import Left, told_of
from firmware.pairs import hide
from firmware.physics import CELL, HEAD_AT, LENGTH, Scene, bits_of, cell_at, print_card, ride

cardcode: Any = import_module("shoe.cardcode")
strip_module: Any = import_module("shoe.strip")
twocards: Any = import_module("shoe.twocards")


def lefts(scene: Scene, places: list[float]) -> list[Left]:
    """The cards that are told to have left."""
    return [told for told in told_of(scene.samples(places)) if isinstance(told, Left)]


def rested(at: float, seconds: float = 0.1) -> list[float]:
    """A draw whose leading edge comes to rest so many mm past the throat slot, as a hand stops: within 10 mm."""
    return ride([(at - 5, 900, 900), (10, 900, 30), (0, seconds, 0), (10, 30, 900), (190 - at - 15, 900, 1100)])


@pytest.mark.parametrize("lag", [46, 50, 55, 60, 63.4])
@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize("below", [False, True])
def test_a_double_that_rests_on_any_cell_of_either_code_is_told(lag: float, boxed: bool, below: bool) -> None:
    """The cells of two codes are there, or all of one and the other's beginning or end. Less than 54.25 mm apart one
    code is not whole: where it rests about the margin between them, the light has time to tell."""
    first, second = print_card(11, 1, boxed=boxed), print_card(46, 2, boxed=boxed)
    pair = hide(first, second, lag, below)
    for code in (0.0, lag):
        for half in range(36):
            at = code + cell_at(0) + (half + 0.5) * CELL / 2
            if lag > 54.25 or not lag - 9 < at < LENGTH + 9:
                assert [left.double for left in lefts(pair, rested(HEAD_AT + at))] == [True], half


@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize("back", [5, 10, 15, 20, 30])
def test_a_card_that_turned_about_anywhere_is_no_two(back: float, boxed: bool) -> None:
    """It stops, is drawn back and comes again: in its code, and in the margins before and behind."""
    single = Scene([(print_card(30, 1, boxed=boxed), 0)])
    for half in range(-4, 40):
        at = HEAD_AT + cell_at(0) + (half + 0.5) * CELL / 2
        legs = [(at - 5, 900, 900), (10, 900, 30), (0, 0.05, 0), (-back / 2, 30, 600), (-back / 2, 600, 30)]
        places = ride([*legs, (0, 0.05, 0), (back, 30, 900), (150, 900, 1100)])
        assert [left.double for left in lefts(single, places)] == [False], half


@pytest.mark.parametrize(("end", "begin", "two"), [(3, 2, True), (1, 2, False), (3, 1, False)])
def test_a_stop_cell_a_margin_and_a_start_cell_are_two_cards_though_nothing_is_even(
    end: int, begin: int, two: bool
) -> None:
    """A rest elsewhere, and before and behind the margin a hand that changes its speed: no other look is sure there."""
    strip, mark, bits = strip_module.Strip(True), 18, [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1]
    kinds = [2, 4, 4, *bits, end, begin, *bits, 4, 4, 3]  # two cells of each are not clear: neither is read
    strip.marks = len(kinds)
    strip.kinds[: len(kinds)] = bytes(kinds)
    for at in range(2 * len(kinds)):
        strip.halves[at] = 20
    strip.halves[11] = 4000
    strip.halves[2 * mark - 6 : 2 * mark + 6] = array("H", (15, 60, 14, 40, 11, 30, 190, 50, 21, 15, 60, 14))
    reading = cardcode.Reading()
    assert reading.read(strip, strip.marks) == cardcode.UNREAD
    assert reading.two is two


@pytest.mark.parametrize("lag", [26, 30, 34, 45, 52])
def test_a_code_that_is_read_beside_another_card_s_marks_is_one_of_two_wherever_it_rests(lag: float) -> None:
    """The second card lies below, so the head sees the first one's beginning and all of the second: a margin and a
    whole code, whatever the hand does about it. (One that rests on its start cell is not read: the light tells.)"""
    first, second = print_card(11, 1), print_card(46, 2)
    pair = hide(first, second, lag, True)
    for half in range(-6, 36):
        places = rested(HEAD_AT + lag + cell_at(0) + (half + 0.5) * CELL / 2)
        (left,) = lefts(pair, places)
        assert left.double or (half == 0 and left.card is None), half


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("boxed", [False, True])
def test_a_card_that_rests_is_read(boxed: bool, mirrored: bool) -> None:
    """On any half cell but the outermost two, where the rest may have hidden an end."""
    single = Scene([(print_card(30, 1, boxed=boxed, mirrored=mirrored), 0)])
    for half in range(2, 34):
        places = rested(HEAD_AT + cell_at(0) + (half + 0.5) * CELL / 2)
        (left,) = lefts(single, places)
        assert (left.card, left.boxed, left.double) == (30, boxed, False), half


@pytest.mark.parametrize(
    ("back", "boxed"),
    [
        *((back, False) for back in ((22, 20, 12), (16, 10, 10), (20, 12, 15), (30, 20, 20), (10, 8, 8))),
        *((back, True) for back in ((24, 20, 18), (30, 20, 20), (16, 13, 13))),
    ],
)
def test_nor_is_one_that_turned_about_twice(back: tuple[float, float, float], boxed: bool) -> None:
    """Drawn back, out again some of the way, back once more and out, by two cells and more each time; boxed by four."""
    single = Scene([(print_card(30, 1, boxed=boxed), 0)])
    first, out, again = back
    for half in range(12, 40):
        at = HEAD_AT + cell_at(0) + (half + 0.5) * CELL / 2
        legs: list[tuple[float, float, float]] = [(at + 5, 500, 500)]
        for mm in (-first, out, -again):
            legs += [(0, 0.06, 0), (mm / 2, 30, 500), (mm / 2, 500, 30)]
        places = ride([*legs, (0, 0.06, 0), (20, 30, 900), (170, 900, 900)])
        assert [left.double for left in lefts(single, places)] == [False], half


EVEN, MARGIN = [20, 22, 21, 20], 190  # half cells, the nearest to a margin first; and the margin


@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [
        (EVEN, EVEN, True),
        ([20, 22, 55, 20], EVEN, True),  # one half is soiled
        (EVEN, [6, 20, 21, 20], True),  # ... or cut by the other card's edge
        ([20, 22, 55, 20], [6, 20, 21, 20], False),
        ([20, 22, 55, 5], EVEN, False),
        ([24, 31, 45, 90], EVEN, True),  # the hand comes to its stop there,
        (EVEN, [24, 31, 45, 90], True),  # or here
        ([24, 31, 45, 90], [24, 31, 45, 90], False),  # on both sides: the gap is the stop
        ([60, 31, 90, 40], EVEN, False),  # no fast hand that stops
        ([40, 24, 15, 8], EVEN, False),  # nor one that comes to rest in this gap
        ([45, 24, 20, 90], EVEN, False),
        ([20, 50, 130, 60], EVEN, False),  # nor one that is as slow as this beside it
        ([38, 9, 38, 9], EVEN, False),  # marks and gaps are of one length, within what a print may spread
        ([39, 39, 39, 39], EVEN, False),  # no margin is so short
        ([6, 6, 6, 6], EVEN, False),  # nor so long
    ],
)
def test_a_margin_is_even_on_one_side_at_least(before: list[int], behind: list[int], found: bool) -> None:
    halves = array("H", [21] * 8 + before[::-1] + [MARGIN] + behind + [21] * 7)
    mark = 6
    assert halves[2 * mark] == MARGIN
    assert twocards.margin(halves, 3, 9) == (mark if found else -1)


@pytest.mark.parametrize("card", range(0, 54, 5))
def test_the_same_cells_once_more_are_the_same_card(card: int) -> None:
    """Its way back was not seen: it was lifted from the head, or a flash blinded it. Read or not, it is one."""
    kinds = [2, *bits_of(card, 1), 3]
    for soiled in (False, True):
        cells = [4 if soiled and at in (4, 9) else kind for at, kind in enumerate(kinds)]
        for shown in (6, 10, 15):
            strip = strip_module.Strip(True)
            strip.marks = shown + len(cells)
            strip.kinds[: strip.marks] = bytes(cells[:shown] + cells)
            for at in range(2 * strip.marks):
                strip.halves[at] = 20
            strip.halves[0] = strip.halves[2 * shown] = MARGIN
            reading = cardcode.Reading()
            reading.read(strip, strip.marks)
            assert (reading.result == cardcode.READ, reading.two) == (not soiled, False)
