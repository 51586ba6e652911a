"""Writes the bill of materials, as a page and as a table for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections import Counter

from sheets.checks import cost
from sheets.model import Board, Part

HEADING = (
    "quantity",
    "part",
    "maker",
    "maker's number",
    "order",
    "in the schematic",
    "each, USD",
    "together, USD",
    "variant",
)
NUMBER, ORDER = HEADING.index("maker's number"), HEADING.index("order")


def lines(board: Board) -> list[tuple[str, ...]]:
    """A line for each thing to buy: equal pieces of several parts of the shoe together."""

    def thing(part: Part) -> tuple[str, str]:
        return (part.maker, part.number) if part.number != "-" else (part.maker, part.id)

    found: list[tuple[str, ...]] = []
    by_thing: dict[tuple[tuple[str, str], str], list[Part]] = {}
    for part in board.parts:
        by_thing.setdefault((thing(part), part.variant), []).append(part)
    for (_, variant), parts in by_thing.items():
        quantity = sum(part.quantity for part in parts)
        what = "; ".join(dict.fromkeys(part.what for part in parts))
        first = parts[0]
        refs = ", ".join(part.ref for part in parts if part.ref != "-")
        prices = (f"{first.price:.2f}", f"{first.price * quantity:.2f}")
        found.append((str(quantity), what, first.maker, first.number, first.order, refs, *prices, variant))
    return found


def table(board: Board) -> str:
    """hardware/bom.csv."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADING)
    writer.writerows(lines(board))
    return out.getvalue()


def page(board: Board) -> str:
    """hardware/bom.md."""
    text = "# Bill of materials\n\n"
    text += "Written by `make hardware` from `board.toml`; `bom.csv` is the same for a spreadsheet.\n\n"
    return text + bill(board)


def bill(board: Board) -> str:
    """What the variants cost, what the prices are worth, and the lines."""
    text, found = "", lines(board)
    for variant, what in board.variants.items():
        text += f"* `{variant}` ({what}): **{cost(board, variant):.2f} USD**\n"
    ordered = sum(bool(line[ORDER]) for line in found)
    text += (
        f"\nPrices: {board.priced}. They leave out postage, tax and the coded deck.\n\n"
        f"{ordered} of {len(found)} lines have a distributor's number. It was read, with the maker's, in a published\n"
        "parts list or in the address of a product page, in November 2026; whether it is in stock was not asked. In\n"
        "the others the maker's number is given and no distributor's was confirmed: order by the maker's number.\n"
        "`any`: a common thing of any maker.\n\n"
    )
    text += "| " + " | ".join(HEADING) + " |\n" + "| --- " * len(HEADING) + "|\n"
    for line in found:
        order = line[ORDER] or ("any" if line[NUMBER] == "-" else "none confirmed")
        text += "| " + " | ".join((*line[:ORDER], order, *line[ORDER + 1 :])) + " |\n"
    return text + small(board)


def small(board: Board) -> str:
    """Resistors and capacitors by value, which the line `passives` pays for."""
    by_value: dict[tuple[str, str, str], list[str]] = {}
    for two in board.twos:
        if two.part == "passives":
            what = two.what + (f", {two.watt:g} W" if two.watt != 0.25 else "")
            by_value.setdefault((what, two.value, two.variant), []).extend(ref for ref, *_ in two.each)
    text = "\nResistors and capacitors; resistors of 0.25 W and 5 % where nothing else is said:\n\n"
    text += "| quantity | what | value | in the schematic | variant |\n" + "| --- " * 5 + "|\n"
    for (what, value, variant), refs in by_value.items():
        text += f"| {len(refs)} | {what} | {value} | {', '.join(refs)} | {variant} |\n"
    return text + (connectors(board) if board.cables else "")


def connectors(board: Board) -> str:
    """Connectors of the cables by kind, and the wire, which the line `cables` pays for."""
    text = "\nConnectors, a header and a housing with its contacts of each, and wire:\n\n"
    text += "| variant | connectors | wire, m |\n| --- | --- | --- |\n"
    for variant in board.variants:
        cables = [cable for cable in board.cables if cable.variant in ("", variant)]
        kinds = sorted(Counter(cable.connector for cable in cables).items())
        metres = sum(cable.mm * len(cable.wires) for cable in cables) / 1000
        text += f"| {variant} | {', '.join(f'{count} × {kind}' for kind, count in kinds)} | {metres:.1f} |\n"
    return text
