"""The bridge of a test: started on a port, with everything it says kept, stopped and judged at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dealershoe.bridge.start import open_bridge
from dealershoe.desk.happening import Happening
from dealershoe.view.snapshot import Snapshot

DEADLINE_S = 20.0  # until a wait gives up; a busy test machine is slow, not wrong


class Table:
    """A context manager. `said` has what happened, `journal` is the file that keeps every fact."""

    def __init__(self, port: str, rules: str, folder: Path, open_table: bool = False) -> None:
        self.said: list[Happening] = []
        self.journal = folder / "dealershoe.journal"
        self._bridge = open_bridge(
            port, rules, self.journal, self.said.append, open_table=open_table, shelf=folder / "shelf"
        )

    def __enter__(self) -> Self:
        self._bridge.start()
        self.wait_for(lambda: self._bridge.sessions, "the shoe and the bridge to meet")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bridge.stop()
        if error is None and self._bridge.error is not None:
            raise self._bridge.error

    def ask(self, line: str) -> None:
        """Say a line of a deal script to the table. Raises UserError when it is refused."""
        self._bridge.ask(line, "test")

    def snapshot(self) -> Snapshot:
        """The table as it is now: seats, due, signal, rulings, link."""
        return self._bridge.snapshot()

    @property
    def sessions(self) -> int:
        """So many times shoe and bridge have met."""
        return self._bridge.sessions

    def wait_for(self, condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> None:
        """Wait until `condition` holds. Raises TimeoutError with what was said last."""
        until = time.monotonic() + deadline_s
        while not condition():
            if self._bridge.error is not None:
                raise self._bridge.error
            if time.monotonic() > until:
                last = "; ".join(happening.as_line() for happening in self.said[-5:])
                raise TimeoutError(f"waited {deadline_s:.0f} s for: {what}; last: {last}")
            time.sleep(0.002)
