"""Reads a journal without changing it: hands, and what belongs to each. For the commands of the record."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dealershoe.entries import NAMES, TABLES, Entry, Fact, HandRow, RequestRow, ToldFact
from dealershoe.errors import UserError
from dealershoe.record.opening import damaged, is_new, reading
from dealershoe.record.schema import VERSION, last_record
from dealershoe.record.verify import Check

Row = TypeVar("Row", bound=Entry)
NONSENSE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # what a value of another kind raises
END = 2**63 - 1  # no fact has a higher id


class HandSpan(NamedTuple):
    """A hand: its row, the id of the first fact that is not its own any more, when it began."""

    row: HandRow
    end: int
    wall_ns: int


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A journal of this version to read from, also while a bridge writes it. Raises UserError for anything else.

    And for what is read from it and makes no sense where it is read: such a record was not written so.
    """
    if is_new(path, pages=False):
        raise UserError(f"{path} is empty", "no bridge has written to it", "name the journal of a table")
    try:
        with reading(path) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise UserError(
                    f"the journal {path} has version {version}, these commands read version {VERSION}",
                    "it was made by an earlier release",
                    f"bring a copy of it up to date with `dealershoe journal upgrade {path.name}`",
                )
            try:
                yield db
            except NONSENSE as error:
                raise _nonsense(path, db, error) from error
    except sqlite3.Error as error:
        raise damaged(path, str(error)) from error


def _nonsense(path: Path, db: sqlite3.Connection, error: Exception) -> UserError:
    """The sentence for it, with the first record that is not as it was written, where the chain shows one."""
    fault = next(Check(db).run(), None)
    found = str(fault) if fault is not None else f"{type(error).__name__}: {error}"
    return UserError(
        f"the journal {path} has a record that makes no sense ({' '.join(found.split())})",
        "it was changed, or the disk failed",
        "hold it against the bridge's key with `dealershoe journal verify`",
    )


def between(db: sqlite3.Connection, kind: type[Row], first: int, end: int) -> Iterator[Row]:
    """The rows of a kind whose fact is `first` or later, before `end`, in order of writing."""
    fact = "id" if kind is Fact else "fact"
    make: Any = kind
    names = ", ".join(NAMES[make])
    rows = db.execute(f"SELECT {names} FROM {TABLES[make]} WHERE {fact} >= ? AND {fact} < ? ORDER BY seq", (first, end))
    for row in rows:
        yield make(*row)


def told_between(db: sqlite3.Connection, first: int, end: int) -> Iterator[ToldFact]:
    """The facts from id `first` on, before `end`, in order."""
    names = ", ".join(ToldFact._fields)
    return map(
        ToldFact._make, db.execute(f"SELECT {names} FROM facts WHERE id >= ? AND id < ? ORDER BY id", (first, end))
    )


def hands_between(db: sqlite3.Connection, first: int = 1, last: int | None = None) -> Iterator[HandSpan]:
    """Every hand that began with a fact from `first` to `last`, in order."""
    names = ", ".join(f"hands.{name}" for name in NAMES[HandRow])
    rows = db.execute(
        f"SELECT {names}, (SELECT min(later.fact) FROM hands AS later WHERE later.fact > hands.fact), facts.wall_ns "
        f"FROM hands JOIN facts ON facts.id = hands.fact WHERE hands.fact >= ? AND hands.fact <= ? ORDER BY hands.fact",
        (first, END if last is None else last),
    )
    for *values, end, wall_ns in rows:
        yield HandSpan(HandRow(*values), end or END, wall_ns)


def last_hands(db: sqlite3.Connection, count: int) -> list[HandSpan]:
    """The last hands, the latest last."""
    rows = db.execute("SELECT fact FROM hands ORDER BY fact DESC LIMIT ?", (count,)).fetchall()
    return list(hands_between(db, rows[-1][0])) if rows else []


def count_hands(db: sqlite3.Connection, first: int = 1, last: int | None = None) -> int:
    """How many hands `hands_between` gives."""
    (count,) = db.execute(
        "SELECT count(*) FROM hands WHERE fact >= ? AND fact <= ?", (first, END if last is None else last)
    ).fetchone()
    return int(count)


def keep_from(db: sqlite3.Connection, before_ns: int) -> int | None:
    """The first fact that stays when hands from before a time are to go: a hand's first. None: nothing may go.

    The last hand stays, for a table resumes from there.
    """
    (young,) = db.execute(
        "SELECT min(hands.fact) FROM hands JOIN facts ON facts.id = hands.fact WHERE facts.wall_ns >= ?", (before_ns,)
    ).fetchone()
    first, last = db.execute("SELECT min(fact), max(fact) FROM hands").fetchone()
    if last is None:
        return None
    fact = min(young or last, last)
    return None if fact <= first else int(fact)


def last_requests(db: sqlite3.Connection, count: int) -> list[tuple[RequestRow, str, str]]:
    """The last lines that clients gave an id, the latest last: what was kept of each, who said it, the line."""
    names = ", ".join(f"requests.{name}" for name in NAMES[RequestRow])
    rows = db.execute(
        f"SELECT {names}, facts.who, facts.raw FROM requests JOIN facts ON facts.id = requests.fact "
        f"ORDER BY requests.seq DESC LIMIT ?",
        (count,),
    ).fetchall()
    return [(RequestRow(*values), who or "", raw.decode()) for *values, who, raw in reversed(rows)]


def last_seq(db: sqlite3.Connection) -> int:
    """The number of the last record, 0 where there is none."""
    last = last_record(db)
    return last[0] if last else 0
