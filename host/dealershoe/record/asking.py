"""What the commands of the record have in common: the file, a range of hands, progress. For `dealershoe journal`."""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from dealershoe.errors import UserError
from dealershoe.record.read import END

FILE = click.Path(dir_okay=False, path_type=Path)
NS = 1_000_000_000
LOOK_S = 0.1  # between two pictures of a bar: a thousand hands a second are no thousand pictures


def journal_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """FILE: the journal that a command is about."""
    return click.argument("file", type=FILE, metavar="FILE")(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`: for a program."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")(command)


def range_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--from` and `--to`: the first fact of a hand, or a time."""
    said = "The hand that began with this fact, or at this time (2026-11-30, 2026-11-30T21:15) or"
    command = click.option("--to", "last", metavar="WHEN", default="", help=f"{said} before.")(command)
    return click.option("--from", "first", metavar="WHEN", default="", help=f"{said} after.")(command)


def facts_of(db: sqlite3.Connection, first: str, last: str) -> tuple[int, int]:
    """The facts that a range stands for: from, and to. Raises UserError for what is neither a number nor a time."""
    low = 1 if not first else int(first) if first.isdecimal() else _fact_at(db, first, 0)
    high = END if not last else int(last) if last.isdecimal() else _fact_at(db, last, 1) - 1
    return low, high


def _fact_at(db: sqlite3.Connection, text: str, days: int) -> int:
    """The first fact at a time or after; a day without an hour stands for its beginning, or `days` later."""
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise UserError(
            f"`{text}` is neither a fact nor a time", "a time is written as 2026-11-30 or 2026-11-30T21:15", "say it so"
        ) from error
    if len(text) <= len("2026-11-30"):
        moment += datetime.timedelta(days=days)
    wall_ns = int(moment.timestamp()) * NS
    (fact,) = db.execute("SELECT coalesce(min(id), ?) FROM facts WHERE wall_ns >= ?", (END, wall_ns)).fetchone()
    return int(fact)


def when(wall_ns: int) -> str:
    """A time for a person, in the time of this machine."""
    return datetime.datetime.fromtimestamp(wall_ns / NS).strftime("%Y-%m-%d %H:%M:%S")


class _Rate(ProgressColumn):
    """How many are done a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:,.0f}/s")


@contextlib.contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar with rate and time left on standard error, where that is a terminal; to be told how many are done."""
    done = TextColumn("{task.completed:,}" + (f" of {total:,}" if total else ""))
    columns = (
        TextColumn("{task.description}"), BarColumn(), done, _Rate(), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(),
    )  # fmt: skip
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total or None)
        look_at = 0.0

        def told(done: int) -> None:
            nonlocal look_at
            now = time.monotonic()
            if now >= look_at and not bar.disable:
                look_at = now + LOOK_S
                bar.update(task, completed=done)

        yield told
