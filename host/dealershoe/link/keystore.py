"""The host's keys: which shoes are enrolled here, in a file that only its owner may read. For `enroll` and `run`."""

from __future__ import annotations

import json
import os
from pathlib import Path

from shoelink.seal import KEY

from dealershoe.owned import Owned

DEVICE = 8  # bytes of a device id
FILE = Owned(
    "keys",
    "whoever reads them can speak as the shoe and as its host",
    "enroll again",
    "enroll the shoes again",
    "--keys",
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
    except (ValueError, AttributeError, TypeError) as error:
        raise FILE.damaged(path) from error
    if any(len(device) != DEVICE or len(key) != KEY for device, key in keys.items()):
        raise FILE.damaged(path)
    return keys


def pin(path: Path, device: bytes, key: bytes) -> None:
    """Keep the key of a device, whole or not at all, for the owner's eyes. Raises UserError."""
    keys = load(path) | {device: key}
    text = json.dumps({device.hex(): key.hex() for device, key in sorted(keys.items())}, indent=1) + "\n"
    FILE.write(path, text)
