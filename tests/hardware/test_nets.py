"""The wiring of hardware/board.toml and node.toml, pin by pin: each check catches a builder's mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sheets import checks, nets
from sheets.model import Board, BoardError, Chip, Two, the_board, the_node
from sheets.packages import PACKAGES

BOARD, NODE = the_board(), the_node()
BOARDS = {"shoe": BOARD, "node": NODE}
SMOOTHING = {"C2", "C3", "C18", "C19", "C20", "C21"}  # the circuit works without; README says what they are for
OPTIONAL = {
    "R8",
    "R70",
}  # only at an end of the bus; the Pico's pull does for BUSY in the checks, but not with a long cable


def rewire(ref: str, pin: str, net: str, board: Board = BOARD) -> Board:
    """The board with a pin on another net."""
    assert any(chip.ref == ref for chip in board.chips)
    changed = (replace(c, pins={**c.pins, pin: net}) if c.ref == ref else c for c in board.chips)
    return replace(board, chips=tuple(changed))


def without(ref: str, board: Board = BOARD) -> Board:
    """The board without a part with two ends."""
    left = tuple(replace(two, each=[each for each in two.each if each[0] != ref]) for two in board.twos)
    assert left != board.twos
    return replace(board, twos=left)


def revalue(ref: str, value: str) -> Board:
    """The board with another value of the parts that are alike."""
    return replace(
        BOARD, twos=tuple(replace(t, value=value) if any(e[0] == ref for e in t.each) else t for t in BOARD.twos)
    )


def recable(name: str, **new: Any) -> Board:
    return replace(BOARD, cables=tuple(replace(c, **new) if c.id == name else c for c in BOARD.cables))


def renumber(part: str, **new: Any) -> Board:
    return replace(BOARD, parts=tuple(replace(p, **new) if p.id == part else p for p in BOARD.parts))


def drop_pin(ref: str, pin: str) -> Board:
    kept = (replace(c, pins={p: n for p, n in c.pins.items() if p != pin}) if c.ref == ref else c for c in BOARD.chips)
    return replace(BOARD, chips=tuple(kept))


BROKEN: list[tuple[Callable[[Board], Any], Board, str]] = [
    (nets.every_pin_is_said, drop_pin("U9", "4"), "U9 does not say where its pin 4 goes"),
    (nets.every_pin_is_said, rewire("U9", "1", "-"), "U9 leaves pin 1 open; that input must go somewhere"),
    (nets.every_pin_is_said, rewire("U9", "15", "GND"), "U9 has no pin 15"),
    (nets.every_pin_is_said, rewire("U4", "11", "V5"), "U4 pin 11 is its ground and hangs on V5"),
    (nets.every_pin_is_said, renumber("lane_register", number="74LVC165"), "packages.py does not know"),
    (
        nets.every_pin_is_said,
        replace(BOARD, twos=(*BOARD.twos, Two("resistor", "1 kΩ", [["R1", "V5", "GND"]]))),
        "two parts are called R1",
    ),
    (nets.what_is_bought_is_wired, renumber("trimmers", quantity=7), "trimmers is 7 pieces and names 8"),
    (nets.what_is_bought_is_wired, renumber("slots", ref="Q6 Q16"), "Q16 of slots is bought and wired to nothing"),
    (nets.what_is_bought_is_wired, renumber("slots", ref="Q6 Q16"), "Q7 is wired as slots, which does not name it"),
    (
        nets.what_is_bought_is_wired,
        replace(BOARD, chips=(*BOARD.chips, Chip("U99", "clock", {"1": "GND"}))),
        "U99 is one of clock, and there is no such part",
    ),
    (nets.every_signal_meets_a_part, rewire("U4", "1", "-"), "BOTTOM_CLK leads to bottom_head, and nothing is wired"),
    (nets.every_signal_meets_a_part, rewire("U6", "9", "-"), "LANE_DATA leads to lane_register, and nothing is wired"),
    (nets.every_signal_meets_a_part, without("R11"), "PIEZO leads to piezo, and nothing is wired to it"),
    (nets.no_net_ends_in_the_air, rewire("U9", "3", "BAR_Z"), "BAR_Z ends at U9 pin 3 in the variant seats"),
    (nets.no_net_ends_in_the_air, rewire("U7", "2", "-"), "LANE0_N ends at U6 pin 11"),
    (
        nets.no_net_ends_in_the_air,
        rewire("U6", "15", "LANE_TIE", rewire("U7", "11", "LANE_TIE")),
        "LANE_TIE floats in the variant seats: U6 pin 15, U7 pin 11 only listen",
    ),
    (nets.supplies_fit, rewire("U9", "14", "V3V3"), "U9 works on 4.5 to 5.5 V and hangs on V3V3, 3.3 V"),
    (nets.supplies_fit, rewire("A3", "5V", "VSYS"), "A3 pin 5V is its supply and hangs on VSYS, which is no rail"),
    (nets.supplies_fit, rewire("A1", "39", "-"), "A1 is fed by nobody"),
    # a WS2812B straight from the Pico: 0.7 of 5 V
    (nets.levels_fit, rewire("A3", "DIN", "BAR"), "A3 pin DIN takes 3.5 V for a 1, and A1 pin GP20 gives 3.3 V"),
    (
        nets.levels_fit,
        rewire("U7", "14", "V5"),
        "U6 pin 11 stands its supply of 3.3 V, and U7 pin 2 gives 5 V",
    ),
    (nets.what_pulls_has_a_resistor, without("R60"), "Q8 pin 3 only pulls, and no resistor is on LANE0_C"),
    (nets.what_pulls_has_a_resistor, without("R9"), "D3 pin A only pulls, and no resistor is on AMBIENT"),
    (nets.what_pulls_has_a_resistor, without("R31"), "drives BOTTOM_CLK has no hysteresis"),
    # a 5 V part against the 3.3 V inputs of the RP2040
    (
        nets.one_drives,
        rewire("U6", "16", "V5"),
        "LANE_DATA is driven by U6 pin 9 from V5; the RP2040 stands 3.3 V",
    ),
    (nets.one_drives, rewire("U7", "4", "LANE0_N"), "U7 pin 2 and U7 pin 4 drive LANE0_N"),
    (nets.one_drives, rewire("U1", "12", "HOST_TX"), "drive HOST_TX in the variant seats"),
    (nets.one_drives, rewire("U10", "2", "GND"), "U10 pin 2 drive GND"),
    (
        nets.inputs_keep_a_level_unplugged,
        without("R4"),
        "LANE_DATA comes by a cable only: unplugged, A1 pin GP17 floats",
    ),
    (nets.levels_are_kept_in_reset, without("R5"), "SEAT_DE must be low while the Pico is in reset"),
    (nets.levels_are_kept_in_reset, without("R3"), "HOST_TX must be high while the Pico is in reset"),
    (
        nets.levels_are_kept_in_reset,
        replace(BOARD, signals=tuple(replace(s, reset="1") if s.name == "LID" else s for s in BOARD.signals)),
        'LID is 1 in reset; it may be "high" or "low"',
    ),
    # the LED alone on a cable that carried V5
    (
        nets.cables_carry_the_nets,
        recable("W8", wires=["V5", "DOUBLE_K"]),
        "DOUBLE_A is on the double-feed emitter (D1 pin A) and elsewhere; no cable carries it there",
    ),
    (
        nets.cables_carry_the_nets,
        recable("W8", wires=["V5", "DOUBLE_K"]),
        "W8 carries V5, and nothing at its end (double-feed emitter) is on it",
    ),
    (
        nets.cables_carry_the_nets,
        recable("W7", to="the moon"),
        "is on the lip slot (Q7 pin K) and elsewhere; no cable goes there",
    ),
    (
        nets.cables_carry_the_nets,
        recable("W13", wires=["PIEZO_X", "GND"]),
        "W13 carries PIEZO_X, and nothing on the main board is on it",
    ),
    (nets.chips_are_decoupled, without("C15"), "3 chips hang on V3V3 on the exit lanes, and 2 have their 100 nF"),
    (
        nets.resistors_stay_cool,
        replace(BOARD, twos=tuple(replace(t, watt=0.25) for t in BOARD.twos)),
        "R13 may turn 0.41 W",
    ),
    (nets.values_agree, revalue("R1", "2.2 kΩ"), "from I2C_SDA to V3V3 there should be 1500 Ω; the wiring has 2200"),
    (nets.values_agree, without("R14"), "from V3V3 to KEYS there should be 10000 Ω; the wiring has none"),
    (nets.values_agree, revalue("R17", "4.7 kΩ"), "from KEY_3 to KEY_4 there should be 5100 Ω; the wiring has 4700"),
    (nets.values_agree, revalue("R21", "4.7 kΩ"), "from V3V3 to BOTTOM_CLK_C there should be 2200 Ω"),
]


@pytest.mark.parametrize(("check", "board", "sentence"), BROKEN, ids=[sentence for _, _, sentence in BROKEN])
def test_a_wrong_wire_is_caught(check: Callable[[Board], Any], board: Board, sentence: str) -> None:
    assert any(sentence in fault for fault in check(board)), list(check(board))
    assert any(sentence in fault for fault in checks.faults(board))


def test_every_check_of_the_wiring_has_a_board_that_it_catches() -> None:
    assert {check for check, _, _ in BROKEN} == set(nets.CHECKS)


@pytest.mark.parametrize("board", [BOARD, NODE], ids=["shoe", "node"])
def test_a_part_that_is_left_out_is_missed(board: Board) -> None:
    refs = {each[0] for two in board.twos for each in two.each}
    unseen = {ref for ref in refs if not checks.faults(without(ref, board))}
    assert unseen == (SMOOTHING | OPTIONAL if board is BOARD else set())


@pytest.mark.parametrize("board", [BOARD, NODE], ids=["shoe", "node"])
def test_a_pin_that_is_left_open_is_missed(board: Board) -> None:
    pins = [(chip.ref, pin) for chip in board.chips for pin, net in chip.pins.items() if net != nets.OPEN]
    assert [(ref, pin) for ref, pin in pins if not checks.faults(rewire(ref, pin, nets.OPEN, board))] == []


def test_every_package_is_one_that_is_bought() -> None:
    wired = {(board, chip.part) for board in ("shoe", "node") for chip in BOARDS[board].chips}
    assert set(PACKAGES) == {p.number for board, part in wired for p in BOARDS[board].parts if p.id == part}


def test_a_part_with_two_ends_has_two() -> None:
    with pytest.raises(BoardError, match="R99 has 1 ends; a resistor has two"):
        Two("resistor", "1 kΩ", [["R99", "V5"]])
