"""A hand of a journal as one object, or event by event; no cards are named but those given. For commands, console."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from dealershoe.entries import (
    NAMES,
    TABLES,
    EventRow,
    Fact,
    FindingRow,
    ProposalRow,
    RulingRow,
    SignalRow,
)
from dealershoe.record.asking import when
from dealershoe.record.faces import named
from dealershoe.record.read import HandSpan, between
from dealershoe.record.strange import Report, Strange
from dealershoe.record.words import WORDS, event_words, rules_words
from dealershoe.rules.ruling import STRENGTH


class Told(NamedTuple):
    """A row of a hand on one line."""

    fact: Fact
    line: str
    row: Any


def _strongest(rulings: list[RulingRow]) -> str:
    return max((row.ruling for row in rulings), key=lambda name: STRENGTH.get(name, 0), default="")


def summary(db: sqlite3.Connection, span: HandSpan) -> dict[str, Any]:
    """A hand as one object."""
    rulings = list(between(db, RulingRow, span.row.fact, span.end))
    kinds = [row.kind for row in between(db, EventRow, span.row.fact, span.end)]
    return {
        "fact": span.row.fact,
        "hand": span.row.hand,
        "began": when(span.wall_ns),
        "wall_ns": span.wall_ns,
        "setup": json.loads(span.row.setup),
        "rules": rules_words(span.row),
        "open": bool(span.row.open_table),
        "cards": kinds.count("Draw"),
        "refused": kinds.count("refused"),
        "findings": [row.kind for row in between(db, FindingRow, span.row.fact, span.end)],
        "rulings": [{"ruling": row.ruling, "rule": row.rule, "cite": row.cite, "seat": row.seat} for row in rulings],
        "strongest": _strongest(rulings) or None,
    }


def in_full(
    db: sqlite3.Connection, span: HandSpan, known: dict[int, str], strange: Strange | None = None
) -> Iterator[Told]:
    """Every event, finding, ruling and signal, with the fact that it came of and its line.

    And the reports that `strange` reads.
    """
    rows: dict[int, list[tuple[str, Any]]] = {}
    kinds: tuple[Any, ...] = (EventRow, FindingRow, ProposalRow, RulingRow, SignalRow)
    for kind in kinds:
        for row in between(db, kind, span.row.fact, span.end):
            line = event_words(row, named(row, known)) if isinstance(row, EventRow) else WORDS[kind](row)
            rows.setdefault(row.fact or 0, []).append((line, row))
    for fact in between(db, Fact, span.row.fact, span.end):
        for line, row in rows.get(fact.id, []):
            yield Told(fact, line, row)
        report = strange.read(fact) if strange else None
        if report is not None:
            yield Told(fact, f"report: {report.line}", (fact, report))


def report_fields(report: Report) -> dict[str, Any]:
    """A report of a kind that is not known here, for JSON."""
    return {"kind": report.kind, "name": report.name, "fields": report.fields}


def plain(row: Any, known: dict[int, str]) -> dict[str, Any]:
    """A row of `in_full` for JSON."""
    if isinstance(row, tuple):
        fact, report = row
        return {"table": TABLES[Fact], "fact": fact.id, **report_fields(report)}
    kind = type(row)
    told = {"table": TABLES[kind], **{name: getattr(row, name) for name in NAMES[kind]}}
    card = named(row, known) if isinstance(row, EventRow) else ""
    return {**told, "card": card} if card else told
