"""Reports of kinds that this program does not know, read by the shoe's own dictionary. For the journal's commands."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from shoelink import schema

from dealershoe.entries import SHOE, Fact
from dealershoe.link.dictionary import HIDDEN, Dictionary, Shelf, in_words


class Report(NamedTuple):
    """Such a report. `kind`: its number in hexadecimal. `name` and `fields`: None where no dictionary explains it."""

    kind: str
    name: str | None
    fields: dict[str, int | str | None] | None  # None: a value that is not shown
    line: str


class Strange:
    """Those of one journal, with the dictionaries that bridges of this user have kept on a `shelf`."""

    def __init__(self, db: sqlite3.Connection, shelf: Shelf) -> None:
        self._db = db
        self._shelf = shelf
        self._found: dict[bytes, Dictionary | None] = {}

    def read(self, fact: Fact) -> Report | None:
        """What a fact says; None where it is no report of the shoe, or of a kind that is known here."""
        if fact.origin != SHOE or not fact.raw or schema.known(fact.raw[0], False):
            return None
        kind, body = fact.raw[0], fact.raw[1:]
        dictionary = self._dictionary(fact)
        try:
            read = dictionary.read(kind, body) if dictionary else None
        except schema.ShortBodyError:
            read = None
        if read is None:
            return Report(f"{kind:02x}", None, None, f"of kind {kind:02x}, which is not known here")
        name, values = read
        fields = {
            field: None if field in HIDDEN else value.hex() if isinstance(value, bytes) else value
            for field, value in values.items()
        }
        return Report(f"{kind:02x}", name, fields, in_words(name, values))

    def _dictionary(self, fact: Fact) -> Dictionary | None:
        """That of the shoe as it was when it reported this."""
        row = self._db.execute(
            "SELECT schema FROM devices WHERE journal = ? AND seq < (SELECT seq FROM facts WHERE id = ?) "
            "ORDER BY seq DESC LIMIT 1",
            (fact.journal, fact.id),
        ).fetchone()
        if row is None:
            return None
        hash = bytes(row[0])
        if hash not in self._found:
            self._found[hash] = self._shelf.find(hash)
        return self._found[hash]
