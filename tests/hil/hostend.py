"""The host's end of the line, for tests of the emulated shoe: a Link over pyserial on a thread, nothing else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import serial
from shoelink import schema
from shoelink.link import Link
from shoelink.notice import Delivered, Greeting, Recorded

DEADLINE = 20.0  # seconds; generous, for a test machine may be busy


def ticks() -> int:
    """Milliseconds as the link counts them."""
    return int(time.monotonic() * 1000) & 0x3FFFFFFF


class HostEnd:
    """Stores every event in memory and acknowledges it. `frozen` stops it as a hung host would stop."""

    def __init__(self, port: str, keys: dict[bytes, bytes] | None = None) -> None:
        ident = schema.Ident(b"TESTHOST", b"test".ljust(12, b"\0"), bytes(16))
        self.link = Link(schema.HOST, ident, os.urandom, keys=keys)
        self.events: list[Any] = []
        self.greetings: list[Any] = []
        self.delivered: list[Any] = []
        self.notices: list[Any] = []
        self.seen: set[int] = set()  # byte values that came in
        self.frozen = False
        self._stored: dict[bytes, int] = {}
        self._port = serial.Serial(port, 115200, timeout=0.005)
        self._changed = threading.Condition()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="host end")

    def __enter__(self) -> Self:
        self.link.start(ticks())
        self._thread.start()
        self.wait_for(lambda: self.link.up, "the link is up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending = True
        self._thread.join()
        self._port.close()

    def want(self, message: Any) -> None:
        """Set the state that the shoe is to come to: a Due or a Signal."""
        with self._changed:
            self.link.desire(message)

    def write(self, data: bytes) -> None:
        """Bytes on the line beside the link's own."""
        with self._changed:
            self._port.write(data)

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + DEADLINE
        with self._changed:
            while not condition():
                left = until - time.monotonic()
                assert left > 0, f"not within {DEADLINE} s: {what}; events {self.events}, notices {self.notices}"
                self._changed.wait(left)

    def next(self, kind: Any, count: int = 1) -> list[Any]:
        """The next `count` events of a type, which are taken; those of other types before them are dropped."""
        self.wait_for(lambda: len([e for e in self.events if isinstance(e, kind)]) >= count, f"{count} {kind.__name__}")
        found: list[Any] = []
        while len(found) < count:
            event = self.events.pop(0)
            if isinstance(event, kind):
                found.append(event)
        return found

    def _run(self) -> None:
        while not self._ending:
            if self.frozen:
                time.sleep(0.001)
                continue
            data = self._port.read(self._port.in_waiting or 1)
            with self._changed:
                self.seen.update(data)
                for notice in [*self.link.receive(data, ticks()), *self.link.poll(ticks())]:
                    self._take(notice)
                self.link.poll(ticks())
                out = self.link.take()
                if out:
                    self._port.write(out)
                self._changed.notify_all()

    def _take(self, notice: Any) -> None:
        if isinstance(notice, Greeting):
            self.greetings.append(notice)
            self.link.resume(self._stored.get(notice.hello.journal, 0), ticks())
        elif isinstance(notice, Recorded):
            self.events.append(notice.message)
            self._stored[self.greetings[-1].hello.journal] = notice.number
            self.link.stored(notice.number)
        elif isinstance(notice, Delivered):
            self.delivered.append(notice.message)
        else:
            self.notices.append(notice)
