"""A port that goes and comes back under another name; what is kept and said when the link fails. Real ptys."""

from __future__ import annotations

import contextlib
import os
import re
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.rig import SHOE_IDENT, Rig, entropy
from bridge.running import Running
from dealershoe.bridge import bridge as bridge_module
from dealershoe.bridge.health import BOOTS, FAULTS_S, NAMES, STATISTICS_S, STILL_S, Health
from dealershoe.desk.desk import Moment
from dealershoe.frames.recorder import BYTES, FILES, FRAMES, Recorder
from dealershoe.port.identity import Address, PortLost, find
from dealershoe.port.port import seek
from port.usb_tree import UsbTree
from shoelink import frame, schema
from shoelink.journal import Journal
from shoelink.link import Link

PICO, BOOTSEL = (0x2E8A, 0x0005), (0x2E8A, 0x0003)
ACE = schema.Card(0, 1, bytes(4), schema.word(51), 0, 0, 0, 0, 30, 0, 1000, 0)
NOTICED_S, RESUMED_S = 1.0, 2.0
MARGIN_S = 2.0  # a busy machine takes and gives processor time as it likes


@pytest.fixture
def shoe() -> Iterator[PtyShoe]:
    with PtyShoe() as made:
        yield made


def within(seconds: float, begun: float, what: str) -> None:
    took = time.monotonic() - begun
    assert took <= seconds + MARGIN_S, f"{what} took {took:.2f} s, {seconds} s are allowed"


def test_unplugged_is_noticed_within_1_s_and_resumed_within_2_s_under_another_name(
    shoe: PtyShoe, tmp_path: Path
) -> None:
    tree = UsbTree(tmp_path / "usb")
    tree.plug("1-1", *PICO, "ttyACM0", "E661", to=shoe.path)
    running = Running(find("auto", tree.ports), tmp_path, tree.ports)
    try:
        running.up(1)
        begun = time.monotonic()
        tree.unplug("1-1")
        shoe.unplug()
        wait_for(lambda: running.bridge.snapshot().link == "unsupervised", "the loss to be seen")
        within(NOTICED_S, begun, "noticing")
        wait_for(lambda: "is not plugged in" in running.why, "the reason")
        assert [running.bridge.statistics[name] for name in ("up", "lost")] == [0, 1]
        shoe.report(ACE)
        shoe._plug()
        begun = time.monotonic()
        tree.plug("1-1", *PICO, "ttyACM1", "E661", to=shoe.path)
        running.up(2)
        within(RESUMED_S, begun, "resuming")
        assert [running.bridge.statistics[name] for name in ("up", "lost")] == [1, 1]
        wait_for(lambda: shoe.held == 0, "the card that was drawn meanwhile")
    finally:
        running.bridge.stop()
    assert running.bridge.error is None


def test_a_link_to_a_pty_is_followed_to_its_new_target(shoe: PtyShoe, tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(shoe.path)
    running = Running(Address(str(link)), tmp_path)
    try:
        running.up(1)
        begun = time.monotonic()
        shoe.unplug()
        wait_for(lambda: running.bridge.snapshot().link == "unsupervised", "the loss to be seen")
        within(NOTICED_S, begun, "noticing")
        shoe._plug()
        link.unlink()
        begun = time.monotonic()
        link.symlink_to(shoe.path)
        running.up(2)
        within(RESUMED_S, begun, "resuming")
    finally:
        running.bridge.stop()


def test_the_last_frames_are_written_decoded_when_the_shoe_falls_silent(shoe: PtyShoe, tmp_path: Path) -> None:
    running = Running(Address(shoe.path), tmp_path)
    try:
        running.up(1)
        shoe.report(ACE)
        wait_for(lambda: shoe.held == 0, "the card")
        shoe.mute = True
        wait_for(lambda: any("the last frames are in" in said.text for said in running.said), "the frames on the disk")
        shoe.mute = False
    finally:
        running.bridge.stop()
    (path,) = running.faults.glob("*.txt")
    text = path.read_text(encoding="utf-8")
    first, statistics, *_ = text.splitlines()
    assert first.endswith("the shoe is silent")
    assert [pair.split("=")[0] for pair in statistics.split()] == list(NAMES)
    assert re.search(r"shoe → host  CARD from the shoe, event 1: hand 0, draw 1, .* token hidden", text)
    assert "host → shoe  PING from the host" in text
    assert "As" not in text
    times = re.findall(r"^(\d\d:\d\d:\d\d\.\d{3})  ", text, re.MULTILINE)
    assert times == sorted(times)


@pytest.mark.parametrize(
    "printed",
    [
        b"\0\r\nMicroPython v1.26.1 on 2025-09-11\r\n>>> \0",
        b"\r\nMicroPython v1.26.1 on 2025-09-11\r\n>>> ",  # as it is printed: no zero anywhere
        b"\r\n>>> A\x08\x1b[K\x08\r\n>>> ",  # it repeats what a host says to it
    ],
)
def test_s38_a_prompt_is_told_from_a_shoe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: bytes) -> None:
    monkeypatch.setattr(bridge_module, "DEAF_S", 0.5)
    master, slave = os.openpty()
    tty.setraw(slave)
    running = Running(Address(os.ttyname(slave)), tmp_path)
    try:
        os.write(master, printed)
        wait_for(lambda: "prompt of MicroPython" in running.why, "the prompt to be recognised")
    finally:
        running.bridge.stop()
        os.close(master)
        os.close(slave)


# ---- in virtual time


def health(rig: Rig) -> Health:
    return Health(rig.table)


def test_one_line_of_statistics_a_minute_with_fixed_names() -> None:
    rig = Rig()
    rig.run(500)
    watch = health(rig)
    told = [happening for s in range(0, 181, 2) for happening in watch.turn(None, Moment((1_000 + s) * 10**9, 0))]
    said = [happening for happening in told if happening.kind == "stats"]
    assert len(said) == 3
    assert list(said[0].data) == list(NAMES)
    assert said[0].text.startswith("up=1 sessions=1 frames=")
    assert STATISTICS_S == 60.0


def test_the_shoes_own_counters_are_in_the_line() -> None:
    rig = Rig()
    rig.run(500)
    rig.shoe.link.send(rig.shoe.link.stats(3, 100), rig.ms)
    rig.run(20)
    figures = health(rig).statistics()
    assert figures["shoe_overruns"] == 3
    assert figures["shoe_free"] == 100
    assert figures["shoe_sent"] > 0


def test_s111_a_shoe_that_keeps_starting_is_said_to_lack_power() -> None:
    rig = Rig()
    watch = health(rig)
    said = []
    for boot in range(BOOTS):
        rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal, boot=bytes([boot, 1, 2, 3]), reset=1)
        rig.shoe.link.start(rig.ms)
        rig.run(1_500)
        said += watch.turn(None, Moment(rig.ms * 10**6, 0))
    power = [happening.text for happening in said if "power is weak" in happening.text]
    assert power == [
        "the shoe has started 4 times within 30 s (last time: power): its power is weak; try another cable or port"
    ]
    assert watch.boots == BOOTS


def test_s76_old_firmware_is_named_with_both_versions() -> None:
    rig = Rig()
    rig.run(500)
    (note,) = health(rig).turn(None, Moment(10**9, 0))
    assert f"firmware 1, link 1.0, schema {schema.SCHEMA.hex()}; this bridge is" in note.text


def test_a_bridge_that_stood_still_says_so() -> None:
    rig = Rig()
    watch = health(rig)
    watch.turn(None, Moment(10**9, 0))
    assert watch.turn(None, Moment(int((1 + STILL_S - 0.1) * 1e9), 0)) == []
    (said,) = watch.turn(None, Moment(int(20e9), 0))
    assert said.text == "this bridge stood still for 16 s: its host slept, or something held it"


def test_a_link_that_is_lost_again_and_again_is_written_down_now_and_then(tmp_path: Path) -> None:
    rig = Rig()
    rig.run(500)
    watch = Health(rig.table, tmp_path)
    written = 0
    for tenth in range(3 * int(FAULTS_S * 10)):  # a loss each tenth of a second
        watch.recorder.heard(b"\0\1\0")
        rig.table.closed(f"loss {tenth}")
        written += watch.fault(Moment(10**9 + tenth * 10**8, 0)) is not None
    assert written == 3


# ---- the recorder


def test_a_hundred_frames_each_way_are_kept_and_no_more_memory_than_that(tmp_path: Path) -> None:
    recorder = Recorder()
    longest = frame.encode(0x1F, 0, 0, 0, bytes(range(1, 41)))
    for number in range(5_000):
        recorder.heard(longest)
        recorder.sent(frame.encode(schema.ACK | schema.FROM_HOST, 0, number & 0xFFFF, 0, bytes(3)))
    text = recorder.report("a test", "up=0")
    assert text.count("shoe → host  kind 0x1F") == FRAMES
    assert text.count("host → shoe  ACK from the host") == FRAMES
    assert recorder._heard.size <= BYTES + len(longest)


def test_only_the_newest_reports_stay_and_nothing_new_writes_nothing(tmp_path: Path) -> None:
    recorder = Recorder()
    for number in range(FILES + 5):
        (tmp_path / f"2020{number:04d}.txt").write_text("old")
    recorder.heard(b"\0\1\0")
    assert recorder.write(tmp_path, "why", "line") is not None
    assert recorder.write(tmp_path, "why", "line") is None
    assert len(list(tmp_path.glob("*.txt"))) == FILES


def test_a_disk_that_refuses_a_report_is_counted_and_never_fatal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recorder = Recorder()
    recorder.heard(b"\0\1\0")
    assert recorder.write(tmp_path / "file", "why", "line") is None
    assert recorder.unwritten == 1


def test_the_boot_loader_is_said_while_the_bridge_waits(shoe: PtyShoe, tmp_path: Path) -> None:
    tree = UsbTree(tmp_path / "usb")
    tree.plug("1-1", *PICO, "ttyACM0", "E661", to=shoe.path)
    running = Running(find("auto", tree.ports), tmp_path, tree.ports)
    try:
        running.up(1)
        tree.unplug("1-1")
        tree.plug("1-1", *BOOTSEL)
        shoe.unplug()
        wait_for(lambda: "is in its boot loader" in running.why, "the boot loader to be said")
    finally:
        running.bridge.stop()


def test_a_shoe_that_is_refused_is_not_said_to_be_silent(
    shoe: PtyShoe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port is closed and opened, it may be another shoe's by then; what is said is why there is no session."""
    looks = []

    def counted(*how: Any) -> Any:
        looks.append(1)
        return seek(*how)

    monkeypatch.setattr(bridge_module, "DEAF_S", 0.5)
    monkeypatch.setattr(bridge_module, "seek", counted)
    running = Running(Address(shoe.path), tmp_path)
    running.up(1)
    shoe.report(ACE)
    wait_for(lambda: shoe.held == 0, "the card")
    with shoe.lock:
        shoe.shoe.journal = Journal(shoe.shoe.journal.id)  # begins its numbers anew under the same name
        shoe.shoe.restart(shoe._now())
    wait_for(lambda: len(looks) >= 3, "the port to be opened again")
    running.bridge.stop()
    assert any("no session with this shoe: event 1 is stored here" in said.text for said in running.said)
    assert not any("nothing understandable" in said.text for said in running.said)


def test_a_port_is_not_called_deaf_for_the_time_that_the_bridge_stood_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    running = Running(Address(os.ttyname(slave)), tmp_path)
    try:
        running.bridge._room.leave(running.bridge)  # its turns are made here
        monkeypatch.setattr(running.bridge._room, "chore", lambda *_: True)
        begun = running.bridge._session_ns
        looks = [begun + int(after * 1e9) for after in (0.2, 20.0, 20.4, 20.8, 21.2, 21.6, 22.0)]
        for look in looks:
            running.bridge._watch(Moment(look, 0))
        with pytest.raises(PortLost, match="nothing understandable came from"):
            running.bridge._watch(Moment(begun + int(22.4e9), 0))  # 0.7 s before it stood still, the rest since
    finally:
        running.bridge.stop()
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("what", ["a stranger", "noise"])
def test_whatever_is_there_is_said_and_recorded_once_however_long_it_stays(
    shoe: PtyShoe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A shoe that is not enrolled here, or what is no shoe at all: the port is closed and opened for ever."""
    looks: list[int] = []

    def counted(*how: Any) -> Any:
        looks.append(1)
        return seek(*how)

    monkeypatch.setattr(bridge_module, "DEAF_S", 0.4)
    monkeypatch.setattr(bridge_module, "seek", counted)
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    noise = what == "noise"

    def opened_often() -> bool:
        with contextlib.suppress(BlockingIOError):
            os.write(master, os.urandom(300 + len(looks)))
        return len(looks) >= 6

    running = Running(Address(os.ttyname(slave) if noise else shoe.path), tmp_path, keys={b"another.": bytes(32)})
    try:
        wait_for(opened_often, "the port to be opened again and again")
        reasons = [said.text for said in running.said if said.text.startswith("unsupervised")]
        assert len(reasons) == len(set(reasons)) <= 3, reasons
        wanted = "there is not one frame in" if noise else "does not prove to be a shoe that is enrolled here"
        assert wanted in running.why
        assert ("nothing understandable" in running.why) == noise
    finally:
        running.bridge.stop()
        os.close(master)
        os.close(slave)
