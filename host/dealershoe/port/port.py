"""The serial port of a shoe, for the bridge: the only file that opens one with pyserial.

Opened for one owner, read as soon as bytes are there, and lost without drama: every failure of the port, whichever call
met it, is a `PortLost`, and looking for the same shoe again (`identity.locate`) is the normal path.

DTR and RTS are both raised before the port opens and stay so until it closes: a CDC port of MicroPython passes nothing
on without them (S48), and no edge of theirs resets a Pico. What a closing port does: DTR falls, which tells a CDC port
that its host has gone. The speed 1200 Bd, whose falling DTR sends some boards to their boot loader, is never used.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Protocol

import serial

from dealershoe.errors import UserError
from dealershoe.port.identity import Address, PortLost, Ports, Roots, find, holders, locate
from dealershoe.port.ready import BLIND, ready

try:
    import fcntl
    import termios
except ImportError:  # Windows opens every port exclusively
    fcntl = None  # type: ignore[assignment]

PTYS = ("/dev/pts/", "/dev/ttys")  # Linux, macOS
BAUD = 115_200  # UART0 of the shoe; a pty and USB ignore it
LATENCY_MS = 1  # of an FTDI adapter; 16 ms otherwise
PENDING_LIMIT = 4_096  # bytes not yet taken by the port: beyond it the peer does not read, and the link repeats anyway
CHUNK = 4_096  # bytes taken in one read
POLL_S = 0.005  # where no descriptor can be waited for
# What pyserial raises; TypeError: its descriptor is None once the port is closed
ERRORS = (serial.SerialException, OSError, TypeError, ValueError)


Terminal = tuple[int, ...]


def terminal_of(path: str) -> Terminal | None:
    """Which terminal a bare pty is: its number goes to another one as soon as it is gone. None for other ports."""
    if not path.startswith(PTYS) or os.path.islink(path):
        return None
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino, seen.st_rdev, seen.st_ctime_ns  # all but the last stay with the number


def seek(
    address: Address, terminal: Terminal | None, recorder: Listener, ports: Ports | None
) -> tuple[Address, Port] | PortLost:
    """Look for the shoe of `address` and open its port; else why that cannot be. It can take long.

    `terminal`: what was open there before, if it was a bare pty; no other one is touched, it may be somebody's screen.
    """
    try:
        if address.sought:
            address = find(address.path, ports)
        path = locate(address, ports)
        now = terminal_of(path)
        if terminal is not None and now is not None and now != terminal:
            return PortLost(
                f"{path} is another terminal by now; what was there has ended; start it again under a name of its own "
                "(`emulate --link NAME`) and give --port that name"
            )
        return address, Port(path, recorder)
    except PortLost as lost:
        return lost
    except UserError as error:
        return PortLost(str(error))


def latency_timer(path: str, roots: Roots | None = None) -> Path | None:
    """The file that holds an FTDI adapter's latency timer in milliseconds; None for other ports."""
    name = os.path.basename(os.path.realpath(path))
    timer = (roots or Roots()).sys / "class/tty" / name / "device/latency_timer"
    return timer if timer.is_file() else None


class Listener(Protocol):
    """Is told of the bytes that pass."""

    def heard(self, data: bytes) -> None:
        """From the shoe."""

    def sent(self, data: bytes) -> None:
        """To the shoe."""


class Port:
    """An open port. Reading and writing never block; `wait` waits for bytes or for `wake`."""

    def __init__(self, path: str, recorder: Listener | None = None, roots: Roots | None = None) -> None:
        """Open `path` for one owner. `recorder` keeps what passes. Raises PortLost with the reason when that fails."""
        self.path = path
        self.latency_ms: int | None = None  # of an FTDI adapter, as it is now
        self.dropped = 0  # bytes given up because the peer did not read
        self._recorder = recorder
        self._roots = roots or Roots()
        self._pending = bytearray()
        self._serial = serial.Serial(None, BAUD, timeout=0, write_timeout=0, exclusive=True)
        self._serial.port = path
        self._serial.dtr = self._serial.rts = True
        try:
            self._serial.open()
            self._claim()
            self._fd: int | None = self._serial.fileno() if fcntl is not None else None
        except ERRORS as error:
            self.close()
            raise PortLost(_why(path, error)) from error
        self.terminal = terminal_of(path)

    def _claim(self) -> None:
        # flock is advisory, TIOCEXCL does not bind root: both (S10). But on a pty whose maker keeps it open, TIOCEXCL
        # would outlive a killed owner.
        if fcntl is not None and not os.path.realpath(self.path).startswith(PTYS):
            fcntl.ioctl(self._serial.fileno(), termios.TIOCEXCL)
        # the driver's own way needs no right on sysfs, and the file is then as it was set
        with contextlib.suppress(AttributeError, NotImplementedError, *ERRORS):
            self._serial.set_low_latency_mode(True)
        self._hurry()

    def _hurry(self) -> None:
        timer = latency_timer(self.path, self._roots)
        if timer is None:
            return
        with contextlib.suppress(OSError):  # this user may not: the doctor says what to do
            timer.write_text(str(LATENCY_MS))
        with contextlib.suppress(*ERRORS):
            self.latency_ms = int(timer.read_text())

    @property
    def descriptor(self) -> int:
        """What can be waited for; BLIND where nothing can."""
        return BLIND if self._fd is None else self._fd

    @property
    def pending(self) -> int:
        """Bytes that the port has not taken yet."""
        return len(self._pending)

    def wait(self, timeout_s: float, wake: int | None) -> bool:
        """Wait for bytes, for room to write what is pending, or for `wake`: is `wake` readable? Raises PortLost."""
        try:
            if self._fd is None:
                deadline = time.monotonic() + timeout_s
                while not self._serial.in_waiting and time.monotonic() < deadline:
                    time.sleep(min(POLL_S, timeout_s))
                return True
            reads = [self._fd] if wake is None else [self._fd, wake]
            return wake in ready(reads, [self._fd] if self._pending else [], timeout_s)
        except ERRORS as error:
            raise PortLost(_why(self.path, error)) from error

    def read(self) -> bytes:
        """What has arrived, perhaps nothing. Raises PortLost."""
        try:
            data = self._receive()
        except ERRORS as error:
            raise PortLost(_why(self.path, error)) from error
        if data and self._recorder is not None:
            self._recorder.heard(data)
        return data

    def _receive(self) -> bytes:
        if self._fd is None:
            return bytes(self._serial.read(CHUNK))
        # Not pyserial's read: its `select` refuses descriptors above 1,023, which a host of a hundred shoes has.
        descriptor = self._serial.fileno()  # raises once the port is closed
        for _ in range(2):  # what was not there when it was read may be there when it is asked whether there is any
            try:
                data = os.read(descriptor, CHUNK)
            except BlockingIOError:
                return b""
            if data or not ready((descriptor,), (), 0):
                return data
        raise serial.SerialException("it is ready to read and gives nothing")  # what a disconnected device does

    def write(self, data: bytes) -> None:
        """Hand over `data`, and what was left of earlier calls. Raises PortLost."""
        self._pending += data
        if data and self._recorder is not None:
            self._recorder.sent(data)
        try:
            written = self._send() if self._pending else 0
        except ERRORS as error:
            raise PortLost(_why(self.path, error)) from error
        del self._pending[:written]
        if len(self._pending) > PENDING_LIMIT:
            self.dropped += len(self._pending)
            self._pending.clear()

    def _send(self) -> int:
        """(Not pyserial's write where there is a descriptor: 3.5 turns in a loop when one without time-out finds no
        room.)"""
        if self._fd is None:
            return int(self._serial.write(bytes(self._pending)) or 0)
        try:
            return os.write(self._serial.fileno(), self._pending)
        except BlockingIOError:
            return 0

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
        by = f" by process {', '.join(who)}" if who else ""
        return f"the port {path} is held{by}; another program speaks to this shoe; stop it, one host owns a shoe"
    if number == 13 or "Permission denied" in text:
        return (
            f"the port {path} may not be opened; this user lacks the right; join the group that owns it (often dialout)"
        )
    if number == 6:
        return f"there is nothing behind {path}; the shoe is unplugged, or it is no port; plug it in or try --port auto"
    if number == 25 or "Inappropriate ioctl" in text or "Could not configure" in text:
        return f"{path} is not a serial port; the path names something else; try --port auto"
    return f"the port {path} was lost ({text}); the shoe was unplugged or lost power; plug it in again"
