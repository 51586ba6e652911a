"""The host's keys: which shoes are enrolled here, in a file that only its owner may read. For `enroll` and `run`."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from shoelink.seal import KEY

from dealershoe.errors import UserError

DEVICE = 8  # bytes of a device id


def default_path() -> Path:
    """Where the keys of this user are: $XDG_CONFIG_HOME/dealershoe/keys.json, or ~/.config/…"""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dealershoe" / "keys.json"


def load(path: Path) -> dict[bytes, bytes]:
    """Device id → key; empty when there is no file. Raises UserError when it is damaged or others may read it."""
    try:
        with path.open(encoding="ascii") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read()
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise _damaged(path) from error
    except OSError as error:
        raise UserError(f"the keys in {path} cannot be read", str(error), "look at its owner and rights") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise UserError(
            f"the keys in {path} are open to others (mode {stat.S_IMODE(mode):o})",
            "whoever reads them can speak as the shoe and as its host",
            f"run `chmod 600 {path}`, and enroll again if others have had access",
        )
    try:
        keys = {bytes.fromhex(device): bytes.fromhex(key) for device, key in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise _damaged(path) from error
    if any(len(device) != DEVICE or len(key) != KEY for device, key in keys.items()):
        raise _damaged(path)
    return keys


def pin(path: Path, device: bytes, key: bytes) -> None:
    """Keep the key of a device, whole or not at all, for the owner's eyes. Raises UserError."""
    keys = load(path) | {device: key}
    text = json.dumps({device.hex(): key.hex() for device, key in sorted(keys.items())}, indent=1) + "\n"
    new = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        raise UserError(
            f"the keys cannot be written to {path} ({error.strerror})",
            "the folder is missing or may not be written",
            "choose another file with --keys",
        ) from error


def _damaged(path: Path) -> UserError:
    return UserError(
        f"the keys in {path} are damaged",
        "the file was cut off or edited",
        "restore it, or move it away and enroll the shoes again",
    )
