"""Writes firmware/pins.py: the GPIO numbers, for board.py."""

from __future__ import annotations

from sheets.model import Board

HEAD = '''"""GPIO numbers for board.py. Written by `make hardware` from hardware/board.toml: change that."""

from micropython import const

'''


def pin_table(board: Board) -> str:
    """The text of firmware/pins.py."""
    lines = []
    for variant in ("", *board.variants):
        chosen = sorted((s for s in board.signals if s.variant == variant), key=lambda signal: signal.gpio)
        if variant:
            lines.append(f"\n# Only with the variant {variant}.")
        lines += [f"{signal.name} = const({signal.gpio})  # {signal.function}" for signal in chosen]
    return HEAD + "\n".join(lines) + "\n"
