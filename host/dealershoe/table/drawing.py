"""A card left the shoe: where it went, against where it was due. Returns the new state and what was irregular."""

from __future__ import annotations

from collections.abc import Callable

from dealershoe.events import Draw, Place
from dealershoe.table.agenda import (
    BETTING,
    BOARD,
    BOARD_SIZE,
    BURN,
    DEAL,
    HOLDEM_STREETS,
    SEAT,
    STUD_STREETS,
    Due,
    Step,
    find,
    front,
    without,
)
from dealershoe.table.effects import consume, imply, put, settle
from dealershoe.table.findings import Finding, is_boxed
from dealershoe.table.state import (
    ASIDE,
    STUB,
    Card,
    HandState,
    at,
    board_cards,
    count_served,
    due_at,
    first_street,
    next_seat,
    street_acts,
    with_card,
)

Drawn = tuple[HandState, list[Finding]]
UNKNOWN = "unknown"  # the card left while nothing was due and nobody has said where it went
NONE = Step("nothing")


def next_number(state: HandState) -> int:
    """The number of the next card: that of the card on top if one went back there, else the next new one."""
    return state.top[-1] if state.top else len(state.cards) + 1


def draw(state: HandState, event: Draw) -> Drawn:
    """One card left the shoe."""
    index = front(state.agenda)
    step = state.agenda[index] if index >= 0 else NONE
    wanted = due_at(state, index)
    aim: Place = wanted.seat if wanted.kind == "seat" else wanted.kind
    target = aim if event.target is None else event.target
    if state.question:
        state = state._replace(question="")
    if target != aim and not event.confirmed:
        return _unconfirmed(state, event, target, wanted, index, step)
    if wanted.kind not in ("seat", "burn", "board") and event.target is None:
        return _unconfirmed(state, event, UNKNOWN, wanted, index, step)
    if target == aim:
        return _flags(*_as_due(state, event, step, index, wanted), event)
    return _flags(*_elsewhere(state, event, target, step, index, wanted), event)


def _unconfirmed(state: HandState, event: Draw, target: Place, wanted: Due, index: int, step: Step) -> Drawn:
    """An inferred target that does not match asks; until it is confirmed the card counts as where it was due."""
    number = next_number(state)
    where = f"seat {target}" if isinstance(target, int) else str(target)
    if wanted.kind in ("seat", "burn", "board"):
        state, found = _flags(*_as_due(state, event, step, index, wanted), event)
    else:
        state, found = _flags(_add(state, event, target, wanted), [], event)
    question = f"card #{number} seems to have gone to {where}, due was {wanted}: say where it went"
    if target == UNKNOWN:
        question = f"card #{number} left the shoe, due was {wanted}: say where it went"
    return state._replace(question=question), found


def _add(
    state: HandState,
    event: Draw,
    place: Place,
    wanted: Due,
    *,
    serves: int = 0,
    street: str = "",
    initial: bool = False,
    replacement: bool = False,
    extra: bool = False,
    served: tuple[int, ...] = (),
) -> HandState:
    """The state with the card's record in it; `served`: the counts of the deal under way with this card."""
    card = Card(
        number=next_number(state),
        place=place,
        serves=serves,
        street=street,
        card=event.card,
        due=wanted,
        boxed=event.boxed,
        unread=event.unread,
        foreign=event.foreign,
        wrong_back=event.wrong_back,
        off_table=event.knocked or ("dealer" if place == "off-table" else ""),
        touched=event.touched,
        extra=extra,
        initial=initial,
        replacement=replacement,
        confirmed=event.confirmed,
        arrived=state.clock + 1,
    )
    return with_card(state, card, served or state.served, serves if served else state.last_served)


def _serve(state: HandState, seat: int) -> HandState:
    """One more card counts for `seat` in the deal under way."""
    order = state.setup.order
    if seat not in order:
        return state._replace(last_served=seat)
    return state._replace(served=_one_more(state, seat), last_served=seat)


def _one_more(state: HandState, seat: int) -> tuple[int, ...]:
    """The counts of the deal under way with one more card for `seat`, which is in the order."""
    index = state.setup.order.index(seat)
    return (*state.served[:index], state.served[index] + 1, *state.served[index + 1 :])


def _as_due(state: HandState, event: Draw, step: Step, index: int, wanted: Due) -> Drawn:
    """The card went where it was due."""
    if step.kind == DEAL:
        first = step.street == first_street(state)
        state = _add(
            state, event, wanted.seat, wanted, serves=wanted.seat, street=step.street, initial=first,
            served=_one_more(state, wanted.seat),
        )  # fmt: skip
        return settle(imply(state, index)), []
    if step.kind == SEAT:
        first = step.street == first_street(state)
        state = _add(
            state, event, wanted.seat, wanted, serves=wanted.seat, street=step.street, initial=first, replacement=True
        )
        return settle(_replaced(state, step, index)), []
    if step.kind == BURN:
        state = _add(state, event, "burn", wanted, street=step.street)
        return settle(consume(state, index)), []
    state = settle(imply(_add(state, event, "board", wanted, street=step.street), index))
    if state.unburned == step.street and find(state.agenda, BOARD, step.street) < 0:
        shown = board_cards(state, step.street)
        return state._replace(unburned=""), [Finding("missing-burn", shown, street=step.street)]
    return state, []


def _replaced(state: HandState, step: Step, index: int) -> HandState:
    """A seat has got the one card it was owed; a deal that is under way goes on from that seat."""
    state = consume(state, index)
    for number in step.cards:  # what it replaces counts for the seat no longer, wherever that lies by now
        if not isinstance(state.cards[number - 1].place, int):
            state = put(state, state.cards[number - 1]._replace(serves=0))
    if find(state.agenda, DEAL, step.street) >= 0:
        after = state.last_served if step.round else step.seat
        state = state._replace(served=count_served(state, step.street), last_served=after)
    return state


def _elsewhere(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    """The card went somewhere else than where it was due, and that is certain."""
    if target == "off-table":
        return _off_table(state, event, step, index, wanted)
    if isinstance(target, int):
        return _to_seat(state, event, target, step, index, wanted)
    handler = _TO.get((target, wanted.kind), _nowhere)
    return handler(state, event, target, step, index, wanted)


def _off_table(state: HandState, event: Draw, step: Step, index: int, wanted: Due) -> Drawn:
    """A downcard that leaves the table counts as dealt to its seat; a burn or board card is still owed.

    One that a player knocks off is his all the same; one that the dealer deals off the table lies off it.
    """
    number = next_number(state)
    if wanted.kind != "seat":
        kind = "off-table" if wanted.kind in ("burn", "board") else "not-due"
        return _add(state, event, "off-table", wanted), [Finding(kind, (number,))]
    place: Place = wanted.seat if event.knocked == "player" else "off-table"
    state = _add(
        state, event, place, wanted, serves=wanted.seat, street=step.street, initial=True,
        replacement=step.kind == SEAT,
    )  # fmt: skip
    state = _replaced(state, step, index) if step.kind == SEAT else imply(_serve(state, wanted.seat), index)
    return settle(state), [Finding("off-table", (number,), wanted.seat)]


def _to_seat(state: HandState, event: Draw, seat: int, step: Step, index: int, wanted: Due) -> Drawn:
    number = next_number(state)
    first = first_street(state)
    if step.kind == BURN and step.street == first and step.remedy < 0:
        return _unburned_deal(state, event, seat, index)
    street = step.street if step.kind == DEAL else first
    if seat not in state.seats:
        state = _add(state, event, seat, wanted, street=street, initial=True)
        if step.kind == DEAL:
            state = state._replace(last_served=seat)
        return state, [Finding("not-entitled", (number,), seat)]
    order = state.setup.order
    share = state.setup.cards_each if street == first else 1
    full = step.kind != DEAL or seat not in order or state.served[order.index(seat)] >= share
    owed = next((at_ for at_, other in enumerate(state.agenda) if other.kind == SEAT and other.seat == seat), -1)
    if full and owed >= 0:
        return _owed(state, event, step, owed, wanted)
    if step.kind == BETTING and state.setup.game == "stud":
        return _premature_stud(state, event, seat, step, wanted)
    if step.kind != DEAL:
        if wanted.kind in ("shuffle", "pick", "nothing", "ack"):
            return _add(state, event, seat, wanted), [Finding("not-due", (number,), seat)]
        if len(at(state, seat)) < state.setup.cards_each:  # it completes a hand that was found short
            return _add(state, event, seat, wanted, serves=seat, street=first, initial=True), []
        state = _add(state, event, seat, wanted, street=first, initial=True, extra=True)
        return state, [Finding("extra-card", (number,), seat, more=(("last_off", wanted.kind != "seat"),))]
    state = _add(
        state, event, seat, wanted, serves=0 if full else seat, street=street, initial=street == first, extra=full
    )
    state = state._replace(last_served=seat) if full else _serve(state, seat)
    state = settle(imply(state, index))
    if number - state.reload == 1:
        return state, [Finding("first-card-wrong-seat", (number,), seat)]
    if full:
        return state, [Finding("extra-card", (number,), seat, more=(("last_off", False),))]
    return state, [Finding("out-of-sequence", (number,), seat)]


def _unburned_deal(state: HandState, event: Draw, seat: int, index: int) -> Drawn:
    """Where a burn comes before the deal, the deal begins without it."""
    state = state._replace(agenda=without(state.agenda, index))
    index = front(state.agenda)
    step, wanted = state.agenda[index], due_at(state, index)
    if wanted.seat == seat:
        state, found = _as_due(state, event, step, index, wanted)
    else:
        state, found = _to_seat(state, event, seat, step, index, wanted)
    return state, [Finding("missing-burn", (state.last,), street=first_street(state)), *found]


def _owed(state: HandState, event: Draw, step: Step, owed: int, wanted: Due) -> Drawn:
    """A seat got the card that a remedy owes it before its time; while the deal goes on that is out of sequence."""
    number = next_number(state)
    promise = state.agenda[owed]
    first = promise.street == first_street(state)
    state = _add(
        state, event, promise.seat, wanted, serves=promise.seat, street=promise.street, initial=first, replacement=True
    )
    found = [Finding("out-of-sequence", (number,), promise.seat)] if step.kind == DEAL else []
    return settle(_replaced(state, promise, owed)), found


def _following(state: HandState, street: str) -> str:
    """The street after `street`, "" after the last."""
    streets = HOLDEM_STREETS if state.setup.game == "holdem" else STUD_STREETS
    index = streets.index(street) + 1
    return streets[index] if index < len(streets) else ""


def _early_full(state: HandState) -> bool:
    """The premature street has all its cards out."""
    return len(state.early_cards) >= BOARD_SIZE.get(state.early, 0)


def _burn_while_betting(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    """A burn before the betting is complete is the coming street's, if that one has not been burned for (RULES BRD-5).

    No book rules on it until a board card follows; the dealer is warned.
    """
    number = next_number(state)
    street = _following(state, step.street) if step.kind == BETTING else "flop"
    if state.early and _early_full(state):
        street = _following(state, state.early)
    burn = find(state.agenda, BURN, street) if street else -1
    state = _add(state, event, "burn", wanted, street=street or step.street)
    if burn < 0 or step.kind == SEAT:
        return state, [Finding("extra-burn", (number,), street=street or step.street)]
    question = f"burn #{number} left before the betting was complete: it stays the burn, deal no further card yet"
    return state._replace(agenda=without(state.agenda, burn), question=question), []


def _burn_while_board(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    number = next_number(state)
    state = _add(state, event, "burn", wanted, street=step.street)
    return state, [Finding("extra-burn", (number,), street=step.street)]


def _board_while_burn(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    """The street is being dealt without its burn; it is a finding when the street is complete."""
    if step.street not in BOARD_SIZE:  # stud, or a burn before the deal
        return _nowhere(state, event, target, step, index, wanted)
    street = step.street
    state = state._replace(agenda=without(state.agenda, index), unburned=street)
    board = find(state.agenda, BOARD, street)
    if board < 0:
        number = next_number(state)
        state = settle(_add(state, event, "board", wanted, street=street))
        return state, [Finding("extra-board-card", (number,), street=street)]
    return _as_due(state, event, state.agenda[board], board, wanted)


def _board_while_betting(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    if state.setup.game != "holdem":
        return _nowhere(state, event, target, step, index, wanted)
    number = next_number(state)
    if state.early:
        street = _following(state, state.early) or state.early
        if not _early_full(state) or find(state.agenda, BURN, street) >= 0:
            return _join_early(state, event, wanted), []
        state = _add(state, event, "board", wanted, street=street)
        return state, [Finding("premature-combination", (*state.early_cards, number), street=street)]
    current = step.street if step.kind == BETTING else first_street(state)
    street = _following(state, current)
    if current != first_street(state) and (
        not street or (find(state.agenda, BURN, street) >= 0 and not street_acts(state, current))
    ):
        state = _add(state, event, "board", wanted, street=current)
        return state, [Finding("extra-board-card", board_cards(state, current), street=current)]
    state = _add(state, event, "board", wanted, street=street)._replace(early=street, early_cards=(number,))
    return state, [Finding(f"premature-{street}", (number,), street=street)]


def _join_early(state: HandState, event: Draw, wanted: Due) -> HandState:
    """One more card of a street that came too soon goes where the cards before it went."""
    number = next_number(state)
    place = state.cards[state.early_cards[-1] - 1].place
    state = _add(state, event, place, wanted, street=state.early)
    return state._replace(early_cards=(*state.early_cards, number))


def _board_while_shuffle(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    """One more card of a street that goes back as a whole goes back with it."""
    last = state.cards[state.last - 1] if state.last > state.reload else None
    if last and last.place in (STUB, ASIDE) and find(state.agenda, BOARD, last.street) >= 0:
        return _add(state, event, last.place, wanted, street=last.street), []
    return _nowhere(state, event, target, step, index, wanted)


def _board_while_pick(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    street = state.cards[-1].street
    state = _add(state, event, "board", wanted, street=street)
    return state, [Finding("extra-board-card", board_cards(state, street), street=street)]


def _board_while_nothing(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    if state.setup.game == "holdem" and not state.awarded:
        return _board_while_pick(state, event, target, step, index, wanted)
    return _nowhere(state, event, target, step, index, wanted)


def _premature_stud(state: HandState, event: Draw, seat: int, step: Step, wanted: Due) -> Drawn:
    number = next_number(state)
    street = state.early or _following(state, step.street)
    if not street:
        state = _add(state, event, seat, wanted, extra=True)
        return state, [Finding("extra-card", (number,), seat, more=(("last_off", True),))]
    if state.early:
        place = state.cards[state.early_cards[-1] - 1].place
        joined: Place = seat if isinstance(place, int) else place
        state = _add(state, event, joined, wanted, street=street)
        return state._replace(early_cards=(*state.early_cards, number)), []
    state = _add(state, event, seat, wanted, street=street)._replace(early=street, early_cards=(number,))
    return state, [Finding("premature-street", (number,), seat, street=street)]


def _nowhere(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
    """Nothing like it was due: in the middle of the deal a card out of sequence, else a card that was not due."""
    number = next_number(state)
    kind = "out-of-sequence" if wanted.kind in ("seat", "burn", "board") else "not-due"
    street = step.street
    return _add(state, event, target, wanted, street=street), [Finding(kind, (number,), street=street)]


_Handler = Callable[[HandState, Draw, Place, Step, int, Due], Drawn]


def _seat_due(on_replacement: _Handler) -> _Handler:
    """While a seat is due: in the deal itself it is out of sequence, while a replacement is owed `on_replacement`."""

    def handler(state: HandState, event: Draw, target: Place, step: Step, index: int, wanted: Due) -> Drawn:
        if step.kind == SEAT:
            return on_replacement(state, event, target, step, index, wanted)
        return _nowhere(state, event, target, step, index, wanted)

    return handler


_TO: dict[tuple[Place, str], _Handler] = {
    ("burn", "betting"): _burn_while_betting,
    ("burn", "board"): _burn_while_board,
    ("burn", "seat"): _seat_due(_burn_while_betting),
    ("board", "betting"): _board_while_betting,
    ("board", "burn"): _board_while_burn,
    ("board", "seat"): _seat_due(_board_while_betting),
    ("board", "shuffle"): _board_while_shuffle,
    ("board", "pick"): _board_while_pick,
    ("board", "nothing"): _board_while_nothing,
}


def _flags(state: HandState, found: list[Finding], event: Draw) -> Drawn:
    """What the card itself shows: face up in the shoe or at the table, a joker, another deck or back, a duplicate."""
    number = state.last
    if event.unseen and not event.boxed:
        state = state._replace(unseen=(*state.unseen, number))
    if not (event.boxed or event.exposed or event.up or event.card or event.foreign or event.wrong_back or event.deck):
        return state, found
    card = state.cards[number - 1]
    seat = card.serves or (card.place if isinstance(card.place, int) else 0)
    found += boxed(card)
    by = event.exposed or ("dealer" if event.up else None)
    if by:
        state, exposed = expose(state, number, by, event.touched)
        found += exposed
    if event.card == "joker":
        found.append(Finding("joker", (number,), seat, street=card.street))
    if event.foreign or (event.deck is not None and state.decks and event.deck not in state.decks):
        found.append(Finding("foreign-card", (number,), seat, street=card.street))
    elif event.deck is not None and not state.decks:
        state = state._replace(decks=(event.deck,))
    if event.wrong_back:
        found.append(Finding("wrong-back", (number,), seat, street=card.street))
    if event.card and event.card != "joker" and not event.boxed:
        twins = tuple(
            c.number for c in state.cards
            if c.card == event.card and c.number != number and c.place != STUB and not c.boxed
        )  # fmt: skip
        if twins:
            found.append(Finding("duplicate", (*twins, number)))
    return state, found


def boxed(card: Card) -> list[Finding]:
    """A card that was face up in the shoe; a joker that was is a joker."""
    seat = card.serves or (card.place if isinstance(card.place, int) else 0)
    return [Finding("boxed", (card.number,), seat, street=card.street)] if is_boxed(card) else []


def faces_up(state: HandState, card: Card) -> bool:
    """Is the card dealt face up by the game: board cards, stud's third to sixth upcards?"""
    if card.place == "board":
        return True
    if state.setup.game != "stud" or not card.serves:
        return False
    if card.street == "third":
        mine = [c.number for c in state.cards if c.serves == card.serves and c.street == "third" and not c.replacement]
        return card.number in mine[2:]
    return card.street in ("fourth", "fifth", "sixth")


def expose(state: HandState, number: int, by: str, touched: bool = False) -> Drawn:
    """Card `number` lies face up where it should not; `touched`: as it met the player, his hand or his chips."""
    card = state.cards[number - 1]
    scrap = card.boxed or card.foreign or card.card == "joker"  # no card of the game: nobody's card was exposed
    if card.place == STUB or card.exposed or scrap or faces_up(state, card) or state.betting_over:
        return state, []
    shown = card._replace(exposed=by, touched=touched, claimed=card.looked)
    cards = (*state.cards[: number - 1], shown, *state.cards[number:])
    state = state._replace(cards=cards)
    if card.place == "burn":
        return state, [Finding("burn-exposed", (number,), street=card.street)]
    seat = card.serves or (card.place if isinstance(card.place, int) else 0)
    return state, [Finding("exposed", (number,), seat, street=card.street)]


def lacking(state: HandState) -> list[Finding]:
    """The deal is being left with seats unserved: who is dealt out and who is short."""
    index = find(state.agenda, DEAL, first_street(state))
    if index < 0:
        return []
    share = state.setup.cards_each
    total = sum(state.served)
    found = []
    for seat, count in zip(state.setup.order, state.served, strict=True):
        if count < share:
            in_sequence = total == share * len(state.served) - 1 and seat == next_seat(state, first_street(state))
            more = (("cards_held", count), ("in_sequence", in_sequence))
            kind = "short" if count else "dealt-out"
            found.append(Finding(kind, (), seat, street=first_street(state), more=more))
    return found
