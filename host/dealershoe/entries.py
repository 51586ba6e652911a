"""What the journal keeps, one frozen row a record. For whoever writes a journal (the desk, the bridge) or reads one.

No field but `Fact.raw`, `ConflictRow.raw`, and `RequestRow.refused` where the person's own line did, names a card.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, NamedTuple

BRIDGE = "bridge"  # origin of the bridge's own facts
RULES = b"rules "  # such a fact: which files judge from the next hand on (`shelf_pins.write_layers`)
ALIGN = b"align "  # such a fact: the hand in play is no longer known, with the reason
SHOE = "shoe"  # origin of the shoe's reports
HAND = "Hand"  # the kind of event that describes a table in full


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
    who: str | None = None  # who said it, where `origin` is a way to say something
    backlog: int | None = None  # 1: made by the shoe before it and this bridge met


class ToldFact(NamedTuple):
    """What of a fact is told to the table, under the names of `Fact`: a tenth of its time to make."""

    id: int
    origin: str
    raw: bytes
    mono_ns: int
    wall_ns: int
    backlog: int | None
    made_ns: int | None
    within_ns: int | None


@dataclass(frozen=True, slots=True)
class EventRow:
    """A table event made of a fact; `body` is JSON without card identities."""

    fact: int
    hand: int
    draw: int | None
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class HandRow:
    """A hand that a fact began, with all that its judgement depends on from before.

    `layers`: the files that judge (`shelf_pins.write_layers`). `before`: the table as it was, `setup`: seats, button
    and blinds of this hand, both JSON. `open_table`: 1 where cards may be named while it is played.
    """

    fact: int
    hand: int
    layers: str
    before: str
    setup: str
    open_table: int


@dataclass(frozen=True, slots=True)
class FindingRow:
    """What the table found and judged, whether a ruling came of it or not; `cards` and `more` are JSON."""

    fact: int
    hand: int
    kind: str
    seat: int | None
    cards: str
    street: str
    more: str


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """Which of the draws `cards` that show the same card was proposed as misread, None for neither; `reasons`: JSON."""

    fact: int
    hand: int
    cards: str
    misread: int | None
    reasons: str


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


@dataclass(frozen=True, slots=True)
class LinkRow:
    """The link to the shoe came up ("up") or went down ("down", and why)."""

    state: str
    why: str
    device: str
    mono_ns: int
    wall_ns: int


@dataclass(frozen=True, slots=True)
class PackRow:
    """A rule pack's file as it was, once for each `digest` (SHA-256 of `text`, in hexadecimal)."""

    digest: str
    pack: str
    version: str
    text: bytes


@dataclass(frozen=True, slots=True)
class RunRow:
    """A program took the journal up: `kind` "begin" (a bridge) or "upgrade" (from an earlier version of the tables)."""

    kind: str
    program: str
    host: str
    who: str
    note: str
    mono_ns: int
    wall_ns: int


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """A second report with a number of the shoe's that is taken, and other bytes: the first stands, this is kept."""

    journal: bytes
    number: int
    raw: bytes
    mono_ns: int
    wall_ns: int


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A client's own `id` for the line that is a fact, so that it is told once, and what the client was answered.

    `version`: of the table. `refused`: why the table did not take it (seen, cause, next step), as JSON; None: it did.
    """

    fact: int
    id: str
    version: int
    refused: str | None


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """The bridge's key signed that the record before this one has the chain value `head` (`checkpoint.statement`)."""

    head: bytes
    wall_ns: int
    key: str
    signature: bytes


@dataclass(frozen=True, slots=True)
class PruneRow:
    """Records up to `last` were taken out; `head` was the chain value there. Signed, as a checkpoint is.

    `marks`: for each journal of a shoe (hexadecimal) the highest number that was stored up to there, as JSON.
    """

    last: int
    head: bytes
    marks: str
    who: str
    why: str
    wall_ns: int
    key: str
    signature: bytes


Entry = (
    Fact | EventRow | HandRow | FindingRow | ProposalRow | RulingRow | SignalRow | DeviceRow | LinkRow | PackRow
    | RunRow | ConflictRow | RequestRow | CheckpointRow | PruneRow
)  # fmt: skip
TABLES: dict[type[Entry], str] = {
    Fact: "facts",
    EventRow: "events",
    HandRow: "hands",
    FindingRow: "findings",
    ProposalRow: "proposals",
    RulingRow: "rulings",
    SignalRow: "signals",
    DeviceRow: "devices",
    LinkRow: "links",
    PackRow: "packs",
    RunRow: "runs",
    ConflictRow: "conflicts",
    RequestRow: "requests",
    CheckpointRow: "checkpoints",
    PruneRow: "prunings",
}
KINDS: dict[str, type[Entry]] = {table: kind for kind, table in TABLES.items()}
NAMES: dict[type[Entry], tuple[str, ...]] = {kind: tuple(field.name for field in fields(kind)) for kind in TABLES}
VALUES: dict[type[Entry], Callable[[Any], tuple[Any, ...]]] = {
    kind: attrgetter(*names) for kind, names in NAMES.items()
}  # an entry's values in the order of its names
