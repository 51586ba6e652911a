"""The strips of a deck on sheets of label paper: two for each card, to cut out and to stick on its short edges. Pure.

A strip is 63.5 mm long, as long as the short edge, and 14 mm wide. Its outer edge lies on the card's short edge: with
the face up and that short edge away from you, the card's leading edge is on the left. Both strips of a card are alike,
so a card turned by 180 degrees shows the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from dealershoe.deck.cards import FIFTY_TWO, JOKERS, card_name
from dealershoe.deck.drawing import Bar, Line, Page, Words
from dealershoe.deck.strip import TRACKS, TRAVEL, Strip, print_strip

PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}  # ISO 216; ANSI/ASME Y14.1 size A
DECKS = 4  # deck numbers that the code has
WIDE = 14.0  # mm: a strip across
FIRST_TRACK, TRACK_PITCH, TRACK_WIDE = 4.0, 4.0, 3.0  # from the outer edge to the middle of CLK; hardware/README.md
LEFT, TOP, BOTTOM = 32.0, 24.0, 12.0  # margins of the sheet
BESIDE, BELOW = 8.0, 4.0  # between strips
TEST_CARD, TEST_DECK = 54, 1  # a valid code of no card, which the shoe's self-test knows
BLACK = Strip(*(((20.0, TRAVEL - 20.0),) for _ in TRACKS))  # for setting the comparators: white, long black, white
RULER = 100.0


class Row(NamedTuple):
    """A card's two strips, and what is written beside them."""

    name: str
    strip: Strip


def rows(deck: int, jokers: bool) -> Iterator[Row]:
    """All cards of a deck, then the test card and the set-up card."""
    for number in (*range(len(FIFTY_TWO)), *(JOKERS if jokers else ())):
        which = f" {JOKERS.index(number) + 1}" if number in JOKERS else ""
        yield Row(f"{card_name(number)}{which}, deck {deck}", print_strip(number, deck))
    yield Row("test card", print_strip(TEST_CARD, TEST_DECK))
    yield Row("set-up: black", BLACK)


def places(paper: str) -> list[tuple[float, float]]:
    """Where the left strips of a sheet's rows have their upper left corners."""
    _, height = PAPERS[paper]
    count = int((height - TOP - BOTTOM) // (WIDE + BELOW))
    return [(LEFT, TOP + row * (WIDE + BELOW)) for row in range(count)]


def sheets(deck: int, paper: str, jokers: bool) -> list[Page]:
    """The pages to print. `deck` 0 to 3, `paper` one of PAPERS."""
    left = rows(deck, jokers)
    spots = places(paper)
    pages: list[Page] = []
    while some := list(islice(left, len(spots))):
        pages.append(_page(some, spots, paper, len(pages) + 1))
    return pages


def _page(some: Iterable[Row], spots: list[tuple[float, float]], paper: str, number: int) -> Page:
    page = Page(*PAPERS[paper])
    put = page.shapes.append
    put(Words(LEFT, 9.0, f"card-code strips, sheet {number}: carbon black toner or pigment, printed at 100 %"))
    put(Words(LEFT, 13.0, "upper edge of a strip = short edge of the card, face towards you; left = leading edge"))
    put(Line(LEFT, 17.0, LEFT + RULER, 17.0))
    for tick in range(11):
        put(Line(LEFT + 10 * tick, 15.5, LEFT + 10 * tick, 17.0))
    put(Words(LEFT + RULER + 2, 17.0, "must be 100 mm"))
    for row, (x, y) in zip(some, spots, strict=False):
        put(Words(5.0, y + WIDE / 2, row.name))
        for at in (x, x + TRAVEL + BESIDE):
            page.shapes.extend(cut_marks(at, y))
            page.shapes.extend(bars(row.strip, at, y))
    return page


def bars(strip: Strip, x: float, y: float) -> Iterator[Bar]:
    """A strip's dark marks, with its leading outer corner at (x, y)."""
    for order, track in enumerate(TRACKS):
        top = y + FIRST_TRACK + order * TRACK_PITCH - TRACK_WIDE / 2
        for start, end in getattr(strip, track):
            yield Bar(x + start, top, end - start, TRACK_WIDE)


def cut_marks(x: float, y: float) -> Iterator[Line]:
    """Where to cut: at the four corners, outside the strip; an arrow at the leading edge; a tick in the middle."""
    right, low = x + TRAVEL, y + WIDE
    for at in (y, low):
        yield Line(x - 3, at, x - 0.7, at)
        yield Line(right + 0.7, at, right + 3, at)
    for across in (x, x + TRAVEL / 2, right):
        yield Line(across, y - 1.7, across, y - 0.5)
        yield Line(across, low + 0.5, across, low + 1.7)
    middle = y + WIDE / 2
    yield Line(x - 3, middle, x - 1, middle - 1)
    yield Line(x - 3, middle, x - 1, middle + 1)
