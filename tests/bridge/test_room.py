"""The room: each table in its turn, a failure its own, nothing lost between threads, nothing left behind."""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge.ptyshoe import wait_for
from dealershoe.bridge.room import CHORES, Room
from dealershoe.bridge.writer import RETRY_S, THREADS, Scribes, Writer
from dealershoe.entries import Entry, Fact
from dealershoe.port.ready import BLIND, Wake, Watch, ready

SHOE = b"JRN1"
FAR_NS = 1 << 62  # no turn is needed by the clock


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    threads, files = threading.active_count(), descriptors()
    yield
    # a room that the last table has left ends on its own thread
    wait_for(lambda: threading.active_count() <= threads and descriptors() <= files, "threads and files to be given up")


class Table:
    """Something to be turned, that writes down in `order` when it was."""

    def __init__(self, name: str, order: list[str], act: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self.order = order
        self.act = act
        self.descriptor: int | None = None
        self.writes = False
        self.turn_ns = FAR_NS
        self.error: BaseException | None = None
        self.finished = 0

    def begin(self) -> None:
        self.order.append(f"{self.name} begins")

    def turn(self, ready: bool) -> None:
        self.order.append(self.name)
        self.act()

    def fail(self, error: BaseException) -> None:
        self.error = error

    def finish(self) -> None:
        self.finished += 1


def test_a_busy_table_takes_no_turn_from_a_quiet_one() -> None:
    room, order = Room(), list[str]()
    near, far = socket.socketpair()
    far.send(b"never read: ready for ever")
    busy, quiet = Table("busy", order), Table("quiet", order)
    busy.descriptor = near.fileno()
    busy.act = lambda: room.news(quiet)
    room.enter(quiet)
    room.enter(busy)
    wait_for(lambda: order.count("busy") >= 1_000, "a thousand turns")
    for table in (busy, quiet):
        room.leave(table)
    near.close()
    far.close()
    assert order[order.index("quiet") :][:1_998] == ["quiet", "busy"] * 999


def test_what_a_turn_raises_ends_its_table_and_no_other() -> None:
    room, order = Room(), list[str]()

    def defect() -> None:
        raise ZeroDivisionError("a defect")

    bad, good = Table("bad", order, defect), Table("good", order)
    room.enter(good)
    room.enter(bad)
    room.news(bad)
    wait_for(lambda: not room.has(bad), "the table to leave")
    assert isinstance(bad.error, ZeroDivisionError)
    assert bad.finished == 1
    order.clear()
    room.news(bad)
    room.news(good)
    wait_for(lambda: "good" in order, "the other one's turn")
    assert "bad" not in order
    room.leave(bad)  # it has left already
    room.leave(good)
    assert good.error is None
    assert (bad.finished, good.finished) == (1, 1)


def test_a_turn_comes_when_its_time_has_come_and_not_before() -> None:
    room, order = Room(), list[str]()
    table = Table("clock", order)
    moments = iter([0, FAR_NS])

    def act() -> None:
        table.turn_ns = next(moments)

    table.act = act
    room.enter(table)
    room.news(table)
    wait_for(lambda: order.count("clock") == 2, "the turn whose time is past")
    room.leave(table)
    assert order.count("clock") == 2


def test_an_errand_comes_back_as_a_turn_and_holds_none_up() -> None:
    room, order = Room(), list[str]()
    asks, other = Table("asks", order), Table("other", order)
    go, got = threading.Event(), list[int]()

    def job() -> int:
        go.wait(20)
        return 7

    def act() -> None:
        asks.act = lambda: None
        room.errand(asks, job, got.append)

    asks.act = act
    room.enter(asks)
    room.enter(other)
    room.news(asks)
    wait_for(lambda: "asks" in order, "the errand to begin")
    room.news(other)
    wait_for(lambda: "other" in order, "a turn meanwhile")
    assert got == []
    go.set()
    wait_for(lambda: got == [7], "what came of it")
    room.leave(asks)
    room.leave(other)


def test_what_comes_of_an_errand_is_told_even_when_its_table_has_left() -> None:
    go, got, begun = threading.Event(), list[int](), threading.Event()

    class Leaving(Table):
        def finish(self) -> None:
            super().finish()
            go.set()

    room, order = Room(), list[str]()
    table = Leaving("asks", order)

    def job() -> int:
        begun.set()
        go.wait(20)
        return 7

    table.act = lambda: room.errand(table, job, got.append)
    room.enter(table)
    room.news(table)
    assert begun.wait(20)
    room.leave(table)  # waits for the errand: it may hold a port
    assert got == [7]


def test_chores_are_done_one_at_a_time_and_not_without_end() -> None:
    room, order = Room(), list[str]()
    table = Table("asks", order)
    go, taken, got, most = threading.Event(), list[bool](), list[int](), [0]
    at_work, wanted = 0, CHORES + 5

    def job() -> int:
        nonlocal at_work
        at_work += 1
        most[0] = max(most[0], at_work)
        wait_for(go.is_set, "leave to work")
        at_work -= 1
        return 7

    def act() -> None:
        table.act = lambda: None
        taken.extend(room.chore(table, job, got.append) for _ in range(wanted))

    table.act = act
    room.enter(table)
    room.news(table)
    wait_for(lambda: len(taken) == CHORES + 5, "the chores to be given")
    go.set()
    wait_for(lambda: len(got) == CHORES, "what came of them")
    wanted = 1
    table.act = act
    room.news(table)
    wait_for(lambda: len(got) == CHORES + 1, "one more, for which there is room again")
    room.leave(table)
    assert taken == [True] * CHORES + [False] * 5 + [True]
    assert most == [1]


def test_a_table_that_stops_itself_on_the_rooms_thread_is_told_that_it_cannot() -> None:
    room, order = Room(), list[str]()
    table = Table("self", order)
    table.act = lambda: room.leave(table)
    room.enter(table)
    room.news(table)
    wait_for(lambda: not room.has(table), "the refusal")
    assert "on the thread that turns it" in str(table.error)
    room.leave(table)


def test_a_room_opens_again_after_its_last_table() -> None:
    room, order = Room(), list[str]()
    for number in range(20):
        table = Table(str(number), order)
        room.enter(table)
        room.news(table)
        wait_for(lambda name=str(number): name in order, "its turn")  # type: ignore[misc]
        room.leave(table)
        assert not room.has(table)


def test_a_port_that_cannot_be_waited_for_is_looked_at_again_and_again() -> None:
    room, order = Room(), list[str]()
    table = Table("blind", order)
    table.descriptor = BLIND
    room.enter(table)
    wait_for(lambda: order.count("blind") > 3, "some looks")
    room.leave(table)


# ---- waiting


@pytest.mark.parametrize("platform", [sys.platform, "darwin"])
def test_what_is_watched_is_found_until_it_is_forgotten(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    watch = Watch()
    near, far = socket.socketpair()
    descriptor = near.fileno()
    watch.add(descriptor)
    assert watch.wait(0) == set()
    watch.add(descriptor, writes=True)
    assert watch.wait(5) == {descriptor}
    watch.add(descriptor)
    assert watch.wait(0) == set()
    far.send(b"x")
    assert watch.wait(5) == {descriptor}
    near.close()
    watch.forget(descriptor)
    again, other = socket.socketpair()  # gets the number of the one that was closed
    watch.add(again.fileno(), writes=True)
    assert watch.wait(5) == {again.fileno()}
    for each in (far, again, other):
        each.close()
    watch.close()


def test_no_wake_is_lost_between_two_threads() -> None:
    wake, told, seen = Wake(), 0, 0

    def teller() -> None:
        nonlocal told
        for _ in range(20_000):
            told += 1
            wake.up()

    thread = threading.Thread(target=teller)
    thread.start()
    while seen < 20_000:
        assert ready((wake.reader,), (), 20)
        wake.clear()
        seen = told
    thread.join()
    wake.close()
    wake.up()  # of no effect, and no error


# ---- the scribes


class Book:
    """In a journal's place: keeps what is written, refuses or fails as it is told."""

    path = Path("book")

    def __init__(self) -> None:
        self.kept: list[Entry] = []
        self.groups = 0
        self.before: Callable[[], None] = lambda: None
        self.closed = 0

    def stored(self) -> dict[bytes, int]:
        return {}

    def write(self, entries: list[Entry]) -> None:
        self.before()
        self.groups += 1
        self.kept += entries

    def close(self) -> None:
        self.closed += 1


def fact(number: int) -> Fact:
    return Fact(number, "shoe", b"frame", 0, 0, SHOE, number)


def writer(book: Any, scribes: Scribes) -> Writer:
    return Writer(book, scribes)


def test_every_entry_is_written_once_in_its_order_by_any_number_of_scribes() -> None:
    scribes, books = Scribes(), [Book() for _ in range(3 * THREADS)]
    writers = [writer(book, scribes) for book in books]
    for number in range(1, 201):
        for each in writers:
            each.put([fact(number)])
        scribes.go()
    for each in writers:
        wait_for(lambda each=each: each.stored.get(SHOE) == 200, "the last one")  # type: ignore[misc]
        each.close()
        each.close()
    for book in books:
        assert book.kept == [fact(number) for number in range(1, 201)]
        assert book.closed == 1


def test_a_journal_that_waits_for_its_disk_holds_no_other_up() -> None:
    scribes, slow, quick = Scribes(), Book(), Book()
    go = threading.Event()
    slow.before = lambda: wait_for(go.is_set, "leave to write")
    first, second = writer(slow, scribes), writer(quick, scribes)
    first.put([fact(1)])
    scribes.go()
    second.put([fact(1)])
    scribes.go()
    wait_for(lambda: second.stored == {SHOE: 1}, "the other journal")
    assert first.stored == {}
    first.put([fact(2)])
    first.put([fact(3)])
    scribes.go()
    go.set()
    wait_for(lambda: first.stored == {SHOE: 3}, "what came meanwhile")
    assert slow.groups == 2  # what came meanwhile is one commit
    first.close()
    second.close()


def test_a_disk_that_refuses_is_tried_again_and_a_defect_is_not() -> None:
    scribes, refusing, broken = Scribes(), Book(), Book()
    tries = 0

    def refuse() -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise sqlite3.OperationalError("database or disk is full")

    def fail() -> None:
        raise ZeroDivisionError("a defect")

    refusing.before, broken.before = refuse, fail
    first, second = writer(refusing, scribes), writer(broken, scribes)
    heard: list[str | None] = []  # at each wake: a second later the disk is tried again
    first.wake = lambda: heard.append(first.trouble)
    for each in (first, second):
        each.put([fact(1)])
    scribes.go()
    wait_for(lambda: bool(heard), "the trouble")
    assert heard[0] == "database or disk is full"
    wait_for(lambda: isinstance(second.error, ZeroDivisionError), "the defect")
    wait_for(lambda: first.stored == {SHOE: 1}, f"another try after {RETRY_S} s")
    assert first.trouble is None
    first.close()
    second.close()
    assert broken.kept == []


def test_closing_writes_what_waits() -> None:
    scribes, book = Scribes(), Book()
    closing = writer(book, scribes)
    closing.put([fact(1)])  # nobody has said go
    closing.close()
    assert book.kept == [fact(1)]
