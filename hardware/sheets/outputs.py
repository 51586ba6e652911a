"""Every file that follows from board.toml, by its path in the repository."""

from __future__ import annotations

from sheets import bom, harness, pinout, schematic
from sheets.model import HARDWARE, Board
from sheets.pins import pin_table


def outputs(board: Board) -> dict[str, str]:
    """Path and text of each file. Pages that people write in are renewed between their marks."""
    return {
        "firmware/pins.py": pin_table(board),
        "hardware/pinout.md": pinout.page((HARDWARE / "pinout.md").read_text(encoding="utf-8"), board),
        "hardware/pinout.svg": pinout.drawing(board),
        "hardware/bom.md": bom.page(board),
        "hardware/bom.csv": bom.table(board),
        "hardware/harness.yml": harness.harness(board),
        "hardware/README.md": harness.page((HARDWARE / "README.md").read_text(encoding="utf-8"), board),
        **{f"hardware/schematic/{name}.svg": svg for name, svg in schematic.sheets(board).items()},
    }
