"""A dealer who plays a deal script at an emulated shoe: pulls the cards, presses the keys, says the rest.

What the shoe can sense happens at the shoe; every other line goes to `tell`, as a person's line on the standard input
of `dealershoe run`. The dealer keeps a table of its own to know what `deal flop` means and which cards lie where.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from dealershoe.deal.grammar import render
from dealershoe.deal.items import DealNext, Expect, FloorCall, Line
from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.deck.strip import print_strip
from dealershoe.emulate.accidents import Accident, blank
from dealershoe.emulate.mechanics import PaperCard, printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from dealershoe.events import (
    Ack,
    Act,
    BettingComplete,
    DeckLoaded,
    Draw,
    Event,
    Exposed,
    Hand,
    NextHand,
    OffTable,
    PullBack,
    ReportBoxed,
    ReportWrongBack,
    ShuffledStub,
    Undo,
)
from dealershoe.session import TableSession
from dealershoe.table.agenda import HOLDEM_STREETS, STUD_STREETS
from dealershoe.table.drawing import faces_up
from dealershoe.table.state import STUB

SHOE_DECK, FOREIGN_DECK = 0, 3  # deck ids printed on the cards of the game and on a stranger
CARDS_DUE = ("seat", "burn", "board")
SHOWING = 30.0  # mm past the throat slot: a card that is held, and has not left
KEYS: dict[Event, tuple[str, bool]] = {  # what a key says: its name, and whether it is held
    BettingComplete(): ("betting-complete", False),
    Ack(): ("done", False),
    Undo(): ("done", True),
    NextHand(): ("new-hand", False),
    Act(None, None): ("action", False),
    Exposed(None): ("exposed", False),
}
STREETS = {"holdem": HOLDEM_STREETS, "stud": STUD_STREETS}


class ScriptedDealer:
    """Plays items of deal scripts. `tell(line)` returns when whoever is at the other end has taken the line.

    `session` is a fresh table under the rules that the host uses. `seed` shuffles the decks. `between` is the pause
    in seconds of the cards' time from one card to the next. `accidents` befall cards counted from the start. `hosted`:
    as of `EmulatedShoe.quiet`.
    """

    def __init__(
        self,
        shoe: EmulatedShoe,
        session: TableSession,
        tell: Callable[[str], None],
        *,
        seed: int = 0,
        between: float = 0.35,
        accidents: Iterable[Accident] = (),
        hosted: bool = False,
    ) -> None:
        self.shoe = shoe
        self.session = session
        self._tell = tell
        self._random = random.Random(seed)
        self._between = between
        self._hosted = hosted
        self._accidents = {accident.at: accident for accident in accidents}
        self._pulled = 0  # passages since the start
        self._out: dict[int, PaperCard] = {}  # draw number of the hand → the card
        self._named: frozenset[str] = frozenset()

    def play(self, lines: Sequence[Line]) -> Iterator[Line]:
        """Play a script; gives back each line when the shoe and the host are done with it."""
        for index, line in enumerate(lines):
            self.do(line, (later.item for later in lines[index:]))
            yield line

    def do(self, line: Line, ahead: Iterable[object] = ()) -> None:
        """Play one line. `ahead`: the items from here on, so that cards they name are not dealt before.

        Raises UserError for what cannot be done, such as `deal` when nothing is due.
        """
        item = line.item
        if isinstance(item, Expect):
            return
        self._named = named(ahead)
        try:
            if isinstance(item, DealNext):
                self._deal(item)
            elif isinstance(item, Draw):
                self._draw(item)
            elif isinstance(item, FloorCall):
                self.shoe.press("floor", False)
                self._settle()
            else:
                self._event(item)
        except UserError as error:
            raise UserError(f"line {line.number}, `{line.text}`: {error.seen}", error.cause, error.do) from error

    # ---- cards

    def _deal(self, item: DealNext) -> None:
        dealt = 0
        while not self._dealt_all(item, dealt):
            due = self.session.due
            self._draw(Draw(due.seat if due.kind == "seat" else due.kind))
            dealt += 1

    def _dealt_all(self, item: DealNext, dealt: int) -> bool:
        hand, due = self.session.hand, self.session.due
        if item.count is not None:
            if dealt < item.count and due.kind not in CARDS_DUE:
                raise UserError(f"no card is due, {due} is", "", "write what happens with `card TARGET`")
            return dealt == item.count
        if hand is None:
            raise UserError("no hand has begun", "", "begin with `hand seats=… button=…`")
        streets = STREETS[hand.setup.game]
        last = streets[0] if item.street == "hole" else item.street
        if last not in streets:
            raise UserError(f"there is no {last} in {hand.setup.game}", "", f"its streets are {', '.join(streets)}")
        here = self.session.due_street
        over = due.kind not in CARDS_DUE or (here in streets and streets.index(here) > streets.index(last))
        if over and not dealt:
            raise UserError(
                f"no card of the {item.street} is due, {due} is", "", "write what happens with `card TARGET`"
            )
        return over

    def _draw(self, draw: Draw) -> None:
        if draw.target is None:
            due = self.session.due
            draw = replace(draw, target=due.seat if due.kind == "seat" else due.kind)
        self._pulled += 1
        accident = self._accidents.get(self._pulled, Accident("none", 0))
        draw = accident.draw(draw)
        target = draw.target
        assert target is not None
        paper = self._take(draw)
        card = accident.card(paper)
        boxed, draw = draw.boxed, accident.seen(draw)
        self.session.tell(replace(draw, card=draw.card or card.name), "script")
        hand = self.session.hand
        if hand is None:
            raise UserError("no hand has begun", "", "begin with `hand seats=… button=…`")
        drawn = hand.cards[hand.last - 1]
        number = drawn.number
        by_the_game = faces_up(hand, drawn)
        by_dealer = draw.exposed == "dealer" or (draw.up and not by_the_game)
        # a seat node sees a card face up; at stud that may be as it should be, and only a person can say that it is not
        sensed = draw.confirmed and target != "off-table" and hand.setup.game == "holdem"
        face_up = by_dealer or by_the_game
        self.shoe.deck.insert(0, card.boxed() if boxed else card)
        accident.before(self.shoe, target)
        if self.shoe.half_out:
            self.shoe.finish(face_up=face_up, arrives=draw.confirmed)
        else:
            self.shoe.pull(None, target, face_up=face_up, double=draw.double, arrives=draw.confirmed)
        self._out[number] = accident.left(paper)
        if draw.double:
            self._out[number + 1] = self.shoe.pulled[1]
        self._settle()
        if boxed and draw.unseen:
            self.session.tell(ReportBoxed(number), "script")
            if not sensed or by_the_game:
                self._say(ReportBoxed(number))
        if by_dealer and not sensed:
            self._press(Exposed(None))
        elif by_dealer and (draw.unread or draw.unseen):  # the node alone would make it a boxed card
            self._say(Exposed(number))
        elif draw.exposed == "player":
            self._say(Exposed(number, "player"))
        if target == "off-table":
            self._say(OffTable(number, draw.knocked or "dealer"))
        if draw.wrong_back:
            self._say(ReportWrongBack(number))
        accident.after(self.shoe)

    def _take(self, draw: Draw) -> PaperCard:
        """The card that the line speaks of, off the deck; printed anew if the deck has none of that name."""
        deck = self.shoe.deck
        if draw.card is not None:
            place = next((i for i, card in enumerate(deck) if card.name == draw.card), None)
        else:
            place = 0 if deck else None
        if place is not None:
            card = deck.pop(place)
        elif draw.card is not None:
            card = printed(draw.card, SHOE_DECK)
        else:
            raise UserError("the shoe has no card left", "the deck has run out", "")
        if draw.foreign:
            card = card.with_strips(print_strip(card_number(card.name), FOREIGN_DECK))
        if draw.unread or draw.unseen:
            card = blank(card)
        return card

    def _fresh(self, first: Sequence[str] = ()) -> None:
        """A full deck, shuffled; `first` on top where the order is known, cards named later on at the bottom."""
        rest = [name for name in FIFTY_TWO if name not in first]
        self._random.shuffle(rest)
        rest.sort(key=lambda name: name in self._named)
        self.shoe.load([printed(name, SHOE_DECK, self.shoe.tag(name)) for name in (*first, *rest)])

    def _reload_stub(self, first: Sequence[str]) -> None:
        """The cards that went back are shuffled with those that never left."""
        hand = self.session.hand
        back = (
            [self._out.pop(c.number) for c in hand.cards if c.place == STUB and c.number in self._out] if hand else []
        )
        cards = [*self.shoe.deck, *back]
        self._random.shuffle(cards)
        cards.sort(
            key=lambda card: (first.index(card.name) if card.name in first else len(first), card.name in self._named)
        )
        self.shoe.load(cards)

    # ---- the rest

    def _event(self, event: Event) -> None:
        hand = self.session.hand
        before, last = (hand.top, hand.last) if hand else ((), 0)
        argued = hand is not None and bool(last) and (last in hand.unseen or hand.cards[last - 1].boxed)
        self.session.tell(event, "script")
        if isinstance(event, Hand | NextHand):
            self._out.clear()
            self._fresh()
        elif isinstance(event, DeckLoaded):
            self._out.clear()
            self._fresh(event.ids)
        elif isinstance(event, ShuffledStub):
            self._reload_stub(event.ids)
        if isinstance(event, PullBack):
            if not self._out:  # no card of this deck is out: the next one shows and goes back
                self.shoe.draw(SHOWING)
            self.shoe.push_back()
            self._settle()
            return
        if isinstance(event, Exposed) and event.number == last and event.by == "dealer" and not argued:
            event = Exposed(None)
        if event in KEYS:
            self._press(event)
        else:
            self._say(event)
        for number in self.session.hand.top[len(before) :] if self.session.hand else ():
            self.shoe.push_back(self._out.pop(number))
            self._settle()

    def _press(self, event: Event) -> None:
        key, held = KEYS[event]
        self.shoe.press(key, held)
        self._settle()

    def _say(self, event: Event) -> None:
        self._tell(render(event))

    def _settle(self) -> None:
        """Until the card has arrived and the host has answered; then the dealer's own pause."""
        if self._between:
            self.shoe.rest(self._between * 1000)
        self.shoe.quiet(hosted=self._hosted)


def named(items: Iterable[object]) -> frozenset[str]:
    """The cards that a script names until its next full deck."""
    found: set[str] = set()
    for place, item in enumerate(items):
        if place and isinstance(item, Hand | NextHand | DeckLoaded):
            break
        if isinstance(item, Draw) and item.card is not None:
            found.add(item.card)
    return frozenset(found)
