"""The console's figures for Prometheus, in its text format (prometheus.io/docs/instrumenting/exposition_formats). Pure.

Names and meanings are those of docs/run-a-room.md. No figure tells anything about a card.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dealershoe.console.state import URGENT

TYPE = "text/plain; version=0.0.4; charset=utf-8"
COUNTED = {  # of a desk: what it counts since the bridge was started
    "hands": "Hands begun.",
    "draws": "Cards drawn.",
    "findings": "Findings that were ruled on.",
    "facts": "Facts taken from shoe and people.",
}
LINK = {  # of the link, by its name in the bridge's statistics
    "sessions": "Times that shoe and bridge have met.",
    "frames": "Frames received whole.",
    "crc": "Frames received damaged.",
    "naks": "Times that something was asked for again.",
    "gaps": "Gaps in the shoe's reports that could not be filled.",
    "bad_tag": "Frames that the session's key did not seal: a damaged line has crc, this is somebody.",
    "lost": "Times that the link was lost.",
    "boots": "Starts of the shoe that were seen.",
}


class Figures(NamedTuple):
    """One table at one moment. `signal`: one of URGENT."""

    table: str
    up: bool
    link_up: bool
    signal: str
    floor_called: bool
    counts: Mapping[str, int]
    link: Mapping[str, int]


def text(tables: Iterable[Figures], streams: int) -> str:
    """All of it. `streams`: open now."""
    tables = list(tables)
    lines: list[str] = []

    def family(name: str, kind: str, help: str, values: Iterable[tuple[str, int]]) -> None:
        lines.extend((f"# HELP dealershoe_{name} {help}", f"# TYPE dealershoe_{name} {kind}"))
        lines.extend(f"dealershoe_{name}{labels} {value}" for labels, value in values)

    def each(name: str, kind: str, help: str, value: Mapping[str, int]) -> None:
        family(name, kind, help, ((f'{{table="{table}"}}', number) for table, number in value.items()))

    each("table_up", "gauge", "1 while the table's bridge runs.", {one.table: int(one.up) for one in tables})
    each("link_up", "gauge", "1 while the shoe is on the line.", {one.table: int(one.link_up) for one in tables})
    each("floor_called", "gauge", "1 while the floor is called.", {one.table: int(one.floor_called) for one in tables})
    signals = (
        (f'{{table="{one.table}",signal="{name}"}}', int(one.signal == name)) for one in tables for name in URGENT
    )
    family("signal", "gauge", "1 for the signal that a table shows.", signals)
    for name, help in COUNTED.items():
        each(f"{name}_total", "counter", help, {one.table: one.counts.get(name, 0) for one in tables})
    for name, help in LINK.items():
        each(f"link_{name}_total", "counter", help, {one.table: one.link.get(name, 0) for one in tables})
    family("streams", "gauge", "Streams of events that are open.", [("", streams)])
    return "\n".join(lines) + "\n"
