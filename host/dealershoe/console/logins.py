"""Who is logged in, in a file: tablets stay logged in when the console starts again. For the console's door.

The file has digests of cookies, none of which can be told from it, and counts for the people whose tokens are the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from dealershoe.console.access import Session
from dealershoe.errors import UserError
from dealershoe.owned import Owned

FILE = Owned("log-ins", "whoever writes there can log in", "log in again", "log in again", "XDG_DATA_HOME")


def default_path(where: str) -> Path | None:
    """Where those of a console at `where` are: $XDG_DATA_HOME/dealershoe/logins/…, or ~/.local/share/…

    None for a port that is another each time (0).
    """
    if where.endswith(":0"):
        return None
    data = os.environ.get("XDG_DATA_HOME", "")
    folder = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    name = "".join(letter if letter.isalnum() else "-" for letter in where)
    return folder / "dealershoe" / "logins" / f"{name}.json"


class Logins:
    """The file `path`; without one nothing is kept. What is wrong with it goes to `say`, and costs a log-in at most."""

    def __init__(self, path: Path | None, say: Callable[[str], None]) -> None:
        self._path = path
        self._say = say

    def load(self) -> dict[str, Session]:
        """Digest of the cookie → session; empty when there is no file, or one that cannot be used."""
        if self._path is None:
            return {}
        try:
            text = FILE.read(self._path)
            kept = json.loads(text) if text is not None else {}
            return {
                cookie: Session(str(one["name"]), str(one["digest"]), float(one["until"]))
                for cookie, one in kept.items()
            }
        except UserError as error:
            self._say(f"everybody logs in again: {error}")
        except (ValueError, AttributeError, TypeError, KeyError):
            self._say(f"everybody logs in again: {FILE.damaged(self._path).seen}")
        return {}

    def save(self, sessions: Mapping[str, Session]) -> None:
        """Keep them."""
        if self._path is None:
            return
        kept = {
            cookie: {"name": one.name, "digest": one.digest, "until": one.until} for cookie, one in sessions.items()
        }
        try:
            FILE.write(self._path, json.dumps(kept, indent=1) + "\n")
        except UserError as error:
            self._say(f"log-ins end with this console: {error}")
