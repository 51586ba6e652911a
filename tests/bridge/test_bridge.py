"""The bridge's threads on a real port: lines in, signals out, disks that refuse, ports that go, kills at any point."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.rig import HOST_IDENT, NO_RULES, entropy
from click.testing import CliRunner
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.command import command
from dealershoe.bridge.room import Room
from dealershoe.bridge.start import open_bridge
from dealershoe.bridge.writer import Writer
from dealershoe.desk.desk import Desk
from dealershoe.desk.happening import Happening
from dealershoe.desk.table_link import TableLink
from dealershoe.entries import EventRow, LinkRow
from dealershoe.errors import UserError
from dealershoe.link.codec import Decoder
from dealershoe.port.identity import Address
from dealershoe.record.journal import Journal
from dealershoe.session import TableSession
from shoelink import schema
from shoelink.link import Link

HAND = "hand seats=1-6 button=6"


class Running:
    """A bridge without rules on a pty's shoe, with what it says."""

    def __init__(self, shoe: PtyShoe, path: Path, port: str = "") -> None:
        self.said: list[Happening] = []
        self.journal = Journal(path)
        room = Room()
        self.writer = Writer(self.journal, room.scribes)
        self.desk = Desk(TableSession(NO_RULES), next_fact=self.journal.next_fact())
        self.table = TableLink(Link(schema.HOST, HOST_IDENT, entropy, decoder=Decoder()), self.desk, self.writer.stored)
        self.bridge = Bridge(Address(port or shoe.path), self.table, self.writer, room, self.said.append)
        self.bridge.start()

    def lines(self) -> str:
        return "\n".join(happening.as_line() for happening in self.said)


@pytest.fixture
def shoe() -> Iterator[PtyShoe]:
    with PtyShoe() as made:
        yield made


@pytest.fixture
def running(shoe: PtyShoe, tmp_path: Path) -> Iterator[Running]:
    made = Running(shoe, tmp_path / "journal")
    yield made
    made.bridge.stop()


def begun(running: Running, shoe: PtyShoe) -> None:
    """A hand has begun and the shoe knows it."""
    running.bridge.ask(HAND, "test")
    wait_for(lambda: shoe.shoe.due is not None and shoe.shoe.due.seat == 1, "the shoe to know that seat 1 is due")


def test_cards_cross_a_real_port_and_are_acknowledged_once_stored(running: Running, shoe: PtyShoe) -> None:
    begun(running, shoe)
    for draw in range(1, 13):
        shoe.card(draw)
    wait_for(lambda: shoe.held == 0, "every card to be acknowledged")
    assert running.bridge.snapshot().due == "betting"
    assert [seat.cards for seat in running.bridge.snapshot().seats] == [2] * 6
    running.bridge.stop()
    assert running.bridge.error is None
    with Journal(running.journal.path) as journal:
        assert journal.stored_up_to(shoe.shoe.journal.id) == 12
        assert [row[2] for row in journal.rows(EventRow) if row[3] == "Draw"] == list(range(1, 13))


def test_a_line_that_is_refused_says_why_and_the_run_goes_on(running: Running, shoe: PtyShoe) -> None:
    begun(running, shoe)
    with pytest.raises(UserError, match="did you mean `exposed`"):
        running.bridge.ask("exposd #3", "test")
    shoe.card(1)
    wait_for(lambda: shoe.held == 0, "the card to be acknowledged")
    assert running.bridge.alive


def test_a_disk_that_refuses_holds_the_acknowledgement_and_not_the_signal(
    running: Running, shoe: PtyShoe, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(running, shoe)
    write = running.journal.write
    refuse = threading.Event()
    refuse.set()

    def full(entries: object) -> None:
        if refuse.is_set():
            raise sqlite3.OperationalError("database or disk is full")
        write(entries)  # type: ignore[arg-type]

    monkeypatch.setattr(running.journal, "write", full)
    shoe.card(1, way_up=schema.WAY_UP)
    wait_for(lambda: shoe.shoe.signal.signal == schema.SIGNAL_FLOOR, "the signal")
    wait_for(lambda: "database or disk is full" in running.lines(), "the trouble to be said")
    assert shoe.held == 1
    refuse.clear()
    wait_for(lambda: shoe.held == 0, "the acknowledgement once the disk takes it")
    wait_for(lambda: "the journal is written again" in running.lines(), "the good news")


def test_a_port_that_goes_away_and_comes_back_is_resumed(shoe: PtyShoe, tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(shoe.path)
    running = Running(shoe, tmp_path / "journal", str(link))
    try:
        begun(running, shoe)
        shoe.card(1)
        wait_for(lambda: shoe.held == 0, "the first card")
        shoe.unplug()
        wait_for(lambda: running.bridge.snapshot().link == "unsupervised", "the loss to be seen")
        shoe.card(2)
        shoe._plug()
        link.unlink()
        link.symlink_to(shoe.path)  # the system gave it another name
        wait_for(lambda: shoe.held == 0, "the second card after the way back")
    finally:
        running.bridge.stop()
    assert running.desk.session.draws == 2
    assert not running.desk.align_why


def test_a_journal_thread_that_dies_ends_the_bridge_and_is_said(
    running: Running, shoe: PtyShoe, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(running, shoe)

    def broken(_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(running.journal, "write", broken)
    shoe.card(1)
    wait_for(lambda: not running.bridge.alive, "the bridge to end")
    assert "journal's thread has ended" in str(running.bridge.error)
    assert running.bridge.snapshot().link == "unsupervised"
    with pytest.raises(RuntimeError, match="did not take a line"):
        running.bridge.ask(HAND, "test", deadline_s=0.1)


def test_two_bridges_on_one_port_the_second_says_who_holds_it(running: Running, shoe: PtyShoe, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is held; another program speaks to this shoe"):
        open_bridge(shoe.path, "tda-2024", tmp_path / "other", lambda _: None)


def test_a_port_that_is_not_there_is_named_and_leaves_no_journal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for port, why in (
        ("/dev/ttyNOSUCH", "there is no port /dev/ttyNOSUCH"),
        (str(tmp_path / "file"), "not a serial port"),
    ):
        with pytest.raises(UserError, match=why):
            open_bridge(port, "tda-2024", tmp_path / "journal", lambda _: None)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_port_that_is_not_there_leaves_the_journal_of_a_table_as_it_was(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.write([LinkRow("up", "", "TESTSHOE", 1, 2)])
    for _ in range(2):  # and it is free again
        with pytest.raises(UserError, match="there is no port"):
            open_bridge("/dev/ttyNOSUCH", "tda-2024", tmp_path / "journal", lambda _: None)
        with Journal(tmp_path / "journal") as journal:
            assert journal.rows(LinkRow) == [("up", "", "TESTSHOE", 1, 2)]


def test_no_thread_and_no_descriptor_is_left_behind(shoe: PtyShoe, tmp_path: Path) -> None:
    threads = threading.active_count()
    descriptors = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    made = Running(shoe, tmp_path / "journal")
    begun(made, shoe)
    made.bridge.stop()
    made.bridge.stop()
    assert threading.active_count() == threads
    if sys.platform == "linux":
        assert len(os.listdir("/proc/self/fd")) == descriptors


MAIN = "from dealershoe.cli import main; main()"


class Run:
    """`dealershoe run` in a process of its own. A context manager: what still runs at its end is killed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def __init__(self, port: str, journal: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "run", "--port", port, "--journal", str(journal), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip

    def say(self, *lines: str) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, how: int) -> tuple[int, str, str]:
        """Send a signal; exit status, standard output, standard error."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def test_run_takes_lines_prints_lines_and_ends_on_ctrl_c(shoe: PtyShoe, tmp_path: Path) -> None:
    with Run(shoe.path, tmp_path / "journal") as run:
        run.say("hnad seats=1-6 button=6", "# a comment", HAND)
        wait_for(lambda: shoe.shoe.due is not None, "the hand to reach the shoe")
        shoe.card(1)
        wait_for(lambda: shoe.held == 0, "the card to be stored")
        status, out, err = run.end(signal.SIGINT)
        assert status == 0
        assert "stdin, line 1: saw `hnad`" in err
        assert err.count("\n") == 1
        assert "hand     hand 1: seats 1, 2, 3, 4, 5, 6, button 6" in out
        assert "draw     #1 down → seat 1 (inferred)" in out
        assert out.splitlines()[-1] == "link     unsupervised: the bridge has stopped"
        assert "\x1b" not in out
    with Journal(tmp_path / "journal") as kept:
        assert [(state, why) for state, why, *_ in kept.rows(LinkRow)] == [
            ("up", ""),
            ("down", "the bridge has stopped"),
        ]


def test_run_with_json_prints_one_object_a_line(shoe: PtyShoe, tmp_path: Path) -> None:
    with Run(shoe.path, tmp_path / "journal", "--json") as run:
        run.say(HAND)
        wait_for(lambda: shoe.shoe.due is not None, "the hand to reach the shoe")
        shoe.card(1)
        wait_for(lambda: shoe.held == 0, "the card to be stored")
        status, out, _ = run.end(signal.SIGTERM)
        assert status == 0
        assert json.loads(out.splitlines()[-1])["text"] == "unsupervised: the bridge has stopped"
        draws = [json.loads(line) for line in out.splitlines() if '"draw"' in line]
        assert draws[0]["draw"] == 1
        assert draws[0]["place"] == "seat 1"
        assert "card" not in draws[0]


def test_kill_9_at_any_point_loses_no_card_and_doubles_none(shoe: PtyShoe, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    sent = 0
    for kill in range(4):
        with Run(shoe.path, journal) as run:
            if not kill:
                run.say(HAND)
                wait_for(lambda: shoe.shoe.due is not None, "the hand to reach the shoe")
            wait_for(lambda: shoe.shoe.link.up, "the link to be up")
            for _ in range(3):
                sent += 1
                shoe.card(sent)
            if kill % 2 == 0:  # the first time: the line that began the hand is stored before the cards are
                wait_for(lambda: shoe.held == 0, "the cards to be acknowledged")
            assert run.end(signal.SIGKILL)[0] == -signal.SIGKILL
            wait_for(lambda: not shoe.shoe.link.up, "the shoe to see that its host is gone")
    with Run(shoe.path, journal) as run:
        wait_for(lambda: shoe.shoe.link.up, "the link to be up")
        wait_for(lambda: shoe.held == 0, "every card to be acknowledged")
        assert run.end(signal.SIGINT)[0] == 0
        with Journal(journal) as kept:
            assert [row[2] for row in kept.rows(EventRow) if row[3] == "Draw"] == list(range(1, 13))
            assert [fact.number for fact in kept.facts() if fact.journal is not None] == list(range(1, 13))


def test_a_foreign_journal_ends_the_run_with_status_2_and_one_sentence(shoe: PtyShoe, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine\n")
    with Run(shoe.path, notes) as run:
        out, err = run.process.communicate(timeout=60)
        assert run.process.returncode == 2
        assert out == ""
        assert "is not a journal of a bridge" in err
        assert err.count("\n") == 1
        assert notes.read_text() == "mine\n"


@pytest.fixture
def terminal() -> Iterator[tuple[int, int, bytearray]]:
    """A terminal of 100 by 40: its keyboard, what a program gets, and all that was written on it."""
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (40, 100))
    seen = bytearray()
    reader = threading.Thread(target=_drain, args=(master, seen), daemon=True)
    reader.start()
    yield master, slave, seen
    os.close(slave)
    reader.join()
    os.close(master)


def _drain(master: int, into: bytearray) -> None:
    """Read a terminal's master until its other end is closed."""
    with contextlib.suppress(OSError):
        while more := os.read(master, 65536):
            into += more


def test_at_a_terminal_run_shows_the_table_and_takes_what_is_typed(
    shoe: PtyShoe, tmp_path: Path, terminal: tuple[int, int, bytearray]
) -> None:
    keyboard, screen, seen = terminal
    before = termios.tcgetattr(screen)
    arguments = [sys.executable, "-c", MAIN, "run", "--port", shoe.path, "--journal", str(tmp_path / "journal")]
    run = subprocess.Popen(arguments, stdin=screen, stdout=screen, stderr=subprocess.PIPE)
    try:
        wait_for(lambda: b"no hand has begun" in seen, "the picture")
        os.write(keyboard, b"hnad\rhand seats=1-6 buttn\x7f\x7fton=6\r")
        wait_for(lambda: b"saw `hnad`" in seen, "the refusal on the screen")
        wait_for(lambda: shoe.shoe.due is not None, "the hand to reach the shoe")
        shoe.card(1)
        wait_for(lambda: "► 2 DUE".encode() in seen, "seat 2 to be due on the screen")
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == 0
    assert err == b""
    wait_for(
        lambda: seen.rstrip().endswith(b"unsupervised: the bridge has stopped"), "the last words, below the picture"
    )
    assert termios.tcgetattr(screen) == before


def test_a_run_whose_bridge_has_failed_says_so_and_ends_with_1(
    shoe: PtyShoe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object, __: object) -> None:
        raise ZeroDivisionError("the text of a defect could name a card")

    monkeypatch.setattr(Journal, "write", broken)
    before = signal.getsignal(signal.SIGTERM)
    try:
        done = CliRunner().invoke(command, ["--port", shoe.path, "--journal", str(tmp_path / "journal")], input=HAND)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.exit_code == 1
    assert "the table is unsupervised; the bridge has failed" in done.stderr
    assert "from ZeroDivisionError at " in done.stderr
    assert "could name a card" not in done.stderr + done.stdout
