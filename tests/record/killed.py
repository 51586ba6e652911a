"""Lives of a journal's writer, each ended by kill -9 at some statement: run by test_durable.py, one process a life.

`python killed.py FOLDER FIRST COUNT`: for each seed a journal is written, killed and opened again up to LIVES times.
Every number of the shoe's that was acknowledged must then be there, once, and the chain whole. Prints a line a seed.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from dealershoe.entries import EventRow, Fact, SignalRow
from dealershoe.record.journal import Journal
from dealershoe.record.opening import reading
from dealershoe.record.verify import Check
from dealershoe.rules.signing import new_key

LIVES = 4
STATEMENTS = 140  # a life ends within so many, of which more than half open the journal
KEY = new_key()


def life(path: Path, seed: int, acknowledge: int) -> None:
    """Open the journal, go on where it ends, until the end comes; tell `acknowledge` what the shoe may forget."""
    dice = random.Random(seed)
    left = dice.randint(1, STATEMENTS)

    class Dying(sqlite3.Connection):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.set_trace_callback(self.count)

        def count(self, _: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    real = sqlite3.connect
    sqlite3.connect = lambda *arguments, **named: real(*arguments, factory=Dying, **named)  # type: ignore[assignment]
    journal = Journal(path, KEY)
    number, fact = journal.stored_up_to(b"shoe") or 0, journal.next_fact()
    while True:
        batch: list[Any] = []
        for _ in range(dice.randint(1, 5)):
            number += 1
            batch.append(Fact(fact, "shoe", b"card %d" % number, number, number, b"shoe", number))
            batch.append(EventRow(fact, 1, number, "Draw", "{}"))
            fact += 1
        batch.append(SignalRow(fact - 1, number, "ready", "supervised", number))
        journal.write(batch, sign=dice.random() < 0.2)
        os.write(acknowledge, b"%d\n" % number)


def lived(path: Path, seed: int) -> int:
    """One life in a process of its own; the highest number that was acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        life(path, seed, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        numbers = said.read().split()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"seed {seed}: the writer ended by itself"
    return int(numbers[-1]) if numbers else 0


def main(folder: Path, first: int, count: int) -> None:
    for seed in range(first, first + count):
        path = folder / f"{seed}.journal"
        acknowledged = 0
        for number in range(LIVES):
            acknowledged = max(acknowledged, lived(path, seed * LIVES + number))
        with Journal(path, KEY) as journal:
            numbers = [fact.number for fact in journal.facts()]
            stored = journal.stored_up_to(b"shoe") or 0
            events = [row[2] for row in journal.rows(EventRow)]
        assert stored >= acknowledged, f"seed {seed}: {acknowledged} was acknowledged, {stored} is stored"
        assert numbers == events == list(range(1, stored + 1)), f"seed {seed}: {numbers}"
        with reading(path) as db:
            assert list(Check(db).run()) == [], f"seed {seed}"
        print(seed, acknowledged, stored)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
