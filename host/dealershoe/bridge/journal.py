"""The bridge's journal: one SQLite file that keeps every fact as it came, and what was made of it.

For the bridge, and for whoever must show afterwards what happened. A fact is a frame of the shoe, a person's line or
the bridge's own word ("align"), in one order. Events, rulings and signals are derived from facts and point at them, so
the hand in play is rebuilt by telling the facts again. Raw facts are blobs: they may name cards, no other column does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Self

from dealershoe.errors import UserError

try:
    import fcntl
except ImportError:  # Windows: SQLite's own locks are all there is
    fcntl = None  # type: ignore[assignment]

APPLICATION_ID = 0x53484F45  # "SHOE", at byte 68 of the file (sqlite.org/fileformat2.html, 1.3)
VERSION = 3  # of the tables, at byte 60
MAGIC = b"SQLite format 3\x00"

SCHEMA = """
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,      -- the one order of all facts
    origin TEXT NOT NULL,        -- shoe, bridge, or who said it: stdin, console, ...
    raw BLOB NOT NULL,           -- the frame, or the line, as it came
    mono_ns INTEGER NOT NULL,    -- when it came, on the host's monotonic clock
    wall_ns INTEGER NOT NULL,    -- when it came, since 1970
    journal BLOB,                -- a frame of the shoe's journal: its id and number there
    number INTEGER,
    made_ns INTEGER,             -- when the shoe made it, on the host's monotonic clock; NULL: not known
    within_ns INTEGER            -- the truth is not farther from made_ns than this
);
CREATE UNIQUE INDEX facts_once ON facts (journal, number) WHERE journal IS NOT NULL;
CREATE TABLE events (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, draw INTEGER, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX events_kind ON events (kind, fact);
CREATE TABLE rulings (
    fact INTEGER NOT NULL REFERENCES facts, hand INTEGER NOT NULL, stack TEXT NOT NULL, finding TEXT NOT NULL,
    ruling TEXT NOT NULL, rule TEXT NOT NULL, cite TEXT NOT NULL,
    layer TEXT NOT NULL, version TEXT NOT NULL, digest TEXT NOT NULL, -- the pack, SHA-256 of its file
    seat INTEGER, cards TEXT NOT NULL, say TEXT NOT NULL, decider TEXT NOT NULL, signal TEXT NOT NULL,
    remedy TEXT NOT NULL
);
CREATE TABLE signals (
    fact INTEGER REFERENCES facts, generation INTEGER NOT NULL, signal TEXT NOT NULL, mode TEXT NOT NULL,
    mono_ns INTEGER NOT NULL
);
CREATE TABLE devices (
    journal BLOB NOT NULL, boot BLOB NOT NULL, device BLOB, build TEXT, digest BLOB, reset_cause INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    schema BLOB NOT NULL,        -- hash of the schema that its reports are written in
    proven INTEGER NOT NULL      -- 1: it has proven its key
);
"""


@dataclass(frozen=True, slots=True)
class Fact:
    """What came in, before anything is made of it. `journal` and `number`: the shoe's own name for it, else None.

    `made_ns` ± `within_ns`: when the shoe made it, on the clock of `mono_ns`, None where that is not known.
    """

    id: int
    origin: str
    raw: bytes
    mono_ns: int
    wall_ns: int
    journal: bytes | None = None
    number: int | None = None
    made_ns: int | None = None
    within_ns: int | None = None


@dataclass(frozen=True, slots=True)
class EventRow:
    """A table event made of a fact; `body` is JSON without card identities."""

    fact: int
    hand: int
    draw: int | None
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class RulingRow:
    """A finding and the ruling it got; `cards` and `remedy` are JSON lists (draw numbers, step texts)."""

    fact: int
    hand: int
    stack: str
    finding: str
    ruling: str
    rule: str
    cite: str
    layer: str
    version: str
    digest: str
    seat: int | None
    cards: str
    say: str
    decider: str
    signal: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SignalRow:
    """A signal as it was sent to the shoe; `fact` is what caused it, None at the start."""

    fact: int | None
    generation: int
    signal: str
    mode: str
    mono_ns: int


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A boot of a shoe, as its HELLO and IDENT describe it."""

    journal: bytes
    boot: bytes
    device: bytes | None
    build: str | None
    digest: bytes | None
    reset_cause: int
    wall_ns: int
    schema: bytes
    proven: int


Entry = Fact | EventRow | RulingRow | SignalRow | DeviceRow
TABLES: dict[type[Entry], str] = {
    Fact: "facts", EventRow: "events", RulingRow: "rulings", SignalRow: "signals", DeviceRow: "devices",
}  # fmt: skip
# A fact that is there already stays as it is (a card keeps its first, authoritative report).
INSERT: dict[type[Entry], str] = {
    kind: "INSERT {} INTO {} ({}) VALUES ({})".format(
        "OR IGNORE" if kind is Fact else "",
        table,
        ", ".join(field.name for field in fields(kind)),
        ", ".join("?" for _ in fields(kind)),
    )
    for kind, table in TABLES.items()
}
FACT = ", ".join(field.name for field in fields(Fact))
BRIDGE = "bridge"  # origin of the bridge's own facts
RULES = b"rules "  # such a fact: which files judge from the next hand on (`shelf_pins.write_layers`)
HAND = "Hand"  # the event a rebuild starts from: it describes a table in full


class Journal:
    """An open journal. One owner, one thread at a time; `write` is durable when it returns (WAL, synchronous=FULL)."""

    def __init__(self, path: Path) -> None:
        """Open `path`, or make it. Raises UserError, the file untouched, when it is not a journal of this version."""
        self.path = path
        self._lock = _claim(path)
        try:
            new = _check(path)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=5.0, check_same_thread=False)
        except BaseException:
            self._lock.close()
            raise
        try:
            self._prepare(new)
        except sqlite3.Error as error:
            self.close()
            raise _unusable(path, str(error)) from error

    def _prepare(self, new: bool) -> None:
        if new:  # before WAL, so that `_check` finds the marks in the file itself
            self._db.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {SCHEMA} COMMIT;"
            )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. The database first: closing another descriptor of the file would drop SQLite's own locks."""
        self._db.close()
        self._lock.close()

    def write(self, entries: Iterable[Entry]) -> None:
        """Write `entries` in one transaction, in order. Raises sqlite3.Error; then none of them is written."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for entry in entries:
                self._db.execute(INSERT[type(entry)], astuple(entry))
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def stored(self) -> dict[bytes, int]:
        """For each journal of a shoe, the highest number stored here: what the shoe may forget."""
        rows = self._db.execute("SELECT journal, max(number) FROM facts WHERE journal IS NOT NULL GROUP BY journal")
        return dict(rows.fetchall())

    def stored_up_to(self, journal: bytes) -> int | None:
        """The highest number stored of that journal of a shoe, None when nothing is."""
        return self.stored().get(journal)

    def next_fact(self) -> int:
        """The id that the next fact gets."""
        (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM facts").fetchone()
        return int(last) + 1

    def hand_in_play(self) -> tuple[int, list[Fact]] | None:
        """The shoe's number of the last hand described in full, and all facts from it on; None when there is none.

        Before them the fact that says by which rules it began, where there is one.
        """
        row = self._db.execute(
            "SELECT fact, hand FROM events WHERE kind = ? ORDER BY fact DESC LIMIT 1", (HAND,)
        ).fetchone()
        if row is None:
            return None
        first, hand = row
        rules = self._db.execute(
            f"SELECT {FACT} FROM facts WHERE id < ? AND origin = ? AND substr(raw, 1, ?) = ? ORDER BY id DESC LIMIT 1",
            (first, BRIDGE, len(RULES), RULES),
        )
        return int(hand), [*(Fact(*one) for one in rules), *self.facts(first)]

    def facts(self, first: int = 1) -> Iterator[Fact]:
        """Every fact from id `first` on, in order."""
        for row in self._db.execute(f"SELECT {FACT} FROM facts WHERE id >= ? ORDER BY id", (first,)):
            yield Fact(*row)

    def rows(self, kind: type[Entry]) -> list[tuple[object, ...]]:
        """Every row of the table that keeps `kind`, in order of writing."""
        names = ", ".join(field.name for field in fields(kind))
        return self._db.execute(f"SELECT {names} FROM {TABLES[kind]} ORDER BY rowid").fetchall()


class _Claim:
    """An advisory lock on the journal's file, held while this process writes it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._file.close()
                raise UserError(
                    f"the journal {path} is in use",
                    "another bridge is writing it",
                    "stop that bridge or give this one a journal of its own",
                ) from error

    def close(self) -> None:
        self._file.close()


def _claim(path: Path) -> _Claim:
    try:
        return _Claim(path)
    except OSError as error:
        raise UserError(
            f"the journal {path} cannot be opened ({error.strerror})",
            "the folder is missing or may not be written",
            "make the folder or choose another file with --journal",
        ) from error


def _check(path: Path) -> bool:
    """Is the file new (empty)? Raises UserError when it is neither empty nor a sound journal of this version.

    The header is read as bytes: opening a foreign file with SQLite could already change it.
    """
    with path.open("rb") as file:
        head = file.read(100)
    if not head:
        return True
    if head[:16] != MAGIC or int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise UserError(
            f"{path} is not a journal of a bridge",
            "it belongs to another program",
            "choose another file with --journal",
        )
    version = int.from_bytes(head[60:64], "big")
    if version != VERSION:
        raise UserError(
            f"the journal {path} has version {version}, this bridge writes version {VERSION}",
            "it was made by another release",
            "keep it as it is and start a new journal with --journal",
        )
    # Without a log to play back, "immutable" reads the file alone and leaves no files beside it.
    how = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)
        try:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            db.close()
    except sqlite3.Error as error:
        raise _unusable(path, str(error)) from error
    if verdict != "ok":
        raise _unusable(path, str(verdict))
    return False


def _unusable(path: Path, why: str) -> UserError:
    return UserError(
        f"the journal {path} is damaged ({' '.join(why.split())})",
        "the disk failed or the file was cut off",
        "keep it as it is and start a new journal with --journal",
    )
