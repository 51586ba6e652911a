"""The driver of the PN5180 on the model of the part, in this process and in virtual time; and the tags' own logic above
it. For tests.

Every look at a pin and every frame takes its time, as on a Pico: so what `step` may wait for shows in microseconds.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import Fram
from dealershoe.emulate.parts.pn5180 import Pn5180 as Part
from dealershoe.emulate.parts.pn5180 import uid_of

SCK, MOSI, MISO, NSS, BUSY, RESET = 2, 3, 4, 5, 6, 7  # hardware/board.toml
LOOK_US, DRIVE_US, BYTE_US = 5, 5, 2  # a pin from MicroPython; eight bits at 4 MHz
TURN_US = 1500  # of the loop, while a card passes
SAMPLE_US = 50
STEPS = 3  # in a turn (rfid/loop.py)
UID = uid_of(0x00C0FFEE)
OTHER = uid_of(0x00C0FFEF)


class Bench:
    """`turn` is one turn of the loop, `run` so many of its milliseconds. `longest_us`: the longest step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.part = Part()
        self.us = 0
        self.nss = 1
        self.resets = 0
        self.longest_us = 0
        self.results: list[tuple[int, bytes]] = []
        self.troubles: set[int] = set()  # that the driver has named
        bench = self

        class Pin:
            IN, OUT, PULL_UP, PULL_DOWN = 0, 1, 1, 2

            def __init__(self, number: int, mode: int = -1, pull: int = -1, *, value: int | None = None) -> None:
                self.number = number
                if value is not None:
                    self(value)

            def __call__(self, *level: int) -> int | None:
                if not level:
                    bench.us += LOOK_US
                    assert self.number == BUSY
                    return bench.part.busy(bench.us)
                bench.us += DRIVE_US
                if self.number == NSS:
                    bench.nss = level[0]
                    bench.part.select(level[0], bench.us)
                else:
                    assert self.number == RESET
                    bench.resets += level[0]
                    bench.part.reset(level[0], bench.us)
                return None

        class SPI:
            def __init__(self, number: int, *, baudrate: int, polarity: int, phase: int, **pins: Any) -> None:
                assert (number, polarity, phase) == (0, 0, 0)
                assert baudrate <= 7_000_000  # 11.4.1
                assert {name: pin.number for name, pin in pins.items()} == {"sck": SCK, "mosi": MOSI, "miso": MISO}

            def write(self, data: bytes) -> None:
                for byte in data:
                    bench.us += BYTE_US
                    bench.part.transfer(byte, bench.us)

            def readinto(self, buffer: Any, write: int) -> None:
                for i in range(len(buffer)):
                    bench.us += BYTE_US
                    buffer[i] = bench.part.transfer(write, bench.us)

        machine = ModuleType("machine")
        vars(machine).update(Pin=Pin, SPI=SPI)
        for name in ("drivers.pn5180", "rfid.tags"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, "machine", machine)
        micropython = ModuleType("micropython")
        vars(micropython)["const"] = lambda value: value
        monkeypatch.setitem(sys.modules, "micropython", micropython)
        self.driver: Any = import_module("drivers.pn5180")
        monkeypatch.delitem(sys.modules, "micropython")
        self.tags_module: Any = import_module("rfid.tags")
        for name in ("drivers.pn5180", "rfid.tags"):
            monkeypatch.delitem(sys.modules, name)
        self.reader: Any = self.driver.Pn5180(0, SCK, MOSI, MISO, NSS, BUSY, RESET)

    @property
    def now(self) -> int:
        """The sample index."""
        return self.us // SAMPLE_US & 0x3FFFFFFF

    def step(self) -> None:
        before = self.reader.inventories
        for _ in range(STEPS):
            step_begun = self.us
            self.reader.step(self.now)
            self.longest_us = max(self.longest_us, self.us - step_begun)
        self.troubles |= {self.reader.trouble} - {self.driver.WELL}
        if self.reader.inventories != before:
            self.results.append((self.reader.found, bytes(self.reader.uid)))

    def turn(self, asking: bool = True) -> None:
        if asking and self.reader.ready:
            self.reader.ask()
        self.step()
        self.us += TURN_US

    def run(self, ms: float, asking: bool = True) -> Bench:
        until = self.us + ms * 1000
        while self.us < until:
            self.turn(asking)
        return self

    def up(self) -> Bench:
        self.run(100, asking=False)
        assert self.reader.ready
        assert self.reader.trouble == self.driver.WELL
        return self

    def enter(self, uid: bytes = UID) -> Bench:
        self.part.enter(uid, self.us)
        return self

    def leave(self, uid: bytes = UID) -> Bench:
        self.part.leave(uid, self.us)
        return self

    def found(self) -> list[int]:
        """What the inventories have found since this was asked last."""
        told = [found for found, _ in self.results]
        self.results.clear()
        return told


class Told:
    """Takes the faults, as a host has them."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}  # code → detail
        self.faults: list[tuple[int, int]] = []
        self.tags: Any = None

    def fault(self, code: int, detail: int, index: int) -> None:
        if code not in self.open:
            self.open[code] = detail
            self.faults.append((code, detail))

    def clear(self, code: int, detail: int, index: int) -> None:
        self.open.pop(code, None)


class Shoe:
    """A bench with the tags' logic and a table in FRAM; cards go by with their tags as they would at 1 m/s."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fram: Fram | None = None) -> None:
        self.bench = Bench(monkeypatch)
        self.fram = fram or Fram()
        self.told = Told()
        table: Any = import_module("rfid.table")
        self.table = table.TagTable(Memory(self.fram))
        self.tags = self.bench.tags_module.Tags(self.bench.reader, self.table, self.told)
        self.part = self.bench.part

    def run(self, ms: float, idle: bool = True) -> Shoe:
        bench = self.bench
        until = bench.us + ms * 1000
        while bench.us < until:
            self.tags.look(bench.now, idle, STEPS)
            if idle:
                self.tags.turn(bench.now, True)
            bench.us += TURN_US
        return self

    def up(self) -> Shoe:
        self.run(300)
        assert self.tags.met
        assert self.told.open == {}
        return self

    def card(
        self,
        *uids: bytes,
        card: int = 51,
        deck: int = 0,
        read: bool = True,
        down: bool = True,
        erasures: int = 0,
        double: bool = False,
        field_ms: float = 25,
    ) -> int:
        """A card passes, with these tags: what the tags say of it when it has left."""
        cardcode: Any = import_module("shoe.cardcode")
        self.run(60, False)
        for uid in uids:
            self.bench.enter(uid)
        self.run(field_ms, False)
        for uid in uids:
            self.bench.leave(uid)
        self.run(2, False)
        reading = SimpleNamespace(
            result=cardcode.READ if read else cardcode.UNREAD, card=card, deck=deck, erasures=erasures
        )
        place: int = self.tags.passed(reading, down, double, self.bench.now)
        self.run(150)
        return place


class Memory:
    """The FRAM's driver over the model of the part (`drivers/fram.py` has tests of its own)."""

    def __init__(self, fram: Fram) -> None:
        self.fram = fram

    def _address(self, first: int, second: int) -> None:
        if not self.fram.connect(0x50, False):
            raise OSError(5)
        self.fram.write(first)
        self.fram.write(second)

    def write(self, message: bytes) -> None:
        self._address(message[0], message[1])
        for byte in message[2:]:
            self.fram.write(byte)
        self.fram.stop()

    def read_into(self, address: int, buffer: Any) -> None:
        self._address(address >> 8, address & 0xFF)
        self.fram.connect(0x50, True)
        for i in range(len(buffer)):
            buffer[i] = self.fram.read()
        self.fram.stop()
