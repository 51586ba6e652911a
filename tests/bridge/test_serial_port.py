"""What went wrong with other people's serial ports, a test a case of docs/serial-cases.md: found, opened, lost."""

from __future__ import annotations

import ast
import os
import re
import struct
import termios
import time
import tty
from pathlib import Path

import pytest
import serial
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.running import Running
from dealershoe.bridge import bridge as bridge_module
from dealershoe.port.identity import Address, PortLost, find, locate
from dealershoe.port.port import Port
from port.usb_tree import UsbTree
from shoelink import frame, schema

ROOT = Path(__file__).parents[2]
MARGIN_S = 2.0  # a busy machine takes and gives processor time as it likes
PICO, BOOTSEL, OTHER = (0x2E8A, 0x0005), (0x2E8A, 0x0003), (0x0403, 0x6001)


def held(path: str) -> int:
    """Descriptors of this process that lead to `path`, gone or not."""
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            count += os.readlink(entry).startswith(path)
        except OSError:
            continue
    return count


def test_s02_a_reader_that_dies_turns_the_table_unsupervised_within_1_s_and_says_why(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Port) -> bytes:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(Port, "read", broken)
    begun = time.monotonic()
    wait_for(lambda: not running.bridge.alive, "the thread to end")
    assert time.monotonic() - begun < 1.0 + MARGIN_S
    assert running.bridge.snapshot().link == "unsupervised"
    assert re.fullmatch(r"the bridge has failed: ZeroDivisionError( at \w+\.py:\d+)+", running.why)  # and no text of it
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

    monkeypatch.setattr("dealershoe.port.port.PTYS", ())  # as on a port that is no pty
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
    exclusive = fcntl.ioctl(shoe._slave, 0x80045440, struct.pack("i", 0))
    assert struct.unpack("i", exclusive) == (0,), "and the next owner can open it"


def test_s12_looking_for_ports_changes_no_settings(shoe: PtyShoe, tmp_path: Path) -> None:
    tree = UsbTree(tmp_path)
    tree.plug("1-1", *OTHER, "ttyUSB0", "A5", to=shoe.path)
    with serial.Serial(shoe.path, 460_800, timeout=0) as other:
        before = termios.tcgetattr(other.fileno())
        assert find("auto", tree.ports).usb is not None
        locate(find("auto", tree.ports), tree.ports)
        assert termios.tcgetattr(other.fileno()) == before


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


def test_s31_no_wait_looks_at_the_wall_clock() -> None:
    assert tuple(map(int, serial.__version__.split(".")[:2])) >= (3, 5)
    assert serial.serialutil.Timeout.TIME in (time.monotonic, time.perf_counter)
    for folder in ("bridge", "conform", "link"):
        for path in (ROOT / "host/dealershoe" / folder).glob("*.py"):
            calls = [n.func for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            names = {n.attr for n in calls if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "time"}
            assert "time" not in names, path  # wall time is stored beside facts (time_ns), and waited for nowhere


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
