"""A second name for an emulated shoe's port: a symbolic link to the pty while the shoe is on. For `emulate --link`."""

from __future__ import annotations

import contextlib
import os
import termios
from collections.abc import Iterator
from pathlib import Path

from dealershoe.errors import UserError

PTYS = ("/dev/pts/", "/dev/ttys")  # Linux, macOS
COOKED = termios.ICANON | termios.ECHO | termios.ISIG  # of a terminal that a person types at; a shoe's port has none


@contextlib.contextmanager
def named(link: Path | None, port: str) -> Iterator[None]:
    """The port under another name while the shoe is on. A name that a dead shoe has left is taken over.

    Raises UserError when another emulated shoe, or anything else, has that name.
    """
    if link is None:
        yield
        return
    try:
        if link.is_symlink():
            _may_replace(link, port)
            link.unlink()
        link.symlink_to(port)
    except OSError as error:
        raise UserError(
            f"{link} cannot be made a link", str(error.strerror), "choose another name with --link"
        ) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # it is gone, or it is no link any more
            if os.readlink(link) == port:
                link.unlink()


def _may_replace(link: Path, port: str) -> None:
    target = os.path.realpath(link)
    if not os.path.lexists(target) or target == port:  # the system gives a dead shoe's pty to the next one that asks
        return
    if not target.startswith(PTYS):
        raise UserError(f"{link} is a link to {target} already", "", "choose another name with --link")
    if _is_shoe(target):
        raise UserError(
            f"another emulated shoe has the name {link}",
            f"its port {target} is alive",
            "switch that one off, or choose another name with --link",
        )


def _is_shoe(pty: str) -> bool:
    """Whether somebody holds that pty, and as a serial port: a window's terminal may have got a dead shoe's number.

    Where it cannot be opened for want of a right it is somebody's, so it is taken for one.
    """
    try:
        fd = os.open(pty, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except PermissionError:
        return True
    except OSError:
        return False
    try:
        return not termios.tcgetattr(fd)[3] & COOKED
    except termios.error:
        return False
    finally:
        os.close(fd)
