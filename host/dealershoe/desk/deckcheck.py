"""A deck that is dealt out when the pot has been pushed: what passes is of no hand, and is counted. Pure; for the desk.

What was dealt lies in such a deck again, so its cards are not compared with the hand that is over. They are kept until
the next hand, for the push may be taken back: then they are that hand's cards after all.
"""

from __future__ import annotations

from typing import Any

from shoelink import schema

from dealershoe.deck.cards import FIFTY_TWO

Kept = tuple[int, Any]  # a report's fact, and what it says
FIRST = (
    "the pot is pushed, and cards leave the shoe: they are of no hand. A deck dealt out now is checked, the next hand "
    "ends that"
)


class DeckCheck:
    """What has left the shoe since the pot was pushed."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []  # reports, in order
        self._cards: list[schema.Card] = []

    def takes(self, message: Any, last: int) -> bool:
        """Is a report about the check? `last`: the shoe's number of the last draw that is of the hand."""
        if isinstance(message, schema.Key):
            return bool(self._cards) and message.key == schema.KEY_EXPOSED
        return isinstance(message, schema.Card | schema.CardBack | schema.Seat) and message.draw > last

    def add(self, fact: int, message: Any) -> str:
        """Keep a report of which `takes` is true; a word for the dealer, "" for none."""
        self.kept.append((fact, message))
        if isinstance(message, schema.CardBack) and self._cards and self._cards[-1].draw == message.draw:
            self._cards.pop()
        if not isinstance(message, schema.Card):
            return ""
        token = bytes(message.token)
        read = token != schema.TOKEN_UNREAD and not message.flags & schema.CARD_UNREAD
        before = next((n for n, card in enumerate(self._cards, 1) if read and bytes(card.token) == token), 0)
        self._cards.append(message)
        return self._words(message, before)

    def _words(self, card: schema.Card, before: int) -> str:
        number = len(self._cards)
        if card.flags & (schema.CARD_FOREIGN | schema.CARD_JOKER):
            return f"deck check: card {number} does not belong to the deck"
        if before:
            return f"deck check: card {number} is the same as card {before}"
        if number == len(FIFTY_TWO) and self._different == number:
            return f"deck check: {number} cards, all different: the deck is whole"
        return FIRST if number == 1 else ""

    @property
    def _different(self) -> int:
        """How many cards of the deck were read, each counted once."""
        wrong = schema.CARD_FOREIGN | schema.CARD_JOKER | schema.CARD_UNREAD | schema.CARD_DOUBLE
        return len({bytes(card.token) for card in self._cards if not card.flags & wrong} - {schema.TOKEN_UNREAD})

    def clear(self) -> list[Kept]:
        """The check is over; what was kept, in order."""
        kept, self.kept, self._cards = self.kept, [], []
        return kept
