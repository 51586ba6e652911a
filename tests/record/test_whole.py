"""What a shoe on its link and a dealer's keys bring about is recorded whole, verifies, and is judged again the same."""

from __future__ import annotations

from pathlib import Path

from bridge.rig import Rig
from dealershoe.entries import DeviceRow, Fact, HandRow, LinkRow, PackRow, RunRow
from dealershoe.record.journal import Journal
from dealershoe.record.read import opened
from dealershoe.record.replay import Packs, differences, replay
from dealershoe.record.upgrade import run_row, user
from dealershoe.record.verify import Check
from dealershoe.record.words import WORDS
from dealershoe.rules.signing import key_id, new_key, raw_public
from dealershoe.rules.stack import load_stack
from shoelink import schema

STACK = "tda-2024+house"


def night() -> Rig:
    """Two hands: one begun by a line, one by the shoe's key; a seat sensor, late reports, an undo, a lost link."""
    stack = load_stack(STACK)
    rig = Rig(rules=stack)
    rig.desk.judge_by(stack, rig.at)
    rig.run(50)
    rig.desk.say("hand seats=1-6 button=6", "console", 1, rig.at, "floor: Ann")
    rig.run(20)
    for draw in range(1, 8):
        rig.card(draw, way_up=schema.WAY_UP if draw == 5 else schema.WAY_DOWN)
        rig.run(10)
    rig.seat(3, 4)  # the third card lies at seat 4
    rig.run(20)
    rig.key(schema.KEY_EXPOSED)
    rig.run(20)
    rig.key(schema.KEY_DONE, schema.PRESS_HELD)  # taken back
    rig.run(20)
    rig.say("exposed #2 by=player")
    rig.table.closed("the cable was pulled")
    rig.plug()
    rig.run(100)
    rig.key(schema.KEY_NEW_HAND, hand=rig.desk.hand + 1)
    rig.run(30)
    for draw in range(1, 5):
        rig.card(draw, hand=rig.desk.hand)
        rig.run(10)
    rig.say("exposed #1")
    rig.run(10)
    return rig


def test_all_of_it_is_on_record_and_is_judged_again_the_same(tmp_path: Path) -> None:
    rig = night()
    key = new_key()
    path = tmp_path / "journal"
    with Journal(path, key) as journal:
        journal.write([run_row("begin", "port here", 1, 2), *rig.durable])
        assert [row[0] for row in journal.rows(LinkRow)] == ["up", "down", "up"]
        assert journal.rows(LinkRow)[1][1] == "the cable was pulled"
        assert len(journal.rows(DeviceRow)) == 1  # it greeted twice, and had started once
        assert len(journal.rows(HandRow)) == 2
        assert {row[1] for row in journal.rows(PackRow)} == {"tda-2024", "house"}
        (run,) = (RunRow(*row) for row in journal.rows(RunRow))
        assert (run.kind, run.who, run.note) == ("begin", user(), "port here")
        said = [fact for fact in journal.facts() if fact.origin == "console"]
        assert [fact.who for fact in said] == ["floor: Ann"]
        made = [fact for fact in journal.facts() if fact.origin == "shoe" and fact.made_ns is not None]
        assert all(fact.within_ns is not None for fact in made)
    public = raw_public(key.public_key())
    with opened(path) as db, Packs(db) as packs:
        assert list(Check(db, {key_id(public): public}).run()) == []
        hands = list(replay(db, packs))
        assert [hand.row.hand for hand in hands] == [hands[0].row.hand, hands[0].row.hand + 1]
        assert [list(differences(hand)) for hand in hands] == [[], []]
        assert sum(len(rows) for hand in hands for rows in hand.judged.values()) > 3


def test_every_kind_of_record_has_words() -> None:
    rig = night()
    for entry in rig.durable:
        if not isinstance(entry, Fact | DeviceRow | PackRow):
            assert WORDS[type(entry)](entry)
