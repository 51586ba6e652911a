"""The shelf's disk: files that are replaced whole or not at all, and read only where no one else can have put them.

The one place of the shelf that does I/O. Each call below is one step; a test puts a disk that fails, or a power cut,
behind any of them.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from dealershoe.errors import UserError

try:
    import fcntl
except ImportError:  # Windows: one person at a time is all there is
    fcntl = None  # type: ignore[assignment]

POSIX = os.name == "posix"
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for
FULLSYNC = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone leaves the data in the drive's cache (fsync(2))


class Disk:
    """The steps. Each raises OSError and nothing else."""

    def make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)

    def create(self, path: Path, mode: int) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY, mode)

    def write(self, file: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]

    def sync(self, file: int) -> None:
        if fcntl is not None and FULLSYNC is not None:
            fcntl.fcntl(file, FULLSYNC)
        else:
            os.fsync(file)

    def rename(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def remove(self, path: Path) -> None:
        path.unlink()

    def sync_folder(self, folder: Path) -> None:
        if POSIX:  # elsewhere a folder cannot be opened
            file = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(file)
            finally:
                os.close(file)


def replace_file(disk: Disk, path: Path, data: bytes, mode: int = 0o644) -> None:
    """Make `path` hold `data`. After a power cut at any point it holds what it held or `data`, whole; then durable.

    Raises UserError when the disk refuses: `path` is as it was, or, where only the last step failed, new and said so.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        with contextlib.suppress(FileNotFoundError):  # of a change that was cut off
            disk.remove(beside)
        _write_new(disk, beside, data, mode)
        try:
            disk.rename(beside, path)
        except OSError:
            _forget(disk, beside)
            raise
    except OSError as error:
        raise refused(path, error) from error
    try:
        disk.sync_folder(path.parent)
    except OSError as error:
        raise UserError(
            f"{path} is written, but the disk did not confirm it ({error.strerror or error})",
            "the disk is failing",
            "put it right and look what `rules history` ends with",
        ) from error


def create_file(disk: Disk, path: Path, data: bytes, mode: int) -> None:
    """Make a new file. Raises UserError, nothing changed, when something is there already or the disk refuses."""
    try:
        _write_new(disk, path, data, mode)
        disk.sync_folder(path.parent)
    except FileExistsError as error:
        raise UserError(f"{path} is there already", "it is never written over", "choose another name") from error
    except OSError as error:
        raise refused(path, error) from error


def _write_new(disk: Disk, path: Path, data: bytes, mode: int) -> None:
    file = disk.create(path, mode)
    try:
        try:
            disk.write(file, data)
            disk.sync(file)
        finally:
            os.close(file)
    except OSError:
        _forget(disk, path)
        raise


def _forget(disk: Disk, path: Path) -> None:
    with contextlib.suppress(OSError):
        disk.remove(path)


def make_folders(disk: Disk, folder: Path) -> None:
    """Make `folder` and what is missing above it, for the owner alone. Raises UserError when the disk refuses."""
    try:
        for one in (*reversed(folder.parents), folder):
            if not one.exists():
                disk.make_folder(one)
                disk.sync_folder(one.parent)
    except OSError as error:
        raise refused(folder, error) from error


def read_file(path: Path, biggest: int) -> bytes:
    """The bytes of a plain file. Raises UserError for a missing one, a link, a device, or more than `biggest` bytes."""
    try:
        file = os.open(path, os.O_RDONLY | NOFOLLOW | BINARY | NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise UserError(f"{path} is not a file", "it is a folder or a device", "give a file")
            data = b""
            while len(data) <= biggest and (more := os.read(file, biggest + 1 - len(data))):
                data += more
        finally:
            os.close(file)
    except OSError as error:
        raise _a_link(path) if path.is_symlink() else _unreadable(path, error) from error
    if len(data) > biggest:
        raise UserError(f"{path} has more than {biggest} bytes", "it is something else", "give the right file")
    return data


def private(path: Path) -> None:
    """Raises UserError when others than its owner may read or write the file."""
    if POSIX and path.lstat().st_mode & 0o077:
        raise UserError(
            f"others may read or change the private key {path}", "its permissions are too wide", "chmod 600 it"
        )


def guarded(path: Path) -> None:
    """Raises UserError when anyone at all could change the file or folder, or put another in its place."""
    if path.is_symlink():
        raise _a_link(path)
    if not POSIX:
        return
    try:
        modes = {one: one.stat().st_mode for one in (path, *path.absolute().parents)}
    except OSError as error:
        raise _unreadable(path, error) from error
    for one, mode in modes.items():
        sticky = one != path and mode & stat.S_ISVTX  # as /tmp: only the owner takes a name away
        if mode & stat.S_IWOTH and not sticky:
            raise UserError(f"anyone may write to {one}", "its permissions are too wide", "chmod o-w it")


@contextlib.contextmanager
def alone(lock: Path) -> Iterator[None]:
    """While it is held no other process changes the shelf. Waits for one that does."""
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT | NOFOLLOW, 0o600)
    except OSError as error:
        raise _a_link(lock) if lock.is_symlink() else refused(lock, error) from error
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def refused(path: Path, error: OSError) -> UserError:
    """The sentence for a disk that refuses."""
    return UserError(
        f"{path} could not be written ({error.strerror or error})",
        "the disk is full, failing or protected",
        "nothing has changed: try again when it is put right",
    )


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"{path}: {error.strerror}", "it is not there or may not be read", "check the name")


def _a_link(path: Path) -> UserError:
    return UserError(f"{path} is a link", "it could lead anywhere", "put the file itself there")
