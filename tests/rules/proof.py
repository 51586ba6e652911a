"""A hand with faults in it, played with cards to its end by an obedient dealer: for the exhaustive tests and prove.

Every counterexample is a deal script with a sentence of what is wrong, so that anyone can replay it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dealershoe.errors import UserError
from dealershoe.events import Act, Draw, Event, Hand, Place, Placed, PullBack, ReportJoker, ShuffledStub
from dealershoe.rules.ruling import STRENGTH, Ruling
from dealershoe.rules.stack import DEFAULT, Stack, shipped
from dealershoe.session import _SPECIAL, TableSession
from dealershoe.table.buttons import RANKS, SUITS
from dealershoe.table.state import STUB, HandState, first_street, in_play
from dealershoe.trial.situations import Acts, Fault, faults, obedient, script, tell

STACKS = (*shipped(), DEFAULT, "tda-2024+roberts")
DECK = tuple(rank + suit for suit in SUITS for rank in RANKS)
WHOLE = frozenset(DECK)
LONGEST = 200  # events of a hand; the longest honest one, two stud deals and a redeal of the last street, has half
STUD_CARDS = 46  # of a stud hand: what is left of the deck is for remedies
SETTLED = frozenset({"misdeal", "replace", "correct", "dead", "void"})


class BrokenError(Exception):
    """A hand that does not go as it must; the message is the script and the reason."""


@dataclass
class Cards:
    """The cards as they really lie: `inside` the shoe, the next one last; which one each draw number was.

    `deck`: the order of a full deck, at each reload. After a shuffle of the stub what went back leaves first.
    """

    deck: tuple[str, ...]
    inside: list[str] = field(default_factory=list)
    known: dict[int, str] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    back: list[int] = field(default_factory=list)  # returned among the undealt cards, not yet shuffled in
    reload: int = 0

    def load(self) -> None:
        self.inside = list(self.deck)

    def copy(self) -> Cards:
        return Cards(
            self.deck, self.inside[:], dict(self.known), dict(self.places), self.back[:], self.reload,
        )  # fmt: skip

    def follow(self, event: Event, before: HandState, after: HandState) -> None:
        """Move the cards as the table says that they moved."""
        if after.reload > self.reload:  # a full deck: the old draws are history
            self.reload = after.reload
            self.places = {n: p for n, p in self.places.items() if n > self.reload}
            self.back = []
            self.load()
            return
        now: dict[int, Place] = {c.number: c.place for c in after.cards if c.number > self.reload}
        for number in sorted(now):
            if number not in self.known:
                self.known[number] = self.inside.pop()
                self.places[number] = ""
            elif self.places.get(number) == STUB and now[number] != STUB:
                if number in self.back:
                    self.back.remove(number)  # a decision withdrew its return: it has not gone back yet
                elif number == after.last and isinstance(event, Draw):
                    self.inside.pop()  # it had gone back on top and leaves again
                else:
                    self.inside.remove(self.known[number])
        for number in sorted(now, reverse=True):
            if now[number] == STUB and self.places.get(number) != STUB:
                if number in after.top:
                    self.inside.append(self.known[number])
                else:
                    self.back.append(number)
        for number in [n for n in self.places if n not in now]:  # pulled back: as if it had not left
            self.inside.append(self.known.pop(number))
        self.places = now
        if isinstance(event, ShuffledStub):
            self.inside += [self.known[number] for number in self.back]
            self.back = []

    def all(self) -> list[str]:
        out = [number for number, place in self.places.items() if place != STUB]
        return self.inside + [self.known[number] for number in (*out, *self.back)]


class Table:
    """One hand of `seats` players, the last of whom has the button, with the cards that it is played with."""

    def __init__(self, stack: Stack, seats: int, game: str = "holdem", seed: int = 1) -> None:
        self.session = TableSession(stack)
        self.cards = Cards(tuple(random.Random(seed).sample(DECK, len(DECK))))
        self.cards.load()
        self.events: list[Event] = []
        self.rulings: list[Ruling] = []
        self.honest = True  # every identity that was told is the card's own
        self.by_hand = False  # a person moved a card on his own account: no due order can mend that
        self.spoke = 0  # events to which the table said anything
        self.session.tell(Hand(tuple(range(1, seats + 1)), seats, game=game), "dealer")
        self.events.append(Hand(tuple(range(1, seats + 1)), seats, game=game))

    @property
    def hand(self) -> HandState:
        hand = self.session.hand
        assert hand is not None
        return hand

    def fork(self) -> Table:
        other = object.__new__(Table)
        other.session = self.session.fork()
        other.cards = self.cards.copy()
        other.events = self.events[:]
        other.rulings = self.rulings[:]
        other.honest = self.honest
        other.by_hand = self.by_hand
        other.spoke = self.spoke
        return other

    def broken(self, reason: str) -> BrokenError:
        return BrokenError(f"{script(self.events)}# under {self.session.stack.name}: {reason}")

    def tell(self, event: Event) -> None:
        """Tell one fact with the card's own identity; the table and the cards must agree afterwards."""
        self.events.append(event)
        before, stood = self.hand, self.session.rulings
        told = event
        if isinstance(event, ReportJoker):
            self.honest = False
        if isinstance(event, Draw):
            if event.card is not None:
                self.honest = False
            elif not event.unread and self.cards.inside:
                told = replace(event, card=self.cards.inside[-1])
        try:
            outcome = tell(self.session, told)
        except UserError:
            self.events.pop()
            raise
        except Exception as error:
            raise self.broken(f"{type(error).__name__}: {error}") from error
        if isinstance(event, Placed) or (isinstance(event, PullBack) and len(self.hand.cards) == len(before.cards)):
            self.by_hand = True  # a pull-back that was ruled on before is not undone
        self.spoke += bool(outcome.rulings or outcome.notes or self.session.question)
        self.rulings += outcome.rulings
        if type(event) in _SPECIAL:  # what was ruled before may be ruled otherwise now, without being told again
            known = (*stood, *outcome.rulings)
            self.rulings += [ruling for ruling in self.session.rulings if ruling not in known]
        try:
            self.cards.follow(event, before, self.hand)
        except (ValueError, IndexError) as error:
            raise self.broken("the table moves a card that does not lie there") from error

    def check_cards(self) -> None:
        """Each draw number has exactly one place, and the identities are the 52 of the deck."""
        hand = self.hand
        if [card.number for card in hand.cards] != list(range(1, len(hand.cards) + 1)):
            raise self.broken("the draw numbers do not run from 1 without a gap")
        for card in hand.cards:
            if isinstance(card.place, str) and card.place not in PLACES_OF_A_CARD:
                raise self.broken(f"#{card.number} lies at {card.place!r}, which is no place")
        everything = self.cards.all()
        if len(everything) != len(DECK) or set(everything) != WHOLE:
            raise self.broken("the cards are not the 52 of the deck")
        if self.honest:
            for card in hand.cards[hand.reload :]:
                if card.place != STUB and card.card is not None and card.card != self.cards.known[card.number]:
                    raise self.broken(f"#{card.number} is {self.cards.known[card.number]}, the table has {card.card}")
            if any(ruling.finding == "duplicate" and ruling.cards for ruling in self.rulings):
                raise self.broken("a duplicate was found in a sound deck")

    def inject(self, fault: Fault) -> bool:
        """Tell a fault's facts; False when the table refuses one as impossible, which must change nothing."""
        for event in fault.events:
            before = self.hand
            try:
                self.tell(event)
            except UserError:
                if self.hand is not before:
                    raise self.broken(f"{event} was refused and changed the table") from None
                return False
        self.check_cards()
        return True

    def step(self) -> bool:
        """Do what is due; False when nothing is."""
        event = self.fold_one() or obedient(self.session)
        if event is None:
            return False
        out = isinstance(event, Draw) and len(self.cards.inside) < 2
        if self.crowded and out:
            return False  # nobody could fold before the deal was left: the deck runs out
        if len(self.events) > LONGEST or out:
            raise self.broken(f"the hand does not end, due is {self.session.due}")
        try:
            self.tell(event)
        except UserError as error:
            raise self.broken(f"what was due is refused: {error}") from error
        return True

    def fold_one(self) -> Event | None:
        """A fold, where more players would go on to stud's fourth street than there are cards for."""
        hand = self.hand
        if hand.setup.game != "stud" or self.session.due.kind != "betting" or hand.street != first_street(hand):
            return None
        live = [seat for seat in hand.setup.order if seat in in_play(hand)]
        return Act(live[-1], "fold") if self.crowded else None

    @property
    def crowded(self) -> bool:
        """More players are in a stud hand than the deck has cards for: three each, four for those who go on, burns."""
        hand = self.hand
        needed = 3 * len(hand.setup.order) + 4 * len(in_play(hand)) + 4
        return hand.setup.game == "stud" and needed > STUD_CARDS

    def finish(self) -> None:
        """Do what is due until nothing is."""
        while self.step():
            pass
        self.check_cards()
        self.check_end()

    def check_end(self) -> None:
        """What was due has dealt the hand to its end: the board is full and every live hand is whole."""
        hand = self.hand
        if hand.awarded or self.by_hand or self.crowded:
            return
        board = len(self.session.places("board"))
        exact = self.settled and not self.quiet
        if hand.setup.game == "holdem" and (board != 5 if exact else board < 5):
            raise self.broken(f"{board} cards on the board at the end")
        if not exact:
            return
        if self.session.signal != "ready":
            raise self.broken(f"the light says {self.session.signal} at the end")
        share = 2 if hand.setup.game == "holdem" else 7
        for seat in hand.setup.order:
            held = len(self.session.seat_cards(seat))
            if seat in in_play(hand) and seat not in dict(hand.found) and held != share:
                raise self.broken(f"seat {seat} has {held} cards at the end")

    @property
    def settled(self) -> bool:
        """Every ruling put right what was wrong: nothing was left to a person, nothing was left as it was."""
        return all(ruling.ruling in SETTLED for ruling in self.rulings)

    @property
    def quiet(self) -> bool:
        """Something irregular was told on which no rule had to say anything, so that nothing mended it."""
        return not self.rulings or max(STRENGTH[r.ruling] for r in self.rulings) < STRENGTH["correct"]


PLACES_OF_A_CARD = frozenset({"burn", "board", "muck", "off-table", "unknown", STUB, "aside"})


def moments(table: Table) -> Iterator[Table]:
    """The hand at each of its moments from now on, while nothing more goes wrong."""
    table = table.fork()
    yield table.fork()
    while table.step():
        yield table.fork()


def check(moment: Table, fault: Fault, first: bool = True) -> None:
    """One fault at one moment, and the hand after it to its end. `first`: nothing went wrong before.

    Raises BrokenError for a counterexample: an exception, cards lost or doubled, an error of which nothing is said, a
    hand that what is due does not deal to its end.
    """
    table = moment.fork()
    if not table.inject(fault):
        return
    table.finish()
    if first and not fault.regular and table.spoke == moment.spoke:
        raise table.broken(f"nothing was said of this: {fault.name}")


def single(table: Table, first_acts: Acts, later_acts: Acts) -> Iterator[str]:
    """Every single fault of a hand, at each of its moments: "" where it ends in order, else what is wrong."""
    for moment in moments(table):
        for fault in faults(moment.session, True, first_acts, later_acts):
            try:
                check(moment, fault)
                yield ""
            except BrokenError as error:
                yield str(error)


def some_pairs(stack: Stack, seats: int, game: str, count: int, seed: int) -> Iterator[tuple[Table, Fault]]:
    """`count` hands with one fault in them, at a later moment, with the second fault that comes then."""
    rng = random.Random(seed)
    clean = list(moments(Table(stack, seats, game, seed)))
    while count:
        table = rng.choice(clean).fork()
        if not table.inject(rng.choice(list(faults(table.session)))):
            continue
        later = list(moments(table))
        second = rng.choice(later).fork()
        yield second, rng.choice(list(faults(second.session)))
        count -= 1
