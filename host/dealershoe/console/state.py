"""A table as JSON, for pages and table systems: what may be seen of it by whoever may see the table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from dealershoe.bridge.bridge import Bridge
from dealershoe.console.said import kinds, why_down
from dealershoe.defects import shown
from dealershoe.view.snapshot import Snapshot

URGENT = ("stop", "floor", "attention", "unsupervised", "align", "ready")  # what needs a person first


HEALTH = {  # the floor's name of a figure of the link
    "frames": "frames received",
    "crc": "frames damaged",
    "naks": "asked for again",
    "lost": "times the link was lost",
    "boots": "starts of the shoe",
}


def state_of(name: str, version: int, now: Snapshot, link: Mapping[str, int], *, open_table: bool) -> dict[str, Any]:
    """The table. Cards are named only if it is open: the snapshot of a sealed one has no names in it.

    `link`: the figures of the link.
    """
    kind, _, seat = now.due.partition(" ")
    marks = {mark: view.seat for view in now.seats for mark in view.marks if mark in ("button", "sb", "bb")}
    whole = asdict(now)
    return {
        "table": name,
        "version": version,
        "title": now.title,
        "stack": now.stack,
        "next_stack": now.next_stack,
        "open": open_table,
        "link": now.link,
        "link_why": now.link_why,
        "signal": now.light.state,
        "light": {key: whole["light"][key] for key in ("state", "light", "sound")},
        "floor_called": now.floor_called,
        "hand": now.hand,
        "hand_over": now.hand_over,
        "street": now.street,
        "button": marks.get("button"),
        "sb": marks.get("sb"),
        "bb": marks.get("bb"),
        "due": {"kind": kind, "seat": int(seat) if seat else None, "text": now.due},
        "shuffle": now.shuffle,
        "ruling": whole["in_force"],
        "can_undo": now.can_undo,
        "health": [
            {"figure": figure, "name": words, "value": str(link.get(figure, 0))} for figure, words in HEALTH.items()
        ],
        "counts": dict(now.counts),
        "kinds": _kinds(now),
        **{
            key: whole[key]
            for key in (
                "seats", "burns", "board", "muck", "board_faces", "draws", "rulings", "steps", "question", "unseen",
                "faults", "notes",
            )
        },
    }  # fmt: skip


def _kinds(now: Snapshot) -> dict[str, Any]:
    """Of what kind the sentences are that pages show of the table."""
    rulings = (*now.rulings, *((now.in_force,) if now.in_force is not None else ()))
    texts = [one for ruling in rulings for one in (ruling.happened, ruling.say)]
    texts += [*(step.text for step in now.steps), *now.faults, *now.notes, now.question or ""]
    if now.link == "unsupervised":
        return kinds(texts) | {now.link_why: why_down(now.link_why)}
    return kinds([*texts, now.link_why])


def urgency(state: dict[str, Any]) -> tuple[int, str]:
    """Tables in the order in which they need a person."""
    kind = "floor" if state["floor_called"] and state["signal"] != "stop" else state["signal"]
    return URGENT.index(kind), state["table"]


def down(name: str, version: int, bridge: Bridge) -> dict[str, Any]:
    """A table whose bridge has ended, as it was, with the reason."""
    why = f"the table's bridge has failed: {shown(bridge.error)}" if bridge.error else "the table's bridge has stopped"
    now = replace(bridge.snapshot(), link="unsupervised", link_why=why)
    state = state_of(name, version, now, bridge.statistics, open_table=bridge.desk.open_table)
    return {**state, "signal": "unsupervised"}
