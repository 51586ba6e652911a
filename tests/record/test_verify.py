"""Any change, removal, insertion, reordering or cutting off is named by record; only the public key is needed."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dealershoe.entries import (
    KINDS,
    NAMES,
    TABLES,
    VALUES,
    CheckpointRow,
    Entry,
    Fact,
    HandRow,
    RulingRow,
    RunRow,
)
from dealershoe.record import chain
from dealershoe.record.journal import Journal
from dealershoe.record.opening import reading
from dealershoe.record.verify import Check, Fault
from dealershoe.rules.signing import key_id, new_key, raw_public
from hypothesis import given, settings
from hypothesis import strategies as st
from record.dealing import record

KEY = new_key()
PUBLIC = raw_public(KEY.public_key())
KEYS = {key_id(PUBLIC): PUBLIC}
HANDS = 4


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "journal"
    record(path, HANDS, 7, KEY)
    return path


def verified(path: Path, **known: Any) -> list[Fault]:
    with reading(path) as db:
        return list(Check(db, KEYS, **known).run())


def changed(journal: Path, change: Callable[[sqlite3.Connection], Any]) -> list[Fault]:
    """What is said of a copy after a change by someone who has the file, a database program and no key."""
    copy = journal.with_name("changed")
    shutil.copy(journal, copy)
    db = sqlite3.connect(copy, isolation_level=None)
    change(db)
    db.close()
    return verified(copy)


def order(db: sqlite3.Connection) -> list[tuple[int, str]]:
    return sorted((seq, table) for table in TABLES.values() for (seq,) in db.execute(f"SELECT seq FROM {table}"))


def test_what_was_written_is_verified(journal: Path) -> None:
    with reading(journal) as db:
        check = Check(db, KEYS)
        assert list(check.run()) == []
        assert check.records == check.last == len(order(db))
        assert check.hands == HANDS
        assert check.checkpoints == HANDS
        assert check.signed_up_to == check.last


def test_the_chain_is_what_the_page_says(journal: Path) -> None:
    """docs/record.md, in ten lines that share nothing with the program."""
    db = sqlite3.connect(journal)
    (identity,) = db.execute("SELECT identity FROM journal").fetchone()
    link = hashlib.sha256(b"dealershoe journal, chain 1\n" + identity).digest()
    for seq, table in order(db):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in ("seq", "chain")]
        *values, stored = db.execute(
            f"SELECT {', '.join(columns)}, chain FROM {table} WHERE seq = ?", (seq,)
        ).fetchone()
        parts = [table, seq]
        for name, value in zip(columns, values, strict=True):
            parts += [] if value is None else [name, [value.hex()] if isinstance(value, bytes) else value]
        link = hashlib.sha256(link + json.dumps(parts, separators=(",", ":")).encode()).digest()
        assert link == stored, (seq, table)
    db.close()


OTHER: dict[type, list[Any]] = {
    int: [0, -1, 2**40, "1", 1.0, None],
    str: ["", "x", b"x", 1, None],
    bytes: [b"", b"\x00" * 32, "x", 1, None],
    type(None): [0, "x", b"x"],
}


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_changed_value_is_named_by_its_record(journal: Path, data: st.DataObject) -> None:
    with reading(journal) as db:
        seq, table = data.draw(st.sampled_from(order(db)))
        column = data.draw(st.sampled_from([*NAMES[KINDS[table]], "chain"]))
        (value,) = db.execute(f"SELECT {column} FROM {table} WHERE seq = ?", (seq,)).fetchone()
    other = data.draw(st.sampled_from([one for one in OTHER[type(value)] if (type(one), one) != (type(value), value)]))

    def change(db: sqlite3.Connection) -> None:
        try:
            db.execute(f"UPDATE {table} SET {column} = ? WHERE seq = ?", (other, seq))
        except sqlite3.Error:  # NOT NULL, or a key of the table: no such change is possible
            db.execute(f"UPDATE {table} SET chain = zeroblob(32) WHERE seq = ?", (seq,))
        (now,) = db.execute(f"SELECT {column} FROM {table} WHERE seq = ?", (seq,)).fetchone()
        if (type(now), now) == (type(value), value):  # the column's type made it the same again
            db.execute(f"UPDATE {table} SET chain = zeroblob(32) WHERE seq = ?", (seq,))

    assert seq in {fault.seq for fault in changed(journal, change)}


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_removed_record_is_named(journal: Path, data: st.DataObject) -> None:
    with reading(journal) as db:
        records = order(db)
    seq, table = data.draw(st.sampled_from(records[:-1]))
    faults = changed(journal, lambda db: db.execute(f"DELETE FROM {table} WHERE seq = ?", (seq,)))
    assert [(fault.seq, "is missing" in fault.what) for fault in faults] == [(seq, True)]


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_record_put_in_is_named(journal: Path, data: st.DataObject) -> None:
    with reading(journal) as db:
        last, _ = order(db)[-1]
        seq, _ = data.draw(st.sampled_from([one for one in order(db) if one[1] != "signals"]))

    def put_in(db: sqlite3.Connection) -> None:
        """A signal nobody gave, with a number that is taken by a record of another table."""
        db.execute("INSERT INTO signals VALUES (1, 1, 'stop', 'supervised', 0, ?, zeroblob(32))", (seq,))

    assert seq in {fault.seq for fault in changed(journal, put_in)}

    def put_behind(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO signals VALUES (1, 1, 'stop', 'supervised', 0, ?, zeroblob(32))", (last + 1,))

    assert [fault.seq for fault in changed(journal, put_behind)] == [last + 1]


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_two_records_that_changed_places_are_named(journal: Path, data: st.DataObject) -> None:
    with reading(journal) as db:
        events = [seq for seq, table in order(db) if table == "events"]
    one, other = sorted(data.draw(st.lists(st.sampled_from(events), min_size=2, max_size=2, unique=True)))

    def swap(db: sqlite3.Connection) -> None:
        for now, then in ((one, -1), (other, one), (-1, other)):
            db.execute("UPDATE events SET seq = ? WHERE seq = ?", (then, now))

    assert {one, other} <= {fault.seq for fault in changed(journal, swap)}


def rechained(db: sqlite3.Connection, since: int) -> None:
    """What a forger without the key does: every chain value from `since` on made to fit what stands there."""
    (link,) = next(
        found
        for table in TABLES.values()
        if (found := db.execute(f"SELECT chain FROM {table} WHERE seq = ?", (since - 1,)).fetchone())
    )
    for seq, table in order(db):
        if seq < since:
            continue
        if table == "checkpoints":
            db.execute("UPDATE checkpoints SET head = ? WHERE seq = ?", (link, seq))
        names = NAMES[KINDS[table]]
        values = db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE seq = ?", (seq,)).fetchone()
        link = chain.link(link, chain.text(table, seq, names, values))
        db.execute(f"UPDATE {table} SET chain = ? WHERE seq = ?", (link, seq))


def test_a_forger_who_makes_the_whole_chain_anew_is_caught_at_the_next_checkpoint(journal: Path) -> None:
    with reading(journal) as db:
        (forged,) = db.execute("SELECT min(seq) FROM events WHERE kind = 'Draw'").fetchone()
        later = [seq for (seq,) in db.execute("SELECT seq FROM checkpoints WHERE seq > ?", (forged,))]

    def forge(db: sqlite3.Connection) -> None:
        db.execute("UPDATE events SET body = '{}' WHERE seq = ?", (forged,))
        rechained(db, forged)

    faults = changed(journal, forge)
    assert [fault.seq for fault in faults] == later
    assert all("the signature does not fit" in fault.what for fault in faults)


def test_a_forger_who_takes_out_the_checkpoints_too_is_caught(journal: Path) -> None:
    def forge(db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM checkpoints")
        for table in TABLES.values():  # numbers without a gap
            db.execute(f"UPDATE {table} SET seq = -seq")
        for new, (old, table) in enumerate(sorted(((-seq, table) for seq, table in order(db)), key=lambda x: x[0]), 1):
            db.execute(f"UPDATE {table} SET seq = ? WHERE seq = ?", (new, -old))
        rechained(db, 2)

    faults = changed(journal, forge)
    assert any("carry no signature of this key at all" in fault.what for fault in faults)


def put(db: sqlite3.Connection, seq: int, link: bytes, entry: Entry) -> bytes:
    """A record as the program would write it, by someone who has read its source."""
    kind = type(entry)
    names, values = NAMES[kind], VALUES[kind](entry)
    link = chain.link(link, chain.text(TABLES[kind], seq, names, values))
    db.execute(
        f"INSERT INTO {TABLES[kind]} ({', '.join(names)}, seq, chain) VALUES ({', '.join('?' * (len(names) + 2))})",
        (*values, seq, link),
    )
    return link


def test_a_forger_who_says_that_an_earlier_version_wrote_it_is_caught(journal: Path) -> None:
    """What an upgrade chained nobody signed: so an upgrade in the middle would cover anything."""
    with reading(journal) as db:
        last, _ = order(db)[-1]

    def forge(db: sqlite3.Connection) -> None:
        (link,) = db.execute("SELECT chain FROM checkpoints WHERE seq = ?", (last,)).fetchone()
        for seq in range(last + 1, last + 1_500):
            link = put(db, seq, link, Fact(10_000 + seq, "console", b"award", 0, 0))
        put(db, last + 1_500, link, RunRow("upgrade", "dealershoe", "host", "who", "from version 3", 0, 0))

    faults = changed(journal, forge)
    assert any(fault.seq == last + 1_500 and "an earlier version wrote" in fault.what for fault in faults)
    assert any(fault.seq == last + 1 and "carry no signature" in fault.what for fault in faults)


@pytest.mark.parametrize("seq", [0, -1, -(2**63)])
def test_a_record_put_in_where_no_numbers_are_is_named(journal: Path, seq: int) -> None:
    """The chain begins with 1; a question for a hand would find it all the same."""

    def put_in(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO signals VALUES (1, 1, 'stop', 'supervised', 0, ?, zeroblob(32))", (seq,))

    assert [fault.seq for fault in changed(journal, put_in)] == [seq]


def test_a_record_put_in_where_others_were_pruned_is_named(journal: Path, tmp_path: Path) -> None:
    copy = tmp_path / "pruned"
    shutil.copy(journal, copy)
    with Journal(copy, KEY) as pruned:
        pruned.prune(pruned.rows(HandRow)[2][0], "me", "old")
    assert verified(copy) == []

    def put_in(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO signals VALUES (1, 1, 'stop', 'supervised', 0, 5, zeroblob(32))")

    assert [fault.seq for fault in changed(copy, put_in)] == [5]


def redefined(db: sqlite3.Connection, index: str, meanwhile: Callable[[], Any]) -> None:
    """Takes an index out of the schema, changes something, and puts it back as it was: it has not seen the change."""
    row = db.execute(
        "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE name = ?", (index,)
    ).fetchone()
    db.execute("PRAGMA writable_schema = ON")
    db.execute("DELETE FROM sqlite_master WHERE name = ?", (index,))
    db.execute("PRAGMA writable_schema = RESET")
    meanwhile()
    db.execute("PRAGMA writable_schema = ON")
    db.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
    db.execute("PRAGMA writable_schema = RESET")


def test_a_fact_that_is_kept_out_of_the_order_of_writing_is_named(journal: Path) -> None:
    """Whoever asks for a hand's facts would be told it, whoever reads them in order of writing would not."""

    def forge(db: sqlite3.Connection) -> None:
        fact = "INSERT INTO facts (id, origin, raw, mono_ns, wall_ns, seq, chain) VALUES (9999, 'x', x'', 0, 0, 4, x'')"
        redefined(db, "facts_order", lambda: db.execute(fact))

    assert any(fault.seq == 4 and "is hidden" in fault.what for fault in changed(journal, forge))


def test_a_ruling_that_its_index_does_not_find_is_named(journal: Path) -> None:
    """`journal show` asks the index: the ruling would be in the file, chained and signed, and be shown to nobody."""
    with reading(journal) as db:
        (seq,) = db.execute("SELECT min(seq) FROM rulings").fetchone()

    def forge(db: sqlite3.Connection) -> None:
        (*values, fact) = db.execute(f"SELECT {', '.join(NAMES[RulingRow])}, chain, fact FROM rulings "
                                     "WHERE seq = ?", (seq,)).fetchone()  # fmt: skip
        marks = ", ".join("?" * len(NAMES[RulingRow]))
        db.execute("DELETE FROM rulings WHERE seq = ?", (seq,))
        again = f"INSERT INTO rulings ({', '.join(NAMES[RulingRow])}, seq, chain) VALUES ({marks}, {seq}, ?)"
        redefined(db, "rulings_fact", lambda: db.execute(again, values))
        assert db.execute("SELECT count(*) FROM rulings WHERE fact = ?", (fact,)).fetchone() == (0,)

    assert any(fault.seq == seq and "is hidden" in fault.what for fault in changed(journal, forge))


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO journal VALUES (zeroblob(16))",
        "DELETE FROM journal",
        "UPDATE journal SET identity = 'another'",
        "UPDATE journal SET identity = x'00'",
    ],
)
def test_a_journal_with_another_name_than_one_of_sixteen_bytes_is_none(journal: Path, change: str) -> None:
    faults = changed(journal, lambda db: db.execute(change))
    assert [fault.seq for fault in faults] == [1]
    assert "names, not one of 16 bytes" in faults[0].what


def test_another_journals_checkpoint_fits_nowhere(journal: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    record(other, 2, 8, KEY)
    with reading(other) as db:
        row = db.execute("SELECT head, wall_ns, key, signature FROM checkpoints LIMIT 1").fetchone()
    assert CheckpointRow(*row).key in KEYS

    def change(db: sqlite3.Connection) -> None:
        db.execute("UPDATE checkpoints SET head = ?, wall_ns = ?, key = ?, signature = ? WHERE seq = 5", row)
        db.execute(
            "UPDATE checkpoints SET head = ?, wall_ns = ?, key = ?, signature = ? "
            "WHERE seq = (SELECT min(seq) FROM checkpoints)",
            row,
        )

    assert any("the signature does not fit" in fault.what for fault in changed(journal, change))


def test_a_journal_cut_at_a_record_is_caught_by_a_checkpoint_that_was_noted_elsewhere(journal: Path) -> None:
    """The file alone cannot show it: what is left is a journal as it once was."""
    with reading(journal) as db:
        last = order(db)[-1][0]
        seen = dict(db.execute("SELECT seq, chain FROM checkpoints").fetchall())
        middle = sorted(seen)[2]

    def cut(db: sqlite3.Connection) -> None:
        for table in TABLES.values():
            db.execute(f"DELETE FROM {table} WHERE seq > ?", (middle,))

    assert changed(journal, cut) == []
    found = verified(journal.with_name("changed"), seen=seen)
    assert [fault.seq for fault in found] == sorted(seq for seq in seen if seq > middle)
    assert "cut off" in found[0].what
    assert verified(journal, seen=seen) == []
    assert last in seen


def test_a_key_that_was_not_given_is_named(journal: Path) -> None:
    stranger = raw_public(new_key().public_key())
    with reading(journal) as db:
        faults = list(Check(db, {key_id(stranger): stranger}).run())
    assert len(faults) == HANDS
    assert all("which was not given" in fault.what for fault in faults)


def test_without_a_checkpoint_no_more_than_a_thousand_records_are_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", KEY) as journal:
        journal.write(Fact(number, "console", b"ack", 0, 0) for number in range(1, 2_501))
        assert len(journal.rows(CheckpointRow)) == 2
    assert verified(tmp_path / "journal") == []


def test_a_clock_that_went_back_is_told(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", KEY) as journal:
        for number, wall_ns in enumerate((5_000, 9_000, 4_000, 10_000), 1):
            journal.write([Fact(number, "console", b"ack", number, wall_ns)])
    with reading(tmp_path / "journal") as db:
        check = Check(db, KEYS)
        assert list(check.run()) == []
        assert check.clock_back == [(3, 5_000)]
