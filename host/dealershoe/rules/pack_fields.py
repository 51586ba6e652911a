"""Reads a pack's file field by field: bounds, types and printable texts. Every problem is kept with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from dealershoe.errors import UserError
from dealershoe.rules import toml_lines

# Bounds of what a person reads and of what a hostile file may cost.
LONGEST_LINE = 600  # characters; longer keys would cost tomllib the square of their length
LONGEST_TEXT = 400  # characters of a sentence
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHOWN = 40  # characters of a strange word in a message
_SEVERAL = 8  # choices that are listed in a message; beyond that the nearest is named


class Problem(NamedTuple):
    """Something wrong in a pack's file. `line` counts from 1."""

    line: int
    seen: str
    do: str = ""


def shown(value: object) -> str:
    """A value of a stranger's file as a message may show it: short, and nothing that moves a terminal's cursor."""
    text = str(value)
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: _SHOWN + 1])
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def unprintable(text: str, also: str = "") -> str:
    """The first character that would not show as itself in a terminal, "" if there is none."""
    return next((c for c in text if not c.isprintable() and c not in also), "")


def is_id(text: str) -> bool:
    """Can `text` name a rule in a ruling and in a deal script?"""
    return _ID.fullmatch(text) is not None


def read_text(path: Path, biggest: int) -> tuple[bytes, str]:
    """A file of at most `biggest` bytes as bytes and text. Raises UserError for a file that cannot be a pack's."""
    name = shown(path.name)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would be waited for without end
            raise UserError(f"{shown(path)} is not a file", "it is a pipe or a device", "give a file")
        with path.open("rb") as file:
            raw = file.read(biggest + 1)
    except OSError as error:
        raise UserError(f"{shown(path)}: {error.strerror}", "the pack cannot be read", "check the name") from error
    except ValueError as error:  # a NUL in the name
        raise UserError(f"{shown(path)}: not the name of a file", "", "check the name") from error
    if len(raw) > biggest:
        raise UserError(f"{name}: more than {biggest} bytes", "a pack is a page of text", "split or shorten it")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name}:{line}: not UTF-8 text", "", "save the pack as UTF-8") from error
    return raw, text


def read_toml(name: str, text: str) -> dict[str, Any]:
    """The values of a TOML text. Raises UserError, with the line, for anything else."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise UserError(f"{name}:{number}: a line of {len(line)} characters", "", f"{LONGEST_LINE} are the most")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said, _, where = str(error).rpartition(" (at ")
        match = re.match(r"line (\d+)", where)
        line_number = int(match[1]) if match else text.count("\n") + 1
        seen = "".join(c if c.isprintable() else "?" for c in (said or str(error))[:200])
        raise UserError(f"{name}:{line_number}: not TOML: {seen}", "", "correct the pack") from error
    except (RecursionError, ValueError) as error:  # brackets without end; a number of thousands of digits
        raise UserError(f"{name}: not a pack", "nested too deep, or a number too long", "correct the pack") from error


class Fields:
    """One file's values, read with notes of what is wrong. Nothing here raises; `problems` tells."""

    def __init__(self, name: str, text: str) -> None:
        self.name = shown(name)
        self.data = read_toml(self.name, text)
        self.lines = toml_lines.Lines(text)
        self.problems: list[Problem] = []

    def note(self, path: toml_lines.Path, seen: str, do: str = "", needle: str = "") -> None:
        self.problems.append(Problem(self.lines.line(path, needle), seen, do))

    def table(self, value: object, path: toml_lines.Path, known: Collection[str], where: str) -> Mapping[str, Any]:
        """`value` as a table whose keys are all among `known`; an empty one if it is no table."""
        if not isinstance(value, dict):
            self.note(path, f"{where} must be a table")
            return {}
        for key in value:
            if key not in known:
                self.note((*path, key), f"{where}: unknown key `{shown(key)}`", choices(key, known), key)
        return value

    def entries(self, key: str, most: int) -> list[Any]:
        """A list of tables, `[[key]]`, of at most `most` entries."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            self.note((key,), f"`{key}` must be a list of tables", f"begin each entry with [[{key}]]")
            return []
        if len(value) > most:
            self.note((key, most), f"{len(value)} entries in [[{key}]]", f"{most} are the most")
        return value[:most]

    def text(
        self, table: Mapping[str, Any], key: str, path: toml_lines.Path, where: str, default: str | None = None
    ) -> str:
        """A printable text of at most LONGEST_TEXT characters; without a `default` it must be there."""
        if key not in table:
            if default is None:
                self.note(path, f"{where}: `{key}` is missing")
            return default or ""
        value = table[key]
        if not isinstance(value, str):
            self.note((*path, key), f"{where}: `{key}` must be a text in quotes", needle=key)
            return default or ""
        if len(value) > LONGEST_TEXT:
            self.note(
                (*path, key), f"{where}: `{key}` has {len(value)} characters", f"{LONGEST_TEXT} are the most", key
            )
        return value if self.printable(value, (*path, key), f"{where}: `{key}`") else ""

    def printable(self, value: str, path: toml_lines.Path, where: str, also: str = "") -> bool:
        bad = unprintable(value, also)
        if bad:
            self.note(path, f"{where} holds the character U+{ord(bad):04X}, which does not show", "take it out")
        return not bad

    def identity(self, table: Mapping[str, Any], key: str, path: toml_lines.Path, where: str) -> str:
        """A name of letters, digits, dot, dash and underscore."""
        value = self.text(table, key, path, where)
        if value and not is_id(value):
            self.note(
                (*path, key), f"{where}: `{shown(value)}` is not a name", "use letters, digits, . - _, at most 64"
            )
            return ""
        return value

    def one_of(self, value: object, known: Collection[str], path: toml_lines.Path, what: str) -> str:
        """`value` if it is one of `known`, else "" and a note."""
        if isinstance(value, str) and value in known:
            return value
        self.note(path, f"{what} `{shown(value)}`", choices(value, known), value if isinstance(value, str) else "")
        return ""


def choices(value: object, known: Collection[str]) -> str:
    """What to write instead of `value`."""
    if len(known) <= _SEVERAL:
        return f"use one of {', '.join(sorted(known))}"
    close = get_close_matches(shown(value), known, 1)
    return f"did you mean `{close[0]}`?" if close else "see `dealershoe rules vocabulary`"
