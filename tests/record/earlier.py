"""Journals as earlier releases wrote them, made from the tables that those releases had: for the tests of upgrade."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from dealershoe.entries import Fact
from dealershoe.record.journal import Journal
from dealershoe.record.schema import APPLICATION_ID, objects

_FACTS = """
CREATE TABLE facts (
    id INTEGER PRIMARY KEY, origin TEXT NOT NULL, raw BLOB NOT NULL, mono_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
    journal BLOB, number INTEGER{more}
);
CREATE UNIQUE INDEX facts_once ON facts (journal, number) WHERE journal IS NOT NULL;
CREATE TABLE events (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, draw INTEGER, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX events_kind ON events (kind, fact);
CREATE TABLE signals (
    fact INTEGER REFERENCES facts, generation INTEGER NOT NULL, signal TEXT NOT NULL, mode TEXT NOT NULL,
    mono_ns INTEGER NOT NULL
);
"""
_RULINGS = """
CREATE TABLE rulings (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, stack TEXT NOT NULL, finding TEXT NOT NULL,
    ruling TEXT NOT NULL, rule TEXT NOT NULL, cite TEXT NOT NULL, layer TEXT NOT NULL,{more}
    seat INTEGER, cards TEXT NOT NULL, say TEXT NOT NULL, decider TEXT NOT NULL, signal TEXT NOT NULL,
    remedy TEXT NOT NULL
);
"""
_DEVICES = """
CREATE TABLE devices (
    journal BLOB NOT NULL, boot BLOB NOT NULL, device BLOB, build TEXT, digest BLOB, reset_cause INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL{more}
);
"""
_PACK = " version TEXT NOT NULL, digest TEXT NOT NULL,"
TABLES = {
    1: _FACTS.format(more="") + _RULINGS.format(more="") + _DEVICES.format(more=""),
    2: _FACTS.format(more="") + _RULINGS.format(more=_PACK) + _DEVICES.format(more=""),
    3: _FACTS.format(more=", made_ns INTEGER, within_ns INTEGER")
    + _RULINGS.format(more=_PACK)
    + _DEVICES.format(more=", schema BLOB NOT NULL, proven INTEGER NOT NULL"),
}


def make(path: Path, version: int, hands: int = 3) -> None:
    """A journal of that version: each hand a line, three cards, a ruling, two signals."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}; {TABLES[version]} COMMIT;"
    )
    db.execute("PRAGMA journal_mode = WAL")
    made = (None, None) if version == 3 else ()
    db.execute("BEGIN")
    boot = (b"JRN1", b"boot", b"SHOE0001", "1.0", bytes(16), 1, 5, *((b"\1\2\3\4", 1) if version == 3 else ()))
    _put(db, "devices", boot)
    _put(db, "signals", (None, 1, "ready", "align", 7))
    for hand in range(1, hands + 1):
        fact = 4 * hand - 3
        _put(db, "facts", (fact, "stdin", b"hand seats=1-6 button=6", fact, fact, None, None, *made))
        _put(db, "events", (fact, hand, None, "Hand", "{}"))
        for card in range(1, 4):
            known = (900, 5) if version == 3 else ()
            _put(db, "facts", (fact + card, "shoe", bytes((97, card)), fact, fact, b"JRN1", fact + card, *known))
            _put(db, "events", (fact + card, hand, card, "Draw", '{"target": 3}'))
        pack = ("house", "1.0.0", "ab" * 32) if version > 1 else ("house",)
        ruled = ("boxed", "dead", "rule", "7", *pack, 3, "[3]", "Play on", "dealer", "attention", "[]")
        _put(db, "rulings", (fact + 3, hand, "house", *ruled))
        _put(db, "signals", (fact + 3, 2 * hand, "attention", "supervised", 8))
    db.execute("COMMIT")
    db.close()


def make_fourth(path: Path) -> set[tuple[str, str, str]]:
    """A journal of version 4, which is that of version 5 without its table of requests; what it is made of."""
    with Journal(path) as journal:
        journal.write([Fact(1, "stdin", b"hand seats=1-6 button=6", 1, 1), Fact(2, "console", b"ack", 2, 2, who="ann")])
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("DROP TABLE requests")
    db.execute("PRAGMA user_version = 4")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    found = objects(db)
    db.close()
    return found


def _put(db: sqlite3.Connection, table: str, values: tuple[object, ...]) -> None:
    db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)


def rows(path: Path, version: int) -> dict[str, list[tuple[object, ...]]]:
    """Everything that stands in it, in the columns of that version."""
    blank = sqlite3.connect(":memory:")
    blank.executescript(TABLES[version])
    db = sqlite3.connect(path)
    found = {}
    for table in ("facts", "events", "rulings", "signals", "devices"):
        columns = ", ".join(row[1] for row in blank.execute(f"PRAGMA table_info({table})"))
        found[table] = db.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()
    db.close()
    blank.close()
    return found
