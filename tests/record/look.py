"""What a journal has while a bridge writes it, read beside it: here, or in a process that alone sees the disk.

As a program: for each line, the name of a journal, one line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from pathlib import Path
from typing import NamedTuple


class Known(NamedTuple):
    """The numbers of the shoe's reports that are durable, and the cards that the table was told of, in order."""

    reports: list[int]
    draws: list[int]


def look(journal: Path) -> Known:
    """Nothing, where there is no journal yet."""
    if not journal.exists():
        return Known([], [])
    with contextlib.closing(sqlite3.connect(f"{journal.resolve().as_uri()}?mode=ro", uri=True)) as db:
        reports = db.execute("SELECT number FROM facts WHERE origin = 'shoe' ORDER BY id").fetchall()
        draws = db.execute("SELECT draw FROM events WHERE kind = 'Draw' ORDER BY fact").fetchall()
    return Known([number for (number,) in reports], [draw for (draw,) in draws])


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(look(Path(line.strip()))), flush=True)
