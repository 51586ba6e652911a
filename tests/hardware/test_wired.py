"""The wiring of hardware/board.toml and node.toml, pin by pin: each check catches a builder's mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sheets import checks, nets, wired
from sheets.model import Board, BoardError, Chip, Two, the_board, the_node
from sheets.packages import PACKAGES

BOARD, NODE = the_board(), the_node()
BOARDS = {"shoe": BOARD, "node": NODE}
SMOOTHING = {"C3", "C18", "C19", "C20", "C21"}  # the circuit works without; README says what they are for
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


def turn(ref: str) -> Board:
    """The board with a part the other way round."""
    turned = tuple(replace(t, each=[[e[0], e[2], e[1]] if e[0] == ref else e for e in t.each]) for t in BOARD.twos)
    return replace(BOARD, twos=turned)


def rail(ref: str, net: str) -> Board:
    """The board with the second end of a part on another net."""
    return replace(
        BOARD, twos=tuple(replace(t, each=[[*e[:2], net] if e[0] == ref else e for e in t.each]) for t in BOARD.twos)
    )


def drop_pin(ref: str, pin: str) -> Board:
    kept = (replace(c, pins={p: n for p, n in c.pins.items() if p != pin}) if c.ref == ref else c for c in BOARD.chips)
    return replace(BOARD, chips=tuple(kept))


BROKEN: list[tuple[Callable[[Board], Any], Board, str]] = [
    (wired.every_pin_is_said, drop_pin("U9", "4"), "U9 does not say where its pin 4 goes"),
    (wired.every_pin_is_said, rewire("U9", "1", "-"), "U9 leaves pin 1 open; that input must go somewhere"),
    (wired.every_pin_is_said, rewire("U9", "15", "GND"), "U9 has no pin 15"),
    (wired.every_pin_is_said, rewire("U4", "11", "V5"), "U4 pin 11 is its ground and hangs on V5"),
    (wired.every_pin_is_said, renumber("lane_register", number="74LVC165"), "packages.py does not know"),
    (
        wired.every_pin_is_said,
        replace(BOARD, twos=(*BOARD.twos, Two("resistor", "1 kΩ", [["R1", "V5", "GND"]]))),
        "two parts are called R1",
    ),
    (wired.what_is_bought_is_wired, renumber("trimmers", quantity=7), "trimmers is 7 pieces and names 8"),
    (wired.what_is_bought_is_wired, renumber("slots", ref="Q6 Q16"), "Q16 of slots is bought and wired to nothing"),
    (wired.what_is_bought_is_wired, renumber("slots", ref="Q6 Q16"), "Q7 is wired as slots, which does not name it"),
    (
        wired.what_is_bought_is_wired,
        replace(BOARD, chips=(*BOARD.chips, Chip("U99", "clock", {"1": "GND"}))),
        "U99 is one of clock, and there is no such part",
    ),
    (wired.every_signal_meets_a_part, rewire("U4", "1", "-"), "BOTTOM_CLK leads to bottom_head, and nothing is wired"),
    (wired.every_signal_meets_a_part, rewire("U6", "9", "-"), "LANE_DATA leads to lane_register, and nothing is wired"),
    (wired.every_signal_meets_a_part, without("R11"), "PIEZO leads to piezo, and nothing is wired to it"),
    (wired.no_net_ends_in_the_air, rewire("U9", "3", "BAR_Z"), "BAR_Z ends at U9 pin 3 in the variant seats"),
    (wired.no_net_ends_in_the_air, rewire("U7", "2", "-"), "LANE0_N ends at U6 pin 11"),
    (
        wired.no_net_ends_in_the_air,
        rewire("U6", "15", "LANE_TIE", rewire("U7", "11", "LANE_TIE")),
        "LANE_TIE floats in the variant seats: U6 pin 15, U7 pin 11 only listen",
    ),
    (wired.supplies_fit, rewire("U9", "14", "V3V3"), "U9 works on 4.5 to 5.5 V and hangs on V3V3, 3.3 V"),
    (wired.supplies_fit, rewire("A3", "5V", "VSYS"), "A3 pin 5V is its supply and hangs on VSYS, which is no rail"),
    (wired.supplies_fit, rewire("A1", "39", "-"), "A1 is fed by nobody"),
    # a WS2812B straight from the Pico: 0.7 of 5 V
    (wired.levels_fit, rewire("A3", "DIN", "BAR"), "A3 pin DIN takes 3.5 V for a 1, and A1 pin GP20 gives 3.3 V"),
    (
        wired.levels_fit,
        rewire("U7", "14", "V5"),
        "U6 pin 11 stands its supply of 3.3 V, and U7 pin 2 gives 5 V",
    ),
    (
        wired.what_pulls_has_a_resistor,
        without("R60"),
        "Q8 pin 3 is its upper end, and LANE0_C leads to no supply, nor does a resistor",
    ),
    (
        wired.what_pulls_has_a_resistor,
        without("R9"),
        "D3 pin A is its lower end, and AMBIENT leads to no ground, nor does a resistor",
    ),
    (wired.what_pulls_has_a_resistor, without("R31"), "drives BOTTOM_CLK has no hysteresis"),
    (
        wired.what_pulls_has_a_resistor,
        rewire("D2", "K", "GND"),
        "D2 pin K is its upper end, and GND leads to no supply",
    ),
    (wired.what_pulls_has_a_resistor, rewire("Q1", "3", "GND"), "Q1 pin 3 is its upper end"),
    # an LED without its resistor, and the wrong way round
    (
        wired.what_pulls_has_a_resistor,
        rewire("D1", "A", "V5"),
        "D1 pin A is an LED's anode, and no resistor leads from V5",
    ),
    (
        wired.what_pulls_has_a_resistor,
        rewire("D1", "A", "DOUBLE_K", rewire("D1", "K", "DOUBLE_A")),
        "D1 pin K is an LED's cathode, and DOUBLE_A leads neither to ground nor to a MOSFET",
    ),
    (
        wired.what_pulls_has_a_resistor,
        rewire("U4", "2", "BOTTOM_CLK_C", rewire("U4", "3", "BOTTOM_CLK_T")),
        "the comparator of U4 that drives BOTTOM_CLK has no hysteresis",
    ),
    (wired.levels_fit, rewire("U3", "VCC", "V5"), "U3 pin SDA takes 4.0 V for a 1, and is pulled up to V3V3 only"),
    (wired.every_pin_is_said, rewire("U2", "6", "RS485_B"), "U2 pin 6 belongs on RS485_A and hangs on RS485_B"),
    (wired.one_drives, rail("R1", "V5"), "I2C_SDA is pulled up to V5; the RP2040 stands 3.3 V"),
    (wired.polarity_is_right, turn("D4"), "D4 is the wrong way round: the Schottky diode goes from V5 to VSYS"),
    (wired.polarity_is_right, turn("D5"), "D5 is the wrong way round: the suppressor goes from GND to V5"),
    (wired.polarity_is_right, turn("C1"), "C1 is the wrong way round: the electrolytic goes from VSYS to GND"),
    (
        wired.sockets_are_as_others_expect,
        recable("W2", far_pins=[3, 2, 5]),
        "W2 brings RS232_TX to pin 3 of the DE-9 socket; it belongs on pin 2",
    ),
    (
        wired.sockets_are_as_others_expect,
        recable("W3", far_pins=[1, 2, 3]),
        "W3 brings GND to pin 3 of the RJ45 socket; it belongs on pin 8",
    ),
    (
        wired.sockets_are_as_others_expect,
        rewire("U1", "13", "RS232_TX", rewire("U1", "14", "RS232_RX")),
        "W2: nobody drives RS232_TX, which is what the shoe says to the host",
    ),
    (
        wired.values_agree,
        revalue("C1", "470 µF 10 V"),
        "from VSYS to GND there should be 1000 µF; the wiring has 470 µF 10 V: change C1 in a [[two]] of the same "
        "file, or microfarad in [holdup]",
    ),
    # a 5 V part against the 3.3 V inputs of the RP2040
    (
        wired.one_drives,
        rewire("U6", "16", "V5"),
        "LANE_DATA is driven by U6 pin 9 from V5; the RP2040 stands 3.3 V",
    ),
    (wired.one_drives, rewire("U7", "4", "LANE0_N"), "U7 pin 2 and U7 pin 4 drive LANE0_N"),
    (wired.one_drives, rewire("U1", "12", "HOST_TX"), "drive HOST_TX in the variant seats"),
    (wired.one_drives, rewire("U10", "1", "GND"), "U10 pin 1 drive GND"),
    (
        wired.inputs_keep_a_level_unplugged,
        without("R4"),
        "LANE_DATA comes by a cable only: unplugged, A1 pin GP17 floats",
    ),
    (wired.levels_are_kept_in_reset, without("R5"), "SEAT_DE must be low while the Pico is in reset"),
    (wired.levels_are_kept_in_reset, without("R3"), "HOST_TX must be high while the Pico is in reset"),
    (
        wired.levels_are_kept_in_reset,
        replace(BOARD, signals=tuple(replace(s, reset="1") if s.name == "LID" else s for s in BOARD.signals)),
        'LID is 1 in reset; it may be "high" or "low"',
    ),
    # the LED alone on a cable that carried V5
    (
        wired.cables_carry_the_nets,
        recable("W8", wires=["V5", "DOUBLE_K"]),
        "DOUBLE_A is on the double-feed emitter (D1 pin A) and elsewhere; no cable carries it there",
    ),
    (
        wired.cables_carry_the_nets,
        recable("W8", wires=["V5", "DOUBLE_K"]),
        "W8 carries V5, and nothing at its end (double-feed emitter) is on it",
    ),
    (
        wired.cables_carry_the_nets,
        recable("W7", to="the moon"),
        "is on the lip slot (Q7 pin K) and elsewhere; no cable goes there",
    ),
    (
        wired.cables_carry_the_nets,
        recable("W13", wires=["PIEZO_X", "GND"]),
        "W13 carries PIEZO_X, and nothing on the main board is on it",
    ),
    (wired.chips_are_decoupled, without("C15"), "3 chips hang on V3V3 on the exit lanes, and 2 have their 100 nF"),
    (
        wired.resistors_stay_cool,
        replace(BOARD, twos=tuple(replace(t, watt=0.25) for t in BOARD.twos)),
        "R13 may turn 0.41 W",
    ),
    (
        wired.values_agree,
        revalue("R1", "2.2 kΩ"),
        "from I2C_SDA to V3V3 there should be 1500 Ω; the wiring has 2200: change R1 in a [[two]] of the same file, "
        "or pull_up in [i2c]",
    ),
    (
        wired.values_agree,
        without("R14"),
        "from V3V3 to KEYS there should be 10000 Ω; the wiring has none: add it in a [[two]] of the same file, or "
        "change pull_up in [ladder]",
    ),
    (
        wired.values_agree,
        revalue("R17", "4.7 kΩ"),
        "from KEY_2 to KEY_3 there should be 2700 Ω; the wiring has 4700: change R17 in a [[two]] of the same file, or "
        "step 3 in [ladder]",
    ),
    (
        wired.values_agree,
        revalue("R21", "4.7 kΩ"),
        "from V3V3 to BOTTOM_CLK_C there should be 2200 Ω; the wiring has 4700: change R21 in a [[two]] of the same "
        "file, or load_ohm in [head]",
    ),
    (
        wired.values_agree,
        replace(BOARD, head=replace(BOARD.head, led_ohm=100.0)) if BOARD.head else BOARD,
        "from V5 to LIP_A there should be 100 Ω; the wiring has 220: change R47 in a [[two]] of the same file, or "
        "led_ohm in [head]",
    ),
    (
        wired.values_agree,
        replace(BOARD, holdup=replace(BOARD.holdup, rail_microfarad=100.0)) if BOARD.holdup else BOARD,
        "from V3V3 to GND there should be 100 µF; the wiring has 47 µF 10 V: change C2 in a [[two]] of the same file, "
        "or rail_microfarad in [holdup]",
    ),
]


@pytest.mark.parametrize(("check", "board", "sentence"), BROKEN, ids=[sentence for _, _, sentence in BROKEN])
def test_a_wrong_wire_is_caught(check: Callable[[Board], Any], board: Board, sentence: str) -> None:
    assert any(sentence in fault for fault in check(board)), list(check(board))
    assert any(sentence in fault for fault in checks.faults(board))


def test_every_check_of_the_wiring_has_a_board_that_it_catches() -> None:
    assert {check for check, _, _ in BROKEN} == set(wired.CHECKS)


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
