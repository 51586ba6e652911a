"""`dealershoe journal show`, `hands`, `tail`: what happened, for the floor and for whoever asks afterwards."""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import click

from dealershoe.entries import (
    NAMES,
    TABLES,
    CheckpointRow,
    EventRow,
    Fact,
    HandRow,
    RulingRow,
)
from dealershoe.errors import UserError
from dealershoe.link.dictionary import Shelf, default_folder
from dealershoe.record.asking import facts_of, journal_argument, json_option, range_options, when
from dealershoe.record.faces import faces
from dealershoe.record.opening import reading
from dealershoe.record.pages import in_full, plain, report_fields, summary
from dealershoe.record.read import HandSpan, between, hands_between, last_hands, last_seq, opened
from dealershoe.record.receipt import fields, receipts
from dealershoe.record.strange import Strange
from dealershoe.record.verify import Check, Record
from dealershoe.record.words import WORDS, event_words, hand_words, origin_words, other_words

LAST = 10  # hands on one page: as many as gaming devices have to recall
POLL_S = 0.5  # between two looks of `tail --follow`
AFTER = ("Misread", "FloorDecision", "Undo")  # events that can take a ruling back, or answer it
OPEN = "Name the cards: of a hand that is over, or of an open table."


@click.command("show", short_help="the last ten hands on a page, or one hand in full")
@journal_argument
@click.option("--hand", "fact", type=int, help="The hand that began with this fact, in full; `hands` lists them.")
@click.option("--open", "with_cards", is_flag=True, help=OPEN)
@json_option
def show_command(file: Path, fact: int | None, with_cards: bool, as_json: bool) -> None:
    """Show the last ten hands of FILE on one page, or one in full. It may be read while a bridge writes it."""
    with opened(file) as db:
        if fact is None:
            spans = last_hands(db, LAST)
            for span in spans:
                click.echo(json.dumps(summary(db, span)) if as_json else _page(db, span))
            if not spans and not as_json:
                click.echo("no hand is on record")
            return
        one = next(hands_between(db, fact, fact), None)
        if one is None:
            raise UserError(f"no hand began with fact {fact}", "it is another fact", "see `dealershoe journal hands`")
        known = faces(db, one) if with_cards else {}
        if not as_json:
            click.echo(f"{when(one.wall_ns)}  {WORDS[HandRow](one.row)}{'; an open table' * one.row.open_table}")
        first: Fact | None = None
        last: Fact | None = None
        for told_fact, line, row in in_full(db, one, known, Strange(db, Shelf(default_folder()))):
            first = first or told_fact
            if as_json:
                click.echo(json.dumps(plain(row, known)))
            else:
                who = origin_words(told_fact) if told_fact is not last else ""
                click.echo(f"{(told_fact.mono_ns - first.mono_ns) / 1e9:9.3f}  {who:<12} {line}")
            last = told_fact


@click.command("hands", short_help="list hands, a line each")
@journal_argument
@range_options
@json_option
def hands_command(file: Path, first: str, last: str, as_json: bool) -> None:
    """List the hands of FILE: when they began, who sat where, what was ruled."""
    with opened(file) as db:
        for span in hands_between(db, *facts_of(db, first, last)):
            click.echo(json.dumps(summary(db, span)) if as_json else _page(db, span))


@click.command("receipt", short_help="decks that went through the shoe whole: 52 seen, missing, foreign")
@journal_argument
@range_options
@click.option("--open", "with_cards", is_flag=True, help="Name the missing and double cards, where they are known.")
@json_option
def receipt_command(file: Path, first: str, last: str, with_cards: bool, as_json: bool) -> None:
    """Print a receipt for every deck of FILE that was loaded and ran out, with shoe, dealer, time and verdict.

    Exit status 0: every deck was whole; 1: one was not, or it is not known.
    """
    bad = False
    with opened(file) as db:
        low, high = facts_of(db, first, last)
        for one in receipts(db, low, high):
            told = {"began": when(one.began_ns), "ended": when(one.ended_ns), **fields(db, one, with_cards)}
            bad = bad or one.verdict != "whole"
            if as_json:
                click.echo(json.dumps(told))
            else:
                lines = (f"  {name.replace('_', ' '):<16} {_printed(value)}" for name, value in told.items())
                click.echo("\n".join((f"deck: {one.verdict}", *lines, "")))
    sys.exit(1 if bad else 0)


def _printed(value: object) -> str:
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else str(value)


@click.command("tail", short_help="the last records, and those that come")
@journal_argument
@click.option("-n", "--lines", type=click.IntRange(0), default=20, show_default=True, help="So many records.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written, until Ctrl-C.")
@json_option
def tail_command(file: Path, lines: int, follow: bool, as_json: bool) -> None:
    """Print the last records of FILE in the order of writing, without card identities."""
    with opened(file) as db:
        last = max(last_seq(db) - lines, 0)
        last = _print_records(db, last, as_json)
    while follow:
        time.sleep(POLL_S)
        with reading(file) as db:
            last = _print_records(db, last, as_json)


def _print_records(db: sqlite3.Connection, after: int, as_json: bool) -> int:
    strange = Strange(db, Shelf(default_folder()))
    for record in Check(db, after=after).records_after(after):
        after = record.seq
        report = strange.read(Fact(*record.values)) if record.kind is Fact else None
        if as_json:
            values = dict(zip(NAMES[record.kind], record.values, strict=True))
            told = {"record": record.seq, "table": TABLES[record.kind], **_safe(values)}
            click.echo(json.dumps(told | (report_fields(report) if report else {})))
        else:
            click.echo(f"{record.seq:>8}  {_line(record)}" + (f": {report.line}" if report else ""))
    return after


def _line(record: Record) -> str:
    if record.kind is CheckpointRow:  # as `verify --seen` takes it
        return f"checkpoint {record.seq - 1}:{record.values[0].hex()}"
    words = WORDS.get(record.kind)
    if words is not None:
        make: Any = record.kind
        return str(words(make(*record.values)))
    return other_words(TABLES[record.kind], dict(zip(NAMES[record.kind], record.values, strict=True)))


def _safe(values: dict[str, Any]) -> dict[str, Any]:
    """For JSON: bytes in hexadecimal, but not those that may name a card."""
    hidden = ("raw", "text", "refused")
    return {
        name: value.hex() if isinstance(value, bytes) else value for name, value in values.items() if name not in hidden
    }


def _page(db: sqlite3.Connection, span: HandSpan) -> str:
    """A hand on one line, and one for each ruling."""
    told = summary(db, span)
    lines = [
        f"{told['began']}  fact {span.row.fact:<7} {hand_words(span.row)}; {told['cards']} cards; {told['rules']}"
        + (f"; {told['strongest'].upper()}" if told["strongest"] else "; nothing to rule on")
    ]
    for row in islice(between(db, RulingRow, span.row.fact, span.end), 3):
        lines.append(f"    {row.ruling}: {row.say} [{row.cite or 'no rule was found'}]")
    if len(told["rulings"]) > 3:
        lines.append(f"    and {len(told['rulings']) - 3} more rulings")
    after = [event_words(row) for row in between(db, EventRow, span.row.fact, span.end) if row.kind in AFTER]
    if told["rulings"] and after:
        lines.append(f"    after that: {'; '.join(after)}")
    return "\n".join(lines)
