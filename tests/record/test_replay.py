"""A recorded hand judged again gets the same rulings, to the byte; other rules show what they would have changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from dealershoe.bridge.start import desk_from
from dealershoe.desk.facts import read_setup
from dealershoe.entries import HandRow, PackRow, RulingRow
from dealershoe.events import Draw
from dealershoe.record.journal import Journal
from dealershoe.record.read import opened
from dealershoe.record.replay import Packs, changed, differences, replay
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.signing import new_key
from dealershoe.rules.stack import load_stack
from record.dealing import Table, record

HANDS = 40


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "journal"
    with Journal(path, new_key()) as kept:
        table = Table(kept, 3, accidents=1.0)
        for hand in range(HANDS):
            if hand == HANDS // 2:  # other rules are put in force in the middle of the night
                table.desk.judge_by(load_stack("roberts"), table.at)
            if hand == 3:
                out_of_sequence(table)
            else:
                table.hand()
    return path


def out_of_sequence(table: Table) -> None:
    """A hand that the house's books leave to the floor, and Robert's calls a misdeal (his misdeals 2(f))."""
    table.say("hand seats=1-6 button=6")
    for _ in range(4):
        table.draw_due()
    table.draw(Draw(target=6))
    table.say("award")
    table.commit()


def tampered(journal: Path, tmp_path: Path, sql: str) -> Path:
    copy = tmp_path / "tampered"
    shutil.copy(journal, copy)
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute(sql)
    db.close()
    return copy


def test_every_hand_is_ruled_on_as_it_was(journal: Path) -> None:
    with opened(journal) as db, Packs(db) as packs:
        hands = list(replay(db, packs))
    assert len(hands) == HANDS
    assert [list(differences(hand)) for hand in hands if not hand.same] == []
    ruled = [row for hand in hands for row in hand.judged[RulingRow]]
    assert {row.stack for row in ruled} == {"tda-2024+house", "roberts"}
    assert len({row.ruling for row in ruled}) > 2


def test_a_hand_after_one_with_a_wrong_button_is_set_up_again_as_it_was(tmp_path: Path) -> None:
    """What was reported of the hand before decides where this one's button and blinds are."""
    path = tmp_path / "journal"
    with Journal(path) as kept:
        table = Table(kept, 3, load_stack("roberts"), accidents=0)  # 2(g): too late, and the button moves from there
        table.say("hand seats=1-6 button=1")
        for _ in range(12):
            table.draw_due()
        table.say("betting complete")
        for _ in range(4):
            table.draw_due()
        assert table.say("report button seat=3")
        table.say("award")
        assert table.say("hand next")
        for _ in range(3):
            table.draw_due()
        table.draw(Draw(target=6))  # somebody's turn or not: that hangs on the button
        table.commit()
        again = desk_from(kept, load_stack("roberts"), Shelf(tmp_path / "shelf"), open_table=True)
        assert again.session.table.setup == table.desk.session.table.setup
        assert again.session.due == table.desk.session.due
    with opened(path) as db, Packs(db) as packs:
        hands = list(replay(db, packs))
    assert [list(differences(hand)) for hand in hands] == [[], []]
    assert hands[1].state is not None
    assert hands[1].state.setup == read_setup(json.loads(hands[1].row.setup))


def test_a_range_is_judged_without_what_came_before(journal: Path) -> None:
    with opened(journal) as db, Packs(db) as packs:
        begun = [fact for (fact,) in db.execute("SELECT fact FROM hands ORDER BY fact")]
        hands = list(replay(db, packs, begun[30], begun[33]))
    assert [hand.row.fact for hand in hands] == begun[30:34]
    assert all(hand.same for hand in hands)


def test_the_packs_come_from_the_journal_alone(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dealershoe.rules.stack.SHIPPED", tmp_path)  # none there
    with opened(journal) as db, Packs(db) as packs:
        assert {packs.stack(row.layers).name for row in (hand.row for hand in replay(db, packs))} == {
            "tda-2024+house",
            "roberts",
        }


def test_a_ruling_that_was_altered_is_named_with_both_texts(journal: Path, tmp_path: Path) -> None:
    sql = "UPDATE rulings SET say = 'Play on', ruling = 'play-on' WHERE seq = (SELECT min(seq) FROM rulings)"
    with opened(tampered(journal, tmp_path, sql)) as db, Packs(db) as packs:
        wrong = [hand for hand in replay(db, packs) if not hand.same]
    assert len(wrong) == 1
    (said,) = differences(wrong[0])
    assert "ruling is 'play-on', now " in said
    assert "say is 'Play on', now " in said


def test_a_ruling_that_was_taken_out_or_put_in_is_named(journal: Path, tmp_path: Path) -> None:
    sql = "DELETE FROM rulings WHERE seq = (SELECT min(seq) FROM rulings)"
    with opened(tampered(journal, tmp_path, sql)) as db, Packs(db) as packs:
        (wrong,) = (hand for hand in replay(db, packs) if not hand.same)
    assert any("comes now and is not on record" in said or ", now " in said for said in differences(wrong))


def test_a_pack_that_is_not_what_it_was_judges_nothing(journal: Path, tmp_path: Path) -> None:
    sql = "UPDATE packs SET text = text || X'0a' WHERE pack = 'roberts'"
    with opened(tampered(journal, tmp_path, sql)) as db, Packs(db) as packs:
        hands = list(replay(db, packs))
    assert sum("is not in the journal as it was" in hand.why for hand in hands) == HANDS // 2
    assert not any(hand.same for hand in hands if hand.why)


def test_other_rules_show_which_hands_they_change_and_how(journal: Path) -> None:
    with opened(journal) as db, Packs(db) as packs:
        same = [changed(hand) for hand in replay(db, packs, instead=load_stack("tda-2024+house"))]
        other = [changed(hand) for hand in replay(db, packs, instead=load_stack("roberts"))]
    assert [one for one in same[: HANDS // 2] if one] == []
    assert [one for one in other[HANDS // 2 + 1 :] if one] == []
    said = [str(one) for one in other if one]
    assert said
    assert all(" then, " in one and one.endswith(" now") for one in said)
    assert any(one.startswith("out-of-sequence") and "misdeal (roberts-2-f; roberts 1." in one for one in said)


def test_a_journal_keeps_each_packs_file_once(journal: Path, tmp_path: Path) -> None:
    with opened(journal) as db:
        assert db.execute("SELECT pack, count(*) FROM packs GROUP BY pack ORDER BY 1").fetchall() == [
            ("house", 1),
            ("roberts", 1),
            ("tda-2024", 1),
        ]
    copy = tmp_path / "journal"
    record(copy, 1, 1)
    record(copy, 1, 2)  # a second run with the same rules
    with Journal(copy) as kept:
        assert len(kept.rows(PackRow)) == 2
        assert len(kept.rows(HandRow)) == 2
