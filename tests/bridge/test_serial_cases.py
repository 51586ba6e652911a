"""What went wrong for other people's serial devices, one test a case; docs/serial-cases.md tells why the rest cannot.

A test's name begins with the case's number. Some cases are proven where their subject is: the last test finds them all.
"""

from __future__ import annotations

import ast
import itertools
import os
import random
import re
import sqlite3
import struct
import termios
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import serial
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.rig import SHOE_IDENT, Rig, entropy
from bridge.running import Running
from bridge.usb_tree import UsbTree
from dealershoe.bridge import bridge as bridge_module
from dealershoe.bridge.health import Health
from dealershoe.bridge.identity import Address, PortLost, find, locate
from dealershoe.bridge.port import Port
from dealershoe.conform.peer import Peer
from dealershoe.emulate.shoe import LIGHT_PIN, EmulatedShoe
from dealershoe.emulate.timeline import Output
from dealershoe.frames.recorder import Recorder
from dealershoe.link import codec
from dealershoe.record.entries import Fact
from dealershoe.record.journal import Journal
from hil.hostend import HostEnd
from shoelink import frame, notice, schema, timing
from shoelink.link import Link

from protocol import faulty_line

ROOT = Path(__file__).parents[2]
PICO, BOOTSEL, OTHER = (0x2E8A, 0x0005), (0x2E8A, 0x0003), (0x0403, 0x6001)
CONTROL = bytes([0x00, 0x03, 0x04, 0x0A, 0x0D, 0x1A, 0x7F, 0x80, 0xFF])  # S43's list: what a console would act on


def wire(message: Any, seq: int = 1, kind: int | None = None) -> bytes:
    return frame.encode(kind or schema.KIND_OF[type(message)], 0, seq, 0, schema.pack(message))


def card(draw: int) -> schema.Card:
    return schema.Card(0, draw, bytes(4), schema.word(draw), 0, 0, 0, 0, 30, 0, 1000, 0)


@pytest.fixture
def shoe() -> Iterator[PtyShoe]:
    with PtyShoe() as made:
        yield made


@pytest.fixture
def running(shoe: PtyShoe, tmp_path: Path) -> Iterator[Running]:
    made = Running(Address(shoe.path), tmp_path)
    made.up(1)
    yield made
    made.bridge.stop()


@pytest.fixture(scope="module")
def firmware() -> Iterator[EmulatedShoe]:
    """The real firmware, for all cases of its port."""
    with EmulatedShoe(pace="fast") as running:
        yield running


@pytest.fixture
def peer(firmware: EmulatedShoe) -> Iterator[Peer]:
    """A host that can do what it likes, in session with the real firmware."""
    port = Port(firmware.port)
    made = Peer(port)
    assert made.connect() is not None
    yield made
    made.connect()  # all that came is stored
    port.close()


# ---- A port


def test_s02_a_reader_that_dies_turns_the_table_unsupervised_within_1_s_and_says_why(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Port) -> bytes:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(Port, "read", broken)
    begun = time.monotonic()
    wait_for(lambda: not running.bridge.alive, "the thread to end")
    assert time.monotonic() - begun < 1.0
    assert running.bridge.snapshot().link == "unsupervised"
    assert running.why == "the bridge has failed: a defect"
    assert isinstance(running.bridge.error, ZeroDivisionError)


def test_s04_the_number_of_the_port_means_nothing(tmp_path: Path) -> None:
    tree = UsbTree(tmp_path)
    path = tree.plug("1-1", *PICO, "ttyACM0", "E661")
    address = find(str(path), tree.ports)
    for number in range(1, 6):
        tree.unplug("1-1")
        tree.plug("1-1", *PICO, f"ttyACM{number}", "E661")
        assert locate(address, tree.ports).endswith(f"ttyACM{number}")


def test_s05_no_descriptor_of_a_port_that_has_gone_is_held(shoe: PtyShoe, tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(shoe.path)
    running = Running(Address(str(link)), tmp_path)
    try:
        running.up(1)
        port, path = running.bridge._port, shoe.path
        assert held(path) > 0
        link.unlink()
        shoe.unplug()
        wait_for(lambda: running.bridge._port not in (None, port) or held(path) == 0, "the descriptor to be given back")
        assert held(path) == 0
    finally:
        running.bridge.stop()


def held(path: str) -> int:
    """Descriptors of this process that lead to `path`, gone or not."""
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            count += os.readlink(entry).startswith(path)
        except OSError:
            continue
    return count


def test_s06_a_board_in_its_boot_loader_is_named_and_not_opened(tmp_path: Path) -> None:
    tree = UsbTree(tmp_path)
    tree.plug("1-1", *PICO, "ttyACM0", "E661")
    address = find("auto", tree.ports)
    tree.unplug("1-1")
    tree.plug("1-1", *BOOTSEL, "ttyACM0", "E0C9125B0D9B")
    with pytest.raises(PortLost, match="is in its boot loader"):
        locate(address, tree.ports)


def test_s07_a_part_with_another_identity_is_waited_out(tmp_path: Path) -> None:
    tree = UsbTree(tmp_path)
    tree.plug("1-1", *PICO, "ttyACM0", "E661")
    address = find("auto", tree.ports)
    tree.unplug("1-1")
    tree.plug("1-1", *OTHER, "ttyACM1", "STOCK")
    with pytest.raises(PortLost, match="is not plugged in"):
        locate(address, tree.ports)
    tree.unplug("1-1")
    tree.plug("1-1", *PICO, "ttyACM1", "E661")
    assert locate(address, tree.ports).endswith("ttyACM1")


def test_s10_both_locks_are_taken(shoe: PtyShoe, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr("dealershoe.bridge.port.PTYS", ())  # as on a port that is no pty
    port = Port(shoe.path)
    other = os.open(shoe.path, os.O_RDWR | os.O_NOCTTY) if os.geteuid() == 0 else -1  # TIOCEXCL does not bind root
    try:
        exclusive = fcntl.ioctl(port._serial.fileno(), 0x80045440, struct.pack("i", 0))  # TIOCGEXCL, ioctl_tty(2)
        assert struct.unpack("i", exclusive) == (1,)
        if other >= 0:
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        port.close()
        if other >= 0:
            os.close(other)


def test_s12_looking_for_ports_changes_no_settings(shoe: PtyShoe, tmp_path: Path) -> None:
    tree = UsbTree(tmp_path)
    tree.plug("1-1", *OTHER, "ttyUSB0", "A5", to=shoe.path)
    with serial.Serial(shoe.path, 460_800, timeout=0) as other:
        before = termios.tcgetattr(other.fileno())
        assert find("auto", tree.ports).usb is not None
        locate(find("auto", tree.ports), tree.ports)
        assert termios.tcgetattr(other.fileno()) == before


def test_s15_modem_probing_does_not_keep_the_firmware_from_its_frames(peer: Peer) -> None:
    peer.raw(b"AT\rATZ\r+++AT+GCAP\r\n")
    assert peer.ping(2_000.0) is not None
    peer.alive = False
    peer.renew()
    peer.raw(b"AT\r")
    assert peer.answered() is not None


def test_s18_every_byte_of_the_firmware_comes_back_to_it(peer: Peer) -> None:
    peer.alive = False
    begun = len(peer.heard)
    for _ in range(15):
        for heard in peer.listen(100.0):
            peer.raw(frame.encode(heard.kind, heard.flags, heard.seq, 0, heard.body))
    after = peer.heard[begun:]
    assert len(after) < 40, "an echo is answered by nothing: what comes is what a shoe says that nobody answers"
    assert {type(heard.message) for heard in after[-4:]} <= {schema.Hello, schema.Ident}


def test_s21_a_port_that_is_silent_without_an_error_is_closed_and_opened(
    shoe: PtyShoe, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge_module, "DEAF_S", 0.3)
    first = running.bridge._port
    shoe.mute = True
    wait_for(lambda: "nothing understandable came" in running.why, "the port to be given up")
    wait_for(lambda: running.bridge._port not in (None, first), "another opening of the port")
    shoe.mute = False
    running.up(2)


def test_s23_s24_an_idle_line_carries_frames_of_the_host_and_a_card_is_there_at_once() -> None:
    rig = Rig()
    rig.run(300)
    gaps, quiet = [], 0
    for _ in range(10_000):  # ten seconds in which nothing happens
        before = rig.table.link.count["sent"]
        rig.run(1)
        if rig.table.link.count["sent"] != before:
            gaps.append(quiet)
            quiet = 0
        quiet += 1
    assert max(gaps) <= 300, "USB power saving wants 2,000 ms of silence"
    rig.card(1)
    rig.run(50)
    assert rig.shoe.journal.held() == 0


def test_s26_an_error_of_any_property_of_the_port_is_the_loss_of_the_port(shoe: PtyShoe) -> None:
    class Gone:
        @property
        def in_waiting(self) -> int:
            raise PermissionError(13, "ClearCommError failed")

        def read(self, _: int) -> bytes:
            raise serial.SerialException("device reports readiness to read but returned no data")

        def fileno(self) -> int:
            raise serial.PortNotOpenError

        def close(self) -> None:
            raise OSError(5, "Input/output error")

    port = Port(shoe.path)
    real, port._serial, port._fd = port._serial, Gone(), None  # type: ignore[assignment]
    real.close()
    with pytest.raises(PortLost):
        port.wait(0.1, None)
    with pytest.raises(PortLost, match="was lost"):
        port.read()
    port.close()


# ---- B read


def test_s31_no_wait_looks_at_the_wall_clock() -> None:
    assert tuple(map(int, serial.__version__.split(".")[:2])) >= (3, 5)
    assert serial.serialutil.Timeout.TIME in (time.monotonic, time.perf_counter)
    for folder in ("bridge", "conform", "link"):
        for path in (ROOT / "host/dealershoe" / folder).glob("*.py"):
            calls = [n.func for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            names = {n.attr for n in calls if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "time"}
            assert "time" not in names, path  # wall time is stored beside facts (time_ns), and waited for nowhere


def test_s33_a_bridge_that_was_paused_says_so_and_gets_every_card_once() -> None:
    rig = Rig()
    rig.run(300)
    health = Health(rig.table)
    health.turn(None, rig.at)
    for draw in range(1, 105):
        rig.card(draw)
    for _ in range(20_000):  # the shoe goes on, the host does not turn
        rig.ms += 1
        rig.shoe.heed(rig.shoe.link.poll(rig.ms & timing.TICKS))
        rig.shoe.link.take()
    paused = [happening.text for happening in health.turn(None, rig.at) if "stood still" in happening.text]
    assert paused == ["this bridge stood still for 20 s: its host slept, or something held it"]
    rig.run(2_000)
    assert rig.shoe.journal.held() == 0
    facts = [entry for entry in rig.durable if isinstance(entry, Fact) and entry.journal is not None]
    assert [entry.number for entry in facts] == list(range(1, 105))


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s35_boot_noise_costs_one_frame_at_most_and_makes_none(decoder: Any) -> None:
    for seed in range(300):
        dice = random.Random(seed)
        frames = [wire(card(draw), draw) for draw in range(1, 4)]
        got = decoder().feed(dice.randbytes(200) + b"".join(frames))
        assert [seq for _, _, seq, _, _ in got] in ([1, 2, 3], [2, 3])


def test_s36_a_host_greets_until_a_shoe_that_still_boots_is_there() -> None:
    rig = Rig()
    rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal)  # not started: it neither hears nor speaks
    rig.run(1_500)
    assert not rig.table.up
    rig.shoe.link.start(rig.ms)
    rig.run(300)
    assert rig.table.up
    assert rig.table.sessions == 1


# ---- C stdio. The link of the shoe is UART0 and no console; the real firmware on MicroPython has it on this port.


def test_s38_s39_no_byte_on_the_line_interrupts_the_firmware(firmware: EmulatedShoe, peer: Peer) -> None:
    resets = firmware.resets
    for _ in range(5):
        peer.raw(CONTROL * 10 + b"\x03\x03\x01\x04\r\x03")
        assert peer.ping(2_000.0) is not None
    assert firmware.resets == resets


@pytest.mark.parametrize("stamp", [b"\n\n\n\n", b"\r\n\r\n", b"\n\r\n\r", b"\r\r\r\r"])
def test_s40_s41_s42_line_ends_cross_both_ways_as_they_are(peer: Peer, stamp: bytes) -> None:
    peer.say(schema.Ping(stamp))
    found = peer.wait(500.0, lambda h: isinstance(h.message, schema.Pong) and h.message.ping == stamp, 0)
    assert found is not None


def test_s43_what_a_console_would_act_on_crosses_both_ways(peer: Peer) -> None:
    for at in range(len(CONTROL)):
        stamp = (CONTROL * 2)[at : at + 4]
        peer.say(schema.Ping(stamp))
        assert peer.wait(500.0, lambda h, s=stamp: isinstance(h.message, schema.Pong) and h.message.ping == s, 0)  # type: ignore[misc]


def test_s48_dtr_and_rts_are_raised_before_the_port_opens(shoe: PtyShoe, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[tuple[bool, bool]] = []
    opened = serial.Serial.open

    def spied(self: serial.Serial) -> None:
        raised.append((self.dtr, self.rts))
        opened(self)

    monkeypatch.setattr(serial.Serial, "open", spied)
    Port(shoe.path).close()
    assert raised == [(True, True)]


def test_s50_a_prompt_gets_frames_and_nothing_that_would_stop_or_reset_it(tmp_path: Path) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    running = Running(Address(os.ttyname(slave)), tmp_path)
    try:
        got = b""
        for _ in range(4):
            os.write(master, b"\r\n>>> ")
            got += os.read(master, 4_096)
    finally:
        running.bridge.stop()
        os.close(master)
        os.close(slave)
    decoder = frame.Decoder()
    frames = decoder.feed(got)
    assert decoder.damaged == 0
    assert {kind for kind, _, _, _, _ in frames} <= {schema.HELLO | 0x80, schema.IDENT | 0x80}


# ---- D frame


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s53_a_zero_inside_is_never_decoded(decoder: Any) -> None:
    reader = decoder()
    assert reader.feed(b"\x02\0\0") == []
    whole = wire(card(1))
    for at in range(1, len(whole) - 1):
        assert reader.feed(whole[:at] + b"\0" + whole[at + 1 :]) == []


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s54_groups_of_254_bytes_are_longer_than_any_frame(decoder: Any) -> None:
    for length, end in itertools.product((253, 254, 255, 256), (b"", b"\0")):
        reader = decoder()
        assert reader.feed(b"\0" + bytes([0xFF]) + b"\x05" * length + end + b"\0" + wire(card(1)))
        assert reader.count["frames"] == 1
        assert reader.count["long"] == 1


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s59_any_number_of_zeros_in_front_means_nothing(decoder: Any) -> None:
    for zeros in (0, 1, 2, 3, 50, 5_000):
        assert len(decoder().feed(bytes(zeros) + wire(card(1)))) == 1


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s60_a_stream_that_begins_out_of_step_falls_into_step(decoder: Any) -> None:
    stream = b"".join(wire(card(draw), draw) for draw in range(1, 5))
    for lost in range(2, len(wire(card(1)))):
        assert [seq for _, _, seq, _, _ in decoder().feed(stream[lost:])] == [2, 3, 4]


def test_s61_a_systematic_fault_of_the_line_is_told_from_silence() -> None:
    recorder = Recorder()
    recorder.heard(bytes(byte ^ 1 for byte in b"".join(wire(card(draw)) for draw in range(5))))
    assert "the level or the speed of the line is wrong" in recorder.cause()
    assert Recorder().cause() == ""


# ---- E reliability


def test_s63_s68_a_repeat_is_acknowledged_again_and_delivered_once() -> None:
    rig = faulty_line.Rig()
    rig.run(200)
    rig.report(faulty_line.card(1))
    rig.run(230)
    acknowledged = rig.host.count["sent"]
    event = frame.encode(schema.CARD, 0, 1, 0, schema.pack(faulty_line.card(1)))
    for _ in range(5):
        assert rig.host.receive(event, rig.ticks()) == ()
        rig.host.poll(rig.ticks())
        last = frame.Decoder().feed(rig.host.take())[-1]
        assert last[0] & ~0x80 == schema.ACK
        assert last[3] == 1
    assert rig.host.count["duplicates"] == 5
    assert rig.host.count["sent"] >= acknowledged + 5
    rig.check(rig.shoe_journal)


def test_s66_every_trouble_alone_and_in_pairs_has_one_way_back() -> None:
    troubles = ("silence", "restart of the shoe", "port")
    for first, second in itertools.product(troubles, (None, *troubles)):
        rig = faulty_line.Rig()
        rig.run(200)
        rig.report(faulty_line.card(1))
        for trouble in filter(None, (first, second)):
            if trouble == "silence":
                rig.silence(1_000)
            elif trouble == "port":
                rig.replug()
            else:
                rig.reset_shoe(ram_lost=False)
            rig.run(rig.now + 100)
        rig.report(faulty_line.card(2))
        rig.run(rig.now + 3_000)
        assert rig.host.up, (first, second)
        assert rig.shoe.up, (first, second)
        rig.check(rig.shoe_journal)


def test_s67_an_old_reset_cause_and_stale_frames_in_front_are_not_fatal() -> None:
    rig = Rig()
    stale = wire(schema.Fault(bytes(4), schema.FAULT_HEAD, 0), 7) + wire(schema.Ping(bytes(4)))
    assert rig.table.link.receive(stale, rig.ms) == ()
    rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal, boot=b"boot", reset=schema.RESET_WATCHDOG)
    rig.shoe.link.start(rig.ms)
    rig.run(500)
    assert rig.table.up
    assert rig.table.link.count["early"] == 2
    peer = rig.table.link.peer
    assert peer is not None
    assert peer.reset == schema.RESET_WATCHDOG


def test_s71_counters_stop_and_never_overflow() -> None:
    rig = faulty_line.Rig()
    rig.run(200)
    rig.report(faulty_line.card(1))
    rig.run(300)
    event = frame.encode(schema.CARD, 0, 1, 0, schema.pack(faulty_line.card(1)))
    for _ in range(300):
        rig.host.receive(event, rig.ticks())
    assert rig.host.count["duplicates"] == 300
    rig.shoe.count["sent"] = 70_000
    assert rig.shoe.stats(1 << 20, 0).sent == 0xFFFF
    schema.pack(rig.shoe.stats(1 << 20, 1 << 20))


def test_s74_twenty_events_in_50_ms_fit_and_the_peak_is_told() -> None:
    rig = Rig()
    rig.run(300)
    for draw in range(1, 21):
        rig.card(draw)
        if draw % 5 == 0:
            rig.run(10)
    rig.run(1_000)
    assert rig.shoe.journal.held() == 0
    stats = rig.shoe.link.stats(0, 0)
    assert 1 <= stats.peak <= 20
    assert stats.refused == 0


def test_s75_another_version_is_refused_with_both_and_stays_said() -> None:
    rig = Rig()
    hello = schema.Hello(2, 0, b"abcd", b"JRN1", b"boot", 1, 1, 1, 256, b"12345678", bytes(4))
    rig.table.received(frame.encode(schema.HELLO, schema.FLAG_ASK, 1, 0, schema.pack(hello)), rig.at)
    rig.table.received(wire(SHOE_IDENT), rig.at)
    assert not rig.table.up
    assert "the peer speaks link 2.0, this end 1.0: update the older one" in rig.table.why_down


# ---- F time


def test_s79_s80_s82_s83_no_python_of_the_shoe_runs_in_an_interrupt() -> None:
    for path in (ROOT / "firmware").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute | ast.Name):
                name = node.attr if isinstance(node, ast.Attribute) else node.id
                assert name not in ("irq", "Timer", "schedule", "_thread"), f"{path}: {name}"


def test_s84_a_hand_goes_on_over_the_wrap_of_the_ticks() -> None:
    rig = faulty_line.Rig(start=timing.TICKS + 1 - 5_000)
    for draw in range(1, 21):
        rig.report(faulty_line.card(draw))
        rig.run(rig.now + 500)
    assert rig.now > 5_000
    assert len(rig.of(schema.HOST, notice.LinkUp)) == 1
    assert not rig.of(schema.HOST, notice.LinkLost)
    rig.check(rig.shoe_journal)


# ---- G peripherals


def test_s100_two_cards_at_once_are_a_double_and_never_one_of_them(firmware: EmulatedShoe) -> None:
    with HostEnd(firmware.port) as host:
        firmware.pull("As", double=True)
        found = host.next(schema.Card)[0]
        host.link.stored(1 << 32)
    assert found.flags & schema.CARD_DOUBLE
    firmware.load(firmware.deck[1:])


def test_s109_the_watchdog_asks_for_what_the_chip_has() -> None:
    board = (ROOT / "firmware/board.py").read_text(encoding="utf-8")
    (ms,) = re.findall(r"WDT\(timeout=(\d+)\)", board)
    assert 2_000 <= int(ms) <= 8_388  # RP2040 datasheet, 4.7: 24 bits of microseconds, counted twice
    feeds = [path.name for path in (ROOT / "firmware").rglob("*.py") if ".feed()" in path.read_text(encoding="utf-8")]
    assert feeds == ["main.py"]


def test_s110_the_lamps_go_dark_before_anything_else(firmware: EmulatedShoe) -> None:
    firmware.power_cycle()
    firmware.wait_for(lambda: any(any(lamp) for lamp in firmware.lights), "the shoe's own light")
    shown = [one.data for one in firmware.shown if one.output is Output.BITS and one.data[0] == LIGHT_PIN]
    dark = [number for number, data in enumerate(shown) if not any(data[1:])]
    lit = [number for number, data in enumerate(shown) if any(data[1:])]
    assert dark, "the strip is written dark at the start"
    assert dark[-1] == lit[-1] - 1


# ---- H storage


def test_s113_another_program_that_locks_the_file_holds_no_signal_up(shoe: PtyShoe, running: Running) -> None:
    reader = sqlite3.connect(running.journal.path, isolation_level=None)
    try:
        reader.execute("BEGIN IMMEDIATE")
        running.bridge.tell("hand seats=1-3 button=3", "test")
        wait_for(lambda: shoe.shoe.due is not None and shoe.shoe.due.seat == 1, "what is due, in spite of the lock")
        shoe.card(1)
        wait_for(lambda: shoe.shoe.due.seat == 2, "the card to be taken")
        assert shoe.held == 1, "it is not acknowledged before it is stored"
        reader.execute("ROLLBACK")
    finally:
        reader.close()
    wait_for(lambda: shoe.held == 0, "the acknowledgement once the file is free")


def test_s115_a_journal_left_in_the_middle_of_a_write_opens_whole(tmp_path: Path) -> None:
    (tmp_path / "after").mkdir()
    with Journal(tmp_path / "journal") as journal:
        journal.write([Fact(1, "shoe", b"a", 0, 0, b"JRN1", 1)])
        journal._db.execute("BEGIN IMMEDIATE")
        journal._db.execute("INSERT INTO facts (id, origin, raw, mono_ns, wall_ns) VALUES (2, 'shoe', x'62', 0, 0)")
        for part in tmp_path.glob("journal*"):  # what a power cut leaves: the file, its log and no lock that counts
            if part.is_file():
                (tmp_path / "after" / part.name).write_bytes(part.read_bytes())
        journal._db.execute("ROLLBACK")
    with Journal(tmp_path / "after" / "journal") as journal:
        assert [fact.raw for fact in journal.facts()] == [b"a"]


def test_s116_a_full_disk_stops_neither_the_table_nor_what_it_has_to_say(
    shoe: PtyShoe, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.Event()
    full.set()
    write = running.journal.write

    def refuses(entries: Any) -> None:
        if full.is_set():
            raise sqlite3.OperationalError("database or disk is full")
        write(entries)

    monkeypatch.setattr(running.journal, "write", refuses)
    running.faults.write_text("")  # no folder can be made of it: the report of the fault fails too
    shoe.report(card(1))
    wait_for(lambda: any("disk is full" in said.text for said in running.said), "the trouble to be said")
    shoe.mute = True
    wait_for(lambda: running.bridge.snapshot().link == "unsupervised", "the silence")
    shoe.mute = False
    running.up(2)
    assert running.bridge.alive
    assert running.bridge._health.recorder.unwritten >= 1
    full.clear()
    wait_for(lambda: shoe.held == 0, "the card, once there is room")


# ---- all of them


NUMBERS = (
    2, 4, 5, 6, 7, 10, 12, 15, 18, 21, 23, 24, 25, 26, 31, 33, 35, 36, 38, 39, 40, 41, 42, 43, 48, 50, 53, 54, 59, 60,
    61, 63, 66, 67, 68, 71, 74, 75, 76, 79, 80, 82, 83, 84, 87, 93, 94, 95, 96, 98, 99, 100, 102, 109, 110, 111, 113,
    115, 116,
)  # fmt: skip
IDS = [f"S{number:02}" for number in NUMBERS]


def test_every_case_is_a_test_or_a_sentence_why_it_cannot_happen() -> None:
    tested: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^def (test_s\d\w*)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            for number in re.findall(r"(?<=_s)\d+(?=_)", name):
                tested.setdefault(f"S{int(number):02}", set()).add(name)
    rows = re.findall(
        r"^\| (S\d+) \| (.+) \| (.+) \|$", (ROOT / "docs/serial-cases.md").read_text("utf-8"), re.MULTILINE
    )
    assert [row[0] for row in rows] == IDS, "docs/serial-cases.md has every case once, in order"
    for number, _, proof in rows:
        cited = re.fullmatch(r"`(test_\w+)`", proof)
        if number in tested:
            assert cited, f"{number} has a test and docs/serial-cases.md does not name it"
            assert cited[1] in tested[number], number
        else:
            assert not cited, f"{number} cites {proof}, which does not exist"
            assert proof.startswith("cannot: "), number
            assert proof.endswith("."), number
    assert set(tested) <= set(IDS)
