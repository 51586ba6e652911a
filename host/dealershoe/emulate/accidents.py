"""Accidents on request: what goes wrong with a card on its way out, for `dealershoe emulate --fault` and the tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from dealershoe.deck.cards import card_number
from dealershoe.deck.strip import MARGIN, TRAVEL, print_strip
from dealershoe.emulate.mechanics import P1, PaperCard
from dealershoe.emulate.shoe import EmulatedShoe, Target
from dealershoe.errors import UserError
from dealershoe.events import Draw

KINDS = {  # kind: what happens to the card
    "half-drawn": "it stops half out for two seconds",
    "hesitates": "it is drawn half out, pushed back and drawn again",
    "boxed": "it is face up in the shoe",
    "double": "the next card sticks to it",
    "unread": "its code is torn off",
    "foreign": "it is of another coded deck",
    "strip": "it carries the strip of another card: strip@2=7d",
    "turned": "it is turned by 180 degrees",
    "dirt": "there is a smudge on its clock track",
    "dazzle": "light from outside falls on the heads meanwhile",
    "flash": "light blinds both heads meanwhile",
    "power": "the shoe loses power just after it",
}
ON_THE_LINE: dict[str, Callable[[Draw], Draw]] = {  # what a deal script can say of a card as well
    "boxed": lambda draw: replace(draw, boxed=True),
    "double": lambda draw: replace(draw, double=True),
    "unread": lambda draw: replace(draw, unread=True),
    "foreign": lambda draw: replace(draw, foreign=True),
}
_FORM = re.compile(r"([a-z-]+)@([1-9][0-9]*)(?:=(\w+))?")
STOPPED_MS = 2000  # the shoe reports a card that stands still for 1.5 s


@dataclass(frozen=True, slots=True)
class Accident:
    """`kind` of KINDS happens to the card pulled as number `at` since the start, from 1."""

    kind: str
    at: int
    strip: str = ""

    def draw(self, draw: Draw) -> Draw:
        """The draw as it will be noticed."""
        return ON_THE_LINE[self.kind](draw) if self.kind in ON_THE_LINE else draw

    def seen(self, draw: Draw) -> Draw:
        """The draw as the shoe's heads see it: blinded, they see neither which card it is nor which way up it lies."""
        return replace(draw, boxed=False, unread=True, unseen=True) if self.kind == "flash" else draw

    def card(self, card: PaperCard) -> PaperCard:
        """The card as it will pass."""
        if self.kind == "strip":
            return card.with_strips(print_strip(card_number(self.strip), 0))
        if self.kind == "turned":
            return card.rotated()
        if self.kind == "dirt":
            return replace(card, ends=(card.ends[0].dirty("clk", MARGIN + 3.75, MARGIN + 5.0), card.ends[1]))
        if self.kind == "flash":
            return blank(card)  # what blinded heads see of it: no marks
        return card

    def left(self, card: PaperCard) -> PaperCard:
        """The card as it lies on the table."""
        return card if self.kind == "flash" else self.card(card)

    def before(self, shoe: EmulatedShoe, target: Target) -> None:
        """What happens before the card, the next one of the deck, is pulled out."""
        if self.kind == "half-drawn":
            shoe.draw(P1 + 6.0, target)
            shoe.rest(STOPPED_MS)
        elif self.kind == "hesitates":
            shoe.draw(P1 - 6.0, target)
            shoe.push_back()
        elif self.kind in ("dazzle", "flash"):
            shoe.dazzle()

    def after(self, shoe: EmulatedShoe) -> None:
        """What happens once the card is out and everybody has dealt with it."""
        if self.kind in ("dazzle", "flash"):
            shoe.dazzle(False)
        elif self.kind == "power":
            shoe.power_cycle()


def blank(card: PaperCard) -> PaperCard:
    """The card without its codes."""
    return replace(card, ends=(card.ends[0].torn(0.0, TRAVEL), card.ends[1].torn(0.0, TRAVEL)))


def parse_accident(text: str) -> Accident:
    """`half-drawn@3`, `strip@2=7d`. Raises UserError."""
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in KINDS:
        raise UserError(f"there is no fault `{text}`", "", f"write KIND@CARD, KIND one of {', '.join(KINDS)}")
    kind, at, strip = match.groups()
    if (kind == "strip") != bool(strip):
        raise UserError(
            f"`{text}` is not complete", "", "write strip@2=7d: the second card carries the strip of the 7d"
        )
    if strip:
        try:
            card_number(strip)
        except ValueError as error:
            raise UserError(f"`{text}`: {error}") from None
    return Accident(kind, int(at), strip or "")
