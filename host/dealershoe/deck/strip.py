"""The card code as it is printed: dark marks on three tracks along a card's short edges, to print and to emulate.

Lengths are millimetres from the edge that leaves the shoe first. A card leaves long edge first: 63.5 mm of travel. The
code is 18 cells of 2.5 mm in the middle of it: start, sixteen bits with the most significant first (card 6 | deck 2 |
CRC-8 with bit 5 the other way about), stop. CLK is dark in the first half of each cell. DATA and /DATA fill the cell:
one of them is dark in a data cell, both in the start cell, neither in the stop cell. Both short edges carry the code so
that a card turned by 180 degrees reads the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

TRAVEL = 63.5
CELL = 2.5
CELLS = 18
MARGIN = (TRAVEL - CELL * CELLS) / 2
TRACKS = ("clk", "data", "ndata")
MOVED = 0x20  # bits of the CRC that are printed the other way about, so that no word is another one moved by a cell

Mark = tuple[float, float]  # a dark stretch: from, to


def crc8h2f(data: bytes) -> int:
    """CRC-8 of the AUTOSAR SWS CRC library, CRC8H2F: polynomial 0x2F, start 0xFF, not reflected, inverted at the end.

    >>> hex(crc8h2f(b"123456789"))
    '0xdf'
    """
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x2F) & 0xFF if crc & 0x80 else crc << 1
    return crc ^ 0xFF


def code_word(card: int, deck: int) -> int:
    """The sixteen bits of card 0 to 63 of deck 0 to 3."""
    if not (0 <= card < 64 and 0 <= deck < 4):
        raise ValueError(f"card {card} of deck {deck} has no code: card 0 to 63, deck 0 to 3")
    first = card << 2 | deck
    return first << 8 | crc8h2f(bytes([first])) ^ MOVED


def _merged(marks: list[Mark]) -> tuple[Mark, ...]:
    joined: list[Mark] = []
    for start, end in sorted(marks):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _without(marks: tuple[Mark, ...], gap_start: float, gap_end: float) -> tuple[Mark, ...]:
    kept: list[Mark] = []
    for start, end in marks:
        if start < min(end, gap_start):
            kept.append((start, min(end, gap_start)))
        if max(start, gap_end) < end:
            kept.append((max(start, gap_end), end))
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Strip:
    """What is printed (and has happened since) along one short edge. No marks at all: an ordinary card's white edge."""

    clk: tuple[Mark, ...] = ()
    data: tuple[Mark, ...] = ()
    ndata: tuple[Mark, ...] = ()

    def dirty(self, track: str, start: float, end: float) -> Strip:
        """A dark smudge on one track."""
        return replace(self, **{track: _merged([*getattr(self, track), (start, end)])})

    def torn(self, start: float, end: float) -> Strip:
        """Nothing left to see between two places: torn off, scratched or glaring."""
        return Strip(*(_without(getattr(self, track), start, end) for track in TRACKS))

    def misprinted(self, shift: float = 0.0, stretch: float = 1.0) -> Strip:
        """The whole print moved by `shift` mm and scaled about the middle of the card."""
        middle = TRAVEL / 2

        def moved(place: float) -> float:
            return middle + (place - middle) * stretch + shift

        return Strip(*(tuple((moved(a), moved(b)) for a, b in getattr(self, track)) for track in TRACKS))


def print_strip(card: int, deck: int) -> Strip:
    """The strip of a card, as it leaves the printer."""
    word = code_word(card, deck)
    clk: list[Mark] = []
    data: list[Mark] = []
    ndata: list[Mark] = []
    for cell in range(CELLS):
        start = MARGIN + cell * CELL
        clk.append((start, start + CELL / 2))
        first, last = cell == 0, cell == CELLS - 1
        one = not first and not last and word >> (CELLS - 2 - cell) & 1
        if first or one:
            data.append((start, start + CELL))
        if first or not (one or last):
            ndata.append((start, start + CELL))
    return Strip(_merged(clk), _merged(data), _merged(ndata))
