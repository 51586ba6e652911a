"""`dealershoe journal replay`: judge recorded hands again; with other rules, see what they would have changed."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dealershoe.entries import RulingRow
from dealershoe.record.asking import facts_of, journal_argument, json_option, progress, range_options, when
from dealershoe.record.read import count_hands, opened
from dealershoe.record.replay import Changed, Packs, Replayed, changed, differences, replay
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.stack import load_stack


@click.command("replay", short_help="judge recorded hands again, by their own rules or by others")
@journal_argument
@range_options
@click.option("--rules", default="", metavar="STACK", help="Judge by these instead, and show what they change.")
@json_option
@shelf_option
def replay_command(file: Path, first: str, last: str, rules: str, as_json: bool, shelf: Shelf) -> None:
    """Judge hands of FILE again, by the rule packs that are in it: every ruling must come again as it was, to the byte.

    With --rules: which hands other rules would have ruled differently, with both rulings and their clauses. What
    followed in a hand followed the ruling that was made then, so its first difference counts. Exit status 0: no
    difference; 1: some.
    """
    other = load_stack(rules, shelf) if rules else None
    begun = time.monotonic()
    hands = facts = wrong = unread = 0
    with opened(file) as db, Packs(db) as packs:
        low, high = facts_of(db, first, last)
        with progress("judging", count_hands(db, low, high)) as told:
            for one in replay(db, packs, low, high, other, told):
                hands += 1
                facts += one.facts
                unread += bool(one.why)
                change = changed(one) if other is not None and not one.why else None
                differs = change is not None if other is not None else not one.same
                wrong += differs and not one.why
                if differs or one.why:
                    _tell(one, change, as_json)
    seconds = time.monotonic() - begun
    summary = {"hands": hands, "facts": facts, "different": wrong, "not_judged": unread, "seconds": round(seconds, 3)}
    if as_json:
        click.echo(json.dumps(summary))
    else:
        what = f"ruled differently by {rules}" if rules else "not as on record"
        rest = f", {unread} could not be judged" if unread else ""
        click.echo(f"{hands:,} hands, {facts:,} facts: {wrong:,} {what}{rest}")
    sys.exit(1 if wrong or unread else 0)


def _tell(one: Replayed, change: Changed | None, as_json: bool) -> None:
    said = [one.why] if one.why else [str(change)] if change is not None else list(differences(one))
    if as_json:
        told: dict[str, Any] = {"fact": one.row.fact, "hand": one.row.hand, "wall_ns": one.wall_ns, "said": said}
        if change is not None:
            told |= {"at": change.fact, "then": _ruling(change.recorded), "now": _ruling(change.judged)}
        click.echo(json.dumps(told))
        return
    for line in said:
        click.echo(f"{when(one.wall_ns)}  hand at fact {one.row.fact}: {line}")


def _ruling(row: RulingRow | None) -> dict[str, Any] | None:
    return asdict(row) if row is not None else None
