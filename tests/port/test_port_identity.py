"""The shoe's port is found by who it is: auto, by-id, vid:pid:serial; never by number; in doubt the names are given."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from dealershoe.errors import UserError
from dealershoe.port.identity import Address, PortLost, Ports, Roots, Usb, find, holders, locate
from port.usb_tree import UsbTree
from serial.tools import list_ports, list_ports_common

PICO, BOOTSEL, FTDI, CH340 = (0x2E8A, 0x0005), (0x2E8A, 0x0003), (0x0403, 0x6001), (0x1A86, 0x7523)


@pytest.fixture
def tree(tmp_path: Path) -> UsbTree:
    return UsbTree(tmp_path)


def test_auto_finds_the_one_shoe_and_follows_it_to_another_name(tree: UsbTree) -> None:
    tree.plug("1-1", *PICO, "ttyACM0", "E661", product="Pico")
    tree.plug("1-3", 0x046D, 0xC52B)  # a mouse
    address = find("auto", tree.ports)
    assert address.path == str(tree.roots.dev / "ttyACM0")
    assert address.usb == Usb(*PICO, "E661", 0, "1-1", "Pico")
    tree.unplug("1-1")
    tree.plug("1-4", *FTDI, "ttyACM0", "A50285BI")  # another part has its name now
    with pytest.raises(PortLost, match=r"the shoe \(2e8a:0005, serial E661, Pico\) is not plugged in"):
        locate(address, tree.ports)
    tree.plug("1-2", *PICO, "ttyACM3", "E661", product="Pico")
    assert locate(address, tree.ports) == str(tree.roots.dev / "ttyACM3")


def test_an_adapter_of_the_usb_serial_kind_is_found(tree: UsbTree) -> None:
    tree.plug("2-1.4", *FTDI, "ttyUSB7", "A50285BI")
    assert find("auto", tree.ports).usb == Usb(*FTDI, "A50285BI", 0, "2-1.4", "")


@pytest.mark.parametrize("again", ["auto", "usb:2e8a:0005", "usb:2E8A:5:E661"])
def test_two_candidates_are_an_error_that_names_them(tree: UsbTree, again: str) -> None:
    tree.plug("1-1", *PICO, "ttyACM0", "E661")
    tree.plug("1-2", *PICO, "ttyACM1", "E662")
    if again == "usb:2E8A:5:E661":
        assert find(again, tree.ports).path.endswith("ttyACM0")
        return
    with pytest.raises(UserError) as refused:
        find(again, tree.ports)
    assert "2 ports could be the shoe: " in refused.value.seen
    assert re.search(
        r"ttyACM0 \(2e8a:0005, serial E661\) and \S+ttyACM1 \(2e8a:0005, serial E662\)", refused.value.seen
    )


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("auto", "no shoe was found on any USB port"),
        ("usb:2e8a:0005", "no port with usb:2e8a:0005 was found"),
        ("usb:pico", "usb:pico is no USB identity"),
    ],
)
def test_nothing_there_says_so(tree: UsbTree, wanted: str, says: str) -> None:
    tree.plug("1-3", 0x046D, 0xC52B, "ttyACM0")  # some other maker's port is no candidate
    with pytest.raises(UserError, match=says):
        find(wanted, tree.ports)


def test_a_path_is_a_hint_and_the_part_behind_it_is_what_is_found_again(tree: UsbTree) -> None:
    path = tree.plug("1-1", *PICO, "ttyACM0", "E661")
    address = find(str(path), tree.ports)
    tree.unplug("1-1")
    tree.plug("1-1", *PICO, "ttyACM1", "E661")
    assert locate(address, tree.ports).endswith("ttyACM1")


def test_a_by_id_name_is_the_part_that_it_names(tree: UsbTree) -> None:
    tree.plug("1-1", *PICO, "ttyACM0", "E661", product="Pico")
    by_id = tree.roots.dev / "serial/by-id/usb-Pico_E661-if00"
    assert tree.ports.listed()[0].by_id == str(by_id)
    address = find(str(by_id), tree.ports)
    tree.unplug("1-1")
    tree.plug("1-9", *PICO, "ttyACM5", "E661", product="Pico")
    assert locate(address, tree.ports).endswith("ttyACM5")


def test_a_part_with_two_ports_keeps_its_interface(tree: UsbTree) -> None:
    tree.plug("1-1", *PICO, "ttyACM0", "E661")
    tree.plug("1-1", *PICO, "ttyACM1", "E661", interface=2)
    with pytest.raises(UserError, match="2 ports could be the shoe"):
        find("auto", tree.ports)
    address = find(str(tree.roots.dev / "ttyACM1"), tree.ports)
    assert locate(address, tree.ports).endswith("ttyACM1")


def test_parts_without_serial_numbers_are_told_by_their_place_or_not_at_all(tree: UsbTree) -> None:
    tree.plug("1-1", *CH340, "ttyUSB0")
    address = find("auto", tree.ports)
    tree.unplug("1-1")
    tree.plug("1-2", *CH340, "ttyUSB0")
    assert locate(address, tree.ports).endswith("ttyUSB0")  # the only one of its kind
    tree.plug("1-1", *CH340, "ttyUSB1")
    assert locate(address, tree.ports).endswith("ttyUSB1")  # the one in its place
    tree.unplug("1-1")
    tree.plug("1-3", *CH340, "ttyUSB1")
    with pytest.raises(PortLost, match=r"2 ports could be the shoe: .*ttyUSB0 .* and .*ttyUSB1 .* no serial numbers"):
        locate(address, tree.ports)


def test_a_board_in_its_boot_loader_is_said(tree: UsbTree) -> None:
    tree.plug("1-1", *BOOTSEL, serial="E0C9125B0D9B")
    with pytest.raises(UserError, match=r"a Pico \(RP2040\) is plugged in, but in its boot loader"):
        find("auto", tree.ports)


def test_a_shoe_that_comes_back_in_its_boot_loader_is_said(tree: UsbTree) -> None:
    tree.plug("1-1", *PICO, "ttyACM0", "E661")
    address = find("auto", tree.ports)
    tree.unplug("1-1")
    tree.plug("1-1", *BOOTSEL, serial="E0C9125B0D9B")
    with pytest.raises(PortLost, match="is in its boot loader"):
        locate(address, tree.ports)


def test_another_board_in_its_boot_loader_is_not_the_shoe(tree: UsbTree) -> None:
    tree.plug("1-1", *PICO, "ttyACM0", "E661")
    address = find("auto", tree.ports)
    tree.unplug("1-1")
    tree.plug("1-2", *BOOTSEL, serial="E0C9125B0D9B")
    with pytest.raises(PortLost, match="is not plugged in"):
        locate(address, tree.ports)


def test_a_pty_is_used_by_its_path_and_a_link_is_followed_when_it_opens(tree: UsbTree) -> None:
    assert locate(find("/dev/pts/12345", tree.ports), tree.ports) == "/dev/pts/12345"


def test_holders_are_named_by_process(tmp_path: Path) -> None:
    held = tmp_path / "ttyACM0"
    held.touch()
    for pid, name in ((41, "minicom"), (7, "ModemManager"), (9, "sh"), (os.getpid(), "python")):
        fds = tmp_path / "proc" / str(pid) / "fd"
        fds.mkdir(parents=True)
        (fds / "3").symlink_to(held if name != "sh" else tmp_path)
        (fds.parent / "comm").write_text(name + "\n")
    assert holders(str(held), Roots(proc=tmp_path / "proc")) == ["7 (ModemManager)", "41 (minicom)"]


def test_who_has_made_a_pty_does_not_hold_it(tmp_path: Path) -> None:
    """An emulated shoe keeps both ends of its port open. `tty-index`: proc(5), of a descriptor of /dev/ptmx."""
    for pid, name, index in ((41, "minicom", 6), (7, "dealershoe", 5)):
        for folder in ("fd", "fdinfo"):
            (tmp_path / str(pid) / folder).mkdir(parents=True)
        (tmp_path / str(pid) / "fd" / "3").symlink_to("/dev/pts/5")
        (tmp_path / str(pid) / "fdinfo" / "4").write_text(f"pos:\t0\nflags:\t0100002\ntty-index:\t{index}\n")
        (tmp_path / str(pid) / "comm").write_text(name + "\n")
    assert holders("/dev/pts/5", Roots(proc=tmp_path)) == ["41 (minicom)"]


def test_without_sysfs_pyserials_list_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    info = list_ports_common.ListPortInfo("COM3", skip_link_detection=True)
    info.vid, info.pid, info.serial_number, info.location, info.product = *PICO, "E661", "1-1", "Pico"
    boot = list_ports_common.ListPortInfo("COM4", skip_link_detection=True)
    boot.vid, boot.pid = BOOTSEL
    built_in = list_ports_common.ListPortInfo("COM1", skip_link_detection=True)
    monkeypatch.setattr(list_ports, "comports", lambda: [built_in, boot, info])
    monkeypatch.setattr("sys.platform", "win32")
    ports = Ports()
    assert find("auto", ports) == Address("COM3", Usb(*PICO, "E661", -1, "1-1", "Pico"))
    assert [(usb.vid, usb.pid) for usb in ports.bootloaders()] == [BOOTSEL]
