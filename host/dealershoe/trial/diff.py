"""On which situations two stacks of rule books differ, found by playing them: for `rules diff`. No I/O.

Both stacks judge the same hand at the same table. At each of its moments everything that can go wrong goes wrong once;
where both answer alike the hand goes on as the answer asks, and a second thing goes wrong. What differs is grouped by
the kind of finding and the two answers to it; of each group the shortest script is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

from dealershoe.errors import UserError
from dealershoe.events import (
    Award,
    BettingComplete,
    Cut,
    DealerPush,
    DeckRequest,
    Draw,
    DrawForButton,
    Event,
    Hand,
    LimitChange,
    NextHand,
    ReportButton,
    ReportMissing,
)
from dealershoe.rules.expression import Literal, Name, walk
from dealershoe.rules.pack import PROCEDURES
from dealershoe.rules.pack import Answer as Said
from dealershoe.rules.ruling import STRENGTH, Ruling
from dealershoe.rules.stack import Stack
from dealershoe.session import TableSession
from dealershoe.table.findings import KINDS
from dealershoe.trial.situations import FIRST_ACTS, LATER_ACTS, Acts, Fault, faults, lines_of, obedient, script, tell

TYPICAL = 6  # seats at which every single fault is played
FEW = 3  # seats at which pairs of faults are played
MOST_ACTS = 4  # a window that counts further than this is seen up to here
NO_ACTS: Acts = ((),)
FIRST_OF_TWO: Acts = ((), ("fold", "fold"))  # no action; enough to close one kind of window
SECOND_OF_TWO: Acts = ((), ("call", "call"))  # no action; enough to close any
ACTION_FACTS = frozenset({"actions", "chip_actions", "players_acted", "street_actions"})
_TWO, _FOUR = Hand((1, 2), 2), Hand((1, 2, 3, 4), 4)
QUESTIONS: dict[str, tuple[Event, ...]] = {  # what asks each of the small questions, as short as may be
    "button_tie": (DrawForButton(((1, "Kh"), (2, "Ks"))),),
    "button_after_error": (_FOUR, *[Draw()] * 8, BettingComplete(), ReportButton(2), Award(), NextHand()),
    "cut": (_TWO, Cut(2), Cut(1)),
    "burn_before_deal": (_TWO, Draw()),
    "deck_on_dealer_push": (_TWO, DealerPush()),
    "deck_on_limit_change": (_TWO, LimitChange()),
    "deck_on_request": (_TWO, DeckRequest(1)),
    "deck_on_proof": (_TWO, DeckRequest(1, marked=True)),
    "deck_on_doubt": (_TWO, ReportMissing()),
    "absent_seat": (replace(_FOUR, absent=(2, 3)), *[Draw()] * 2),
}

Answer = tuple[str, tuple[str, ...]]  # a ruling and its remedy, ("", ()) where nothing was ruled
Pair = tuple[Ruling | None, Ruling | None]  # what the two stacks make of one finding


class Difference(NamedTuple):
    """A kind of finding to which two stacks have the same two different answers, with the shortest situation of these.

    `what` went wrong there, one thing or two, told by `events`; `met`: in how many situations they differed so.
    """

    finding: str
    what: tuple[str, ...]
    left: Ruling | None
    right: Ruling | None
    met: int
    events: tuple[Event, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Things that went wrong, and lines of the script."""
        return len(self.what), lines_of(self.events)


class QuestionDifference(NamedTuple):
    """A small question with different answers; "" where a stack has none."""

    question: str
    left: str
    right: str
    script: str


class Progress(NamedTuple):
    """How far a comparison is: moments of hands `done`, moments `of` all, situations `judged`."""

    done: int
    of: int
    judged: int


@dataclass
class Comparison:
    """What has been found so far."""

    left: Stack
    right: Stack
    situations: int = 0
    seen: dict[str, set[str]] = field(default_factory=dict)  # fault → kinds of finding that it has been
    groups: dict[tuple[str, Answer, Answer], Difference] = field(default_factory=dict)

    @property
    def differences(self) -> list[Difference]:
        """Single faults before pairs, in the order of how early they can happen."""
        return sorted(self.groups.values(), key=lambda d: (*d.size, d.what, d.finding))

    def script(self, difference: Difference) -> str:
        """The shortest deal script that shows a difference, for both stacks."""
        return script(difference.events, f"stacks: {self.left.name} {self.right.name}")


class Twin(NamedTuple):
    """One hand told to both stacks."""

    left: TableSession
    right: TableSession
    events: tuple[Event, ...]

    def fork(self) -> Twin:
        return Twin(self.left.fork(), self.right.fork(), self.events)

    def tell(self, event: Event) -> tuple[Twin, tuple[Ruling, ...], tuple[Ruling, ...]]:
        """The hand with one more fact, and what each stack ruled. Raises UserError for one that cannot be true."""
        left = tell(self.left, event).rulings
        right = tell(self.right, event).rulings
        return self._replace(events=(*self.events, event)), left, right


def questions(left: Stack, right: Stack) -> tuple[QuestionDifference, ...]:
    """The small questions on which the stacks differ."""
    found = []
    heading = f"stacks: {left.name} {right.name}"
    for question in PROCEDURES:
        one, other = (stack.procedure(question) or "" for stack in (left, right))
        if one != other:
            found.append(QuestionDifference(question, one, other, script(QUESTIONS[question], heading)))
    return tuple(found)


def compare(found: Comparison, pairs: bool = True) -> Iterator[Progress]:
    """Play every situation into `found`, saying how far it is after each moment of a hand; `pairs`: two faults too."""
    left, right = found.left, found.right
    kinds = differing_kinds(left, right)
    if not kinds:
        return
    first, later = action_states(left, right)
    hands = [_hand(count, game) for game in ("holdem", "stud") for count in seat_counts(left, right)]
    single = [twin for hand in hands for twin in _moments(_begin(left, right, hand))]
    games = ("holdem", "stud") if pairs else ()
    double = [twin for game in games for twin in _moments(_begin(left, right, _hand(FEW, game)))]
    total = len(single) + len(double)
    for done, twin in enumerate(single, 1):
        for fault in faults(twin.left, False, first, later):
            _try(found, twin.fork(), fault, ())
        yield Progress(done, total, found.situations)
    followed: set[tuple[str, tuple[Answer, ...]]] = set()
    for done, twin in enumerate(double, len(single) + 1):
        for fault in faults(twin.left, False, FIRST_OF_TWO, NO_ACTS):
            tried = _try(found, twin.fork(), fault, ())
            if tried is None:
                continue
            after, answers = tried
            if answers and (fault.name, answers) not in followed:  # the same elsewhere leads to the same
                followed.add((fault.name, answers))
                for moment in _moments(after):
                    for second in faults(moment.left, False, SECOND_OF_TWO, NO_ACTS):
                        if not (found.seen.get(second.name) or kinds) & kinds:
                            continue  # on what this is, both have the same rules
                        _try(found, moment.fork(), second, (fault.name,))
        yield Progress(done, total, found.situations)


def differing_kinds(left: Stack, right: Stack) -> frozenset[str]:
    """The kinds of finding for which the two stacks have other rules, or the same under other numbers."""
    return frozenset(kind for kind in KINDS if _rules(left, kind) != _rules(right, kind))


def _rules(stack: Stack, kind: str) -> list[tuple[object, ...]]:
    """What the stack's rules for a kind of finding come to, in the order in which they are asked."""
    found: list[tuple[object, ...]] = []
    for pack in stack.packs:
        for rule in pack.by_finding.get(kind, ()):
            window = pack.windows[rule.window] if rule.window else None
            asked = [(one.source, one.parameters) if one else None for one in (rule.when, window)]
            found.append((*asked, _said(rule.open), _said(rule.closed)))
    return found


def _said(said: Said) -> tuple[str, tuple[str, ...]]:
    """An answer without its words."""
    return said.ruling, said.remedy


def _try(
    found: Comparison, twin: Twin, fault: Fault, before: tuple[str, ...]
) -> tuple[Twin, tuple[Answer, ...]] | None:
    """Let a fault happen: the hand after it, and the common answers. None when these differ, or it cannot happen."""
    lefts: tuple[Ruling, ...] = ()
    rights: tuple[Ruling, ...] = ()
    for event in fault.events:
        try:
            twin, left, right = twin.tell(event)
        except UserError:
            return None
        lefts += left
        rights += right
    found.situations += 1
    if not before:
        found.seen.setdefault(fault.name, set()).update(ruling.finding for ruling in lefts + rights)
    pairs = differing(lefts, rights)
    if not pairs:
        return twin, tuple(answer(ruling) for ruling in lefts)
    for one, other in pairs:
        finding = one.finding if one else other.finding if other else ""
        key = (finding, answer(one), answer(other))
        known = found.groups.get(key)
        new = Difference(finding, (*before, fault.name), one, other, known.met + 1 if known else 1, twin.events)
        found.groups[key] = new if known is None or new.size < known.size else known._replace(met=new.met)
    return None


def answer(ruling: Ruling | None) -> Answer:
    """What two stacks are compared by: ruling and remedy, not the clause or the words."""
    return (ruling.ruling, ruling.verbs) if ruling else ("", ())


def differing(lefts: tuple[Ruling, ...], rights: tuple[Ruling, ...]) -> list[Pair]:
    """The findings that are answered differently.

    Where a hand is over for either stack, only what ended it is compared: nothing else was ruled on there.
    """
    one, other = _by_finding(lefts), _by_finding(rights)
    over = [key for by in (one, other) for key, ruling in by.items() if STRENGTH[ruling.ruling] >= STRENGTH["misdeal"]]
    ends = [{answer(by[key]) for key in over if key in by} for by in (one, other)]
    if over and ends[0] == ends[1]:
        return []
    keys = over[:1] or list(dict.fromkeys((*one, *other)))
    return [(one.get(key), other.get(key)) for key in keys if answer(one.get(key)) != answer(other.get(key))]


def _by_finding(rulings: tuple[Ruling, ...]) -> dict[tuple[str, int, tuple[int, ...]], Ruling]:
    return {(ruling.finding, ruling.seat, ruling.cards): ruling for ruling in rulings if ruling.finding}


def _hand(count: int, game: str = "holdem") -> Hand:
    return Hand(tuple(range(1, count + 1)), count, game=game)


def _begin(left: Stack, right: Stack, hand: Hand) -> Twin:
    return Twin(TableSession(left), TableSession(right), ()).tell(hand)[0]


def _moments(twin: Twin) -> Iterator[Twin]:
    """The hand at each moment from now on, dealt as both stacks ask, as long as they ask for the same."""
    twin = twin.fork()
    while True:
        yield twin.fork()
        event = obedient(twin.left)
        if event is None or event != obedient(twin.right):
            return
        twin, left, right = twin.tell(event)
        if differing(left, right):
            return


def _numbers(left: Stack, right: Stack, about: frozenset[str]) -> set[int]:
    """The whole numbers in every condition and window that asks one of the facts `about`."""
    found: set[int] = set()
    for pack in (*left.packs, *right.packs):
        conditions = [rule.when for rule in pack.rules if rule.when is not None]
        for condition in (*conditions, *pack.windows.values()):
            if not about & condition.names:
                continue
            for node in walk(condition.tree):
                value = node.value if isinstance(node, Literal) else None
                if isinstance(node, Name):
                    value = condition.parameters.get(node.name)
                if isinstance(value, int) and not isinstance(value, bool):
                    found.add(value)
    return found


def seat_counts(left: Stack, right: Stack) -> tuple[int, ...]:
    """Tables to play at: heads-up, a typical one, and those around each number of players that a condition names."""
    asked = {number + step for number in _numbers(left, right, frozenset({"players"})) for step in (-1, 0, 1)}
    return tuple(sorted({2, TYPICAL} | {count for count in asked if 2 <= count <= 11}))


def action_states(left: Stack, right: Stack) -> tuple[Acts, Acts]:
    """Actions on the first street and on a later one: up to one more than the most that a condition counts."""
    most = min(MOST_ACTS, 1 + max(_numbers(left, right, ACTION_FACTS), default=0))
    if most <= 3:
        return FIRST_ACTS, LATER_ACTS
    longest = tuple(product(("fold", "call"), repeat=most))
    return (*FIRST_ACTS, *longest), (*LATER_ACTS, ("check",) * most)
