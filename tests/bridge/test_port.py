"""The port: one owner, every loss is a `PortLost` that names what is wrong, nothing blocks. A real pty and pyserial."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tty
from collections.abc import Iterator

import pytest
from dealershoe.bridge.port import PENDING_LIMIT, Address, Port, PortLost, find, locate
from dealershoe.errors import UserError
from serial.tools import list_ports, list_ports_common


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
from dealershoe.bridge.port import Port
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
            assert str(holder.pid) in str(lost.value)
        holder.communicate("")
    Port(pty.path).close()  # free again


def listed(device: str, vid: int | None = None, pid: int | None = None, serial_number: str | None = None) -> object:
    info = list_ports_common.ListPortInfo(device, skip_link_detection=True)
    info.vid, info.pid, info.serial_number = vid, pid, serial_number
    return info


PICO = listed("/dev/ttyACM0", 0x2E8A, 0x0005, "E661")
ADAPTER = listed("/dev/ttyUSB0", 0x0403, 0x6001, "A50285BI")
BUILT_IN = listed("/dev/ttyS0")
BOOTLOADER = listed("/dev/ttyACM0", 0x2E8A, 0x0003, "E661")


@pytest.mark.parametrize(
    ("ports", "wanted", "says"),
    [
        ([], "auto", "no shoe was found on any USB port"),
        ([BUILT_IN], "auto", "no shoe was found on any USB port"),
        ([PICO, ADAPTER], "auto", "2 ports could be the shoe: /dev/ttyACM0, /dev/ttyUSB0"),
        ([BOOTLOADER], "auto", "in its boot loader"),
    ],
)
def test_auto_says_why_it_cannot_choose(
    monkeypatch: pytest.MonkeyPatch, ports: list[object], wanted: str, says: str
) -> None:
    monkeypatch.setattr(list_ports, "comports", lambda: ports)
    with pytest.raises(UserError, match=says):
        find(wanted)


def test_auto_finds_the_one_shoe_and_follows_it_to_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_ports, "comports", lambda: [BUILT_IN, PICO])
    address = find("auto")
    assert address == Address("/dev/ttyACM0", "E661")
    moved = listed("/dev/ttyACM3", 0x2E8A, 0x0005, "E661")
    monkeypatch.setattr(list_ports, "comports", lambda: [ADAPTER, moved])
    assert locate(address) == "/dev/ttyACM3"


def test_a_path_given_is_used_as_it_is() -> None:
    assert locate(find("/dev/pts/12345")) == "/dev/pts/12345"
