"""Is a journal what was written? Every record held against the chain, every checkpoint against the key. For everyone.

Needs the file and the public key, nothing else. What it cannot see is said in docs/record.md. It reads a record at a
time: memory does not grow with the journal.
"""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dealershoe.entries import NAMES, TABLES, CheckpointRow, Entry, Fact, HandRow, PruneRow, RunRow
from dealershoe.record import chain
from dealershoe.record.checkpoint import genuine, pruning, statement
from dealershoe.record.schema import CHAINED_FIRST, EARLIER

EVERY = 1_000  # records between two checkpoints, at most: some twenty hands
UPGRADE = "upgrade"  # kind of the run that chained what an earlier version had written
Keys = Mapping[str, bytes]  # id → the 32 bytes of a public key
IDENTITY = 16  # bytes
_UNFOUND = re.compile(r"row ([0-9]+) missing from index (\w+)")  # SQLite's word for a row that its index hides


class Fault(NamedTuple):
    """What is wrong with a record, or with the place where it should be."""

    seq: int
    what: str

    def __str__(self) -> str:
        return f"record {self.seq}{self.what}"


class Record(NamedTuple):
    """A record as it stands in the file."""

    seq: int
    kind: type[Entry]
    chain: Any
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """For a person: its table, and the fact that it is or speaks of."""
        about = dict(zip(NAMES[self.kind], self.values, strict=True))
        fact = about.get("id" if self.kind is Fact else "fact")
        return TABLES[self.kind] + (f", fact {fact}" if fact is not None else "")


class Check:
    """One reading of a journal. After `run`: how many records, checkpoints and hands there were, how far it is signed.

    `after`: begin behind this record, whose chain value is believed. `keys`: hold signatures against these; without
    any, signatures are not looked at. `seen`: chain values that were noted elsewhere, by record.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        keys: Keys | None = None,
        after: int = 0,
        seen: Mapping[int, bytes] | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._db = db
        self._keys = keys
        self._seen = dict(seen or {})
        self._progress = progress
        self._prior: set[Any] = set()  # chain values that the record before may have; empty: it is not known
        self.first = after + 1
        self.last = after
        self.records = self.checkpoints = self.hands = 0
        self.signed_up_to = after  # the last checkpoint's record
        self.pruned_up_to = 0
        self.upgraded_up_to = 0
        self.clock_back: list[tuple[int, int]] = []  # (fact, nanoseconds): the wall clock went back before it
        self._wall_ns = 0
        self._whole = not after
        self._chained = bool(after)  # a record was met that no earlier version could have written

    def run(self) -> Iterator[Fault]:
        """Every fault, in order of records."""
        factory, self._db.text_factory = self._db.text_factory, lambda raw: raw.decode("utf-8", "surrogateescape")
        try:
            identities = [row[0] for row in self._db.execute("SELECT identity FROM journal").fetchall()]
            if [type(one) is bytes and len(one) for one in identities] != [IDENTITY]:
                yield Fault(self.first, f" on: the journal has {len(identities)} names, not one of {IDENTITY} bytes")
                return
            (identity,) = identities
            yield from self._begin(identity)
            yield from self._hidden()
            for record in self.records_after(self.last):
                yield from self._record(identity, record)
                if self.records % 10_000 == 0:
                    self._progress(self.records)
            yield from self._end()
        except (sqlite3.Error, _NoNumberError) as error:
            yield Fault(self.last + 1, f": the file cannot be read on from here ({' '.join(str(error).split())})")
        finally:
            self._db.text_factory = factory

    def _begin(self, identity: bytes) -> Iterator[Fault]:
        if self.last:
            for table in TABLES.values():
                rows = self._db.execute(f"SELECT chain FROM {table} WHERE seq = ?", (self.last,)).fetchall()
                self._prior |= {value for (value,) in rows}
            return
        self._prior = {chain.start(identity)}
        names = ", ".join(NAMES[PruneRow])
        row = self._db.execute(f"SELECT {names}, seq FROM prunings ORDER BY last DESC LIMIT 1").fetchone()
        if row is None:
            return
        pruned = PruneRow(*row[:-1])
        if self._keys is not None:
            public = self._keys.get(pruned.key)
            if public is None or not genuine(public, pruned.signature, pruning(identity, pruned)):
                yield Fault(row[-1], f" (prunings): no key given signed that records up to {pruned.last} be taken out")
        self.last = self.pruned_up_to = self.signed_up_to = pruned.last
        self.first = self.last + 1
        self._prior = {pruned.head}

    def _hidden(self) -> Iterator[Fault]:
        """Rows that a reading in order of numbers would not meet, though a question for a hand or a fact would.

        And the other way round: rows that an index hides from such a question.
        """
        (pruned,) = self._db.execute("SELECT coalesce(max(last), 0) FROM prunings").fetchone()
        for table in TABLES.values():
            rows = self._db.execute(f"SELECT seq FROM {table} WHERE seq <= ? ORDER BY seq", (pruned,)).fetchall()
            for (seq,) in rows:
                yield Fault(seq, f" ({table}) was put in: no record here has a number below {pruned + 1}")
        for (said,) in self._db.execute("PRAGMA integrity_check") if self._whole else ():
            found = _UNFOUND.fullmatch(said)
            if found is not None:
                yield self._unfound(int(found[1]), found[2])
            elif said != "ok":
                yield Fault(self.first, f" on: the file is not whole ({' '.join(said.split())})")

    def _unfound(self, row: int, index: str) -> Fault:
        """`row`: counted from the table's first."""
        (table,) = self._db.execute("SELECT tbl_name FROM sqlite_master WHERE name = ?", (index,)).fetchone()
        (seq,) = self._db.execute(
            f"SELECT seq FROM {table} NOT INDEXED ORDER BY rowid LIMIT 1 OFFSET ?", (row - 1,)
        ).fetchone()
        return Fault(seq, f" ({table}) is hidden: the index {index} was changed so as not to find it")

    def records_after(self, after: int) -> Iterator[Record]:
        """Every record behind `after`, in order of writing."""
        return heapq.merge(*(self._table(kind, after) for kind in TABLES), key=_number)

    def _table(self, kind: type[Entry], after: int) -> Iterator[Record]:
        names = ", ".join(NAMES[kind])
        sql = f"SELECT seq, chain, {names} FROM {TABLES[kind]} WHERE seq > ? ORDER BY seq"
        for row in self._db.execute(sql, (after,)):
            if type(row[0]) is not int:
                raise _NoNumberError(f"a record of {TABLES[kind]} has no number")
            yield Record(row[0], kind, row[1], row[2:])

    def _record(self, identity: bytes, record: Record) -> Iterator[Fault]:
        seq, kind, stored, values = record
        if seq <= self.last:
            yield Fault(seq, f" ({record.name}) was put in: the number is taken")
            return
        if seq > self.last + 1:
            upto = f" to {seq - 1}" if seq - 1 > self.last + 1 else ""
            yield Fault(self.last + 1, f"{upto} is missing: taken out, or moved")
            self._prior = set()
        text = chain.text(TABLES[kind], seq, NAMES[kind], values)
        could_be = {chain.link(prior, text) for prior in self._prior if type(prior) is bytes}
        if could_be and stored not in could_be:
            yield Fault(seq, f" ({record.name}) is not what was written: changed, put in, or moved")
        yield from self._noted(seq, stored)
        if kind is CheckpointRow:
            yield from self._checkpoint(identity, record)
        elif kind is HandRow:
            self.hands += 1
        elif kind is RunRow and values[0] == UPGRADE:
            if self._chained or self.pruned_up_to:
                yield Fault(
                    seq, " (runs) says that an earlier version wrote what stands before it, which it cannot have"
                )
            else:
                self.upgraded_up_to = self.signed_up_to = seq
        elif kind is Fact and type(values[4]) is int:
            if values[4] < self._wall_ns:
                self.clock_back.append((values[0], self._wall_ns - values[4]))
            self._wall_ns = values[4]
        if self._keys is not None and seq - self.signed_up_to > EVERY:
            yield Fault(self.signed_up_to + 1, f" to {seq} carry no signature, and there is one every {EVERY} records")
            self.signed_up_to = seq
        self._chained = self._chained or TABLES[kind] not in EARLIER[CHAINED_FIRST - 1]
        self._prior = {stored} | (could_be - {stored} if stored not in could_be else set())
        self.last = seq
        self.records += 1

    def _noted(self, seq: int, stored: Any) -> Iterator[Fault]:
        noted = self._seen.pop(seq, stored)
        if noted != stored:
            yield Fault(seq, " has another chain value than was noted elsewhere: it, or one before it, was rewritten")

    def _checkpoint(self, identity: bytes, record: Record) -> Iterator[Fault]:
        row = CheckpointRow(*record.values)
        if self._prior and row.head not in self._prior:
            yield Fault(
                record.seq,
                f" (checkpoints) signs another chain value than the record before has: "
                f"a record from {self.signed_up_to + 1} on was rewritten",
            )
        if self._keys is not None:
            public = self._keys.get(row.key) if isinstance(row.key, str) else None
            if public is None:
                yield Fault(record.seq, f" (checkpoints) is signed by the key {row.key}, which was not given")
            elif not _signed(public, row, statement, identity, record.seq):
                yield Fault(record.seq, " (checkpoints): the signature does not fit")
        self.checkpoints += 1
        self.signed_up_to = record.seq

    def _end(self) -> Iterator[Fault]:
        for seq in sorted(self._seen):
            where = "is not there" if seq > self.last else "was pruned, or stands before the reading"
            yield Fault(seq, f", noted elsewhere, {where}" + (": the journal was cut off" if seq > self.last else ""))
        if self._keys is not None and self.records and not self.checkpoints:
            yield Fault(self.first, f" to {self.last} carry no signature of this key at all")


class _NoNumberError(Exception):
    """A record whose number is no integer."""


def _number(record: Record) -> int:
    return record.seq


def _signed(
    public: bytes, row: CheckpointRow, said: Callable[[bytes, int, CheckpointRow], bytes], identity: bytes, seq: int
) -> bool:
    try:
        return genuine(public, row.signature, said(identity, seq, row))
    except (AttributeError, TypeError, UnicodeEncodeError):  # a value of another type was put in
        return False
