"""The host's keys: which shoes are enrolled here, in a file that only its owner may read. For `enroll` and `run`."""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from shoelink.seal import KEY

from dealershoe.errors import UserError
from dealershoe.owned import Owned

DEVICE = 8  # bytes of a device id
FILE = Owned(
    "keys",
    "whoever reads them can speak as the shoe and as its host",
    "enroll again",
    "enroll the shoes again",
    "--keys",
    mark=re.compile(rb'"[0-9A-Fa-f]{%d}"\s*:\s*"[0-9A-Fa-f]{%d}"' % (2 * DEVICE, 2 * KEY)),
)


def default_path() -> Path:
    """Where the keys of this user are: $XDG_CONFIG_HOME/dealershoe/keys.json, or ~/.config/…"""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dealershoe" / "keys.json"


def load(path: Path) -> dict[bytes, bytes]:
    """Device id → key; empty when there is no file. Raises UserError when it is damaged or others may read it."""
    text = FILE.read(path)
    if text is None:
        return {}
    try:
        keys = {bytes.fromhex(device): bytes.fromhex(key) for device, key in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise FILE.damaged(path) from error
    if any(len(device) != DEVICE or len(key) != KEY for device, key in keys.items()):
        raise FILE.damaged(path)
    return keys


def enrolled(named: Path | None) -> dict[bytes, bytes]:
    """The keys of the file that somebody has `named`, or of this user's; without keys there any shoe would be taken.

    Raises UserError as `load`, where a named file is not there, and for a file without a key.
    """
    path = named or default_path()
    keys = load(path)
    if not keys and path.exists():
        raise UserError(f"there is no key in {path}", "it was emptied", "enroll the shoes again, or move it away")
    if not keys and path != default_path():
        raise UserError(
            f"there is no file of keys {path}",
            "its name is mistyped, or no shoe was enrolled with it",
            "enroll a shoe into it, or say that any shoe is taken: --any-shoe, in a room's file any-shoe = true",
        )
    return keys


def pin(path: Path, device: bytes, key: bytes) -> None:
    """Keep the key of a device, whole or not at all, for the owner's eyes. Raises UserError."""
    with FILE.changing(path):
        FILE.write(path, _text(load(path) | {device: key}))


@dataclass(frozen=True, slots=True)
class Pending:
    """A key that may be given to a device: on the disk, in the whole `file` of keys that `path` would be with it."""

    path: Path
    device: bytes
    key: bytes
    file: Path
    _kept: str  # in it

    def settle(self) -> None:
        """The device has it: keep it in `path`. Raises UserError; the pending file is then still there."""
        with FILE.changing(self.path):
            text = _text(load(self.path) | {self.device: self.key})
            if text == self._kept:  # a full disk has room for that
                FILE.put(self.file, self.path)
                return
            FILE.write(self.path, text)  # another shoe was enrolled meanwhile
        self.drop()

    def drop(self) -> None:
        """The device does not have it."""
        with contextlib.suppress(OSError):
            self.file.unlink()


def pend(path: Path, device: bytes, key: bytes) -> Pending:
    """Keep a key beside `path`, before the device gets it. Raises UserError."""
    text = _text(load(path) | {device: key})
    return Pending(path, device, key, FILE.beside(path, text), text)


def _text(keys: dict[bytes, bytes]) -> str:
    return json.dumps({device.hex(): key.hex() for device, key in sorted(keys.items())}, indent=1) + "\n"
