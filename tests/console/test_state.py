"""A table as JSON: the ruling in force, what can be undone, what comes, and never a face of a sealed hand in play."""

from __future__ import annotations

import json
from typing import Any

from dealershoe.console.state import state_of, urgency
from dealershoe.desk.desk import Desk, Moment
from dealershoe.desk.look import snapshot
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession
from hypothesis import given, settings
from hypothesis import strategies as st
from shoelink import schema

AT = Moment(1, 1_700_000_000_000_000_000)
STACK = load_stack("tda-2024+house")


class Table:
    """A desk, told by lines and by cards of a shoe."""

    def __init__(self) -> None:
        self.desk = Desk(TableSession(STACK))
        self.said: list[str] = []
        self.draws = 0

    def say(self, *lines: str) -> None:
        for line in lines:
            self.desk.say(line, "console", 1, AT, "ann")

    def card(self, token: bytes, flags: int = 0) -> None:
        self.draws += 1
        message = schema.Card(self.desk.hand, self.draws, bytes(4), token, 1, 0, 0, 0, 30, flags, 1000, 0)
        self.desk.report(message, b"", AT, b"journal!", self.draws)

    def state(self) -> dict[str, Any]:
        self.said += [happening.as_json() for happening in self.desk.happenings]
        self.desk.happenings.clear()
        return state_of("t1", 1, snapshot(self.desk, "port", ""), {}, open_table=False)


def test_the_ruling_in_force_is_the_strongest_and_says_what_happened() -> None:
    table = Table()
    table.say("hand seats=1-6 button=6")
    for number in range(12):
        table.card(bytes([255, 0, 0, number]))
    table.say("betting complete")
    assert table.state()["ruling"] is None
    for number in range(12, 16):
        table.card(bytes([255, 0, 0, number]))
    table.say("act 1 check")
    table.card(bytes([255, 0, 0, 16]))
    table.card(bytes([255, 0, 0, 17]))
    assert "#18" in table.state()["question"]
    table.say("report target #17 burn", "report target #18 board")  # the turn, before the betting is complete
    state = table.state()
    assert state["ruling"]["happened"] == "the turn before the betting was complete"
    assert state["ruling"] == state["rulings"][-1]
    assert state["ruling"]["n"] == len(table.desk.rulings)
    assert state["signal"] == state["ruling"]["signal"] == "attention"
    assert any(step["current"] for step in state["steps"])


def test_what_can_be_undone_is_said() -> None:
    table = Table()
    assert not table.state()["can_undo"]
    table.say("hand seats=1-6 button=6")
    assert not table.state()["can_undo"]  # a hand that has begun is not taken back
    table.say("call floor")
    assert table.state()["can_undo"]
    assert table.state()["signal"] == "floor"
    table.say("undo")
    assert not table.state()["can_undo"]
    table.say("report bad-shuffle")
    assert table.state()["can_undo"]
    table.say("undo")
    assert not table.state()["can_undo"]


def test_the_rules_to_come_and_the_end_of_the_hand_are_said() -> None:
    table = Table()
    assert table.state()["hand_over"]
    table.say("hand seats=1-6 button=6")
    assert (table.state()["hand_over"], table.state()["next_stack"]) == (False, None)
    table.desk.judge_by(load_stack("roberts"), AT)
    assert table.state()["next_stack"].startswith("roberts@")
    table.say("award")
    assert table.state()["hand_over"]
    table.say("hand next")
    assert (table.state()["stack"], table.state()["next_stack"]) == ("roberts", None)


def test_a_call_for_the_floor_comes_before_attention_even_where_no_shoe_is() -> None:
    table = Table()
    table.say("call floor")
    called = table.state()
    assert called["floor_called"]
    rest = [dict(called, table=kind, signal=kind, floor_called=False) for kind in ("stop", "attention", "ready")]
    assert [one["table"] for one in sorted([*rest, called], key=urgency)] == ["stop", "t1", "attention", "ready"]


@settings(max_examples=25, deadline=None)
@given(st.permutations([bytes([200, 1, 2, number]) for number in range(52)]), st.sets(st.integers(0, 40), max_size=4))
def test_what_the_cards_are_changes_nothing_that_is_shown(order: list[bytes], marked: set[int]) -> None:
    """Sealed identities permuted give the same states and the same words."""

    def play(tokens: list[bytes]) -> tuple[str, list[str]]:
        table = Table()
        table.say("hand seats=1-6 button=6")
        states = []
        for number, token in enumerate(tokens[:12]):
            table.card(token, flags=schema.CARD_FOREIGN if number in marked else 0)
            if number in marked:
                table.say(f"exposed #{number + 1}")
            states.append({**table.state(), "counts": None})
        return json.dumps(states), table.said

    assert play(order) == play(sorted(order))
