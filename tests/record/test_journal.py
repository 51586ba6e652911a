"""The journal keeps what it said it keeps: through kill -9, duplicates, foreign and damaged files."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from dealershoe.entries import DeviceRow, EventRow, Fact, RulingRow, SignalRow
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.record.schema import VERSION

SHOE = b"\x01\x02\x03\x04"


def frame(fact: int, number: int, raw: bytes = b"frame") -> Fact:
    return Fact(fact, "shoe", raw, 1_000 * fact, 2_000 * fact, SHOE, number)


def line(fact: int, text: str) -> Fact:
    return Fact(fact, "stdin", text.encode(), 1_000 * fact, 2_000 * fact)


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ruling = RulingRow(
        2, 7, "house", "boxed", "dead", "r", "c", "house", "1.0.0", "ab", 3, "[3]", "s", "dealer", "attention", "[]"
    )
    with Journal(path) as journal:
        journal.write([line(1, "hand seats=1-6 button=6"), EventRow(1, 7, None, "Hand", "{}")])
        journal.write([frame(2, 5), frame(3, 6), ruling, SignalRow(2, 1, "attention", "supervised", 9)])
        journal.write([DeviceRow(SHOE, b"boot", None, None, None, 1, 5, bytes(4), 0)])
    with Journal(path) as journal:
        assert list(journal.facts()) == [line(1, "hand seats=1-6 button=6"), frame(2, 5), frame(3, 6)]
        assert journal.stored() == {SHOE: 6}
        assert journal.stored_up_to(SHOE) == 6
        assert journal.stored_up_to(b"other") is None
        assert journal.next_fact() == 4
        assert len(journal.rows(RulingRow)) == len(journal.rows(SignalRow)) == len(journal.rows(DeviceRow)) == 1


def test_what_counts_as_stored_has_been_forced_onto_the_disk(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        full = 2  # sqlite.org/pragma.html#pragma_synchronous: each commit waits for the disk, also in WAL mode
        assert journal._db.execute("PRAGMA synchronous").fetchone() == (full,)


def test_the_same_number_of_the_same_shoe_is_kept_once_and_the_first_report_stands(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write([frame(1, 5, b"first")])
        journal.write([frame(2, 5, b"again"), Fact(3, "shoe", b"other shoe", 1, 1, b"other", 5)])
        assert [fact.raw for fact in journal.facts()] == [b"first", b"other shoe"]


def test_the_hand_in_play_is_all_facts_since_the_last_hand_described_in_full(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        assert journal.hand_in_play() is None
        journal.write([line(1, "hand old"), EventRow(1, 3, None, "Hand", "{}"), frame(2, 1)])
        journal.write([line(3, "hand new"), EventRow(3, 9, None, "Hand", "{}"), frame(4, 2), frame(5, 3)])
        journal.write([EventRow(5, 10, None, "NextHand", "{}")])
        assert journal.hand_in_play() == (9, [line(3, "hand new"), frame(4, 2), frame(5, 3)])


def test_a_failed_batch_leaves_nothing_of_itself(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write([frame(1, 1)])
        with pytest.raises(sqlite3.IntegrityError):
            journal.write([frame(2, 2), EventRow(2, 1, None, "Draw", None)])  # type: ignore[arg-type]
        assert [fact.id for fact in journal.facts()] == [1]
        journal.write([frame(2, 2)])
        assert journal.stored_up_to(SHOE) == 2


VICTIM = """
import os, signal, sys
from pathlib import Path
from dealershoe.entries import Fact
from dealershoe.record.journal import Journal
journal = Journal(Path(sys.argv[1]))
for number in range(1, 6):
    journal.write([Fact(number, "shoe", b"frame", 0, 0, b"shoe", number)])
print("stored", flush=True)
def between():
    yield Fact(6, "shoe", b"frame", 0, 0, b"shoe", 6)
    os.kill(os.getpid(), signal.SIGKILL)
journal.write(between())
"""


def test_kill_9_between_write_and_commit_loses_nothing_stored_and_keeps_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    dead = subprocess.run([sys.executable, "-c", VICTIM, str(path)], capture_output=True, text=True, timeout=60)
    assert dead.returncode == -signal.SIGKILL
    assert dead.stdout == "stored\n"
    with Journal(path) as journal:
        assert [fact.number for fact in journal.facts()] == [1, 2, 3, 4, 5]
        assert journal.stored_up_to(b"shoe") == 5
        journal.write([Fact(6, "shoe", b"frame", 0, 0, b"shoe", 6)])  # the shoe sends it again
        assert journal.stored_up_to(b"shoe") == 6


def refused(path: Path) -> str:
    """What opening `path` says; the file must not change by it."""
    before = {other.name: other.read_bytes() for other in path.parent.iterdir()}
    with pytest.raises(UserError) as error:
        Journal(path)
    assert {other.name: other.read_bytes() for other in path.parent.iterdir()} == before
    return str(error.value)


def test_a_text_file_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a journal\n")
    assert "is not a journal of a bridge" in refused(path)


def test_another_programs_database_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE facts (id)")
    other.close()
    assert "is not a journal of a bridge" in refused(path)


def test_another_releases_journal_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path).close()
    raw = bytearray(path.read_bytes())
    raw[60:64] = (VERSION + 1).to_bytes(4, "big")
    path.write_bytes(raw)
    assert f"has version {VERSION + 1}, this bridge writes version {VERSION}" in refused(path)


@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_damaged_journal_is_refused_and_untouched(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "journal"
    with Journal(path) as journal:
        journal.write(frame(number, number, bytes(500)) for number in range(1, 200))
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2] if damage == "cut" else raw[:4096] + b"\xa5" * (len(raw) - 4096))
    assert "is damaged" in refused(path)


def test_a_second_bridge_on_the_same_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path), pytest.raises(UserError, match="is in use; another bridge is writing it"):
        Journal(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be opened .*make the folder"):
        Journal(tmp_path / "missing" / "journal")
