"""Pages of rectangles, lines and words in millimetres, and the same pages as SVG and as PDF, true to size. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from xml.sax.saxutils import escape

import pydyf

POINT = 72 / 25.4  # points in a millimetre
HAIR = 0.1  # mm: the width of a line


@dataclass(frozen=True, slots=True)
class Bar:
    """A black rectangle; `y` goes down from the top of the page."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A hairline, to cut or to measure along."""

    x: float
    y: float
    to_x: float
    to_y: float


@dataclass(frozen=True, slots=True)
class Words:
    """Text whose base line begins at (x, y); `size` is that of the letters in mm."""

    x: float
    y: float
    text: str
    size: float = 2.5


@dataclass(frozen=True, slots=True)
class Page:
    """A sheet of paper."""

    width: float
    height: float
    shapes: list[Bar | Line | Words] = field(default_factory=list)


def _mm(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def as_svg(page: Page) -> str:
    """One page; its units are millimetres, and it asks to be printed so."""
    size = f"{_mm(page.width)} {_mm(page.height)}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_mm(page.width)}mm" height="{_mm(page.height)}mm" '
        f'viewBox="0 0 {size}">',
        f'<rect width="{_mm(page.width)}" height="{_mm(page.height)}" fill="#fff"/>',
        f'<g fill="#000" stroke="none" font-family="Helvetica, Arial, sans-serif" stroke-width="{HAIR}">',
    ]
    for shape in page.shapes:
        match shape:
            case Bar(x, y, width, height):
                lines.append(f'<rect x="{_mm(x)}" y="{_mm(y)}" width="{_mm(width)}" height="{_mm(height)}"/>')
            case Line(x, y, to_x, to_y):
                ends = f'x1="{_mm(x)}" y1="{_mm(y)}" x2="{_mm(to_x)}" y2="{_mm(to_y)}"'
                lines.append(f'<line {ends} stroke="#000"/>')
            case Words(x, y, text, letters):
                lines.append(f'<text x="{_mm(x)}" y="{_mm(y)}" font-size="{_mm(letters)}">{escape(text)}</text>')
    return "\n".join([*lines, "</g>", "</svg>", ""])


def as_pdf(pages: Sequence[Page]) -> bytes:
    """All pages in one file."""
    pdf = pydyf.PDF()
    font = pydyf.Dictionary({"Type": "/Font", "Subtype": "/Type1", "BaseFont": "/Helvetica"})
    pdf.add_object(font)
    for page in pages:
        stream = pydyf.Stream()
        stream.set_color_rgb(0, 0, 0)
        stream.set_color_rgb(0, 0, 0, stroke=True)
        stream.set_line_width(HAIR * POINT)
        for shape in page.shapes:
            _put(stream, shape, page.height)
        pdf.add_object(stream)
        pdf.add_page(
            pydyf.Dictionary(
                {
                    "Type": "/Page",
                    "Parent": pdf.pages.reference,
                    "Contents": stream.reference,
                    "MediaBox": pydyf.Array([0, 0, page.width * POINT, page.height * POINT]),
                    "Resources": pydyf.Dictionary({"Font": pydyf.Dictionary({"F1": font.reference})}),
                }
            )
        )
    # a viewer that asks this prints at 100 % (ISO 32000-1, table 150)
    pdf.catalog["ViewerPreferences"] = pydyf.Dictionary({"PrintScaling": "/None"})
    out = BytesIO()
    pdf.write(out, version=b"1.7")
    return out.getvalue()


def _put(stream: pydyf.Stream, shape: Bar | Line | Words, height: float) -> None:
    """PDF counts y up from the bottom, in points."""
    match shape:
        case Bar(x, y, width, tall):
            stream.rectangle(x * POINT, (height - y - tall) * POINT, width * POINT, tall * POINT)
            stream.fill()
        case Line(x, y, to_x, to_y):
            stream.move_to(x * POINT, (height - y) * POINT)
            stream.line_to(to_x * POINT, (height - to_y) * POINT)
            stream.stroke()
        case Words(x, y, text, letters):
            stream.begin_text()
            stream.set_font_size("F1", letters * POINT)
            stream.set_text_matrix(1, 0, 0, 1, x * POINT, (height - y) * POINT)
            stream.show_text_string(text)
            stream.end_text()
