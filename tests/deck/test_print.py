"""Printed strips: true to size, and what a printer puts on paper is what the shoe reads."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from dealershoe.deck import sheet
from dealershoe.deck.command import command
from dealershoe.deck.drawing import Line, as_pdf
from dealershoe.deck.strip import TRAVEL
from dealershoe.errors import UserError
from firmware.hand import Hand
from firmware.magnitudes import Magnitudes
from firmware.optics import EDGES, ON_CARD, Paper, Row, Window, covered
from firmware.passes import Reader, fast

pdfium: Any = import_module("pypdfium2")
DPI = 600
DOT = 25.4 / DPI
SVG = "{http://www.w3.org/2000/svg}"
Place = tuple[float, float]
SIZE = Magnitudes()


def expected(deck: int) -> list[tuple[int, int] | None]:
    """Card and deck of each row: 52, two jokers, the test card (54 of deck 1), and the black bar, which has no code."""
    return [*((card, deck) for card in range(54)), (54, 1), None]


def written(tmp_path: Path, name: str, *options: str) -> list[Path]:
    done = CliRunner().invoke(command, ["print", str(tmp_path / name), *options], catch_exceptions=False)
    assert done.exit_code == 0
    return [Path(line) for line in done.output.splitlines()]


def rasterised(path: Path) -> list[Any]:
    """The pages as a printer of 600 dpi has them: rows of 0 (black) to 1."""
    document = pdfium.PdfDocument(path)
    try:
        return [page.render(scale=DPI / 72, grayscale=True).to_numpy().squeeze() / 255.0 for page in document]
    finally:
        document.close()


def cut_out(raster: Any, place: Place, scale: float = 1.0, askew: float = 0.0) -> list[Row]:
    """The three tracks of the strip at this place, as reflectance every 0.05 mm of the card. `askew`: degrees by which
    the strip was turned about its middle before it was stuck on."""
    x, y = place
    along = EDGES[:-1] + 0.025 - TRAVEL / 2
    turn = np.array(
        [
            [np.cos(np.radians(askew)), -np.sin(np.radians(askew))],
            [np.sin(np.radians(askew)), np.cos(np.radians(askew))],
        ]
    )
    rows = []
    for order in range(3):
        seen = np.zeros_like(along)
        for across in np.linspace(-1.35, 1.35, 28):  # a slit looks at the middle 2.8 mm of a track: hardware/README.md
            from_middle = 4.0 + 4.0 * order + across - sheet.WIDE / 2
            to_right, down = turn @ np.stack([along, np.full_like(along, from_middle)]) / scale
            column = np.clip(((x + TRAVEL / 2 + to_right) / DOT).astype(int), 0, raster.shape[1] - 1)
            line = np.clip(((y + sheet.WIDE / 2 + down) / DOT).astype(int), 0, raster.shape[0] - 1)
            seen += raster[line, column] / 28
        rows.append(((0.05 + 0.85 * seen) * ON_CARD).astype(np.float32))
    return rows


def read(rows: list[Row], seed: int) -> tuple[int, int] | None:
    """What the firmware makes of such a strip, through a shoe with tolerances and by a hand that changes its speed."""
    rng = random.Random(seed)
    samples = Window(rng, SIZE).samples([(Paper(rows), 0.0)], Hand(rng, SIZE).draw(120.0))
    with fast():
        (told,) = Reader().feed(samples)
    return told.code


def places(paper: str) -> list[list[Place]]:
    """Where the strips of each row are, left and right."""
    return [[(x, y), (x + TRAVEL + 8.0, y)] for x, y in sheet.places(paper)]


@pytest.mark.parametrize(("deck", "paper"), [(0, "a4"), (3, "letter")])
def test_a_printed_deck_is_read(tmp_path: Path, deck: int, paper: str) -> None:
    """Every strip of every card, both edges, rasterised at 600 dpi."""
    (path,) = written(tmp_path, "deck.pdf", "--deck", str(deck), "--paper", paper)
    found: list[list[tuple[int, int] | None]] = []
    for raster in rasterised(path):
        assert raster.shape == pytest.approx([side / DOT for side in reversed(sheet.PAPERS[paper])], abs=1.5)
        for number, row in enumerate(places(paper)):
            if len(found) < 56:
                found.append([read(cut_out(raster, place), 10 * len(found) + number) for place in row])
    assert found == [[one, one] for one in expected(deck)]


def test_the_svg_is_in_millimetres_and_says_the_same(tmp_path: Path) -> None:
    paths = written(tmp_path, "deck.svg", "--deck", "1")
    assert [path.name for path in paths] == [f"deck-{number}.svg" for number in range(1, len(paths) + 1)]
    found: list[list[tuple[int, int] | None]] = []
    for path in paths:
        root = ET.parse(path).getroot()
        assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("210mm", "297mm", "0 0 210 297")
        names = ("x", "y", "width", "height")
        boxes = [tuple(float(box.get(name, 0)) for name in names) for box in root.iter(f"{SVG}rect")]
        for row in places("a4"):
            if len(found) < 56:
                found.append([read(tracks_of(boxes, place), 7) for place in row])
    assert found == [[one, one] for one in expected(1)]


def tracks_of(boxes: list[tuple[float, ...]], place: Place) -> list[Row]:
    x, y = place
    rows = []
    for order in range(3):
        middle = y + 4.0 + 4.0 * order
        here = [
            (left - x, left - x + width)
            for left, top, width, height in boxes
            if top < middle < top + height and x <= left < x + TRAVEL
        ]
        rows.append(ON_CARD * (0.9 - 0.85 * covered(here)))
    return rows


def test_without_jokers_and_other_paper(tmp_path: Path) -> None:
    assert [row.name for row in sheet.rows(2, jokers=False)][-3:] == ["As, deck 2", "test card", "set-up: black"]
    assert len(list(sheet.rows(2, jokers=True))) == 56


def test_each_sheet_has_a_ruler_and_cut_marks_that_touch_no_strip(tmp_path: Path) -> None:
    for page in sheet.sheets(0, "letter", True):
        lines = [shape for shape in page.shapes if isinstance(shape, Line)]
        assert any(line.to_x - line.x == 100.0 and line.y == line.to_y for line in lines)
        for x, y in [place for row in places("letter") for place in row]:
            for line in lines:
                inside = x < (line.x + line.to_x) / 2 < x + TRAVEL and y < (line.y + line.to_y) / 2 < y + sheet.WIDE
                assert not inside
        assert max(shape.y for shape in page.shapes) < page.height


@pytest.mark.parametrize("place", ["nowhere/deck.pdf", "file/deck.pdf", "folder.pdf"])
def test_a_place_that_takes_no_file_is_refused_in_a_sentence(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder.pdf").mkdir()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UserError, match="cannot be written") as refused:
        CliRunner().invoke(command, ["print", str(tmp_path / place)], catch_exceptions=False)
    assert "\n" not in str(refused.value)
    assert sorted(tmp_path.iterdir()) == before


def test_of_several_sheets_all_are_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "deck-3.svg").mkdir()
    (tmp_path / "deck-1.svg").write_text("last year's")
    with pytest.raises(UserError, match=r"deck-3\.svg cannot be written"):
        CliRunner().invoke(command, ["print", str(tmp_path / "deck.svg")], catch_exceptions=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deck-1.svg", "deck-3.svg"]
    assert (tmp_path / "deck-1.svg").read_text() == "last year's"


@pytest.mark.parametrize(
    "option", [("--deck", "4"), ("--deck", "one"), ("--paper", "a5"), ("--colour", "blue"), ("x",)]
)
def test_a_bad_option_writes_nothing(tmp_path: Path, option: tuple[str, ...]) -> None:
    done = CliRunner().invoke(command, ["print", str(tmp_path / "deck.pdf"), *option])
    assert done.exit_code == 2
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def first_sheet() -> Any:
    """The first sheet of deck 0 as a printer of 600 dpi has it."""
    document = pdfium.PdfDocument(as_pdf(sheet.sheets(0, "a4", True)[:1]))
    try:
        return document[0].render(scale=DPI / 72, grayscale=True).to_numpy().squeeze() / 255.0
    finally:
        document.close()


# how wrong a printer and a hand that sticks may be: ink spread (each edge of a bar, mm), scale, degrees askew
BADLY = [(0.15, 1.0, 0.0), (-0.15, 1.0, 0.0), (0.0, 1.02, 0.0), (0.0, 0.98, 0.0), (0.0, 1.0, 1.0), (0.1, 0.995, -1.0)]


@pytest.mark.parametrize(("spread", "scale", "askew"), BADLY)
def test_a_badly_printed_strip_is_read(first_sheet: Any, spread: float, scale: float, askew: float) -> None:
    found = []
    for number, row in enumerate(places("a4")):
        found.append([read(worse(cut_out(first_sheet, place, scale, askew), spread), 10 * number) for place in row])
    assert found == [[one, one] for one in expected(0)[: len(found)]]


def worse(rows: list[Row], spread: float) -> list[Row]:
    """Dark grows by so much at each of its edges, or shrinks."""
    grains = 2 * round(abs(spread) / 0.05) + 1
    end = np.min if spread > 0 else np.max
    padded = [np.pad(row, grains // 2, mode="edge") for row in rows]
    return [np.asarray(end(np.lib.stride_tricks.sliding_window_view(row, grains), axis=1)) for row in padded]


@pytest.mark.parametrize("name", ["", ".", "/", ".pdf", "deck", "deck.txt", "pdf/"])
def test_a_name_that_is_no_picture_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as refused:
        CliRunner().invoke(command, ["print", name], catch_exceptions=False)
    said = "no file was named" if name in ("", ".", "/") else f"`{name.rstrip('/')}` is no name of a .pdf or an .svg"
    assert str(refused.value) == f"{said}; name the file deck.pdf or deck.svg"
    assert not list(tmp_path.iterdir())


def test_a_picture_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        CliRunner().invoke(command, ["print", str(tmp_path / "nowhere" / "deck.pdf")], catch_exceptions=False)
    assert not list(tmp_path.iterdir())
