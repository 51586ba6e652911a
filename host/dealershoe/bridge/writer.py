"""The journals' threads: take entries from the tables, commit them in groups, say what is durable.

For the bridge, so that no signal ever waits for a disk. What has not been committed has not been acknowledged either: a
kill at any point costs nothing, the shoe sends it again. A disk that refuses is tried again, and said, and never fatal.
"""

from __future__ import annotations

import heapq
import itertools
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from dealershoe.entries import Entry, Fact, RequestRow
from dealershoe.record.journal import Journal

RETRY_S = 1.0  # between two tries on a disk that refuses
# A journal a table is what the disk takes: 256 of them, one commit a card, cost 0.15 ms of a processor each and wait
# 0.2 ms for the disk (measured). While a disk is slower, what comes meanwhile goes with the next commit of its journal.
THREADS = 4  # so many journals can wait for the disk, or for another program's lock, and hold no other up


class Scribes:
    """Up to THREADS threads for any number of journals, begun when there is work, ended with the last journal.

    Each journal is written by one of them at a time, in the order of its entries; journals take turns.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._ready: deque[Writer] = deque()
        self._later: list[tuple[float, int, Writer]] = []  # disks that refused: when to try again
        self._count = itertools.count()
        self._threads: list[threading.Thread] = []  # a thread that is not in it any more ends
        self._idle = 0
        self._journals = 0

    def hire(self) -> None:
        """One journal more to write."""
        with self._change:
            self._journals += 1

    def dismiss(self) -> None:
        """One journal less. With the last one the threads end; it returns when they have."""
        with self._change:
            self._journals -= 1
            if self._journals:
                return
            threads, self._threads = self._threads, []
            self._ready.clear()
            self._later.clear()
            self._change.notify_all()
        for thread in threads:
            thread.join()

    def put(self, writer: Writer) -> None:
        """`writer` has something to commit. Nobody is woken for it yet: a room says `go` once for all its tables."""
        self._ready.append(writer)

    def go(self) -> None:
        """Commit what was put."""
        if not self._ready:
            return
        with self._change:
            for _ in range(min(len(self._ready) - self._idle, THREADS - len(self._threads))):
                thread = threading.Thread(target=self._run, name="journal", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._change.notify(len(self._ready))

    def later(self, writer: Writer) -> None:
        """The disk refuses what `writer` has: try again RETRY_S from now."""
        with self._change:
            heapq.heappush(self._later, (time.monotonic() + RETRY_S, next(self._count), writer))
            self._change.notify()

    def _run(self) -> None:
        while (writer := self._next()) is not None:
            writer.commit()

    def _next(self) -> Writer | None:
        with self._change:
            while threading.current_thread() in self._threads:
                now = time.monotonic()
                while self._later and self._later[0][0] <= now:
                    self._ready.append(heapq.heappop(self._later)[2])
                if self._ready:
                    return self._ready.popleft()
                self._idle += 1
                self._change.wait(self._later[0][0] - now if self._later else None)
                self._idle -= 1
        return None


class Writer:
    """Owns a journal. `wake` is called, on any thread, when `stored`, `asked`, `trouble` or `error` has changed."""

    def __init__(self, journal: Journal, scribes: Scribes) -> None:
        self._journal = journal
        self.path = journal.path
        self._scribes = scribes
        self._waiting: list[Entry] = []
        self._change = threading.Lock()  # of what waits
        self._busy = False  # a scribe has it, or will have
        self._pen = threading.Lock()  # held while the journal is written
        self._closed = False
        self.wake: Callable[[], None] = lambda: None
        self.stored: dict[bytes, int] = journal.stored()  # replaced, never changed: any thread may read it
        self.asked = 0  # the last fact written here that a client has given an id
        self.trouble: str | None = None  # why the disk refuses, while it does
        self.error: BaseException | None = None  # a defect: nothing more is written
        scribes.hire()

    @property
    def behind(self) -> bool:
        """Whether something was handed over that the disk does not have yet, and does not refuse."""
        return self._busy and self.trouble is None and self.error is None

    def put(self, entries: Sequence[Entry]) -> None:
        """Hand over entries in order; returns at once. The scribes begin with them at `Scribes.go`."""
        if entries:
            with self._change:
                self._waiting.extend(entries)
                busy, self._busy = self._busy, True
            if not busy:
                self._scribes.put(self)

    def commit(self) -> None:
        """Write what waits, for a scribe."""
        with self._pen:
            if self._closed or self.error is not None:
                return
            done = self._write()
        with self._change:
            self._busy = bool(self._waiting) and self.error is None
            again = self._busy
        if again:
            (self._scribes.put if done else self._scribes.later)(self)

    def close(self) -> None:
        """Commit what is waiting (one try) and close the journal. May be called again."""
        with self._pen:
            if self._closed:
                return
            self._closed = True
            if self.error is None:
                self._write()
            self._journal.close()
        self._scribes.dismiss()

    def _write(self) -> bool:
        """One try. False: what waits still does."""
        with self._change:
            group, self._waiting = self._waiting, []
        if not group:
            return True
        try:
            self._journal.write(group)
        except sqlite3.Error as error:
            with self._change:
                self._waiting[:0] = group
            self.trouble = " ".join(str(error).split())
            self.wake()
            return False
        except BaseException as error:  # surfaces in the bridge's turn
            self.error = error
            self.wake()
            return False
        news = self.trouble is not None
        self.trouble = None
        numbered = {
            entry.journal: entry.number
            for entry in group
            if isinstance(entry, Fact) and entry.journal is not None and entry.number is not None
        }
        if numbered:
            self.stored = self.stored | numbered
        asked = [entry.fact for entry in group if isinstance(entry, RequestRow)]
        if asked:
            self.asked = asked[-1]
        if numbered or asked or news:
            self.wake()
        return True
