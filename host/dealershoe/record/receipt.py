"""The receipt of a deck that went through the shoe from its first card to its last. For `dealershoe journal receipt`.

A deck that is checked is dealt out between two hands: when the pot has been pushed and the next hand has not begun. A
shoe that has a sensor for its deck may also say DECK, loaded and empty, at any time. The fields are those that New
Jersey asks of card-inspection machines (N.J.A.C. 13:69E-1.18A), and what was found.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from shoelink import schema, tokens

from dealershoe import __version__
from dealershoe.deck.cards import FIFTY_TWO, JOKERS, card_name
from dealershoe.desk.table_link import device_name, message_of
from dealershoe.entries import SHOE, Fact
from dealershoe.record.faces import secret_names
from dealershoe.record.read import between

MAKER = "dealershoe kit"
NOT_KNOWN = "not on record"
OVER = "Award"  # kind of the event that ends a hand


@dataclass(slots=True)
class Receipt:
    """What one deck came to. Identities are counted always, named only where they may be told."""

    first: int  # the fact that it was loaded with, or its first card
    last: int  # the fact that the shoe was empty with, or its last card
    began_ns: int
    ended_ns: int
    journal: bytes  # of the shoe
    hands: tuple[int, ...] = ()  # the shoe's numbers of the hands that it was dealt in
    passed: int = 0
    unread: int = 0
    foreign: int = 0
    jokers: int = 0
    boxed: int = 0
    named: Counter[str] = field(default_factory=Counter)  # card → how often
    sealed: Counter[tuple[int, bytes]] = field(
        default_factory=Counter
    )  # (hand, token) of no secret revealed → how often

    @property
    def missing(self) -> tuple[str, ...]:
        """Cards of the 52 that were not seen."""
        return tuple(card for card in FIFTY_TWO if not self.named[card])

    @property
    def double(self) -> tuple[str, ...]:
        """Cards that were seen more than once, and are known."""
        return tuple(card for card, count in sorted(self.named.items()) if count > 1)

    @property
    def doubles(self) -> int:
        """How many cards were seen more than once: within a hand that is found while it is sealed too."""
        return len(self.double) + sum(count > 1 for count in self.sealed.values())

    @property
    def seen(self) -> int:
        """Different cards of the 52 that were seen."""
        return len(FIFTY_TWO) - len(self.missing)

    @property
    def verdict(self) -> str:
        """whole, wrong, or not known: where cards were not read, or may not be told yet."""
        if self.foreign or self.jokers or self.doubles or self.passed > len(FIFTY_TWO):
            return "wrong"
        if self.unread or self.sealed:
            return "not known"
        return "wrong" if self.missing or self.passed != len(FIFTY_TWO) else "whole"


def receipts(db: sqlite3.Connection, first: int, end: int) -> Iterator[Receipt]:
    """A receipt for every deck that was dealt out between two facts. One deck is in memory at a time."""
    decks: dict[bytes, _Deck] = {}  # of shoes that said that one was loaded
    check = _Deck()  # dealt out between two hands
    turns = _turns(db, first, end)
    turn = next(turns, None)
    over = False  # no hand is in play
    for fact in between(db, Fact, first, end):
        while turn is not None and turn[0] <= fact.id:
            over = turn[1] == OVER
            yield from check.ended()
            turn = next(turns, None)
        if fact.origin != SHOE or fact.journal is None:
            continue
        message = message_of(fact.raw)
        if isinstance(message, schema.Deck):
            loaded = decks.pop(fact.journal, None)
            if message.event == schema.DECK_EMPTY and loaded is not None and loaded.receipt is not None:
                yield _ended(loaded.receipt, fact)
            elif message.event == schema.DECK_LOADED:
                decks[fact.journal] = _Deck(_begun(fact, fact.journal))
        elif isinstance(message, schema.CardBack):
            decks.pop(fact.journal, None)  # a card went back: what passed is not the deck any more
            check.receipt = None
        elif isinstance(message, schema.Card) and (fact.journal in decks or over):
            deck = decks.get(fact.journal, check)
            receipt = deck.receipt = deck.receipt or _begun(fact, fact.journal)
            if message.hand not in deck.secrets:
                deck.secrets[message.hand] = secret_names(db, message.hand, fact.id)
            _passed(_ended(receipt, fact), message, deck.secrets[message.hand])
    yield from check.ended()


@dataclass(slots=True)
class _Deck:
    """A deck on its way through the shoe, and what the tokens of its hands stand for."""

    receipt: Receipt | None = None
    secrets: dict[int, dict[bytes, str]] = field(default_factory=dict)

    def ended(self) -> Iterator[Receipt]:
        """No more of it comes: the receipt, where it was a deck and not a few cards that somebody wanted to see."""
        receipt, self.receipt, self.secrets = self.receipt, None, {}
        if receipt is not None and receipt.passed > len(FIFTY_TWO) // 2:
            yield receipt


def _turns(db: sqlite3.Connection, first: int, end: int) -> Iterator[tuple[int, str]]:
    """When hands were over, and when they began or went on, by fact."""
    return db.execute(
        "SELECT fact, kind FROM events WHERE kind IN (?, 'Hand', 'NextHand', 'Undo') AND fact >= ? AND fact < ? "
        "ORDER BY fact, seq",
        (OVER, first, end),
    )


def _begun(fact: Fact, journal: bytes) -> Receipt:
    return Receipt(fact.id, fact.id, fact.wall_ns, fact.wall_ns, journal)


def _ended(receipt: Receipt, fact: Fact) -> Receipt:
    receipt.last, receipt.ended_ns = fact.id, fact.wall_ns
    return receipt


def _passed(receipt: Receipt, card: schema.Card, names: dict[bytes, str]) -> None:
    double = bool(card.flags & schema.CARD_DOUBLE)
    receipt.passed += 1 + double
    receipt.unread += double  # the second card of a double passage
    receipt.boxed += card.way_up == schema.WAY_UP
    if card.hand not in receipt.hands:
        receipt.hands = (*receipt.hands, card.hand)
    token = bytes(card.token)
    number = schema.value(token)
    if card.flags & schema.CARD_FOREIGN:
        receipt.foreign += 1
    elif card.flags & schema.CARD_UNREAD or token == schema.TOKEN_UNREAD:
        receipt.unread += 1
    elif card.flags & schema.CARD_JOKER or number in JOKERS:
        receipt.jokers += 1
    elif number < tokens.CARDS:
        receipt.named[card_name(number)] += 1
    elif token in names:
        receipt.named[names[token]] += 1
    else:
        receipt.sealed[card.hand, token] += 1


def fields(db: sqlite3.Connection, receipt: Receipt, with_cards: bool) -> dict[str, object]:
    """The receipt's fields, in the order in which they are printed."""
    row = db.execute(
        "SELECT device, build, digest FROM devices WHERE journal = ? AND wall_ns <= ? ORDER BY seq DESC LIMIT 1",
        (receipt.journal, receipt.ended_ns),
    ).fetchone() or (None, None, None)
    who = db.execute(
        "SELECT facts.who FROM events JOIN facts ON facts.id = events.fact "
        "WHERE events.kind = 'DealerPush' AND events.fact <= ? ORDER BY events.fact DESC LIMIT 1",
        (receipt.last,),
    ).fetchone()
    (seq, chain) = db.execute("SELECT seq, chain FROM facts WHERE id = ?", (receipt.last,)).fetchone()
    told: dict[str, object] = {
        "manufacturer": MAKER,
        "model": f"firmware {row[1] or NOT_KNOWN}",
        "serial": device_name(row[0]) if row[0] else NOT_KNOWN,
        "firmware_digest": row[2].hex() if row[2] else NOT_KNOWN,
        "bridge": __version__,
        "dealer": (who[0] if who else None) or NOT_KNOWN,
        "hands": list(receipt.hands),
        "passed": receipt.passed,
        "seen": receipt.seen,
        "missing": max(len(receipt.missing) - len(receipt.sealed), 0),
        "double": receipt.doubles,
        "foreign": receipt.foreign,
        "jokers": receipt.jokers,
        "boxed": receipt.boxed,
        "unread": receipt.unread,
        "sealed": receipt.sealed.total(),
        "verdict": receipt.verdict,
        "first_fact": receipt.first,
        "last_fact": receipt.last,
        "record": seq,
        "chain": chain.hex(),
    }
    if with_cards and not receipt.sealed:
        told |= {"missing_cards": list(receipt.missing), "double_cards": list(receipt.double)}
    return told
