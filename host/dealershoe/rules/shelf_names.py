"""What a pack may be called on a shelf, and which of two versions is the higher. Pure; for signing and the shelf.

An id becomes part of a file name and of a signed statement, so it is held to letters that mean nothing to either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

from dealershoe.errors import UserError

LONGEST = 64  # characters of an id or a version: with a digest beside them well below the 255 of a file name
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NUMBER = r"(?:0|[1-9][0-9]*)"
_PART = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PART}(?:\.{_PART})*))?")


@total_ordering
@dataclass(frozen=True, slots=True)
class Version:
    """A version by semver.org 2.0.0, without build metadata: that has no order, and `+` joins the layers of a stack.

    >>> Version.parse("1.10.0") > Version.parse("1.9.0") > Version.parse("1.9.0-rc.1")
    True
    """

    numbers: tuple[int, int, int]
    before: tuple[str, ...] = ()  # what makes it a pre-release

    @classmethod
    def parse(cls, text: str) -> Version:
        """Raises UserError for anything that is not such a version."""
        found = _VERSION.fullmatch(text) if len(text) <= LONGEST else None
        if found is None:
            raise UserError(
                f"{text[:LONGEST]!r} is no version",
                "a version is three numbers, `1.4.0`, or `1.4.0-rc.1` before it is final",
                "write it so in the pack",
            )
        major, minor, patch, before = found.groups()
        return cls((int(major), int(minor), int(patch)), tuple(before.split(".")) if before else ())

    def _key(self) -> tuple[object, ...]:
        """Order by semver.org section 11: numbers below words, fewer parts below more, no parts above all."""
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in self.before)
        return (*self.numbers, not self.before, parts)

    def __lt__(self, other: object) -> bool:
        return self._key() < other._key() if isinstance(other, Version) else NotImplemented

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers)) + (f"-{'.'.join(self.before)}" if self.before else "")


def checked_id(text: str) -> str:
    """`text` if it may name a pack. Raises UserError otherwise: no separators, no dots, nothing a file system reads."""
    if len(text) > LONGEST or _ID.fullmatch(text) is None:
        raise UserError(
            f"{text[:LONGEST]!r} is no name of a pack",
            f"a name has small letters, digits and single hyphens inside, {LONGEST} at most",
            "rename the pack",
        )
    return text


def split_name(text: str) -> tuple[str, Version | None]:
    """`id` or `id@version`. Raises UserError for a name or a version outside the rules above."""
    name, at, version = text.partition("@")
    return checked_id(name), Version.parse(version) if at else None
