"""The rule books of a host for the console: what each would rule on what a table has found, and which is in force."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dealershoe.chronicle import Situation
from dealershoe.console.said import kinds
from dealershoe.errors import UserError
from dealershoe.rules.judge import judge
from dealershoe.rules.shelf import Author, Shelf, now
from dealershoe.rules.shelf_history import Change, State
from dealershoe.rules.shelf_pins import Layers, names, pins
from dealershoe.rules.stack import DEFAULT, Stack, load_stack, shipped
from dealershoe.table.findings import KINDS
from dealershoe.trial.scenarios import refuse_failing

MOST = 12  # stacks that are asked: the latest of what was in force, then packs by name
CHANGES = 20  # lines of the shelf's history on a page


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of a shelf, and the stamp that it had."""

    stamp: tuple[int, int, int] | None
    state: State
    stacks: tuple[Stack, ...]


class Books:
    """A shelf and the packs that come with the program, read again when the shelf has changed. For any thread."""

    def __init__(self, folder: Path) -> None:
        self._shelf = Shelf(folder)
        self._lock = threading.Lock()
        self._known: Known | None = None

    def follow(self, folder: Path) -> None:
        """Another shelf from now on."""
        with self._lock:
            self._shelf, self._known = Shelf(folder), None

    def _look(self) -> Known:
        with self._lock:
            stamp = self._shelf.stamp()
            if self._known is None or self._known.stamp != stamp:
                state = self._shelf.state()
                stacks: dict[str, Stack] = {}
                for layers in reversed(state.activations[-3:]):
                    self._read(stacks, names(layers), layers)
                installed = sorted({pack for pack, _ in state.installed})
                for spec in (DEFAULT, *shipped(), *installed):
                    self._read(stacks, spec)
                self._known = Known(stamp, state, tuple(stacks.values())[:MOST])
            return self._known

    def _read(self, stacks: dict[str, Stack], spec: str, layers: Layers = ()) -> None:
        """One more stack; one that cannot be used is left out here: `rules verify` says why."""
        try:
            stack = self._shelf.pinned(layers) if layers else load_stack(spec, self._shelf)
        except UserError:
            return
        stacks.setdefault(stack.name, stack)

    def ask(self, situation: Situation, table: Stack) -> list[dict[str, Any]]:
        """What every stack would rule, that of the table first. A second at most: conditions are total."""
        known = self._look()
        others = [stack for stack in known.stacks if stack.name != table.name]
        return [self._answer(stack, situation, stack is table) for stack in (table, *others)]

    def _answer(self, stack: Stack, situation: Situation, in_force: bool) -> dict[str, Any]:
        ruling = judge(stack, situation.hand, situation.finding)
        told = ruling._asdict() if ruling is not None else {"ruling": "none", "say": "Nothing is wrong"}
        names_ = ("ruling", "rule", "say", "cite", "layer", "version", "decider", "window")
        answer = {name: told.get(name, "") for name in names_}
        happened = KINDS.get(situation.finding.kind, "")
        remedy = list(told.get("remedy", ()))
        return {
            "stack": stack.name, "in_force": in_force, "happened": happened, **answer, "remedy": remedy,
            "kinds": kinds([happened, answer["say"], *remedy]), "language": stack.language(answer["layer"]),
        }  # fmt: skip

    def rules(self) -> dict[str, Any]:
        """What can be put in force, the packs it is made of, and the last changes of the shelf."""
        known = self._look()
        packs = {pack.id: pack for stack in known.stacks for pack in stack.packs}
        return {
            "stacks": [stack.name for stack in known.stacks],
            "packs": [{"id": one.id, "version": one.version, "title": one.title} for one in packs.values()],
            "changes": [
                {"what": one.what, "who": one.who, "at": one.at, "stack": names(one.layers), "reason": one.reason}
                for one in reversed(known.state.changes[-CHANGES:])
            ],
        }

    def activated(self, who: str, request: str) -> Change | None:
        """The activation that `who` asked for under the name `request`, where there was one."""
        changes = reversed(self._look().state.changes)
        return next((one for one in changes if one.who == author(who) and one.reason.startswith(asked(request))), None)

    def activate(self, spec: str, who: str, request: str) -> str:
        """Put a stack in force from the next hand on; the history says who, and by which `request`.

        Returns it with versions. One that is in force already stays so, and nothing is written. A pack that fails a
        scenario of its own is not taken. Raises UserError, nothing changed.
        """
        if ".toml" in spec or "/" in spec:
            raise UserError(f"{spec} is a file", "what is put in force comes from the shelf", "install it first")
        stack = load_stack(spec, self._shelf)
        layers = pins(stack.files)
        if self._shelf.state().active == layers:
            return names(layers)
        for pack in stack.packs:
            refuse_failing(pack, self._shelf)
        return names(self._shelf.activate(spec, Author(author(who), now()), asked(request) + spec))


def author(who: str) -> str:
    """Somebody at the console, as the shelf's history has them."""
    return f"{who} (console)"


def asked(request: str) -> str:
    """How a client's own name for an activation begins its reason in the history; behind it stands what was asked."""
    return f"request {json.dumps(request)}: "
