"""Disks for the tests of the shelf: one that records its steps, one that fails at a step, one that is killed there."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from dealershoe.rules.shelf_disk import Disk

HERE = Path()


class Step(NamedTuple):
    """One call: what, and on which paths or with which bytes."""

    what: str
    path: Path
    more: Path | bytes | None = None

    def below(self, folder: Path) -> Step:
        """The same with relative paths."""
        more = self.more.relative_to(folder) if isinstance(self.more, Path) else self.more
        return Step(self.what, self.path.relative_to(folder), more)


class Recorder(Disk):
    """Does it, and keeps what it did. Syncs nothing: no power goes while a test runs, and disks are slow."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._open: dict[int, Path] = {}

    def _step(self, what: str, path: Path, more: Path | bytes | None = None) -> None:
        self.steps.append(Step(what, path, more))

    def make_folder(self, folder: Path) -> None:
        self._step("make_folder", folder)
        super().make_folder(folder)

    def create(self, path: Path, mode: int) -> int:
        self._step("create", path)
        file = super().create(path, mode)
        self._open[file] = path
        return file

    def write(self, file: int, data: bytes) -> None:
        self._step("write", self._open[file], data)
        super().write(file, data)

    def sync(self, file: int) -> None:
        self._step("sync", self._open[file])

    def rename(self, old: Path, new: Path) -> None:
        self._step("rename", old, new)
        super().rename(old, new)

    def remove(self, path: Path) -> None:
        if path.exists():  # else it is refused, and no step
            self._step("remove", path)
        super().remove(path)

    def sync_folder(self, folder: Path) -> None:
        self._step("sync_folder", folder)


class Failing(Recorder):
    """Fails at step number `at` (from 0) with `code`; a write has done half by then. Cleaning up still works."""

    def __init__(self, at: int, code: int = errno.ENOSPC) -> None:
        super().__init__()
        self.at = at
        self.code = code
        self.failed: Step | None = None

    def _step(self, what: str, path: Path, more: Path | bytes | None = None) -> None:
        if len(self.steps) == self.at and self.failed is None:
            self.failed = Step(what, path, more)
            if isinstance(more, bytes):
                path.write_bytes(more[: len(more) // 2])
            raise OSError(self.code, os.strerror(self.code))
        super()._step(what, path, more)


class Killed(Recorder):
    """The process is gone, by `kill -9`, before step number `at`; a write has done half by then."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def _step(self, what: str, path: Path, more: Path | bytes | None = None) -> None:
        if len(self.steps) == self.at:
            if isinstance(more, bytes):
                path.write_bytes(more[: len(more) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        super()._step(what, path, more)


# ---- what a power cut leaves

UNSYNCED: dict[str, Callable[[bytes], bytes]] = {  # what may become of bytes that were written and not synced
    "lost": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "kept": lambda data: data,
}


class _Node:
    """A file or a folder, whatever its name is."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data  # None: a folder
        self.synced = data


class _Entry(NamedTuple):
    """A change of names, which holds after a power cut once `folder` is synced, and may hold before."""

    folder: Path
    gone: Path | None
    name: Path | None
    node: _Node


def power_cuts(before: dict[Path, bytes | None], steps: list[Step]) -> Iterator[dict[Path, bytes | None]]:
    """All that a disk may hold when the power goes after `steps`: path → bytes, None for a folder, all relative.

    POSIX promises nothing but fsync: names that were changed since their folder was synced may hold or not, each by
    itself, and bytes that were not synced may be anything.
    """
    names = {path: _Node(data) for path, data in before.items()}  # as a running system sees them
    durable = dict(names)
    pending: list[_Entry] = []
    for what, path, more in steps:
        match what:
            case "make_folder" | "create":
                names[path] = _Node(None if what == "make_folder" else b"")
                pending.append(_Entry(path.parent, None, path, names[path]))
            case "write":
                assert isinstance(more, bytes)
                names[path].data = more
            case "sync":
                names[path].synced = names[path].data
            case "rename":
                assert isinstance(more, Path)
                names[more] = names.pop(path)
                pending.append(_Entry(path.parent, path, more, names[more]))
            case "remove":
                pending.append(_Entry(path.parent, path, None, names.pop(path)))
            case "sync_folder":
                for entry in [one for one in pending if one.folder == path]:
                    _apply(durable, entry)
                    pending.remove(entry)
    for count in range(len(pending) + 1):
        for held in combinations(pending, count):
            after = dict(durable)
            for entry in held:
                _apply(after, entry)
            yield from _contents(after)


def _apply(names: dict[Path, _Node], entry: _Entry) -> None:
    if entry.gone is not None:
        names.pop(entry.gone, None)
    if entry.name is not None:
        names[entry.name] = entry.node


def _contents(names: dict[Path, _Node]) -> Iterator[dict[Path, bytes | None]]:
    there = {path: node for path, node in names.items() if all(up in names for up in path.parents if up != HERE)}
    unsynced = any(node.data != node.synced for node in there.values())
    for become in UNSYNCED.values() if unsynced else [UNSYNCED["kept"]]:
        yield {
            path: node.data if node.data is None or node.data == node.synced else become(node.data)
            for path, node in there.items()
        }
