"""The people of a console and what is kept of their tokens, in a file for its owner's eyes. For `users` and `run`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from dealershoe.console.access import ROLES, Person
from dealershoe.errors import UserError
from dealershoe.owned import Owned

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
DIGEST = re.compile(r"[0-9a-f]{64}")
FILE = Owned(
    "people",
    "whoever writes there can decide at the tables",
    "give out new tokens",
    "make the people again",
    "--users",
)


def default_path() -> Path:
    """Where the people of this user's host are: $XDG_CONFIG_HOME/dealershoe/users.json, or ~/.config/…"""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dealershoe" / "users.json"


def check_name(word: str, what: str) -> None:
    """Raises UserError for a name of `what` that would not do in an address or a file."""
    if not NAME.fullmatch(word):
        raise UserError(
            f"{word!r} is no name of {what}",
            "names are 1 to 40 small letters, digits, dots, dashes and underscores",
            "choose another",
        )


def person(name: str, role: str, digest: str, tables: tuple[str, ...] = ()) -> Person:
    """A person, checked. Raises UserError."""
    check_name(name, "a person")
    for table in tables:
        check_name(table, "a table")
    if role not in ROLES:
        raise UserError(f"there is no role {role!r}", "", f"roles are {', '.join(ROLES)}")
    if not DIGEST.fullmatch(digest):
        raise UserError(f"the digest of {name} is no SHA-256", "the file was edited", f"give {name} a new token")
    return Person(name, role, digest, tables)


def load(path: Path) -> dict[str, Person]:
    """Name → person; empty when there is no file. Raises UserError when it is damaged or others may write it."""
    text = FILE.read(path)
    if text is None:
        return {}
    try:
        found = {
            name: person(name, one["role"], one["digest"], tuple(one.get("tables", ())))
            for name, one in json.loads(text).items()
        }
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise FILE.damaged(path) from error
    return found


def save(path: Path, people: dict[str, Person]) -> None:
    """Keep the people, whole or not at all. Raises UserError."""
    kept = {
        one.name: {"role": one.role, "digest": one.digest, **({"tables": list(one.tables)} if one.tables else {})}
        for one in sorted(people.values(), key=lambda one: one.name)
    }
    FILE.write(path, json.dumps(kept, indent=1) + "\n")


class Current:
    """The people of a file as they are now, for a server: called for each request, read when the file has changed.

    A file that is damaged, or open to others, lets nobody in until it is put right; `trouble` says what is wrong.
    """

    def __init__(self, path: Path) -> None:
        """Raises UserError for a file that cannot be used, or with nobody in it."""
        self._path = path
        self._stamp = self._look()
        self._people = load(path)
        self.trouble = ""
        if not self._people:
            raise UserError(
                f"nobody may use the console: {path} names no one",
                "no person was made yet",
                "make one with `dealershoe users add NAME --role floor`, and keep the token",
            )

    def follow(self, path: Path) -> None:
        """Another file from now on. Raises UserError, nothing changed, as for a new one."""
        other = Current(path)
        self._path, self._stamp, self._people, self.trouble = other._path, None, other._people, ""

    def __call__(self) -> dict[str, Person]:
        """Name → person."""
        stamp = self._look()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._people, self.trouble = load(self._path), ""
            except UserError as error:
                self._people, self.trouble = {}, str(error)
        return self._people

    def _look(self) -> tuple[int, int, int, int] | None:
        try:
            seen = self._path.stat()
        except OSError:
            return None
        return seen.st_ino, seen.st_mtime_ns, seen.st_size, seen.st_mode
