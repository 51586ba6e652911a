"""Is a file a journal that may be opened? Nothing here changes a file. For the journal, its readers and the doctor.

The header is read as bytes: opening a foreign file with SQLite could already change it. But not of a journal that this
process writes: to close any descriptor of a file drops all locks of the process on it (fcntl(2)), SQLite's too, and the
next program that looks into the journal would take itself for the last and throw the write-ahead log away
(sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from dealershoe.errors import UserError
from dealershoe.record.head import read_head
from dealershoe.record.schema import APPLICATION_ID, CHAINED, EARLIER, MAGIC, VERSION, is_whole

KEEP = "keep it and the files beside it as they are and start a new journal with --journal"

_HELD: set[tuple[int, int]] = set()  # the journals that this process writes: device and inode


def hold(path: Path) -> Callable[[], None]:
    """From now on this process writes the journal at `path`, until the function that is returned is called."""
    found = path.stat()
    key = found.st_dev, found.st_ino
    _HELD.add(key)
    return lambda: _HELD.discard(key)


def is_held(path: Path) -> bool:
    """Does this process write the journal at `path`?"""
    try:
        found = path.stat()
    except OSError:
        return False
    return (found.st_dev, found.st_ino) in _HELD


def is_new(path: Path, pages: bool = True) -> bool:
    """Is the file empty, and was it always? Raises UserError when it is neither that nor a sound journal.

    `pages`: look at every page, which takes long for a big file; whoever only reads meets a damaged one anyway.
    """
    is_no_device(path)
    if is_held(path):
        return False
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror})", "", "check the name") from error
    if not header:
        if read_head(path) is not None:
            raise damaged(path, "the file is empty, but records have been written to it")
        return True
    if header[:16] != MAGIC or int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise UserError(
            f"{path} is not a journal of a bridge",
            "it belongs to another program",
            "choose another file with --journal",
        )
    version = int.from_bytes(header[60:64], "big")
    if not 1 <= version <= VERSION:
        raise UserError(
            f"the journal {path} has version {version}, this bridge writes version {VERSION}",
            "it was made by a newer release",
            "use that release, or keep the file as it is and start a new journal with --journal",
        )
    try:
        with reading(path) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone() if pages else ("ok",)
            if verdict != "ok":
                raise damaged(path, str(verdict))
            (version,) = db.execute("PRAGMA user_version").fetchone()  # what the write-ahead log may have changed
            if version not in (*EARLIER, *CHAINED) or not is_whole(db, version):
                raise UserError(
                    f"the journal {path} has not the tables of version {version}",
                    "an upgrade was left half done, or another program changed them",
                    "put it back from a copy, or " + KEEP,
                )
    except sqlite3.Error as error:
        raise damaged(path, str(error)) from error
    return False


def is_no_device(path: Path) -> None:
    """Raises UserError for what is there and is no file: a pipe would be waited for."""
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a file", "it is a folder, a pipe or a device", "name the journal of a table")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads. May raise sqlite3.Error at any time.

    Without a log to play back, "immutable" reads the file alone and leaves no files beside it.
    """
    how = "mode=ro" if is_held(path) or Path(f"{path}-wal").exists() else "immutable=1"
    db = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, isolation_level=None)
    try:
        yield db
    finally:
        db.close()


def damaged(path: Path, why: str) -> UserError:
    """The sentence for a journal that cannot be trusted."""
    return UserError(
        f"the journal {path} is damaged ({' '.join(why.split())})", "the disk failed or the file was cut off", KEEP
    )
