"""Writes `shoelink/schema.pyi`, the schema's types for the checker, when the schema changes: `python protocol/stub.py`.

MicroPython has no typed namedtuples, so the types are derived from the schema's own tables; a test keeps the two equal.
"""

from __future__ import annotations

import re
from pathlib import Path

from shoelink import schema

STUB = Path(__file__).parent / "shoelink" / "schema.pyi"

_HEAD = '''"""The types of `schema.py`; written by `protocol/stub.py`, do not edit."""

from typing import Any, Final, NamedTuple

'''

_TAIL = """
NAMES: dict[int, str]
SENDERS: dict[int, int]
TYPES: dict[int, type[Message]]
FIELDS: dict[int, str]
LAYOUTS: dict[int, str]
MINIMUM: dict[int, int]
KIND_OF: dict[type[Message], int]
CODES: dict[str, tuple[tuple[int, str], ...]]

class ShortBodyError(ValueError): ...

def canonical() -> str: ...
def pack(message: Message) -> bytes: ...
def pack_into(buffer: bytearray | memoryview, at: int, message: Message) -> int: ...
def unpack(kind: int, body: bytes | bytearray | memoryview) -> Any: ...
def known(kind: int, from_host: bool) -> int: ...
def code_name(field: str, code: int) -> str: ...
def word(value: int) -> bytes: ...
def value(four: bytes) -> int: ...
"""


def stub() -> str:
    """The text that `schema.pyi` must have."""
    lines = [_HEAD]
    for name, what in vars(schema).items():
        if name.isupper() and isinstance(what, int):
            lines.append(f"{name}: Final = {what}\n")
        elif name.isupper() and isinstance(what, bytes):
            lines.append(f"{name}: Final[bytes]\n")
    for kind, message in schema.TYPES.items():
        lines.append(f"\nclass {message.__name__}(NamedTuple):\n")
        codes = re.sub(r"<|\d+", "", schema.LAYOUTS[kind])
        for field, code in zip(schema.FIELDS[kind].split(), codes, strict=True):
            hides = "  # type: ignore[assignment]" if field in dir(tuple) else ""
            lines.append(f"    {field}: {'bytes' if code == 's' else 'int'}{hides}\n")
    lines.append(
        "\nMessage = (\n    " + "\n    | ".join(message.__name__ for message in schema.TYPES.values()) + "\n)\n"
    )
    lines.append(_TAIL)
    return "".join(lines)


if __name__ == "__main__":
    STUB.write_text(stub())
