"""Writes the wiring harness for WireViz, and the cable table of hardware/README.md; knows WireViz's picture again."""

from __future__ import annotations

import hashlib
import json

from sheets.model import Board, Cable, between

# IEC 60757 codes, as WireViz knows them; the rest of a cable's wires take the list in turn.
FIXED = {"V5": "RD", "V5_IN": "RD", "V3V3": "OG", "GND": "BK"}
OTHERS = ("WH", "YE", "GN", "BU", "VT", "GY")
WIRE_MM2 = 0.22


def colours(cable: Cable) -> list[str]:
    """The colour of each wire, none twice in a cable."""
    rest = iter(OTHERS)
    return [FIXED.get(wire) or next(rest) for wire in cable.wires]


def harness(board: Board) -> str:
    """hardware/harness.yml: a connector on the main board, a cable and its far end for each."""
    out = "# The wiring harness, for WireViz: `wireviz harness.yml`. Written by `make hardware` from board.toml.\n"
    quote = json.dumps  # a JSON string is a YAML string
    connectors, cables, connections = "connectors:\n", "cables:\n", "connections:\n"
    for cable in reversed(board.cables):  # Graphviz draws from below
        number = cable.id[1:]
        note = f" (only with {cable.variant})" if cable.variant else ""
        labels = "[" + ", ".join(quote(wire) for wire in cable.wires) + "]"
        pins = list(range(1, len(cable.wires) + 1))
        far = cable.far_pins or pins
        connectors += f"  J{number}:\n    type: {quote(cable.connector)}\n    subtype: {quote('main board' + note)}\n"
        connectors += f"    pinlabels: {labels}\n"
        connectors += f"  X{number}:\n    type: {quote(cable.far)}\n    subtype: {quote(cable.to)}\n"
        connectors += f"    pins: {far}\n    pinlabels: {labels}\n"
        cables += f"  {cable.id}:\n    gauge: {WIRE_MM2} mm2\n    length: {cable.mm / 1000:g}\n    category: bundle\n"
        cables += f"    colors: [{', '.join(colours(cable))}]\n"
        connections += f"  -\n    - J{number}: {pins}\n    - {cable.id}: {pins}\n    - X{number}: {far}\n"
    return out + connectors + cables + connections


STAMP = "<!-- drawn from harness.yml; sha256 of both: {} -->\n"


def stamped(picture: str, harness: str) -> str:
    """A picture that WireViz has drawn of this harness, with a last line by which it is known: what Graphviz draws
    depends on its version, so that to draw it again proves nothing.
    """
    return picture + STAMP.format(hashlib.sha256((harness + picture).encode()).hexdigest())


def is_drawn(svg: str, harness: str) -> bool:
    """Whether this is the picture of this harness, as it was drawn."""
    return svg == stamped(svg.rpartition(STAMP.split("{")[0])[0], harness)


BEGIN, END = "<!-- the cables are written by make hardware -->\n", "<!-- end of the cables -->\n"


def page(old: str, board: Board) -> str:
    """hardware/README.md with its table of cables renewed."""
    before, after = between(old, BEGIN, END)
    return f"{before}{BEGIN}\n{table(board)}\n{END}{after}"


def table(board: Board) -> str:
    """The cables as a table."""
    text = "| cable | to | connector on the board | far end | wires, from pin 1 | mm |\n" + "| --- " * 6 + "|\n"
    for cable in board.cables:
        wires = ", ".join(f"{wire} {colour}" for wire, colour in zip(cable.wires, colours(cable), strict=True))
        far = cable.far + (f" ({', '.join(map(str, cable.far_pins))})" if cable.far_pins else "")
        only = f" (only `{cable.variant}`)" if cable.variant else ""
        text += (
            f"| {cable.id} | {cable.to}{only} | J{cable.id[1:]}, {cable.connector} | {far} | {wires} | {cable.mm} |\n"
        )
    return text
