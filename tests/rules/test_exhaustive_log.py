"""Whatever is told in whatever order, a session is a fold of its log: hypothesis tells it everything that can go wrong.

Telling the same facts to a fresh session gives the same hand and rulings; a refused fact changes nothing; taking a fact
back leaves what was before it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest
from dealershoe import events
from dealershoe.errors import UserError
from dealershoe.events import (
    Ack,
    Award,
    Cut,
    DeckLoaded,
    Draw,
    Event,
    Exposed,
    Hand,
    NextHand,
    Pick,
    Placed,
    PullBack,
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

draws = st.integers(1, 40)
seats = st.integers(1, 11)
who = st.sampled_from(["dealer", "player"])
FIELDS: dict[str, st.SearchStrategy[Any]] = {  # of a fact, by name
    "number": draws,
    "seat": seats,
    "target": seats | st.sampled_from(events.PLACES),
    "by": who,
    "exposed": st.none() | who,
    "knocked": st.none() | who,
    "cards": st.integers(0, 4),
    "card": st.sampled_from([None, "Ah", "2c"]),
    "kind": st.sampled_from([*events.ACTIONS, None]),
    "decision": st.sampled_from(events.FLOOR_DECISIONS),
    "mixed": st.sampled_from([(), ("muck",), ("burns",), ("muck", "burns")]),
    "deck": st.none(),
    "ids": st.just(()),
    "refused": st.just(()),
}
BEGINNINGS = (Hand, NextHand, events.DrawForButton)
FACTS = tuple(kind for kind in get_args(Event) if kind not in BEGINNINGS)
# a person does these, or the shoe: they are not taken back by saying so
DONE = (Draw, PullBack, Undo, Ack, Pick, Placed, Award, ShuffledStub, DeckLoaded)
AROUND = (events.DealerPush, events.LimitChange, events.DeckRequest)  # about the table; the deck's answer stands
TAKEN_BACK = tuple(kind for kind in FACTS if kind not in (*DONE, *AROUND))


def told_at_random(kind: type) -> st.SearchStrategy[Any]:
    """A fact of this kind with anything in its fields."""
    values = {}
    for field in fields(kind):
        value = (
            st.booleans()
            if field.type == "bool"
            else seats
            if (kind, field.name) == (Cut, "by")
            else FIELDS[field.name]
        )
        values[field.name] = st.none() | value if "None" in str(field.type) else value
    return st.builds(kind, **values)


loose: st.SearchStrategy[Event] = st.one_of(*map(told_at_random, FACTS), st.builds(Undo), st.builds(Undo))


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
            tell(session, event)
        except UserError:
            continue
        kept = session._entries[-1] != before._entries[-1]  # what is too late, or of no use, is not
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
