"""The tables of a journal, this version's and every earlier one's. For opening, upgrading and verifying."""

from __future__ import annotations

import sqlite3

from dealershoe.entries import TABLES

APPLICATION_ID = 0x53484F45  # "SHOE", at byte 68 of the file (sqlite.org/fileformat2.html, 1.3)
VERSION = 5  # of the tables, at byte 60
CHAINED_FIRST = 4  # the version that chained records first
MAGIC = b"SQLite format 3\x00"

# Every table but `journal` holds records. `seq`: the one order of writing, over all tables; `chain`: `chain.link`.
_FOURTH = """
CREATE TABLE journal (
    identity BLOB NOT NULL       -- 16 random bytes: no other journal's signatures fit this one
);
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,      -- the one order of all facts
    origin TEXT NOT NULL,        -- shoe, bridge, or the way it was said: stdin, console, ...
    raw BLOB NOT NULL,           -- the frame, or the line, as it came
    mono_ns INTEGER NOT NULL,    -- when it came, on the host's monotonic clock
    wall_ns INTEGER NOT NULL,    -- when it came, since 1970
    journal BLOB,                -- a frame of the shoe's journal: its id and number there
    number INTEGER,
    made_ns INTEGER,             -- when the shoe made it, on the host's monotonic clock, NULL: not known
    within_ns INTEGER,           -- the truth is not farther from made_ns than this
    who TEXT,                    -- the person who said it
    backlog INTEGER,             -- 1: made by the shoe before it and this bridge met
    seq INTEGER NOT NULL, chain BLOB NOT NULL
);
CREATE UNIQUE INDEX facts_once ON facts (journal, number) WHERE journal IS NOT NULL;
CREATE UNIQUE INDEX facts_order ON facts (seq);
CREATE TABLE events (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, draw INTEGER, kind TEXT NOT NULL, body TEXT NOT NULL,
    seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE INDEX events_kind ON events (kind, fact);
CREATE INDEX events_fact ON events (fact);
CREATE TABLE hands (
    fact INTEGER NOT NULL UNIQUE REFERENCES facts, hand INTEGER NOT NULL, layers TEXT NOT NULL, before TEXT NOT NULL,
    setup TEXT NOT NULL, open_table INTEGER NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE findings (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, kind TEXT NOT NULL, seat INTEGER,
    cards TEXT NOT NULL, street TEXT NOT NULL, more TEXT NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE INDEX findings_fact ON findings (fact);
CREATE TABLE proposals (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, cards TEXT NOT NULL, misread INTEGER,
    reasons TEXT NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE INDEX proposals_fact ON proposals (fact);
CREATE TABLE rulings (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, stack TEXT NOT NULL, finding TEXT NOT NULL,
    ruling TEXT NOT NULL, rule TEXT NOT NULL, cite TEXT NOT NULL,
    layer TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, -- the pack, SHA-256 of its file
    seat INTEGER, cards TEXT NOT NULL, say TEXT NOT NULL, decider TEXT NOT NULL, signal TEXT NOT NULL,
    remedy TEXT NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE INDEX rulings_fact ON rulings (fact);
CREATE TABLE signals (
    fact INTEGER REFERENCES facts, generation INTEGER NOT NULL, signal TEXT NOT NULL, mode TEXT NOT NULL,
    mono_ns INTEGER NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE devices (
    journal BLOB NOT NULL, boot BLOB NOT NULL, device BLOB, build TEXT, digest BLOB, reset_cause INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    schema BLOB NOT NULL,        -- hash of the schema that its reports are written in
    proven INTEGER NOT NULL,     -- 1: it has proven its key
    seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE links (
    state TEXT NOT NULL, why TEXT NOT NULL, device TEXT NOT NULL, mono_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL,
    seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE packs (
    digest TEXT NOT NULL UNIQUE, pack TEXT NOT NULL, version TEXT NOT NULL, text BLOB NOT NULL,
    seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE runs (
    kind TEXT NOT NULL, program TEXT NOT NULL, host TEXT NOT NULL, who TEXT NOT NULL, note TEXT NOT NULL,
    mono_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE conflicts (
    journal BLOB NOT NULL, number INTEGER NOT NULL, raw BLOB NOT NULL, mono_ns INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE checkpoints (
    head BLOB NOT NULL, wall_ns INTEGER NOT NULL, key TEXT NOT NULL, signature BLOB NOT NULL,
    seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
CREATE TABLE prunings (
    last INTEGER NOT NULL, head BLOB NOT NULL, marks TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
    wall_ns INTEGER NOT NULL, key TEXT NOT NULL, signature BLOB NOT NULL, seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
"""
REQUESTS = """
CREATE TABLE requests (
    fact INTEGER NOT NULL REFERENCES facts,
    id TEXT NOT NULL,            -- the client's own name for what it said
    version INTEGER NOT NULL,    -- of the table, as the client was told
    refused TEXT,                -- why the table did not take it, JSON
    seq INTEGER PRIMARY KEY, chain BLOB NOT NULL
);
"""
SCHEMA = _FOURTH + REQUESTS
CHAINED = {4: _FOURTH, 5: SCHEMA}  # version → tables, since there is a chain

_FACTS = ("id", "origin", "raw", "mono_ns", "wall_ns", "journal", "number")
_EVENTS = ("fact", "hand", "draw", "kind", "body")
_RULED = ("fact", "hand", "stack", "finding", "ruling", "rule", "cite", "layer")
_RULING = ("seat", "cards", "say", "decider", "signal", "remedy")
_SIGNALS = ("fact", "generation", "signal", "mode", "mono_ns")
_DEVICES = ("journal", "boot", "device", "build", "digest", "reset_cause", "wall_ns")
_SECOND = {
    "facts": _FACTS,
    "events": _EVENTS,
    "rulings": (*_RULED, "version", "digest", *_RULING),
    "signals": _SIGNALS,
    "devices": _DEVICES,
}
EARLIER: dict[int, dict[str, tuple[str, ...]]] = {  # version → table → columns, before there was a chain
    1: {**_SECOND, "rulings": (*_RULED, *_RULING)},
    2: _SECOND,
    3: {
        **_SECOND,
        "facts": (*_FACTS, "made_ns", "within_ns"),
        "devices": (*_DEVICES, "schema", "proven"),
    },
}


def objects(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Every table, index, view and trigger of a database: kind, name, text."""
    rows = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def expected(version: int = VERSION) -> set[tuple[str, str, str]]:
    """The objects of a journal of a version that has a chain."""
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(CHAINED[version])
        return objects(db)
    finally:
        db.close()


def is_whole(db: sqlite3.Connection, version: int) -> bool:
    """Has the database exactly the tables of `version`? Not so where an upgrade was done by halves, or by another."""
    if version in CHAINED:
        return objects(db) == expected(version)
    wanted = EARLIER[version]
    tables = {name for kind, name, _ in objects(db) if kind == "table"}
    return tables == set(wanted) and all(
        tuple(row[1] for row in db.execute(f"PRAGMA table_info({table})")) == columns
        for table, columns in wanted.items()
    )


def last_record(db: sqlite3.Connection) -> tuple[int, bytes] | None:
    """Number and chain value of the last record, None when there is none."""
    found = [
        row
        for table in TABLES.values()
        for row in db.execute(f"SELECT seq, chain FROM {table} ORDER BY seq DESC LIMIT 1").fetchall()
    ]
    return max(found, default=None)
