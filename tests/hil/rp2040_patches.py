"""Corrections of the emulated RP2040 (rp2040py 0.3.6), which the firmware depends on. For tests.

Applied from outside, to the classes or to one chip; `applicable()` says whether the emulator still has the places they
hold on to, so that a new version is noticed by a test and not by a firmware that hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any

from rp2040py.gpio_pin import GPIOPinState
from rp2040py.peripherals import uart
from rp2040py.usb.cdc import USBCDC

MADE_FOR = "0.3.6"
BUSY = 1 << 3  # of UARTFR
PACKET_NS = 20_000  # what a host may need to put a whole packet together


def applicable() -> list[str]:
    """What is not as the corrections expect it, empty when all is well."""
    wrong = []
    if version("rp2040py") != MADE_FOR:
        wrong.append(f"rp2040py is {version('rp2040py')}, the corrections were made for {MADE_FOR}")
    for owner, names in (
        (uart.RPUART, ("check_interrupts", "write_uint32", "feed_byte", "flags")),
        (uart, ("UARTDR", "UARTTXINTR")),
        (USBCDC, ("send_serial_byte",)),
    ):
        wrong += [f"{owner.__name__} has no {name}" for name in names if not hasattr(owner, name)]
    return wrong


def calm_uart() -> None:
    """The transmit interrupt comes when the FIFO has drained, not for ever.

    The emulator sets UARTTXINTR whenever it looks at the interrupts, so MicroPython from 1.24 on never comes back from
    `machine.UART(...)`. A PL011 sets it when the FIFO falls through its watermark and leaves it clear after UARTICR
    (ARM DDI 0183, 2.8.2). Here a byte is gone as soon as it is written.
    """

    def check_interrupts(self: Any) -> None:
        self.rp2040.set_interrupt(self.irq, bool(self._interrupt_status & self._interrupt_mask))

    original: Callable[[Any, int, int], None] = uart.RPUART.write_uint32
    if getattr(original, "calmed", False):
        return

    def write_uint32(self: Any, offset: int, value: int) -> None:
        original(self, offset, value)
        if offset == uart.UARTDR:
            self._interrupt_status |= uart.UARTTXINTR
            self.check_interrupts()

    write_uint32.calmed = True  # type: ignore[attr-defined]
    block: Any = uart.RPUART
    block.check_interrupts = check_interrupts
    block.write_uint32 = write_uint32


def busy_uart(block: Any, sending: Callable[[], bool]) -> None:
    """A UART says BUSY until its last stop bit is out (ARM DDI 0183, 3.3.3), which `sending` tells.

    In the emulator a byte takes no time, so a driver that waits for the end of its frame would wait for nothing.
    """
    every: Any = uart.RPUART
    plain: Callable[[Any], int] = every.flags.fget
    if not hasattr(plain, "busy"):

        def flags(self: Any) -> int:
            return plain(self) | (BUSY if vars(self).get("sending", bool)() else 0)

        flags.busy = True  # type: ignore[attr-defined]
        every.flags = property(flags)
    block.sending = sending


def patient_usb(console: USBCDC, clock: Any) -> None:
    """A USB host with nothing to send answers NAK, not with an empty packet.

    With an empty packet the device asks again at once: an interrupt each 30 µs for ever, and the processor never
    sleeps. Here the request waits until there is something.
    """
    usb: Any = console.usb
    answer, reset, send = usb.on_endpoint_read, usb.on_reset, console.send_serial_byte
    waiting: list[tuple[int, int]] = []

    def deliver() -> None:
        if waiting and not console.tx_fifo.empty:
            answer(*waiting.pop())

    alarm = clock.create_alarm(deliver)

    def on_endpoint_read(endpoint: int, size: int) -> None:
        if endpoint == console._out_endpoint and console.tx_fifo.empty:
            waiting[:] = [(endpoint, size)]
        else:
            answer(endpoint, size)

    def send_serial_byte(byte: int) -> None:
        send(byte)
        if waiting:
            alarm.schedule(PACKET_NS)

    def on_reset() -> None:
        waiting.clear()
        reset()

    usb.on_endpoint_read = on_endpoint_read
    usb.on_reset = on_reset
    vars(console)["send_serial_byte"] = send_serial_byte


def readable_outputs(chip: Any, pins: Iterable[int]) -> None:
    """An output reads back as what it drives: on silicon the input buffer sees the pad."""
    for number in pins:
        pin = chip.gpio[number]

        def mirror(new: GPIOPinState, _old: GPIOPinState, pin: Any = pin) -> None:
            if new in (GPIOPinState.HIGH, GPIOPinState.LOW):
                pin.set_input_value(new == GPIOPinState.HIGH)
            else:
                pin.release_input()

        pin.add_listener(mirror)
