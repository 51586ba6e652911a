"""The seat nodes' bus: RS-485 on a UART, half duplex, with a pin that says when this end drives it.

The transceiver's receiver is always on, so what is sent is heard as well: that is how the bus tests itself.
"""

import time

from machine import UART, Pin

_BYTE_US = 87  # 115,200 Bd 8N1
_SLACK_US = 200  # for the last stop bit and this loop


class SeatLine:
    """`any` and `readinto` as of the UART, they do not wait. `ask` does, for the 0.35 ms of a question."""

    def __init__(self, number: int, tx: int, rx: int, direction: int):
        self._direction = Pin(direction, Pin.OUT, value=0)  # first of all: off the bus
        self._uart = UART(number, baudrate=115200, tx=Pin(tx), rx=Pin(rx), rxbuf=256, timeout=0)
        self.any = self._uart.any
        self.readinto = self._uart.readinto

    def ask(self, frame) -> None:
        """Send a frame and let go of the bus as soon as its last stop bit is out: a node answers 0.5 ms later."""
        self._direction(1)
        self._uart.write(frame)
        begun = time.ticks_us()
        longest = len(frame) * _BYTE_US + _SLACK_US
        while not self._uart.txdone() and time.ticks_diff(time.ticks_us(), begun) < longest:
            pass
        self._direction(0)
