"""The file beside a journal that says how far it was written: so that a cut-off journal is not taken for a short one.

SQLite drops the torn end of its write-ahead log without a word, and an older copy put back looks whole. After each
commit number and chain value of the last record are written here, in place, in one small write that is not waited for:
it can lag behind the journal, never run ahead of it. For the journal.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import NamedTuple

_LINE = re.compile(rb"([0-9]{20}) ([0-9a-f]{64})\n")


class Head(NamedTuple):
    """The last record that was committed: its number and chain value."""

    seq: int
    chain: bytes


def head_path(journal: Path) -> Path:
    """The file beside the journal."""
    return journal.with_name(journal.name + ".head")


def read_head(journal: Path) -> Head | None:
    """What it says, None where it is not there or torn."""
    try:
        found = _LINE.fullmatch(head_path(journal).read_bytes())
    except OSError:
        return None
    return Head(int(found[1]), bytes.fromhex(found[2].decode())) if found else None


class HeadFile:
    """The file, held open. A disk that refuses it costs evidence, no facts: it is never fatal."""

    def __init__(self, journal: Path) -> None:
        path = head_path(journal)
        self._file = None
        with contextlib.suppress(OSError):
            self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)

    def write(self, seq: int, chain: bytes) -> None:
        """Say that the record `seq` is committed."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.seek(0)
                self._file.write(b"%020d %s\n" % (seq, chain.hex().encode()))

    def close(self) -> None:
        """Give the file back."""
        if self._file is not None:
            self._file.close()
