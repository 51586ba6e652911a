"""The journal's thread: takes entries from the bridge, commits them in groups, says what is durable.

For the bridge, so that no signal ever waits for a disk. What has not been committed has not been acknowledged either: a
kill at any point costs nothing, the shoe sends it again. A disk that refuses is tried again, and said, and never fatal.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence

from dealershoe.record.entries import Entry, Fact
from dealershoe.record.journal import Journal

RETRY_S = 1.0  # between two tries on a disk that refuses


class Writer:
    """Owns the journal while it runs. `wake` is called, on this thread, when `stored`, `trouble` or `error` changed."""

    def __init__(self, journal: Journal, wake: Callable[[], None]) -> None:
        self._journal = journal
        self._wake = wake
        self._waiting: list[Entry] = []
        self._change = threading.Condition()
        self._closing = False
        self.stored: dict[bytes, int] = journal.stored()  # replaced, never changed: any thread may read it
        self.commits = 0
        self.trouble: str | None = None  # why the disk refuses, while it does
        self.error: BaseException | None = None  # what ended the thread
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def put(self, entries: Sequence[Entry]) -> None:
        """Hand over entries in order; returns at once."""
        if entries:
            with self._change:
                self._waiting.extend(entries)
                self._change.notify()

    def close(self) -> None:
        """Commit what is waiting (one try), end the thread, close the journal. May be called again."""
        with self._change:
            self._closing = True
            self._change.notify()
        self._thread.join()
        self._journal.close()

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except BaseException as error:  # surfaces in the bridge's loop
            self.error = error
        self._wake()

    def _turn(self) -> bool:
        with self._change:
            while not self._waiting and not self._closing:
                self._change.wait()
            group = self._waiting
            self._waiting = []
            closing = self._closing
        if group and not self._commit(group):
            with self._change:
                self._waiting[:0] = group
                if not closing:
                    self._change.wait_for(lambda: self._closing, RETRY_S)
                    return True
        return not closing

    def _commit(self, group: list[Entry]) -> bool:
        try:
            self._journal.write(group)
        except sqlite3.Error as error:
            self.trouble = " ".join(str(error).split())
            self._wake()
            return False
        self.commits += 1
        self.trouble = None
        numbered = {
            entry.journal: entry.number
            for entry in group
            if isinstance(entry, Fact) and entry.journal is not None and entry.number is not None
        }
        if numbered:
            self.stored = self.stored | numbered
            self._wake()
        return True
