"""The parent's side of `shoe_process.py`: a shoe's link on another interpreter, in virtual time."""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from protocol import shoe_process


class ShoeBeside:
    """A context manager. `shoelink`: the folder whose `shoelink` it runs. The state is that of the last turn."""

    def __init__(self, interpreter: str, shoelink: Path, key: bytes = b"") -> None:
        self.signal = 255
        self.up = False
        self.held = 0
        heap = ["-X", "heapsize=240wK"] if "micropython" in Path(interpreter).name else []
        self._process = subprocess.Popen(
            [interpreter, *heap, shoe_process.__file__, *([key.hex()] if key else [])],
            env={**os.environ, "MICROPYPATH": f"{shoelink}:.frozen", "PYTHONPATH": str(shoelink)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def turn(self, now: int, draw: int, data: bytes) -> bytes:
        """One turn of its loop; what it has for the line."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(struct.pack("<IHH", now, draw, len(data)) + data)
        stdin.flush()
        head = stdout.read(6)
        assert len(head) == 6, "the shoe's process has ended"
        self.signal, up, self.held, length = struct.unpack("<BBHH", head)
        self.up = bool(up)
        return stdout.read(length)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Its input ends, and so does the process."""
        self._process.communicate(timeout=30)
