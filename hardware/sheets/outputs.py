"""Every file that follows from board.toml and node.toml, by its path in the repository."""

from __future__ import annotations

from sheets import bom, harness, pinout, schematic, wiring
from sheets.model import HARDWARE, Board
from sheets.nets import MAIN
from sheets.node import seat_node
from sheets.pins import pin_table


def outputs(board: Board, node: Board) -> dict[str, str]:
    """Path and text of each file. Pages that people write in are renewed between their marks."""
    return {
        "firmware/pins.py": pin_table(board),
        "hardware/pinout.md": pinout.page((HARDWARE / "pinout.md").read_text(encoding="utf-8"), board),
        "hardware/pinout.svg": pinout.drawing(board),
        "hardware/bom.md": bom.page(board),
        "hardware/bom.csv": bom.table(board),
        "hardware/wiring.md": wiring.page(board),
        "hardware/harness.yml": harness.harness(board),
        "hardware/README.md": harness.page((HARDWARE / "README.md").read_text(encoding="utf-8"), board),
        "hardware/node.md": node_page(node),
        **{f"hardware/schematic/{name}.svg": svg for name, svg in schematic.sheets(board).items()},
        "hardware/schematic/seat-node.svg": schematic.svg(seat_node(node)),
    }


def node_page(node: Board) -> str:
    """hardware/node.md: what a node is built of."""
    text = "# The hardware of a seat node\n\nWritten by `make hardware` from `node.toml`. What it does, and the arch "
    text += "over the card's way: [seat-bus.md](seat-bus.md). Its circuit: "
    text += "[schematic/seat-node.svg](schematic/seat-node.svg).\n"
    text += pinout.tables(node) + "## Wiring\n" + wiring.parts(node, MAIN)
    return text + "\n## Bill of materials\n\n" + bom.bill(node)
