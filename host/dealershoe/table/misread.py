"""Which of two equal cards was read wrongly: what speaks for each, without naming a card. Pure; for the desk.

A card that turns up twice may be a fouled deck, or an earlier read that was wrong. Nobody but a person can turn a card
up: the table proposes, the floor decides, and `report misread` puts the read right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dealershoe.table.state import HandState

DECK = 52
FAST = 2500  # mm/s: above this a hand pulls faster than nearly all do, and cells are few samples long


class Read(NamedTuple):
    """How well a card was read: cells that had to be made up, whether it ran back on its way, its speed in mm/s."""

    erasures: int = 0
    ran_back: bool = False
    speed: int = 0


class Proposal(NamedTuple):
    """`number`: the draw that is proposed as misread, 0 where nothing speaks for one of them."""

    cards: tuple[int, ...]
    number: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        either = " or ".join(f"#{card}" for card in self.cards)
        which = f"#{self.number} rather than the other" if self.number else "nothing speaks for one of them"
        said = f"{either} may have been misread: {which} ({'; '.join(self.reasons)})"
        return f"{said}; turn it up: if it is another card, the floor says `report misread #{self.number or 'N'}`"


def _weight(read: Read) -> tuple[bool, int, bool]:
    return read.ran_back, read.erasures, read.speed > FAST


def propose(state: HandState, cards: Sequence[int], reads: Mapping[int, Read]) -> Proposal | None:
    """What is proposed about draws that show the same card; None for fewer than two."""
    if len(cards) < 2:
        return None
    known = {card: reads.get(card, Read()) for card in cards}
    order = sorted(known, key=lambda card: _weight(known[card]))
    worst, better = known[order[-1]], known[order[-2]]
    reasons = []
    if worst.ran_back and not better.ran_back:
        reasons.append("it ran back on its way")
    if worst.erasures != better.erasures:
        reasons.append(f"cells that could not be read: {worst.erasures} against {better.erasures}")
    if worst.speed > FAST >= better.speed:
        reasons.append(f"it was pulled at {worst.speed / 1000:.1f} m/s")
    number = order[-1] if _weight(worst) != _weight(better) else 0
    if not number:
        reasons = ["both reads are as good"]
    return Proposal(tuple(cards), number, (*reasons, _left(state)))


def _left(state: HandState) -> str:
    """What the set of cards leaves open: the misread card is one of those that nobody has seen."""
    deal = state.cards[state.reload :]
    unseen = DECK - len({card.card for card in deal if card.card and card.card != "joker"})
    if unseen == 1:
        return "one card of the deck has not been seen: it must be that one"
    return f"{unseen} cards of the deck have not been seen: it is one of them"
