"""Small files for their owner's eyes alone: read only if nobody else may read them, written whole or not at all."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from dealershoe.errors import UserError


@dataclass(frozen=True, slots=True)
class Owned:
    """A kind of such files, for its sentences."""

    what: str  # is in it: "keys"
    danger: str  # of its being open to others
    renew: str  # what else to do if others have had access
    restore: str  # what to do with a damaged one
    option: str  # that names another file

    def read(self, path: Path) -> str | None:
        """The text, None where there is no file. Raises UserError: unreadable, no text, or open to others."""
        try:
            with open(path, encoding="ascii", opener=_at_once) as file:
                status = os.fstat(file.fileno())
                mode = status.st_mode
                text = file.read() if stat.S_ISREG(mode) else None
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise self.damaged(path) from error
        except OSError as error:
            seen = f"the {self.what} in {path} cannot be read"
            raise UserError(seen, str(error), "look at its owner and rights") from error
        if text is None:
            raise UserError(
                f"the {self.what} in {path} cannot be read",
                "it is a pipe or a device, not a file",
                f"name a file with {self.option}",
            )
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UserError(
                f"the {self.what} in {path} are open to others (mode {stat.S_IMODE(mode):o})",
                self.danger,
                f"run `chmod 600 {path}`, and {self.renew} if others have had access",
            )
        if os.name == "posix" and os.geteuid() not in (0, status.st_uid):
            raise UserError(
                f"the {self.what} in {path} belong to user {status.st_uid} and not to this one ({os.geteuid()})",
                "its owner can read and change them at any time",
                f"run `chown {os.geteuid()} {path}`, and {self.renew} if that user is not to be trusted",
            )
        return text

    def prepare(self, path: Path) -> None:
        """Raises UserError if nothing can be kept there: to be asked before what is to be kept is made."""
        try:
            _write(path, "").unlink()
        except OSError as error:
            raise self._refused(path, error) from error

    def write(self, path: Path, text: str) -> None:
        """Keep `text`, whole or not at all. Raises UserError."""
        try:
            _write(path, text).replace(path)
        except OSError as error:
            raise self._refused(path, error) from error

    def _refused(self, path: Path, error: OSError) -> UserError:
        return UserError(
            f"the {self.what} cannot be written to {path} ({error.strerror})",
            "the folder is missing or may not be written",
            f"choose another file with {self.option}",
        )

    def damaged(self, path: Path) -> UserError:
        """What is said of a file that makes no sense."""
        return UserError(
            f"the {self.what} in {path} are damaged",
            "the file was cut off or edited",
            f"restore it, or move it away and {self.restore}",
        )


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody at the other end, if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write(path: Path, text: str) -> Path:
    """`text` in a new file beside `path`, on the disk."""
    new = path.with_name(path.name + ".new")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return new
