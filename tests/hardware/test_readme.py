"""hardware/README.md says what the emulated mechanics, the printed strip and board.toml say."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import pytest
from dealershoe.deck import strip
from dealershoe.emulate import mechanics
from sheets import checks
from sheets.firmware import the_firmware
from sheets.model import HARDWARE, the_board

PAGE = (HARDWARE / "README.md").read_text(encoding="utf-8")
CODE = (HARDWARE / "card-code.md").read_text(encoding="utf-8")
BOARD = the_board()
assert BOARD.ladder
assert BOARD.head
LADDER, HEAD = BOARD.ladder, BOARD.head


def millimetres() -> dict[str, float]:
    """The table of places."""
    section = PAGE.split("## Windows and sensors")[1].split("* Exit lanes")[0]
    return {what: float(mm) for what, mm in re.findall(r"^\| (.+?) \| (-?[\d.]+) \|$", section, re.M)}


def test_the_places_of_the_sensors_are_those_of_the_model() -> None:
    said = millimetres()
    expected = {
        "throat slot P0": mechanics.P0,
        "bottom head, top head, double-feed light": mechanics.HEADS,
        "lip slot P1": mechanics.P1,
        "exit lanes, on an arc around the middle of the lip": mechanics.LANES_AT,
        "next card at rest, its leading edge": mechanics.IN_SHOE,
        "card along the travel": strip.TRAVEL,
        "middle of the reader's loop (only `rfid`)": mechanics.READER_AT,
    }
    assert {what: said[what] for what in expected} == expected
    assert mechanics.READER_REACH == 12.5
    assert "no more\n  than 12.5 mm from the loop's" in PAGE
    assert "heads 12 mm, lip slot 24 mm behind the throat slot" in CODE
    assert f"{mechanics.LANES_AT - mechanics.P1:.0f} mm beyond the\nlip" in (HARDWARE / "pinout.md").read_text()


def test_the_tracks_are_as_far_apart_as_in_the_physics_of_a_pass() -> None:
    faults = tomllib.loads((HARDWARE / "faults.toml").read_text(encoding="utf-8"))
    assert millimetres()["tracks apart"] == faults["track_pitch"]["low"] == faults["track_pitch"]["high"]
    assert f"{faults['track_place']['high']} mm true to each other" in PAGE
    assert (
        f"slit of {millimetres()['slit over each sensor of a head, along the travel']} mm" in faults["spot"]["source"]
    )


def test_the_tracks_lie_from_the_guide_where_the_strip_has_them() -> None:
    """Half of the guides' play beyond the card's edge; tracks as card-code.md has them."""
    wide, card = (float(mm) for mm in re.findall(r"\(([\d.]+) mm for a card of ([\d.]+)\)", PAGE)[0])
    first = re.search(r"the middle of CLK is (\d+) mm from the card's short edge, then DATA, then /DATA", CODE)
    assert first
    said = re.search(r"sensors: CLK ([\d.]+) mm, DATA ([\d.]+), /DATA ([\d.]+)\.", PAGE)
    assert said
    places = [float(first[1]) + (wide - card) / 2 + track * millimetres()["tracks apart"] for track in range(3)]
    assert [float(mm) for mm in said.groups()] == pytest.approx(places)


def test_the_exit_lanes_are_those_of_the_model() -> None:
    angles = [(lane - (mechanics.LANES - 1) / 2) * mechanics.LANE_PITCH for lane in range(mechanics.LANES)]
    assert f"eight, {mechanics.LANE_PITCH:.0f} degrees apart, lane 0 at {angles[0]} degrees" in PAGE
    assert f"lane 7 at {angles[-1]}." in PAGE


def test_the_currents_of_the_first_power_up_are_the_parts() -> None:
    said = re.search(r"bottom head about (\d+) mA more, top head (\d+), each slot\s+(\d+), lanes (\d+), D1 (\d+)", PAGE)
    assert said
    parts = {part.id: part.v5 / (2 if part.id == "slots" else 1) for part in BOARD.parts}
    for number, name in zip(
        said.groups(), ("bottom_head", "top_head", "slots", "lanes", "double_emitter"), strict=True
    ):
        assert float(number) == pytest.approx(parts[name], rel=0.05)
    limit = re.search(r"at once it would be below ([\d.]+) A", PAGE)
    assert limit
    assert checks.draw(BOARD, "seats", "V5") / 1000 <= float(limit[1]) <= 1.1 * checks.draw(BOARD, "seats", "V5") / 1000


def test_the_voltages_of_the_keys_are_the_ladders() -> None:
    words, rest = PAGE.split("5. **Keys.**")[1].split("each within")
    said = re.findall(r"(none|hand|action|complete|exposed|done|floor)\s+([\d.]+)", words)
    assert [name for name, _ in said] == ["none", "hand", "action", "complete", "exposed", "done", "floor"]
    none, *keys = (float(volts) for _, volts in said)
    for volts, level in zip([*keys, none], checks.ladder_levels(LADDER), strict=True):
        assert volts == pytest.approx(level / 65535 * 3.3, abs=0.006)
    # what resistors and contacts may bring about, and so much that the ADC's own errors are still within the firmware's
    meter = checks.ladder_spans(replace(LADDER, reference_ma=1e-9, adc_lsb=1e-9))
    within = float(rest.split(" V")[0])
    for volts, name in zip([*keys, none], [*(f"key {n}" for n in range(1, 7)), "no key"], strict=True):
        assert max(abs(level / 65535 * 3.3 - volts) for level in meter[name]) < within, name
    adc = LADDER.reference_ohm * LADDER.reference_ma / 1000 + LADDER.adc_lsb / 4096 * 3.3
    assert within + adc < the_firmware().key_tolerance / 65535 * 3.3


def test_the_feedback_resistors_give_a_twentieth_of_the_swing() -> None:
    """Half the hysteresis: the output's 3.3 V divided between the sensor's load and the feedback, halved."""
    swings, ohms = (re.search(rf"^ *\| {name} \| (.+) \|$", PAGE, re.M) for name in ("swing, V", "feedback, kΩ"))
    assert swings
    assert ohms
    for swing, kohm in zip(swings[1].split(" | "), ohms[1].split(" | "), strict=True):
        half = 3.3 * HEAD.load_ohm / (float(kohm) * 1000) / 2
        assert half / float(swing) == pytest.approx(0.05, rel=0.15)


def test_the_count_and_the_current_of_the_infrared_leds_are_the_boards() -> None:
    emitters = sum(part.quantity for part in BOARD.parts if part.number in ("QRE1113GR", "EE-SX1041"))
    assert emitters == 15
    head = (5.25 - HEAD.led_volts) / HEAD.led_ohm * 1000
    assert f"Fifteen 940 nm LEDs of up to {round(head / 10) * 10} mA and one of up to 63 mA" in PAGE
    assert next(part.v5 for part in BOARD.parts if part.id == "double_emitter") == pytest.approx(62.5)


def test_every_part_it_names_is_in_the_wiring() -> None:
    wired = {chip.ref for chip in BOARD.chips} | {each[0] for two in BOARD.twos for each in two.each}
    wired |= {f"J{cable.id[1:]}" for cable in BOARD.cables} | {"P0", "P1"}
    named = set(re.findall(r"(?<![\w-])(?:RV|BZ|[UQDRCTFJSP])\d+(?![\w-])", PAGE))
    assert {"U10", "R13", "J8", "F1"} <= named
    assert named <= wired


def test_the_ohms_of_v3v3_are_the_trimmers() -> None:
    said = re.search(r"From V3V3 to GND: ([\d.]+) kΩ", PAGE)
    assert said
    across = [chip for chip in BOARD.chips if chip.part == "trimmers" and {"V3V3", "GND"} <= set(chip.pins.values())]
    assert float(said[1]) == pytest.approx(10 / len(across), abs=0.05)


def test_every_file_it_names_is_there() -> None:
    for name in re.findall(r"\]\(([\w./-]+)\)", PAGE):
        assert (HARDWARE / name).exists(), name


def test_it_claims_no_approval_and_says_what_is_not_known() -> None:
    for words in ("Nobody has assessed", "IEC 62471", "Not approved", "NRS 463.0136", "GLI-29", "no signed boot"):
        assert words in PAGE
    assert not re.search(r"\b(complies|compliant|certified|conforms to)\b", PAGE)
