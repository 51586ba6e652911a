"""`dealershoe journal export` and `import`: the record in formats that other people have, and their hands as deals."""

from __future__ import annotations

import contextlib
import csv
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from dealershoe.entries import EventRow, Fact, FindingRow, RulingRow, SignalRow
from dealershoe.errors import UserError
from dealershoe.record.asking import FILE, facts_of, journal_argument, progress, range_options, when
from dealershoe.record.faces import faces, is_over, named
from dealershoe.record.phh import Told, as_deal, read_hands, written
from dealershoe.record.read import HandSpan, between, count_hands, hands_between, opened
from dealershoe.record.replay import Packs, replay
from dealershoe.record.words import WORDS, event_words, finding_words, origin_words, rules_words

COLUMNS = {  # of CSV and JSON lines, in order, and what each is; docs/record.md has the same
    "hand_fact": "the fact that the hand began with: its name in every command, once in a journal",
    "hand": "the shoe's number of the hand, 1 to 65535, and then again from 1",
    "began": "when the hand began, in the time of the machine that exports",
    "seconds": "since the hand began, by a clock that nobody sets; a restart of the machine begins it anew",
    "fact": "the fact that this came of",
    "who": "where the fact came from: shoe, bridge, or a way to say something with who said it",
    "kind": "finding, ruling, signal, or the event: Hand, Draw, Act, Award, Revealed (the hand's secret), ...",
    "draw": "the number, in the hand, of the card that an event is about",
    "seat": "the seat that a finding or ruling is about, 1 to 11",
    "card": "which card was drawn, with --open alone",
    "ruling": "misdeal, replace, correct, dead, void, play-on, floor or none",
    "rule": "the rule's name in its pack, empty where none was found",
    "cite": "the clause",
    "layer": "the pack that has the rule",
    "version": "and the pack's version",
    "decider": "dealer or floor",
    "text": "the line for a person: the ruling's sentence, the event in words",
}
Line = dict[str, Any]
Export = Callable[[sqlite3.Connection, int, int, bool, TextIO, Callable[[int], None]], None]


@click.command("export", short_help="JSON lines, CSV or PHH")
@journal_argument
@range_options
@click.option("--format", "form", type=click.Choice(["jsonl", "csv", "phh"]), default="jsonl", show_default=True)
@click.option("--out", type=FILE, metavar="FILE", help="Write there instead of standard output; never over a file.")
@click.option("--open", "with_cards", is_flag=True, help="Name the cards of hands that are over, or of an open table.")
def export_command(file: Path, first: str, last: str, form: str, out: Path | None, with_cards: bool) -> None:
    """Write hands of FILE for other programs: one line an event, finding, ruling and signal, or one hand a table (PHH).

    Without --open no card is named. What each column of CSV and JSON lines is: docs/record.md, "Other formats".
    """
    with opened(file) as db:
        low, high = facts_of(db, first, last)
        with progress("exporting", count_hands(db, low, high)) as told, _output(out) as stream:
            EXPORTS[form](db, low, high, with_cards, stream, told)


@contextlib.contextmanager
def _output(path: Path | None) -> Iterator[TextIO]:
    """Standard output, or a new file that is there whole or not at all."""
    if path is None:
        yield sys.stdout
        return
    if path.exists():
        raise UserError(f"{path} is there already", "it is never written over", "choose another name")
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        part.rename(path)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror})", "the disk refuses it", "choose another"
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _known(db: sqlite3.Connection, span: HandSpan, with_cards: bool) -> dict[int, str]:
    """The cards by fact that may be told; none of a hand in play at a table that is not open."""
    return faces(db, span) if with_cards and (span.row.open_table or is_over(db, span)) else {}


def _lines(
    db: sqlite3.Connection, low: int, high: int, with_cards: bool, told: Callable[[int], None]
) -> Iterator[Line]:
    """Every event, finding, ruling and signal of the hands, in order, in the columns of the CSV."""
    for done, span in enumerate(hands_between(db, low, high), 1):
        known = _known(db, span, with_cards)
        facts = {fact.id: fact for fact in between(db, Fact, span.row.fact, span.end)}
        begun = facts[span.row.fact].mono_ns
        rows: list[Any] = [
            row for kind in (EventRow, FindingRow, RulingRow, SignalRow)
            for row in between(db, kind, span.row.fact, span.end)
        ]  # fmt: skip
        rows.sort(key=lambda row: row.fact or 0)  # stable: events, findings, rulings, signals of a fact
        for row in rows:
            fact = facts[row.fact or span.row.fact]
            line: Line = dict.fromkeys(COLUMNS)
            line |= {"hand_fact": span.row.fact, "hand": span.row.hand, "began": when(span.wall_ns)}
            line |= {"seconds": round((fact.mono_ns - begun) / 1e9, 6), "fact": fact.id, "who": origin_words(fact)}
            yield line | _columns(row, known)
        told(done)


def _columns(row: Any, known: dict[int, str]) -> Line:
    if isinstance(row, EventRow):
        card = named(row, known)
        return {"kind": row.kind, "draw": row.draw, "card": card or None, "text": event_words(row)}
    if isinstance(row, FindingRow):
        return {"kind": "finding", "seat": row.seat, "text": finding_words(row)}
    if isinstance(row, RulingRow):
        names = ("ruling", "rule", "cite", "layer", "version", "decider")
        ruled = {name: getattr(row, name) or None for name in names}
        return {"kind": "ruling", "seat": row.seat or None, **ruled, "text": row.say}
    return {"kind": "signal", "text": WORDS[SignalRow](row)}


def _jsonl(db: sqlite3.Connection, low: int, high: int, open_: bool, out: TextIO, told: Callable[[int], None]) -> None:
    for line in _lines(db, low, high, open_, told):
        out.write(json.dumps({name: value for name, value in line.items() if value is not None}) + "\n")


def _csv(db: sqlite3.Connection, low: int, high: int, open_: bool, out: TextIO, told: Callable[[int], None]) -> None:
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_lines(db, low, high, open_, told))


def _phh(db: sqlite3.Connection, low: int, high: int, open_: bool, out: TextIO, told: Callable[[int], None]) -> None:
    """One table a hand, [1], [2], …: the format's way to put many hands into one file."""
    count = 0
    with Packs(db) as packs:
        for one in replay(db, packs, low, high, progress=told):
            state = one.state
            if state is None or state.setup.game != "holdem":
                why = one.why or "it is not hold'em, and the format's stud wants chips that no shoe knows"
                click.echo(f"dealershoe: the hand at fact {one.row.fact} is left out: {why}", err=True)
                continue
            span = HandSpan(one.row, one.end, one.wall_ns)
            known = _known(db, span, open_)
            draws = {row.draw: row.fact for row in between(db, EventRow, span.row.fact, span.end) if row.kind == "Draw"}
            day, time = when(one.wall_ns).split()
            count += 1
            hand = Told(
                one.row.hand, one.row.fact, day, time, rules_words(one.row),
                tuple(finding_words(row) for row in one.recorded[FindingRow]),
                tuple(WORDS[RulingRow](row) for row in one.recorded[RulingRow]),
                {draw: known[fact] for draw, fact in draws.items() if draw is not None and fact in known},
            )  # fmt: skip
            out.write(f"[{count}]\n{written(state, hand)}\n")


EXPORTS: dict[str, Export] = {"jsonl": _jsonl, "csv": _csv, "phh": _phh}


@click.command("import", short_help="PHH hands as a deal script")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="HANDS.phh...")
@click.option("--out", type=FILE, metavar="FILE", help="Write there instead of standard output; never over a file.")
def import_command(files: tuple[Path, ...], out: Path | None) -> None:
    """Write hands of PHH files as deal scripts: for `dealershoe judge`, and to be dealt through an emulated shoe.

    Hands of games that this shoe does not deal are left out, and said on standard error.
    """
    dealt = 0
    with _output(out) as stream:
        for file in files:
            try:
                text = file.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"{file} cannot be read", str(error), "give a .phh or .phhs file") from error
            for number, hand in enumerate(read_hands(text, str(file)), 1):
                try:
                    stream.write(as_deal(hand, f"{file.name}, hand {number}") + "\n")
                except UserError as error:
                    click.echo(f"dealershoe: left out: {error}", err=True)
                else:
                    dealt += 1
    if not dealt:
        raise UserError("no hand could be written", "none of them is hold'em", "give hands of the variant NT or FT")
