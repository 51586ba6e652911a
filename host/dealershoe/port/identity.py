"""Which serial port is the shoe: by the identity of its USB part, never by a number that the system gave it.

For the bridge and the doctor. On Linux it reads sysfs itself, for a board in its boot loader has no port and pyserial
lists ports only; elsewhere pyserial's list is all there is.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from serial.tools import list_ports

from dealershoe.errors import UserError

RASPBERRY_PI = 0x2E8A
BOOTLOADERS = {  # (vid, pid): what it is
    (RASPBERRY_PI, 0x0003): "a Pico (RP2040)",
    (RASPBERRY_PI, 0x000F): "a Pico 2 (RP2350)",
}
# USB identities a shoe's port can have: the Pico itself, FTDI, Silicon Labs CP210x, WCH CH34x
VENDORS = {RASPBERRY_PI, 0x0403, 0x10C4, 0x1A86}

_PTS = re.compile(r"/dev/pts/\d+")
_USB_NUMBER = re.compile(r"[0-9A-Fa-f]{1,4}")  # 16 bits (USB 2.0, table 9-8)
LONGEST_NAME = 1_023  # characters of a port's name: what macOS can open, the shorter of the two
GLANCE_S = 0.2  # a shoe that is back is found so much later at most


class PortLost(Exception):  # noqa: N818 - an event of every night, the normal path back
    """The port has gone, or cannot be opened now. The text says what was seen; likely cause; next step."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the system shows its devices. Tests give trees of their own."""

    sys: Path = Path("/sys")
    dev: Path = Path("/dev")
    proc: Path = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usb:
    """What a USB part says of itself, and where it is plugged in."""

    vid: int
    pid: int
    serial: str = ""  # "": it has none (many CH340)
    interface: int = -1  # of a part with more than one port; -1: not known here
    hub: str = ""  # the place on the hubs, "1-1.2"; a board that changes its identity keeps it
    product: str = ""

    def same(self, other: Usb) -> bool:
        """Whether it is the same part, wherever it is plugged in now. Without a serial number: one of the same kind."""
        mine = (self.vid, self.pid, self.serial, self.interface)
        return mine == (other.vid, other.pid, other.serial, other.interface)

    def __str__(self) -> str:
        named = f"{self.vid:04x}:{self.pid:04x}"
        return ", ".join(part for part in (named, self.serial and f"serial {self.serial}", self.product) if part)


@dataclass(frozen=True, slots=True)
class Listed:
    """A serial port of a USB part."""

    path: str
    usb: Usb
    by_id: str = ""  # its name under /dev/serial/by-id, where there is one

    def __str__(self) -> str:
        return f"{self.path} ({self.usb})"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a shoe is found: `path` as it was given or found first; `usb`: who it is, wherever it is now (S04).

    `sought`: nobody has looked yet; `path` is what `find` is to look for.
    """

    path: str
    usb: Usb | None = None
    sought: bool = False


class Ports:
    """The USB serial ports of this machine, looked at anew with every call."""

    def __init__(self, roots: Roots | None = None) -> None:
        self.roots = roots or Roots()
        self._sysfs = roots is not None or sys.platform == "linux"

    def listed(self) -> list[Listed]:
        """Every serial port with a USB identity, by path."""
        found = self._from_sysfs() if self._sysfs else _from_pyserial()
        return sorted((port for port in found if not in_bootloader(port.usb)), key=lambda port: port.path)

    def bootloaders(self) -> list[Usb]:
        """Boards in their boot loader: no shoe answers there (Linux; elsewhere only those that show a port)."""
        if not self._sysfs:
            return [port.usb for port in _from_pyserial() if in_bootloader(port.usb)]
        devices = sorted((self.roots.sys / "bus/usb/devices").glob("*"))
        found = [usb for device in devices if (usb := _usb(device, -1)) is not None]
        return [usb for usb in found if in_bootloader(usb)]

    def _from_sysfs(self) -> Iterator[Listed]:
        by_id = {}
        for link in sorted((self.roots.dev / "serial/by-id").glob("*")):
            by_id[os.path.realpath(link)] = str(link)
        for tty in (self.roots.sys / "class/tty").glob("*"):
            device = Path(os.path.realpath(tty / "device"))
            interface = next((_hex(up / "bInterfaceNumber") for up in (device, device.parent)
                              if (up / "bInterfaceNumber").is_file()), -1)  # fmt: skip
            part = next((up for up in device.parents if (up / "idVendor").is_file()), None)
            usb = _usb(part, interface) if part else None
            if usb is not None:
                path = str(self.roots.dev / tty.name)
                yield Listed(path, usb, by_id.get(os.path.realpath(path), ""))


class Glances(Ports):
    """The ports for many tables that look at the same time, on any threads: one look serves all within GLANCE_S."""

    def __init__(self, roots: Roots | None = None) -> None:
        super().__init__(roots)
        self._lock = threading.Lock()
        self._listed: list[Listed] = []
        self._bootloaders: list[Usb] = []
        self._until = 0.0

    def listed(self) -> list[Listed]:
        """Every serial port with a USB identity, by path."""
        return self._glance()[0]

    def bootloaders(self) -> list[Usb]:
        """Boards in their boot loader."""
        return self._glance()[1]

    def _glance(self) -> tuple[list[Listed], list[Usb]]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._listed, self._bootloaders = super().listed(), super().bootloaders()
                self._until = time.monotonic() + GLANCE_S
            return self._listed, self._bootloaders


def in_bootloader(usb: Usb) -> bool:
    """Whether this is a board that waits for firmware."""
    return (usb.vid, usb.pid) in BOOTLOADERS


def _usb(device: Path, interface: int) -> Usb | None:
    if not (device / "idVendor").is_file():
        return None
    vid, pid = _hex(device / "idVendor"), _hex(device / "idProduct")
    return Usb(vid, pid, _text(device / "serial"), interface, device.name, _text(device / "product"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # it went away, or has none
        return ""


def _hex(path: Path) -> int:
    with contextlib.suppress(ValueError):
        return int(_text(path), 16)
    return -1


def _from_pyserial() -> Iterator[Listed]:
    for port in list_ports.comports():
        if port.vid is not None and port.pid is not None:
            usb = Usb(port.vid, port.pid, port.serial_number or "", -1, port.location or "", port.product or "")
            yield Listed(port.device, usb)


# ---- finding


def check(wanted: str) -> None:
    """Raises UserError for what can never name a port."""
    how = "name one port, usb:VID:PID:SERIAL, or auto"
    if not wanted:
        raise UserError("no port was named", "the name given is empty", how)
    if not wanted.isprintable() or len(wanted) > LONGEST_NAME:
        shown = ascii(wanted[:40]) + ("…" if len(wanted) > 40 else "")
        raise UserError(f"{shown} is no port", "it is longer than any name, or has characters that no name has", how)
    if os.path.isdir(wanted):
        raise UserError(f"{wanted} is a folder, not a port", "the name of a port in it is missing", how)
    if wanted.startswith("usb:"):
        _identity(wanted)


def find(wanted: str, ports: Ports | None = None) -> Address:
    """The address of the shoe at `wanted`: "auto", "usb:VID:PID" or "usb:VID:PID:SERIAL" in hexadecimal, or a path.

    A path to a USB part is taken as a hint: the part is what is found again. Raises UserError when there is no such
    port, or more than one that it could be, with the names of all.
    """
    ports = ports or Ports()
    check(wanted)
    if wanted == "auto":
        found = [port for port in ports.listed() if port.usb.vid in VENDORS]
        return _only(found, ports, "no shoe was found on any USB port", "--port usb:VID:PID:SERIAL or a path")
    if wanted.startswith("usb:"):
        found = _named(wanted, ports)
        return _only(found, ports, f"no port with {wanted} was found", "its serial number too")
    real = os.path.realpath(wanted)
    for port in ports.listed():
        if os.path.realpath(port.path) == real:
            return Address(wanted, port.usb)
    return Address(wanted)


def _identity(wanted: str) -> tuple[tuple[int, int], str]:
    """VID, PID and serial number of usb:VID:PID[:SERIAL]."""
    vid, pid, serial = (*wanted.split(":", 3)[1:], "", "")[:3]
    if not (_USB_NUMBER.fullmatch(vid) and _USB_NUMBER.fullmatch(pid)):
        raise UserError(
            f"{wanted} is no USB identity",
            "it is not usb:VID:PID or usb:VID:PID:SERIAL with numbers of up to four hexadecimal digits",
            "see dealershoe doctor",
        )
    return (int(vid, 16), int(pid, 16)), serial


def _named(wanted: str, ports: Ports) -> list[Listed]:
    kind, serial = _identity(wanted)
    return [p for p in ports.listed() if (p.usb.vid, p.usb.pid) == kind and (not serial or p.usb.serial == serial)]


def _only(found: list[Listed], ports: Ports, none: str, name: str) -> Address:
    if len(found) == 1:
        return Address(found[0].path, found[0].usb)
    if found:
        raise UserError(
            f"{len(found)} ports could be the shoe: {'; '.join(map(str, found))}".replace("; ", " and "),
            "more than one USB serial adapter is plugged in",
            f"name the right one with {name}",
        )
    for usb in ports.bootloaders():
        raise UserError(
            f"{BOOTLOADERS[usb.vid, usb.pid]} is plugged in, but in its boot loader",
            "BOOTSEL was held, or it has no firmware",
            "unplug it and plug it in again; if it stays so, give it firmware",
        )
    raise UserError(none, "it is not plugged in or has no power", "plug it in or name its port with --port")


def locate(address: Address, ports: Ports | None = None) -> str:
    """The path where the shoe of `address` is now. Raises PortLost when its USB part is not there, or not for sure."""
    usb = address.usb
    if usb is None:
        return address.path
    ports = ports or Ports()
    found = [port for port in ports.listed() if port.usb.same(usb)]
    if len(found) > 1:  # parts without a serial number: the one that is where it was
        found = [port for port in found if port.usb.hub == usb.hub] or found
    if len(found) == 1:
        return found[0].path
    if found:
        raise PortLost(
            f"{len(found)} ports could be the shoe: {' and '.join(map(str, found))}; they have no serial numbers; "
            "unplug the others, or plug the shoe in where it was"
        )
    for boot in ports.bootloaders():
        if boot.hub == usb.hub:
            raise PortLost(
                f"the shoe's board ({usb}) is in its boot loader; it was reset with BOOTSEL held or its firmware is "
                "gone; unplug it and plug it in again"
            )
    raise PortLost(f"the shoe ({usb}) is not plugged in; it was unplugged or lost power; plug it in again")


def holders(path: str, roots: Roots | None = None) -> list[str]:
    """Processes that hold `path` open, "1234 (minicom)", as far as this user may see (Linux; elsewhere empty).

    Not who has made it, if it is a pty: an emulated shoe holds both ends of its own.
    """
    found = {}
    real = os.path.realpath(path)
    for entry in (roots or Roots()).proc.glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.path.realpath(entry) == real:
                process = entry.parents[1]
                found[int(process.name)] = _text(process / "comm")
    found.pop(os.getpid(), None)
    for maker in _makers(real, roots or Roots(), found):
        del found[maker]
    return [f"{pid} ({name})" if name else str(pid) for pid, name in sorted(found.items())]


def _makers(real: str, roots: Roots, processes: Iterable[int]) -> list[int]:
    """Those of the processes that hold the other end of the pty at `real` (proc(5): fdinfo, "tty-index")."""
    if not _PTS.fullmatch(real):
        return []
    index = f"tty-index:\t{os.path.basename(real)}"
    return [
        process
        for process in processes
        if any(index in _text(info).splitlines() for info in (roots.proc / str(process) / "fdinfo").glob("*"))
    ]
