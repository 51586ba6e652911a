"""The reader of tags on the emulated Pico: the model of the part on SPI 0 and its three pins, in emulated time.

A byte is on the wire for 2 µs (4 MHz), the part is busy for as long as its model says, and the pin BUSY follows.
"""

from __future__ import annotations

from dealershoe.emulate.parts.pn5180 import Pn5180
from hil.emulated_pico import EmulatedPico
from rp2040py.gpio_pin import GPIOPinState

NSS, BUSY, RESET = 5, 6, 7  # hardware/board.toml
BYTE_NS = 2_000


def plug_reader(pico: EmulatedPico, part: Pn5180) -> None:
    """Put the part on the pins."""
    spi = pico.chip.spi[0]
    sent: list[int] = []

    def now() -> int:
        return int(pico.ns / 1000)

    def show() -> None:
        pico.chip.gpio[BUSY].set_input_value(bool(part.busy(now())))
        if part.busy_until > now():
            later.schedule((part.busy_until - now()) * 1000)

    def complete() -> None:
        spi.complete_transmit(part.transfer(sent.pop(), now()))
        show()

    def transmit(value: int) -> None:
        sent.append(value)
        byte.schedule(BYTE_NS)

    def select(new: GPIOPinState, _old: GPIOPinState) -> None:
        part.select(int(new == GPIOPinState.HIGH), now())
        show()

    def reset(new: GPIOPinState, _old: GPIOPinState) -> None:
        part.reset(int(new == GPIOPinState.HIGH), now())
        show()

    later, byte = pico.alarm(show), pico.alarm(complete)
    spi.on_transmit = transmit
    pico.chip.gpio[NSS].add_listener(select)
    pico.chip.gpio[RESET].add_listener(reset)
    show()
