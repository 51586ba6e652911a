"""The port: one owner, every loss is a `PortLost` that names what is wrong, nothing blocks. A real pty and pyserial."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dealershoe.port.identity import PortLost, Roots
from dealershoe.port.port import PENDING_LIMIT, Port, latency_timer
from dealershoe.port.ready import Wake, ready


class Pty:
    """A pty whose master stands for the shoe."""

    def __init__(self) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        os.set_blocking(self.master, False)

    def unplug(self) -> None:
        if self.master >= 0:
            os.close(self.master)
            os.close(self._slave)
            self.master = -1


@pytest.fixture
def pty() -> Iterator[Pty]:
    made = Pty()
    yield made
    made.unplug()


@pytest.fixture
def port(pty: Pty) -> Iterator[Port]:
    opened = Port(pty.path)
    yield opened
    opened.close()


def test_every_byte_value_crosses_both_ways(pty: Pty, port: Port) -> None:
    every = bytes(range(256))
    os.write(pty.master, every)
    assert port.wait(5.0, None) is False
    assert port.read() == every
    port.write(every)
    assert os.read(pty.master, 1000) == every


def test_a_host_of_many_shoes_has_descriptors_above_those_that_select_takes(pty: Pty) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1_200:
        pytest.skip(f"this system allows {hard} descriptors a process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1_200), hard))
    taken = [os.open(os.devnull, os.O_RDONLY)]
    wake = None
    try:
        while taken[-1] < 1_024:  # FD_SETSIZE, select(2)
            taken.append(os.dup(taken[0]))
        wake = Wake()
        with contextlib.closing(Port(pty.path)) as port:
            os.write(pty.master, b"card")
            assert port.wait(5.0, wake.reader) is False
            assert port.read() == b"card"
            assert port.read() == b""
            port.write(b"ack")
            assert os.read(pty.master, 10) == b"ack"
            wake.up()
            assert port.wait(5.0, wake.reader) is True
            wake.clear()
            assert ready((wake.reader,), (), 0) == set()
            pty.unplug()
            with pytest.raises(PortLost):
                port.read()
    finally:
        if wake is not None:
            wake.close()
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_wait_returns_at_once_when_woken_and_says_so(port: Port) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"!")
        begun = time.monotonic()
        assert port.wait(30.0, reader) is True
        assert time.monotonic() - begun < 10.0
        assert port.read() == b""
    finally:
        os.close(reader)
        os.close(writer)


def test_a_peer_that_does_not_read_never_blocks_the_writer(port: Port) -> None:
    for _ in range(2_000):
        port.write(bytes(100))
        assert len(port._pending) <= PENDING_LIMIT
    assert port.dropped > 0


def test_unplugged_while_open_is_port_lost(pty: Pty, port: Port) -> None:
    pty.unplug()

    def use() -> None:
        port.wait(0.0, None)
        port.read()

    with pytest.raises(PortLost, match=r"was lost .* plug it in again"):
        use()


def test_what_comes_between_a_read_and_the_look_at_the_port_is_no_unplug(
    pty: Pty, port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read finds nothing; a byte comes; the port is ready now. (A busy host was seen to lose its port to that.)"""

    def late(*asked: Any) -> set[int]:
        os.write(pty.master, b"card")
        return ready(*asked)

    monkeypatch.setattr("dealershoe.port.port.ready", late)
    assert port.read() == b"card"
    monkeypatch.undo()
    assert port.read() == b""


def test_after_close_every_call_is_port_lost(port: Port) -> None:
    port.close()
    for call in (port.read, lambda: port.write(b"x"), lambda: port.wait(0.0, None)):
        with pytest.raises(PortLost):
            call()


def test_no_such_port_is_named() -> None:
    with pytest.raises(PortLost, match="there is no port /dev/ttyNOSUCH; the shoe is unplugged"):
        Port("/dev/ttyNOSUCH")


def test_a_file_is_not_a_serial_port(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "file")
    with open(path, "w"):
        pass
    with pytest.raises(PortLost, match="is not a serial port"):
        Port(path)


HOLDER = """
import sys
from dealershoe.port.port import Port
port = Port(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
port.close()
"""


def test_two_hosts_on_one_port_the_second_is_told_who_holds_it(pty: Pty) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, pty.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(PortLost, match=r"is held.*another program speaks to this shoe; stop it") as lost:
            Port(pty.path)
        if sys.platform == "linux":
            assert f"{holder.pid} (python" in str(lost.value)
        holder.communicate("")
    Port(pty.path).close()  # free again


def test_an_adapter_that_holds_bytes_back_is_told_not_to(pty: Pty, tmp_path: Path) -> None:
    roots = Roots(sys=tmp_path)
    timer = tmp_path / "class/tty" / os.path.basename(pty.path) / "device/latency_timer"
    timer.parent.mkdir(parents=True)
    timer.write_text("16\n")
    opened = Port(pty.path, roots=roots)
    opened.close()
    assert opened.latency_ms == 1
    assert timer.read_text() == "1"


def test_an_adapter_that_this_user_may_not_set_is_used_as_it_is(
    pty: Pty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = Roots(sys=tmp_path)
    timer = tmp_path / "class/tty" / os.path.basename(pty.path) / "device/latency_timer"
    timer.parent.mkdir(parents=True)
    timer.write_text("16\n")

    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refused)
    opened = Port(pty.path, roots=roots)
    opened.close()
    assert opened.latency_ms == 16
    assert latency_timer("/dev/ttyNONE", roots) is None


def test_dtr_and_rts_are_both_raised_and_the_speed_is_never_1200(port: Port) -> None:
    assert (port._serial.dtr, port._serial.rts, port._serial.baudrate) == (True, True, 115_200)
