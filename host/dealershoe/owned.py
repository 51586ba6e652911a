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
            with path.open(encoding="ascii") as file:
                mode = os.fstat(file.fileno()).st_mode
                text = file.read()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError as error:
            raise self.damaged(path) from error
        except OSError as error:
            seen = f"the {self.what} in {path} cannot be read"
            raise UserError(seen, str(error), "look at its owner and rights") from error
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise UserError(
                f"the {self.what} in {path} are open to others (mode {stat.S_IMODE(mode):o})",
                self.danger,
                f"run `chmod 600 {path}`, and {self.renew} if others have had access",
            )
        return text

    def write(self, path: Path, text: str) -> None:
        """Keep `text`, whole or not at all. Raises UserError."""
        new = path.with_name(path.name + ".new")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            raise UserError(
                f"the {self.what} cannot be written to {path} ({error.strerror})",
                "the folder is missing or may not be written",
                f"choose another file with {self.option}",
            ) from error

    def damaged(self, path: Path) -> UserError:
        """What is said of a file that makes no sense."""
        return UserError(
            f"the {self.what} in {path} are damaged",
            "the file was cut off or edited",
            f"restore it, or move it away and {self.restore}",
        )
