"""Writes `dealershoe.h` and `dealershoe.ksy`, the link for people who do not use Python: `python protocol/outside.py`.

Kinds, codes and bodies come from the schema, what they mean from the tables of README.md (which a test holds to the
schema); the codec in C stands in `dealershoe.h.in`. A test keeps what is written equal to what this writes.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from shoelink import schema  # noqa: E402 (found beside this file when it is run as a script)

HEADER, TEMPLATE, KAITAI = FOLDER / "dealershoe.h", FOLDER / "dealershoe.h.in", FOLDER / "dealershoe.ksy"
# 4 bytes that are a number; those of an identity (journal, boot, schema, nonce) stay bytes
NUMBERS = {"t_us", "ping", "received", "sent", "token"}
SIZES = {"B": 1, "H": 2, "I": 4, "Q": 8}
LINE = 118


def _enum(field: str) -> str:
    """The name of a field's codes, "" for one that has none. (The flags of a card are bits, not codes.)"""
    codes = {"place": "target", "flags": ""}.get(field, field)
    return {"code": "fault_code"}.get(codes, f"{codes}_code") if codes in schema.CODES else ""


def fields(kind: int) -> Iterator[tuple[str, int, bool]]:
    """Name, size in bytes and whether it is a number, of each field of a body."""
    letters = re.findall(r"(\d*)([sBHIQ])", schema.LAYOUTS[kind])
    for name, (count, letter) in zip(schema.FIELDS[kind].split(), letters, strict=True):
        size = int(count or 1) if letter == "s" else SIZES[letter]
        yield name, size, letter != "s" or name in NUMBERS


def _rows(heading: str) -> dict[str, list[str]]:
    """The table under a heading of README.md, by its first cell."""
    section = (FOLDER / "README.md").read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {row[0]: row for row in cells}


def says(kind: int) -> str:
    """What a kind says."""
    return _rows("Kinds")[schema.NAMES[kind]][5].replace("`", "")


def notes(kind: int) -> dict[str, str]:
    """What the fields of a kind's body mean, of those that README.md explains: "`place`: coded as `target`. …"."""
    text = _rows("Bodies")[schema.NAMES[kind]][3]
    known = "|".join(schema.FIELDS[kind].split())
    pieces = re.split(rf"((?:`(?:{known})`(?:, )?)+): ", text)
    found = {}
    for names, note in zip(pieces[1::2], pieces[2::2], strict=True):
        for name in re.findall(r"\w+", names):
            found[name] = note.replace("`", "").strip().rstrip(".")
    return found


# ---- C


def _constants() -> str:
    lines = []
    for name, value in vars(schema).items():
        if name.isupper() and isinstance(value, int) and name not in (*schema.NAMES.values(), "SHOE", "HOST"):
            bits = name in ("FROM_HOST", "CRITICAL", "RELIABLE") or name.startswith("FLAG")
            lines.append(f"#define DEALERSHOE_{name} " + (f"0x{value:02X}" if bits else str(value)))
    return "\n".join(lines) + "\n"


def _schema_text() -> str:
    lines = [line.replace("\n", "\\n") for line in schema.canonical().splitlines(keepends=True)]
    return " \\\n".join(f'    "{line}"' for line in lines)


def _kinds() -> str:
    lines = []
    for kind, name in schema.NAMES.items():
        bits = [word for bit, word in ((schema.CRITICAL, "critical"), (schema.RELIABLE, "reliable")) if kind & bit]
        lines += _comment(", ".join([*bits, says(kind)]), "    ")
        if schema.SENDERS[kind] == schema.SHOE + schema.HOST:
            lines.append(f"    DEALERSHOE_{name} = 0x{kind:02X},")
            lines.append(f"    DEALERSHOE_{name}_FROM_HOST = 0x{kind | schema.FROM_HOST:02X},")
        else:
            lines.append(f"    DEALERSHOE_{name} = 0x{kind:02X},")
    return "\n".join(lines)


def _comment(text: str, indent: str) -> list[str]:
    wrapped = textwrap.wrap(text, LINE - len(indent) - 6)
    if len(wrapped) == 1:
        return [f"{indent}/* {text} */"]
    return [
        f"{indent}/* {wrapped[0]}",
        *(f"{indent} * {line}" for line in wrapped[1:-1]),
        f"{indent} * {wrapped[-1]} */",
    ]


def _body(kind: int) -> list[str]:
    name = schema.NAMES[kind]
    low = f"dealershoe_{name.lower()}"
    about = notes(kind)
    lines = [*_comment(f"{name}: {says(kind)}.", ""), f"struct {low} {{"]
    get, put = [], []
    at = 0
    for field, size, number in fields(kind):
        if field in about:
            lines += _comment(about[field], "    ")
        lines.append(f"    uint{8 * size}_t {field};" if number else f"    uint8_t {field}[{size}];")
        if number:
            get.append(f"    out->{field} = (uint{8 * size}_t)dealershoe_get(body + {at}, {size});")
            put.append(f"    dealershoe_put(body + {at}, in->{field}, {size});")
        else:
            get.append(f"    memcpy(out->{field}, body + {at}, {size});")
            put.append(f"    memcpy(body + {at}, in->{field}, {size});")
        at += size
    signature = f"static inline int {low}_read(const uint8_t *body, size_t length, struct {low} *out)"
    return [
        *lines,
        "};",
        f"#define DEALERSHOE_{name}_MINIMUM {at} /* bytes */",
        "",
        signature,
        "{",
        f"    if (length < {at})",
        "        return -1;",
        *get,
        "    return 0;",
        "}",
        "",
        f"static inline size_t {low}_write(uint8_t *body, const struct {low} *in)",
        "{",
        *put,
        f"    return {at};",
        "}",
        "",
    ]


def header() -> str:
    """The text that `dealershoe.h` must have."""
    values = {
        "MAJOR": str(schema.MAJOR),
        "MINOR": str(schema.MINOR),
        "SCHEMA": schema.SCHEMA.hex(),
        "SCHEMA_BYTES": ", ".join(f"0x{byte:02X}" for byte in schema.SCHEMA),
        "BODY": str(schema.BODY),
        "TAG": str(schema.TAG),
        "SCHEMA_TEXT": _schema_text(),
        "CONSTANTS": _constants(),
        "KINDS": _kinds(),
        "BODIES": "\n".join(line for kind in schema.NAMES for line in _body(kind)),
    }
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], TEMPLATE.read_text(encoding="utf-8"))


# ---- Kaitai Struct


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _type(kind: int) -> list[str]:
    lines = [f"  {schema.NAMES[kind].lower()}:", f"    doc: {_quoted(says(kind))}", "    seq:"]
    about = notes(kind)
    for field, size, number in fields(kind):
        lines.append(f"      - id: {field}")
        lines.append(f"        type: u{size}" if number else f"        size: {size}")
        if _enum(field):
            lines.append(f"        enum: {_enum(field)}")
        if field in about:
            lines.append(f"        doc: {_quoted(about[field])}")
    return lines


def kaitai() -> str:
    """The text that `dealershoe.ksy` must have."""
    lines = [
        "# One packet of the link between a dealing shoe and its host: what stands between two delimiters (00) on the",
        "# line, after COBS is undone. Written by `python protocol/outside.py` from the schema; do not edit. README.md",
        "# tells the whole: how to undo COBS, what the CRC covers, what an unknown kind means.",
        "meta:",
        "  id: dealershoe",
        f"  title: dealershoe link {schema.MAJOR}.{schema.MINOR}, schema {schema.SCHEMA.hex()}",
        "  endian: le",
        "seq:",
        "  - id: kind",
        "    type: u1",
        '    doc: "bit 7 from the host, bit 6 critical, bit 5 reliable, bits 4 to 0 a number"',
        "  - id: flags",
        "    type: u1",
        f'    doc: "0x{schema.FLAG_AUTH:02X} AUTH: a tag follows the body; 0x{schema.FLAG_ASK:02X} ASK, on HELLO. '
        'The high nibble must be understood"',
        "  - id: seq_low",
        "    type: u2",
        '    doc: "of an event, the low 16 bits of its journal number"',
        "  - id: ack_low",
        "    type: u2",
        '    doc: "from the host, the low 16 bits of the last event that is stored"',
        "  - id: body",
        f"    size: '_io.size - {schema.HEADER + schema.CRC} - (is_tagged ? {schema.TAG} : 0)'",
        "    type:",
        "      switch-on: kind",
        "      cases:",
    ]
    for kind, name in schema.NAMES.items():
        lines.append(f"        0x{kind:02x}: {name.lower()}")
        if schema.SENDERS[kind] == schema.SHOE + schema.HOST:
            lines.append(f"        0x{kind | schema.FROM_HOST:02x}: {name.lower()}")
    lines += [
        "  - id: tag",
        f"    size: {schema.TAG}",
        "    if: is_tagged",
        "  - id: crc32",
        "    type: u4",
        '    doc: "CRC-32 (IEEE 802.3) of everything before it"',
        "instances:",
        *(
            line
            for name, field, bit in (
                ("is_from_host", "kind", schema.FROM_HOST),
                ("is_critical", "kind", schema.CRITICAL),
                ("is_reliable", "kind", schema.RELIABLE),
                ("is_tagged", "flags", schema.FLAG_AUTH),
            )
            for line in (f"  {name}:", f"    value: ({field} & 0x{bit:02x}) != 0")
        ),
        "types:",
        *(line for kind in schema.NAMES for line in _type(kind)),
        "enums:",
    ]
    for field, codes in schema.CODES.items():
        if not _enum(field):
            continue
        lines.append(f"  {_enum(field)}:")
        lines += [f"    {code}: {name.lower()}" for code, name in codes]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
    KAITAI.write_text(kaitai(), encoding="utf-8")
