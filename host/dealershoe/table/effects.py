"""What happens to cards and agenda when a step is reached or done: exact effects, functions from state to state."""

from __future__ import annotations

from collections.abc import Callable

from dealershoe.events import Place
from dealershoe.table.agenda import (
    BOARD,
    BOARD_SIZE,
    BURN,
    DEAL,
    HAND,
    MARK,
    NOW,
    PICK,
    RELOAD,
    SEAT,
    SHUFFLE,
    Step,
    base_agenda,
    find,
    without,
)
from dealershoe.table.setup import redealt
from dealershoe.table.state import ASIDE, STUB, Card, HandState, at, board_cards, count_served, next_seat

SENSED = frozenset({SEAT, BURN, BOARD, SHUFFLE, PICK, RELOAD})  # steps whose doing cannot be taken back by a person


def put(state: HandState, card: Card) -> HandState:
    """The state with `card` in place of the record of the same number."""
    index = card.number - 1
    return state._replace(cards=(*state.cards[:index], card, *state.cards[index + 1 :]))


def move(state: HandState, number: int, place: Place, keep_serving: bool = False) -> HandState:
    """Card `number` now lies at `place`; unless `keep_serving`, it no longer counts for its seat's share."""
    card = state.cards[number - 1]
    serves = place if isinstance(place, int) else (card.serves if keep_serving else 0)
    clock = state.clock + 1
    state = put(state, card._replace(place=place, serves=serves, arrived=clock))._replace(clock=clock)
    if place == STUB and number in state.unseen:  # the heads will see it again
        state = state._replace(unseen=tuple(n for n in state.unseen if n != number))
    if card.place == STUB and number in state.top:  # it was taken off the top again by hand
        state = state._replace(top=tuple(n for n in state.top if n != number))
    index = find(state.agenda, DEAL)
    if index >= 0 and state.agenda[index].street == card.street:
        state = state._replace(served=count_served(state, card.street))
    return state


def _move_all(place: Place) -> Callable[[HandState, Step], HandState]:
    def effect(state: HandState, step: Step) -> HandState:
        for number in operand(state, step):
            owed = any(other.kind == SEAT and number in other.cards for other in state.agenda)
            state = move(state, number, place, keep_serving=owed)  # until another card comes in its place
        return state

    return effect


def operand(state: HandState, step: Step) -> tuple[int, ...]:
    """The draws that a step is about: its own, or the one that was picked at random, if one was."""
    if step.cards == (0,):
        return (state.picked,) if state.picked else ()
    return step.cards


def _return_to_top(state: HandState, step: Step) -> HandState:
    for number in sorted(operand(state, step), reverse=True):
        state = move(state, number, STUB)
        state = state._replace(top=(*state.top, number))
    return state


def _scrap(state: HandState, step: Step) -> HandState:
    """Out of play. Where its seat is owed another once the deal is finished, the deal itself owes it none for this."""
    deal = find(state.agenda, DEAL)
    owed = [at_ for at_, other in enumerate(state.agenda) if other.kind == SEAT and other.cards == step.cards]
    for number in operand(state, step):
        state = move(state, number, "muck", keep_serving=bool(owed) and 0 <= deal < owed[0])
    return state


def _make_board(state: HandState, step: Step) -> HandState:
    for number in operand(state, step):
        state = put(state, state.cards[number - 1]._replace(street=step.street))
        state = move(state, number, "board")
    return state


def _put_right(state: HandState, step: Step) -> HandState:
    """The card is moved to where it was due, and what was waiting for it goes on from there."""
    for number in operand(state, step):
        card = state.cards[number - 1]
        if card.due is None or card.due.kind not in ("seat", "burn", "board"):
            continue
        state = put(state, card._replace(extra=False))
        state = move(state, number, card.due.seat or card.due.kind)
        if card.due.kind == "seat" and find(state.agenda, DEAL) >= 0:
            state = state._replace(last_served=card.due.seat)
        burn = find(state.agenda, BURN, card.street) if card.due.kind == "burn" else -1
        if burn >= 0:
            state = state._replace(agenda=without(state.agenda, burn))
    return state


def _do_not_burn(state: HandState, step: Step) -> HandState:
    index = find(state.agenda, BURN)
    return state if index < 0 else state._replace(agenda=without(state.agenda, index))


def _dead_hand(state: HandState, step: Step) -> HandState:
    if step.seat in state.dead:
        return state
    for number in at(state, step.seat):
        state = move(state, number, "muck", keep_serving=True)
    pending = tuple(s for s in state.agenda if not (s.kind == SEAT and s.seat == step.seat))
    return state._replace(dead=(*state.dead, step.seat), agenda=pending)


def _refund_others(state: HandState, step: Step) -> HandState:
    """The chips of a player who knew stay in the pot for the next deal (Robert's irregularities 5)."""
    return state._replace(forfeit=tuple(sorted({*state.forfeit, *state.knew})))


EFFECTS: dict[str, Callable[[HandState, Step], HandState]] = {
    "scrap": _scrap,
    "set-aside": _move_all(ASIDE),
    "put-right": _put_right,
    "return-to-stub": _move_all(STUB),
    "return-to-top": _return_to_top,
    "make-burn": _move_all("burn"),
    "make-board": _make_board,
    "do-not-burn": _do_not_burn,
    "dead-hand": _dead_hand,
    "refund-others": _refund_others,
    "stands": lambda state, step: state,
}


def settle(state: HandState) -> HandState:
    """Let every step take effect that nothing holds back, and drop steps that have nothing left to do."""
    index = 0
    while index < len(state.agenda):
        step = state.agenda[index]
        if step.kind == HAND:
            index += 1
        elif step.kind in (NOW, MARK):
            state = state._replace(agenda=without(state.agenda, index))
            if step.kind == NOW:
                state = EFFECTS[step.verb](state, step)
        elif step.kind == DEAL and not next_seat(state, step.street, step.round):
            state = _round_dealt(state, index) if step.round else end_deal(_dealt(state, step.street), index)
        elif step.kind == PICK and (not step.cards or any(state.cards[n - 1].place == STUB for n in step.cards)):
            # there is nothing to pick from, or it has gone back: nothing of that remedy is left to do
            state = state._replace(agenda=tuple(other for other in state.agenda if other.remedy != step.remedy))
            index = 0
        elif step.kind == BOARD and len(board_cards(state, step.street)) >= BOARD_SIZE[step.street]:
            state = _dealt(state, step.street)._replace(agenda=without(state.agenda, index))
        else:
            break
    return state


def _dealt(state: HandState, street: str) -> HandState:
    """The street lies complete: what came out too soon of it is history."""
    return state._replace(early="", early_cards=()) if state.early == street else state


def _round_dealt(state: HandState, index: int) -> HandState:
    return state._replace(agenda=without(state.agenda, index))


def end_deal(state: HandState, index: int) -> HandState:
    """No more cards are served by the deal at `index`; after the initial one the hands of seats away are dead."""
    street = state.agenda[index].street
    if street in ("preflop", "third"):
        killed = tuple(seat for seat in state.setup.killed if seat not in state.dead)
        state = state._replace(dead=(*state.dead, *killed)) if killed else state
    agenda = tuple(step for step in state.agenda if step.street != street or step.kind not in (DEAL, BURN))
    return state._replace(agenda=agenda, served=(0,) * len(state.setup.order), last_served=0)


def consume(state: HandState, index: int) -> HandState:
    """The step at `index` is done; the hand steps before it are done with it."""
    done = state.agenda[index]
    before = tuple(step for step in state.agenda[:index] if step.kind != HAND)
    state = state._replace(agenda=before + state.agenda[index + 1 :])
    return _begun(state, done.remedy) if done.kind in SENSED else state


def imply(state: HandState, index: int) -> HandState:
    """The step at `index` has been served in part: the hand steps before it are done."""
    if index == 0:
        return state
    step = state.agenda[index]
    before = tuple(s for s in state.agenda[:index] if s.kind != HAND)
    return _begun(state._replace(agenda=before + state.agenda[index:]), step.remedy)


def acknowledge(state: HandState) -> HandState | None:
    """The first hand step is done; None when there is none."""
    index = find(state.agenda, HAND)
    if index < 0:
        return None
    state = _begun(state, state.agenda[index].remedy)
    return state._replace(agenda=without(state.agenda, index))


def done_by_hand(state: HandState, *verbs: str) -> HandState | None:
    """The first hand step of one of `verbs` is done; None when none is open."""
    for index, step in enumerate(state.agenda):
        if step.kind == HAND and step.verb in verbs:
            return _begun(state._replace(agenda=without(state.agenda, index)), step.remedy)
    return None


def _begun(state: HandState, remedy: int) -> HandState:
    if remedy < 0 or state.remedies[remedy].begun:
        return state
    marked = state.remedies[remedy]._replace(begun=True)
    return state._replace(remedies=(*state.remedies[:remedy], marked, *state.remedies[remedy + 1 :]))


def redeal(state: HandState) -> HandState:
    """A full deck was loaded: the same hand again, to the same entitled seats; draw numbers go on."""
    setup = redealt(state.setup, state.seats, state.button)
    asked = find(state.agenda, RELOAD)
    if asked >= 0:
        state = _begun(state, state.agenda[asked].remedy)
    return HandState(
        setup=setup,
        agenda=base_agenda(setup.game, setup.burn_first),
        served=(0,) * len(setup.order),
        cards=(*state.cards[: state.reload], *(c._replace(place=STUB, serves=0) for c in state.cards[state.reload :])),
        reload=len(state.cards),
        seats=setup.seats,
        button=setup.button,
        remedies=state.remedies,
        clock=state.clock,
        last=state.last,
        forfeit=state.forfeit,
    )
