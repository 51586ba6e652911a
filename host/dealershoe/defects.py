"""How a defect is told in a log, on a page or in the record, where the text of an exception could name a card."""

from __future__ import annotations

import sqlite3
import traceback
from pathlib import Path
from types import TracebackType

from dealershoe.errors import UserError

PLACES = 3  # of an exception, the innermost last


def kind_and_place(kind: type[BaseException], where: TracebackType | None) -> str:
    """The type of an exception and where it was raised."""
    places = (f" at {Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(where)[-PLACES:])
    return kind.__name__ + "".join(places)


def shown(error: BaseException) -> str:
    """What the system says of itself, in its words; all else by type and place, with what it came of."""
    if isinstance(error, UserError | OSError | sqlite3.Error):
        return str(error)
    cause = f", from {shown(error.__cause__)}" if error.__cause__ else ""
    return kind_and_place(type(error), error.__traceback__) + cause
