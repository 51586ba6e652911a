"""Proves every pair of faults for 2, 6 and 9 seats under every shipped stack: `make prove`. It takes hours.

`PYTHONPATH=tests python tests/rules/prove.py [--minutes N] [--seats 2,6,9] [--games holdem,stud] [--stacks A,B]`
What is proven of each pair is what `proof.check` says. Exit status 1, and the shortest script of each kind of
counterexample, when there are any.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from functools import cache
from multiprocessing import Pool, cpu_count
from typing import NamedTuple

import click
from dealershoe.trial.situations import Acts, faults
from dealershoe.rules.stack import Stack, load_stack
from dealershoe.table.state import HandState
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rules.proof import STACKS, STUD_SEATS, BrokenError, Table, check, moments

FIRST: Acts = ((), ("fold", "fold"), ("call", "call"))  # closed for one book, for two, for all
LATER: Acts = ((), ("check",))
NO_ACTS: Acts = ((),)
PARTS = 8  # of a moment, so that each piece of work is done within seconds


class Task(NamedTuple):
    """Every pair whose first fault comes at moment `at` of the hand; of those first faults one in PARTS."""

    stack: str
    seats: int
    game: str
    at: int
    part: int


class Proven(NamedTuple):
    task: Task
    pairs: int
    broken: tuple[str, ...]


@cache
def books(stack: str) -> Stack:
    """A stack, read once: the processes take it over, so that a pack changed meanwhile changes nothing."""
    return load_stack(stack)


def prove(task: Task) -> Proven:
    """Every second fault after every first one at the task's moment; first faults with equal outcomes count once."""
    moment = list(moments(Table(books(task.stack), task.seats, task.game)))[task.at]
    seen: set[HandState] = {moment.hand}
    ends: set[HandState] = set()
    broken: list[str] = []
    pairs = 0
    for number, first in enumerate(faults(moment.session, False, FIRST, LATER)):
        if number % PARTS != task.part:
            continue
        table = moment.fork()
        try:
            if not table.inject(first) or table.hand in seen:
                continue
            seen.add(table.hand)
            for later in moments(table):
                for second in faults(later.session, False, NO_ACTS, NO_ACTS):
                    pairs += 1
                    try:
                        check(later, second, False, ends)
                    except BrokenError as error:
                        broken.append(str(error))
        except BrokenError as error:
            broken.append(str(error))
    return Proven(task, pairs, tuple(broken))


def tasks(seats: list[int], games: list[str], stacks: list[str]) -> list[Task]:
    """All of them in an order that mixes everything, so that a proof cut short has seen something of each kind."""
    found = []
    for stack in stacks:
        for game in games:
            for count in seats:
                if game == "stud" and count > STUD_SEATS:
                    continue
                length = sum(1 for _ in moments(Table(books(stack), count, game)))
                found += [Task(stack, count, game, at, part) for at in range(length) for part in range(PARTS)]
    random.Random(1).shuffle(found)
    return found


def kind_of(script: str) -> str:
    """What is wrong with a counterexample, without its stack and numbers."""
    reason = script.rsplit("# under ", 1)[-1].split(": ", 1)[-1]
    return "".join("N" if letter.isdigit() else letter for letter in reason)


@click.command()
@click.option("--minutes", type=float, default=0, help="Stop after so many minutes; 0: when all is proven.")
@click.option("--seats", default="2,6,9", show_default=True)
@click.option("--games", default="holdem,stud", show_default=True)
@click.option("--stacks", default=",".join(STACKS), show_default=True)
@click.option("--jobs", default=cpu_count() or 1, show_default=True, help="Processes.")
def main(minutes: float, seats: str, games: str, stacks: str, jobs: int) -> None:
    """Prove every pair of faults."""
    todo = tasks([int(count) for count in seats.split(",")], games.split(","), stacks.split(","))
    begun = time.monotonic()
    pairs = done = 0
    shortest: dict[str, str] = {}
    counts: Counter[str] = Counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Pool(jobs) as pool, Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("pieces", total=len(todo))
        for proven in pool.imap_unordered(prove, todo):
            done += 1
            pairs += proven.pairs
            for script in proven.broken:
                kind = kind_of(script)
                counts[kind] += 1
                shortest[kind] = min(shortest.get(kind, script), script, key=len)
            progress.update(bar, advance=1, description=f"{pairs:,} pairs, {counts.total():,} counterexamples")
            if minutes and time.monotonic() - begun > minutes * 60:
                break
    for kind, count in counts.most_common():
        click.echo(f"{count} times: {kind}\n{shortest[kind]}\n")
    whole = "all" if done == len(todo) else f"{done} of {len(todo)} pieces of work,"
    click.echo(f"{whole} {pairs:,} pairs in {time.monotonic() - begun:.0f} s, {counts.total():,} counterexamples")
    sys.exit(1 if counts else 0)


if __name__ == "__main__":
    main()
