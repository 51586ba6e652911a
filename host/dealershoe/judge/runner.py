"""Runs a deal script against a stack of rule books and holds its expectations against what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from dealershoe.deal.items import (
    DealNext,
    Expect,
    ExpectButton,
    ExpectDeck,
    ExpectDue,
    ExpectPlaces,
    ExpectRuling,
    ExpectSignal,
    FloorCall,
    Line,
)
from dealershoe.errors import UserError
from dealershoe.events import Draw, Event, Hand, NextHand, PullBack
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.stack import Stack
from dealershoe.session import TableSession
from dealershoe.table.agenda import HOLDEM_STREETS, STUD_STREETS

PLACES = ("seat", "burn", "board")  # what is due when a card is
MOST_FACTS = 5000  # of one hand; a long one has some hundreds
_EXPECT = (ExpectRuling, ExpectDue, ExpectPlaces, ExpectButton, ExpectDeck, ExpectSignal)


class ScriptError(UserError):
    """A line that cannot be true; `line` counts from 1."""

    def __init__(self, name: str, line: int, error: UserError) -> None:
        super().__init__(f"{name}, line {line}: {error.seen}", error.cause, error.do)
        self.line = line


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that does not hold."""

    name: str
    line: int
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class Ruled:
    """A ruling and the line that brought it."""

    name: str
    line: int
    event: str
    ruling: Ruling


@dataclass(slots=True)
class Report:
    """What a script came to. `checked` expectations spoke of the stack."""

    name: str
    rulings: list[Ruled] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)
    checked: int = 0
    hands: int = 0
    draws: int = 0


def run_script(name: str, lines: Iterable[Line], stack: Stack) -> Report:
    """Tell every line to a new session under `stack`.

    Raises ScriptError for a line that cannot be true (a `deal` when no card is due, for one), and for an endless hand.
    """
    session = TableSession(stack)
    report = Report(name)
    latest: Ruling | None = None
    facts = 0
    for line in lines:
        item = line.item
        if isinstance(item, _EXPECT):
            if item.stacks and stack.name not in item.stacks:
                continue
            report.checked += 1
            got = unmet(session, item, latest)
            if got is not None:
                report.failures.append(Failure(name, line.number, line.text.strip(), got))
            if isinstance(item, ExpectRuling):
                latest = None
            continue
        try:
            for event in events_of(session, item):
                facts = 0 if isinstance(event, Hand | NextHand) else facts + 1
                if facts > MOST_FACTS:
                    raise UserError(
                        f"more than {MOST_FACTS} events in one hand", "it is never ended", "begin the next with `hand`"
                    )
                outcome = session.tell(event, source="shoe" if isinstance(event, Draw | PullBack) else "script")
                report.draws += isinstance(event, Draw)
                report.rulings += [Ruled(name, line.number, line.text.strip(), r) for r in outcome.rulings]
                report.notes += [(line.number, note) for note in outcome.notes]
                latest = outcome.ruling or latest
        except UserError as error:
            raise ScriptError(name, line.number, error) from error
    report.hands = session.hand_number
    return report


def events_of(session: TableSession, item: Event | FloorCall | DealNext) -> Iterable[Event]:
    """The facts that a line stands for: `deal` becomes one draw for each card that is due, a call for the floor none.

    Raises UserError when nothing that is dealt is due.
    """
    if isinstance(item, FloorCall):
        return
    if not isinstance(item, DealNext):
        yield item
        return
    dealt = 0
    while _goes_on(session, item, dealt):
        if session.due.kind not in PLACES:
            raise UserError(
                "a `deal` when no card is due", f"due is {session.due}", "say first what that waits for, or use `card`"
            )
        yield Draw()
        dealt += 1


def _goes_on(session: TableSession, item: DealNext, dealt: int) -> bool:
    if item.count is not None:
        return dealt < item.count
    if dealt == 0:
        return True
    if session.due.kind not in PLACES or session.hand is None:
        return False
    streets = HOLDEM_STREETS if session.hand.setup.game == "holdem" else STUD_STREETS
    last = "preflop" if item.street == "hole" else item.street or ""
    return session.due_street in streets[: streets.index(last) + 1] if last in streets else False


def unmet(session: TableSession, item: Expect, latest: Ruling | None) -> str | None:
    """What is there instead of what `item` expects, None when it holds. `latest`: the ruling since such a line."""
    return _CHECKS[type(item)](session, item, latest)


def _ruling(session: TableSession, item: ExpectRuling, latest: Ruling | None) -> str | None:
    got = "none" if latest is None else latest.ruling
    wrong = got != item.ruling
    if latest is not None and item.rule is not None and latest.rule != item.rule:
        wrong = True
    if latest is not None and item.seat is not None and latest.seat != item.seat:
        wrong = True
    if not wrong:
        return None
    if latest is None:
        return "none"
    return f"{got} rule={latest.rule or '-'}" + (f" seat={latest.seat}" if latest.seat else "")


def _due(session: TableSession, item: ExpectDue, latest: Ruling | None) -> str | None:
    due = session.due
    if due.kind == item.kind and (item.kind != "seat" or due.seat == item.seat):
        return None
    return f"due {due}"


def _places(session: TableSession, item: ExpectPlaces, latest: Ruling | None) -> str | None:
    hand = session.hand
    wrong = []
    asked: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = []
    for name, place in (("burns", "burn"), ("board", "board"), ("muck", "muck")):
        wanted = getattr(item, name)
        if wanted is not None:
            asked.append((name, wanted, session.places(place)))
    asked += [(f"seat{seat}", wanted, session.seat_cards(seat)) for seat, wanted in item.seats]
    for name, expected, got in asked:
        if expected != got:
            wrong.append(f"{name}=" + ",".join(f"#{n}" for n in got))
    for name in ("dead", "forfeit"):
        seats, there = getattr(item, name), getattr(hand, name, ())
        if seats is not None and sorted(seats) != sorted(there):
            wrong.append(f"{name}=" + ",".join(map(str, there)))
    return " ".join(wrong) or None


def _button(session: TableSession, item: ExpectButton, latest: Ruling | None) -> str | None:
    table = session.table
    setup = table.hand.setup if table.hand else None
    got = f"button {table.button}"
    wrong = table.button != item.button
    if item.sb is not None:
        sb: int | str | None = (setup.sb if setup.sb is not None else "dead") if setup else None
        got += f" sb={sb}"
        wrong = wrong or sb != item.sb
    if item.bb is not None:
        bb = setup.bb if setup else None
        got += f" bb={bb}"
        wrong = wrong or bb != item.bb
    return got if wrong else None


def _deck(session: TableSession, item: ExpectDeck, latest: Ruling | None) -> str | None:
    change = session.table.deck == "change"
    return None if change == item.change else f"deck {'change' if change else 'keep'}"


def _signal(session: TableSession, item: ExpectSignal, latest: Ruling | None) -> str | None:
    return None if session.signal == item.signal else f"signal {session.signal}"


_CHECKS: dict[type, Callable[[TableSession, Any, Ruling | None], str | None]] = {
    ExpectRuling: _ruling,
    ExpectDue: _due,
    ExpectPlaces: _places,
    ExpectButton: _button,
    ExpectDeck: _deck,
    ExpectSignal: _signal,
}
