"""What the three rule books answer to a fault, as a table read off the books. For the oracle; it knows no host code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

STACKS = ("tda-2024", "roberts", "house", "tda-2024+house", "tda-2024+roberts")

CHIPS = frozenset({"call", "bet", "raise"})


def substantial(acts: tuple[str, ...]) -> bool:
    """TDA 36: two actions in turn with chips in one of them, or any three."""
    return len(acts) >= 3 or (len(acts) == 2 and bool(CHIPS.intersection(acts)))


# From which actions on a misdeal can no longer be called.
CLOSED: dict[str, Callable[[tuple[str, ...]], bool]] = {
    "tda-2024": substantial,
    "roberts": lambda acts: len(acts) >= 2,  # two players after the blinds have acted, folds included
    "house": lambda acts: len(acts) >= 1,  # "action begins", to the letter
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A book's ruling: before any action, with some action but the window open, and once it is closed; None: it does
    not say, and the oracle has no case there."""

    before: str
    open: str | None
    closed: str | None


MISDEAL = Answer("misdeal", "misdeal", "play-on")
CORRECT = Answer("correct", "correct", "correct")
BEFORE_BETTING = Answer("replace", None, None)  # the replacement comes before the betting; later nothing is written
PLAYS = Answer("none", "none", "none")

# finding → book → its answer. A book that is not there is silent, and the next layer is asked; in the end the floor.
BOOKS: dict[str, dict[str, Answer]] = {
    # TDA 35-A-7; Robert's misdeals 2(a); house misdeals 2
    "first or second card exposed": {"tda-2024": MISDEAL, "roberts": MISDEAL, "house": MISDEAL},
    # Robert's hold'em 1; house misdeals 3. TDA has nothing for a single one.
    "later card exposed": {"roberts": BEFORE_BETTING, "house": BEFORE_BETTING},
    # TDA 35-A-7; Robert's misdeals 2(b); house misdeals 3
    "two cards exposed": {"tda-2024": MISDEAL, "roberts": MISDEAL, "house": MISDEAL},
    # TDA 35-A-7 asks for the dealer's error; Robert's irregularities 12; the house does not ask whose fault it was
    "first or second card exposed by a player": {"tda-2024": PLAYS, "roberts": PLAYS, "house": MISDEAL},
    "later card exposed by a player": {"tda-2024": PLAYS, "roberts": PLAYS, "house": BEFORE_BETTING},
    # Robert's irregularities 7
    "hole card boxed": {"roberts": Answer("replace", "replace", "replace")},
    "burn or board card boxed": {"roberts": Answer("replace", "replace", "replace")},
    # TDA 35-A-1; Robert's misdeals 2(c)
    "two hole cards boxed": {"tda-2024": MISDEAL, "roberts": MISDEAL},
    # TDA 35-A-2; Robert's misdeals 2(h)
    "first card to the wrong seat": {"tda-2024": MISDEAL, "roberts": MISDEAL},
    # TDA 35-A-5, 38 once it is too late; Robert's hold'em 2 and dead hands; house misdeals 4 and wrong count
    "one extra card": {
        "tda-2024": Answer("misdeal", "misdeal", "dead"),
        "roberts": Answer("correct", None, "dead"),
        "house": Answer("correct", None, "dead"),
    },
    # Robert's misdeals 2(d). Under TDA the first one was a misdeal already.
    "two extra cards": {"roberts": Answer("misdeal", None, None)},
    # TDA 35-A-3; Robert's misdeals 2(i); house misdeals
    "seat not entitled": {"tda-2024": MISDEAL, "roberts": MISDEAL, "house": MISDEAL},
    # TDA 35-A-4; Robert's misdeals 2(j)
    "entitled seat dealt out": {"tda-2024": MISDEAL, "roberts": MISDEAL},
    # TDA RP-5; Robert's and house flop, turn and river errors: no window
    "premature board": {"tda-2024": CORRECT, "roberts": CORRECT, "house": CORRECT},
}

# A premature turn: TDA RP-5-B shuffles at once, the others turn the card that would have been the river.
RIVER_AS_TURN = {"tda-2024": False, "roberts": True, "house": True}


def speaker(stack: str, finding: str) -> str | None:
    """The highest book of the stack that speaks of the finding."""
    return next((book for book in stack.split("+") if book in BOOKS[finding]), None)


def verdict(stack: str, finding: str, acts: tuple[str, ...] = ()) -> str | None:
    """The ruling; "floor" where every book is silent, None where what is written does not say."""
    book = speaker(stack, finding)
    if book is None:
        return None if acts and finding != "burn or board card boxed" else "floor"
    answer = BOOKS[finding][book]
    if CLOSED[book](acts):
        return answer.closed
    return answer.open if acts else answer.before
