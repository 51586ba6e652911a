"""Where each key of a TOML file stands, by line: `tomllib` reads the values but does not say where they were."""

from __future__ import annotations

import re
from typing import NamedTuple

Path = tuple[str | int, ...]

_HEADER = re.compile(r"(\[\[?)\s*(.*?)\s*(\]\]?)[ \t]*(?:#[^\n]*)?(?=\n|$)")
_KEY = re.compile(r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')(?:[ \t]*\.[ \t]*|)""")
_PIECE = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\[\]{}\n]|[^"'\#\[\]{}\n]+|.''',
    re.DOTALL,
)


class Statement(NamedTuple):
    """A header or a key with its value. Lines count from 1; `text` is what stands there."""

    path: Path
    line: int
    text: str


class Lines:
    """The statements of a text that is known to be TOML."""

    def __init__(self, text: str) -> None:
        self._by_path = {statement.path: statement for statement in _statements(text.replace("\r\n", "\n"))}

    def find(self, path: Path) -> Statement:
        """The statement that sets `path`, or the nearest one around it; the first line if there is none."""
        while path:
            if path in self._by_path:
                return self._by_path[path]
            path = path[:-1]
        return Statement((), 1, "")

    def line(self, path: Path, needle: str = "") -> int:
        """The line of `path`; where its value goes over several lines, that of `needle` in it."""
        found = self.find(path)
        at = found.text.find(needle) if needle else -1
        return found.line + (found.text.count("\n", 0, at) if at > 0 else 0)

    def text_line(self, path: Path) -> int:
        """The line on which the text of a multi-line string begins."""
        found = self.find(path)
        quotes = re.search(r"\"\"\"\n?|'''\n?", found.text)
        return found.line + (found.text.count("\n", 0, quotes.end()) if quotes else 0)

    def path_at(self, line: int) -> Path:
        """The path of the statement that begins on `line`, () if none does."""
        return next((s.path for s in self._by_path.values() if s.line == line), ())


def _statements(text: str) -> list[Statement]:
    found = []
    counts: dict[Path, int] = {}
    table: Path = ()
    position = 0
    line = 1
    while position < len(text):
        if text[position] in " \t\n":
            line += text[position] == "\n"
            position += 1
            continue
        if text[position] == "#":
            position = _end_of_line(text, position)
            continue
        start = position
        header = _HEADER.match(text, position) if text[position] == "[" else None
        if header:
            table = _table(_names(header[2]), header[1] == "[[", counts)
            position = header.end()
            found.append(Statement(table, line, text[start:position]))
            continue
        names, position = _key(text, position)
        position = _value_end(text, position)
        found.append(Statement((*table, *names), line, text[start:position]))
        line += text.count("\n", start, position)
    return found


def _table(names: Path, is_list: bool, counts: dict[Path, int]) -> Path:
    """The path of a header's table; an entry of a list of tables is counted from 0."""
    path: Path = ()
    for index, name in enumerate(names):
        path = (*path, name)
        if index == len(names) - 1 and is_list:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _names(text: str) -> Path:
    return tuple(_bare(match[0]) for match in _KEY.finditer(text))


def _bare(name: str) -> str:
    return name.rstrip(" \t.").strip("\"'")


def _key(text: str, position: int) -> tuple[Path, int]:
    names = []
    match = _KEY.match(text, position)
    while match and match[0]:
        names.append(_bare(match[0]))
        position = match.end()
        match = _KEY.match(text, position)
    return tuple(names), position


def _value_end(text: str, position: int) -> int:
    """Where the value that begins behind `position` ends: at the end of a line outside of brackets and strings."""
    depth = 0
    while position < len(text):
        match = _PIECE.match(text, position)
        assert match is not None
        piece = match[0]
        if piece == "\n" and depth <= 0:
            return position
        depth += (piece in "[{") - (piece in "]}") if len(piece) == 1 else 0
        position = match.end()
    return position


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
