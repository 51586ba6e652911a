"""The record's wording: rows of a journal as plain lines, without card identities. Pure; for the commands."""

from __future__ import annotations

import json
from typing import Any

from dealershoe.entries import (
    BRIDGE,
    SHOE,
    EventRow,
    Fact,
    FindingRow,
    HandRow,
    LinkRow,
    ProposalRow,
    RequestRow,
    RulingRow,
    RunRow,
    SignalRow,
)

FLAGS = ("boxed", "exposed", "double", "unread", "foreign", "wrong_back", "up", "unseen")
_DRAW = {"target", "went", "confirmed", "number", "deck", *FLAGS}


def seats(numbers: list[int]) -> str:
    """1-4,6"""
    runs: list[list[int]] = []
    for seat in sorted(numbers):
        if runs and seat == runs[-1][-1] + 1:
            runs[-1].append(seat)
        else:
            runs.append([seat])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def hand_words(row: HandRow) -> str:
    """Who sits where, and by which rules."""
    setup = json.loads(row.setup)
    blinds = f"sb {setup['sb'] if setup['sb'] is not None else 'dead'} bb {setup['bb']}"
    game = "" if setup["game"] == "holdem" else f"{setup['game']}, "
    return f"{game}seats {seats(setup['seats'])}, button {setup['button']}, {blinds}"


def rules_words(row: HandRow) -> str:
    """The stack by name and version."""
    layers = json.loads(row.layers)
    return "+".join(f"{layer[0][0]}@{layer[0][1]}" for layer in layers) or "no rules"


def origin_words(fact: Fact) -> str:
    """Who said it."""
    if fact.origin in (SHOE, BRIDGE):
        return fact.origin
    return f"{fact.origin} ({fact.who})" if fact.who else fact.origin


def event_words(row: EventRow, card: str = "") -> str:
    """An event on one line; `card`: what it is, where that may be told."""
    body: dict[str, Any] = json.loads(row.body)
    if row.kind == "Checked":
        return f"#{row.draw} of a deck that is checked"
    if row.kind != "Draw":
        said = [f"{name}={_value(value)}" for name, value in body.items() if value not in (None, [], False, "")]
        return " ".join((row.kind, *said))
    target = body.get("target") or body.get("went") or "nowhere known"
    place = f"seat {target}" if isinstance(target, int) else str(target)
    sure = "" if body.get("confirmed") else " (inferred)"
    marks = [name.replace("_", " ") for name in FLAGS if body.get(name)]
    marks += [f"{name}={value}" for name, value in body.items() if name not in _DRAW and value not in (None, False)]
    return " ".join((f"#{row.draw} → {place}{sure}", *([card] if card else []), *marks))


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def finding_words(row: FindingRow) -> str:
    """What was found, of which cards and seat."""
    cards = " ".join(f"#{number}" for number in json.loads(row.cards))
    return " ".join(part for part in (row.kind, f"seat {row.seat}" if row.seat else "", cards) if part)


def proposal_words(row: ProposalRow) -> str:
    """Which of the equal cards was proposed as misread, and why."""
    either = " or ".join(f"#{number}" for number in json.loads(row.cards))
    which = f"#{row.misread}" if row.misread else "neither"
    return f"misread: of {either} {which} is proposed: {'; '.join(json.loads(row.reasons))}"


def ruling_words(row: RulingRow) -> str:
    """A ruling with its source and its steps."""
    source = f"{row.layer} {row.version}, {row.cite}" if row.layer else "no rule was found"
    steps = "".join(f"; {number}. {step}" for number, step in enumerate(json.loads(row.remedy), 1))
    return f"{row.ruling.upper()}: {row.say} [{row.rule or 'floor'}; {source}; {row.decider} decides]{steps}"


def other_words(kind: str, values: dict[str, Any]) -> str:
    """Any other record, in the names of its columns; bytes by their number alone."""
    said = [f"{name}={_short(value)}" for name, value in values.items() if value not in (None, "")]
    return " ".join((kind, *said))


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return value.hex() if len(value) <= 16 else f"{len(value)} bytes"
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:59] + "…"


WORDS: dict[type, Any] = {
    EventRow: event_words,
    FindingRow: lambda row: f"finding: {finding_words(row)}",
    ProposalRow: proposal_words,
    RulingRow: ruling_words,
    SignalRow: lambda row: f"signal: {row.signal} ({row.mode})",
    LinkRow: lambda row: f"link {row.state}: {row.why or row.device}",
    RunRow: lambda row: (
        f"{row.kind}: {row.program} on {row.host}, started by {row.who or 'nobody known'} {row.note}".strip()
    ),
    HandRow: lambda row: f"hand {row.hand}: {hand_words(row)}; {rules_words(row)}",
    RequestRow: lambda row: f"request {row.id}: fact {row.fact}, {'refused' if row.refused else 'taken'}",
    Fact: lambda row: f"fact {row.id} from {origin_words(row)}, {len(row.raw)} bytes",
}  # one plain line a row
