"""How fast hands are judged beside PokerKit playing the same hand, and how long one ruling takes. For `make bench`."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from dealershoe.events import Act, BettingComplete, Draw, Event, Hand
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession
from dealershoe.table.buttons import RANKS, SUITS
from dealershoe.trial.situations import Fault, faults, obedient, tell

COMMAND = "python tests/bench/run.py rules"
STACK = "tda-2024+house"
SEATS = 9
ROUNDS = 60  # both are timed in turn, so that what else the machine does falls on both
HANDS = 20  # judged in a round, for each one that PokerKit plays
RULINGS = 4000
DECK = [rank + suit for suit in SUITS for rank in RANKS]


def hand() -> list[Event]:
    """A nine-handed hand, checked down: every card as the shoe reports it, every action as it is told."""
    cards = iter(DECK)
    order = range(1, SEATS + 1)
    events: list[Event] = [Hand(tuple(order), SEATS)]
    events += [Draw(card=next(cards)) for _ in range(2 * SEATS)]
    events += [Act(seat, "call") for seat in (*range(3, SEATS + 1), 1)]
    events += [Act(2, "check"), BettingComplete()]
    for board in (3, 1, 1):
        events += [Draw(card=next(cards)) for _ in range(1 + board)]
        events += [Act(seat, "check") for seat in order]
        events.append(BettingComplete())
    return events


def judged(session: TableSession, events: list[Event]) -> None:
    """One hand at a table whose rule books are in force already."""
    for event in events:
        session.tell(event, "shoe" if type(event) is Draw else "dealer")


def kit() -> Callable[[], None] | None:
    """PokerKit playing such a hand in its fastest way, dealing the cards itself; None when it is not installed.

    Told which cards they are, as the judge is, it takes about three times as long.
    """
    try:
        from pokerkit import Automation, NoLimitTexasHoldem
    except ImportError:
        return None
    automations = (
        Automation.ANTE_POSTING, Automation.BET_COLLECTION, Automation.BLIND_OR_STRADDLE_POSTING,
        Automation.HOLE_CARDS_SHOWING_OR_MUCKING, Automation.HAND_KILLING, Automation.CHIPS_PUSHING,
        Automation.CHIPS_PULLING,
    )  # fmt: skip

    def play() -> None:
        state: Any = NoLimitTexasHoldem.create_state(automations, True, 0, (1, 2), 2, 200, SEATS)
        for _ in range(2 * SEATS):
            state.deal_hole()
        for _ in range(SEATS):
            state.check_or_call()
        for _ in range(3):
            state.burn_card()
            state.deal_board()
            for _ in range(SEATS):
                state.check_or_call()
        if state.status:
            raise RuntimeError("PokerKit has not played the hand to its end")

    return play


def seconds(work: Callable[[], None], times: int) -> float:
    """Seconds of this process for so many repetitions."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return time.process_time() - begun


def against_pokerkit() -> tuple[float, float | None]:
    """Seconds a hand, the median of the rounds: judged here, and played by PokerKit."""
    session = TableSession(load_stack(STACK))
    events = hand()
    judged(session, events)
    if session.due.kind != "nothing" or len(session.places("board")) != 5 or session.rulings:
        raise RuntimeError("the hand was not judged to its end")
    other = kit()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: judged(session, events), HANDS))
        if other is not None:
            theirs.append(seconds(other, 1))
    return median(ours) / HANDS, median(theirs) if theirs else None


def rulings() -> list[float]:
    """Seconds of work from a fact to its ruling, late reports that fold the whole hand again among them."""
    spent: list[float] = []
    session = TableSession(load_stack(STACK))
    session.tell(Hand(tuple(range(1, SEATS + 1)), SEATS))
    while len(spent) < RULINGS:
        for fault in faults(session):
            taken = _ruled(session.fork(), fault)
            if taken is not None:
                spent.append(taken)
        event = obedient(session)
        if event is None:
            break
        tell(session, event)
    return spent


def _ruled(session: TableSession, fault: Fault) -> float | None:
    """The time of the fact that brings a ruling, None when none does."""
    for event in fault.events:
        begun = time.thread_time()
        outcome = tell(session, event)
        taken = time.thread_time() - begun
        if outcome.rulings:
            return taken
    return None


def figures() -> list[dict[str, Any]]:
    """The figures of this benchmark."""
    ours, theirs = against_pokerkit()
    spent = sorted(rulings())
    p99 = spent[int(len(spent) * 0.99)] * 1000
    ratio = None if theirs is None else theirs / ours
    found: list[dict[str, Any]] = [
        {"name": "hands_vs_pokerkit", "value": ratio, "unit": "ratio", "target": ">= 25",
         "ok": None if ratio is None else ratio >= 25, "command": COMMAND},
        {"name": "hands_judged", "value": 1 / ours, "unit": "hands/s", "target": "", "ok": None, "command": COMMAND},
        {"name": "ruling_p99_ms", "value": p99, "unit": "ms", "target": "< 2", "ok": p99 < 2, "command": COMMAND},
    ]  # fmt: skip
    if theirs is None:
        found[0]["reason"] = "pokerkit is not installed here: pip install -e '.[compare]'"
    return found
