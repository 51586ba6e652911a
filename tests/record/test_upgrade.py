"""Journals of every earlier version come up to this one whole, or stay as they are, to the byte."""

from __future__ import annotations

import hashlib
import itertools
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from dealershoe.entries import DeviceRow, Fact, RequestRow, RulingRow, RunRow
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.record.opening import reading
from dealershoe.record.read import last_requests
from dealershoe.record.schema import EARLIER, VERSION
from dealershoe.record.verify import Check
from dealershoe.rules.signing import key_id, new_key, raw_public
from record import earlier

# of every table and index of version 4, as the release that wrote it made them
FOURTH = "26cc14b0e03f788ba077058a1ef27a2101dea31d0bb7127c0edd6c1c568c09dd"


@pytest.mark.parametrize("version", sorted(EARLIER))
def test_all_that_stood_in_it_stands_there_chained_and_signed(tmp_path: Path, version: int) -> None:
    path = tmp_path / "journal"
    earlier.make(path, version)
    before = earlier.rows(path, version)
    key = new_key()
    public = raw_public(key.public_key())
    with Journal(path, key, clock=lambda: 77) as journal:
        assert journal.stored() == {b"JRN1": 12}
        in_play = journal.hand_in_play()
        assert in_play is not None
        assert (in_play[0], [fact.id for fact in in_play[1]]) == (3, [9, 10, 11, 12])
        (run,) = journal.rows(RunRow)
        assert run[0] == "upgrade"
        assert run[4].startswith(f"from version {version}: ")
        assert run[6] == 77
        journal.write([Fact(13, "shoe", b"x", 0, 0, b"JRN1", 13)])
    assert earlier.rows(path, version)["facts"][:-1] == before["facts"]
    assert {**earlier.rows(path, version), "facts": before["facts"]} == before
    with reading(path) as db:
        check = Check(db, {key_id(public): public})
        assert list(check.run()) == []
        assert check.upgraded_up_to == sum(map(len, before.values())) + 1
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert int.from_bytes(path.read_bytes()[60:64], "big") == VERSION


def test_what_an_earlier_version_did_not_know_is_said_as_not_known(tmp_path: Path) -> None:
    earlier.make(tmp_path / "journal", 1, hands=1)
    with Journal(tmp_path / "journal") as journal:
        (ruling,) = (RulingRow(*row) for row in journal.rows(RulingRow))
        (device,) = (DeviceRow(*row) for row in journal.rows(DeviceRow))
        assert (ruling.version, ruling.digest) == ("", "")
        assert (device.schema, device.proven) == (b"", 0)
        assert next(journal.facts()).made_ns is None


def test_facts_come_before_what_was_made_of_them_and_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    earlier.make(path, 3, hands=1)
    Journal(path).close()
    db = sqlite3.connect(path)
    seqs = dict(db.execute("SELECT id, seq FROM facts").fetchall())
    assert sorted(seqs, key=lambda fact: seqs[fact]) == [1, 2, 3, 4]
    for table in ("events", "rulings"):
        for fact, seq in db.execute(f"SELECT fact, seq FROM {table}").fetchall():
            assert seqs[fact] < seq < seqs.get(fact + 1, 1_000)
    db.close()


def test_a_journal_of_version_4_gets_the_table_of_requests_and_keeps_its_chain(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    objects = earlier.make_fourth(path)
    assert hashlib.sha256(repr(sorted(objects)).encode()).hexdigest() == FOURTH
    before = path.read_bytes()
    key = new_key()
    with Journal(path, key) as journal:
        assert [fact.raw for fact in journal.facts()] == [b"hand seats=1-6 button=6", b"ack"]
        journal.write([Fact(3, "api", b"ack", 5, 5, who="ann"), RequestRow(3, "a", 7, None)])
    assert before[60:64] == (4).to_bytes(4, "big")
    with reading(path) as db:
        check = Check(db)
        assert list(check.run()) == []
        assert check.upgraded_up_to == 0  # nothing of it was without a chain
        assert [row.id for row, *_ in last_requests(db, 5)] == ["a"]
    assert int.from_bytes(path.read_bytes()[60:64], "big") == VERSION


def test_kill_9_in_the_upgrade_from_version_4_leaves_it_or_this_one(tmp_path: Path) -> None:
    for nth in itertools.count(3, 3):
        path = tmp_path / str(nth) / "journal"
        path.parent.mkdir()
        earlier.make_fourth(path)
        done = subprocess.run([sys.executable, "-c", VICTIM, str(path), str(nth)], env=os.environ, timeout=60)
        with Journal(path) as journal:
            assert len(list(journal.facts())) == 2
        if not done.returncode:
            assert nth > 10
            break


def untouched(path: Path) -> str:
    """What opening says; nothing beside the file may change either."""
    before = {other.name: other.read_bytes() for other in path.parent.iterdir()}
    with pytest.raises(UserError) as error:
        Journal(path)
    assert {other.name: other.read_bytes() for other in path.parent.iterdir()} == before
    return str(error.value)


@pytest.mark.parametrize("version", sorted(EARLIER))
@pytest.mark.parametrize(
    "half",
    [
        "ALTER TABLE facts RENAME TO old_facts",
        "ALTER TABLE events ADD COLUMN seq INTEGER",
        "DROP TABLE signals",
        "CREATE TABLE packs (digest TEXT)",
    ],
)
def test_a_half_upgraded_journal_is_refused_and_untouched(tmp_path: Path, version: int, half: str) -> None:
    path = tmp_path / "journal"
    earlier.make(path, version)
    db = sqlite3.connect(path)
    db.execute(half)
    db.commit()
    db.close()
    assert f"has not the tables of version {version}; an upgrade was left half done" in untouched(path)


@pytest.mark.parametrize("change", ["DROP INDEX facts_once", "CREATE TRIGGER t DELETE ON facts BEGIN SELECT 1; END"])
def test_a_journal_of_this_version_with_other_tables_is_refused_and_untouched(tmp_path: Path, change: str) -> None:
    path = tmp_path / "journal"
    Journal(path).close()
    db = sqlite3.connect(path)
    db.execute(change)
    db.commit()
    db.close()
    assert f"has not the tables of version {VERSION}" in untouched(path)


@pytest.mark.parametrize("version", sorted(EARLIER))
def test_a_damaged_journal_of_an_earlier_version_is_refused_and_untouched(tmp_path: Path, version: int) -> None:
    path = tmp_path / "journal"
    earlier.make(path, version, hands=100)
    path.write_bytes(path.read_bytes()[:-5_000])
    assert "is damaged" in untouched(path)


VICTIM = """
import os, signal, sqlite3, sys
from pathlib import Path
from dealershoe.record.journal import Journal
left = int(sys.argv[2])
class Dying(sqlite3.Connection):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.set_trace_callback(self.count)
    def count(self, _):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
real = sqlite3.connect
sqlite3.connect = lambda *args, **named: real(*args, factory=Dying, **named)
Journal(Path(sys.argv[1])).close()
"""


def test_kill_9_at_any_statement_of_an_upgrade_leaves_the_old_journal_or_the_new_one(tmp_path: Path) -> None:
    """Every ninth statement of the upgrade; the next opening finishes what was not done."""
    for nth in itertools.count(3, 9):
        path = tmp_path / str(nth) / "journal"
        path.parent.mkdir()
        earlier.make(path, 3, hands=1)
        before = earlier.rows(path, 3)
        done = subprocess.run([sys.executable, "-c", VICTIM, str(path), str(nth)], env=os.environ, timeout=60)
        with Journal(path):
            pass
        assert earlier.rows(path, 3) == before
        with reading(path) as db:
            assert list(Check(db).run()) == []
        if not done.returncode:
            assert nth > 50  # the last one came to its end
            break
