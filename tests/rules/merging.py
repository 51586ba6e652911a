"""When two hands are the same for all that can still happen: the keys by which the proof of pairs merges them.

`outlook`: told the same facts, both hands give the same rulings, the same due order and the same way for the cards, as
long as a fact is only folded. It is all of `HandState` and of its cards, written so that nothing tells such hands apart
that no fold asks for:

* numbers of draws count from the last reload of the full deck (what was before lies in the deck: its numbers are
  refused), and of the times of arrival only the order is kept;
* of identities only jokers are kept: the deck has each of the others once, and to exchange them for one another changes
  nothing but their names. For cards in the shoe that have been out, it is kept when they leave again;
* whether the deck is changed after the hand is left out, and of a card what only makes the shoe doubt the deck
  (`FOR_PEOPLE`): nothing in the hand depends on it;
* remedies that have no step left and await nobody are dropped;
* of the rulings what the end of the hand is held against is kept: whether all were settled, and whether any corrected;
  of an open call for the floor not what it is about, which the floor's answer only repeats.

What may change the log asks for more. `recent`, for a fact about the card that left last: the hands were the same
before it left, and the log is since. `past`, for all others: the whole log is the same.

`way`: both hands are dealt to their end alike if all that comes is what is due and nothing is found on the way. No rule
is asked then, so what is known of the cards does not matter: only how many lie where, for whom and for which street,
and the steps that are open with the cards that they name.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from dataclasses import fields
from hashlib import blake2b
from typing import Any

from dealershoe.chronicle import TableState
from dealershoe.events import Act, Event, FloorDecision, Knew
from dealershoe.log import Entry, position_of, told_of
from dealershoe.session import _SPECIAL
from dealershoe.table.state import STUB, Card, HandState, in_play, open_remedies
from rules.proof import Table

Key = bytes
MOST_SEEN = 100_000  # records whose names are remembered by the record itself
# fields of a hand that are written otherwise in a key than they are in the record
REWRITTEN = (
    "agenda", "cards", "top", "clock", "last", "reload", "remedies", "picked", "question", "early_cards", "calls",
)  # fmt: skip
KEPT = [at for at, name in enumerate(HandState._fields) if name not in REWRITTEN]
# fields of a card that no fold and no fact asks for: they go with the record, to people
FOR_PEOPLE = ("wrong_back", "unread", "confirmed")
KEPT_OF_CARD = [
    at for at, name in enumerate(Card._fields) if name not in ("number", "card", "arrived", *FOR_PEOPLE)
]  # fmt: skip


class Names:
    """A small number for each value met, and two for each card record; one for all keys that are compared."""

    def __init__(self) -> None:
        self._of: dict[Hashable, int] = {}
        self._cards: dict[int, tuple[Card, int, int]] = {}  # by id, with the record, so that the id stays its own
        self._entries: dict[int, tuple[Entry, int]] = {}

    def of(self, value: Hashable) -> int:
        return self._of.setdefault(value, len(self._of))

    def each(self, *values: Hashable) -> list[int]:
        known = self._of
        return [known.setdefault(value, len(known)) for value in values]

    def entry(self, entry: Entry) -> int:
        """All of it but the cards' names, with the numbers that it has in the whole log."""
        seen = self._entries.get(id(entry))
        if seen is None:
            if len(self._entries) > MOST_SEEN:
                self._entries.clear()
            seen = self._entries[id(entry)] = (entry, self.of(told(entry, 0, 0)))
        return seen[1]

    def card(self, card: Card) -> tuple[Card, int, int]:
        """The record; all of it but its number, its identity and when it arrived; where it lies and for whom."""
        seen = self._cards.get(id(card))
        if seen is None:
            if len(self._cards) > MOST_SEEN:
                self._cards.clear()
            exact = self.of((*[card[at] for at in KEPT_OF_CARD], card.card == "joker"))
            seen = self._cards[id(card)] = (card, exact, self.of((card.place, card.serves, card.street)))
        return seen


def digest(numbers: list[int]) -> Key:
    return blake2b(array("q", numbers).tobytes(), digest_size=16).digest()


def outlook(table: Table, names: Names) -> Key:
    """Equal for hands that go on alike under facts that are folded."""
    hand = table.hand
    base = hand.reload
    shoe = table.cards
    numbers = _standing(table.session.table, names)
    back = tuple([number - base for number in shoe.back])
    numbers += names.each(table.settled, table.quiet, table.honest, table.by_hand, len(shoe.inside), back)
    if any(card.place == STUB for card in hand.cards[base:]):
        out = {shoe.known[card.number]: card.number - base for card in reversed(hand.cards[base:])}
        numbers += [out.get(card, 0) for card in shoe.inside]
    return digest(numbers)


def _standing(table: TableState, names: Names) -> list[int]:
    """The hand as it stands, in numbers."""
    hand = table.hand
    assert hand is not None
    base = hand.reload
    cards = hand.cards[base:] if base else hand.cards
    arrived = [card.arrived for card in cards]
    numbers = [len(cards), *[names.card(card)[1] for card in cards]]
    numbers += sorted(range(len(cards)), key=arrived.__getitem__)
    live = sorted({*open_remedies(hand), *hand.calls})
    place = {remedy: index for index, remedy in enumerate(live)}
    agenda = [
        step._replace(cards=_shifted(step.cards, base), remedy=place[step.remedy]) if step.remedy >= 0 else step
        for step in hand.agenda
    ]
    numbers += names.each(
        *[hand[at] for at in KEPT], tuple(agenda), _shifted(hand.top, base), max(hand.last - base, 0), bool(base),
        max(hand.picked - base, 0), bool(hand.question), _shifted(hand.early_cards, base),
        tuple([place[call] for call in hand.calls]), tuple([table.rulings[remedy].ruling for remedy in live]),
    )  # fmt: skip
    return numbers


def _shifted(numbers: tuple[int, ...], base: int) -> tuple[int, ...]:
    return tuple([number - base if number > base else 0 for number in numbers]) if base and numbers else numbers


def recent(table: Table, names: Names) -> Key:
    """Equal for hands that stood alike before the card that left last, with the same log from that card on."""
    session = table.session
    hand = table.hand
    entries = session._entries
    at = position_of(entries, session._draws.get(hand.last)) if hand.last > hand.reload else -1
    if at < 1:
        return past(table, names)
    first = entries[at].id
    noticed = session._noticed
    straddling = any(key[0] < first <= at_ for key, at_ in noticed.items())
    if straddling or any(_special(entry) for entry in entries[at:]) or _told_before(entries[:at], hand.last):
        return past(table, names)
    log = [names.of(told(entry, first, hand.reload)) for entry in entries[at:]]
    found = sorted((key[0] - first, key[1], at_ - first) for key, at_ in noticed.items() if key[0] >= first)
    return digest([*_standing(session._states[at - 1], names), len(log), *log, *names.each(*found)])


def past(table: Table, names: Names) -> Key:
    """Equal for hands with the same log."""
    return digest([names.entry(entry) for entry in table.session._entries])


def way(table: Table, names: Names) -> Key:
    """Equal for hands that are dealt to their end alike, if all that comes is what is due and nothing is found."""
    hand = table.hand
    shoe = table.cards
    base = hand.reload
    lying = sorted([names.card(card)[2] for card in hand.cards[base:]])
    live = sorted({*open_remedies(hand), *hand.calls})
    place = {remedy: index for index, remedy in enumerate(live)}
    named = [number for step in hand.agenda for number in step.cards] + list(hand.top)
    if 0 in named:
        named.append(hand.picked)
    order = {number: index for index, number in enumerate(named)}
    agenda = [
        step._replace(cards=tuple([order[n] for n in step.cards]), remedy=place.get(step.remedy, -1))
        if step.cards or step.remedy >= 0
        else step
        for step in hand.agenda
    ]
    cards = [
        (n > base and (*hand.cards[n - 1][1:4], hand.cards[n - 1].due, shoe.known[n] in shoe.inside, n in shoe.back))
        for n in order
    ]
    leaving = [shoe.known[number] for number in hand.top] == shoe.inside[len(shoe.inside) - len(hand.top) :]
    lying += names.each(
        hand.setup, tuple(agenda), tuple(cards), hand.served, hand.last_served, len(hand.top), leaving, hand.seats,
        hand.button, in_play(hand), frozenset([seat for seat, _ in hand.found]), hand.awarded, hand.unburned,
        len(shoe.inside), len(shoe.back), tuple([table.session.rulings[remedy].ruling for remedy in live]),
        len(hand.calls), table.settled, table.quiet, table.honest, table.by_hand,
    )  # fmt: skip
    return digest(lying)


def _special(entry: Entry) -> bool:
    return bool(entry.amends or entry.overrules or entry.noticed)


def _told_before(entries: list[Entry], number: int) -> bool:
    """Was anything said of this card before it left (again, after it had gone back on top)?"""
    return any(told_of(entry) == number for entry in entries)


def told(entry: Entry, first: int, base: int) -> Hashable:
    """An entry without the names of the cards; numbers of entries from `first`, those of draws from `base`."""
    event = entry.event
    values: list[Any] = [type(event).__name__]
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name == "card":
            value = "joker" if value == "joker" else value is not None
        elif field.name == "number" and isinstance(value, int):
            value -= base
        values.append(value)
    more = [told(entry.amends, first, base)] if entry.amends is not None else []
    about = (entry.about[0] - base, entry.about[1] - first) if entry.about[0] else ()
    return (entry.id - first, *values, entry.source, entry.went, entry.overrules, entry.noticed, about, *more)


def reach(hand: HandState, events: tuple[Event, ...]) -> str:
    """How much of a hand decides what becomes of these facts: "folded", "recent" or "past"."""
    found = "folded"
    for event in events:
        if type(event) not in _SPECIAL:
            continue
        if isinstance(event, Act | Knew | FloorDecision):
            answered = isinstance(event, FloorDecision) and event.decision != "play-on"
            if open_remedies(hand) and not answered:
                return "past"
        elif getattr(event, "number", None) in (None, hand.last):
            found = "recent"
        else:
            return "past"
    return found
