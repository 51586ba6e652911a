"""Every file that follows from board.toml and node.toml, by its path in the repository."""

from __future__ import annotations

from sheets import bom, harness, pinout, schematic, wiring
from sheets.model import HARDWARE, Board, read_file
from sheets.nets import MAIN
from sheets.node import seat_node
from sheets.pins import pin_table


def outputs(board: Board, node: Board) -> dict[str, str]:
    """Path and text of each file. Pages that people write in are renewed between their marks."""
    return {
        "firmware/pins.py": pin_table(board),
        "hardware/pinout.md": pinout.page(read_file(HARDWARE / "pinout.md"), board),
        "hardware/pinout.svg": pinout.drawing(board),
        "hardware/bom.md": bom.page(board),
        "hardware/bom.csv": bom.table(board),
        "hardware/wiring.md": wiring.page(board),
        "hardware/harness.yml": harness.harness(board),
        "hardware/README.md": harness.page(read_file(HARDWARE / "README.md"), board),
        "hardware/node.md": node_page(node),
        **{f"hardware/schematic/{name}.svg": svg for name, svg in schematic.sheets(board).items()},
        "hardware/schematic/seat-node.svg": schematic.svg(seat_node(node)),
    }


BUILD = """## Build it

As the shoe ([README.md](README.md)): adapter for U1, sockets, resistors; then the Pico, then the sensors.

1. Without the Pico: V5 to GND and V3V3 to GND above 10 kΩ.
2. With it, on USB, U1 and sensors fitted: pin 36 is 3.2 to 3.4 V; 70 to 120 mA; BUS_DE (pin 4) 0 V; BUS_RX (pin 2)
   3.3 V, with and without the bus.
3. Slots: OUTER (pin 5) and INNER (pin 6) below 0.6 V free, above 2.3 V with one card of the deck in the slot. A card
   that does not get there lets too much light through: 4.7 kΩ, then 2.2 kΩ, in place of R4 and R5.
4. RV1, at LIGHT (pin 31): a card lies over Q3, its face down, at the height at which cards pass: turn until 2.1 to
   2.9 V (39000 is 1.96 V). Then its back down: below 1.3 V (26000). If both cannot be had, the back's ink is light in
   infrared.
5. The four switches, then the firmware: [seat-bus.md](seat-bus.md).
"""


def node_page(node: Board) -> str:
    """hardware/node.md: what a node is built of."""
    text = "# The hardware of a seat node\n\nWritten by `make hardware` from `node.toml`. What it does, and the arch "
    text += "over the card's way: [seat-bus.md](seat-bus.md). Its circuit: "
    text += "[schematic/seat-node.svg](schematic/seat-node.svg).\n"
    text += pinout.tables(node) + BUILD + "\n## Wiring\n" + wiring.parts(node, MAIN)
    return text + "\n## Bill of materials\n\n" + bom.bill(node)
