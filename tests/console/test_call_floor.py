"""A call for the floor, by a line or by the key: it lights, changes nothing of the deal, and can be taken back."""

from __future__ import annotations

import pytest
from dealershoe.deal.grammar import parse
from dealershoe.desk.desk import Desk, Moment
from dealershoe.entries import EventRow
from dealershoe.judge.runner import run_script
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession
from shoelink import schema

AT = Moment(1, 1_700_000_000_000_000_000)
PRESSED = schema.PRESS_SHORT


def desk() -> Desk:
    table = Desk(TableSession(load_stack("tda-2024+house")))
    table.say("hand seats=1-6 button=6", "stdin", 1, AT)
    return table


def press(table: Desk, key: int, press: int = PRESSED) -> None:
    message = schema.Key(hand=table.hand, t_us=bytes(4), key=key, press=press)
    table.report(message, b"", AT, b"journal!", table.counts["facts"])


@pytest.mark.parametrize("by_key", [False, True])
@pytest.mark.parametrize("back", ["ack", "undo", "floor play-on", "hand next", "done key", "held key"])
def test_a_call_lights_and_is_taken_back(by_key: bool, back: str) -> None:
    table = desk()
    before = table.session.table
    press(table, schema.KEY_FLOOR) if by_key else table.say("call floor", "console", 1, AT, "ann")
    assert table.signal == "floor"
    assert table.session.table == before
    if back.endswith("key"):
        press(table, schema.KEY_DONE, schema.PRESS_HELD if back == "held key" else PRESSED)
    else:
        table.say(back, "console", 1, AT, "ann")
    assert not table.floor_called
    assert [row.kind for row in table.entries if isinstance(row, EventRow)].count("FloorCall") >= 1
    if back not in ("floor play-on", "hand next"):
        assert table.session.table == before


def test_an_undo_takes_back_what_was_said_last_and_not_an_older_call() -> None:
    table = desk()
    table.say("call floor", "console", 1, AT)
    table.say("report bad-shuffle", "console", 1, AT)
    table.say("undo", "console", 1, AT)
    assert table.floor_called
    assert table.session.signal == "ready"


def test_the_floor_is_called_where_nothing_is_judged_too() -> None:
    table = Desk(TableSession(load_stack("tda-2024+house")))
    table.say("call floor", "console", 1, AT)
    assert table.floor_called


def test_a_script_with_a_call_is_judged_as_without() -> None:
    text = "hand seats=1-6 button=6\ndeal 2\ncall floor\ncard 3 exposed\nexpect replace\n"
    stack = load_stack("tda-2024+house")
    with_call, without = (run_script("a", parse(one, "a"), stack) for one in (text, text.replace("call floor\n", "")))
    assert not with_call.failures
    assert [one.ruling for one in with_call.rulings] == [one.ruling for one in without.rulings]
