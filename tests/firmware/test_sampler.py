"""The sampler's ring: samples in order over its end, an overrun counted and skipped, a new start after 14.9 hours."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest


class Dma:
    """A channel as the RP2040 has it: writes the ring on and counts down; `store` is what the state machine pushes."""

    def __init__(self) -> None:
        self.count = 0
        self._at = 0
        self._ring: Any = None

    def pack_ctrl(self, **fields: int) -> int:
        assert fields["size"] == 2
        assert fields["ring_sel"]
        return 0

    def config(self, *, read: Any, write: Any, count: int, ctrl: int, trigger: bool) -> None:
        self._ring, self.count, self._at = write, count, 0

    def active(self) -> bool:
        return self.count > 0

    def store(self, samples: bytes) -> None:
        assert len(samples) % 4 == 0
        for sample in samples:
            self._ring[self._at % len(self._ring)] = sample
            self._at += 1
        self.count -= len(samples) // 4


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> Any:
    rp2, machine, uctypes = (ModuleType(name) for name in ("rp2", "machine", "uctypes"))
    nothing: Any = type("Nothing", (), {"__init__": lambda *_, **__: None, "active": lambda *_: None})
    vars(rp2).update(
        PIO=type("PIO", (), {"SHIFT_RIGHT": 1, "JOIN_RX": 2}),
        asm_pio=lambda **_: lambda body: body,
        StateMachine=nothing,
        DMA=Dma,
    )
    vars(machine).update(Pin=type("Pin", (nothing,), {"IN": 0}))
    vars(uctypes).update(addressof=lambda memory: 0x20001234)
    for module in (rp2, machine, uctypes):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "drivers.sampler", raising=False)
    drivers: Any = import_module("drivers.sampler")
    monkeypatch.delitem(sys.modules, "drivers.sampler")
    return drivers


def read(part: Any, size: int = 256) -> bytes:
    buffer = bytearray(size)
    return bytes(buffer[: part.readinto(buffer)])


def test_samples_come_in_order_over_the_end_of_the_ring(sampler: Any) -> None:
    part = sampler.Sampler(10)
    number = 0
    for size in (4, 40, 1000, 3000, 3996, 400):
        stored = bytes((number + i) % 251 & 0x7F for i in range(size))
        part._dma.store(bytes(sample | 0x80 for sample in stored))  # the eighth pin is masked off
        got = b""
        while piece := read(part, 200):
            got += piece
        assert got == stored
        number += size
    assert (part.lost, part.overruns) == (0, 0)


def test_an_overrun_is_counted_and_the_newest_half_is_kept(sampler: Any) -> None:
    part = sampler.Sampler(10)
    part._dma.store(bytes(100))
    assert read(part) == bytes(100)
    stored = bytes(i // 64 & 0x7F for i in range(5000))
    part._dma.store(stored)
    got = b""
    while piece := read(part):
        got += piece
    assert got == stored[-2048:]
    assert (part.lost, part.overruns) == (5000 - 2048, 1)


def test_after_its_last_word_the_channel_starts_again(sampler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "_WORDS", 50)
    part = sampler.Sampler(10)
    for _ in range(3):
        part._dma.store(bytes(range(100)) * 2)
        assert read(part) == bytes(range(100)) * 2
        assert read(part) == b""  # and here it starts again
        assert part._dma.count == 50
