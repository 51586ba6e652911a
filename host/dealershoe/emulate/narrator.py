"""Tells on a terminal what an emulated shoe's light and sound do, a line for each new state. For `emulate`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.words import Watcher

SETTLED = 1.5  # seconds of a new state until its rhythm can be told


class Narrator:
    """A context manager: while it is open, `say` gets a line when light or sound come to a new state."""

    def __init__(self, shoe: EmulatedShoe, say: Callable[[str], None]) -> None:
        self._shoe = shoe
        self._say = say
        self._watcher = Watcher()
        self._lock = threading.Lock()
        self._told: frozenset[str] = frozenset()
        self._ended = threading.Event()
        self._new = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="narrator", daemon=True)

    def __enter__(self) -> Narrator:
        self._shoe.on_change = self._changed
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._new.set()
        self._thread.join()
        self._shoe.on_change = None

    def words(self) -> str:
        """What light and sound do now."""
        with self._lock:
            return self._watcher.words(time.monotonic())

    def _changed(self) -> None:
        now = time.monotonic()
        with self._lock:
            self._watcher.light(now, self._shoe.lights)
            self._watcher.tone(now, self._shoe.tone)
            colours = self._watcher.colours
        if colours and colours != self._told:
            self._told = colours
            self._new.set()

    def _follow(self) -> None:
        while not self._ended.is_set():
            self._new.wait()
            self._new.clear()
            self._ended.wait(SETTLED)
            if self._told:
                self._say(self.words())
