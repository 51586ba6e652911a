"""Blocks of a stream as text for a person and as objects for a program. Pure. No card is named but on an open table.

Of a frame that names a card the bytes are hidden too: its token, its CRC (only 54 tokens fit) and its stuffing (which
says where zeros stand); so they are of one that brings the secret of a hand. Of what is damaged no byte is shown, for
it may have been such a frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from shoelink import schema

from dealershoe.frames import meaning
from dealershoe.frames.explain import Block, Field


def said(field: Field, open_table: bool) -> str:
    """What a field says."""
    if field.secret == "card" and open_table:
        if field.name == "token":
            return meaning.card(field.plain)
        if field.name == meaning.SECRET:
            return f"{field.plain.hex()}: {meaning.OF_A_HAND}"
        if field.name == "stuffing":
            return f"the first zero of the packet is {field.wire[0]} bytes on"
    return field.meaning


def shown(field: Field, block: Block, open_table: bool) -> bytes | None:
    """The bytes of a field that may be shown; None: they are hidden."""
    if field.secret == "key":
        return None
    if open_table or not any(other.secret == "card" for other in block.fields):
        return field.wire
    return None if field.secret else field.plain


def _bare(block: Block, open_table: bool) -> bool:
    """Whether all bytes of a block may be shown: on an open table, unless it brings a key, whole or damaged."""
    return open_table and block.wire[1:2] != bytes([schema.ENROLL])


def title(block: Block) -> str:
    """A block in a few words."""
    if not block.fields:
        names = {"open": "not ended", "long": "too long"}
        return f"{names.get(block.verdict, block.verdict)}: {len(block.wire)} bytes, no frame"
    numbered = f", event {block.seq}" if block.sender == "shoe" and block.fields[1].plain[0] & schema.RELIABLE else ""
    refused = f" ({block.verdict})" if block.verdict != "frames" else ""
    return f"{block.name} from the {block.sender}{numbered}{refused}"


def one_line(block: Block, open_table: bool) -> str:
    """A block on one line, without its offset."""
    if not block.fields:
        return f"{title(block)}; {block.usual}" + (f": {block.text!r}" if block.text else "")
    body = [f for f in block.fields if f.at >= block.fields[4].at + 2 and f.name not in ("CRC-32", "tag")]
    fields = ", ".join(f"{field.name} {said(field, open_table)}" for field in body)
    return title(block) + (f": {fields}" if fields else "") + (f"; {block.why}" if block.why else "")


def many_lines(block: Block, open_table: bool) -> list[str]:
    """A block byte by byte."""
    lines = [f"{block.at:06x}  {title(block)}"]
    for field in block.fields:
        raw = shown(field, block, open_table)
        digits = "··" * len(field.wire) if raw is None else raw.hex(" ")
        pieces = [digits[at : at + 24] for at in range(0, len(digits), 24)] or [""]
        lines.append(f"  {field.at:06x}  {pieces[0]:<24}  {field.name:<12} {said(field, open_table)}".rstrip())
        lines += [f"          {piece}" for piece in pieces[1:]]
    if not block.fields and _bare(block, open_table):
        lines += [f"          {block.wire[at : at + 16].hex(' ')}" for at in range(0, min(len(block.wire), 64), 16)]
    if block.text:
        lines.append(f"          it reads: {block.text.strip()!r}")
    if block.why:
        lines.append(f"          {'failed' if not block.whole else 'note'}: {block.why}")
        lines.append(f"          usually: {block.usual}")
    return lines


def as_object(block: Block, stream: str, open_table: bool) -> dict[str, Any]:
    """A block for a program. Hidden bytes are null."""
    fields = []
    for field in block.fields:
        raw = shown(field, block, open_table)
        fields.append(
            {
                "name": field.name,
                "offset": field.at,
                "length": len(field.wire),
                "bytes": None if raw is None else raw.hex(),
                "says": said(field, open_table),
            }
        )
    return {
        "stream": stream or None,
        "offset": block.at,
        "length": len(block.wire),
        "verdict": block.verdict,
        "sender": block.sender or None,
        "kind": block.name or None,
        "seq": block.seq if block.fields else None,
        "fields": fields,
        "bytes": block.wire.hex() if _bare(block, open_table) else None,
        "why": block.why or None,
        "usual": block.usual or None,
        "text": block.text or None,
    }


def summary(blocks: Iterable[Block]) -> str:
    """How many of what, in one sentence."""
    count = Counter(block.verdict for block in blocks)
    sealed = count.pop("sealed", 0)
    whole = count.pop("frames", 0) + sealed
    left = count.pop("open", 0)
    bad = ", ".join(f"{name} {number}" for name, number in sorted(count.items()))
    tags = f" ({sealed} sealed, their tags are not checked)" if sealed else ""
    words = f"{whole} whole frame{'s' * (whole != 1)}{tags}, {sum(count.values())} not"
    return words + (f" ({bad})" if bad else "") + (", the last one has not ended" if left else "")
