"""`dealershoe run` in a process of its own at an emulated shoe with the real firmware: for tests of its disk."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dealershoe.emulate.shoe import EmulatedShoe
from record.look import Known

WAIT_S = 60.0  # a busy machine is slow, not wrong
RUN = [sys.executable, "-c", "from dealershoe.cli import main; main()", "run"]


class Acknowledged:
    """Listens on the shoe's line: whatever the host says it has stored must be in its journal at that moment."""

    def __init__(self, shoe: EmulatedShoe, look: Callable[[], Known]) -> None:
        self.up_to = 0
        self.early: list[tuple[int, list[int]]] = []  # acknowledged, and what was stored then
        self._shoe = shoe
        self._look = look
        shoe.line.on_frame = self._heard

    def _heard(self, heard: Any) -> None:
        said = self._shoe.line._stored  # the sniffer's own mark: the last acknowledgement
        if heard.from_host and said is not None and said > self.up_to:
            self.up_to = said
            there = self._look().reports
            if said not in there:
                self.early.append((said, there[-3:]))


class Run:
    """The bridge. A context manager; `printed` is what it has said so far."""

    def __init__(
        self, port: str, journal: Path, folder: Path, inside: list[str] | None = None, env: Mapping[str, str] = {}
    ) -> None:
        """`inside`: what the command begins with; `journal`: as the process sees it."""
        command = [*(inside or []), *RUN, "--port", port, "--journal", str(journal), "--any-shoe"]
        self._process = subprocess.Popen(
            [*command, "--signs", str(folder / "bridge.key")], env=os.environ | env, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.pid = self._process.pid
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def printed(self) -> str:
        return "".join(self._lines)

    def say(self, line: str) -> None:
        """A person's line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def until(self, words: str, times: int = 1) -> None:
        """Wait until it has said a line with these words (a regular expression) so often."""
        wait_for(lambda: len(re.findall(words, self.printed)) >= times, words, lambda: self.printed)

    def kill(self) -> None:
        """kill -9"""
        self._process.kill()
        self.ended()

    def stop(self) -> int:
        """Ctrl-C; its exit status."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> int:
        """Wait until it ends by itself; its exit status."""
        status = self._process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        return status


def wait_for(condition: Callable[[], Any], what: str, said: Callable[[], str] = str) -> None:
    """Wait until `condition` holds."""
    until = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < until, f"waited {WAIT_S:.0f} s for {what!r}; last: {said()[-2000:]}"
        time.sleep(0.02)
