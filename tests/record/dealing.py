"""Hands dealt through a real desk into a journal, some with accidents: for tests and benchmark of the record."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from dealershoe.deal.grammar import render
from dealershoe.deck.cards import FIFTY_TWO, card_name
from dealershoe.desk.desk import Desk, Moment
from dealershoe.desk.table_link import frame_of
from dealershoe.errors import UserError
from dealershoe.events import Act, DeckLoaded, Draw, Event, Place
from dealershoe.record.journal import Journal
from dealershoe.rules.stack import DEFAULT, Stack, load_stack
from dealershoe.session import TableSession
from dealershoe.trial.situations import faults, obedient
from shoelink import schema, tokens

SHOE_JOURNAL = b"JRN1"
DEVICE = b"SHOE0001"
WALL_NS = 1_700_000_000_000_000_000
CARD_NS = 700_000_000  # between two cards
TARGETS = {
    None: schema.TARGET_UNKNOWN,
    "burn": schema.TARGET_BURN,
    "board": schema.TARGET_BOARD,
    "muck": schema.TARGET_MUCK,
    "off-table": schema.TARGET_OFF_TABLE,
}
JOKER = len(FIFTY_TWO)
MOST = 400  # facts of one hand


def kept(raw: bytes) -> Any:
    """What a kept frame says."""
    return schema.unpack(raw[0], raw[1:])


class Table:
    """A desk with a shoe that deals what is due, at one table; every fact goes into the journal at once."""

    def __init__(
        self, journal: Journal, seed: int, stack: Stack | None = None, accidents: float = 0.5, sealed: bool = False
    ) -> None:
        """`accidents`: of so many hands out of one something goes wrong. `sealed`: cards go by tokens, as on a live
        table."""
        self.journal = journal
        self.dice = random.Random(seed)
        self.accidents = accidents
        stack = stack or load_stack(DEFAULT)
        self.desk = Desk(TableSession(stack), open_table=not sealed, next_fact=journal.next_fact())
        self.desk.device = DEVICE
        self.sealed = sealed
        self.secret = bytes(tokens.SECRET)
        self.dealt: list[str] = []  # the cards of the hand, whatever they are called on the line
        self.number = journal.stored_up_to(SHOE_JOURNAL) or 0
        self.ns = 0
        self.deck: list[int] = []
        self.desk.judge_by(stack, self.at)
        self.commit()

    @property
    def at(self) -> Moment:
        return Moment(self.ns, WALL_NS + self.ns)

    def commit(self) -> None:
        """The disk has it."""
        entries, self.desk.entries = self.desk.entries, []
        self.desk.happenings.clear()
        self.journal.write(entries)

    def say(self, text: str, who: str = "floor: Ann") -> bool:
        """A person's line. False: the table refused it, which is on record too."""
        try:
            self.desk.say(text, "console", 1, self.at, who)
        except UserError:
            return False
        finally:
            self.ns += CARD_NS // 10
        return True

    def report(self, message: Any) -> None:
        """A report of the shoe."""
        self.number += 1
        self.ns += CARD_NS
        raw = frame_of(schema.KIND_OF[type(message)], schema.pack(message))
        self.desk.report(message, raw, self.at, SHOE_JOURNAL, self.number)

    def shuffle(self) -> None:
        """A full deck in another order."""
        self.deck = list(range(len(FIFTY_TWO)))
        self.dice.shuffle(self.deck)

    def draw(self, event: Draw) -> None:
        """A card leaves the shoe."""
        hand = self.desk.session.hand
        assert hand is not None
        if not self.deck:
            self.shuffle()
        card = JOKER if event.card == "joker" else self.deck.pop()
        self.dealt.append(card_name(card))
        token = tokens.tokens(self.secret)[4 * card : 4 * card + 4] if self.sealed else schema.word(card)
        flags = schema.CARD_UNREAD * event.unread + schema.CARD_FOREIGN * event.foreign
        flags |= schema.CARD_JOKER * (card == JOKER)
        sensed = schema.ORIGIN_NONE if event.target is None else schema.ORIGIN_SEAT_SENSOR
        way = schema.WAY_UP if event.boxed else schema.WAY_DOWN
        passage = self.desk.passages.last + 1
        self.report(
            schema.Card(
                self.desk.hand, passage, bytes(4), token, 0, way, code(event.target), sensed, 60,
                flags, 1000, 0,
            )
        )  # fmt: skip
        if event.exposed:
            self.say(f"exposed #{self.desk.session.draws} by={event.exposed}")

    def draw_due(self) -> None:
        """The next card, where it is due."""
        self.draw(Draw())

    def pass_card(self, draw: int, flags: int = 0) -> None:
        """The next card of `deck` goes through the shoe, wherever to."""
        card = self.deck.pop()
        token = tokens.tokens(self.secret)[4 * card : 4 * card + 4] if self.sealed else schema.word(card)
        self.report(schema.Card(self.desk.hand, draw, bytes(4), token, 0, 0, 0, 0, 60, flags, 1000, 0))

    def tell(self, event: Event) -> None:
        """Any event, in the way it would come."""
        if isinstance(event, Draw):
            self.draw(event)
        elif isinstance(event, Act) and event.seat is None:
            self.say("act 1 call")
        else:
            self.say(render(event))
            if isinstance(event, DeckLoaded):
                self.shuffle()

    def commit_to(self) -> None:
        """The shoe binds itself to the secret of the hand that has begun."""
        self.secret = self.dice.randbytes(tokens.SECRET)
        self.report(schema.Commit(self.desk.hand, tokens.commitment(DEVICE, self.desk.hand, self.secret)))

    def reveal(self, secret: bytes | None = None) -> None:
        """It gives the secret away."""
        self.report(schema.Reveal(self.desk.hand, secret or self.secret))

    def hand(self) -> None:
        """One hand from its first line to the pot."""
        self.dealt.clear()
        self.shuffle()
        if self.desk.session.hand is None or self.dice.random() < 0.1:
            self.say(f"hand seats=1-{self.dice.randint(2, 9)} button=2")
        else:
            self.say("hand next")
        left = self.dice.randint(1, 40) if self.dice.random() < self.accidents else -1
        session = self.desk.session
        for _ in range(MOST):
            left -= 1
            if not left:
                choices = list(faults(session))
                for wrong in self.dice.choice(choices).events if choices else ():
                    self.tell(wrong)
                continue
            event = obedient(session)
            if event is None:
                break
            self.tell(event)
        self.say("award")
        self.commit()


def code(target: Place | None) -> int:
    """A place in the link's codes."""
    return target if isinstance(target, int) else TARGETS[target]


def record(path: Path, hands: int, seed: int, key: Any = None, stack: Stack | None = None) -> None:
    """A journal of so many hands."""
    with Journal(path, key) as journal:
        table = Table(journal, seed, stack)
        for _ in range(hands):
            table.hand()
