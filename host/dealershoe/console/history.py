"""Hands of a table's journal for the console, read beside the bridge that writes it.

Cards are named of a hand that is over, to whoever may see the record, and only once the journal says who looked.
"""

from __future__ import annotations

import datetime
import json
import platform
import sqlite3
import time
import tomllib
from pathlib import Path
from typing import Any

from dealershoe import __version__
from dealershoe.bridge.bridge import Bridge
from dealershoe.console.once import KEPT, Known
from dealershoe.console.said import kinds
from dealershoe.console.tables import answer_of
from dealershoe.entries import (
    BRIDGE,
    SHOE,
    EventRow,
    Fact,
    FindingRow,
    ProposalRow,
    RequestRow,
    RulingRow,
    RunRow,
    SignalRow,
)
from dealershoe.errors import UserError
from dealershoe.record.faces import faces, is_over, named
from dealershoe.record.pages import in_full
from dealershoe.record.read import HandSpan, between, hands_between, last_hands, last_requests, opened
from dealershoe.record.words import rules_words
from dealershoe.rules.pack import ENGLISH
from dealershoe.table.findings import KINDS

LOOK = "look"  # the kind of a record that says who has seen cards
FOLLOWED = {FindingRow: "finding", ProposalRow: "proposal", RulingRow: "ruling", SignalRow: "signal"}
TOLD = {  # of an event's fields, those that name no card
    "seats", "button", "sb", "bb", "game", "absent", "penalty", "gone", "new", "by", "marked", "seat", "kind", "number",
    "target", "went", "confirmed", "boxed", "exposed", "double", "unread", "foreign", "wrong_back", "up", "touched",
    "out_of_turn", "cards", "entitled", "in_stub", "decision", "taken_back", "unseen",
}  # fmt: skip
WRITTEN_S = 3.0  # for the journal to say so


def hands(journal: Path, last: int) -> list[dict[str, Any]]:
    """The last hands, the latest first, without cards. Raises UserError for a journal that cannot be read."""
    with opened(journal) as db:
        return [_summary(db, span) for span in reversed(last_hands(db, last))]


def hand(journal: Path, number: int, *, with_cards: bool = False) -> dict[str, Any] | None:
    """The table's hand of that number, line by line; None where it is not on record.

    `with_cards`: named where they are known; raises UserError while a hand that is not open is in play.
    """
    with opened(journal) as db:
        row = db.execute(
            "SELECT fact FROM hands WHERE json_extract(before, '$.hands') = ? ORDER BY fact DESC LIMIT 1", (number - 1,)
        ).fetchone()
        if row is None:
            return None
        span = next(hands_between(db, row[0], row[0]))
        known = faces(db, span) if with_cards else {}
        story: list[dict[str, Any]] = [
            {
                "at": _time(told.fact.wall_ns),
                "origin": told.fact.origin,
                "who": told.fact.who,
                "kind": _kind(told.row),
                "values": _values(told.row),
                "text": told.line,
                "reason": _reason(told.fact),
                "card": (named(told.row, known) if isinstance(told.row, EventRow) else "") or None,
            }
            for told in in_full(db, span, known)
        ]
        for one in story:
            if one["kind"] == "ruling":
                one["values"]["language"] = _language(db, one["values"].pop("digest"))
        said = [one["values"].get(name, "") for one in story for name in ("happened", "say")]
        return {**_summary(db, span), "story": story, "kinds": kinds(said)}


def said_before(journal: Path) -> list[Known]:
    """The last lines that clients gave an id, with their answers, the latest last. Raises UserError as `hands`."""
    with opened(journal) as db:
        return [
            Known(who, row.id, line, answer_of(row.id, row.version, _refused(row)))
            for row, who, line in last_requests(db, KEPT)
        ]


def _refused(row: RequestRow) -> UserError | None:
    return None if row.refused is None else UserError(*json.loads(row.refused))


def _kind(row: Any) -> str:
    """What a line of the story is: the name of the event, or of what followed from it."""
    return row.kind if isinstance(row, EventRow) else FOLLOWED.get(type(row), "")


def _values(row: Any) -> dict[str, Any]:
    """What it says, by name, for whoever says it in another language. No card is in it."""
    if isinstance(row, EventRow):
        body = {name: value for name, value in json.loads(row.body).items() if name in TOLD and _is_plain(value)}
        return body | ({"number": row.draw} if row.draw is not None else {})
    if isinstance(row, FindingRow):
        happened = KINDS.get(row.kind, row.kind)
        return {"finding": row.kind, "happened": happened, "seat": row.seat or None, "cards": json.loads(row.cards)}
    if isinstance(row, RulingRow):
        return {"ruling": row.ruling, "say": row.say, "cite": row.cite, "seat": row.seat or None, "digest": row.digest}
    return {"signal": row.signal} if isinstance(row, SignalRow) else {}


def _language(db: sqlite3.Connection, digest: str) -> str:
    """Of a pack's sentences; of the host's own, and of a pack that is not there as it was, English."""
    row = db.execute("SELECT text FROM packs WHERE digest = ?", (digest,)).fetchone()
    try:
        return str(tomllib.loads(row[0].decode())["pack"]["language"]) if row is not None else ENGLISH
    except (KeyError, ValueError):
        return ENGLISH


def _is_plain(value: Any) -> bool:
    """Whether it is a number or a word, or a list of numbers: what names cards is longer."""
    return isinstance(value, bool | int | str) or (
        isinstance(value, list) and all(isinstance(one, int) for one in value)
    )


def _summary(db: sqlite3.Connection, span: HandSpan) -> dict[str, Any]:
    setup = json.loads(span.row.setup)
    first, end = span.row.fact, span.end
    return {
        "hand": json.loads(span.row.before)["hands"] + 1,
        "fact": first,
        "began": _time(span.wall_ns),
        "seats": setup["seats"],
        "button": setup["button"],
        "stack": rules_words(span.row),
        "open": bool(span.row.open_table),
        "over": is_over(db, span),
        "draws": sum(row.kind == "Draw" for row in between(db, EventRow, first, end)),
        "findings": [row.kind for row in between(db, FindingRow, first, end)],
        "rulings": [
            {name: getattr(row, name) for name in ("ruling", "rule", "say", "cite", "layer", "decider")}
            | {"seat": row.seat or None, "language": _language(db, row.digest)}
            for row in between(db, RulingRow, first, end)
        ],
    }


def _time(wall_ns: int) -> str:
    return datetime.datetime.fromtimestamp(wall_ns // 10**9, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _reason(fact: Fact) -> str | None:
    """What stands behind a person's line as a comment."""
    if fact.origin in (SHOE, BRIDGE):
        return None
    _, hash, reason = fact.raw.decode().partition(" # ")
    return reason.strip() if hash else None


def say_who_looks(bridge: Bridge, who: str, number: int) -> None:
    """Put into the journal that `who` looks at the cards of a hand, and wait until the disk has it.

    Raises UserError when it cannot be written: then nobody may look.
    """
    at = time.monotonic_ns(), time.time_ns()
    row = RunRow(LOOK, f"dealershoe {__version__}", platform.node(), who, f"at the cards of hand {number}", *at)
    if bridge.alive:
        bridge.keep(row)
        end = time.monotonic() + WRITTEN_S
        while time.monotonic() < end:
            with opened(bridge.journal) as db:
                if db.execute("SELECT 1 FROM runs WHERE kind = ? AND mono_ns = ?", (LOOK, at[0])).fetchone():
                    return
            time.sleep(0.02)
    raise UserError(
        "the journal cannot say who looks at these cards", "its table is down, or the disk refuses", "ask again later"
    )
