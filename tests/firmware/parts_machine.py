"""The firmware on part models, in this process: a `machine` whose I2C is a bus of models and whose pins do as told, and
a shoe at a seat bus whose line and nodes are models. For tests."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from dealershoe.emulate.parts.i2c import Bus
from dealershoe.emulate.parts.seatline import BYTE_US, Gate, SeatLine

seats: Any = import_module("shoe.seats")
talk: Any = import_module("node.talk")
gate_module: Any = import_module("node.gate")
SEAT_5 = talk.PLACES.index(5)
US = 20 / 1000  # samples in a microsecond


class Wires:
    """What the pins read (`levels`, 1 where nothing is said) and what was driven on them, in order."""

    def __init__(self) -> None:
        self.levels: dict[int, int] = {}
        self.driven: list[tuple[int, int]] = []
        self.on_drive: Any = None


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, bus: Bus | None, wires: Wires | None = None) -> Any:
    """The module `name` of the firmware, imported over this machine."""
    lines = wires or Wires()

    class Pin:
        IN, OUT, OPEN_DRAIN, PULL_UP, PULL_DOWN = 0, 1, 2, 1, 2

        def __init__(self, number: int, mode: int = -1, pull: int = -1, *, value: int | None = None) -> None:
            self.number, self.mode = number, mode
            if value is not None:
                self(value)

        def __call__(self, *level: int) -> int | None:
            if not level:
                return lines.levels.get(self.number, 1)
            lines.driven.append((self.number, level[0]))
            if lines.on_drive:
                lines.on_drive(self.number, level[0])
            return None

    class I2C:
        def __init__(self, number: int, *, scl: Any, sda: Any, freq: int, timeout: int) -> None:
            assert freq <= 1_000_000  # MB85RC256V, data sheet: operating frequency
            assert bus is not None
            self.writeto = bus.writeto
            self.readfrom_into = bus.readfrom_into

        def readfrom(self, address: int, size: int) -> bytes:
            buffer = bytearray(size)
            self.readfrom_into(address, buffer)
            return bytes(buffer)

    machine = ModuleType("machine")
    vars(machine).update(Pin=Pin, I2C=I2C)
    monkeypatch.setitem(sys.modules, "machine", machine)
    monkeypatch.delitem(sys.modules, name, raising=False)
    module: Any = import_module(name)
    monkeypatch.delitem(sys.modules, name)
    return module


class Told:
    """What the bus tells; cards that are on their way are put in by hand."""

    def __init__(self) -> None:
        self.arrivals: list[tuple[int, int]] = []
        self.open: dict[int, int] = {}  # code → detail, as a host has it
        self.faults: list[int] = []  # details, as they were told
        self.on_the_way = 1 << 30
        self.kept: list[int] = []  # the nodes, whenever they were kept

    def nodes(self) -> int:
        return self.kept[-1] if self.kept else 0

    def keep_nodes(self, nodes: int) -> None:
        self.kept.append(nodes)

    def arrived(self, place: int, way: int) -> int:
        self.arrivals.append((place, way))
        self.on_the_way -= 1
        return 0 if self.on_the_way >= 0 else place

    def fault(self, code: int, detail: int, index: int, another: bool = False) -> None:
        if another or code not in self.open:
            self.open[code] = detail
            self.faults.append(detail)

    def clear(self, code: int, detail: int, index: int) -> None:
        self.open.pop(code, None)


class Table:
    """A shoe, a line and fourteen nodes, in microseconds. A turn of the shoe's loop takes 2 ms."""

    def __init__(self, places: tuple[int, ...] = talk.PLACES) -> None:
        self.gates = {place: Gate() for place in places}
        self.nodes = [talk.Answerer(place, gate) for place, gate in self.gates.items()]
        self.line = SeatLine(self.nodes, talk.TURN_US)
        self.told = Told()
        self.now = 1000
        self.slow = 0  # microseconds for which the shoe keeps its driver on after a question
        self.bus = seats.SeatBus(self, self.told)
        self.damage: Any = None  # what becomes of the bytes that the shoe reads

    # the driver's methods (firmware/drivers/rs485.py)

    def ask(self, frame: Any) -> None:
        self.line.drive(1, self.now)
        self.line.write(bytes(frame), self.now)
        self.now += len(frame) * BYTE_US + self.slow
        self.line.drive(0, self.now)

    def any(self) -> int:
        return self.line.any(self.now)

    def readinto(self, buffer: Any) -> int:
        data = self.line.read(len(buffer), self.now)
        data = self.damage(data) if self.damage else data
        buffer[: len(data)] = data
        return len(data)

    def run(self, ms: int, may_ask: bool = True) -> Table:
        for _ in range(ms // 2):
            self.now += 2000
            self.bus.turn(int(self.now * US) & 0x3FFFFFFF, may_ask)
        return self

    def up(self) -> Table:
        return self.up_to(len(talk.PLACES))

    def up_to(self, count: int) -> Table:
        self.run(600)
        assert sum(self.bus.known) == count
        assert self.told.open == {}
        return self
