"""A card that no head of the shoe saw, at the desk: who is asked, and what a seat node or a person makes of it.

Expected rulings: RULES BOX-1 and EXP-1 by Robert's Rules (irregularities 7, misdeals 2(a)).
"""

from __future__ import annotations

import pytest
from bridge.rig import Rig, ready
from dealershoe.console.said import kind_of
from dealershoe.desk.look import snapshot
from dealershoe.entries import EventRow, FindingRow
from dealershoe.events import Hand
from dealershoe.rules.stack import load_stack
from shoelink import schema

STUD = "hand seats=1-6 button=6 game=stud"


def flash(rig: Rig, draw: int) -> None:
    """Card `draw` leaves under a flash of light."""
    rig.card(draw, token=schema.TOKEN_UNREAD, flags=schema.CARD_UNREAD, deck=255, way_up=schema.WAY_UNKNOWN)
    rig.run(20)


def at_a_table(cards: int = 3) -> Rig:
    """Cards were dealt, the next one came out under a flash."""
    rig = ready(load_stack("roberts"))
    for draw in range(1, cards + 1):
        rig.card(draw)
        rig.run(20)
    flash(rig, cards + 1)
    return rig


def rulings(rig: Rig) -> list[str]:
    return [ruling.ruling for ruling in rig.desk.session.rulings]


def test_dealer_and_floor_see_the_question_and_the_deal_goes_on() -> None:
    rig = at_a_table()
    now = snapshot(rig.desk, "", "")
    assert now.question is not None
    assert "say `report boxed #4`" in now.question
    assert kind_of(now.question) == {"kind": "question.unseen", "values": {"cards": "#4", "number": "4"}}
    assert now.unseen == (4,)
    assert now.draws[-1].way_up == "unseen"
    assert (now.light.state, now.due) == ("ready", "seat 5")
    assert [one.text for one in rig.desk.happenings if one.kind == "question"] == [now.question]
    assert any("#4 unseen → seat 4" in line for line in rig.said)


def test_a_node_that_sees_it_face_up_makes_it_boxed_and_not_exposed() -> None:
    rig = at_a_table(cards=1)  # #2: exposed it would be a misdeal
    rig.seat(2, 2, schema.WAY_UP)
    rig.run(20)
    assert rulings(rig) == ["replace"]
    assert str(rig.desk.session.due) == "seat 2"
    assert rig.desk.session.question is None
    (note,) = (note for note in rig.desk.notes if "taken as boxed" in note)
    assert kind_of(note) == {"kind": "note.taken-boxed", "values": {"number": "2"}}
    assert [row.kind for row in rig.durable if isinstance(row, FindingRow)] == ["boxed"]
    rig.say("exposed #2")  # somebody had turned it over
    assert rulings(rig) == ["misdeal"]


def test_a_node_that_sees_it_face_down_answers_the_question() -> None:
    rig = at_a_table()
    rig.seat(4, 4, schema.WAY_DOWN)
    rig.run(20)
    assert rulings(rig) == []
    assert (rig.desk.session.question, rig.desk.session.unseen) == (None, ())
    assert snapshot(rig.desk, "", "").draws[-1].way_up == "down"
    rig.seat(4, 4, schema.WAY_UP)  # seen twice, the second time face up: it was turned over at the table
    rig.run(20)
    assert [row.kind for row in rig.durable if isinstance(row, FindingRow)] == ["exposed"]


def test_a_node_that_does_not_see_which_way_up_answers_nothing() -> None:
    rig = at_a_table()
    rig.seat(4, 4, schema.WAY_UNKNOWN)
    rig.run(20)
    assert rig.desk.session.unseen == (4,)


def test_a_card_that_a_head_saw_and_a_node_sees_face_up_is_exposed() -> None:
    rig = at_a_table(cards=1)
    rig.seat(1, 1, schema.WAY_UP)
    rig.run(20)
    assert rulings(rig) == ["misdeal"]


def test_the_key_before_or_after_the_node_comes_out_the_same() -> None:
    for key_first in (True, False):
        rig = at_a_table(cards=0)
        if key_first:
            rig.key(schema.KEY_EXPOSED)
        rig.seat(1, 1, schema.WAY_UP)
        rig.run(20)
        if not key_first:
            rig.key(schema.KEY_EXPOSED)
            rig.run(20)
        assert rulings(rig) == ["replace"], f"key first: {key_first}"


def test_a_person_says_it_where_there_is_no_node() -> None:
    rig = at_a_table()
    rig.card(5)
    rig.run(20)
    rig.say("report boxed #4")
    assert rulings(rig) == ["replace"]
    assert str(rig.desk.session.due) == "seat 6"  # seat 4 gets another when the round is dealt
    assert rig.desk.session.question is None
    rig.say("undo")
    assert rulings(rig) == []
    assert rig.desk.session.unseen == (4,)


def test_a_node_that_sees_it_after_a_person_has_said_boxed_says_nothing_new() -> None:
    rig = at_a_table(cards=0)
    rig.say("report boxed #1")
    rig.seat(1, 1, schema.WAY_UP)
    rig.run(20)
    assert rulings(rig) == ["replace"]
    rig.say("report target #1 1")  # told again from there, it is the same
    assert rulings(rig) == ["replace"]


@pytest.mark.parametrize("up", [schema.WAY_UP, schema.WAY_DOWN])
def test_a_node_cannot_tell_of_a_card_that_is_dealt_face_up(up: int) -> None:
    rig = ready(load_stack("roberts"))
    rig.say(STUD)
    rig.run(20)
    for draw in range(1, 13):
        rig.card(draw)
        rig.run(20)
    flash(rig, 13)
    assert isinstance(rig.desk.session._entries[0].event, Hand)
    rig.seat(13, 1, up)
    rig.run(20)
    assert rulings(rig) == []
    assert rig.desk.session.unseen == (13,)  # only a person can say
    rig.say("report boxed #13")
    rig.seat(13, 1, up)
    rig.run(20)
    assert rulings(rig) == ["replace"]


def test_a_board_node_cannot_tell_either() -> None:
    rig = ready(load_stack("roberts"))
    for draw in range(1, 13):
        rig.card(draw)
        rig.run(20)
    rig.say("betting complete")
    rig.card(13)
    rig.run(20)
    flash(rig, 14)
    rig.seat(14, schema.TARGET_BOARD, schema.WAY_UP)
    rig.run(20)
    assert (rulings(rig), rig.desk.session.unseen) == ([], (14,))
    rig.say("report boxed #14")
    assert (rulings(rig), str(rig.desk.session.due)) == (["replace"], "board")  # BOX-3


def test_a_host_that_comes_back_knows_which_cards_no_head_saw() -> None:
    rig = at_a_table(cards=1)
    rig.run(20)
    rig.kill()
    rig.run(50)
    assert rig.desk.session.unseen == (2,)
    rig.seat(2, 2, schema.WAY_UP)
    rig.run(20)
    assert rulings(rig) == ["replace"]
    assert [row.kind for row in rig.durable if isinstance(row, EventRow)][-1] == "ReportBoxed"


def test_a_number_of_the_shoe_that_is_another_at_the_table_names_the_right_card() -> None:
    # #1 was ruled on and went back on top: it keeps its number, and the shoe counts on from its own
    rig = ready(load_stack("roberts"))
    rig.card(1, way_up=schema.WAY_UP)
    rig.run(20)
    rig.back(1)
    rig.run(20)
    rig.card(1)
    rig.run(20)
    flash(rig, 2)
    assert rig.desk.session.unseen == (rig.desk.passages.numbers[2],)
