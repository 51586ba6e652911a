"""The wiring of the shoe on a Raspberry Pi Pico. With `pins.py`, which it alone imports, the only file that knows pins;
`hardware/pinout.md` is their picture, `hardware/board.toml` the source of both.

`machine.ADC` readings are 0..65535. The levels here are for the parts named in `hardware/pinout.md`; another ladder or
another light needs other numbers and nothing else.
"""

import gc

import pins
from drivers.ladder import ladder
from drivers.piezo import Piezo
from drivers.rs485 import seat_bus
from drivers.sampler import Sampler
from drivers.shift165 import Shift165
from drivers.ws2812 import Bar
from machine import ADC, UART, WDT, Pin
from shoe.signals import LAMPS, VOLUME

# Keys of the ladder in the order of the wire's codes: new hand, action, betting complete, exposed, done, floor. Six
# equal steps under an idle level of 65535; a reading may be off by a third of a step.
KEY_LEVELS = (0, 10922, 21845, 32767, 43690, 54612)
KEY_TOLERANCE = 3640

TWO_CARDS = 21000  # the double-feed light: 30000 through one card, 15000 through two
DAZZLE = 40000  # the ambient light: 3000 in a lit room
DAZZLE_OVER = 30000


class Board:
    """The parts, started. One of these lives as long as the shoe is on."""

    KEY_LEVELS = KEY_LEVELS
    KEY_TOLERANCE = KEY_TOLERANCE
    TWO_CARDS = TWO_CARDS
    DAZZLE = DAZZLE
    DAZZLE_OVER = DAZZLE_OVER

    def __init__(self):
        self.bar = Bar(pins.BAR, LAMPS)  # first of all: it goes dark
        host_tx, host_rx = Pin(pins.HOST_TX), Pin(pins.HOST_RX)
        self.host = UART(0, baudrate=115200, tx=host_tx, rx=host_rx, rxbuf=512, txbuf=512, timeout=0)
        self.seats = seat_bus(1, pins.SEAT_TX, pins.SEAT_RX)
        self.sampler = Sampler(pins.BOTTOM_CLK)  # and the six above it, to LIP
        self.lanes = Shift165(pins.LANE_DATA, pins.LANE_CLOCK, pins.LANE_LOAD)
        self.piezo = Piezo(pins.PIEZO, VOLUME)
        self.light = ADC(Pin(pins.DOUBLE_FEED))
        self.ambient = ADC(Pin(pins.AMBIENT))
        self.keys = ladder(pins.KEYS)
        self.watchdog = WDT(timeout=8000)  # of 8388 ms at most: RP2040 datasheet 4.7

    @staticmethod
    def free_memory() -> int:
        """Bytes of heap that are free."""
        return gc.mem_free()
