"""The agenda: the steps of a hand that are still open, in order. A remedy is an edit of it; `due` is read off it."""

from __future__ import annotations

from typing import NamedTuple

# kinds of step
DEAL = "deal"  # the initial deal or a stud street: each seat of the order its cards
SEAT = "seat"  # one card to one seat
BURN = "burn"
BOARD = "board"  # board cards until the street has its number
BETTING = "betting"
SHUFFLE = "shuffle"  # the stub
RELOAD = "reload"  # the full deck
PICK = "pick"
HAND = "hand"  # only a hand can do it; acknowledged, or implied by a later event
NOW = "now"  # bookkeeping that takes effect when everything before it is done
MARK = "mark"  # the end of a remedy's part that consisted of steps already on the agenda

BOARD_SIZE = {"flop": 3, "turn": 1, "river": 1}
HOLDEM_STREETS = ("preflop", "flop", "turn", "river")
STUD_STREETS = ("third", "fourth", "fifth", "sixth", "seventh")


class Step(NamedTuple):
    """One open step. `remedy` and `part` name the part of a remedy that it belongs to, -1 for the hand itself.

    `round`: of a deal, the round with which it ends; of a card owed to a seat, the round that it completes; 0: neither.
    """

    kind: str
    street: str = ""
    seat: int = 0
    verb: str = ""
    cards: tuple[int, ...] = ()
    remedy: int = -1
    part: int = -1
    round: int = 0


class Due(NamedTuple):
    """What comes next: `kind` is seat, burn, board, betting, ack, shuffle, pick or nothing."""

    kind: str
    seat: int = 0

    def __str__(self) -> str:
        return f"seat {self.seat}" if self.kind == "seat" else self.kind


def base_agenda(game: str, burn_first: bool = False) -> tuple[Step, ...]:
    """The steps of a whole hand without an irregularity (NJAC 13:69F-14.10: a burn before each later street).

    `burn_first`: the room burns before the deal too (South Dakota's Hold'em 88 does).
    """
    if game == "holdem":
        steps = [Step(BURN, "preflop")] if burn_first else []
        steps += [Step(DEAL, "preflop"), Step(BETTING, "preflop")]
        for street in HOLDEM_STREETS[1:]:
            steps += [Step(BURN, street), Step(BOARD, street), Step(BETTING, street)]
        return tuple(steps)
    steps = [Step(BURN, "third")] if burn_first else []
    steps += [Step(DEAL, "third"), Step(BETTING, "third")]
    for street in STUD_STREETS[1:]:
        steps += [Step(BURN, street), Step(DEAL, street), Step(BETTING, street)]
    return tuple(steps)


def previous_street(street: str) -> str:
    """The street before `street`, "" for the first."""
    for streets in (HOLDEM_STREETS, STUD_STREETS):
        if street in streets:
            index = streets.index(street)
            return streets[index - 1] if index else ""
    return ""


def front(agenda: tuple[Step, ...]) -> int:
    """Index of the first step that is not a hand step, or -1."""
    for index, step in enumerate(agenda):
        if step.kind != HAND:
            return index
    return -1


def without(agenda: tuple[Step, ...], index: int) -> tuple[Step, ...]:
    return agenda[:index] + agenda[index + 1 :]


def find(agenda: tuple[Step, ...], kind: str, street: str = "", start: int = 0) -> int:
    """Index of the first step of that kind (and street, if given) from `start`, or -1."""
    for index in range(start, len(agenda)):
        step = agenda[index]
        if step.kind == kind and (not street or step.street == street):
            return index
    return -1
