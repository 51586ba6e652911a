"""The seat bus of the emulated Pico: the modelled line of the other tier on UART 1 and the pin that drives it.

The line has time: a byte is on it for 87 µs and the UART says busy as long, so a driver that is let go too early cuts
its own question, and one that is let go too late its node's answer. The nodes run the firmware's own answerer.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Any

from dealershoe.emulate.mechanics import PLACE_CODES
from dealershoe.emulate.parts.seatline import Gate, SeatLine
from hil.emulated_pico import BYTE_NS, EmulatedPico
from hil.rp2040_patches import busy_uart
from rp2040py.gpio_pin import GPIOPinState

talk: Any = import_module("node.talk")

DRIVE = 6  # hardware/board.toml: SEAT_DE
LISTENS_NS = 4e6  # after the driver was let go: the answer has come by then
TICKS = 0x3FFFFFFF


class SeatBus:
    """The bus with a node at each of `places`; those can be changed at any time."""

    def __init__(self, pico: EmulatedPico, places: Collection[int]):
        self.gates = {place: Gate() for place in talk.PLACES}
        self.line = SeatLine([talk.Answerer(place, gate) for place, gate in self.gates.items()], talk.TURN_US)
        self.questions = 0
        self.line.absent = {at for at, place in enumerate(talk.PLACES) if place not in places}
        self._pico = pico
        self._until = 0.0
        self._uart = pico.chip.uart[1]
        self._uart.on_byte = self._sent
        busy_uart(self._uart, lambda: not self.line.done(self._us))
        pico.chip.gpio[DRIVE].add_listener(self._driven)
        self._listening = pico.alarm(self._listen)

    def arrive(self, target: int | str, face_up: bool) -> None:
        """A card comes through the gate at a place, if that has one."""
        place = PLACE_CODES.get(target)
        if place is not None:
            self.gates[place].arrived.append(int(face_up))

    @property
    def _us(self) -> int:
        return int(self._pico.ns / 1000) & TICKS

    def _sent(self, byte: int) -> None:
        self.line.write(bytes((byte,)), self._us)

    def _driven(self, new: GPIOPinState, _old: GPIOPinState) -> None:
        level = int(new == GPIOPinState.HIGH)
        self.questions += level
        self.line.drive(level, self._us)
        if self._until < self._pico.ns:
            self._listening.schedule(BYTE_NS)
        self._until = self._pico.ns + LISTENS_NS

    def _listen(self) -> None:
        for byte in self.line.read(32, self._us):
            self._uart.feed_byte(byte)
        if self._pico.ns < self._until:
            self._listening.schedule(BYTE_NS)
