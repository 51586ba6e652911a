"""The bridge's journal: one SQLite file that keeps every fact as it came, and what was made of it.

For the bridge, and for whoever must show afterwards what happened. A fact is a frame of the shoe, a person's line or
the bridge's own word ("align"), in one order. Events, findings, rulings and signals are derived from facts and point at
them, so the hand in play is rebuilt by telling the facts again. Every record is a link of a hash chain, and checkpoints
of the chain are signed: docs/record.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dealershoe.entries import (
    BRIDGE,
    HAND,
    NAMES,
    RULES,
    SHOE,
    TABLES,
    VALUES,
    ConflictRow,
    Entry,
    Fact,
    HandRow,
    PackRow,
    PruneRow,
)
from dealershoe.errors import UserError
from dealershoe.record import chain
from dealershoe.record.checkpoint import Signer
from dealershoe.record.head import HeadFile, head_path, read_head
from dealershoe.record.opening import damaged, hold, is_held, is_new, is_no_device
from dealershoe.record.schema import APPLICATION_ID, SCHEMA, VERSION, last_record
from dealershoe.record.upgrade import upgrade
from dealershoe.record.verify import EVERY, Check

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locks are all there is
    fcntl = None  # type: ignore[assignment]


CACHE_KB = 256  # of pages; SQLite's 2,000 fill up by 0.4 kB a card, half a gigabyte for a room of 256 tables (measured)
LATEST = 2_000  # facts: some twenty hands
TAIL = 2_000  # records at the end whose chain is held against what stands in them, at opening

# A fact that is there already stays as it is (a card keeps its first, authoritative report), and so does a pack's file.
_ONCE = {
    Fact: " ON CONFLICT (journal, number) WHERE journal IS NOT NULL DO NOTHING",
    PackRow: " ON CONFLICT (digest) DO NOTHING",
}
_INSERT: dict[type[Entry], str] = {
    kind: f"INSERT INTO {table} ({', '.join(NAMES[kind])}, seq, chain) "
    f"VALUES ({', '.join('?' * (len(NAMES[kind]) + 2))}){_ONCE.get(kind, '')}"
    for kind, table in TABLES.items()
}
_FACT = ", ".join(NAMES[Fact])


class Journal:
    """An open journal. One owner, one thread at a time; `write` is durable when it returns (WAL, synchronous=FULL)."""

    def __init__(
        self,
        path: Path,
        key: Ed25519PrivateKey | None = None,
        clock: Callable[[], int] = time.time_ns,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Open `path`, make it, or bring it up to this version. Raises UserError, the file untouched, when it cannot.

        `key` signs checkpoints, at each hand, every `EVERY` records and at closing; without one there are none.
        `clock`: nanoseconds since 1970. `progress`: told how many records of an earlier version are done.
        """
        self.path = path
        self._signer = None if key is None else Signer(key)
        self._clock = clock
        self._lock = _claim(path)
        try:
            new = is_new(path)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=False)
            self._let_go = hold(path)
        except BaseException:
            self._lock.close()
            raise
        self._head: HeadFile | None = None
        try:
            self._prepare(new, progress)
            self._head = HeadFile(path)
            self._head.write(self.records, self._chain)
        except sqlite3.Error as error:
            self._release()
            raise damaged(path, str(error)) from error
        except BaseException:
            self._release()
            raise

    def _prepare(self, new: bool, progress: Callable[[int], None]) -> None:
        if new:  # before WAL, so that `is_new` finds the marks in the file itself
            self._db.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {SCHEMA}"
                f"INSERT INTO journal VALUES (X'{os.urandom(16).hex()}'); COMMIT;"
            )
        upgrade(self._db, self._clock, progress)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        (self.identity,) = self._db.execute("SELECT identity FROM journal").fetchone()
        self.records, self._chain = last_record(self._db) or (0, chain.start(self.identity))
        self._signed = self.records  # records that the last checkpoint has signed, and that itself
        self._held_against_head()
        (pruned,) = self._db.execute("SELECT coalesce(max(last), 0) FROM prunings").fetchone()
        tail = self.records - TAIL
        check = Check(self._db, after=tail if tail > pruned else 0)
        for fault in check.run():
            raise damaged(self.path, str(fault))
        self._signed = check.signed_up_to

    def _held_against_head(self) -> None:
        head = read_head(self.path)
        if head is None or head.seq < self.records or (head.seq, head.chain) == (self.records, self._chain):
            return
        there = f"its last record is {self.records}, but record {head.seq} has been written"
        same = f"its last record, {self.records}, is another than was written"
        raise UserError(
            f"the journal {self.path} is damaged ({there if head.seq > self.records else same})",
            "it was cut off, or an older copy was put in its place",
            f"keep it as it is and start a new journal with --journal; an older copy is taken once "
            f"{head_path(self.path).name} is removed",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Sign what is not signed yet, and close the file."""
        if self._signer is not None and self.records > self._signed:
            with contextlib.suppress(sqlite3.Error):  # a disk that refuses: the chain covers what was committed
                self.write((), sign=True)
        self._release()

    def _release(self) -> None:
        """The database first: closing another descriptor of the file would drop SQLite's own locks."""
        self._db.close()
        if self._head is not None:
            self._head.close()
        self._lock.close()
        self._let_go()

    def write(self, entries: Iterable[Entry], *, sign: bool = False) -> None:
        """Write `entries` in one transaction, in order. Raises sqlite3.Error; then none of them is written.

        `sign`: end with a checkpoint, whatever they are.
        """
        seq, link, signed = self.records, self._chain, self._signed
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for entry in entries:
                self._put(entry)
                sign = sign or type(entry) is HandRow
                if self.records - self._signed >= EVERY - 1:
                    self._sign()
            if sign:
                self._sign()
            self._db.execute("COMMIT")
        except BaseException:
            self.records, self._chain, self._signed = seq, link, signed
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        if self._head is not None:
            self._head.write(self.records, self._chain)

    def _sign(self) -> None:
        if self._signer is not None:
            self._put(self._signer.checkpoint(self.identity, self.records + 1, self._chain, self._clock()))
            self._signed = self.records

    def _put(self, entry: Entry) -> None:
        kind = type(entry)
        values = VALUES[kind](entry)
        seq = self.records + 1
        link = chain.link(self._chain, chain.text(TABLES[kind], seq, NAMES[kind], values))
        if self._db.execute(_INSERT[kind], (*values, seq, link)).rowcount:
            self.records, self._chain = seq, link
        elif isinstance(entry, Fact):
            self._again(entry)

    def _again(self, fact: Fact) -> None:
        """A number of the shoe's a second time: the same report is nothing new, another one is kept beside it."""
        assert fact.journal is not None
        assert fact.number is not None
        (raw,) = self._db.execute(
            "SELECT raw FROM facts WHERE journal = ? AND number = ?", (fact.journal, fact.number)
        ).fetchone()
        if raw != fact.raw:
            self._put(ConflictRow(fact.journal, fact.number, fact.raw, fact.mono_ns, fact.wall_ns))

    def prune(self, fact: int, who: str, why: str) -> int:
        """Take out every record before fact `fact`, which is a hand's first, and what was made of it.

        Packs stay. A signed record of it is written behind all others, so that the rest still verifies. Returns how
        many records are gone; raises sqlite3.Error, nothing changed.
        """
        assert self._signer is not None
        seq, link, signed = self.records, self._chain, self._signed
        try:
            self._db.execute("BEGIN IMMEDIATE")
            (last,) = self._db.execute("SELECT seq - 1 FROM facts WHERE id = ?", (fact,)).fetchone()
            marks = json.dumps({journal.hex(): number for journal, number in self._marks(last).items()})
            head = next(
                row[0]
                for table in TABLES.values()
                if (row := self._db.execute(f"SELECT chain FROM {table} WHERE seq = ?", (last,)).fetchone())
            )
            names = ", ".join(NAMES[PackRow])
            packs = self._db.execute(f"SELECT {names} FROM packs WHERE seq <= ? ORDER BY seq", (last,)).fetchall()
            gone = 0
            for table in TABLES.values():
                gone += self._db.execute(f"DELETE FROM {table} WHERE seq <= ?", (last,)).rowcount
            for pack in packs:
                self._put(PackRow(*pack))
            row = PruneRow(last, head, marks, who, why, self._clock(), "", b"")
            self._put(self._signer.pruning(self.identity, row))
            self._sign()
            self._db.execute("COMMIT")
        except BaseException:
            self.records, self._chain, self._signed = seq, link, signed
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("VACUUM")  # what was taken out is gone from the file too
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if self._head is not None:
            self._head.write(self.records, self._chain)
        return gone

    def stored(self) -> dict[bytes, int]:
        """For each journal of a shoe, the highest number stored here, pruned since or not: what the shoe may forget."""
        return self._marks(self.records)

    def _marks(self, last: int) -> dict[bytes, int]:
        """As of record `last`."""
        marks: dict[bytes, int] = {}
        for (said,) in self._db.execute("SELECT marks FROM prunings ORDER BY seq"):
            marks.update({bytes.fromhex(journal): number for journal, number in json.loads(said).items()})
        rows = self._db.execute(
            "SELECT journal, max(number) FROM facts WHERE journal IS NOT NULL AND seq <= ? GROUP BY journal", (last,)
        )
        for journal, number in rows:
            marks[journal] = max(number, marks.get(journal, 0))
        return marks

    def stored_up_to(self, journal: bytes) -> int | None:
        """The highest number stored of that journal of a shoe, None when nothing is."""
        return self.stored().get(journal)

    def next_fact(self) -> int:
        """The id that the next fact gets."""
        (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM facts").fetchone()
        return int(last) + 1

    def last_hand(self) -> HandRow | None:
        """The hand that began last, with what it depends on; None where an earlier version has recorded them all."""
        names = ", ".join(NAMES[HandRow])
        row = self._db.execute(f"SELECT {names} FROM hands ORDER BY fact DESC LIMIT 1").fetchone()
        return HandRow(*row) if row is not None else None

    def hand_in_play(self) -> tuple[int, list[Fact]] | None:
        """The shoe's number of the last hand described in full, and all facts from it on; None when there is none.

        Before them the fact that says by which rules it began, where there is one. It is how a table goes on from a
        journal whose hands an earlier version has recorded.
        """
        row = self._db.execute(
            "SELECT fact, hand FROM events WHERE kind = ? ORDER BY fact DESC LIMIT 1", (HAND,)
        ).fetchone()
        if row is None:
            return None
        first, hand = row
        rules = self._db.execute(
            f"SELECT {_FACT} FROM facts WHERE id < ? AND origin = ? AND substr(raw, 1, ?) = ? ORDER BY id DESC LIMIT 1",
            (first, BRIDGE, len(RULES), RULES),
        )
        return int(hand), [*(Fact(*one) for one in rules), *self.facts(first)]

    def reports(self, kind: int, before: int, count: int) -> list[bytes]:
        """The last reports of one of the schema's kinds before fact `before`, the latest first; at most `count`.

        Looked for among the latest facts alone: what a table goes on with is not far.
        """
        rows = self._db.execute(
            "SELECT raw FROM facts WHERE id < ? AND id >= ? AND origin = ? AND substr(raw, 1, 1) = ? "
            "ORDER BY id DESC LIMIT ?",
            (before, before - LATEST, SHOE, bytes((kind,)), count),
        )
        return [raw for (raw,) in rows]

    def facts(self, first: int = 1) -> Iterator[Fact]:
        """Every fact from id `first` on, in order."""
        for row in self._db.execute(f"SELECT {_FACT} FROM facts WHERE id >= ? ORDER BY id", (first,)):
            yield Fact(*row)

    def rows(self, kind: type[Entry]) -> list[tuple[Any, ...]]:
        """Every row of the table that keeps `kind`, in order of writing."""
        return self._db.execute(f"SELECT {', '.join(NAMES[kind])} FROM {TABLES[kind]} ORDER BY seq").fetchall()


class _Claim:
    """An advisory lock on the journal's file, held while this process writes it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._file.close()
                raise _in_use(path) from error

    def close(self) -> None:
        self._file.close()


def _claim(path: Path) -> _Claim:
    is_no_device(path)
    if is_held(path):  # and not even looked at: see `opening`
        raise _in_use(path)
    try:
        return _Claim(path)
    except OSError as error:
        raise UserError(
            f"the journal {path} cannot be opened ({error.strerror})",
            "the folder is missing or may not be written",
            "make the folder or choose another file with --journal",
        ) from error


def _in_use(path: Path) -> UserError:
    return UserError(
        f"the journal {path} is in use",
        "another bridge is writing it",
        "stop that bridge or give this one a journal of its own",
    )
