"""What a coded deck is worth that was drawn through a shoe, card by card and as often as one likes. Pure; for `deck
check`.

Cards are counted by name only once the shoe has revealed the secret of the hand that they were drawn in. In which
order they lay is not kept, but for the places of those that could not be read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from shoelink import schema, tokens

from dealershoe.deck.cards import FIFTY_TWO, card_name

NO_CARD = "a code of no card"
TIMES = {1: "once", 2: "twice"}


@dataclass(slots=True)
class Round:
    """The deck, drawn once: reports as they come, and what the tokens of its hand (or hands) are called."""

    cards: list[Any] = field(default_factory=list)  # schema.Card
    names: dict[tuple[int, bytes], str] = field(default_factory=dict)  # hand and token → "As", "joker"

    def heard(self, message: Any) -> None:
        """A report of the shoe; the secret of the hand comes when the next one begins."""
        if isinstance(message, schema.Reveal):
            every = tokens.tokens(bytes(message.secret))
            self.names |= {(message.hand, every[4 * n : 4 * n + 4]): card_name(n) for n in range(tokens.CARDS)}
        if isinstance(message, schema.Card):
            self.cards.append(message)
        elif isinstance(message, schema.CardBack) and self.cards and self.cards[-1].draw == message.draw:
            self.cards.pop()

    def name(self, card: Any) -> str | None:
        """What a card is called; None while it is not known, or where it was not read."""
        if card.flags & (schema.CARD_UNREAD | schema.CARD_BY_TAG):  # what is asked is whether its code can be read
            return None
        if card.flags & schema.CARD_FOREIGN:
            return NO_CARD
        number = schema.value(card.token)
        return card_name(number) if number < tokens.CARDS else self.names.get((card.hand, bytes(card.token)))

    @property
    def passed(self) -> int:
        """How many cards have left; two for a passage that was two cards."""
        return sum(2 if card.flags & schema.CARD_DOUBLE else 1 for card in self.cards)


@dataclass(slots=True)
class Deck:
    """What all rounds together came to. The counters are by card ("As", "joker", NO_CARD)."""

    passed: list[int] = field(default_factory=list)  # cards, in each round
    read: Counter[str] = field(default_factory=Counter)  # how often each was read
    weak: Counter[str] = field(default_factory=Counter)  # ... and only with a cell put right
    boxed: int = 0
    missing: Counter[str] = field(default_factory=Counter)  # in how many rounds it was not seen
    double: Counter[str] = field(default_factory=Counter)  # in how many rounds it was seen more than once
    foreign: Counter[str] = field(default_factory=Counter)  # jokers, and codes of no card
    other: Counter[str] = field(default_factory=Counter)  # read, with the number of another deck
    unread: list[tuple[int, int]] = field(default_factory=list)  # round and place, both from 1
    twos: list[tuple[int, int]] = field(default_factory=list)  # where two cards came as one

    def add(self, one: Round) -> None:
        """Count a round that is over."""
        self.passed.append(one.passed)
        seen: Counter[str] = Counter()
        decks = Counter(card.deck for card in one.cards if one.name(card) in FIFTY_TWO)
        own = decks.most_common(1)[0][0] if decks else schema.DECK_UNKNOWN
        place = 0
        for card in one.cards:
            place += 1
            self.boxed += card.way_up == schema.WAY_UP
            name = one.name(card)
            if name is None:
                self.unread.append((len(self.passed), place))
            elif name not in FIFTY_TWO:
                self.foreign[name] += 1
            elif card.deck != own:
                self.other[name] += 1
            else:
                seen[name] += 1
                self.weak[name] += card.erasures > 0
            if card.flags & schema.CARD_DOUBLE:
                self.twos.append((len(self.passed), place))
                place += 1
        self.read += seen
        self.missing += Counter(name for name in FIFTY_TWO if not seen[name])
        self.double += Counter(name for name, often in seen.items() if often > 1)

    @property
    def verdict(self) -> str:
        """whole, wrong, or not known: where a card was not read or not drawn by itself, or a round was not of 52."""
        if self.foreign or self.other or self.double:
            return "wrong"
        if self.unread or self.twos:
            return "not known"
        whole = self.passed and all(passed == len(FIFTY_TWO) for passed in self.passed) and not self.missing
        return "whole" if whole else "wrong"


def sentences(deck: Deck, with_cards: bool) -> list[str]:
    """What is to be said of a deck; cards are named only `with_cards`."""
    rounds = len(deck.passed)
    told = [f"drawn {TIMES.get(rounds, f'{rounds} times')}: {', '.join(map(str, deck.passed))} cards"]
    for what, cards in (
        ("missing", deck.missing),
        ("more than once", deck.double),
        ("not of a deck of 52", deck.foreign),
        ("of another deck", deck.other),
        ("read with a cell put right", +deck.weak),
    ):
        if cards:
            named = f": {', '.join(_often(name, cards[name], rounds) for name in sorted(cards))}" if with_cards else ""
            told.append(f"{what}: {len(cards)}{named}")
    if deck.unread:
        told.append(f"not read: {len(deck.unread)}, {_places(deck.unread, rounds)}")
    if deck.twos:
        told.append(f"two drawn as one: {_places(deck.twos, rounds)}")
    if deck.boxed:
        told.append(f"face up in the deck: {deck.boxed}")
    told.append(f"the deck is {deck.verdict}")
    return told


def table(deck: Deck) -> list[str]:
    """A line for each of the 52: how often it was read, and how often only with a cell put right."""
    return [f"{name}  read {deck.read[name]} of {len(deck.passed)}  put right {deck.weak[name]}" for name in FIFTY_TWO]


def _often(name: str, often: int, rounds: int) -> str:
    return name if rounds == 1 and often == 1 else f"{name} ({often}x)"


def _places(where: list[tuple[int, int]], rounds: int) -> str:
    if rounds == 1:
        return "card " + ", ".join(str(place) for _, place in where)
    return ", ".join(f"card {place} of round {number}" for number, place in where)
