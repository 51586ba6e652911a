"""The hash chain over all records of a journal, in the one order of writing. Pure; docs/record.md says it in prose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

START = b"dealershoe journal, chain 1\n"
SIZE = 32  # bytes of a chain value: SHA-256
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def start(identity: bytes) -> bytes:
    """The chain value before the first record of the journal with this identity."""
    return hashlib.sha256(START + identity).digest()


def text(table: str, seq: int, names: Sequence[str], values: Sequence[Any]) -> bytes:
    """A record as the bytes that are hashed: a JSON array without spaces, all but ASCII escaped.

    First the table and the record's number, then name and value of every column that is not NULL, in the table's
    order; bytes as an array of one string, in hexadecimal. A column that is added later, NULL in what was there
    before, leaves every earlier chain value as it is.

    >>> text("facts", 7, ("id", "origin", "raw", "who"), (3, "stdin", b"ack", None))
    b'["facts",7,"id",3,"origin","stdin","raw",["61636b"]]'
    """
    parts: list[Any] = [table, seq]
    for name, value in zip(names, values, strict=True):
        if value is not None:
            parts.append(name)
            parts.append([value.hex()] if type(value) is bytes else value)
    return _encode(parts).encode("ascii")


def link(before: bytes, record: bytes) -> bytes:
    """The chain value of a record: SHA-256 over the value before it and the record's text."""
    return hashlib.sha256(before + record).digest()
