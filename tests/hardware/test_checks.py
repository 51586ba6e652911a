"""The checks of hardware/board.toml: the board passes, and each check catches a board that is broken in its own way."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hardware.make_hardware import make_hardware
from hypothesis import given
from hypothesis import strategies as st
from sheets import checks, rp2040
from sheets.model import (
    HARDWARE,
    NEEDED,
    NEEDED_IN_THE_SHOE,
    Board,
    BoardError,
    Pio,
    Signal,
    board_of,
    read_board,
    the_board,
    the_node,
)

BOARD, NODE = the_board(), the_node()
assert BOARD.ladder
assert BOARD.head
assert BOARD.holdup
assert BOARD.i2c
LADDER, HEAD, HOLDUP, I2C = BOARD.ladder, BOARD.head, BOARD.holdup, BOARD.i2c
# RP2040 datasheet 1.4.3, table "GPIO functions", columns F1 to F4, and 4.9.1 for the ADC: typed again, pin by pin
DATASHEET = """
0 SPI0 RX|UART0 TX|I2C0 SDA|PWM0 A      15 SPI1 TX|UART0 RTS|I2C1 SCL|PWM7 B
1 SPI0 CSn|UART0 RX|I2C0 SCL|PWM0 B     16 SPI0 RX|UART0 TX|I2C0 SDA|PWM0 A
2 SPI0 SCK|UART0 CTS|I2C1 SDA|PWM1 A    17 SPI0 CSn|UART0 RX|I2C0 SCL|PWM0 B
3 SPI0 TX|UART0 RTS|I2C1 SCL|PWM1 B     18 SPI0 SCK|UART0 CTS|I2C1 SDA|PWM1 A
4 SPI0 RX|UART1 TX|I2C0 SDA|PWM2 A      19 SPI0 TX|UART0 RTS|I2C1 SCL|PWM1 B
5 SPI0 CSn|UART1 RX|I2C0 SCL|PWM2 B     20 SPI0 RX|UART1 TX|I2C0 SDA|PWM2 A
6 SPI0 SCK|UART1 CTS|I2C1 SDA|PWM3 A    21 SPI0 CSn|UART1 RX|I2C0 SCL|PWM2 B
7 SPI0 TX|UART1 RTS|I2C1 SCL|PWM3 B     22 SPI0 SCK|UART1 CTS|I2C1 SDA|PWM3 A
8 SPI1 RX|UART1 TX|I2C0 SDA|PWM4 A      23 SPI0 TX|UART1 RTS|I2C1 SCL|PWM3 B
9 SPI1 CSn|UART1 RX|I2C0 SCL|PWM4 B     24 SPI1 RX|UART1 TX|I2C0 SDA|PWM4 A
10 SPI1 SCK|UART1 CTS|I2C1 SDA|PWM5 A   25 SPI1 CSn|UART1 RX|I2C0 SCL|PWM4 B
11 SPI1 TX|UART1 RTS|I2C1 SCL|PWM5 B    26 SPI1 SCK|UART1 CTS|I2C1 SDA|PWM5 A|ADC0
12 SPI1 RX|UART0 TX|I2C0 SDA|PWM6 A     27 SPI1 TX|UART1 RTS|I2C1 SCL|PWM5 B|ADC1
13 SPI1 CSn|UART0 RX|I2C0 SCL|PWM6 B    28 SPI1 RX|UART0 TX|I2C0 SDA|PWM6 A|ADC2
14 SPI1 SCK|UART0 CTS|I2C1 SDA|PWM7 A   29 SPI1 CSn|UART0 RX|I2C0 SCL|PWM6 B|ADC3
"""


def change(board: Board, name: str, /, **new: Any) -> Board:
    """The board with a signal changed."""
    assert any(signal.name == name for signal in board.signals)
    return replace(board, signals=tuple(replace(s, **new) if s.name == name else s for s in board.signals))


def change_part(name: str, /, **new: Any) -> Board:
    return replace(BOARD, parts=tuple(replace(p, **new) if p.id == name else p for p in BOARD.parts))


def change_cable(name: str, /, **new: Any) -> Board:
    return replace(BOARD, cables=tuple(replace(c, **new) if c.id == name else c for c in BOARD.cables))


def without(name: str) -> Board:
    return replace(BOARD, signals=tuple(signal for signal in BOARD.signals if signal.name != name))


def test_the_board_can_be_built() -> None:
    assert checks.faults(BOARD) == []
    assert checks.faults(NODE) == []


def test_the_function_table_is_the_datasheets() -> None:
    seen = set()
    for cell in (half.strip() for line in DATASHEET.strip().splitlines() for half in (line[:40], line[40:])):
        number, functions = cell.split(" ", 1)
        assert rp2040.functions(int(number)) - rp2040.ANYWHERE == set(functions.split("|")), number
        seen.add(int(number))
    assert seen == set(range(30))


BROKEN: list[tuple[Callable[[Board], Any], Board, str]] = [
    (checks.names_and_variants, change(BOARD, "LID", name="TAMPER"), "two of signal are called TAMPER"),
    (checks.names_and_variants, change(BOARD, "LID", part="lids"), "LID leads to lids, and there is no such part"),
    (checks.names_and_variants, change(BOARD, "LID", part="rfid"), "which only the variant rfid has"),
    (checks.names_and_variants, change(BOARD, "LID", pull="sideways"), "LID pulls sideways"),
    (checks.names_and_variants, change(BOARD, "LID", variant="cheap"), "LID is of the variant cheap"),
    (checks.pins_used_once, change(BOARD, "LID", gpio=2), "GP2 is TAMPER and LID in the variant seats"),
    (checks.pins_can, change(BOARD, "LID", gpio=30), "LID is on GP30; the RP2040 has GP0 to GP29"),
    (checks.pins_can, change(BOARD, "I2C_SDA", gpio=9), "GP9 cannot be I2C0 SDA; it is on GP0, GP4, GP8, GP12"),
    (checks.pins_can, change(BOARD, "HOST_TX", gpio=4), "GP4 cannot be UART0 TX; it is on GP0, GP12, GP16, GP28"),
    (checks.pins_can, change(BOARD, "KEYS", gpio=22), "GP22 cannot be ADC2; it is on GP28"),
    (checks.pins_can, change(BOARD, "KEYS", function="ADC4"), "cannot be ADC4; no pin can"),
    (checks.pins_can, change(BOARD, "RFID_MISO", gpio=8), "GP8 cannot be SPI0 RX"),
    (checks.pins_can, change(BOARD, "LID", gpio=23), "GP23 is not on the Pico's header"),
    (checks.channels_used_once, change(BOARD, "LID", gpio=5, function="PWM2 B"), "LID and PIEZO are both PWM2 B"),
    (checks.channels_used_once, change(BOARD, "LID", gpio=4, function="PWM2 A"), "share the frequency of PWM2"),
    (checks.buses_are_whole, without("I2C_SCL"), "I2C0 lacks SCL in the variant seats"),
    (checks.buses_are_whole, without("RFID_MISO"), "SPI0 lacks RX in the variant rfid"),
    (checks.sampler_has_its_block, change(BOARD, "TOP_CLK", gpio=22), "must be on GP13, not GP22"),
    (checks.sampler_has_its_block, without("LIP"), "LIP, bit 6 of a sample, is missing"),
    (checks.sampler_has_its_block, change(BOARD, "LIP", function="SIO in"), "LIP is read by PIO"),
    (checks.pio_not_overbooked, replace(BOARD, pio=BOARD.pio * 2), "machine 0 of PIO0 runs 2 programs"),
    (checks.pio_not_overbooked, replace(BOARD, pio=(Pio("x", 0, 4, 1, 0),)), "there are 2 blocks of 4"),
    (
        checks.pio_not_overbooked,
        replace(BOARD, pio=(*BOARD.pio, Pio("x", 0, 1, 32, 0))),
        "the programs of PIO0 have 33 instructions; a block holds 32",
    ),
    (checks.pio_not_overbooked, replace(BOARD, pio=(Pio("x", 0, 1, 1, 13),)), "13 DMA channels are in use"),
    (checks.pio_not_overbooked, change(BOARD, "LIP", function="PIO1 in"), "LIP is PIO1 in, and no program runs there"),
    (checks.rails_suffice, change_part("bar", v5=1100.0), "V5 must give 1661 mA in the variant seats"),
    (checks.rails_suffice, change_part("lanes", v3v3=150.0), "V3V3 must give 254 mA in the variant seats"),
    (
        checks.the_pico_carries_v3v3,
        change_part("pico", v5=150.0),
        "with all of V3V3 the Pico draws 206 mA from V5; its part says 150",
    ),
    (
        checks.the_pico_carries_v3v3,
        replace(BOARD, holdup=replace(HOLDUP, ma=100.0)),
        "the capacitor feeds 206 mA; the hold-up reckons with 100",
    ),
    (checks.rails_suffice, change_part("bar", current=""), "bar draws current and does not say"),
    (checks.pins_not_overloaded, change(BOARD, "PIEZO", ma=20.0), "PIEZO would carry 20.0 mA; a pin drives 12"),
    (
        checks.pins_not_overloaded,
        replace(BOARD, signals=tuple(replace(signal, ma=2.5) for signal in BOARD.signals)),
        "all pins carry 67.5 mA in the variant seats; the chip stands 50",
    ),
    (checks.cables_lead_somewhere, change_cable("W13", wires=["PIEZO_R"]), "W13 has 1 wires in a JST XH 2"),
    (checks.cables_lead_somewhere, change_cable("W2", far_pins=[2, 3]), "W2 has 3 wires and 2 far pins"),
    (checks.cables_lead_somewhere, change_cable("W16", variant="rfid"), "W16 carries TAMPER, which only the variant"),
    (
        checks.ladder_has_even_steps,
        replace(BOARD, ladder=replace(LADDER, steps=[2000.0])),
        "the ladder has 1 steps; 6 keys need 7",
    ),
    (
        checks.ladder_has_even_steps,
        replace(BOARD, ladder=replace(LADDER, tolerance=0.2)),
        "key 2 may read 22959, more than a third of a step from 16384",
    ),
    (
        checks.ladder_has_even_steps,
        replace(BOARD, ladder=replace(LADDER, contact_ohm=1000.0)),
        "the wire at ground may read 6726, more than a third of a step from 0",
    ),
    (
        checks.ladder_has_even_steps,
        replace(BOARD, ladder=replace(LADDER, adc_lsb=200.0)),
        "the wire off may read 62134, more than a third of a step from 65535",
    ),
    (
        checks.ladder_has_even_steps,
        replace(BOARD, ladder=replace(LADDER, steps=[0.001, 3300.0, *LADDER.steps[2:]])),
        "key 1 may read 0, more than a third of a step from 8192",
    ),
    (
        checks.heads_are_fast,
        replace(BOARD, head=replace(HEAD, load_ohm=10000.0)),
        "takes 400 µs to rise",
    ),
    (checks.heads_are_fast, replace(BOARD, head=replace(HEAD, led_ohm=68.0)), "LED draws 62 mA; it stands 50"),
    (
        checks.bus_is_fast,
        replace(BOARD, i2c=replace(I2C, pull_up=3300.0)),
        "a line of the I2C bus rises in 147 ns, at 1000 kHz it may take 120",
    ),
    (
        checks.bus_is_fast,
        replace(BOARD, i2c=replace(I2C, pull_up=1000.0)),
        "a part must sink 3.5 mA to pull the I2C bus down, and can sink 3.0",
    ),
    (
        checks.bus_is_fast,
        replace(BOARD, i2c=replace(I2C, khz=3400.0)),
        "the I2C bus is built for 3400 kHz; the FRAM stands 1000",
    ),
    (
        checks.power_outlasts_a_write,
        replace(BOARD, holdup=replace(HOLDUP, microfarad=470.0)),
        "the capacitor lasts 3.0 ms and 5.0 ms are needed",
    ),
    (
        checks.power_outlasts_a_write,
        replace(BOARD, holdup=replace(HOLDUP, least_volts=4.2)),
        "VSYS may be 4.2 V in use, and below 4.2 V the power is said to go",
    ),
    (
        checks.power_outlasts_a_write,
        replace(BOARD, holdup=replace(HOLDUP, rail_microfarad=10.0)),
        "V3V3 may fall past the FRAM in 0.13 ms; it asks for 0.5 ms",
    ),
    (
        checks.power_outlasts_a_write,
        replace(BOARD, holdup=replace(HOLDUP, reset_volts=2.63)),
        "the Pico runs down to 2.63 V, and the FRAM works from 2.7 V on",
    ),
    (checks.pins_can, change(BOARD, "KEYS", pull="up"), "KEYS is measured, and the Pico's pull up would bend it"),
    (checks.parts_can_be_ordered, change_part("lid_switch", number=""), "lid_switch has no maker's number"),
    (checks.parts_can_be_ordered, change_part("holdup", number="-"), "holdup has no maker's number"),
    (checks.parts_can_be_ordered, change_part("keys", quantity=0), "keys has a figure that cannot be: 0 pieces"),
    (checks.parts_can_be_ordered, change(BOARD, "LID", ma=-5.0), "LID carries -5 mA; the figure has no sign"),
    (checks.affordable, change_part("case", price=50.0), "it costs 149.80 USD, more than 125"),
]


@pytest.mark.parametrize(("check", "board", "sentence"), BROKEN, ids=[sentence for _, _, sentence in BROKEN])
def test_a_broken_board_is_caught(check: Callable[[Board], Any], board: Board, sentence: str) -> None:
    assert any(sentence in fault for fault in check(board)), list(check(board))
    assert any(sentence in fault for fault in checks.faults(board))


def test_what_is_wrong_in_both_variants_is_said_once() -> None:
    said = checks.faults(change(BOARD, "LID", gpio=21))
    assert said == ["GP21 is PIEZO and LID in the variant seats: move one"]


def test_every_check_has_a_board_that_it_catches() -> None:
    assert {check for check, _, _ in BROKEN} == set(checks.CHECKS)


@given(st.sampled_from(BOARD.signals), st.sampled_from(BOARD.signals))
def test_a_signal_moved_onto_anothers_pin_is_caught_unless_they_are_never_built_together(a: Signal, b: Signal) -> None:
    together = a.name != b.name and (not a.variant or not b.variant or a.variant == b.variant)
    said = list(checks.pins_used_once(change(BOARD, a.name, gpio=b.gpio)))
    assert any(a.name in fault and b.name in fault for fault in said) == together


@given(st.lists(st.integers(0, 29), min_size=len(BOARD.signals), max_size=len(BOARD.signals)))
def test_pins_are_used_once_exactly_if_no_variant_has_a_pin_twice(pins: list[int]) -> None:
    moved = replace(BOARD, signals=tuple(replace(s, gpio=g) for s, g in zip(BOARD.signals, pins, strict=True)))
    twice = False
    for variant in BOARD.variants:
        used = [signal.gpio for signal in moved.of(variant)]
        twice |= len(set(used)) < len(used)
    assert bool(list(checks.pins_used_once(moved))) == twice


@given(st.sampled_from(BOARD.signals), st.integers(0, 29))
def test_a_function_on_a_pin_that_lacks_it_is_caught(signal: Signal, gpio: int) -> None:
    moved = change(BOARD, signal.name, gpio=gpio)
    able = signal.function in rp2040.functions(gpio)
    said = [fault for fault in checks.pins_can(moved) if fault.startswith(f"{signal.name}: GP{gpio} cannot")]
    assert bool(said) == (not able)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "gpio = 22\n",
            "gpio = 22\nvolts = 3\n",
            "signal LID has volts, which means nothing here",
        ),
        ("gpio = 22\n", "", "signal LID does not say its gpio"),
        ("gpio = 22\n", "gpio = \n", "board.toml is not TOML"),
        ("[variants]\n", "[variety]\n", "board.toml has variety, which means nothing here"),
        ('mcu = "RP2040"\n', "", "board does not say its mcu"),
        ("gpio = 22\n", 'gpio = "22"\n', "signal LID: gpio is '22', where a whole number belongs"),
        ('number = "TSAL4400"\n', "", "part double_emitter does not say its number"),
        ("v5 = 62.5\n", "v5 = true\n", "part double_emitter: v5 is True, where a number belongs"),
    ],
)
def test_a_file_that_is_no_board_is_refused(old: str, new: str, sentence: str) -> None:
    text = (HARDWARE / "board.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    with pytest.raises(BoardError, match=sentence):
        read_board(text.replace(old, new))


def numbers(table: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all numbers in what TOML gave."""
    if isinstance(table, dict):
        for key in table:
            yield from numbers(table[key], (*path, key))
    elif isinstance(table, list):
        for number, each in enumerate(table):
            yield from numbers(each, (*path, number))
    elif isinstance(table, (int, float)):
        yield path


def changed(table: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy with another value at a place."""
    if not path:
        return value
    copy = table.copy()
    copy[path[0]] = changed(table[path[0]], path[1:], value)
    return copy


FILES = {
    name: (tomllib.loads((HARDWARE / name).read_text(encoding="utf-8")), needed)
    for name, needed in (("board.toml", NEEDED_IN_THE_SHOE), ("node.toml", NEEDED))
}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), True, -1, 10**400], ids=repr)
@pytest.mark.parametrize("file", FILES)
def test_no_number_is_one_that_every_comparison_lets_pass(file: str, value: Any) -> None:
    table, needed = FILES[file]
    places = list(numbers(table))
    assert ("board", "limit_usd") in places
    assert ("rails", "V5", "margin") in places
    for path in places:
        with pytest.raises(BoardError):
            board_of(changed(table, path, value), file, needed)


@pytest.mark.parametrize("key", ["rails", "holdup", "ladder", "head", "i2c"])
def test_what_is_divided_by_is_not_0_and_a_share_is_less_than_the_whole(key: str) -> None:
    table, needed = FILES["board.toml"]
    for path in numbers(table):
        if path[0] == key and path[-1] in ("margin", "tolerance"):
            with pytest.raises(BoardError, match="it is a share"):
                board_of(changed(table, path, 1), "board.toml", needed)
        elif path[0] == key != "rails":
            with pytest.raises(BoardError, match="must be more than 0"):
                board_of(changed(table, path, 0), "board.toml", needed)


@pytest.mark.parametrize(
    ("file", "key"),
    [
        *(("board.toml", key) for key in ("holdup", "i2c", "head", "ladder", "pio", "cable", "chip", "two", "signal")),
        *(("node.toml", key) for key in ("chip", "two", "signal", "part", "variants", "rails", "board")),
    ],
)
def test_a_section_without_which_a_check_finds_nothing_is_missed(file: str, key: str) -> None:
    table, needed = FILES[file]
    with pytest.raises(BoardError, match=f"{file} has no {key}: what is checked by it would go unchecked"):
        board_of({name: each for name, each in table.items() if name != key}, file, needed)
    with pytest.raises(BoardError, match=f"{file} has no {key}"):
        board_of(table | {key: type(table[key])()}, file, needed)
    with pytest.raises(BoardError):  # a part of a section: each names what it lacks
        board_of(table | {key: 7}, file, needed)


@pytest.mark.parametrize("key", ["holdup", "i2c", "head", "ladder", "pio"])
def test_a_section_that_lacks_a_line_is_refused(key: str) -> None:
    table, needed = FILES["board.toml"]
    whole = table[key][0] if isinstance(table[key], list) else table[key]
    for name in whole:
        less = {other: value for other, value in whole.items() if other != name}
        with pytest.raises(BoardError, match=f"does not say its {name}"):
            board_of(table | {key: [less] if isinstance(table[key], list) else less}, "board.toml", needed)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("part", 0, "ref"), "?", "pico has the ref '\\?': write"),
        (("part", 0, "ref"), "A1 - B2", 'write "Q1 Q2"'),
        (("chip", 0, "ref"), "", "a chip of pico has the ref ''"),
        (("cable", 0, "connector"), " ", "W1 has no connector"),
        (("two", 10, "value"), "0 Ω", "a resistor is of '0 Ω': write it as"),
        (("two", 10, "value"), "2k2", "a resistor is of '2k2': write it as"),
        (("rails",), {"V5": {}}, "board.toml has the rails V5; they are V5 and V3V3"),
        (("rails", "V5"), 3, "rail V5 is 3, where a table belongs"),
        (("variants", "seats"), 3, "one of variants is 3, where a text belongs"),
        (("part",), {"id": "x"}, r"part is one thing, where a list belongs: write \[\[part\]\]"),
        (("cable", 0, "wires", 0), 5, "one of wires is 5, where a text belongs"),
        (("ladder", "steps"), [], r"ladder: steps is \[\]; it must be more than 0"),
    ],
)
def test_a_value_that_no_check_could_make_sense_of_is_refused(
    path: tuple[str | int, ...], value: Any, sentence: str
) -> None:
    table, needed = FILES["board.toml"]
    with pytest.raises(BoardError, match=sentence):
        board_of(changed(table, path, value), "board.toml", needed)


def test_make_hardware_refuses_a_board_that_cannot_be_built(copy: Path) -> None:
    board = copy / "hardware" / "board.toml"
    board.write_text(board.read_text(encoding="utf-8").replace("gpio = 22\n", "gpio = 2\n"), encoding="utf-8")
    done = make_hardware(copy)
    assert done.returncode == 2
    assert "hardware/board.toml: GP2 is TAMPER and LID in the variant seats: move one\n" in done.stderr
    assert not (copy / "firmware" / "pins.py").exists()


def break_as(how: str, path: Path) -> None:
    """Make a file of the hardware unreadable in one way."""
    text = path.read_text(encoding="utf-8")
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how == "Latin-1":
        path.write_bytes("\n\n# µ\n".encode("latin-1") + text.encode())


@pytest.mark.parametrize("name", ["board.toml", "node.toml", "README.md", "pinout.md"])
@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("missing", "cannot be read (No such file or directory): restore it"),
        ("a folder", "cannot be read (Is a directory): restore it"),
        ("Latin-1", "is not UTF-8 in line 3: save it as UTF-8"),
    ],
)
def test_make_hardware_says_of_a_file_that_cannot_be_read_so_in_a_sentence(
    how: str, sentence: str, name: str, copy: Path
) -> None:
    break_as(how, copy / "hardware" / name)
    done = make_hardware(copy)
    assert done.returncode == 2
    assert done.stderr == f"hardware: {copy / 'hardware' / name} {sentence}\n"
    assert not (copy / "firmware" / "pins.py").exists()


def test_make_hardware_says_of_a_file_that_cannot_be_written_so_in_a_sentence(copy: Path) -> None:
    (copy / "firmware" / "pins.py").mkdir()
    done = make_hardware(copy)
    assert done.returncode == 2
    assert done.stderr == f"hardware: {copy / 'firmware' / 'pins.py'} cannot be read or written (Is a directory)\n"
