"""Drivers of parts that only listen, by what they put on their pins: light bar, piezo, the seat bus's driver."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from dealershoe.emulate import process

HAL = Path(process.__file__).parent / "hal"
BIT_NS = 1250  # WS2812B, data transfer time TH + TL
SLACK_NS = 150
BYTE_US = 87  # 115,200 Bd 8N1


class Pin:
    """Remembers what is driven on each pin, with the time."""

    IN, OUT = 0, 1
    driven: list[tuple[int, int, int]] = []  # noqa: RUF012 (one list for all pins of a test)
    now = 0

    def __init__(self, number: int, mode: int = -1, *, value: int | None = None) -> None:
        self.number = number
        if value is not None:
            self(value)

    def __call__(self, level: int) -> None:
        Pin.driven.append((Pin.now, self.number, level))


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made: Any = ModuleType("machine")
    Pin.driven, Pin.now = [], 0
    made.Pin = Pin
    monkeypatch.setitem(sys.modules, "machine", made)
    yield made
    for name in ("drivers.ws2812", "drivers.piezo", "drivers.rs485", "drivers.ladder"):
        sys.modules.pop(name, None)


def driver(name: str) -> Any:
    sys.modules.pop(name, None)
    return import_module(name)


# ---- the light bar


class Chain:
    """Eight WS2812B: pulses in, colours out, by the data sheet's times (Worldsemi WS2812B, T0H 0.4, T1H 0.8 µs)."""

    def __init__(self) -> None:
        self.shows: list[list[tuple[int, int, int]]] = []  # red, green, blue of each lamp, after each write

    def bitstream(self, pin: Any, encoding: int, timing: tuple[int, int, int, int], data: Any) -> None:
        assert encoding == 0  # high, then low
        high0, low0, high1, low1 = timing
        assert abs(high0 - 400) <= SLACK_NS
        assert abs(high1 - 800) <= SLACK_NS
        assert abs(high0 + low0 - BIT_NS) <= 2 * SLACK_NS
        assert abs(high1 + low1 - BIT_NS) <= 2 * SLACK_NS
        bits = [byte >> bit & 1 for byte in data for bit in range(7, -1, -1)]  # the highest bit first
        words = [int("".join(map(str, bits[at : at + 24])), 2) for at in range(0, len(bits), 24)]
        self.shows.append([(word >> 8 & 0xFF, word >> 16, word & 0xFF) for word in words])  # green comes first
        assert len(bits) * BIT_NS <= 250_000  # as the driver says: the UARTs' FIFOs outlast it


def test_the_bar_goes_dark_first_and_shows_the_lamps_that_are_asked_for(
    machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Chain()
    machine.bitstream = chain.bitstream
    spec = importlib.util.spec_from_file_location("neopixel", HAL / "neopixel.py")
    assert spec
    assert spec.loader
    neopixel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(neopixel)
    monkeypatch.setitem(sys.modules, "neopixel", neopixel)
    dark, amber = (0, 0, 0), (90, 45, 1)
    bar = driver("drivers.ws2812").Bar(20, 8)
    assert chain.shows == [[dark] * 8]  # lamps keep their colour over a reset
    bar.show(0b00000101, amber)
    assert chain.shows[-1] == [amber, dark, amber, dark, dark, dark, dark, dark]
    bar.show(0b10000000, amber)
    assert chain.shows[-1] == [dark] * 7 + [amber]
    bar.show(0, amber)
    assert chain.shows[-1] == [dark] * 8


# ---- the piezo


class Pwm:
    """As the rp2 port: no frequency below 8 Hz."""

    def __init__(self, pin: Any, *, freq: int, duty_u16: int) -> None:
        self.said: list[tuple[str, int]] = [("freq", freq), ("duty", duty_u16)]

    def freq(self, hertz: int) -> None:
        if hertz < 8:
            raise ValueError("freq too small")
        self.said.append(("freq", hertz))

    def duty_u16(self, duty: int) -> None:
        self.said.append(("duty", duty))


def test_the_piezo_is_silent_until_told_and_is_told_each_tone_once(machine: Any) -> None:
    machine.PWM = Pwm
    piezo = driver("drivers.piezo").Piezo(21, 16384)
    said = piezo._pwm.said
    assert said[-1] == ("duty", 0)
    said.clear()
    for hertz in (0, 880, 880, 660, 0, 0):
        piezo.tone(hertz)
    # the pitch before it sounds; the PWM begins its period anew at each word, so the same tone is not said twice
    assert said == [("freq", 880), ("duty", 16384), ("freq", 660), ("duty", 16384), ("duty", 0)]


# ---- the seat bus


class Uart:
    """Sends as fast as its baud rate; `dead`: it never says that it is done."""

    dead = False

    def __init__(self, number: int, *, baudrate: int, tx: Any, rx: Any, rxbuf: int, timeout: int) -> None:
        assert (baudrate, timeout) == (115200, 0)  # waits for nothing
        self.until = 0
        self.any = self.readinto = lambda *_: 0

    def write(self, data: bytes) -> None:
        assert Pin.driven[-1][2] == 1, "the bus is not driven"
        self.until = Pin.now + len(data) * BYTE_US

    def txdone(self) -> bool:
        Pin.now += 3
        return not Uart.dead and Pin.now >= self.until


@pytest.mark.parametrize("dead", [False, True], ids=["well", "a UART that never ends"])
def test_the_shoe_lets_go_of_the_bus_behind_its_last_stop_bit_and_in_any_case_soon(
    dead: bool, machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node answers 500 µs after the question: hardware/seat-bus.md."""
    time: Any = ModuleType("time")
    time.ticks_us = lambda: Pin.now & 0x3FFFFFFF
    time.ticks_diff = lambda a, b: ((a - b + 0x20000000) & 0x3FFFFFFF) - 0x20000000
    monkeypatch.setitem(sys.modules, "time", time)
    machine.UART = Uart
    monkeypatch.setattr(Uart, "dead", dead)
    Pin.now = 0x3FFFFFFF - 100  # the microseconds wrap meanwhile
    line = driver("drivers.rs485").SeatLine(1, 4, 5, 6)
    assert Pin.driven == [(Pin.now, 6, 0)]  # off the bus from the start
    begun = Pin.now
    line.ask(b"\xa5\x05\x00\x00")
    assert [level for _, _, level in Pin.driven] == [0, 1, 0]
    held = Pin.driven[-1][0] - begun
    assert 4 * BYTE_US <= held < 4 * BYTE_US + (300 if dead else 20)


def test_the_ladder_is_an_adc_on_its_pin(machine: Any) -> None:
    machine.ADC = lambda pin: ("adc", pin.number)
    assert driver("drivers.ladder").ladder(28) == ("adc", 28)
