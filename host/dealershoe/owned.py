"""Small files for their owner's eyes alone: read only if nobody else may read them, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dealershoe.errors import UserError

try:
    import fcntl
except ImportError:  # Windows: who changes such a file twice at once there loses one of the changes
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Owned:
    """A kind of such files, for its sentences."""

    what: str  # is in it: "keys"
    danger: str  # of its being open to others
    renew: str  # what else to do if others have had access
    restore: str  # what to do with a damaged one
    option: str  # that names another file
    mark: re.Pattern[bytes] = re.compile(rb"\A\s*\{")  # is in every such file, and in few others: here, JSON's

    def read(self, path: Path) -> str | None:
        """The text, None where there is no file. Raises UserError: unreadable, no text, or open to others."""
        try:
            with open(path, "rb", opener=_at_once) as file:
                status = os.fstat(file.fileno())
                mode = status.st_mode
                data = file.read() if stat.S_ISREG(mode) else None
        except FileNotFoundError:
            return None
        except OSError as error:
            seen = f"the {self.what} in {path} cannot be read"
            raise UserError(seen, str(error), "look at its owner and rights") from error
        if data is None:
            raise UserError(
                f"the {self.what} in {path} cannot be read",
                "it is a pipe or a device, not a file",
                f"name a file with {self.option}",
            )
        is_open = os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO)
        is_foreign = os.name == "posix" and os.geteuid() not in (0, status.st_uid)
        if (is_open or is_foreign) and not self.mark.search(data):  # then its rights may be right
            raise UserError(
                f"{path} is no file of {self.what}",
                "its name is mistyped, or it is a file of something else",
                f"name another with {self.option}",
            )
        if is_open:
            raise UserError(
                f"the {self.what} in {path} are open to others (mode {stat.S_IMODE(mode):o})",
                self.danger,
                f"run `chmod 600 {path}`, and {self.renew} if others have had access",
            )
        if is_foreign:
            raise UserError(
                f"the {self.what} in {path} belong to user {status.st_uid} and not to this one ({os.geteuid()})",
                "its owner can read and change them at any time",
                f"run `chown {os.geteuid()} {path}`, and {self.renew} if that user is not to be trusted",
            )
        try:
            return data.decode("ascii")
        except UnicodeDecodeError as error:
            raise self.damaged(path) from error

    @contextlib.contextmanager
    def changing(self, path: Path) -> Iterator[None]:
        """While the file is read, changed and written nobody else does so. Not to be nested. Raises UserError."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(path.parent, os.O_RDONLY) if fcntl is not None else -1
        except OSError as error:
            raise self._refused(path, error) from error
        try:
            if folder >= 0:
                with contextlib.suppress(OSError):  # a file system without such locks
                    fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            if folder >= 0:
                os.close(folder)

    def beside(self, path: Path, text: str) -> Path:
        """`text` in a new file of its own beside `path`, on the disk; nothing is left of it if UserError is raised."""
        try:
            return _write(path, text)
        except OSError as error:
            raise self._refused(path, error) from error

    def put(self, new: Path, path: Path) -> None:
        """The file that `beside` made in the place of `path`. Raises UserError; both are then as they were."""
        try:
            new.replace(path)
        except OSError as error:
            raise self._refused(path, error) from error
        _settle(path.parent)

    def write(self, path: Path, text: str) -> None:
        """Keep `text`, whole or not at all. Raises UserError."""
        new = self.beside(path, text)
        try:
            self.put(new, path)
        except UserError:
            new.unlink(missing_ok=True)
            raise

    def _refused(self, path: Path, error: OSError) -> UserError:
        return UserError(
            f"the {self.what} cannot be written to {path} ({error.strerror})",
            "the disk is full, or the folder is missing or may not be written",
            f"choose another file with {self.option}",
        )

    def damaged(self, path: Path) -> UserError:
        """What is said of a file that makes no sense."""
        return UserError(
            f"the {self.what} in {path} are damaged",
            f"the file was cut off or edited, or is no file of {self.what}",
            f"restore it, or move it away and {self.restore}",
        )


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody at the other end, if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write(path: Path, text: str) -> Path:
    """`text` in a new file beside `path`, on the disk, under a name that nobody else takes."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)  # mode 600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _settle(folder: Path) -> None:
    """Have the disk know the new name too, where a folder can be opened for that."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
