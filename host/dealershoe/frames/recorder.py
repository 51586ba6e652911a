"""What went over a line lately, both ways, kept in memory and written down decoded when something goes wrong.

For the bridge's port: keeping costs nearly nothing, taking apart is done when a fault is written.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from dealershoe.frames import words
from dealershoe.frames.explain import Block, explain, verdict_of_all

FRAMES = 100  # of each direction, in what is written
BYTES = 16_384  # kept of each direction: 100 frames of 61 bytes, and much noise between them
FILES = 20  # kept in a folder, the newest
# Taking 200 frames apart costs 0.05 s. A thread that does so without rest would make every system call of the tables'
# thread wait for Python's lock; when a hub goes, that many faults are written at once.
REST_S = 0.0005
SEARCHED = 20  # damaged blocks of a direction whose one fault is looked for: 7 ms each


class _Direction:
    """The last bytes that went one way, with the time of each piece."""

    def __init__(self) -> None:
        self.pieces: deque[tuple[float, bytes]] = deque()
        self.size = 0
        self.rest_s = 0.0  # from block to block when they are taken apart

    def add(self, data: bytes) -> None:
        self.pieces.append((time.time(), data))
        self.size += len(data)
        while self.size > BYTES and len(self.pieces) > 1:
            self.size -= len(self.pieces.popleft()[1])

    def blocks(self) -> Iterator[tuple[float, Block]]:
        """The last blocks, each with the time at which its first byte went by."""
        pieces = list(self.pieces)
        starts = []
        at = 0
        for when, data in pieces:
            starts.append((at, when))
            at += len(data)
        blocks = []
        for block in explain(b"".join(data for _, data in pieces), SEARCHED):
            blocks.append(block)
            if self.rest_s:
                time.sleep(self.rest_s)
        for block in blocks[-FRAMES:]:
            while len(starts) > 1 and starts[1][0] <= block.at:
                starts.pop(0)
            yield starts[0][1], block


class Recorder:
    """Keeps what was `heard` from the shoe and `sent` to it; `report` is the text of it."""

    def __init__(self) -> None:
        self._heard = _Direction()
        self._sent = _Direction()
        self._news = False
        self.unwritten = 0  # reports that the disk refused

    def heard(self, data: bytes) -> None:
        """Bytes came from the shoe."""
        self._heard.add(data)
        self._news = True

    def sent(self, data: bytes) -> None:
        """Bytes went to the shoe."""
        self._sent.add(data)
        self._news = True

    @property
    def came(self) -> int:
        """Bytes from the shoe that are kept."""
        return self._heard.size

    def copy(self) -> Recorder:
        """What is kept now, for another thread to take apart, without haste, while this one goes on."""
        other = Recorder()
        for mine, copied in ((self._heard, other._heard), (self._sent, other._sent)):
            copied.pieces, copied.size, copied.rest_s = mine.pieces.copy(), mine.size, REST_S
        other._news = self._news
        return other

    def seen(self) -> bool:
        """Whether anything has passed since this was asked last."""
        news, self._news = self._news, False
        return news

    def cause(self) -> str:
        """What the bytes from the shoe say of a line on which there are no frames; "" if they say nothing."""
        texts = [block.usual for _, block in self._heard.blocks() if block.text]
        return texts[-1] if texts else verdict_of_all(b"".join(data for _, data in self._heard.pieces))

    def report(self, why: str, statistics: str, *, open_table: bool = False) -> str:
        """The last frames of both directions in the order of time, one a line, below what went wrong."""
        passed = [
            *((when, "shoe → host", words.one_line(block, open_table)) for when, block in self._heard.blocks()),
            *((when, "host → shoe", words.one_line(block, open_table)) for when, block in self._sent.blocks()),
        ]
        passed.sort(key=lambda line: line[0])
        cause = self.cause()
        head = [time.strftime("%Y-%m-%d %H:%M:%S ") + why, statistics, *([cause] if cause else []), ""]
        body = [f"{_clock(when)}  {way}  {text}" for when, way, text in passed]
        return "\n".join([*head, *body]) + "\n"

    def write(self, folder: Path, why: str, statistics: str, *, open_table: bool = False) -> Path | None:
        """Write a report into `folder`; None when nothing has passed since the last one, or the disk refuses."""
        if not self.seen():
            return None
        path = folder / time.strftime(f"%Y%m%d-%H%M%S-{time.time_ns() // 1_000_000 % 1_000:03d}.txt")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(self.report(why, statistics, open_table=open_table), encoding="utf-8")
            for old in sorted(folder.glob("*.txt"))[:-FILES]:
                old.unlink()
        except OSError:  # a full disk must not end a table
            self.unwritten += 1
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return path


def _clock(when: float) -> str:
    """Local time of day with milliseconds."""
    return f"{time.strftime('%H:%M:%S', time.localtime(when))}.{int(when % 1 * 1_000):03d}"
