"""Cards that have been used, and light where there should be none: for tests and benchmarks of the card code."""

from __future__ import annotations

import random

from firmware.listening import Left, the_card
from firmware.physics import (
    CELL,
    CLK,
    DATA,
    NDATA,
    TOP_CLK,
    TOP_DATA,
    Card,
    Scene,
    bits_of,
    cell_at,
    print_card,
    random_ride,
)

HEADS = CLK | DATA | NDATA | TOP_CLK | TOP_DATA


def invert(paper: Card, cell: int, bit: int) -> None:
    """Both tracks of a cell show the opposite: only the CRC can tell."""
    start = cell_at(cell)
    dark, light = ("ndata", "data") if bit else ("data", "ndata")
    paper.smudge(dark, start, start + CELL)
    paper.scratch(light, start, start + CELL)


def soil(paper: Card, bits: list[int], rng: random.Random) -> None:
    """Up to three specks or scratches anywhere on any track; on every second card cells are inverted as well."""
    for _ in range(rng.randrange(4)):
        start = rng.uniform(8, 55)
        mark = paper.smudge if rng.random() < 0.5 else paper.scratch
        long = rng.uniform(0.1, 1.2) if rng.random() < 0.5 else rng.uniform(1, 4)
        mark(rng.choice(("clk", "data", "ndata")), start, start + long)
    if rng.random() < 0.5:
        first = rng.randrange(1, 17)
        for cell in range(first, min(first + rng.randrange(1, 5), 17)):
            invert(paper, cell, bits[cell - 1])


def dazzle(samples: bytes, rng: random.Random) -> bytes:
    """Light from outside: for 0.5 to 20 ms somewhere in the passage every head sees light."""
    start = rng.randrange(len(samples))
    end = start + rng.randrange(10, 400)
    return bytes(level & ~HEADS if start <= at < end else level for at, level in enumerate(samples))


def count(counts: dict[str, int], left: Left, card: int, deck: int, boxed: bool) -> None:
    """A boxed card's identity is told as uncertain, so a wrong one is not a silent misread and has its own number."""
    if left.card is None:
        counts["unread"] += 1
    elif (left.card, left.deck) == (card, deck):
        counts["right"] += 1
    else:
        counts["boxed wrong" if left.boxed and boxed else "wrong"] += 1


def soiled_run(seed: int, passes: int) -> dict[str, int]:
    """How many passes of soiled cards, every tenth of them dazzled, were read right, wrong, or not at all."""
    rng = random.Random(seed)
    counts = {"right": 0, "wrong": 0, "boxed wrong": 0, "unread": 0}
    for _ in range(passes):
        card, deck = rng.randrange(54), rng.randrange(4)
        boxed = rng.random() < 0.2
        paper = print_card(card, deck, boxed=boxed)
        soil(paper, bits_of(card, deck), rng)
        samples = Scene([(paper, 0)]).samples(random_ride(rng))
        count(counts, the_card(dazzle(samples, rng) if rng.random() < 0.1 else samples), card, deck, boxed)
    return counts
