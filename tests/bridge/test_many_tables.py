"""Many tables in one process, on real ptys: opened together, each on its own when something goes wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.rig import NO_RULES
from bridge.running import Running
from dealershoe.bridge import bridge as bridge_module
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.room import Room
from dealershoe.bridge.start import Place, Rulebooks, open_tables
from dealershoe.desk.happening import Happening
from dealershoe.errors import UserError
from dealershoe.frames.recorder import Recorder
from dealershoe.port import identity
from dealershoe.port import port as port_module
from dealershoe.port.identity import Address, Glances, PortLost, find
from dealershoe.port.port import Port, seek, terminal_of
from dealershoe.record.journal import Journal
from dealershoe.rules.stack import Stack
from port.usb_tree import UsbTree
from shoelink import schema

HAND = "hand seats=1-6 button=6"
ACE = schema.Card(0, 1, bytes(4), schema.word(51), 0, 0, 0, 0, 30, 0, 1000, 0)


@pytest.fixture
def shoes() -> Iterator[list[PtyShoe]]:
    with ExitStack() as stack:
        yield [stack.enter_context(PtyShoe()) for _ in range(3)]


@pytest.fixture
def tables(shoes: list[PtyShoe], tmp_path: Path) -> Iterator[list[Running]]:
    """Three in one room."""
    room, made = Room(), list[Running]()
    for number, shoe in enumerate(shoes):
        folder = tmp_path / str(number)
        folder.mkdir()
        made.append(Running(Address(shoe.path), folder, room=room))
    for table in made:
        table.up(1)
    yield made
    for table in made:
        table.bridge.stop()


def dealt(shoe: PtyShoe) -> None:
    """A card is stored and acknowledged."""
    shoe.report(ACE)
    wait_for(lambda: shoe.held == 0, "the card to be acknowledged")


def test_a_table_with_a_defect_is_unsupervised_and_the_others_go_on(
    tables: list[Running], shoes: list[PtyShoe], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(tables[1].table, "received", broken)
    wait_for(lambda: not tables[1].bridge.alive, "the table to fail")
    assert tables[1].why.startswith("the bridge has failed: ZeroDivisionError at ")
    assert tables[1].bridge.snapshot().link == "unsupervised"
    wait_for(lambda: any("has failed: Zero" in said.text for said in tables[1].said), "the listener to be told")
    wait_for(lambda: not shoes[1].shoe.link.up, "its shoe to show that nobody watches")
    for number in (0, 2):
        dealt(shoes[number])
        assert tables[number].bridge.alive


def test_a_listener_that_raises_ends_its_own_table_only(
    tables: list[Running], shoes: list[PtyShoe], monkeypatch: pytest.MonkeyPatch
) -> None:
    def heard(_: Happening) -> None:
        raise ZeroDivisionError("a listener's")

    monkeypatch.setattr(tables[0].bridge, "_heard", heard)
    tables[0].bridge.tell(HAND, "test")
    wait_for(lambda: not tables[0].bridge.alive, "the table to fail")
    dealt(shoes[1])


def test_a_journal_with_a_defect_ends_its_own_table_only(
    tables: list[Running], shoes: list[PtyShoe], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(tables[0].journal, "write", broken)
    shoes[0].report(ACE)
    wait_for(lambda: not tables[0].bridge.alive, "the table to fail")
    assert shoes[0].held == 1  # not acknowledged
    dealt(shoes[1])


def test_a_port_that_takes_long_to_open_holds_no_other_table_up(
    tables: list[Running], shoes: list[PtyShoe], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go = threading.Event(), threading.Event()
    seek = port_module.seek

    def slow(*how: object) -> object:
        asked.set()
        go.wait(20)
        return seek(*how)  # type: ignore[arg-type]

    monkeypatch.setattr(bridge_module, "seek", slow)
    shoes[0].unplug()
    assert asked.wait(20)
    dealt(shoes[1])
    dealt(shoes[2])
    go.set()


def test_one_that_stops_leaves_the_others_and_its_port_and_journal_are_free(
    tables: list[Running], shoes: list[PtyShoe]
) -> None:
    tables[0].bridge.stop()
    with Journal(tables[0].journal.path):
        Port(shoes[0].path).close()
    dealt(shoes[1])


def test_where_no_port_can_be_waited_for_they_are_asked_in_turn(
    shoes: list[PtyShoe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port_module, "fcntl", None)  # as on Windows
    running = Running(Address(shoes[0].path), tmp_path)
    try:
        running.up(1)
        dealt(shoes[0])
    finally:
        running.bridge.stop()
    assert running.bridge.error is None


def test_another_terminal_with_the_number_of_the_one_that_was_lost_is_not_touched(tmp_path: Path) -> None:
    with PtyShoe() as shoe:
        address, now, recorder = Address(shoe.path), terminal_of(shoe.path), Recorder()
        assert now is not None
        gone = (*now[:-1], now[-1] - 1)  # device, inode and number are the same: only its birth tells them apart
        found = seek(address, gone, recorder, None)
        assert isinstance(found, PortLost)
        assert str(found).startswith(f"{shoe.path} is another terminal by now; what was there has ended; start it")
        again = seek(address, now, recorder, None)
        assert not isinstance(again, PortLost)
        again[1].close()
        assert terminal_of(shoe.path) == now
        link = tmp_path / "shoe"
        link.symlink_to(shoe.path)
        assert terminal_of(str(link)) is None  # whoever leads the name elsewhere means it


# ---- opened together


def places(shoes: list[PtyShoe], folder: Path) -> list[Place]:
    return [Place(f"table {n}", shoe.path, folder / f"{n}.journal") for n, shoe in enumerate(shoes, 1)]


def test_tables_are_opened_together_under_names_and_one_thread(shoes: list[PtyShoe], tmp_path: Path) -> None:
    said: list[tuple[str, Happening]] = []
    bridges = open_tables(
        places(shoes, tmp_path), lambda name, what: said.append((name, what)), shelf=tmp_path / "shelf"
    )
    try:
        for bridge in bridges.values():
            bridge.start()
        assert sum(thread.name == "room" for thread in threading.enumerate()) == 1
        for shoe, bridge in zip(shoes, bridges.values(), strict=True):
            wait_for(lambda bridge=bridge: bridge.sessions >= 1, "the session")  # type: ignore[misc]
            bridge.ask(HAND, "test")
            dealt(shoe)
            assert bridge.snapshot().hand == 1
    finally:
        for bridge in bridges.values():
            bridge.stop()
    assert {name for name, what in said if what.kind == "hand"} == {"table 1", "table 2", "table 3"}
    for place in places(shoes, tmp_path):
        with Journal(place.journal) as journal:
            assert [fact.number for fact in journal.facts() if fact.journal is not None] == [1]


def test_a_shoe_that_is_not_there_yet_is_waited_for(shoes: list[PtyShoe], tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    (bridge,) = open_tables(
        [Place("late", str(link), tmp_path / "journal")], lambda _, __: None, shelf=tmp_path / "shelf"
    ).values()
    try:
        bridge.start()
        wait_for(lambda: f"there is no port {link}" in bridge.snapshot().link_why, "the reason")
        bridge.ask(HAND, "test")  # people can speak meanwhile
        link.symlink_to(shoes[0].path)
        wait_for(lambda: bridge.sessions >= 1, "the session")
        dealt(shoes[0])
    finally:
        bridge.stop()
    with Journal(tmp_path / "journal") as journal:
        assert [fact.origin for fact in journal.facts()][-2:] == ["test", "shoe"]


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (("a", "/dev/ttyX1", "other"), "two tables have the name a"),
        (("b", "/dev/ttyX0", "other"), "two tables have the port /dev/ttyX0"),
        (("b", "/dev/ttyX1", "journal"), "table b: the journal .* is in use"),
        (("b", "", "other"), "table b: no port was named"),
        (("b", "usb:what", "other"), "table b: usb:what is no USB identity"),
    ],
)
def test_tables_that_cannot_be_opened_together_are_refused_and_none_is_left_open(
    second: tuple[str, str, str], why: str, tmp_path: Path
) -> None:
    name, port, journal = second
    pair = [Place("a", "/dev/ttyX0", tmp_path / "journal"), Place(name, port, tmp_path / journal)]
    before = threading.active_count()
    with pytest.raises(UserError, match=why):
        open_tables(pair, lambda _, __: None, shelf=tmp_path / "shelf")
    assert threading.active_count() == before
    Journal(tmp_path / "journal").close()  # free


def test_what_is_put_in_force_is_read_once_and_heard_by_every_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    books = Rulebooks(tmp_path / "shelf")
    first, second = books.follower(), books.follower()
    news: list[Stack | UserError | None] = [NO_RULES]
    looks = 0

    def look() -> Stack | None:
        nonlocal looks
        looks += 1
        said = news.pop() if news else None
        if isinstance(said, UserError):
            raise said
        return said

    monkeypatch.setattr(books._watch, "look", look)
    assert first() is NO_RULES
    assert second() is NO_RULES
    late = books.follower()  # begins with what is in force
    assert [first(), second(), late()] == [None, None, None]
    news.append(UserError("a stack that cannot be used"))
    for each in (late, second, first):
        with pytest.raises(UserError, match="cannot be used"):
            each()
        assert each() is None
    assert books.stack("roberts") is books.stack("roberts")


@pytest.mark.parametrize(
    ("port", "why"),
    [
        ("", "no port was named"),
        ("/dev", "/dev is a folder, not a port; the name of a port in it"),
        ("/dev/\n", r"^'/dev/\\n' is no port; it is longer than any name, or has"),
        ("é" * 1_024, r"^'(\\xe9){40}'… is no port; "),
    ],
)
def test_what_can_never_be_a_port_is_said_in_one_sentence(port: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        find(port)


def test_one_look_at_the_usb_parts_serves_all_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = UsbTree(tmp_path)
    tree.plug("1-1", 0x2E8A, 5, "ttyACM0", "E661")
    ports, clock = Glances(tree.roots), [0.0]
    monkeypatch.setattr(identity, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    assert [each.path for each in ports.listed()] == [str(tree.roots.dev / "ttyACM0")]
    tree.unplug("1-1")
    with monkeypatch.context() as patch:
        patch.setattr(Glances, "_from_sysfs", lambda _: pytest.fail("another look"))
        assert len(ports.listed()) == 1
        assert ports.bootloaders() == []
    clock[0] = identity.GLANCE_S
    assert ports.listed() == []  # a look of its own, later


def test_many_begin_and_end_under_load_and_leave_nothing_behind(tmp_path: Path) -> None:
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    for turn in range(2):
        with ExitStack() as stack:
            shoes = [stack.enter_context(PtyShoe()) for _ in range(12)]
            folder = tmp_path / str(turn)
            folder.mkdir()
            bridges = list(open_tables(places(shoes, folder), lambda _, __: None, shelf=folder / "shelf").values())
            for bridge in bridges:
                bridge.start()
            for shoe, bridge in zip(shoes, bridges, strict=True):
                wait_for(lambda bridge=bridge: bridge.sessions > 0, "the session")  # type: ignore[misc]
                for _ in range(20):
                    shoe.report(ACE)
            stop(bridges)  # in the middle of it
            for shoe, place in zip(shoes, places(shoes, folder), strict=True):
                with Journal(place.journal) as journal:  # all that was acknowledged is there, once, in order
                    numbers = [fact.number for fact in journal.facts() if fact.journal is not None]
                assert numbers == list(range(1, len(numbers) + 1))
                assert len(numbers) >= 20 - shoe.held
    assert threading.active_count() == threads
    if sys.platform == "linux":
        assert len(os.listdir("/proc/self/fd")) == files


def stop(bridges: list[Bridge]) -> None:
    for bridge in bridges:
        bridge.stop()
        assert bridge.error is None


def test_one_unplugged_one_that_stands_still_and_one_that_floods_are_the_only_ones_in_trouble(tmp_path: Path) -> None:
    """Six other shoes, in a process of their own, deal on: every card is stored, and none of them met its host anew."""
    dealers = subprocess.Popen(
        [sys.executable, str(Path(__file__).parents[1] / "bench" / "hold_shoes.py"), "6", "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert dealers.stdin
    assert dealers.stdout
    with dealers, ExitStack() as stack:
        calm = json.loads(dealers.stdout.readline())
        troubled = [stack.enter_context(PtyShoe()) for _ in range(3)]
        gone, still, loud = troubled
        ports = [shoe.path for shoe in troubled] + calm
        places = [Place(str(n), port, tmp_path / f"{n}.journal", open_table=True) for n, port in enumerate(ports)]
        bridges = list(open_tables(places, lambda name, said: None).values())
        for bridge in bridges:
            stack.callback(bridge.stop)
            bridge.start()
        for bridge in bridges:
            wait_for(lambda bridge=bridge: bridge.sessions >= 1, "the first session")  # type: ignore[misc]
            bridge.ask(HAND, "stdin")
        sessions = [bridge.sessions for bridge in bridges[3:]]
        dealers.stdin.write("begin 3\n")
        dealers.stdin.flush()
        gone.unplug()
        still.mute = True
        os.set_blocking(loud.master, True)
        noise = f"exec cat /dev/urandom >&{loud.master}"
        with subprocess.Popen(["sh", "-c", noise], pass_fds=[loud.master]) as flood:
            seen = json.loads(dealers.stdout.readline())
            flood.terminate()
        os.set_blocking(loud.master, False)
        assert [bridge.snapshot().link for bridge in bridges[:2]] == ["unsupervised"] * 2
        assert all(bridge.alive for bridge in bridges)
        assert [shoe["held"] for shoe in seen["shoes"]] == [0] * 6
        assert all(shoe["cards"] >= 4 for shoe in seen["shoes"])
        assert [bridge.sessions for bridge in bridges[3:]] == sessions
        dealt(loud)
        dealers.stdin.close()
