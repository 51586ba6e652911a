"""The schema holds together: bits of the kinds, room for every body, one set of types, one README."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path

import pytest
import stub
from shoelink import notice, schema

PROTOCOL = Path(schema.__file__).parents[1]
README = (PROTOCOL / "README.md").read_text()


def _table(heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of the README, without its head."""
    section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows[2:]]


@pytest.mark.parametrize("kind", sorted(schema.NAMES), ids=lambda kind: schema.NAMES[kind])
def test_bits_of_a_kind_say_who_sends_it_and_how(kind: int) -> None:
    assert kind & 0x1F, "number 0 is never used"
    if kind & schema.FROM_HOST:
        assert schema.SENDERS[kind] == schema.HOST
    else:
        assert schema.SENDERS[kind] != schema.HOST
    if kind & schema.RELIABLE and kind & schema.FROM_HOST:
        assert schema.FIELDS[kind].split()[0] == "generation", "an unknown one is confirmed by its first two bytes"
        assert schema.LAYOUTS[kind].startswith("<H")
    elif kind & schema.RELIABLE:
        assert schema.MINIMUM[kind] <= schema.EVENT, "it must fit a journal slot"
    assert schema.MINIMUM[kind] <= schema.BODY


def test_kinds_are_known_only_from_the_end_that_may_send_them() -> None:
    assert schema.known(schema.CARD, False) == schema.CARD
    assert schema.known(schema.CARD | schema.FROM_HOST, True) == 0
    assert schema.known(schema.SIGNAL, True) == schema.SIGNAL
    assert schema.known(schema.SIGNAL & ~schema.FROM_HOST, False) == 0
    assert schema.known(schema.PING, False) == schema.known(schema.PING | schema.FROM_HOST, True) == schema.PING
    assert schema.known(schema.STATS | schema.FROM_HOST, True) == 0
    assert schema.known(0x1F, False) == 0


def test_a_short_body_is_an_error_and_a_longer_one_is_not() -> None:
    signal = schema.Signal(5, schema.SIGNAL_STOP, schema.REASON_MISDEAL, schema.MODE_SUPERVISED)
    body = schema.pack(signal)
    assert schema.unpack(schema.SIGNAL, body + b"newer") == signal
    with pytest.raises(schema.ShortBodyError, match="SIGNAL: 4 bytes of body, at least 5 expected"):
        schema.unpack(schema.SIGNAL, body[:-1])


def test_the_hash_is_of_the_canonical_text() -> None:
    # Changed on purpose? Then MINOR, or MAJOR, changes too once 1.0 is on a table, and these lines with it.
    assert hashlib.sha256(schema.canonical().encode()).digest()[:4] == schema.SCHEMA
    assert f"`{schema.SCHEMA.hex()}`" in README
    assert (schema.MAJOR, schema.MINOR, schema.SCHEMA.hex()) == (1, 0, "5cbdadf8")


def test_the_types_are_those_of_the_schema() -> None:
    """`schema.pyi` is written by `protocol/stub.py`: run it after a change of the schema."""
    assert ast.dump(ast.parse(stub.STUB.read_text())) == ast.dump(ast.parse(stub.stub()))


def test_the_types_of_the_notices_are_those_of_the_notices() -> None:
    declared = {
        node.name: tuple(item.target.id for item in node.body if isinstance(item, ast.AnnAssign))  # type: ignore[union-attr]
        for node in ast.parse((PROTOCOL / "shoelink" / "notice.pyi").read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    assert declared == {name: what._fields for name, what in vars(notice).items() if hasattr(what, "_fields")}


def test_readme_lists_every_kind_as_the_schema_has_it() -> None:
    senders = {schema.SHOE: "shoe", schema.HOST: "host", schema.SHOE + schema.HOST: "both"}
    expected = [
        [
            schema.NAMES[kind],
            f"{kind:02X}" if schema.SENDERS[kind] != 3 else f"{kind:02X} / {kind | schema.FROM_HOST:02X}",
            senders[schema.SENDERS[kind]],
            "yes" if kind & schema.CRITICAL else "",
            "yes" if kind & schema.RELIABLE else "",
        ]
        for kind in schema.NAMES
    ]
    assert [row[:5] for row in _table("Kinds")] == expected


def test_readme_lists_every_body_as_the_schema_has_it() -> None:
    expected = []
    for kind, name in schema.NAMES.items():
        codes = [length + code for length, code in re.findall(r"(\d*)([a-zA-Z])", schema.LAYOUTS[kind])]
        names = {"B": "u8", "H": "u16", "Q": "u64"}
        types = [names.get(code, code) for code in codes]
        body = ", ".join(f"{field} {type}" for field, type in zip(schema.FIELDS[kind].split(), types, strict=True))
        expected.append([name, str(schema.MINIMUM[kind]), body])
    assert [[cell.replace("`", "") for cell in row[:3]] for row in _table("Bodies")] == expected


def test_readme_lists_every_code_as_the_schema_has_it() -> None:
    expected = [[field, ", ".join(f"{code} {name}" for code, name in codes)] for field, codes in schema.CODES.items()]
    assert [row[:2] for row in _table("Codes")] == expected


def test_readme_frame_is_the_one_the_codec_makes() -> None:
    """The worked example, byte by byte."""
    from shoelink import frame

    rows = _table("A frame, byte by byte")
    wire = bytes.fromhex("".join(row[0] for row in rows).replace(" ", ""))
    card = schema.Card(
        7, 12, schema.word(123456), schema.word(51), 1, schema.WAY_DOWN, 3, schema.ORIGIN_LANE, 60, 0, 900, 0
    )
    assert wire == frame.encode(schema.CARD, 0, 18, 0, schema.pack(card))
