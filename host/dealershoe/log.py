"""A session's log of one hand: entries, and how undo, pull-back and late reports change it. Pure; for the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from dealershoe.events import Draw, Event, Exposed, OffTable, Place, PullBack, ReportBoxed, ReportTarget, Undo

SHOE = ("shoe", "seat sensor")  # sources that are not people: an undo passes over what they said
Passed = tuple[int, int]  # a card that left the shoe: its number, and the entry at which it did; it may do so twice
Key = tuple[int, str, int]  # of a finding: the entry it arose at, its kind, what it is about


class Entry(NamedTuple):
    """One fact of the log. `amends`: the entry that it changed, as that was before; `overrules`: a finding.

    `went`: where the cards of a passage were due of which nobody said where they went, one for each; a later change of
    what was due does not move them.
    `noticed`: the findings that it put aside, with the entries at which they had been noticed.
    `about`: the card that a report speaks of, exposed or boxed.
    """

    id: int
    event: Event
    source: str
    amends: Entry | None = None
    overrules: Key | None = None
    went: tuple[Place | None, ...] = ()
    noticed: tuple[tuple[Key, int], ...] = ()
    about: Passed = (0, 0)


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
    return entry._replace(event=changed(entry.event, target=report.target, confirmed=True), went=())


def told_of(entry: Entry) -> int:
    """The number of the card that the entry's report is about, 0 where it says none."""
    return getattr(entry.event, "number", None) or entry.about[0]


def says_boxed(entry: Entry, card: Passed) -> bool | None:
    """Whether the card was boxed by the word of this entry; None: it says nothing of that.

    Who says that a card was exposed says that it was face down in the shoe. What the shoe saw itself is no word.
    """
    event = entry.event
    if isinstance(event, Draw):
        return False if entry.id == card[1] and (event.exposed or event.up) else None
    if not isinstance(event, Exposed | ReportBoxed) or entry.about != card:
        return None
    return isinstance(event, ReportBoxed) and event.boxed


def overtaken(entries: Sequence[Entry], entry: Entry, card: Passed, boxed: bool) -> bool:
    """Has somebody said otherwise since than `entry`, by whose word the card was `boxed`, or was not?

    A key that says "the last card is exposed" does not say otherwise, nor does a seat node: they are about a card that
    lies face up, however that came about.
    """
    return any(other.id > entry.id and _knows(other) and says_boxed(other, card) is (not boxed) for other in entries)


def _knows(entry: Entry) -> bool:
    """Is it the word of somebody who has seen which way up the card left the shoe?"""
    event = entry.event
    return isinstance(event, ReportBoxed) or (getattr(event, "number", None) is not None and entry.source not in SHOE)


def exposure_entry(entries: Sequence[Entry], report: Exposed | OffTable, drawn_at: int | None) -> Entry | None:
    """The entry that said already what `report` says of its card: the draw itself or an earlier report."""
    for entry in entries:
        event = entry.event
        if isinstance(event, Draw) and entry.id == drawn_at:
            if event.exposed if isinstance(report, Exposed) else event.target == "off-table":
                return entry
        elif isinstance(event, Exposed | OffTable) and type(event) is type(report) and told_of(entry) == report.number:
            return entry
    return None


def contradicts(told: Entry, report: Exposed | OffTable) -> bool:
    """Does `report` say otherwise than `told` who exposed the card or sent it off the table, or what it touched?"""
    event = told.event
    if isinstance(event, Draw):
        by, touched = (event.exposed if isinstance(report, Exposed) else event.knocked) or "dealer", event.touched
    else:
        assert isinstance(event, Exposed | OffTable)
        by, touched = event.by, isinstance(event, Exposed) and event.touched
    return by != report.by or (isinstance(report, Exposed) and touched != report.touched)


def corrected_exposure(entry: Entry, report: Exposed | OffTable) -> Entry:
    """The entry, with `report` for what it said of the same card."""
    if not isinstance(entry.event, Draw):
        return entry._replace(event=report)
    if isinstance(report, Exposed):
        return entry._replace(event=changed(entry.event, exposed=report.by, touched=report.touched))
    return entry._replace(event=changed(entry.event, knocked="player" if report.by == "player" else None))
