"""A shoe's own link behind a real pty, run by a thread: for tests of the bridge that need a port and no firmware."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from bridge.rig import Shoe
from dealershoe.desk.table_link import TICKS
from shoelink import schema

DEADLINE_S = 20.0  # until a wait gives up; a busy machine is slow, not wrong


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait until `condition` holds. Fails after DEADLINE_S."""
    until = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < until, f"waited {DEADLINE_S:.0f} s for: {what}"
        time.sleep(0.002)


class PtyShoe:
    """A context manager. `path` is the port; `shoe` is to be touched only inside `with shoe.lock`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.shoe = Shoe(os.urandom(4))
        self.mute = False  # the shoe neither hears nor speaks
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._plug()

    def _plug(self) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self._slave)

    def __enter__(self) -> Self:
        self.shoe.link.start(self._now())
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        self.unplug()

    def unplug(self) -> None:
        """The port goes away."""
        with self.lock:  # the number of a closed descriptor is soon another's
            if self.master >= 0:
                os.close(self.master)
                os.close(self._slave)
                self.master = -1

    @staticmethod
    def _now() -> int:
        return int(time.monotonic() * 1000) & TICKS

    def _run(self) -> None:
        while not self._done.is_set():
            master = self.master
            if master < 0 or self.mute:
                time.sleep(0.001)
                continue
            with contextlib.suppress(OSError, ValueError):
                select.select([master], [], [], 0.001)
            with self.lock, contextlib.suppress(OSError):
                if master != self.master:
                    continue
                data = b""
                with contextlib.suppress(BlockingIOError):
                    data = os.read(master, 4096)
                self.shoe.heed(self.shoe.link.receive(data, self._now()))
                self.shoe.heed(self.shoe.link.poll(self._now()))
                with contextlib.suppress(BlockingIOError):
                    self.shoe.link.taken(os.write(master, bytes(self.shoe.link.out[: self.shoe.link.ready])))

    def report(self, message: Any) -> int:
        """Journal an event; it is sent when the link is up."""
        with self.lock:
            return int(self.shoe.link.report(message))

    def card(self, draw: int, **changed: Any) -> int:
        """Card `draw` of the hand the shoe is in."""
        told = schema.Card(self.shoe.due.hand, draw, bytes(4), schema.word(0x1000 + draw), 0, 0, 0, 0, 30, 0, 1000, 0)
        return self.report(told._replace(**changed))

    @property
    def held(self) -> int:
        """Events that the host has not acknowledged."""
        return self.shoe.journal.held()
