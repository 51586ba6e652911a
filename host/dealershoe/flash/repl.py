"""The raw REPL of a board on a serial port, with mpremote's transport; every failure is a UserError or `Lost`."""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import os
import struct
import time
from collections.abc import Iterator
from typing import Any

import serial
from mpremote.transport import TransportError, TransportExecError
from mpremote.transport_serial import SerialTransport

from dealershoe.errors import UserError

LISTEN_S = 1.0  # for an answer to Ctrl-C
REPLY_S = 10.0  # between two characters of an answer; emptying a folder takes the Pico seconds
CHUNK = 1024  # bytes of a file in one command
# RP2040 datasheet 4.7.6 and 2.1.2: WATCHDOG CTRL, bit 30 ENABLE, through the alias that clears bits. A shoe that was
# interrupted feeds no watchdog, and MicroPython has no way to stop one.
STOP_WATCHDOG = "import machine\nmachine.mem32[0x4005B000] = 1 << 30"


class Lost(Exception):  # noqa: N818 (as PortLost)
    """The board answers no more."""


def open_port(path: str) -> serial.Serial:
    """The port, for this program alone; else a sentence that says why not."""
    try:
        return serial.Serial(path, 115_200, timeout=0, exclusive=True)
    except (serial.SerialException, OSError) as error:
        if error.errno == errno.ENOENT:
            raise UserError(
                f"there is no port {path}", "no board is plugged in, or it has another name",
                "plug the Pico's USB in and look with `dealershoe doctor`",
            ) from error  # fmt: skip
        if error.errno in (errno.EACCES, errno.EPERM):
            raise UserError(f"{path} may not be opened", "your user has no right to serial ports",
                            "add it to the group that owns the port (often dialout)") from error  # fmt: skip
        if error.errno in (errno.EBUSY, errno.EAGAIN):
            raise UserError(f"{path} is in use", "a bridge, a terminal or another flash has it open",
                            "end that program and flash again") from error  # fmt: skip
        why = os.strerror(error.errno) if error.errno else "it has no speed to set"
        raise UserError(
            f"{path} is no serial port ({why})",
            "it is a file, a folder or another device, or what was behind it is gone",
            "give the port of the Pico's USB, or auto; `dealershoe doctor` names the ports",
        ) from error


def greet(path: str) -> None:
    """Interrupt whatever runs and see that a MicroPython prompt answers; a sentence for whatever else does."""
    heard = b""
    with open_port(path) as port:
        try:
            port.write(b"\r\x03\x03\r\x02")
            until = time.monotonic() + LISTEN_S
            while time.monotonic() < until and b">>> " not in heard:
                heard += port.read(4096)
                time.sleep(0.01)
        except (serial.SerialException, OSError) as error:
            raise UserError(
                f"what is on {path} was lost as it was spoken to", "it was unplugged, or it starts again and again",
                "plug the Pico's USB in and flash again",
            ) from error  # fmt: skip
    if b">>> " in heard:
        return
    if not heard:
        raise UserError(
            f"nothing answers on {path}",
            "its program does not heed Ctrl-C (a firmware with the REPL disabled), or it is no MicroPython board",
            "hold BOOTSEL while plugging the Pico in, put MicroPython on it, and flash again",
        )
    if heard.count(0) >= 2:
        raise UserError(
            f"{path} is the shoe's link to its host and has no REPL",
            "the firmware is written through the Pico's USB",
            "give the port of the Pico's USB",
        )
    raise UserError(
        f"what answers on {path} is no MicroPython prompt",
        "another device, or a Pico with other firmware",
        "put MicroPython on the Pico, or give its port",
    )


def full() -> UserError:
    """The disk has no room."""
    return UserError(
        "the Pico's disk is full",
        "files of others lie beside the two versions of the firmware",
        "take them away with mpremote, or erase the flash and flash again; the old version is untouched",
    )


class Transport(SerialTransport):  # type: ignore[misc]  # mpremote has no types
    """mpremote's, with our patience."""

    def read_until(self, min_num_bytes: int, ending: bytes, timeout: float = 10.0, **more: Any) -> bytes:
        return bytes(super().read_until(min_num_bytes, ending, timeout=min(timeout, REPLY_S), **more))


class Repl:
    """A session in the raw REPL. `run` and `ask` raise Lost when the board is gone, UserError when its disk is full."""

    def __init__(self, path: str) -> None:
        self._path = path
        with self._watched():
            self._board = Transport(path, timeout=REPLY_S)
        try:
            with self._watched():
                self._board.enter_raw_repl(soft_reset=False)
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # the transport prints what it did not understand
                yield
        except TransportExecError as error:
            if error.error_output.rstrip().endswith(("ENOSPC", "OSError: 28")):
                raise full() from error
            raise UserError(
                f"the Pico refused a step: {error.error_output.strip().splitlines()[-1]}",
                "its file system is damaged",
                "erase its flash, put MicroPython on it, and flash again",
            ) from error
        except (TransportError, serial.SerialException, OSError, struct.error, TypeError) as error:
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # mpremote's word for the board's
                raise full() from error
            raise Lost(str(error)) from error

    def run(self, code: str) -> None:
        """Execute code on the board."""
        with self._watched():
            self._board.exec(code)

    def ask(self, expression: str) -> Any:
        """The value of an expression on the board. Raises UserError also for an answer that is none."""
        with self._watched():
            said = self._board.exec(f"print(repr({expression}))")
        try:
            return ast.literal_eval(said.decode().strip())
        except (ValueError, SyntaxError) as error:
            raise UserError(
                f"the Pico's answer makes no sense: {said[:40]!r}",
                "something else on it prints (a timer or a second thread of its program), or the line is bad",
                "take its main.py away with mpremote and flash again",
            ) from error

    def write(self, name: str, data: bytes) -> None:
        """A file on the board."""
        with self._watched():
            self._board.fs_writefile(name, data, chunk_size=CHUNK)

    def reset(self) -> None:
        """Start the board anew; the session is over."""
        with contextlib.suppress(TransportError, serial.SerialException, OSError):
            self._board.exec_raw_no_follow("import machine\nmachine.reset()")
        self.close()

    def close(self) -> None:
        """Give the port back."""
        with contextlib.suppress(serial.SerialException, OSError):
            self._board.close()
