"""Makes rows of the journal out of events, findings and rulings: without card identities. Pure; for the desk."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple, get_args

from dealershoe.chronicle import TableState
from dealershoe.entries import FindingRow, HandRow, PackRow, ProposalRow, RulingRow
from dealershoe.events import Draw, DrawForButton, Event, Misread
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.shelf_pins import pins, write_layers
from dealershoe.rules.stack import Chain
from dealershoe.session import TableSession
from dealershoe.table.findings import Finding
from dealershoe.table.misread import Proposal
from dealershoe.table.setup import Setup
from dealershoe.table.state import begin

# fields of events that name cards, beside every `ids`
FACES = {(Draw, "card"), (DrawForButton, "cards"), (Misread, "card")}
TOLD: dict[type[Event], tuple[str, ...]] = {  # and those that name none
    kind: tuple(field.name for field in fields(kind) if field.name != "ids" and (kind, field.name) not in FACES)
    for kind in get_args(Event)
}


class Before(NamedTuple):
    """A table before a hand begins: the shoe's number of the hand it was in, the hand the shoe named last."""

    hand: int = 0
    seen: int = 0
    table: TableState = TableState()


NEW_TABLE = Before()


def hand_row(fact: int, hand: int, session: TableSession, before: Before, open_table: bool) -> HandRow:
    """A hand that the session has just begun, with all that its judgement depends on."""
    setup = session.table.setup
    layers = write_layers(pins(session.stack.files))
    return HandRow(fact, hand, layers, write_before(before), _json(_setup_data(setup)), int(open_table))


def write_before(before: Before) -> str:
    """As one line of JSON; `read_before` reads it."""
    table = before.table
    known = {"setup": _setup_data(table.setup), "button": table.button, "deck": table.deck, "hands": table.hands}
    hand, setup = table.hand, table.setup
    if hand is not None and setup is not None and (hand.button, hand.seats) != (setup.button, setup.seats):
        known["ended"] = {"button": hand.button, "seats": hand.seats}  # what was reported of the hand before
    return _json({"hand": before.hand, "seen": before.seen, **known})


def read_before(text: str) -> Before:
    """Raises ValueError, TypeError or KeyError for anything that `write_before` has not written."""
    data = json.loads(text)
    setup = None if data["setup"] is None else read_setup(data["setup"])
    ended = data.get("ended")
    hand = None
    if setup is not None and ended is not None:
        hand = begin(setup)._replace(button=int(ended["button"]), seats=tuple(map(int, ended["seats"])))
    table = TableState(hand, (), setup, int(data["button"]), str(data["deck"]), int(data["hands"]))
    return Before(int(data["hand"]), int(data["seen"]), table)


def read_setup(data: Any) -> Setup:
    """From JSON values. Raises ValueError or TypeError for anything else."""
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    return Setup(**known)


def _setup_data(setup: Setup | None) -> dict[str, Any] | None:
    return None if setup is None else setup._asdict()


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def pack_rows(layers: Iterable[Chain]) -> list[PackRow]:
    """Every file of a stack, as it was read."""
    return [PackRow(pack.digest, pack.id, pack.version, pack.file) for chain in layers for pack in chain]


def finding_row(fact: int, hand: int, finding: Finding) -> FindingRow:
    """A finding as the journal keeps it; `fact` is what brought it to judgement."""
    cards, more = json.dumps(list(finding.cards)), _json(dict(finding.more))
    return FindingRow(fact, hand, finding.kind, finding.seat or None, cards, finding.street, more)


def proposal_row(fact: int, hand: int, proposal: Proposal) -> ProposalRow:
    """What the table proposed about a card that turned up twice."""
    reasons = json.dumps(list(proposal.reasons))
    return ProposalRow(fact, hand, json.dumps(list(proposal.cards)), proposal.number or None, reasons)


def ruling_row(fact: int, hand: int, stack: str, ruling: Ruling) -> RulingRow:
    """A ruling as the journal keeps it; `fact` is what it ruled on."""
    return RulingRow(
        fact,
        hand,
        stack,
        str(ruling.finding),
        ruling.ruling,
        ruling.rule,
        ruling.cite,
        ruling.layer,
        ruling.version,
        ruling.digest,
        ruling.seat,
        json.dumps(list(ruling.cards)),
        ruling.say,
        ruling.decider,
        ruling.signal,
        json.dumps(list(ruling.remedy), ensure_ascii=False),
    )


def body(event: Event, session: TableSession) -> str:
    """An event that the session has taken as JSON, without the fields that name cards.

    `went` beside them: where a card was due of which nobody said where it went.
    """
    told = {name: getattr(event, name) for name in TOLD[type(event)]}
    if type(event) is Draw and event.target is None and session.hand is not None and session.hand.last:
        told["went"] = session.hand.cards[session.hand.last - 1].place
    return json.dumps(told)
