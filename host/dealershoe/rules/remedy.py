"""The vocabulary of remedies: what each step does to the agenda, and the words the dealer reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dealershoe.errors import UserError
from dealershoe.rules.ruling import Ruling
from dealershoe.table.agenda import (
    BETTING,
    BOARD,
    BURN,
    DEAL,
    HAND,
    HOLDEM_STREETS,
    MARK,
    NOW,
    PICK,
    RELOAD,
    SEAT,
    SHUFFLE,
    STUD_STREETS,
    Step,
    find,
    previous_street,
)
from dealershoe.table.effects import settle
from dealershoe.table.state import HandState, Remedy, at, board_cards, first_street

PICKED = (0,)  # operand: the card that a random pick brings
# operands: the finding's cards, the first or last of them, the picked one, the board cards or the burn of its street,
# all the burns
CARDS = ("cards", "first", "last", "picked", "board", "burn", "burns")
NOT_YET: dict[str, tuple[int, ...]] = {"board": (), "burn": (), "burns": ()}  # looked up where they lie
# how a step names them where they are not known yet
_SAID = {
    "picked": "picked at random",
    "board": "of the {street}",
    "burn": "burned before the {street}",
    "burns": "burned so far",
}


class Edit(NamedTuple):
    """The agenda while a remedy is written into it, and the place where its next part goes."""

    agenda: tuple[Step, ...]
    cursor: int


class Part(NamedTuple):
    """One part of a remedy with what it is about, resolved from the finding."""

    verb: str
    seat: int
    cards: tuple[int, ...]
    street: str
    remedy: int
    nth: int


Editor = Callable[[HandState, Edit, Part], Edit]


class Verb(NamedTuple):
    """A word of the vocabulary: how it edits the agenda, how the dealer reads it, and which operands may follow it."""

    edit: Editor
    text: str
    operands: tuple[str, ...] = ()
    hand: bool = False  # the dealer does it by hand; shown until acknowledged or implied


def _insert(edit: Edit, *steps: Step) -> Edit:
    agenda = edit.agenda[: edit.cursor] + steps + edit.agenda[edit.cursor :]
    return Edit(agenda, edit.cursor + len(steps))


def _step(kind: str, part: Part) -> Step:
    return Step(kind, part.street, part.seat, part.verb, part.cards, part.remedy, part.nth)


def _now(state: HandState, edit: Edit, part: Part) -> Edit:
    return _insert(edit, _step(NOW, part))


def _now_by_hand(state: HandState, edit: Edit, part: Part) -> Edit:
    return _insert(edit, _step(NOW, part), _step(HAND, part))


def _by_hand(state: HandState, edit: Edit, part: Part) -> Edit:
    return _insert(edit, _step(HAND, part))


def _sensed(kind: str) -> Editor:
    def editor(state: HandState, edit: Edit, part: Part) -> Edit:
        return _insert(edit, _step(kind, part))

    return editor


def _after(edit: Edit, index: int, part: Part) -> Edit:
    """The part is done when the step at `index`, already on the agenda, is."""
    if index < 0:
        return edit
    return _insert(Edit(edit.agenda, index + 1), _step(MARK, part))


def _shuffle(state: HandState, edit: Edit, part: Part) -> Edit:
    """One shuffle is enough for all that goes back before the next card is dealt."""
    index = edit.cursor
    while index < len(edit.agenda) and edit.agenda[index].kind in (HAND, NOW, MARK):
        index += 1
    if index < len(edit.agenda) and edit.agenda[index].kind == SHUFFLE:
        return _after(edit, index, part)
    return _insert(edit, _step(SHUFFLE, part))


def _finish_the_deal(state: HandState, edit: Edit, part: Part) -> Edit:
    return _after(edit, _deal(state, edit), part)


def _wait_betting(state: HandState, edit: Edit, part: Part) -> Edit:
    return _after(edit, find(edit.agenda, BETTING, part.street, edit.cursor), part)


def _deal_street(state: HandState, edit: Edit, part: Part) -> Edit:
    kind, streets = (BOARD, HOLDEM_STREETS[1:]) if state.setup.game == "holdem" else (DEAL, STUD_STREETS)
    if part.street not in streets:  # nothing lies on it in this game
        return edit
    index = find(edit.agenda, kind, part.street, edit.cursor)
    if index >= 0:
        return _after(edit, index, part)
    edit = _insert(edit, Step(kind, part.street))
    return _after(edit, edit.cursor - 1, part)


def _finish_the_round(state: HandState, edit: Edit, part: Part) -> Edit:
    """The deal stops, for what follows in the remedy, when every seat has its card of the round under way.

    A later street of stud is a round. One that is dealt already stops nothing, and what follows does not change whose
    turn it is in the next.
    """
    if part.street != first_street(state):
        return _after(edit, find(edit.agenda, DEAL, part.street, edit.cursor), part)
    index = _deal(state, edit)
    rounds = max(state.served, default=0)
    if index < 0 or not rounds:
        return edit
    first = edit.agenda[index]._replace(round=rounds)
    agenda = (*edit.agenda[:index], first, *edit.agenda[index:])
    return _after(Edit(agenda, edit.cursor), index, part)


def _deal(state: HandState, edit: Edit) -> int:
    """Where the initial deal stands on the agenda as a whole, or -1."""
    index = find(edit.agenda, DEAL, first_street(state), edit.cursor)
    while index >= 0 and edit.agenda[index].round:
        index = find(edit.agenda, DEAL, first_street(state), index + 1)
    return index


def _give_next(state: HandState, edit: Edit, part: Part) -> Edit:
    """One card to the seat; a dead hand gets none, a card is not replaced twice, and one too many is not at all."""
    one_too_many = any(state.cards[number - 1].extra for number in part.cards)
    if part.seat in state.dead or one_too_many or (part.cards and _replaced(edit, part)):
        return edit
    rounds = max((step.round for step in edit.agenda[: edit.cursor] if step.kind == DEAL), default=0)
    return _insert(edit, _step(SEAT, part)._replace(round=rounds))


def _replaced(edit: Edit, part: Part) -> bool:
    """Does another remedy owe a card in place of this one?"""
    return any(step.kind == SEAT and step.cards == part.cards for step in edit.agenda)


def _in_its_place(state: HandState, edit: Edit, part: Part) -> Edit:
    """The next card goes where the card of the finding was due, or to the board if it lies there and was no seat's."""
    if not part.cards:
        return edit
    card = state.cards[part.cards[0] - 1]
    if card.extra:  # nothing was due for it, nothing takes its place
        return edit
    kind = "seat" if card.serves else card.due.kind if card.due else "nothing"
    if kind != "seat" and card.place == "board":
        kind = "board"
    if kind == "seat":
        seat = card.serves or (card.due.seat if card.due else 0)
        if seat in state.dead or _replaced(edit, part):
            return edit
        return _insert(edit, _step(SEAT, part)._replace(seat=seat, street=card.street))
    if kind == "burn":
        return _insert(edit, _step(BURN, part)._replace(street=card.street))
    if kind == "board":
        return _deal_street(state, edit, part._replace(street=card.street))
    return edit


def _redeal(state: HandState, edit: Edit, part: Part) -> Edit:
    """The hand as it stands is over: left of its agenda is this remedy's own start, then to collect, shuffle, load."""
    own = tuple(step for step in edit.agenda[: edit.cursor] if step.kind in (HAND, NOW) and step.remedy == part.remedy)
    return Edit((*own, _step(HAND, part), _step(RELOAD, part)), len(own) + 2)


STREETS = HOLDEM_STREETS + STUD_STREETS[1:]

VERBS: dict[str, Verb] = {
    "redeal": Verb(_redeal, "Collect every card, shuffle and cut the deck, load it, deal again to the same seats"),
    "finish-the-deal": Verb(_finish_the_deal, "Finish the deal in order"),
    "finish-the-round": Verb(_finish_the_round, "Finish this round of the deal in order"),
    "give-next": Verb(_give_next, "Deal the next card to seat {seat}", ("seat",)),
    "deal-in-its-place": Verb(_in_its_place, "Deal the next card in its place"),
    "make-burn": Verb(_now, "Card {cards} is the burn", CARDS),
    "make-board": Verb(_now, "Card {cards} is the {street}", CARDS),
    "do-not-burn": Verb(_now, "Do not burn before the next street"),
    "burn": Verb(_sensed(BURN), "Burn one card", STREETS),
    "set-aside": Verb(_now_by_hand, "Set card {cards} aside", CARDS, True),
    "scrap": Verb(_now_by_hand, "Take card {cards} out of play, face up", CARDS, True),
    "put-right": Verb(_now_by_hand, "Move card {cards} to where it was due", ("cards",), True),
    "return-to-top": Verb(_now_by_hand, "Return card {cards} to the top of the stub", CARDS, True),
    "return-to-stub": Verb(_now_by_hand, "Return card {cards} to the stub", CARDS, True),
    "take-back": Verb(_by_hand, "Take card {cards} back, unseen", ("cards",), True),
    "show": Verb(_by_hand, "Show card {cards} to the table", ("cards",), True),
    "becomes-upcard": Verb(_by_hand, "Card {cards} stays face up as the upcard; the third card goes down", (), True),
    "wait-betting": Verb(_wait_betting, "Let the betting be completed", STREETS),
    "shuffle-stub": Verb(_shuffle, "Shuffle the stub and nothing else, and load it"),
    "cut": Verb(_by_hand, "Cut the stub", (), True),
    "offer-cut": Verb(_by_hand, "Offer the deck to seat {seat} for the cut", (), True),
    "take-from-stub": Verb(_by_hand, "Take that card out of the stub", (), True),
    "scramble": Verb(_by_hand, "Scramble cards {cards} face down", ("cards", "board"), True),
    "pick": Verb(_sensed(PICK), "The floor picks one of cards {cards} at random", ("cards", "board")),
    "deal-street": Verb(_deal_street, "Deal the {street}", STREETS),
    "dead-hand": Verb(_now_by_hand, "The hand of seat {seat} is dead: muck its cards; its chips stay", ("seat",), True),
    "refund": Verb(_by_hand, "Return every bet, blind and ante to the player who made it", (), True),
    "refund-others": Verb(
        _now_by_hand,
        "Return every bet, blind and ante to the player who made it, except to {knew}: "
        "that stays in the pot for the next deal, for the players of this one",
        (),
        True,
    ),
    "new-deck": Verb(_by_hand, "Put this deck away for the floor; take another", (), True),
    "stands": Verb(_now, "The cards stand as they lie"),
}


def parse_verb(text: str) -> tuple[str, str]:
    """A remedy's entry, `verb` or `verb operand`, as (verb, operand); ("", "") when it is not in the vocabulary."""
    verb, _, operand = text.partition(" ")
    known = VERBS.get(verb)
    if known is None or (operand and operand not in known.operands):
        return "", ""
    return verb, operand


def numbers(cards: tuple[int, ...]) -> str:
    return ", ".join(f"#{n}" for n in cards)


def phrase(text: str, ruling_cards: tuple[int, ...], seat: int, street: str, knew: tuple[int, ...] = ()) -> str:
    """Fill in a dealer's sentence. Draw numbers and seats only: never a card's identity. `knew`: the seats that did."""
    names = ("seats " if len(knew) > 1 else "seat ") + ", ".join(map(str, sorted(set(knew)))) if knew else "nobody"
    blanks = (("{cards}", numbers(ruling_cards)), ("{seat}", str(seat)), ("{street}", street), ("{knew}", names))
    for name, value in blanks:
        text = text.replace(name, value)
    return text


def resolve(entry: str, index: int, remedy: int, cards: tuple[int, ...], seat: int, street: str) -> Part:
    """One entry of a pack's remedy, with its operand looked up in the finding."""
    verb, operand = parse_verb(entry)
    cards = {"picked": PICKED, "first": cards[:1], "last": cards[-1:], **NOT_YET}.get(operand, cards)
    if operand in STREETS:
        street = operand
    elif verb == "wait-betting":
        street = previous_street(street) or street
    return Part(verb, seat, cards, street, remedy, index)


def texts(
    verbs: tuple[str, ...], cards: tuple[int, ...], seat: int, street: str, knew: tuple[int, ...] = ()
) -> tuple[str, ...]:
    """The remedy as the dealer reads it, step by step."""
    read = []
    for index, entry in enumerate(verbs):
        part = resolve(entry, index, 0, cards, seat, street)
        text = VERBS[part.verb].text.replace("{cards}", _SAID.get(parse_verb(entry)[1], "{cards}"))
        read.append(phrase(text, part.cards, part.seat, part.street, knew))
    return tuple(read)


FLOOR_REMEDIES = {  # what the floor's own decision asks of the dealer
    "misdeal": ("redeal",),
    "void": ("refund", "new-deck", "redeal"),
    "dead": ("dead-hand",),
    "play-on": (),
}


def decided(decision: str, seat: int | None, answered: Ruling | None) -> Ruling:
    """The floor's decision as a ruling; `answered` is the call for the floor that it answers.

    Raises UserError for a dead hand without a seat.
    """
    seat = seat or (answered.seat if answered else 0)
    if decision == "dead" and not seat:
        raise UserError("`floor dead` without a seat", "a dead hand has one", "say `floor dead SEAT`")
    verbs = FLOOR_REMEDIES[decision]
    cards = answered.cards if answered else ()
    return Ruling(
        ruling=decision,
        rule="",
        cite="decision of the floor",
        layer="floor",
        finding=answered.finding if answered else "",
        cards=cards,
        seat=seat,
        say=f"The floor decides: {decision.replace('-', ' ')}",
        decider="floor",
        verbs=verbs,
        remedy=texts(verbs, cards, seat, ""),
    )


def renews_deck(ruling: Ruling) -> bool:
    """Does the ruling take the deck out of play?"""
    return "new-deck" in ruling.verbs


def _burn_of(state: HandState, street: str) -> tuple[int, ...]:
    return tuple(card.number for card in state.cards if card.place == "burn" and card.street == street)[-1:]


_LYING: dict[str, Callable[[HandState, str], tuple[int, ...]]] = {
    "board": board_cards,
    "burn": _burn_of,
    "burns": lambda state, street: at(state, "burn"),
}


def _is_burn(state: HandState, cards: tuple[int, ...]) -> bool:
    """Do these cards lie as burns, or will they by another remedy?"""
    asked = {number for step in state.agenda if step.verb == "make-burn" for number in step.cards}
    return bool(cards) and all(number in asked or state.cards[number - 1].place == "burn" for number in cards)


def prescribe(state: HandState, ruling: Ruling, key: tuple[int, str, int]) -> HandState:
    """Write a ruling's remedy into the agenda, ahead of what is there, and let it take effect."""
    number = len(state.remedies)
    state = state._replace(remedies=(*state.remedies, Remedy(key, texts=ruling.remedy)))
    if ruling.ruling == "floor":
        return state._replace(calls=(*state.calls, number))
    edit = Edit(state.agenda, 0)
    burned = "make-burn" in ruling.verbs and _is_burn(state, ruling.cards)
    for index, entry in enumerate(ruling.verbs):
        if burned and entry in ("make-burn", "do-not-burn"):  # one card stands for one burn, whoever asks for it
            continue
        part = resolve(entry, index, number, ruling.cards, ruling.seat, ruling.street)
        lying = _LYING.get(parse_verb(entry)[1])
        if lying is not None:
            part = part._replace(cards=lying(state, ruling.street))
        edit = VERBS[part.verb].edit(state, edit, part)
        if part.verb == "redeal":
            state = state._replace(calls=())
    return settle(state._replace(agenda=edit.agenda))
