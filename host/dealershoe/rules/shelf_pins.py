"""Which files exactly a stack is made of: by name, version and digest. Pure; for the shelf and a table's journal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from dealershoe.errors import UserError
from dealershoe.rules.pack import Pack
from dealershoe.rules.shelf_names import Version, checked_id
from dealershoe.rules.stack import Chain

SHOWN = 16  # digits of a digest in a sentence
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Pin(NamedTuple):
    """One file: a pack, its version, the SHA-256 of its bytes."""

    pack: str
    version: str
    digest: str

    def __str__(self) -> str:
        return f"{self.pack}@{self.version}"


Layers = tuple[tuple[Pin, ...], ...]  # a stack, highest first; each layer with what it extends behind it


def pin_of(pack: Pack) -> Pin:
    """The file of a pack."""
    return Pin(pack.id, pack.version, pack.digest)


def pins(files: tuple[Chain, ...]) -> Layers:
    """The files of a stack."""
    return tuple(tuple(pin_of(pack) for pack in chain) for chain in files)


def names(layers: Layers) -> str:
    """A stack as a person writes it down, with versions."""
    return "+".join(str(layer[0]) for layer in layers)


def described(layers: Layers) -> str:
    """A stack for a person to read: every file with the beginning of its digest."""
    return " + ".join(
        " extending ".join(f"{pin.pack} {pin.version} ({pin.digest[:SHOWN]}…)" for pin in layer) for layer in layers
    )


def write_layers(layers: Layers) -> str:
    """As one line, for a journal."""
    return json.dumps(layers, separators=(",", ":"))


def read_layers(data: Any) -> Layers:
    """From JSON values, or from one line. Raises UserError for anything else."""
    try:
        found = json.loads(data) if isinstance(data, str) else data
        return tuple(tuple(read_pin(pin) for pin in layer) for layer in found)
    except (ValueError, TypeError, RecursionError) as error:
        raise UserError("this names no stack", "the journal is damaged", "put it back from a copy") from error


def read_pin(data: Iterable[Any]) -> Pin:
    """From JSON values. Raises ValueError or TypeError for anything else."""
    pin = Pin(*data)
    if not all(isinstance(part, str) for part in pin) or not _DIGEST.fullmatch(pin.digest):
        raise ValueError("pin")
    try:
        checked_id(pin.pack)
        Version.parse(pin.version)
    except UserError as error:
        raise ValueError(str(error)) from error
    return pin
