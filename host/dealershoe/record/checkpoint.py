"""What the bridge's key signs in a journal: checkpoints and prunings. Pure; for the journal and its verifier.

Signatures are Ed25519 (RFC 8032). The first line of each statement keeps it apart from everything else that may be
signed with the same key; no field can hold a line end.
"""

from __future__ import annotations

import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dealershoe.entries import CheckpointRow, PruneRow
from dealershoe.rules.signing import key_id, raw_public

CHECKPOINT = "dealershoe journal, checkpoint 1"
PRUNING = "dealershoe journal, pruning 1"


def statement(identity: bytes, seq: int, row: CheckpointRow) -> bytes:
    """What a checkpoint signs: record `seq` - 1 of the journal has this chain value; the clock said so much."""
    return (
        f"{CHECKPOINT}\njournal {identity.hex()}\nrecord {seq - 1}\nchain {row.head.hex()}\n"
        f"wall_ns {row.wall_ns}\nkey {row.key}\n"
    ).encode("ascii")


def pruning(identity: bytes, row: PruneRow) -> bytes:
    """What a pruning signs: records up to `last` were taken out, the chain value there, what the shoes may forget."""
    said = "\0".join((row.marks, row.who, row.why)).encode()
    return (
        f"{PRUNING}\njournal {identity.hex()}\nrecord {row.last}\nchain {row.head.hex()}\n"
        f"said {hashlib.sha256(said).hexdigest()}\nwall_ns {row.wall_ns}\nkey {row.key}\n"
    ).encode("ascii")


class Signer:
    """The bridge's key, and its name, which takes as long to find as a signature: a journal asks for it once."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self._name = key_id(raw_public(key.public_key()))

    def checkpoint(self, identity: bytes, seq: int, head: bytes, wall_ns: int) -> CheckpointRow:
        """The checkpoint that is to become record `seq`."""
        row = CheckpointRow(head, wall_ns, self._name, b"")
        return CheckpointRow(head, wall_ns, row.key, self._key.sign(statement(identity, seq, row)))

    def pruning(self, identity: bytes, row: PruneRow) -> PruneRow:
        """The same with key and signature."""
        named = PruneRow(*_said(row), self._name, b"")
        return PruneRow(*_said(row), named.key, self._key.sign(pruning(identity, named)))


def _said(row: PruneRow) -> tuple[int, bytes, str, str, str, int]:
    return row.last, row.head, row.marks, row.who, row.why, row.wall_ns


def genuine(public: bytes, signature: bytes, said: bytes) -> bool:
    """Did the owner of `public` (32 bytes) sign exactly this?"""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, said)
    except (InvalidSignature, ValueError):
        return False
    return True
