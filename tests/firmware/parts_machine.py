"""Drivers on part models, in this process: a `machine` whose I2C is a bus of models and whose pins do as told."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from dealershoe.emulate.parts.i2c import Bus


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
