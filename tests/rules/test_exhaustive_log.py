"""Whatever is told in whatever order, a session is a fold of its log: hypothesis tells it everything that can go wrong.

Telling the same facts to a fresh session gives the same hand and rulings; a refused fact changes nothing; taking a fact
back leaves what was before it.
"""

from __future__ import annotations

from typing import Any

import pytest
from dealershoe.errors import UserError
from dealershoe.events import (
    Act,
    BettingComplete,
    BettingOver,
    Cut,
    DeckLoaded,
    Draw,
    DroppedStub,
    Event,
    Exposed,
    FloorDecision,
    Hand,
    Knew,
    Looked,
    Misread,
    OffTable,
    PullBack,
    ReportBadShuffle,
    ReportButton,
    ReportCount,
    ReportDuplicate,
    ReportEntitled,
    ReportJoker,
    ReportMissing,
    ReportShortStub,
    ReportTarget,
    ReportWrongBack,
    ShuffledStub,
    Undo,
)
from dealershoe.rules.stack import Stack, load_stack
from dealershoe.session import TableSession
from dealershoe.trial.situations import faults, obedient, tell
from hypothesis import given, settings
from hypothesis import strategies as st
from rules.proof import STACKS

STACK: dict[str, Stack] = {name: load_stack(name) for name in STACKS}
MOST = 45  # facts after the hand's first line

seats = st.integers(1, 11)
draws = st.integers(1, 40)
places = st.one_of(seats, st.sampled_from(["burn", "board", "muck", "off-table"]))
loose: st.SearchStrategy[Event] = st.one_of(
    st.builds(Exposed, draws, st.sampled_from(["dealer", "player"]), st.booleans()),
    st.builds(OffTable, draws, st.sampled_from(["dealer", "player"])),
    st.builds(ReportTarget, draws, places),
    st.builds(Misread, draws, st.sampled_from([None, "Ah", "2c"])),
    st.builds(ReportCount, seats, st.integers(0, 4)),
    st.builds(ReportButton, seats),
    st.builds(ReportEntitled, seats, st.booleans()),
    st.builds(ReportJoker, st.none() | draws),
    st.builds(ReportWrongBack, st.none() | draws),
    st.builds(Cut, st.none() | seats),
    st.builds(Looked, draws),
    st.builds(Knew, seats),
    st.builds(Act, seats, st.sampled_from(["fold", "check", "call", "raise"]), st.booleans()),
    st.builds(FloorDecision, st.sampled_from(["misdeal", "play-on", "void"])),
    st.builds(FloorDecision, st.just("dead"), seats),
    st.builds(DroppedStub, st.sampled_from([(), ("muck",), ("burns",), ("muck", "burns")])),
    st.builds(Draw, places, exposed=st.sampled_from([None, "dealer", "player"]), confirmed=st.booleans()),
    st.sampled_from([ReportDuplicate(), ReportDuplicate(True), ReportMissing(), ReportShortStub(), ReportBadShuffle()]),
    st.sampled_from([BettingComplete(), BettingOver(), PullBack(), ShuffledStub(),
                     DeckLoaded(), Undo(), Undo(), Undo()]),
)  # fmt: skip
TAKEN_BACK = (Act, BettingComplete, BettingOver, Cut, Exposed, OffTable, ReportCount, ReportButton, ReportEntitled,
              ReportDuplicate, ReportWrongBack, ReportJoker, ReportMissing, DroppedStub, Looked, Knew, FloorDecision,
              ReportTarget, Misread)  # fmt: skip


def begun(stack: Stack, count: int, game: str) -> tuple[TableSession, list[Event]]:
    session = TableSession(stack)
    hand = Hand(tuple(range(1, count + 1)), count, game=game)
    tell(session, hand)
    return session, [hand]


def next_fact(session: TableSession, data: Any) -> Event | None:
    """What is due, one of what can go wrong now, or anything at all."""
    kind = data.draw(st.sampled_from(["due", "due", "due", "fault", "loose"]))
    if kind == "due":
        return obedient(session)
    if kind == "fault":
        now = [fault.events[-1] for fault in faults(session, False, ((),), ((),))]
        return data.draw(st.sampled_from(now)) if now else None
    event: Event = data.draw(loose)
    return event


@settings(max_examples=60, deadline=None)
@given(data=st.data(), stack=st.sampled_from(STACKS), count=st.integers(2, 7), game=st.sampled_from(["holdem", "stud"]))
def test_folding_the_log_again_is_the_same_fold(data: Any, stack: str, count: int, game: str) -> None:
    session, told = begun(STACK[stack], count, game)
    for _ in range(data.draw(st.integers(0, MOST))):
        event = next_fact(session, data)
        if event is None:
            continue
        before = session.table
        try:
            tell(session, event)
        except UserError:
            assert session.table == before, f"{event} was refused and changed the table"
            continue
        told.append(event)
    again = TableSession(STACK[stack])
    for event in told:
        tell(again, event)
    assert again.table == session.table
    assert again.due == session.due
    assert again.signal == session.signal


@settings(max_examples=60, deadline=None)
@given(data=st.data(), stack=st.sampled_from(STACKS), count=st.integers(2, 7))
def test_what_a_person_takes_back_was_never_said(data: Any, stack: str, count: int) -> None:
    session, _ = begun(STACK[stack], count, "holdem")
    for _ in range(data.draw(st.integers(0, MOST))):
        event = next_fact(session, data)
        if event is None:
            continue
        before = session.fork()
        try:
            kept = not any("too late" in note for note in tell(session, event).notes)
        except UserError:
            continue
        if kept and isinstance(event, TAKEN_BACK):
            undone = session.fork()
            notes = tell(undone, Undo()).notes
            if not any("too late" in note or "nothing to take back" in note for note in notes):
                assert undone.hand == before.hand, f"{event} was taken back and has left something behind"
                assert [r._replace(event=0) for r in undone.rulings] == [r._replace(event=0) for r in before.rulings]
                assert undone.due == before.due


@pytest.mark.parametrize("stack", STACKS)
def test_a_fork_and_its_origin_do_not_hear_each_other(stack: str) -> None:
    session, _ = begun(STACK[stack], 3, "holdem")
    tell(session, Draw())
    other = session.fork()
    tell(other, Exposed(1))
    tell(session, Draw())
    assert session.draws == 2
    assert other.draws == 1
    assert session.rulings == ()
    assert other.rulings != ()
