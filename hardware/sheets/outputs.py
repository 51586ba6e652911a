"""Every file that follows from board.toml, by its path in the repository."""

from __future__ import annotations

from sheets.model import Board
from sheets.pins import pin_table


def outputs(board: Board) -> dict[str, str]:
    """Path and text of each file."""
    return {"firmware/pins.py": pin_table(board)}
