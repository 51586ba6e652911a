"""The serial port of a shoe, for the bridge's thread: the only file that knows pyserial.

Opened for one owner, read as soon as bytes are there, and lost without drama: every failure of the port, whichever call
met it, is a `PortLost`, and looking for the same shoe again is the normal path.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path

import serial
from serial.tools import list_ports

from dealershoe.errors import UserError

try:
    import fcntl
    import termios
except ImportError:  # Windows opens every port exclusively
    fcntl = None  # type: ignore[assignment]

PTYS = ("/dev/pts/", "/dev/ttys")  # Linux, macOS
BAUD = 115_200  # UART0 of the shoe; a pty and USB ignore it
PENDING_LIMIT = 4_096  # bytes not yet taken by the port: beyond it the peer does not read, and the link repeats anyway
CHUNK = 4_096  # bytes taken in one read
POLL_S = 0.005  # where no descriptor can be waited for
RASPBERRY_PI = 0x2E8A
BOOTLOADERS = {(RASPBERRY_PI, 0x0003), (RASPBERRY_PI, 0x000F)}  # RP2040 and RP2350 in BOOTSEL mode
# USB identities a shoe's port can have: the Pico itself, FTDI, Silicon Labs CP210x, WCH CH34x
VENDORS = {RASPBERRY_PI, 0x0403, 0x10C4, 0x1A86}
# What pyserial raises; TypeError: its descriptor is None once the port is closed
ERRORS = (serial.SerialException, OSError, TypeError, ValueError)


class PortLost(Exception):  # noqa: N818 - an event of every night, the normal path back
    """The port has gone, or cannot be opened now. The text says what was seen."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a shoe is found: a path, and the serial number of its USB part where there is one (names change, S04)."""

    path: str
    usb_serial: str | None = None


def find(wanted: str) -> Address:
    """The address of the shoe at `wanted`, a path or "auto". Raises UserError when there is none or more than one."""
    listed = list(list_ports.comports())
    if wanted != "auto":
        for port in listed:
            if port.device == wanted:
                return Address(wanted, port.serial_number)
        return Address(wanted)
    found = [port for port in listed if port.vid in VENDORS and (port.vid, port.pid) not in BOOTLOADERS]
    if len(found) == 1:
        return Address(found[0].device, found[0].serial_number)
    if found:
        raise UserError(
            f"{len(found)} ports could be the shoe: {', '.join(port.device for port in found)}",
            "more than one USB serial adapter is plugged in",
            "name the right one with --port",
        )
    if any((port.vid, port.pid) in BOOTLOADERS for port in listed):
        raise UserError(
            "a Pico is plugged in, but in its boot loader", "BOOTSEL was held", "unplug it and plug it in again"
        )
    raise UserError(
        "no shoe was found on any USB port",
        "it is not plugged in or has no power",
        "plug it in or name its port with --port",
    )


def locate(address: Address) -> str:
    """The path where the shoe of `address` is now: by the serial number of its USB part, else the path as it was."""
    if address.usb_serial is not None:
        for port in list_ports.comports():
            if port.serial_number == address.usb_serial and (port.vid, port.pid) not in BOOTLOADERS:
                return str(port.device)
    return address.path


def holders(path: str) -> list[int]:
    """Process ids that hold `path` open, as far as this user may see (Linux; elsewhere empty)."""
    found = set()
    real = os.path.realpath(path)
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if os.path.realpath(entry) == real:
                found.add(int(entry.parts[2]))
    return sorted(found - {os.getpid()})


class Port:
    """An open port. `read` and `write` never block; `wait` waits for bytes or for `wake`."""

    def __init__(self, path: str) -> None:
        """Open `path` for one owner. Raises PortLost with the reason when that fails."""
        self.path = path
        self._pending = bytearray()
        self.dropped = 0  # bytes given up because the peer did not read
        try:
            self._serial = serial.Serial(path, BAUD, timeout=0, write_timeout=0, exclusive=True)
        except ERRORS as error:
            raise PortLost(_why(path, error)) from error
        try:
            self._claim()
            self._fd: int | None = self._serial.fileno() if fcntl is not None else None
        except ERRORS as error:
            self.close()
            raise PortLost(_why(path, error)) from error

    def _claim(self) -> None:
        # flock is advisory, TIOCEXCL does not bind root: both (S10). But on a pty whose maker keeps it open, TIOCEXCL
        # would outlive a killed owner.
        if fcntl is not None and not os.path.realpath(self.path).startswith(PTYS):
            fcntl.ioctl(self._serial.fileno(), termios.TIOCEXCL)
        # an FTDI adapter holds bytes back for 16 ms otherwise
        with contextlib.suppress(AttributeError, NotImplementedError, *ERRORS):
            self._serial.set_low_latency_mode(True)

    def wait(self, timeout_s: float, wake: int | None) -> bool:
        """Wait for bytes, for room to write what is pending, or for `wake`: is `wake` readable? Raises PortLost."""
        if self._fd is None:
            deadline = time.monotonic() + timeout_s
            while not self._serial.in_waiting and time.monotonic() < deadline:
                time.sleep(min(POLL_S, timeout_s))
            return True
        reads = [self._fd] if wake is None else [self._fd, wake]
        try:
            readable, _, _ = select.select(reads, [self._fd] if self._pending else [], [], timeout_s)
        except ERRORS as error:
            raise PortLost(_why(self.path, error)) from error
        return wake in readable

    def read(self) -> bytes:
        """What has arrived, perhaps nothing. Raises PortLost."""
        try:
            return bytes(self._serial.read(CHUNK))
        except ERRORS as error:
            raise PortLost(_why(self.path, error)) from error

    def write(self, data: bytes) -> None:
        """Hand over `data`, and what was left of earlier calls. Raises PortLost."""
        self._pending += data
        try:
            written = 0
            if self._pending and self._writable():
                written = self._serial.write(bytes(self._pending)) or 0
        except ERRORS as error:
            raise PortLost(_why(self.path, error)) from error
        del self._pending[:written]
        if len(self._pending) > PENDING_LIMIT:
            self.dropped += len(self._pending)
            self._pending.clear()

    def _writable(self) -> bool:
        """Is there room? (pyserial 3.5 turns in a loop when a write without time-out finds none.)"""
        return self._fd is None or bool(select.select([], [self._fd], [], 0)[1])

    def close(self) -> None:
        """Close at once, so that the system can give the same name to the shoe when it comes back (S05)."""
        with contextlib.suppress(*ERRORS):
            if fcntl is not None:
                fcntl.ioctl(self._serial.fileno(), termios.TIOCNXCL)
        with contextlib.suppress(*ERRORS):
            self._serial.close()


def _why(path: str, error: Exception) -> str:
    number = getattr(error, "errno", None)
    text = str(error)
    if number == 2 or "No such file" in text:
        return f"there is no port {path}; the shoe is unplugged or has another name; plug it in or try --port auto"
    if number in (11, 16) or "exclusively lock" in text or "busy" in text:
        who = holders(path)
        by = f" by process {', '.join(map(str, who))}" if who else ""
        return f"the port {path} is held{by}; another program speaks to this shoe; stop it, one host owns a shoe"
    if number == 13 or "Permission denied" in text:
        return (
            f"the port {path} may not be opened; this user lacks the right; join the group that owns it (often dialout)"
        )
    if number == 25 or "Inappropriate ioctl" in text or "Could not configure" in text:
        return f"{path} is not a serial port; the path names something else; try --port auto"
    return f"the port {path} was lost ({text}); the shoe was unplugged or lost power; plug it in again"
