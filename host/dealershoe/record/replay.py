"""Judges recorded hands again, by the packs that are in the journal or by others. For `dealershoe journal replay`.

A hand stands alone: what it depends on from before is in its row. One hand is in memory at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

from dealershoe.desk.desk import Desk
from dealershoe.desk.facts import read_before
from dealershoe.desk.table_link import message_of
from dealershoe.entries import (
    BRIDGE,
    NAMES,
    RULES,
    Entry,
    FindingRow,
    HandRow,
    RulingRow,
)
from dealershoe.errors import UserError
from dealershoe.record.read import between, hands_between, told_between
from dealershoe.rules.pack import Pack, read_pack
from dealershoe.rules.shelf_pins import Pin, read_layers
from dealershoe.rules.stack import Stack, stacked
from dealershoe.session import TableSession
from dealershoe.table.state import HandState

COMPARED = (FindingRow, RulingRow)  # what is made of facts by the table and the rules
Rows = dict[type[Entry], list[Any]]


class Replayed(NamedTuple):
    """A hand judged again. `why`: why it could not be, else ""."""

    row: HandRow
    wall_ns: int
    recorded: Rows
    judged: Rows
    facts: int = 0
    why: str = ""
    end: int = 0  # the first fact that is not the hand's any more
    state: HandState | None = None  # the hand as it ended

    @property
    def same(self) -> bool:
        """Every finding and every ruling as it is on record, in every column."""
        return not self.why and self.recorded == self.judged


class Packs:
    """The rule packs of a journal, by the layers that a hand was judged by. To be closed."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._stacks: dict[str, Stack] = {}
        self._packs: dict[str, Pack] = {}
        self._held = contextlib.ExitStack()
        self._folder = Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="dealershoe-packs-")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def stack(self, layers: str) -> Stack:
        """The stack of these files (`shelf_pins.write_layers`). Raises UserError when one is not there as it was."""
        if layers not in self._stacks:
            found = tuple(tuple(self._pack(pin) for pin in layer) for layer in read_layers(layers))
            self._stacks[layers] = stacked(found)
        return self._stacks[layers]

    def _pack(self, pin: Pin) -> Pack:
        if pin.digest not in self._packs:
            row = self._db.execute("SELECT text FROM packs WHERE digest = ?", (pin.digest,)).fetchone()
            if row is None or type(row[0]) is not bytes or hashlib.sha256(row[0]).hexdigest() != pin.digest:
                raise UserError(
                    f"the file of {pin} is not in the journal as it was", "it was changed or taken out", "verify it"
                )
            path = self._folder / f"{pin.pack}-{pin.digest}.toml"
            path.write_bytes(row[0])
            self._packs[pin.digest] = read_pack(path)
        return self._packs[pin.digest]


def replay(
    db: sqlite3.Connection,
    packs: Packs,
    first: int = 1,
    last: int | None = None,
    instead: Stack | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Iterator[Replayed]:
    """Judge again every hand that began with a fact from `first` to `last`; `instead`: by these rules, not its own."""
    desk = Desk(TableSession(Stack("", ())))
    desk.silent = True
    for done, (row, end, wall_ns) in enumerate(hands_between(db, first, last), 1):
        try:
            stack = packs.stack(row.layers) if instead is None else instead
            before = read_before(row.before)
        except UserError as error:
            yield Replayed(row, wall_ns, {}, {}, why=str(error))
            continue
        except (ValueError, TypeError, KeyError) as error:
            yield Replayed(row, wall_ns, {}, {}, why=f"what it depends on from before cannot be read ({error!r})")
            continue
        desk.open_table = bool(row.open_table)
        desk.begin_from(TableSession(stack, before.table), before)
        facts = 0
        for fact in told_between(db, row.fact, end):
            if fact.origin != BRIDGE or not fact.raw.startswith(RULES):
                desk.retell(fact, message_of)
            facts += 1
        recorded: Rows = {kind: list(between(db, kind, row.fact, end)) for kind in COMPARED}
        judged: Rows = {kind: [] for kind in COMPARED}
        for entry in desk.entries:
            if type(entry) in judged:
                judged[type(entry)].append(entry)
        desk.entries.clear()
        desk.happenings.clear()
        yield Replayed(row, wall_ns, recorded, judged, facts, "", end, desk.session.hand)
        progress(done)


def differences(replayed: Replayed) -> Iterator[str]:
    """A sentence for each row that is not as it is on record."""
    for kind in COMPARED:
        recorded, judged = replayed.recorded.get(kind, []), replayed.judged.get(kind, [])
        for one, other in zip(recorded, judged, strict=False):
            if one != other:
                names = [name for name in NAMES[kind] if getattr(one, name) != getattr(other, name)]
                yield (
                    f"fact {one.fact}: {kind.__name__}: "
                    + "; ".join(f"{name} is {getattr(one, name)!r}, now {getattr(other, name)!r}" for name in names)
                )
                break
        else:
            for one in recorded[len(judged) :][:1]:
                yield f"fact {one.fact}: {_short(one)} is on record and does not come again"
            for one in judged[len(recorded) :][:1]:
                yield f"fact {one.fact}: {_short(one)} comes now and is not on record"


def _short(row: Any) -> str:
    return f"the ruling {row.ruling} on {row.finding}" if isinstance(row, RulingRow) else f"the finding {row.kind}"


class Changed(NamedTuple):
    """The first ruling of a hand that other rules would have made otherwise; None: no ruling there."""

    fact: int
    recorded: RulingRow | None
    judged: RulingRow | None

    def __str__(self) -> str:
        one = self.recorded or self.judged
        assert one is not None
        about = f" of seat {one.seat}" if one.seat else ""
        return f"{one.finding}{about}: {_ruled(self.recorded)} then, {_ruled(self.judged)} now"


def changed(replayed: Replayed) -> Changed | None:
    """What other rules change first in a hand. What came after it followed the ruling that was made then."""
    recorded = {(row.fact, row.finding, row.cards): row for row in replayed.recorded.get(RulingRow, [])}
    judged = {(row.fact, row.finding, row.cards): row for row in replayed.judged.get(RulingRow, [])}
    for key in sorted({*recorded, *judged}):
        one, other = recorded.get(key), judged.get(key)
        if one is None or other is None or _what(one) != _what(other):
            return Changed(key[0], one, other)
    return None


def _what(row: RulingRow) -> tuple[Any, ...]:
    """What a ruling comes to at the table, whatever clause and words it has."""
    return row.ruling, row.remedy, row.seat, row.decider


def _ruled(row: RulingRow | None) -> str:
    if row is None:
        return "no ruling"
    source = f"{row.layer} {row.version}, {row.cite}" if row.layer else "no rule was found"
    return f"{row.ruling} ({row.rule or 'floor'}; {source}; “{row.say}”)"
