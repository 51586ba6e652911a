"""`dealershoe flash` through the REPL of an emulated RP2040 with stock MicroPython, from a blank disk to a version.

Wants MicroPython for the Pico: see tests/hil/test_pico.py.
"""

from __future__ import annotations

import os
import pty
import select
import threading
import tty
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dealershoe.flash import build, command, repl
from flash.test_flash import HELLO, version
from flash.test_pico_start import slot_of
from hil import emulated_pico
from hil.emulated_pico import EmulatedPico, file_system
from rp2040py.usb.cdc import USBCDC
from shoelink import schema
from shoelink.frame import Decoder

UF2 = os.environ.get("HIL_PICO_UF2", "")
pytestmark = pytest.mark.skipif(
    not UF2, reason="no MicroPython for the Pico: download RPI_PICO .uf2 from micropython.org and set HIL_PICO_UF2"
)


class Plugged:
    """The emulated board's USB as a port of this machine: a thread runs the board and carries the bytes."""

    def __init__(self, board: EmulatedPico, usb: Any) -> None:
        self._board, self._usb = board, usb
        self._outer, self._inner = pty.openpty()
        tty.setraw(self._inner)
        self.port = os.ttyname(self._inner)
        self._pending = bytearray()
        self._taken = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def _live(self) -> None:
        self._board.run(self._carry, emulated_s=1e6, wall_s=550)

    def _carry(self) -> bool:
        if select.select([self._outer], [], [], 0)[0]:
            self._pending += os.read(self._outer, 4096)
        while self._pending and not self._usb.tx_fifo.full:
            self._usb.send_serial_byte(self._pending.pop(0))
        said = bytes(self._board.console[self._taken :])
        if said:
            os.write(self._outer, said)
            self._taken += len(said)
        return self._ends.is_set()

    def unplug(self) -> None:
        self._ends.set()
        self._thread.join()
        os.close(self._outer)
        os.close(self._inner)


def test_flash_through_the_repl_of_the_emulated_pico(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usb: list[USBCDC] = []

    class Kept(USBCDC):
        def __init__(self, controller: Any) -> None:
            super().__init__(controller)
            usb.append(self)

    monkeypatch.setattr(emulated_pico, "USBCDC", Kept)
    (tmp_path / "disk").mkdir()
    board = EmulatedPico(Path(UF2), file_system(tmp_path / "disk"))
    board.run(lambda: False, emulated_s=1.5)  # it has started, and its USB is there
    monkeypatch.setattr(build, "sources", lambda _variant: version(tmp_path, HELLO.format(version="one")))
    monkeypatch.setattr(repl, "LISTEN_S", 60.0)  # the emulated processor takes thirty times as long
    monkeypatch.setattr(repl, "REPLY_S", 120.0)
    monkeypatch.setattr(command, "PATIENCE_S", 20.0)
    plugged = Plugged(board, usb[0])
    try:
        result = CliRunner().invoke(command.command, ["--port", plugged.port, "--keys", str(tmp_path / "keys.json")])
    finally:
        plugged.unplug()
    assert result.exit_code == 0, (result.output, result.exception, board.console[-2000:])
    assert "kept: firmware" in result.output
    assert slot_of(board) == "a"
    hellos = [frame[4] for frame in Decoder().feed(bytes(board.sent)) if frame[0] == schema.HELLO]
    assert hellos[0] == b"one"
