"""Signatures of rule packs: Ed25519 keys, the signed statement, the detached file. For the shelf and its commands.

A signature speaks of one pack, one version and one file, by one key: all four are in the signed bytes, so no signature
fits anything else. A signature file holds one JSON object a line, one line a key.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dealershoe.errors import UserError
from dealershoe.rules.shelf_names import Version, checked_id

STATEMENT = "dealershoe rule pack, statement 1"  # keeps these signatures apart from all others made with the same key
BIGGEST = 16 * 1024  # bytes of a signature file: some forty keys
_HEX = {"digest": 64, "key": 32, "signature": 128}  # digits; the digest is a SHA-256, a signature 64 bytes (RFC 8032)


@dataclass(frozen=True, slots=True)
class Signature:
    """One line of a signature file: `key` signed that `pack` at `version` is the file with SHA-256 `digest`."""

    pack: str
    version: str
    digest: str
    key: str
    signature: str

    def __str__(self) -> str:
        return f"{self.pack}@{self.version}"


def statement(pack: str, version: str, digest: str, key: str) -> bytes:
    """The bytes that are signed. No field can hold a line end, so no two statements have the same bytes."""
    return f"{STATEMENT}\npack {pack}\nversion {version}\nsha256 {digest}\nkey {key}\n".encode("ascii")


def key_id(public: bytes) -> str:
    """How a public key (32 bytes) is called: the first 128 bits of its SHA-256."""
    return hashlib.sha256(public).hexdigest()[: _HEX["key"]]


def sign(private: Ed25519PrivateKey, pack: str, version: str, digest: str) -> Signature:
    """Sign. Raises UserError for a pack that a shelf would not take by its name or version."""
    Version.parse(version)
    key = key_id(raw_public(private.public_key()))
    signature = private.sign(statement(checked_id(pack), version, digest, key)).hex()
    return Signature(pack, version, digest, key, signature)


def genuine(signature: Signature, public: bytes) -> bool:
    """Did the owner of `public` (32 bytes) sign exactly this?"""
    if key_id(public) != signature.key:
        return False
    said = statement(signature.pack, signature.version, signature.digest, signature.key)
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(signature.signature), said)
    except (InvalidSignature, ValueError):
        return False
    return True


# ---- signature files


def write_signatures(signatures: Iterable[Signature]) -> bytes:
    """The bytes of a signature file."""
    return "".join(json.dumps(asdict(one), sort_keys=True) + "\n" for one in signatures).encode("ascii")


def read_signatures(raw: bytes, name: str) -> tuple[Signature, ...]:
    """The signatures in a file called `name`, not checked yet: one at least, all of the same pack, version and digest.

    Raises UserError for anything else.
    """
    try:
        if len(raw) > BIGGEST:
            raise ValueError(f"more than {BIGGEST} bytes")
        found = tuple(_signature(json.loads(line)) for line in raw.decode("ascii").splitlines())
        if len({(one.pack, one.version, one.digest) for one in found}) != 1:
            raise ValueError("not of one pack")
        if len({one.key for one in found}) != len(found):
            raise ValueError("a key signed twice")
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{name} is not a signature file", "it is damaged or something else", "sign the pack with `rules sign`"
        ) from error
    return found


def _signature(data: object) -> Signature:
    if not isinstance(data, dict) or set(data) != set(Signature.__dataclass_fields__):
        raise ValueError("other fields")
    fields: Mapping[str, object] = data
    for name, value in fields.items():
        if not isinstance(value, str) or (name in _HEX and not re.fullmatch(f"[0-9a-f]{{{_HEX[name]}}}", value)):
            raise ValueError(name)
    one = Signature(**{name: str(value) for name, value in fields.items()})
    try:
        checked_id(one.pack)
        Version.parse(one.version)
    except UserError as error:
        raise ValueError(str(error)) from error
    return one


# ---- keys


def new_key() -> Ed25519PrivateKey:
    """A new private key, from the system's random source."""
    return Ed25519PrivateKey.generate()


def raw_public(public: Ed25519PublicKey) -> bytes:
    """The 32 bytes of a public key (RFC 8032, 5.1.5)."""
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def private_pem(private: Ed25519PrivateKey) -> bytes:
    """A private key as a PKCS#8 file, not encrypted: the file's permissions guard it."""
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def public_pem(private: Ed25519PrivateKey) -> bytes:
    """The public half as a PEM file."""
    return private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def read_private(raw: bytes, name: str) -> Ed25519PrivateKey:
    """The private key in a file called `name`. Raises UserError for anything else."""
    try:
        key = serialization.load_pem_private_key(raw, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _no_key(name, "private", "rules keygen") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(name, "private", "rules keygen")
    return key


def read_public(raw: bytes, name: str) -> bytes:
    """The 32 bytes of the public key in a file called `name`. Raises UserError for anything else."""
    try:
        key = serialization.load_pem_public_key(raw)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(name, "public", "rules keygen") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(name, "public", "rules keygen")
    return raw_public(key)


def _no_key(name: str, half: str, command: str) -> UserError:
    other = "; a private key is never given away" if half == "public" else ""
    return UserError(
        f"{name} holds no {half} Ed25519 key", "it is another kind of file", f"use one of `{command}`{other}"
    )
