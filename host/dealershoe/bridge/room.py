"""A card room: one thread that turns any number of tables, each when it has something to do. For the bridge.

A turn is short and every table that waits for one gets it before any gets another, so that a busy shoe holds no other
up. A table whose turn fails is on its own: it says why and leaves, the others go on. What can take long (to look for a
port and open it, to write a fault down) is an errand for other threads, and comes back as a turn of its table.
"""

from __future__ import annotations

import gc
import heapq
import itertools
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar

from dealershoe.bridge.writer import Scribes
from dealershoe.port.ready import BLIND, Wake, Watch

SWITCH_S = 0.0005  # from thread to thread: a view that draws gives way to the tables sooner than after Python's 5 ms
POLL_S = 0.005  # between two looks at ports that cannot be waited for (Windows)
IDLE_S = 0.5  # longest wait
ERRANDS = 4  # threads for what can take long and mostly waits
# What can wait has one thread, for it computes: with more of them the tables' own would hardly get Python's lock. When
# every link of a room is lost at once, the faults of so many tables are written down, and no more.
CHORES = 16
T = TypeVar("T")


class Turned(Protocol):
    """What a room turns: a bridge. All of it is called on the room's thread."""

    turn_ns: int  # when it is to be turned at the latest, on the monotonic clock

    @property
    def descriptor(self) -> int | None:
        """Of its port; BLIND; None while none is open."""

    @property
    def writes(self) -> bool:
        """Whether something waits until the port takes it."""

    def begin(self) -> None:
        """It has entered."""

    def turn(self, ready: bool) -> None:
        """Do what there is to do. `ready`: its port may have something."""

    def fail(self, error: BaseException) -> None:
        """A turn has raised `error`, and there is no other one. Raises nothing."""

    def finish(self) -> None:
        """It leaves, failed or not: its port is to be closed. Raises nothing."""


class Room:
    """Its thread begins with the first table that enters and ends with the last that leaves."""

    def __init__(self) -> None:
        self.scribes = Scribes()
        self._change = threading.Condition()
        self._here: set[Turned] = set()
        self._coming: list[Turned] = []
        self._going: list[Turned] = []
        self._loop: _Loop | None = None

    @property
    def is_mine(self) -> bool:
        """Whether the caller is on the room's thread."""
        loop = self._loop
        return loop is not None and loop.thread is threading.current_thread()

    def has(self, table: Turned) -> bool:
        """Whether `table` is turned."""
        return table in self._here

    def enter(self, table: Turned) -> None:
        """Turn `table` from now on. For the signal's sake this sets two things for the whole process.

        Threads give way to each other sooner than is Python's habit; and the garbage collector leaves out what is
        loaded by now, which costs 14 ms a full collection otherwise (measured, 47,000 objects).
        """
        gc.freeze()
        with self._change:
            self._here.add(table)
            self._coming.append(table)
            if self._loop is None:
                sys.setswitchinterval(SWITCH_S)
                self._loop = _Loop(self)
            self._loop.wake.up()

    def leave(self, table: Turned) -> None:
        """Turn `table` no more; it has finished when this returns, and the thread has ended if it was the last."""
        if self.is_mine:
            raise RuntimeError("a table cannot be stopped on the thread that turns it")
        with self._change:
            loop = self._loop
            if table in self._here and loop is not None:
                self._going.append(table)
                loop.wake.up()
                self._change.wait_for(lambda: table not in self._here)
            last = not self._here
        if last and loop is not None:
            loop.thread.join()

    def news(self, table: Turned, word: Callable[[], None] | None = None) -> None:
        """Turn `table` soon, after `word` was called on the room's thread. For any thread."""
        loop = self._loop
        if loop is not None:
            loop.news.append((table, word))
            loop.wake.up()

    def errand(self, table: Turned, job: Callable[[], T], done: Callable[[T], None]) -> None:
        """Do `job` on another thread, then `done` with what came of it on the room's; asked for there, by `table`.

        `done` is called even if the table has left meanwhile. A `job` that raises is a failed turn.
        """
        loop = self._loop
        assert loop is not None

        def back(future: Future[T]) -> None:
            if not future.cancelled():
                loop.news.append((table, lambda: done(future.result())))
                loop.wake.up()

        loop.errands.submit(job).add_done_callback(back)

    def chore(self, table: Turned, job: Callable[[], T], done: Callable[[T], None]) -> bool:
        """As `errand`, for what computes long and can wait. False, and nothing is done, while CHORES of them wait."""
        loop = self._loop
        assert loop is not None
        if loop.waiting >= CHORES:
            return False
        loop.waiting += 1

        def told(future: Future[T]) -> None:
            loop.waiting -= 1
            done(future.result())

        def back(future: Future[T]) -> None:
            loop.news.append((table, partial(told, future)))
            loop.wake.up()

        loop.chores.submit(job).add_done_callback(back)
        return True

    def doors(self) -> tuple[list[Turned], list[Turned]] | None:
        """Let out who goes and in who comes, for the room's thread: those that came and went; None: nobody is left."""
        with self._change:
            going, self._going = self._going, []
            coming, self._coming = self._coming, []
        for table in going:
            table.finish()
        with self._change:
            self._here.difference_update(going)
            empty = not self._here
            if empty:
                self._loop = None
            self._change.notify_all()
        return None if empty else (coming, going)

    def lose(self, table: Turned) -> None:
        """`table` has failed, for the room's thread."""
        with self._change:
            self._going.append(table)


class _Loop:
    """The room's thread, from the first table to the last."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.wake = Wake()
        self.news: deque[tuple[Turned, Callable[[], None] | None]] = deque()
        self.errands = ThreadPoolExecutor(ERRANDS, "errand")
        self.chores = ThreadPoolExecutor(1, "chore")
        self.waiting = 0  # chores; counted on the room's thread
        self._watch = Watch()
        self._watch.add(self.wake.reader)
        self._ports: dict[int, Turned] = {}  # by descriptor
        self._known: dict[Turned, int] = {}  # the descriptor that is waited for
        self._blind: set[Turned] = set()
        self._timers: list[tuple[int, int, Turned]] = []  # when each is to be turned; old ones stay until their time
        self._timed: dict[Turned, int] = {}  # the newest of each
        self._count = itertools.count()
        self.thread = threading.Thread(target=self._run, name="room", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (doors := self.room.doors()) is not None:
            coming, gone = doors
            for table in gone:
                self._forget(table)
            for table in coming:
                self._guard(table, table.begin)
            for table, ready in self._due().items():
                if self.room.has(table):
                    self._guard(table, table.turn, ready)
            self.room.scribes.go()
        self.errands.shutdown(cancel_futures=True)
        self.chores.shutdown()
        while self.news:
            table, word = self.news.popleft()
            if word is not None:
                self._guard(table, word)
        self.wake.close()
        self._watch.close()
        gc.unfreeze()

    def _due(self) -> dict[Turned, bool]:
        """Wait for tables with something to do: each once, and whether its port may have something."""
        timers = self._timers
        while timers and timers[0][2].turn_ns != timers[0][0]:
            heapq.heappop(timers)  # it was turned since
        timeout_s = IDLE_S
        if timers:
            timeout_s = min(timeout_s, max(0.0, (timers[0][0] - time.monotonic_ns()) / 1e9))
        if self._blind:
            timeout_s = min(timeout_s, POLL_S)
        found = self._watch.wait(timeout_s)
        if self.wake.reader in found:
            self.wake.clear()
        due = {self._ports[descriptor]: True for descriptor in found if descriptor in self._ports}
        for table in self._blind:
            due[table] = True
        for _ in range(len(self.news)):
            table, word = self.news.popleft()
            if word is not None:
                self._guard(table, word)
            due.setdefault(table, False)
        now = time.monotonic_ns()
        while timers and timers[0][0] <= now:
            at_ns, _, table = heapq.heappop(timers)
            if table.turn_ns == at_ns:
                due.setdefault(table, False)
        return due

    def _guard(self, table: Turned, act: Callable[..., None], *how: bool) -> None:
        """Let `table` act; what it raises is its own affair."""
        try:
            act(*how)
        except BaseException as error:
            if self.room.has(table):
                table.fail(error)
                self.room.lose(table)
        if self.room.has(table):
            self._settle(table)

    def _settle(self, table: Turned) -> None:
        """Wait for what `table` waits for now."""
        descriptor = table.descriptor
        if descriptor == BLIND:
            self._blind.add(table)
        else:
            if self._known.get(table) != descriptor:
                self._forget(table)
                if descriptor is not None:
                    self._known[table] = descriptor
                    self._ports[descriptor] = table
            if descriptor is not None:
                self._watch.add(descriptor, table.writes)
        if self._timed.get(table) != table.turn_ns:
            self._timed[table] = table.turn_ns
            heapq.heappush(self._timers, (table.turn_ns, next(self._count), table))

    def _forget(self, table: Turned) -> None:
        """Wait for nothing of `table` any more."""
        self._blind.discard(table)
        self._timed.pop(table, None)
        known = self._known.pop(table, None)
        if known is not None:
            self._watch.forget(known)
            del self._ports[known]
