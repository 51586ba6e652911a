"""What is committed follows from hardware/board.toml, and says what the board says."""

from __future__ import annotations

import csv
import html
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from hardware.make_hardware import make_hardware
from sheets import harness, pinout
from sheets.bom import bill, lines
from sheets.checks import cost
from sheets.harness import colours, table
from sheets.model import HARDWARE, ROOT, Board, BoardError, the_board, the_node
from sheets.outputs import outputs
from sheets.pinout import header_pin
from wireviz.wireviz import parse

BOARD = the_board()
OUTPUTS = outputs(BOARD, the_node())
NODE_SHEET = "hardware/schematic/seat-node.svg"


@pytest.mark.parametrize("name", OUTPUTS)
def test_it_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == OUTPUTS[name], "run make hardware"


@pytest.mark.parametrize("page", [pinout.page, harness.page])
def test_a_page_that_has_lost_its_marks_is_said(page: Callable[[str, Board], str]) -> None:
    for old in ("", "garbage\n", pinout.BEGIN + harness.BEGIN):
        with pytest.raises(BoardError, match="a page has lost the line"):
            page(old, the_board())


def test_the_pins_of_the_header_are_the_picos() -> None:
    """Figure of the pinout in the Raspberry Pi Pico datasheet: some pins typed from it."""
    figure = {0: 1, 1: 2, 2: 4, 5: 7, 6: 9, 9: 12, 10: 14, 13: 17, 14: 19, 15: 20, 16: 21, 17: 22, 18: 24, 21: 27}
    figure |= {22: 29, 26: 31, 27: 32, 28: 34}
    assert {gpio: header_pin(gpio) for gpio in figure} == figure
    assert header_pin(29) is header_pin(23) is None


def test_the_drawing_of_the_pico_names_every_signal() -> None:
    drawn = {element.text or "" for element in ElementTree.fromstring(OUTPUTS["hardware/pinout.svg"]).iter()}
    for signal in BOARD.signals:
        assert any(signal.name in words for words in drawn), signal.name


def test_every_signal_is_in_the_schematic_with_its_pin() -> None:
    drawn = "".join(text for name, text in OUTPUTS.items() if "/schematic/" in name and name != NODE_SHEET)
    for signal in BOARD.of("seats"):
        if signal.name != "SUPPLY":  # on the Pico itself
            assert re.search(rf"\b{signal.name} \(GP{signal.gpio}\)", drawn), signal.name


def test_every_signal_and_part_of_a_seat_node_is_on_its_sheet() -> None:
    node, drawn = the_node(), OUTPUTS[NODE_SHEET]
    for signal in node.signals:
        assert re.search(rf"\b{signal.name} \(GP{signal.gpio}\)", drawn), signal.name
    for part in node.parts:
        for ref in part.ref.split() if part.ref != "-" else ():
            assert re.search(rf"\b{ref}\b", drawn), ref


def test_the_nodes_page_names_its_pins_and_levels_as_they_are() -> None:
    node, page = the_node(), OUTPUTS["hardware/node.md"]
    for signal in node.signals:
        for pin in re.findall(rf"{signal.name} \(pin (\d+)\)", page):
            assert int(pin) == header_pin(signal.gpio), signal.name
    assert len(re.findall(r"[A-Z_]+,? \(pin \d+\)", page)) >= 5
    for reading, volts in ((39000, "1.96"), (26000, "1.3 ")):
        assert f"{reading / 65535 * 3.3:.2f}".startswith(volts.strip())
        assert f"{reading}" in next(s.use for s in node.signals if s.name == "LIGHT")
        assert volts in page


def test_the_bill_of_materials_adds_up_and_stays_below_the_limit() -> None:
    rows = list(csv.DictReader(OUTPUTS["hardware/bom.csv"].splitlines()))
    for variant in BOARD.variants:
        total = sum(float(row["together, USD"]) for row in rows if row["variant"] in ("", variant))
        assert total == pytest.approx(cost(BOARD, variant))
        assert f"**{total:.2f} USD**" in OUTPUTS["hardware/bom.md"]
    assert cost(BOARD, BOARD.recommended) < BOARD.limit_usd
    assert sum(int(row["quantity"]) for row in rows) == sum(part.quantity for part in BOARD.parts)


@pytest.mark.parametrize("board", [BOARD, the_node()], ids=["shoe", "node"])
def test_the_bill_of_materials_says_of_each_line_how_to_order_it(board: Board) -> None:
    """A distributor's number where one was confirmed; where none was, that."""
    orders: dict[str, set[str]] = {}
    for part in board.parts:
        orders.setdefault(part.number, set()).add(part.order)
        assert re.fullmatch(r"((Adafruit|DigiKey|Mouser) \S.*)?", part.order), part.id
    assert all(len(said) == 1 for number, said in orders.items() if number != "-")  # a line takes its first part's
    page, rows = bill(board), lines(board)
    cells = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][2 : 2 + len(rows)]
    assert len(cells) == len(rows)
    for cell, row in zip(cells, rows, strict=True):
        assert cell[4] == (row[4] or ("any" if row[3] == "-" else "none confirmed")), row
    ordered = sum(bool(row[4]) for row in rows)
    assert f"\n{ordered} of {len(rows)} lines have a distributor's number" in page
    assert "the maker's number is given and no distributor's was confirmed" in page.replace("\n", " ")


def test_most_parts_with_a_number_can_be_ordered_by_a_distributors() -> None:
    rows = [row for row in lines(BOARD) if row[3] != "-"]
    assert sum(bool(row[4]) for row in rows) >= 15


def test_wireviz_takes_the_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["wireviz"])
    harness = parse(HARDWARE / "harness.yml", return_types="harness")
    assert list(harness.cables) == [cable.id for cable in reversed(BOARD.cables)]
    for cable in BOARD.cables:
        wires = harness.cables[cable.id].connections
        assert [wire.from_name for wire in wires] == [f"J{cable.id[1:]}"] * len(cable.wires)
        far = harness.connectors[f"X{cable.id[1:]}"]
        assert [far.pinlabels[far.pins.index(wire.to_pin)] for wire in wires] == cable.wires


PICTURE = HARDWARE / "harness.svg"


def test_the_picture_of_the_harness_shows_the_harness_as_it_is() -> None:
    """Its words: whether the cables are all there."""
    words = re.findall(r">([^<>]+)<", PICTURE.read_text(encoding="utf-8"))
    said = [html.unescape(word).strip() for word in words]
    for cable in BOARD.cables:
        number = cable.id[1:]
        far = cable.far_pins or range(1, len(cable.wires) + 1)
        for pin, (wire, colour, away) in enumerate(zip(cable.wires, colours(cable), far, strict=True), 1):
            assert any(word.endswith(f"J{number}:{pin}:{wire}") for word in said), (cable.id, wire)
            assert any(word.startswith(f"X{number}:{away}:{wire}") for word in said), (cable.id, wire)
            assert colour in said
    drawn = {word for word in said if re.fullmatch(r"W\d+", word)}
    assert drawn == {cable.id for cable in BOARD.cables}


def test_the_picture_of_the_harness_is_as_it_was_drawn() -> None:
    """Graphviz's version is in its bytes, so it is not drawn anew here."""
    said = "harness.svg is not the picture of harness.yml: install Graphviz (the command dot) and run make hardware"
    assert harness.is_drawn(PICTURE.read_text(encoding="utf-8"), OUTPUTS["hardware/harness.yml"]), said


@pytest.mark.parametrize("broken", [None, "", "<svg>", "another wire"])
def test_a_picture_of_the_harness_that_is_broken_is_drawn_again_or_said(
    broken: str | None, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = copy / "hardware" / "harness.svg"
    good = PICTURE.read_text(encoding="utf-8")
    if broken is not None:
        picture.write_text(good.replace("LID", "DIL") if broken == "another wire" else broken)
    monkeypatch.setenv("PATH", str(copy))
    done = make_hardware(copy)
    assert done.returncode == 1
    assert "harness.svg is not the picture of harness.yml" in done.stderr
    assert "install Graphviz (the command dot) and run make hardware again" in done.stderr
    assert not picture.exists() or picture.read_text() != good


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz here: WireViz draws the harness with its dot")
def test_make_hardware_draws_the_harness_again_and_then_leaves_it(copy: Path) -> None:
    picture = copy / "hardware" / "harness.svg"
    picture.write_text(PICTURE.read_text(encoding="utf-8").replace("LID", "DIL"), encoding="utf-8")
    done = make_hardware(copy)
    assert (done.returncode, "wrote hardware/harness.svg" in done.stdout) == (0, True), done.stderr
    assert harness.is_drawn(picture.read_text(encoding="utf-8"), OUTPUTS["hardware/harness.yml"])
    done = make_hardware(copy)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_harness_is_yaml_of_the_boards_cables() -> None:
    data = yaml.safe_load(OUTPUTS["hardware/harness.yml"])
    assert {name: cable["length"] * 1000 for name, cable in data["cables"].items()} == {
        cable.id: pytest.approx(cable.mm) for cable in BOARD.cables
    }
    assert all(len(set(cable["colors"])) == len(cable["colors"]) for cable in data["cables"].values())
    assert all(cable.id in table(BOARD) for cable in BOARD.cables)
