"""A capture as people keep it, turned into the bytes of the line: raw, or a hex dump of any usual shape. Pure.

Understood as text, line by line: `00 02 61`, `000261`, `0x00, 0x02`, `\\x00\\x02`, `b'\\x00\\x02a'`, the dumps of xxd,
hexdump (with and without -C), od and Wireshark, each line with a direction in front if there is one (`>` `<` `TX:`
`RX:` `host → shoe` `shoe → host`). Lines with `#` in front are comments.
"""

from __future__ import annotations

import ast
import re

from dealershoe.errors import UserError

_DIRECTION = re.compile(
    r"""^\s*(?:\[?[\d:.,T+-]+\]?\s+)?          # a time
    (?:(?P<host>>{1,3}|→|tx|sent|out|host\s*(?:→|->)\s*shoe)
      |(?P<shoe><{1,3}|←|rx|received|in|shoe\s*(?:→|->)\s*host))(?P<end>\s*:|(?=[\s\\b'"0-9a-f]))\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_LITERAL = re.compile(r"""b(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_ESCAPES = re.compile(r"^(?:\\x[0-9a-fA-F]{2}|[\s'\",])+$")
_HEX = re.compile(r"^(?:0[xX])?([0-9a-fA-F]+)$")
_PUNCTUATION = str.maketrans(",;[](){}-", " " * 9)
_SWAPPED = re.compile(r"^[0-9a-f]{7}( +[0-9a-f]{4}){1,8}\s*$")  # hexdump without options, od -x: words, low byte first
_OFFSET = re.compile(r"^\s*[0-9a-fA-F]{4,8}\s+(?=[0-9a-fA-F]{2}(?:\s|$))")  # hexdump -C, od -tx1, Wireshark
_TOTAL = re.compile(r"^[0-9a-f]{7,8}\s*$")  # the last line of hexdump and od: how much there was


def read(data: bytes) -> dict[str, bytes]:
    """The streams of a capture by who sent them: "host", "shoe", or "" where the capture does not say.

    Raises UserError for text that is no dump, naming the line, and for an empty capture.
    """
    streams = {"": data} if _raw(data) else _dump(data.decode("utf-8"))
    if not any(streams.values()):
        raise UserError("the capture is empty", "nothing was recorded", "capture again while the shoe is on the line")
    return streams


def _raw(data: bytes) -> bool:
    """A stream of the line has delimiters in it; a text has none."""
    if any(byte < 0x20 and byte not in b"\t\n\r\f" for byte in data):
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _dump(text: str) -> dict[str, bytes]:
    streams: dict[str, bytearray] = {}
    lines = text.splitlines()
    swapped = any(_SWAPPED.match(line) for line in lines)
    offsets = swapped or any(_OFFSET.match(line) for line in lines)
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#") or (offsets and _TOTAL.match(line)):
            continue
        sender, rest = "", line
        direction = _DIRECTION.match(line)
        if direction:
            sender = "host" if direction["host"] else "shoe"
            rest = line[direction.end() :]
        streams.setdefault(sender, bytearray()).extend(_line(rest, number, swapped))
    return {sender: bytes(stream) for sender, stream in streams.items()}


def _line(line: str, number: int, swapped: bool) -> bytes:
    literals = _LITERAL.findall(line)
    if literals:
        return b"".join(ast.literal_eval(literal) for literal in literals)
    if _ESCAPES.match(line):
        return bytes.fromhex("".join(re.findall(r"\\x(..)", line)))
    line, most = _without_margins(line)
    tokens = line.translate(_PUNCTUATION).split()
    found = b""
    for token in tokens:
        digits = _HEX.match(token)
        if not digits or len(digits[1]) % 2:
            if most and found:  # the dump's own picture of the bytes
                break
            raise UserError(
                f"line {number} of the capture is no hex dump: `{token}`",
                "an odd number of digits, or another kind of text",
                "give the raw bytes, or two hexadecimal digits a byte",
            )
        piece = bytes.fromhex(digits[1])
        found += piece[::-1] if swapped else piece
        if most and len(found) >= most:
            break
    return found


def _without_margins(line: str) -> tuple[str, int]:
    """The line without the offset in front and the characters behind; and the most bytes it can have, 0 if unknown."""
    line = line.split("|")[0]
    with_colon = re.match(r"^\s*(?:0x)?[0-9a-fA-F]{4,8}:\s", line)
    if with_colon:  # xxd: two spaces before the characters
        return re.split(r"\s{2,}", line[with_colon.end() :].strip())[0], 32
    plain = _OFFSET.match(line)
    if plain:
        return line[plain.end() :], 16
    words = re.match(r"^[0-9a-fA-F]{7}\s+(?=[0-9a-fA-F]{4}(?:\s|$))", line)
    return (line[words.end() :], 16) if words else (line, 0)
