"""The history of a shelf: who changed what, when, to which digest. Pure; it is the shelf's only truth.

What is trusted, installed and active is a fold over the lines, so no second file can disagree with them. Each line
carries the SHA-256 of the one before: a line that was changed or taken out shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from dealershoe.errors import UserError
from dealershoe.rules.shelf_names import Version
from dealershoe.rules.shelf_pins import Layers, Pin, read_pin
from dealershoe.rules.signing import key_id

BIGGEST = 16 * 1024 * 1024  # bytes: a change a day for a century is a tenth


class Installed(NamedTuple):
    """A pack on the shelf, and how many trusted keys had to sign it when it came."""

    pin: Pin
    needed: int


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the history. Which fields are filled depends on `what`."""

    what: str  # trust revoke need install activate rollback
    who: str = ""
    at: str = ""  # UTC, ISO 8601
    key: str = ""
    public: str = ""  # the trusted key, in hex
    pin: Pin | None = None  # what was installed
    keys: tuple[str, ...] = ()  # trusted keys that had signed it
    layers: Layers = ()
    signatures: int = 0  # how many trusted keys must have signed: from now on, or the pack that was installed
    reason: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """What a history comes to."""

    trusted: Mapping[str, bytes] = field(default_factory=dict)  # key id → 32 bytes, without the revoked
    revoked: frozenset[str] = frozenset()
    needed: int = 1
    installed: Mapping[tuple[str, Version], Installed] = field(default_factory=dict)
    activations: tuple[Layers, ...] = ()  # the last is in force; a rollback takes the ones behind away
    marks: Mapping[str, Version] = field(default_factory=dict)  # no activation goes below these
    changes: tuple[Change, ...] = ()
    lines: tuple[str, ...] = ()  # the SHA-256 of each line

    @property
    def active(self) -> Layers:
        """The stack in force, () for none."""
        return self.activations[-1] if self.activations else ()

    @property
    def before(self) -> Layers:
        """The stack that was in force before, () for none."""
        return self.activations[-2] if len(self.activations) > 1 else ()

    def highest(self, pack: str) -> Version | None:
        """The highest version of `pack` that is installed."""
        return max((version for name, version in self.installed if name == pack), default=None)


def trusting(public: bytes) -> State:
    """The state of a house that trusts this one key (32 bytes) and has nothing yet."""
    return State(trusted={key_id(public): public})


def write(history: bytes, change: Change) -> bytes:
    """The history with one more line."""
    state = read(history)
    data = {name: value for name, value in asdict(change).items() if value or name in ("who", "at")}
    data |= {"n": len(state.lines) + 1, "prev": state.lines[-1] if state.lines else ""}
    if change.pin:
        data["pin"] = list(change.pin)
    return history + json.dumps(data, sort_keys=True).encode("ascii") + b"\n"


def read(history: bytes) -> State:
    """Fold a history. Raises UserError, naming the line, when it is not whole."""
    state = State()
    changes: list[Change] = []
    digests: list[str] = []
    lines = history.split(b"\n")
    if lines.pop() != b"":
        raise _damaged(len(lines) + 1, "its end is missing")
    for number, line in enumerate(lines, 1):
        try:
            data = json.loads(line)
            if data.pop("n") != number or data.pop("prev") != (digests[-1] if digests else ""):
                raise _damaged(number, "a line before it was changed or is missing")
            changes.append(_change(data))
            state = _FOLD[changes[-1].what](state, changes[-1])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _damaged(number, "it is no line of a history") from error
        digests.append(hashlib.sha256(line).hexdigest())
    return replace(state, changes=tuple(changes), lines=tuple(digests))


def follows(new: State, old: State) -> bool:
    """Is `new` the history `old` with lines added, none changed?"""
    return new.lines[: len(old.lines)] == old.lines


def _damaged(line: int, why: str) -> UserError:
    return UserError(
        f"the shelf's history is damaged in line {line}: {why}",
        "the file was edited or the disk failed",
        "put the file back from a copy",
    )


def _change(data: Any) -> Change:
    data = dict(data)
    if "pin" in data:
        data["pin"] = read_pin(data["pin"])
    data["layers"] = tuple(tuple(read_pin(pin) for pin in layer) for layer in data.get("layers", ()))
    data["keys"] = tuple(data.get("keys", ()))
    change = Change(**data)
    for name in ("what", "who", "at", "key", "public", "reason"):
        if not isinstance(getattr(change, name), str):
            raise ValueError(name)
    return change


# ---- the fold: one function a kind of change


def _trust(state: State, change: Change) -> State:
    public = bytes.fromhex(change.public)
    if key_id(public) != change.key:
        raise ValueError("key")
    return replace(state, trusted={**state.trusted, change.key: public})


def _revoke(state: State, change: Change) -> State:
    trusted = {key: public for key, public in state.trusted.items() if key != change.key}
    return replace(state, trusted=trusted, revoked=state.revoked | {change.key})


def _need(state: State, change: Change) -> State:
    return replace(state, needed=_count(change))


def _install(state: State, change: Change) -> State:
    if change.pin is None:
        raise ValueError("pin")
    at = (change.pin.pack, Version.parse(change.pin.version))
    return replace(state, installed={**state.installed, at: Installed(change.pin, _count(change))})


def _count(change: Change) -> int:
    if not isinstance(change.signatures, int) or change.signatures < 1:
        raise ValueError("signatures")
    return change.signatures


def _marks(state: State, layers: Layers) -> dict[str, Version]:
    if not layers or not all(layers):
        raise ValueError("layers")
    return {**state.marks, **{pin.pack: Version.parse(pin.version) for layer in layers for pin in layer}}


def _activate(state: State, change: Change) -> State:
    again = change.layers == state.active
    activations = state.activations if again else (*state.activations, change.layers)
    return replace(state, activations=activations, marks=_marks(state, change.layers))


def _rollback(state: State, change: Change) -> State:
    """Back to an earlier activation: what came after it is no longer there to go back to."""
    earlier = state.activations[:-1]
    if change.layers in earlier:
        last = len(earlier) - earlier[::-1].index(change.layers)
        kept = earlier[:last]
    else:
        kept = (*state.activations, change.layers)
    return replace(state, activations=kept, marks=_marks(state, change.layers))


_FOLD: Mapping[str, Callable[[State, Change], State]] = {
    "trust": _trust,
    "revoke": _revoke,
    "need": _need,
    "install": _install,
    "activate": _activate,
    "rollback": _rollback,
}
