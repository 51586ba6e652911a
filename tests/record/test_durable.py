"""No stored card lost, none doubled: kill -9 at any statement, torn files, full, read-only and locked disks."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dealershoe.bridge.start import desk_from
from dealershoe.entries import ConflictRow, EventRow, Fact
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.record.opening import is_new, reading
from dealershoe.record.read import opened
from dealershoe.record.verify import Check
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.signing import new_key
from dealershoe.rules.stack import DEFAULT, load_stack
from dealershoe.session import TableSession
from record.dealing import Table

HERE = Path(__file__).parent
KILLED = 40  # journals, each with the lives of killed.py
CUTS = 240


def card(number: int, raw: bytes = b"") -> list[Fact | EventRow]:
    fact = Fact(number, "shoe", raw or b"card %d" % number, number, number, b"shoe", number)
    return [fact, EventRow(number, 1, number, "Draw", "{}")]


LOOK = "import sqlite3, sys; print(*sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM facts').fetchone())"


def _read(path: Path) -> None:
    with opened(path) as db:
        db.execute("SELECT count(*) FROM facts").fetchone()


def _write_too(path: Path) -> None:
    with pytest.raises(UserError, match="is in use"):
        Journal(path)


@pytest.mark.parametrize("within", [_read, is_new, _write_too], ids=["read", "ask", "open again"])
def test_another_program_that_looks_in_takes_nothing_away(tmp_path: Path, within: Callable[[Path], object]) -> None:
    """To close any descriptor of a file drops a process's locks on it: what this process does with its own journal must
    not make another program, which opens it to write, the last one there, which would throw the log away."""
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.write(card(1))
        for number in (2, 3):
            within(path)
            done = subprocess.run([sys.executable, "-c", LOOK, str(path)], capture_output=True, text=True, check=True)
            assert int(done.stdout) == number - 1
            journal.write(card(number))
        assert Path(f"{path}-wal").exists()
        copy = tmp_path / "as if the process were killed now"
        copy.mkdir()
        for part in tmp_path.glob("j*"):
            shutil.copy(part, copy)
    with Journal(copy / "j") as kept:
        assert [fact.raw for fact in kept.facts()] == [b"card 1", b"card 2", b"card 3"]


def test_kill_9_at_any_statement_loses_nothing_acknowledged_and_doubles_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "killed.py"), str(tmp_path), "1", str(KILLED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    seeds = [line.split() for line in done.stdout.splitlines()]
    assert len(seeds) == KILLED
    assert sum(int(acknowledged) for _, acknowledged, _ in seeds) > KILLED * 5  # the lives were long enough to matter


FILES = ("journal", "journal-wal", "journal.head")


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Fact]]:
    """A journal in the middle of its work: old cards in the file, the latest in the write-ahead log, all stored."""
    folder = tmp_path_factory.mktemp("power")
    taken = folder / "taken"
    taken.mkdir()
    with Journal(folder / "journal", new_key()) as journal:
        for number in range(1, 61):
            journal.write(card(number))
        journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(61, 121):
            journal.write(card(number))
        for name in FILES:
            shutil.copy(folder / name, taken / name)
        facts = list(journal.facts())
    return taken, facts


def cut(folder: Path, seed: int) -> str:
    """What a power cut can leave of the files: an end that is missing, or a piece that is old, empty or nonsense."""
    dice = random.Random(seed)
    path = folder / dice.choice(FILES[:2])
    raw = bytearray(path.read_bytes())
    at = dice.randrange(len(raw))
    how = dice.choice(["end", "zeros", "nonsense", "gone"])
    size = dice.choice([1, 512, 4096])
    if how == "end":
        del raw[at:]
    elif how == "zeros":
        raw[at : at + size] = bytes(len(raw[at : at + size]))
    elif how == "nonsense":
        raw[at : at + size] = dice.randbytes(len(raw[at : at + size]))
    path.write_bytes(raw)
    if how == "gone":
        path.unlink()
    return f"seed {seed}: {path.name}, {how} at {at}"


def test_a_torn_file_has_every_acknowledged_card_or_says_that_it_is_damaged(
    at_work: tuple[Path, list[Fact]], tmp_path: Path
) -> None:
    taken, facts = at_work
    whole, said = 0, {}
    for seed in range(CUTS):
        folder = tmp_path / str(seed)
        shutil.copytree(taken, folder)
        what = cut(folder, seed)
        try:
            with Journal(folder / "journal") as journal:
                assert list(journal.facts()) == facts, what
                assert journal.stored() == {b"shoe": len(facts)}, what
                journal.write(card(len(facts) + 1))
            whole += 1
        except UserError as error:
            said[what] = str(error)
        shutil.rmtree(folder)
    known = re.compile(r"is damaged|is not a journal of a bridge|has version|has not the tables of version")
    assert {what: one for what, one in said.items() if not known.search(one)} == {}
    assert len(said) > CUTS / 4
    assert whole > 5


def test_an_older_copy_put_back_is_not_taken_for_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path) as journal:
        journal.write(card(1))
    older = path.read_bytes()
    with Journal(path) as journal:
        journal.write(card(2))
    path.write_bytes(older)
    with pytest.raises(UserError, match=r"record 4 has been written.*older copy.*journal\.head is removed"):
        Journal(path)
    assert path.read_bytes() == older
    (tmp_path / "journal.head").unlink()  # whoever means it says so
    with Journal(path) as journal:
        assert journal.stored() == {b"shoe": 1}


def test_a_journal_that_was_emptied_is_not_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path) as journal:
        journal.write(card(1))
    path.write_bytes(b"")
    with pytest.raises(UserError, match="the file is empty, but records have been written to it"):
        Journal(path)


def writes_again(journal: Journal, refusal: str) -> None:
    """While the disk refuses nothing is written; what was refused can be written once it does not."""

    def fill() -> None:
        for number in range(journal.next_fact(), 10_000):
            before.update(records=journal.records, facts=list(journal.facts()))
            journal.write(card(number, bytes(2_000)))

    before: dict[str, object] = {}
    with pytest.raises(sqlite3.Error, match=refusal):
        fill()
    assert {"records": journal.records, "facts": list(journal.facts())} == before


def goes_on(journal: Journal) -> None:
    number = journal.next_fact()
    journal.write(card(number))
    assert [fact.number for fact in journal.facts()] == list(range(1, number + 1))
    assert list(Check(journal._db).run()) == []


def test_a_full_disk_loses_nothing_and_the_journal_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", new_key()) as journal:
        journal.write(card(1))
        (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
        journal._db.execute(f"PRAGMA max_page_count = {pages + 20}")
        writes_again(journal, "full")
        journal._db.execute("PRAGMA max_page_count = 100000")
        goes_on(journal)


LIMITED = """
import resource, sqlite3, sys
from pathlib import Path
from dealershoe.entries import Fact
from dealershoe.record.journal import Journal
journal = Journal(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
number = 0
try:
    while True:
        journal.write([Fact(number + 1, "shoe", bytes(2_000), 0, 0, b"shoe", number + 1)])
        number += 1
except sqlite3.Error as error:
    print(number, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.write([Fact(number + 1, "shoe", b"again", 0, 0, b"shoe", number + 1)])
journal.close()
"""


def test_a_file_that_may_not_grow_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    number, said = done.stdout.split(maxsplit=1)
    assert int(number) > 5
    assert "disk" in said
    with Journal(path) as journal:
        assert journal.stored() == {b"shoe": int(number) + 1}
        assert [fact.number for fact in journal.facts()] == list(range(1, int(number) + 2))


MOUNTED = """
mount -t tmpfs -o size=256k tmpfs {folder} || exit 77
{python} - {folder} <<'END'
import sqlite3, subprocess, sys
from pathlib import Path
from dealershoe.errors import UserError
from dealershoe.entries import Fact
from dealershoe.record.journal import Journal
path = Path(sys.argv[1]) / "journal"
number = 0
journal = Journal(path)
try:
    while True:
        journal.write([Fact(number + 1, "shoe", bytes(2_000), 0, 0, b"shoe", number + 1)])
        number += 1
except sqlite3.Error as error:
    print("full:", error)
journal.close()
subprocess.run(["mount", "-o", "remount,size=8m", sys.argv[1]], check=True)
with Journal(path) as journal:
    assert journal.stored() == {{b"shoe": number}}, (journal.stored(), number)
    journal.write([Fact(number + 1, "shoe", b"", 0, 0, b"shoe", number + 1)])
subprocess.run(["mount", "-o", "remount,ro", sys.argv[1]], check=True)
try:
    Journal(path)
except UserError as error:
    print("read-only:", error)
END
"""


def test_a_real_full_disk_and_a_real_read_only_one(tmp_path: Path) -> None:
    """On a file system of its own, where this user may mount one."""
    script = MOUNTED.format(folder=tmp_path, python=sys.executable)
    command = ["unshare", "-m", "sh", "-c", script]
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here: a small disk cannot be mounted for the test")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if "unshare failed" in done.stderr or done.returncode == 77:
        pytest.skip(f"this user may not mount a small disk: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    full, read_only = done.stdout.splitlines()
    assert full == "full: database or disk is full"
    assert "cannot be opened (Read-only file system)" in read_only


def test_a_disk_that_becomes_read_only_loses_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write(card(1))
        journal._db.execute("PRAGMA query_only = 1")
        writes_again(journal, "readonly")
        journal._db.execute("PRAGMA query_only = 0")
        goes_on(journal)


def test_a_database_that_another_program_locks_loses_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write(card(1))
        journal._db.execute("PRAGMA busy_timeout = 20")
        other = sqlite3.connect(tmp_path / "journal", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        writes_again(journal, "locked")
        other.execute("ROLLBACK")
        other.close()
        goes_on(journal)


def test_an_id_that_is_taken_is_an_error_and_no_lost_card(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write(card(1))
        with pytest.raises(sqlite3.IntegrityError):
            journal.write([Fact(1, "shoe", b"another", 0, 0, b"shoe", 2)])
        assert journal.stored() == {b"shoe": 1}


def test_a_second_report_with_other_bytes_stands_beside_the_first(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write(card(1, b"first"))
        journal.write([Fact(2, "shoe", b"first", 5, 6, b"shoe", 1)])  # the same again: nothing new
        journal.write([Fact(3, "shoe", b"other", 7, 8, b"shoe", 1)])
        assert [fact.raw for fact in journal.facts()] == [b"first"]
        assert journal.rows(ConflictRow) == [(b"shoe", 1, b"other", 7, 8)]
        assert list(Check(journal._db).run()) == []


def known(session: TableSession) -> object:
    """The hand and its rulings, without the numbers of the entries in the session's own log."""
    hand = session.hand
    assert hand is not None
    remedies = [(remedy.key[1:], remedy.begun, remedy.texts) for remedy in hand.remedies]
    return hand._replace(remedies=()), remedies, [ruling._replace(event=0) for ruling in session.rulings]


SAID = ("exposed #1", "act 1 call", "betting complete", "undo", "report target #2 board")


@pytest.mark.parametrize("seed", range(12))
def test_after_a_restart_at_any_fact_the_hand_goes_on_as_it_was_or_is_flagged(tmp_path: Path, seed: int) -> None:
    """The desk that died and the one made of its journal know the same hand; the clock may have gone back meanwhile."""
    dice = random.Random(seed)
    stack = load_stack(DEFAULT)
    with Journal(tmp_path / "journal") as journal:
        table = Table(journal, seed, accidents=1.0)
        for _ in range(3):
            table.hand()
        table.ns -= dice.choice([0, 10**12])
        table.say("hand next")
        for _ in range(dice.randint(0, 20)):
            table.draw_due()
            if dice.random() < 0.2:
                table.say(
                    dice.choice(["exposed #1", "act 1 call", "betting complete", "undo", "report target #2 board"])
                )
        if dice.random() < 0.2:
            table.desk.align("reports are gone", table.at)
        table.commit()
        again = desk_from(journal, stack, Shelf(tmp_path / "shelf"), open_table=True)
    before = table.desk
    assert again.align_why == before.align_why
    assert (again.hand, again.signal, again.shown_due) == (before.hand, before.signal, before.shown_due)
    assert known(again.session) == known(before.session)


def test_kill_9_while_a_new_journal_is_made_leaves_one_that_can_be_opened(tmp_path: Path) -> None:
    victim = (
        "import os, signal, sqlite3, sys\nfrom pathlib import Path\nfrom dealershoe.record import journal\n"
        "left = int(sys.argv[2])\n"
        "class Dying(sqlite3.Connection):\n"
        "    def __init__(self, *a, **k):\n        super().__init__(*a, **k)\n        self.set_trace_callback(self.n)\n"
        "    def n(self, _):\n        global left\n        left -= 1\n"
        "        if not left: os.kill(os.getpid(), signal.SIGKILL)\n"
        "real = sqlite3.connect\nsqlite3.connect = lambda *a, **k: real(*a, factory=Dying, **k)\n"
        "journal.Journal(Path(sys.argv[1])).close()\n"
    )
    for nth in (1, 2, 3, 5, 9, 17, 25, 33, 41):
        path = tmp_path / f"{nth}.journal"
        command = [sys.executable, "-c", victim, str(path), str(nth)]
        done = subprocess.run(command, env=os.environ, timeout=60)
        assert done.returncode in (0, -signal.SIGKILL)
        with Journal(path) as journal:
            journal.write(card(1))
            assert journal.stored() == {b"shoe": 1}


def test_reading_a_journal_does_not_change_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path) as journal:
        journal.write(card(1))
    before = path.read_bytes()
    with reading(path) as db:
        assert list(Check(db).run()) == []
    assert path.read_bytes() == before
    assert sorted(other.name for other in tmp_path.iterdir()) == ["journal", "journal.head"]
