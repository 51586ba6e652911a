"""The fold: one fact after another onto the state of a hand. Each handler returns the new state, findings and notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dealershoe.errors import UserError
from dealershoe.events import (
    Ack,
    Act,
    Award,
    BettingComplete,
    BettingOver,
    Cut,
    DeckLoaded,
    Draw,
    DroppedStub,
    Event,
    Exposed,
    Knew,
    Looked,
    OffTable,
    Pick,
    Place,
    Placed,
    PullBack,
    ReportBadShuffle,
    ReportBoxed,
    ReportButton,
    ReportCount,
    ReportDuplicate,
    ReportEntitled,
    ReportJoker,
    ReportMissing,
    ReportShortStub,
    ReportWrongBack,
    ShuffledStub,
)
from dealershoe.table.agenda import BETTING, BOARD, BOARD_SIZE, BURN, DEAL, PICK, RELOAD, SEAT, SHUFFLE, find
from dealershoe.table.agenda import Step as AgendaStep
from dealershoe.table.drawing import boxed, draw, expose, faces_up, lacking
from dealershoe.table.effects import acknowledge, consume, done_by_hand, end_deal, move, put, redeal, settle
from dealershoe.table.findings import Finding
from dealershoe.table.setup import clockwise, cutter, reseated
from dealershoe.table.state import STUB, Card, HandState, at, count_served, first_street, need, next_seat, with_act


class Step(NamedTuple):
    """What one fact did: the state after it, what it found irregular, and what it could not use."""

    state: HandState
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def fold(state: HandState, event: Event) -> Step:
    """Apply one fact.

    Raises UserError when the fact cannot be true of this hand (a draw number that was never drawn, for one).
    """
    handler = HANDLERS.get(type(event))
    if handler is None:
        return Step(state, notes=(f"{type(event).__name__} says nothing about a hand in play",))
    return handler(state, event)


def card_of(state: HandState, number: int) -> Card:
    """The card of a draw number; a UserError when it was not drawn, or went back with the whole deck."""
    if not 1 <= number <= len(state.cards):
        raise UserError(
            f"card #{number}", f"{len(state.cards)} card(s) have been drawn in this hand", "correct the draw number"
        )
    if number <= state.reload:
        raise UserError(f"card #{number}", "it went back into the deck before this deal", "correct the draw number")
    return state.cards[number - 1]


def _draw(state: HandState, event: Draw) -> Step:
    state, found = draw(state, event)
    return Step(state, tuple(found))


def _leave_deal(state: HandState) -> tuple[HandState, tuple[Finding, ...]]:
    """Play goes on although the deal is not complete: the deal is over, and who lacks cards is found."""
    index = find(state.agenda, DEAL, first_street(state))
    found = tuple(lacking(state)) if index >= 0 else ()
    if not found:
        return state, ()
    held = tuple((f.seat, int(dict(f.more)["cards_held"])) for f in found)
    known = tuple(pair for pair in state.found if pair[0] not in dict(held)) + held
    return settle(end_deal(state, index)._replace(found=known)), found


def _act(state: HandState, event: Act) -> Step:
    if event.seat is not None and event.seat not in state.setup.seats and event.seat not in state.seats:
        raise UserError(f"an action by seat {event.seat}", "that seat is not in the hand", "correct the seat")
    state, found = _leave_deal(state)
    state = with_act(state, event)
    if event.kind == "fold":  # a stud street owes him no card any more
        state = settle(state)
    held = dict(state.found).get(event.seat or 0) if state.found and not found else None
    if held is not None and held < need(state, first_street(state)) and find(state.agenda, SEAT) >= 0:
        owed = any(step.kind == SEAT and step.seat == event.seat for step in state.agenda)
        if not owed:
            return Step(state)
        more = (("cards_held", held), ("in_sequence", False))
        found = (Finding("short", (), event.seat or 0, street=first_street(state), more=more),)
    return Step(state, found)


def _betting_complete(state: HandState, event: BettingComplete) -> Step:
    state, found = _leave_deal(state)
    index = find(state.agenda, BETTING)
    undealt = [find(state.agenda, kind) for kind in (BURN, BOARD, DEAL)]
    if index < 0 or any(0 <= other < index for other in undealt):
        return Step(state, found, ("no betting is open",))
    state = state._replace(closed=(*state.closed, state.agenda[index].street))
    return Step(settle(consume(state, index)), found)


def _betting_over(state: HandState, event: BettingOver) -> Step:
    state, found = _leave_deal(state)
    closed = tuple(step.street for step in state.agenda if step.kind == BETTING)
    agenda = tuple(step for step in state.agenda if step.kind != BETTING)
    state = state._replace(agenda=agenda, betting_over=True, closed=state.closed + closed)
    return Step(settle(state), found)


def _exposed(state: HandState, event: Exposed) -> Step:
    number = event.number
    if number is None:
        if not state.cards:
            raise UserError("an exposed card", "no card has been drawn in this hand", "deal first")
        number = state.last
    card = card_of(state, number)
    # who only presses a key has not said which way up it left the shoe, nor who sees a card that is dealt face up
    if event.number is not None and not faces_up(state, card):
        state = _said(state, number)
    state, found = expose(state, number, event.by, event.touched)
    return Step(state, tuple(found))


def _said(state: HandState, number: int) -> HandState:
    """Somebody has said which way up the card lay in the shoe."""
    return state._replace(unseen=tuple(n for n in state.unseen if n != number)) if state.unseen else state


def _boxed(state: HandState, event: ReportBoxed) -> Step:
    """A card that the shoe itself saw face up, or that was said to be, is nothing new."""
    card = card_of(state, event.number)
    if card.place == STUB:
        raise UserError(f"card #{event.number}", "it lies back in the stub", "correct the draw number")
    state = _said(state, event.number)
    if not event.boxed or card.boxed:
        return Step(state)
    card = card._replace(boxed=True)
    return Step(put(state, card), tuple(boxed(card)))


def _off_table(state: HandState, event: OffTable) -> Step:
    card = card_of(state, event.number)
    if card.off_table or card.place in (STUB, "board"):
        return Step(state)
    seat = card.serves
    state = put(state, card._replace(off_table=event.by))
    if event.by == "dealer":  # one that a player knocks off is his all the same
        state = move(state, event.number, "off-table", keep_serving=True)
    return Step(state, (Finding("off-table", (event.number,), seat, street=card.street),))


def _count(state: HandState, event: ReportCount) -> Step:
    _seated(state, event.seat)
    share = need(state, first_street(state))
    others = tuple(pair for pair in state.found if pair[0] != event.seat)
    state = state._replace(found=(*others, (event.seat, event.cards)))
    held = at(state, event.seat)
    if event.cards == share:
        return Step(state._replace(found=others))
    dealing = find(state.agenda, DEAL, first_street(state)) >= 0
    if dealing and _still_to_come(state, event):
        return Step(state._replace(found=others))
    if event.cards < share:
        undealt = not dealing and all(c.place != "burn" and c.place != "board" for c in state.cards)
        last = event.seat == state.setup.order[-1] and undealt and event.cards == share - 1
        last = last or (dealing and event.cards == share - 1 and _only_lacking(state) == event.seat)
        more = (("cards_held", event.cards), ("in_sequence", last))
        kind = "short" if event.cards else "dealt-out"
        return Step(state, (Finding(kind, (), event.seat, street=first_street(state), more=more),))
    last_off = not dealing and bool(held) and held[-1] == len(state.cards) and len(held) == event.cards
    more = (("cards_held", event.cards), ("last_off", last_off))
    cards = held[-1:] if len(held) == event.cards else ()
    return Step(state, (Finding("extra-card", cards, event.seat, street=first_street(state), more=more),))


def _only_lacking(state: HandState) -> int:
    """The seat whose one card is all that the deal still owes, and next; 0 for none."""
    street = first_street(state)
    one_short = sum(state.served) == need(state, street) * len(state.served) - 1
    return next_seat(state, street) if one_short else 0


def _still_to_come(state: HandState, event: ReportCount) -> bool:
    """Does the seat hold what the deal has served it so far, its other cards to come in their turn?"""
    order = state.setup.order
    if event.seat not in order or event.seat == _only_lacking(state):
        return False
    index = order.index(event.seat)
    return state.served[index] == event.cards and max(state.served[index:]) == event.cards


def _seated(state: HandState, seat: int) -> None:
    if seat not in state.setup.seats and seat not in state.seats:
        raise UserError(f"seat {seat}", "that seat is not in the hand", "correct the seat")


def _button(state: HandState, event: ReportButton) -> Step:
    """The button was elsewhere: set right before the first card of the deal, an error from then on."""
    if event.seat == state.button:
        return Step(state)
    state = state._replace(button=event.seat)
    if find(state.agenda, RELOAD) >= 0:  # the redeal is from there
        return Step(state)
    if len(state.cards) == state.reload and not state.awarded:
        return Step(_reseat(state))
    return Step(state, (Finding("button-wrong", (), event.seat),))


def _entitled(state: HandState, event: ReportEntitled) -> Step:
    seat = event.seat
    held = at(state, seat)
    if event.entitled:
        state = state._replace(seats=tuple(sorted({*state.seats, seat})))
        if find(state.agenda, RELOAD) >= 0:  # the redeal is for him too
            return Step(state)
        dealing = find(state.agenda, DEAL, first_street(state)) >= 0
        if held or (seat in state.setup.seats and dealing):
            return Step(state)
        if dealing and _before_his_turn(state, seat):
            return Step(_reseat(state))
        return Step(state, (Finding("dealt-out", (), seat, first_street(state), more=(("cards_held", 0),)),))
    state = state._replace(seats=tuple(s for s in state.seats if s != seat))
    if find(state.agenda, RELOAD) >= 0:
        return Step(state)
    if held:
        return Step(state, (Finding("not-entitled", held, seat),))
    return Step(settle(_reseat(state)) if seat in state.setup.order else state)


def _before_his_turn(state: HandState, seat: int) -> bool:
    """Has the deal not yet come past a seat that is not in its order?"""
    order = clockwise(state.seats, state.button)
    reached = [other for other, cards in zip(state.setup.order, state.served, strict=True) if cards]
    return max(state.served) <= 1 and all(order.index(other) < order.index(seat) for other in reached if other in order)


def _reseat(state: HandState) -> HandState:
    """The deal goes on with the seats and the button that are known to be right."""
    state = state._replace(setup=reseated(state.setup, state.seats, state.button))
    deal = find(state.agenda, DEAL)
    street = state.agenda[deal].street if deal >= 0 else first_street(state)
    served = count_served(state, street) if deal >= 0 else (0,) * len(state.setup.order)
    return state._replace(served=served)


IN_STUB = (("in_stub", True),)


def _duplicate(state: HandState, event: ReportDuplicate) -> Step:
    return Step(state, (Finding("duplicate", more=IN_STUB if event.in_stub else ()),))


def _wrong_back(state: HandState, event: ReportWrongBack) -> Step:
    if event.number is None:
        return Step(state, (Finding("wrong-back", more=IN_STUB),))
    card = card_of(state, event.number)
    state = put(state, card._replace(wrong_back=True))
    return Step(state, (Finding("wrong-back", (event.number,), card.serves, street=card.street),))


def _joker(state: HandState, event: ReportJoker) -> Step:
    if event.number is None:
        return Step(state, (Finding("joker", more=IN_STUB),))
    card = card_of(state, event.number)
    state = put(state, card._replace(card="joker"))
    return Step(state, (Finding("joker", (event.number,), card.serves, street=card.street),))


def _missing(state: HandState, event: ReportMissing) -> Step:
    return Step(state, (Finding("missing-card"),))


def _short_stub(state: HandState, event: ReportShortStub) -> Step:
    return Step(state, (Finding("stub-short"),))


def _bad_shuffle(state: HandState, event: ReportBadShuffle) -> Step:
    looked = any(card.looked for card in state.cards[state.reload :])
    return Step(state, (Finding("shuffle-doubted", more=(("looked", looked),)),))


def _dropped(state: HandState, event: DroppedStub) -> Step:
    """What the stub mixed with lies in it from now on: such a card may well leave the shoe again (TDA RP-4)."""
    places: set[Place | None] = {"burn"} if "burns" in event.mixed else set()
    if "muck" in event.mixed:
        places |= {"muck", *(act.seat for _, act in state.acts if act.kind == "fold")}
    for card in state.cards[state.reload :]:
        if card.place in places:
            state = move(state, card.number, STUB, keep_serving=True)
    more = (("mixed_with_muck", "muck" in event.mixed), ("mixed_with_burns", "burns" in event.mixed))
    return Step(settle(state), (Finding("stub-dropped", more=more),))


def _pull_back(state: HandState, event: PullBack) -> Step:
    """A card that was ruled on is back on top of the stub: what is known of it stays known, and its place is owed."""
    card = state.cards[state.last - 1]
    state = move(state, state.last, STUB)
    state = state._replace(top=(*state.top, state.last), question="")
    owed = _step_served(state, card)
    if owed is None:
        return Step(settle(state))
    if owed.kind == DEAL:
        order = state.setup.order
        before = order.index(owed.seat) - 1 if owed.seat in order else -1
        return Step(settle(state._replace(last_served=order[before] if before >= 0 else 0)))
    if not any(step[:3] == owed[:3] for step in state.agenda):
        state = state._replace(agenda=(owed, *state.agenda))
    return Step(settle(state))


def _step_served(state: HandState, card: Card) -> AgendaStep | None:
    """The step that a card has served where it lies, None if it was one too many there."""
    due = card.due
    if card.place == "board" and card.street in BOARD_SIZE and find(state.agenda, RELOAD) < 0:
        return AgendaStep(BOARD, card.street)  # nothing is owed where the street is full without it
    if due is None or card.place != (due.seat or due.kind) or find(state.agenda, RELOAD) >= 0:
        return None
    if due.kind == "seat":
        dealing = find(state.agenda, DEAL, card.street) >= 0
        return AgendaStep(DEAL if dealing else SEAT, card.street, due.seat)
    return AgendaStep(BURN, card.street)


def _placed(state: HandState, event: Placed) -> Step:
    card = card_of(state, event.number)
    latest = event.number == state.last
    state = put(state, card._replace(extra=False, confirmed=True))
    state = move(state, event.number, event.target)
    if isinstance(event.target, int) and latest and find(state.agenda, DEAL) >= 0:
        state = state._replace(last_served=event.target)
    return Step(settle(state._replace(question="")))


def _looked(state: HandState, event: Looked) -> Step:
    card = put(state, card_of(state, event.number)._replace(looked=True)).cards[event.number - 1]
    state = put(state, card)
    if card.extra:
        return Step(state, (Finding("extra-card", (event.number,), card.place if isinstance(card.place, int) else 0),))
    return Step(state)


def _knew(state: HandState, event: Knew) -> Step:
    return Step(state._replace(knew=(*state.knew, event.seat)))


def _pick(state: HandState, event: Pick) -> Step:
    card_of(state, event.number)
    index = find(state.agenda, PICK)
    if index < 0:
        return Step(state, notes=("no random pick was asked for",))
    allowed = state.agenda[index].cards
    if allowed and event.number not in allowed:
        names = ", ".join(f"#{n}" for n in allowed)
        raise UserError(f"pick #{event.number}", f"the pick is among {names}", "name one of them")
    return Step(settle(consume(state._replace(picked=event.number), index)))


def _ack(state: HandState, event: Ack) -> Step:
    done = acknowledge(state)
    if done is not None:
        return Step(settle(done))
    return Step(state, notes=("no step waits for the dealer",))


def _shuffled(state: HandState, event: ShuffledStub) -> Step:
    index = find(state.agenda, SHUFFLE)
    if index < 0:
        return Step(state._replace(top=()), notes=("the stub was shuffled though no rule asked for it",))
    return Step(settle(consume(state._replace(top=()), index)))


def _deck(state: HandState, event: DeckLoaded) -> Step:
    if find(state.agenda, RELOAD) >= 0 or not state.cards:
        return Step(redeal(state))
    return Step(state, notes=("a deck was loaded in the middle of a hand though no rule asked for it",))


def _award(state: HandState, event: Award) -> Step:
    return Step(state._replace(awarded=True, agenda=(), calls=()))


def _cut(state: HandState, event: Cut) -> Step:
    """The deck was cut before the deal, or the stub where a remedy asks for it: there nobody asks by whom."""
    undealt = state.awarded or find(state.agenda, RELOAD) >= 0 or len(state.cards) == state.reload
    stub = None if undealt else done_by_hand(state, "cut")
    if stub is not None:
        return Step(settle(stub))
    wanted = cutter(state.setup, event.refused)
    if wanted is None or wanted == (event.by or 0):
        done = done_by_hand(state, "offer-cut", "cut")
        return Step(state if done is None else settle(done))
    by = "dealer" if event.by is None else "player"
    more = (("by", by), ("cards_dealt", 0 if undealt else len(state.cards) - state.reload))
    return Step(state, (Finding("cut-wrong", (), wanted, more=more),))


HANDLERS: dict[type, Callable[[HandState, Any], Step]] = {
    Draw: _draw,
    Act: _act,
    BettingComplete: _betting_complete,
    BettingOver: _betting_over,
    Exposed: _exposed,
    OffTable: _off_table,
    ReportCount: _count,
    ReportButton: _button,
    ReportEntitled: _entitled,
    ReportDuplicate: _duplicate,
    ReportWrongBack: _wrong_back,
    ReportJoker: _joker,
    ReportBoxed: _boxed,
    ReportMissing: _missing,
    ReportShortStub: _short_stub,
    ReportBadShuffle: _bad_shuffle,
    DroppedStub: _dropped,
    Placed: _placed,
    PullBack: _pull_back,
    Looked: _looked,
    Knew: _knew,
    Pick: _pick,
    Ack: _ack,
    ShuffledStub: _shuffled,
    DeckLoaded: _deck,
    Award: _award,
    Cut: _cut,
}
