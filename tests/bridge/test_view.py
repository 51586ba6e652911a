"""The view: everything a dealer needs is in words and signs, no colour alone, and no face that the snapshot has not."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from dealershoe.view.prompt import Prompt
from dealershoe.view.snapshot import DrawView, LightView, RulingView, SeatView, Snapshot, StepLine
from dealershoe.view.table import STATE_STYLE, WIDTH, Picture
from rich.console import Console

NOW = Snapshot(
    title="/dev/ttyACM0",
    stack="tda-2024+house",
    link="supervised",
    link_why="",
    light=LightView("attention", "amber, slow", "one low beep"),
    hand=3,
    street="preflop",
    due="seat 4",
    seats=tuple(
        SeatView(seat, 2 if seat < 4 else 1, seat == 4, ("button",) if seat == 9 else ()) for seat in range(1, 12)
    ),
    burns=1,
    board=3,
    draws=(DrawView(8, "seat 3", False, "down"), DrawView(9, "seat 3", True, "boxed", ("exposed",))),
    rulings=(RulingView("replace", "Seat 3's card was exposed: finish the deal.", "H 4", "house", "dealer", 3, (3,)),),
    steps=(StepLine("finish the deal", True, False), StepLine("give seat 3 the next card", False, True)),
    question="#8 seems to lie at seat 5",
    faults=("the lid is open",),
    notes=("a deck was put in the shoe",),
    counts=(("hands", 3), ("draws", 9)),
    draw_count=9,
)


def drawn(now: Snapshot, width: int = WIDTH) -> str:
    """The picture without any colour."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(Picture(now))
    return out.getvalue()


@pytest.mark.parametrize(
    "words",
    [
        "rules tda-2024+house",
        "hand 3",
        "supervised",
        "► 4 DUE ◄",
        "due next: seat 4",
        "▮▮ 2",
        "(D)",
        "burn ▮",
        "board ▮▮▮",
        "ATTENTION",
        "light: amber, slow",
        "sound: one low beep",
        "#8  seat 3?",
        "#9  seat 3",
        "boxed exposed",
        "REPLACE",
        "H 4 (house); the dealer decides",
        "✓ 1. finish the deal",
        "► 2. give seat 3 the next card",
        "? #8 seems to lie at seat 5",
        "! the lid is open",
        "· a deck was put in the shoe",
        "draws 9",
        "9 drawn",
    ],
)
def test_without_colour_it_still_says(words: str) -> None:
    assert words in drawn(NOW)


def test_eleven_seats_fit_one_ordinary_screen() -> None:
    lines = drawn(NOW).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= 24
    for seat in range(1, 12):
        assert f"seat {seat} " in drawn(NOW) or f"► {seat} DUE" in drawn(NOW)


@pytest.mark.parametrize("width", [60, 72, 80, WIDTH])
def test_a_narrow_terminal_cuts_off_no_seat_no_way_up_no_light_and_no_sound(width: int) -> None:
    light = LightView("floor", "red on lamps 5 to 8, flashing fast", "880 Hz and 660 Hz")
    seats = tuple(replace(seat, due=seat.seat == 11) for seat in NOW.seats)
    drawing = drawn(replace(NOW, seats=seats, due="seat 11", light=light), width)
    assert max(map(len, drawing.splitlines())) <= width
    assert sorted(map(int, re.findall(r"[─━] (?:seat |► )?(\d+)\b", drawing))) == [*range(1, 12)]
    said = " ".join(drawing.split())
    for words in (light.light, light.sound, "supervised", "#8 seat 3? down", "#9 seat 3 boxed exposed", "muck -"):
        assert words in said


def test_a_face_is_drawn_only_where_the_snapshot_has_one() -> None:
    assert "As" not in drawn(NOW)
    shown = replace(NOW, seats=(SeatView(1, 1, faces=("As",)), *NOW.seats[1:]), board_faces=("Kd", "2c", "7h"))
    assert "As 1" in drawn(shown)
    assert "Kd 2c 7h" in drawn(shown)


@pytest.mark.parametrize("state", STATE_STYLE)
def test_every_state_of_the_light_is_a_word(state: str) -> None:
    assert state.upper() in drawn(replace(NOW, light=LightView(state, "light", "sound")))


def test_the_lamps_of_an_emulated_shoe_are_drawn_lit_or_dark() -> None:
    lamps = ((255, 160, 0),) * 3 + ((0, 0, 0),) * 5
    assert "[■■■·····]" in drawn(replace(NOW, light=LightView("attention", "amber", "beep", lamps)))


def test_what_is_typed_stands_below() -> None:
    assert "> act 3 ra▏" in drawn(replace(NOW, prompt="act 3 ra"))


def test_before_a_hand_there_is_a_picture_too() -> None:
    empty = Snapshot("-", "house", "align", "no hand has begun", LightView("align", "blue", "none"))
    assert "align: no hand has begun" in drawn(empty)


@pytest.mark.parametrize(
    ("keys", "lines", "left"),
    [
        (b"act 3 fold\r", ["act 3 fold"], ""),
        (b"ack\nundo\nx", ["ack", "undo"], "x"),
        (b"ac\x7f\x7f\x7fdeck\x08\x08k\n", ["dek"], ""),
        (b"wrong\x15right", [], "right"),
        (b"a\x1b[A\x1b[3~b\x1bOPc", [], "abc"),
        ("é\x7fe".encode(), [], "e"),
    ],
)
def test_the_line_that_is_typed(keys: bytes, lines: list[str], left: str) -> None:
    prompt = Prompt()
    assert [line for key in keys for line in prompt.feed(bytes([key]))] == lines
    assert prompt.text == left
