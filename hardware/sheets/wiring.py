"""Writes hardware/wiring.md: where every pin and every end of a part is soldered, board by board, for who solders."""

from __future__ import annotations

from sheets.model import Board, Chip
from sheets.nets import MAIN, nets
from sheets.pinout import header_pin

HEAD = """# Wiring, pin by pin

Written by `make hardware` from `board.toml`. Two pins with the same net are wired together; "-" stays open. Tick each
pin off as it is soldered, then go through the nets at the end with the multimeter. Of a diode the anode is named first,
of an electrolytic the plus. Cables carry nets from board to board: [README.md](README.md#assemble-in-this-order).
"""


def page(board: Board) -> str:
    """The whole page."""
    text = HEAD
    places = list(dict.fromkeys([MAIN, *(chip.on for chip in board.chips), *(two.on for two in board.twos)]))
    for place in places:
        text += f"\n## {place[0].upper()}{place[1:]}\n" + parts(board, place)
    for variant in board.variants:
        text += f"\n## Nets of `{variant}`\n\n| net | ends |\n| --- | --- |\n"
        for net, ends in sorted(nets(board, variant).items()):
            if net != "GND":
                text += f"| {net} | {', '.join(f'{end.ref}.{end.pin}' for end in ends)} |\n"
    return text


def only(variant: str) -> str:
    """Words for what belongs to one variant."""
    return f" (only `{variant}`)" if variant else ""


def parts(board: Board, place: str) -> str:
    """The parts of one board: those with pins, then those with two ends."""
    text = ""
    numbers = {part.id: part.number for part in board.parts}
    if chips := [chip for chip in board.chips if chip.on == place]:
        text += "\n| part | what | pins |\n| --- | --- | --- |\n"
        for chip in chips:
            text += f"| {chip.ref}{only(chip.variant)} | {numbers[chip.part]} | {pins(board, chip)} |\n"
    if twos := [two for two in board.twos if two.on == place]:
        text += "\n| part | value | from | to |\n| --- | --- | --- | --- |\n"
        for two in twos:
            for ref, one, other in two.each:
                stands = f", {two.watt:g} W" if two.watt != 0.25 else ""
                text += f"| {ref}{only(two.variant)} | {two.what} {two.value}{stands} | {one} | {other} |\n"
    return text


def pins(board: Board, chip: Chip) -> str:
    """Each pin and its net, in the order of the pins; the Pico's with its signals."""
    said = dict(chip.pins)
    if chip.part == "pico":
        for signal in board.signals:
            if (pin := header_pin(signal.gpio)) is not None:
                said[str(pin)] = f"{said[str(pin)]} or {signal.name}" if str(pin) in said else signal.name
        said = dict(sorted(said.items(), key=lambda entry: int(entry[0])))
    return ", ".join(f"{pin} {net}" for pin, net in said.items())
