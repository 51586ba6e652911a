"""The wiring of a seat node on a Raspberry Pi Pico: the only file of it that knows pins. `hardware/seat-bus.md`."""

from machine import ADC, UART, WDT, Pin

# Readings of the reflective sensor, 0 to 65535: a back (dark in infrared) at most, a face (white) at least
BACK, FACE = 26000, 39000


class Board:
    """The parts, started."""

    BACK = BACK
    FACE = FACE

    def __init__(self):
        self.direction = Pin(2, Pin.OUT, value=0)  # first of all: off the bus
        self.bus = UART(0, baudrate=115200, tx=Pin(0), rx=Pin(1), rxbuf=64, timeout=0)
        self.outer = Pin(3, Pin.IN)
        self.inner = Pin(4, Pin.IN)
        self.light = ADC(Pin(26))
        self._switches = [Pin(pin, Pin.IN, Pin.PULL_UP) for pin in (10, 11, 12, 13)]
        self.watchdog = WDT(timeout=2000)

    def place(self) -> int:
        """What the four switches say, on = 1, the first the lowest: 0 to 13 in the order of talk.PLACES."""
        return sum([(1 - switch()) << i for i, switch in enumerate(self._switches)])
