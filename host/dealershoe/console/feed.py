"""What a table says, numbered and kept for a while, for pages that listen and for those that were away a moment.

`hear` is called on the thread that runs the tables, everything else on the console's loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import NamedTuple

from dealershoe.desk.happening import Happening

KEPT = 500  # happenings of a table: a page that was away longer is told that it missed some
MOVES = ("hand", "ruling", "step", "due", "question", "signal")  # what makes a page that has not seen it stale

SAID = ("hand", "event")  # what an undo may be about


class Numbered(NamedTuple):
    """A happening and its number at this table (`Bridge.version`)."""

    n: int
    happening: Happening


class Feed:
    """One table's happenings. `version` grows with each, from `begin`.

    `moved`: the version at which the deal last moved on; `said`: at which somebody last said something of it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, begin: int) -> None:
        self.version = self.moved = self.said = begin  # whoever saw less saw a table before this one
        self._loop = loop
        self._lock = threading.Lock()
        self._kept: deque[Numbered] = deque(maxlen=KEPT)
        self._changed = asyncio.Event()

    def hear(self, happening: Happening) -> None:
        """The table has said something."""
        with self._lock:
            self.version += 1
            if happening.kind in MOVES:
                self.moved = self.version
            if happening.kind in SAID:
                self.said = self.version
            self._kept.append(Numbered(self.version, happening))
        try:
            self._loop.call_soon_threadsafe(self._ring)
        except RuntimeError:  # the console has ended before its tables
            return

    def _ring(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def change(self, version: int, timeout_s: float) -> bool:
        """Wait until the table is past `version`; False after `timeout_s`."""
        changed = self._changed
        if self.version > version:
            return True
        try:
            await asyncio.wait_for(changed.wait(), timeout_s)
        except TimeoutError:
            return False
        return True

    def since(self, n: int) -> tuple[list[Numbered], bool]:
        """What was said after number `n`, oldest first, and whether some of it is no longer kept."""
        with self._lock:
            later = [one for one in self._kept if one.n > n]
            first = self._kept[0].n if self._kept else self.version + 1
        return later, n + 1 < first
