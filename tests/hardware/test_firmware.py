"""The board and the firmware agree: each check of hardware/sheets/firmware.py passes and catches what differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hardware.make_hardware import make_hardware
from sheets import firmware, model
from sheets.firmware import Firmware
from sheets.model import Board, BoardError, the_board, the_node

BOARD, NODE, ASKED = the_board(), the_node(), firmware.the_firmware()
assert BOARD.i2c
assert BOARD.ladder


def change(name: str, /, **new: Any) -> Board:
    """The board with a signal changed."""
    return replace(BOARD, signals=tuple(replace(s, **new) if s.name == name else s for s in BOARD.signals))


def test_the_boards_give_what_the_firmware_asks_for() -> None:
    assert firmware.faults(BOARD, ASKED) == []
    assert firmware.node_faults(NODE, firmware.the_nodes_gpios()) == []


def test_what_the_firmware_asks_for_is_read_from_its_source() -> None:
    assert ASKED.pio == {"firmware/drivers/sampler.py:_sample": 1}
    assert ASKED.dma == 1
    assert ASKED.khz == 1000
    assert {"HOST_TX", "BOTTOM_CLK", "KEYS"} <= ASKED.pins
    assert {40000, 30000} <= ASKED.numbers
    assert ASKED.key_levels == tuple(65535 * eighth // 8 for eighth in range(1, 8))  # six keys, and none
    assert ASKED.key_tolerance == pytest.approx(65535 / 8 / 3, rel=0.01)
    assert firmware.the_nodes_gpios() == {0, 1, 2, 3, 4, 10, 11, 12, 13, 26}


BROKEN: list[tuple[Callable[[Board, Firmware], Any], Board, Firmware, str]] = [
    (
        firmware.programs_are_booked,
        replace(BOARD, pio=(replace(BOARD.pio[0], program="firmware/drivers/sampler.py:_simple"),)),
        ASKED,
        "the PIO program firmware/drivers/sampler.py:_simple is booked, and the firmware has none of that name; it has "
        "firmware/drivers/sampler.py:_sample",
    ),
    (
        firmware.programs_are_booked,
        BOARD,
        replace(ASKED, pio={**ASKED.pio, "x.py:y": 3}),
        "the firmware's PIO program x.py:y is not booked: add a [[pio]] for it",
    ),
    (
        firmware.programs_are_booked,
        replace(BOARD, pio=(replace(BOARD.pio[0], words=0),)),
        ASKED,
        "the PIO program firmware/drivers/sampler.py:_sample has 1 instructions; 0 are booked",
    ),
    (
        firmware.programs_are_booked,
        replace(BOARD, pio=(replace(BOARD.pio[0], dma=0),)),
        ASKED,
        "the firmware uses 1 DMA channels; 0 are booked",
    ),
    (
        firmware.bus_is_as_fast_as_asked,
        replace(BOARD, i2c=replace(BOARD.i2c, khz=400.0)),
        ASKED,
        "firmware/drivers/fram.py asks the I2C bus for 1000 kHz, and it is built for 400",
    ),
    (
        firmware.ladder_gives_the_levels,
        replace(BOARD, ladder=replace(BOARD.ladder, pull_up=6800.0)),
        ASKED,
        "key 1 may read 10987 to 13462; firmware/board.py takes 5461 to 10921 for it",
    ),
    (
        firmware.ladder_gives_the_levels,
        BOARD,
        replace(ASKED, key_levels=(4000, *ASKED.key_levels[1:]), key_tolerance=6000),
        "what begins at -2000 is not told from what ends at 1303 (firmware/board.py)",
    ),
    (
        firmware.ladder_gives_the_levels,
        BOARD,
        replace(ASKED, key_tolerance=7400),
        "what begins at 64694 is not told from what ends at 64743 (firmware/board.py)",
    ),
    (
        firmware.ladder_gives_the_levels,
        replace(BOARD, ladder=replace(BOARD.ladder, steps=[2000.0])),
        ASKED,
        "the ladder has 0 keys; firmware/board.py has levels for 6",
    ),
    (
        firmware.pins_have_signals,
        change("LID", name="COVER"),
        ASKED,
        "firmware/board.py asks for the pin of LID, and there is no such signal",
    ),
    (
        firmware.pins_have_signals,
        change("AMBIENT", use="light of the room: about 3000; dazzle above 41000, over below 30000"),
        ASKED,
        "the use of AMBIENT names 41000; firmware/board.py decides by no such level",
    ),
]


@pytest.mark.parametrize(("check", "board", "asked", "sentence"), BROKEN, ids=[broken[-1] for broken in BROKEN])
def test_a_board_that_differs_from_its_firmware_is_caught(
    check: Callable[[Board, Firmware], Any], board: Board, asked: Firmware, sentence: str
) -> None:
    assert sentence in list(check(board, asked))
    assert sentence in firmware.faults(board, asked)


def test_whatever_keys_are_down_together_the_ladder_shows_the_lowest() -> None:
    """Every set of keys, with new contacts and worn ones, by Ohm's law from the far end; within what the firmware takes
    for the lowest, with what board.toml says that the ADC may add or take away."""
    ladder = BOARD.ladder
    assert ladder
    reference = 3.3 - ladder.reference_ohm * ladder.reference_ma / 1000
    for down in range(1 << 6):
        for off, contact, worst in product((-ladder.tolerance, ladder.tolerance), (0.1, ladder.contact_ohm), (-1, 1)):
            *steps, last = [step * (1 + off) for step in ladder.steps]
            ohm = last
            for key in reversed(range(6)):
                if down >> key & 1:
                    ohm = contact * ohm / (contact + ohm)
                ohm += steps[key]
            volts = 3.3 * ohm / (ohm + ladder.pull_up * (1 - off)) + worst * ladder.leak_ua * 1e-6 * ladder.pull_up
            level = 65535 * volts / (reference if worst > 0 else 3.3) + worst * 16 * ladder.adc_lsb
            lowest = (down & -down).bit_length() - 1 if down else 6
            assert abs(level - ASKED.key_levels[lowest]) <= ASKED.key_tolerance, (bin(down), off, contact, worst)


def test_every_check_has_a_board_that_it_catches() -> None:
    assert {check for check, *_ in BROKEN} == set(firmware.CHECKS)


def test_a_node_that_differs_from_its_firmware_is_caught() -> None:
    gpios = firmware.the_nodes_gpios()
    assert firmware.node_faults(NODE, gpios | {22}) == ["firmware/node/board.py uses GP22, and no signal is there"]
    assert firmware.node_faults(NODE, gpios - {26}) == ["LIGHT is on GP26, which firmware/node/board.py does not use"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("sampler.py:_sample", "sampler.py:_simple", "and the firmware has none of that name"),
        ("khz = 1000.0", "khz = 3400", "the I2C bus is built for 3400 kHz; the FRAM stands 1000"),
        ("khz = 1000.0", "khz = 400", "asks the I2C bus for 1000 kHz, and it is built for 400"),
    ],
)
def test_make_hardware_refuses_what_the_firmware_cannot_work_on(old: str, new: str, sentence: str, copy: Path) -> None:
    board = copy / "hardware" / "board.toml"
    text = board.read_text(encoding="utf-8")
    assert text.count(old) == 1
    board.write_text(text.replace(old, new), encoding="utf-8")
    done = make_hardware(copy)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.startswith("hardware/board.toml: ")
    assert not (copy / "firmware" / "pins.py").exists()


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("board.py", "KEY_LEVELS = LEVELS\n", "firmware/board.py does not say KEY_LEVELS and KEY_TOLERANCE"),
        ("board.py", "def (:\n", "board.py is not Python"),
        ("drivers/fram.py", "", "firmware/drivers/fram.py does not say in one figure how fast it asks for I2C"),
        ("node/board.py", None, "board.py cannot be read"),
    ],
)
def test_firmware_that_does_not_say_what_it_asks_for_is_a_sentence(
    name: str, text: str | None, sentence: str, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "ROOT", copy)
    firmware.the_firmware()
    firmware.the_nodes_gpios()
    path = copy / "firmware" / name
    path.unlink()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    read = firmware.the_nodes_gpios if name.startswith("node") else firmware.the_firmware
    with pytest.raises(BoardError, match=sentence):
        read()
