"""Brings a journal of an earlier version up to this one, in one transaction: all of it or nothing. For the journal.

What stood in it stays as it was. From before there was a chain, every record becomes a link of it: fact by fact, each
with what was made of it. Nobody has signed those records before; the run that is written behind them says so.
"""

from __future__ import annotations

import getpass
import heapq
import os
import platform
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dealershoe import __version__
from dealershoe.entries import KINDS, NAMES, TABLES, VALUES, Entry, RunRow
from dealershoe.record import chain
from dealershoe.record.schema import CHAINED, EARLIER, REQUESTS, SCHEMA, VERSION

# What later versions added and no earlier one knew, as it is said of those records.
_UNKNOWN: dict[str, dict[str, Any]] = {
    "rulings": {"version": "", "digest": ""},
    "devices": {"schema": b"", "proven": 0},
}
_ORDER = {"facts": 1, "events": 2, "rulings": 3, "signals": 4}  # of what belongs to one fact
TOLD = 10_000  # records between two words of progress


class _Old(NamedTuple):
    fact: int
    order: int
    row: int
    table: str
    values: dict[str, Any]


def user() -> str:
    """Who runs this program, as the system knows it, "" where it does not."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no name for this user id (a bare container); no such notion (Windows)
        return ""


def run_row(kind: str, note: str, mono_ns: int, wall_ns: int) -> RunRow:
    """This program, here and now."""
    return RunRow(kind, f"dealershoe {__version__}", platform.node(), user(), note, mono_ns, wall_ns)


def upgrade(db: sqlite3.Connection, clock: Callable[[], int], progress: Callable[[int], None]) -> None:
    """Bring the tables up to `VERSION`. The database is whole, of an earlier version or of this one: then nothing."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if version in CHAINED:
            _make(db, REQUESTS)
        else:
            _convert(db, version, clock, progress)
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the version stands in the file itself


def _convert(db: sqlite3.Connection, version: int, clock: Callable[[], int], progress: Callable[[int], None]) -> None:
    for index in ("facts_once", "events_kind"):
        db.execute(f"DROP INDEX {index}")
    for table in EARLIER[version]:
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    _make(db, SCHEMA)
    identity = os.urandom(16)
    db.execute("INSERT INTO journal VALUES (?)", (identity,))
    link = chain.start(identity)
    seq = 0
    for old in _in_order(db, version):
        kind = KINDS[old.table]
        known = _UNKNOWN.get(old.table, {}) | old.values
        seq, link = _put(db, kind, tuple(known.get(name) for name in NAMES[kind]), seq, link)
        if seq % TOLD == 0:
            progress(seq)
    row = run_row("upgrade", f"from version {version}: {seq} records", time.monotonic_ns(), clock())
    _put(db, RunRow, VALUES[RunRow](row), seq, link)
    for table in EARLIER[version]:
        db.execute(f"DROP TABLE old_{table}")


def _make(db: sqlite3.Connection, tables: str) -> None:
    for statement in tables.split(";"):  # executescript would commit
        if statement.strip():
            db.execute(statement)


def _put(
    db: sqlite3.Connection, kind: type[Entry], values: tuple[Any, ...], seq: int, link: bytes
) -> tuple[int, bytes]:
    names = NAMES[kind]
    link = chain.link(link, chain.text(TABLES[kind], seq + 1, names, values))
    db.execute(
        f"INSERT INTO {TABLES[kind]} ({', '.join(names)}, seq, chain) VALUES ({', '.join('?' * (len(names) + 2))})",
        (*values, seq + 1, link),
    )
    return seq + 1, link


def _in_order(db: sqlite3.Connection, version: int) -> Iterator[_Old]:
    return heapq.merge(*(_old(db, table, columns) for table, columns in EARLIER[version].items()))


def _old(db: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[_Old]:
    """A table's rows in order of the facts that they belong to; what belongs to none comes first."""
    fact = {"facts": "id", "devices": "0"}.get(table, "coalesce(fact, 0)")
    sql = f"SELECT {fact}, rowid, {', '.join(columns)} FROM old_{table} ORDER BY 1, 2"
    for row in db.execute(sql):
        yield _Old(row[0], _ORDER.get(table, 0), row[1], table, dict(zip(columns, row[2:], strict=True)))
