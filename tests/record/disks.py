"""A disk of its own for a bridge that runs for real: small, and it can fail. For tests of full and read-only disks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from record.look import Known

WAIT_S = 30.0
NEEDED = ("unshare", "nsenter", "mkfs.ext4", "e2fsck", "mount", "umount")
HOLDER = "mount -o loop,errors=remount-ro {image} {point} && echo mounted && exec {python} {look}"
FAIL = 'd=$(findmnt -n -o SOURCE {point}) && echo 1 > "/sys/fs/ext4/${{d#/dev/}}/trigger_fs_error"'
AGAIN = "umount {point}; e2fsck -fy {image} >/dev/null; mount -o loop,errors=remount-ro {image} {point}"


class Disk:
    """An ext4 file system of `kilobytes`, in a mount namespace of its own: gone with this object. A context manager.

    `path` is where this process sees its files. Skips the test, and says why, where none may be mounted.
    """

    def __init__(self, folder: Path, kilobytes: int) -> None:
        missing = [name for name in NEEDED if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]
        if missing:
            pytest.skip(f"no {', '.join(missing)} here: a disk of its own cannot be mounted for the test")
        look = Path(__file__).with_name("look.py")
        self._names = {
            "image": folder / "disk.image", "point": folder / "disk", "python": Path(sys.executable), "look": look,
        }  # fmt: skip
        self._asking = threading.Lock()
        self._names["point"].mkdir()
        with self._names["image"].open("wb") as image:
            image.truncate(kilobytes * 1024)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", self._names["image"]], check=True)
        self._holder = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", HOLDER.format(**self._names)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "mounted\n":
            why = self._holder.communicate(timeout=WAIT_S)[1].strip()
            pytest.skip(f"this user may not mount a small disk: {why}")
        self.path = Path(f"/proc/{self._holder.pid}/root{self._names['point']}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._holder.communicate(timeout=WAIT_S)  # its end is the end of its mounts

    @property
    def inside(self) -> list[str]:
        """What a command begins with that is to see the disk."""
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt"]

    def look(self) -> Known:
        """What the journal there has. From any thread."""
        assert self._holder.stdin is not None
        assert self._holder.stdout is not None
        with self._asking:
            self._holder.stdin.write(f"{self.journal}\n")
            self._holder.stdin.flush()
            return Known(*json.loads(self._holder.stdout.readline()))

    @property
    def journal(self) -> Path:
        """Where a command that sees the disk finds the journal."""
        return self._names["point"] / "table.journal"

    def _run(self, script: str) -> None:
        subprocess.run([*self.inside, "sh", "-c", script.format(**self._names)], check=True, timeout=WAIT_S)

    def fill(self, left: int = 0) -> None:
        """Another program's file takes all that is free, but for `left` bytes."""
        with (self.path / "others").open("wb", buffering=0) as file:
            while True:
                try:
                    file.write(bytes(4096))
                except OSError:
                    break
            file.truncate(max(0, file.tell() - left))
            os.fsync(file.fileno())

    def make_room(self) -> None:
        """That file is gone."""
        (self.path / "others").unlink()

    def fail(self) -> None:
        """The file system finds an error on itself: from now on it is read-only, whoever has files open."""
        self._run(FAIL)

    def again(self) -> None:
        """Checked, mended and mounted again, as whoever looks after the machine would. Nobody may have files open."""
        self._run(AGAIN)
