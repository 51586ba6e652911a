"""A session's log of one hand: entries, and how undo, pull-back and late reports change it. Pure; for the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dealershoe.events import Draw, Event, Exposed, Place, PullBack, ReportTarget, Undo

SHOE = ("shoe", "seat sensor")  # sources that are not people: an undo passes over what they said
Key = tuple[int, str, int]  # of a finding: the entry it arose at, its kind, what it is about


class Entry(NamedTuple):
    """One fact of the log. `amends`: the entry that it changed, as that was before; `overrules`: a finding.

    `went`: where a card was due of which nobody said where it went; a later change of what was due does not move it.
    `noticed`: the findings that it put aside, with the entries at which they had been noticed.
    """

    id: int
    event: Event
    source: str
    amends: Entry | None = None
    overrules: Key | None = None
    went: Place | None = None
    noticed: tuple[tuple[Key, int], ...] = ()


def changed(event: Event, **values: object) -> Event:
    """The event with some of its fields replaced."""
    return replace(event, **values)  # type: ignore[arg-type]


def position_of(entries: Sequence[Entry], entry_id: int | None) -> int:
    """Where the entry stands, or -1."""
    return next((index for index, entry in enumerate(entries) if entry.id == entry_id), -1)


def earliest(entries: Sequence[Entry], start: int, noticed: Mapping[Key, int]) -> int:
    """From where a fold that begins at `start` must begin, so that findings noticed after it arise again."""
    places = {entry.id: place for place, entry in enumerate(entries)}
    spans = sorted(((places[key[0]], places[at_]) for key, at_ in noticed.items()), reverse=True)
    for arose, told in spans:
        if arose < start <= told:
            start = arose
    return start


def latest_input(entries: Sequence[Entry]) -> int:
    """Where the latest input of a person stands, or -1. Of a card turned up, the turning up is a person's input."""
    for position in range(len(entries) - 1, 0, -1):
        entry = entries[position]
        if isinstance(entry.event, Draw):
            if entry.event.exposed:
                return position
        elif entry.source not in SHOE and not isinstance(entry.event, Undo | PullBack):
            return position
    return -1


def taken_back(entries: Sequence[Entry], position: int) -> list[Entry]:
    """The log without the person's input at `position`."""
    entry = entries[position]
    if isinstance(entry.event, Draw):
        return amended(entries, entry._replace(event=changed(entry.event, exposed=None)))
    kept = [other for other in entries if other.id != entry.id]
    return amended(kept, entry.amends) if entry.amends is not None else kept


def amended(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    """The log with `entry` in place of the one with the same id."""
    return [entry if other.id == entry.id else other for other in entries]


def corrected_target(entry: Entry, report: ReportTarget) -> Entry:
    """The draw's entry, with the target that was reported for it."""
    return entry._replace(event=changed(entry.event, target=report.target, confirmed=True), went=None)


def exposure_entry(entries: Sequence[Entry], number: int, drawn_at: int | None) -> Entry | None:
    """The entry that says that card `number` was exposed: the draw itself or a later report."""
    for entry in entries:
        if isinstance(entry.event, Draw) and entry.id == drawn_at and entry.event.exposed:
            return entry
        if isinstance(entry.event, Exposed) and entry.event.number == number:
            return entry
    return None


def corrected_exposure(entry: Entry, by: str) -> Entry:
    """The entry of an exposure, with `by` whom it really was."""
    if isinstance(entry.event, Draw):
        return entry._replace(event=changed(entry.event, exposed=by))
    return entry._replace(event=changed(entry.event, by=by))
