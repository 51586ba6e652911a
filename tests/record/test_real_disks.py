"""`dealershoe run` at an emulated shoe while its disk fills up, fails or its clock goes back: no card lost or doubled.

The shoe is never acknowledged before its report is on the disk, it shows the dealer that nobody watches it, and all is
there once there is room.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.entries import EventRow
from dealershoe.record.journal import Journal
from dealershoe.record.opening import reading
from dealershoe.record.verify import Check
from record.at_a_table import Acknowledged, Run, wait_for
from record.disks import Disk
from record.look import look

SEATS = (1, 2, 3, 4, 5, 6)
HAND = "hand seats=1-6 button=6"
BLUE = (0, 0, 90)  # hardware/signals.md: every second lamp, in turn
DAY_NS = 24 * 3600 * 10**9


@pytest.fixture
def shoe() -> Iterator[EmulatedShoe]:
    with EmulatedShoe(pace="fast") as shoe:
        yield shoe


def begin(run: Run, shoe: EmulatedShoe, line: str = HAND, times: int = 1) -> None:
    """A hand, known at both ends."""
    run.until("is on the line")
    before = shoe.line.due.hand if shoe.line.due else 0
    run.say(line)
    run.until("(?m)^hand ", times)
    shoe.wait_for(lambda: shoe.line.due is not None and shoe.line.due.hand not in (0, before), "the hand")


def deal(shoe: EmulatedShoe, first: int, last: int) -> None:
    """Cards `first` to `last` of the deal, each to the seat where it is due."""
    for number in range(first, last + 1):
        shoe.pull(target=SEATS[(number - 1) % len(SEATS)])


def unwatched(run: Run, shoe: EmulatedShoe) -> None:
    """The bridge says so, and every other lamp of the shoe is blue."""
    run.until("unsupervised: what the shoe reports cannot be stored")
    shoe.wait_for(
        lambda: [one for one in shoe.lights if any(one)] == [BLUE] * 4, "the light of a shoe that nobody watches"
    )


def is_whole(path: Path, cards: int) -> None:
    """Every card once, no number of the shoe's missing or twice, the chain as it was written."""
    numbers, draws = look(path)
    assert numbers == list(range(1, len(numbers) + 1))
    assert draws == list(range(1, cards + 1))
    with reading(path) as db:
        assert list(Check(db).run()) == []


def kept(disk: Disk, folder: Path) -> Path:
    """The journal as it lies on the disk, where it can be looked at."""
    for file in disk.path.glob("table.journal*"):
        if file.is_file():
            shutil.copy(file, folder / file.name)
    return folder / "table.journal"


def test_a_disk_that_is_full_holds_no_card_back_and_loses_none(shoe: EmulatedShoe, tmp_path: Path) -> None:
    with Disk(tmp_path, 2048) as disk:
        acknowledged = Acknowledged(shoe, disk.look)
        with Run(shoe.port, disk.journal, tmp_path, disk.inside) as run:
            begin(run, shoe)
            deal(shoe, 1, 2)
            wait_for(lambda: disk.look().draws == [1, 2], "two cards on the disk")
            disk.fill()
            deal(shoe, 3, 5)
            run.until("the journal cannot be written .* the shoe keeps its reports until it can")
            unwatched(run, shoe)
            deal(shoe, 6, 9)
            before = disk.look().reports
            assert acknowledged.up_to <= before[-1]
            disk.make_room()
            run.until("the journal is written again")
            deal(shoe, 10, 12)
            wait_for(lambda: disk.look().draws == list(range(1, 13)), "all cards on the disk")
            shoe.quiet()
            assert len(before) < len(disk.look().reports)
        is_whole(kept(disk, tmp_path), 12)
        assert (acknowledged.early, acknowledged.up_to > 0) == ([], True)


def test_a_bridge_killed_on_a_full_disk_goes_on_where_there_is_room(shoe: EmulatedShoe, tmp_path: Path) -> None:
    with Disk(tmp_path, 2048) as disk:
        acknowledged = Acknowledged(shoe, disk.look)
        with Run(shoe.port, disk.journal, tmp_path, disk.inside) as run:
            begin(run, shoe)
            deal(shoe, 1, 2)
            wait_for(lambda: disk.look().draws == [1, 2], "two cards on the disk")
            disk.fill()
            deal(shoe, 3, 6)
            run.until("the journal cannot be written")
            run.kill()
        disk.make_room()
        with Run(shoe.port, disk.journal, tmp_path, disk.inside) as run:
            run.until("goes on as the journal has it")
            run.until("is on the line")
            wait_for(lambda: disk.look().draws == list(range(1, 7)), "the cards that the shoe kept")
            deal(shoe, 7, 12)
            wait_for(lambda: disk.look().draws == list(range(1, 13)), "all cards on the disk")
        is_whole(kept(disk, tmp_path), 12)
        assert (acknowledged.early, acknowledged.up_to > 0) == ([], True)


def test_a_disk_that_fails_in_the_middle_of_a_hand_is_read_only_and_loses_nothing(
    shoe: EmulatedShoe, tmp_path: Path
) -> None:
    with Disk(tmp_path, 4096) as disk:
        acknowledged = Acknowledged(shoe, disk.look)
        with Run(shoe.port, disk.journal, tmp_path, disk.inside) as run:
            begin(run, shoe)
            deal(shoe, 1, 3)
            wait_for(lambda: disk.look().draws == [1, 2, 3], "three cards on the disk")
            shoe.quiet()
            disk.fail()
            shoe.line.on_frame = None  # nobody reads the file from here on, either
            before = acknowledged.up_to
            deal(shoe, 4, 8)
            run.until("the journal cannot be written")
            unwatched(run, shoe)
            assert shoe.line._stored == before
            assert run.stop() == 0
        with Run(shoe.port, disk.journal, tmp_path, disk.inside) as run:
            assert run.ended() == 2
            assert "Read-only file system" in run.printed
        disk.again()
        with Run(shoe.port, disk.journal, tmp_path, disk.inside) as run:
            run.until("is on the line")
            wait_for(lambda: disk.look().draws == list(range(1, 9)), "the cards that the shoe kept")
            deal(shoe, 9, 12)
            wait_for(lambda: disk.look().draws == list(range(1, 13)), "all cards on the disk")
        is_whole(kept(disk, tmp_path), 12)
        assert (acknowledged.early, acknowledged.up_to > 0) == ([], True)


def test_a_journal_that_may_not_grow_holds_no_card_back_and_loses_none(shoe: EmulatedShoe, tmp_path: Path) -> None:
    """Where no disk can be mounted: the system refuses the bridge's process each byte beyond a size."""
    journal = tmp_path / "table.journal"
    acknowledged = Acknowledged(shoe, partial(look, journal))
    with Run(shoe.port, journal, tmp_path) as run:
        begin(run, shoe)
        deal(shoe, 1, 2)
        wait_for(lambda: look(journal).draws == [1, 2], "two cards on the disk")
        shoe.quiet()
        size = Path(f"{journal}-wal").stat().st_size
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        deal(shoe, 3, 9)
        run.until("the journal cannot be written")
        unwatched(run, shoe)
        assert acknowledged.up_to <= look(journal).reports[-1]
        assert len(look(journal).draws) < 9
        resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        run.until("the journal is written again")
        deal(shoe, 10, 12)
        wait_for(lambda: look(journal).draws == list(range(1, 13)), "all cards on the disk")
    is_whole(journal, 12)
    assert (acknowledged.early, acknowledged.up_to > 0) == ([], True)


CLOCK = """
import time
from pathlib import Path
true_ns, by = time.time_ns, Path({by!r})
time.time_ns = lambda: true_ns() + int(by.read_text())
time.time = lambda: time.time_ns() / 1e9
"""


def _set(by: Path, ns: int) -> None:
    """At once: a clock that is read meanwhile must not find an empty file."""
    new = by.with_name("new")
    new.write_text(str(ns))
    new.replace(by)


def test_a_clock_that_is_set_back_in_the_middle_of_a_hand_changes_nothing(shoe: EmulatedShoe, tmp_path: Path) -> None:
    """The machine's own clock is everybody's: the process reads one that is set back by a day, and another day."""
    by = tmp_path / "by"
    _set(by, 0)
    (tmp_path / "sitecustomize.py").write_text(CLOCK.format(by=str(by)))
    env = {"PYTHONPATH": str(tmp_path)}
    journal = tmp_path / "table.journal"
    acknowledged = Acknowledged(shoe, partial(look, journal))
    with Run(shoe.port, journal, tmp_path, env=env) as run:
        begin(run, shoe)
        deal(shoe, 1, 4)
        _set(by, -DAY_NS)
        deal(shoe, 5, 8)
        wait_for(lambda: look(journal).draws == list(range(1, 9)), "eight cards on the disk")
        run.kill()
    _set(by, -2 * DAY_NS)
    with Run(shoe.port, journal, tmp_path, env=env) as run:
        run.until("goes on as the journal has it")
        run.until("is on the line")
        deal(shoe, 9, 12)
        wait_for(lambda: look(journal).draws == list(range(1, 13)), "all cards on the disk")
        assert "align" not in run.printed.split("is on the line")[1]
        is_whole(journal, 12)
        shoe.quiet()  # nothing of the hand before is in the air: no dealer begins the next within a card's flight
        begin(run, shoe)  # described in full: its number is the clock's
        deal(shoe, 1, 6)
        wait_for(lambda: look(journal).draws == [*range(1, 13), *range(1, 7)], "the cards of the next hand")
        shoe.quiet()
        assert "signal   stop" not in run.printed
    assert (acknowledged.early, acknowledged.up_to > 0) == ([], True)
    with reading(journal) as db:
        check = Check(db)
        assert list(check.run()) == []
        assert check.clock_back
    with Journal(journal) as kept_:
        assert [row[3] for row in kept_.rows(EventRow)].count("Hand") == 2
