"""The bridge's signing key: one file for its owner alone, made at the first run. For the bridge and `journal key`."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dealershoe.errors import UserError
from dealershoe.rules.shelf_disk import Disk, create_file, make_folders, private, read_file
from dealershoe.rules.signing import new_key, private_pem, read_private, read_public

VARIABLE = "DEALERSHOE_BRIDGE_KEY"
BIGGEST = 4096  # bytes of a key file; a PKCS#8 Ed25519 key has 119


def default_key() -> Path:
    """DEALERSHOE_BRIDGE_KEY, or the user's data folder by the XDG base directory specification."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "dealershoe" / "bridge.key"


def bridge_key(path: Path) -> Ed25519PrivateKey:
    """The key in `path`; made where there is none. Raises UserError where others may read it, or it is no key."""
    if not os.path.lexists(path):
        make_folders(Disk(), path.parent)
        _make(path)
    return existing_key(path)


def _make(path: Path) -> None:
    try:
        create_file(Disk(), path, private_pem(new_key()), 0o600)
    except UserError:
        if not path.exists():  # else another bridge has made it in this moment
            raise


def existing_key(path: Path) -> Ed25519PrivateKey:
    """The key in `path`, which must be there."""
    private_file = read_file(path, BIGGEST)
    private(path)
    return read_private(private_file, str(path))


def public_key(path: Path) -> bytes:
    """The 32 bytes of the public key in a file."""
    return read_public(read_file(path, BIGGEST), str(path))
