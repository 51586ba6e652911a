"""The state of one hand as frozen records, and the questions that can be asked of it."""

from __future__ import annotations

from typing import NamedTuple

from dealershoe.events import CHIPS, SEATS, Act, Place
from dealershoe.table.agenda import (
    BETTING,
    BOARD,
    BURN,
    DEAL,
    PICK,
    RELOAD,
    SEAT,
    SHUFFLE,
    Due,
    Step,
    base_agenda,
    front,
)
from dealershoe.table.setup import Setup

STUB = "stub"  # the card is back among the undealt cards
ASIDE = "aside"  # set aside, to be shuffled back later


class Card(NamedTuple):
    """One card that left the shoe. `serves` is the seat whose share of the deal it counts for, 0 for none."""

    number: int
    place: Place
    serves: int = 0
    street: str = ""
    card: str | None = None
    due: Due | None = None  # what was due when it left
    exposed: str | None = None  # by whom
    boxed: bool = False
    unread: bool = False
    foreign: bool = False
    wrong_back: bool = False
    off_table: str = ""  # who sent it off the table
    touched: bool = False  # it touched the player, his hand or his chips before it came to rest
    looked: bool = False
    claimed: bool = False  # said to be exposed only when its player had looked
    extra: bool = False  # one card more than its seat should have
    initial: bool = False  # a card of the initial deal, or a replacement of one
    replacement: bool = False
    confirmed: bool = True
    arrived: int = 0  # order of arrival where it lies


class Remedy(NamedTuple):
    """A remedy while it is being followed. `begun`: a step of it has been done, so it cannot be undone."""

    key: tuple[int, str, int]  # of the finding that brought it
    begun: bool = False
    texts: tuple[str, ...] = ()


class HandState(NamedTuple):
    """Everything the table knows of a hand. Draw `n` is `cards[n - 1]`."""

    setup: Setup
    agenda: tuple[Step, ...]
    served: tuple[int, ...]  # cards counted for each seat of `setup.order` on the street being dealt
    last_served: int = 0  # the seat served last, 0: start at the head of the order
    cards: tuple[Card, ...] = ()
    top: tuple[int, ...] = ()  # cards returned to the top, the next one to leave last
    clock: int = 0  # arrivals so far
    last: int = 0  # the card drawn last
    acts: tuple[tuple[str, Act], ...] = ()  # with the street they were made on
    reload: int = 0  # cards drawn before the last full reload
    dead: tuple[int, ...] = ()
    seats: tuple[int, ...] = ()  # entitled to cards, as known now: a redeal's seats
    button: int = 0  # the right button, as known now
    remedies: tuple[Remedy, ...] = ()
    closed: tuple[str, ...] = ()  # streets whose betting is closed
    betting_over: bool = False
    awarded: bool = False
    unburned: str = ""  # the street that is being dealt without its burn
    picked: int = 0
    knew: tuple[int, ...] = ()
    found: tuple[tuple[int, int], ...] = ()  # (seat, cards) as reported
    decks: tuple[int, ...] = ()  # deck ids seen in this hand
    question: str = ""
    early: str = ""  # the street whose cards came out too soon and are not yet dealt anew
    early_cards: tuple[int, ...] = ()
    calls: tuple[int, ...] = ()  # remedies that are calls for the floor, undecided
    forfeit: tuple[int, ...] = ()  # seats whose chips stay in the pot for the next deal
    unseen: tuple[int, ...] = ()  # cards of which no head saw which way up they lay, and nobody has said it

    @property
    def street(self) -> str:
        """The street in play: that of the first betting still open, else the last one."""
        for step in self.agenda:
            if step.kind == BETTING:
                return step.street
        return "river" if self.setup.game == "holdem" else "seventh"


_ACTS = HandState._fields.index("acts")  # what every card changes stands before it


def with_act(state: HandState, act: Act) -> HandState:
    """The hand with one more action: like `_replace`, in a third of its time, for this and a card are all of a hand."""
    acts = (*state.acts, (state.street, act))
    return HandState._make((*state[:_ACTS], acts, *state[_ACTS + 1 :]))


def with_card(state: HandState, card: Card, served: tuple[int, ...], last_served: int) -> HandState:
    """The hand with one more card out: the next new one, or the one on top that had gone back there."""
    number = card.number
    cards = (*state.cards[: number - 1], card, *state.cards[number:]) if state.top else (*state.cards, card)
    changed = (served, last_served, cards, state.top[:-1], card.arrived, number)
    return HandState._make((state.setup, state.agenda, *changed, *state[_ACTS:]))


def begin(setup: Setup) -> HandState:
    """A hand before its first card."""
    agenda = base_agenda(setup.game, setup.burn_first)
    return HandState(setup, agenda, (0,) * len(setup.order), seats=setup.seats, button=setup.button)


def need(state: HandState, street: str) -> int:
    """Cards each seat gets on `street` of the deal."""
    return state.setup.cards_each if street in ("preflop", "third") else 1


def folded(state: HandState, seat: int) -> bool:
    return any(act.seat == seat and act.kind == "fold" for _, act in state.acts)


def in_play(state: HandState) -> frozenset[int]:
    """Seats that still get cards on a later stud street: not folded, not dead."""
    folded = {act.seat for _, act in state.acts if act.kind == "fold"}
    return frozenset(s for s in state.setup.order if s not in folded and s not in state.dead)


def next_seat(state: HandState, street: str, rounds: int = 0) -> int:
    """The seat due on `street`: clockwise from the seat served last, the first that lacks cards; 0 for none.

    `rounds`: lacks cards of so many rounds; 0: of all.
    """
    order = state.setup.order
    share = rounds or need(state, street)
    late = street not in ("preflop", "third")
    live = in_play(state) if late else order
    start = 0
    if state.last_served:
        after = state.last_served
        start = order.index(after) + 1 if after in order else _position_after(state, after)
    size = len(order)
    for offset in range(size):
        index = (start + offset) % size
        if state.served[index] < share and order[index] in live:
            return order[index]
    return 0


def _position_after(state: HandState, seat: int) -> int:
    """Where the order goes on after a card went to a seat outside it: at the next seat clockwise of that one."""
    higher = [s for s in state.setup.order if s > seat]
    return state.setup.order.index(min(higher) if higher else min(state.setup.order))


_DUE = {
    BURN: Due("burn"),
    BOARD: Due("board"),
    BETTING: Due("betting"),
    SHUFFLE: Due("shuffle"),
    RELOAD: Due("shuffle"),
    PICK: Due("pick"),
}
_SEAT_DUE = tuple(Due("seat", seat) for seat in range(max(SEATS) + 1))
NOTHING = Due("nothing")
ACK = Due("ack")


def due(state: HandState) -> Due:
    """The first open step that is not a hand step; `ack` when only hand steps remain."""
    return due_at(state, front(state.agenda))


def due_at(state: HandState, index: int) -> Due:
    """What is due while the step at `index` is the first that is not a hand step, -1: there is none."""
    if index < 0:
        return ACK if state.agenda else NOTHING
    step = state.agenda[index]
    if step.kind == SEAT:
        return _SEAT_DUE[step.seat]
    if step.kind == DEAL:
        return _SEAT_DUE[next_seat(state, step.street, step.round)]
    return _DUE[step.kind]


def count_served(state: HandState, street: str) -> tuple[int, ...]:
    """Cards counted for each seat of the order on `street`, from the cards themselves."""
    counts = dict.fromkeys(state.setup.order, 0)
    for card in state.cards[state.reload :]:
        if card.serves in counts and card.street == street:
            counts[card.serves] += 1
    return tuple(counts[seat] for seat in state.setup.order)


def at(state: HandState, place: Place) -> tuple[int, ...]:
    """Draw numbers of the cards that lie at `place`, in order of arrival."""
    return tuple(c.number for c in sorted((c for c in state.cards if c.place == place), key=lambda c: c.arrived))


def board_cards(state: HandState, street: str) -> tuple[int, ...]:
    """Draw numbers on the board that belong to `street`."""
    return tuple(c.number for c in state.cards if c.place == "board" and c.street == street)


def asked(state: HandState) -> tuple[int, ...]:
    """The cards of which somebody is to say whether they came out face up: no head saw it.

    Once a player has acted on its street nobody is asked any more: a card that lies face up has been seen by then.
    Where all cards are to come back it has a use only of one that is taken for exposed.
    """
    if not state.unseen or state.awarded:
        return ()
    over = any(step.kind == RELOAD for step in state.agenda)
    open_ = (n for n in state.unseen if state.cards[n - 1].exposed or not over)
    return tuple(n for n in open_ if _matters(state, state.cards[n - 1]))


def _matters(state: HandState, card: Card) -> bool:
    if card.place in (STUB, "muck") or street_acts(state, card.street):
        return False
    if state.betting_over:  # what is still dealt then goes to the burns and the board
        return not isinstance(card.place, int)
    return card.street not in state.closed


def first_street(state: HandState) -> str:
    return "preflop" if state.setup.game == "holdem" else "third"


def street_acts(state: HandState, street: str) -> int:
    """Actions of any kind, in turn or not, on `street`."""
    return sum(1 for played, _ in state.acts if played == street)


def voluntary(state: HandState) -> list[Act]:
    """Voluntary actions in turn on the first betting round; posts and the bring-in do not count (RULES 1)."""
    first = first_street(state)
    return [act for played, act in state.acts if played == first and not act.out_of_turn and act.kind != "bring-in"]


def chip_actions(acts: list[Act]) -> int:
    return sum(1 for act in acts if act.kind in CHIPS)


UNREAD_CARDS, BOXED_CARDS = 3, 5  # in one deal: so many are the deck's fault (five boxed: NZ Gazette 1999 no. 11)


def deck_doubt(state: HandState) -> str:
    """Why the shoe itself doubts the deck, "" if it does not."""
    deal = state.cards[state.reload :]
    if any(card.foreign or card.card == "joker" for card in deal):
        return "a card that does not belong to the deck was dealt"
    if sum(1 for card in deal if card.unread and not card.boxed) >= UNREAD_CARDS:
        return f"{UNREAD_CARDS} cards could not be read"
    if sum(1 for card in deal if card.boxed) >= BOXED_CARDS:
        return f"{BOXED_CARDS} cards were face up in the deck"
    return ""


def open_remedies(state: HandState) -> list[int]:
    """Indexes of the remedies that still have a step on the agenda."""
    return sorted({step.remedy for step in state.agenda if step.remedy >= 0})
