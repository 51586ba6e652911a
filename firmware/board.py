"""The wiring of the shoe on a Raspberry Pi Pico: the only file that knows pins. `hardware/pinout.md` is its picture.

`machine.ADC` readings are 0..65535. The levels here are for the parts named in `hardware/pinout.md`; another ladder or
another light needs other numbers and nothing else.
"""

import gc

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
        self.bar = Bar(20, LAMPS)  # first of all: it goes dark
        self.host = UART(0, baudrate=115200, tx=Pin(0), rx=Pin(1), rxbuf=512, txbuf=512, timeout=0)
        self.seats = seat_bus(1, 4, 5)
        self.sampler = Sampler(10)  # GP10..12 bottom CLK, DATA, /DATA; 13, 14 top CLK, DATA; 15 throat; 16 lip
        self.lanes = Shift165(17, 18, 19)
        self.piezo = Piezo(21, VOLUME)
        self.light = ADC(Pin(26))
        self.ambient = ADC(Pin(27))
        self.keys = ladder(28)
        self.watchdog = WDT(timeout=8000)  # of 8388 ms at most: RP2040 datasheet 4.7

    @staticmethod
    def free_memory() -> int:
        """Bytes of heap that are free."""
        return gc.mem_free()
