"""Which of the table's cards a passage through the shoe was, and how well it was read. Pure; for the desk.

The shoe counts passages, the table cards: a card that a hand put back on top has its old number at the table.
"""

from __future__ import annotations

from typing import Any

from shoelink import schema

from dealershoe.table.misread import Read


class Passages:
    """Those of the hand in play."""

    def __init__(self) -> None:
        self.last = 0  # the shoe's number of its last draw of the hand
        self.numbers: dict[int, int] = {}  # the shoe's number of a draw → the table's
        self.reads: dict[int, Read] = {}  # the table's number of a draw → how well it was read

    def clear(self) -> None:
        """Another hand begins."""
        self.last = 0
        self.numbers.clear()
        self.reads.clear()

    def count(self, message: Any, drawn: int) -> None:
        """The table has been told of a CARD or a CARD_BACK; `drawn`: its number of the last card that was drawn."""
        if isinstance(message, schema.Card):
            double = message.flags & schema.CARD_DOUBLE
            if double:
                self.numbers[message.draw] = drawn - 1
            self.last = message.draw + 1 if double else message.draw
            self.numbers[self.last] = drawn
            ran_back = bool(message.flags & schema.CARD_REVERSED)
            self.reads[self.numbers[message.draw]] = Read(message.erasures, ran_back, message.speed)
        elif isinstance(message, schema.CardBack) and message.draw == self.last:
            self.last -= 1
            self.numbers.pop(message.draw, None)
