"""A bad line between a host program and a shoe: a real port for the host, the shoe's own port behind it.

>>> with FaultyLine(shoe.port, seed=7) as line:      # doctest: +SKIP
...     port = serial.Serial(line.port)
...     line.faults(loss=0.2, bit_error=0.05)        # of each direction; to="host" or to="shoe" for one
...     line.silence(to="host")                      # the host hears nothing, the shoe hears all
...     line.disconnect(); line.reconnect()          # the port goes away and is another one under the same name
"""

from __future__ import annotations

import contextlib
import os
import select
import tempfile
import threading
import time
import tty
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from dealershoe.bench.faults import Faults, Wire
from dealershoe.errors import UserError

To = Literal["host", "shoe"] | None
FAULTS = tuple(field.name for field in fields(Faults))
DEADLINE_S = 20.0  # until a wait gives up; a busy test machine is slow, not wrong


class FaultyLine:
    """A context manager. `port` is what the host opens; it stays the same name while the pty behind it changes."""

    def __init__(self, shoe_port: str, seed: int = 0) -> None:
        self.seed = seed
        self.to_host, self.to_shoe = Wire("to host", seed), Wire("to shoe", seed)
        self.connected = False
        self._shoe_port = shoe_port
        self._folder = tempfile.TemporaryDirectory(prefix="dealershoe-line-")
        self.port = str(Path(self._folder.name, "shoe"))
        self._lock = threading.RLock()
        self._shoe = self._master = self._slave = -1
        self._ending = False
        self._error: BaseException | None = None
        self._wake = (-1, -1)
        self._thread = threading.Thread(target=self._run, name="faulty line", daemon=True)

    def __enter__(self) -> Self:
        self._wake = os.pipe()
        self._shoe = os.open(self._shoe_port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._shoe)
        self.reconnect()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending = True
        self._stir()
        self._thread.join()
        self.disconnect()
        for fd in (self._shoe, *self._wake):
            os.close(fd)
        self._folder.cleanup()
        if error is None:
            self.check()

    def check(self) -> None:
        """Raise what ended the line's thread, if something did."""
        if self._error is not None:
            raise RuntimeError(f"the faulty line has failed: {self._error!r}") from self._error

    # ---- faults

    def faults(self, *, to: To = None, **shares: float) -> None:
        """From now on these faults and no others: see `Faults` for their names. `to`: one direction only.

        Raises UserError for a name, a value or an end that there is not; the faults are then as before.
        """
        unknown = sorted(shares.keys() - set(FAULTS))
        if unknown:
            raise UserError(f"a line has no fault {', '.join(unknown)}", "", f"its faults are {', '.join(FAULTS)}")
        faults = Faults(**shares)
        with self._lock:
            for wire in self._wires(to):
                wire.faults = faults

    def silence(self, *, to: To = None) -> None:
        """Nothing more arrives at one end, or at either."""
        with self._lock:
            for wire in self._wires(to):
                wire.silent = True
                wire.cut()

    def speak(self, *, to: To = None) -> None:
        """The end of a silence."""
        with self._lock:
            for wire in self._wires(to):
                wire.silent = False

    def disconnect(self) -> None:
        """The host's port goes away, as when its plug is pulled; what is under way is lost."""
        with self._lock:
            if not self.connected:
                return
            self.connected = False
            self.to_host.cut()
            self.to_shoe.cut()
            os.unlink(self.port)
            for fd in (self._master, self._slave):
                os.close(fd)
            self._master = self._slave = -1
        self._stir()

    def reconnect(self) -> None:
        """The port is there again: another pty under the same name."""
        with self._lock:
            if self.connected:
                return
            self._master, self._slave = os.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            os.symlink(os.ttyname(self._slave), self.port)
            self.connected = True
        self._stir()

    @property
    def log(self) -> list[str]:
        """Every fault so far, by direction and number of the frame."""
        with self._lock:
            return [*self.to_host.log, *self.to_shoe.log]

    def wait_for(self, condition: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> None:
        """Wait until `condition` holds. Raises TimeoutError with the seed and the last faults."""
        until = time.monotonic() + deadline_s
        while not condition():
            self.check()
            if time.monotonic() > until:
                raise TimeoutError(f"waited {deadline_s:.0f} s for: {what} (seed {self.seed}, faults {self.log[-5:]})")
            time.sleep(0.002)

    def _wires(self, to: To) -> tuple[Wire, ...]:
        ends = {"host": (self.to_host,), "shoe": (self.to_shoe,)}
        if to is None:
            return self.to_host, self.to_shoe
        if to not in ends:
            raise UserError(f"a line has no end {to!r}", "", 'say to="host", to="shoe", or nothing for both directions')
        return ends[to]

    # ---- the thread

    def _stir(self) -> None:
        os.write(self._wake[1], b"!")

    def _run(self) -> None:
        try:
            while not self._ending:
                self._turn()
        except BaseException as error:
            self._error = error

    def _turn(self) -> None:
        with self._lock:
            now = time.monotonic() * 1_000
            waits = [wait for wire in (self.to_host, self.to_shoe) if (wait := wire.wait(now)) is not None]
            reads = [self._shoe, self._wake[0]] + [self._master] * self.connected
        ready, _, _ = select.select(reads, [], [], min(waits) / 1_000 if waits else None)
        if self._wake[0] in ready:
            os.read(self._wake[0], 64)
        with self._lock:
            now = time.monotonic() * 1_000
            from_shoe = _read(self._shoe)
            self.to_shoe.send(_read(self._master) if self.connected else b"", now)
            if self.connected:
                self.to_host.send(from_shoe, now)
                _write(self._master, self.to_host.arrived(now))
            _write(self._shoe, self.to_shoe.arrived(now))


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 4_096)
    except OSError:  # nothing there, or the other end is not open
        return b""


def _write(fd: int, data: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody reads: lost, as on a wire
        while data:
            data = data[os.write(fd, data) :]
