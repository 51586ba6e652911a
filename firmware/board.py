"""The wiring of the shoe on a Raspberry Pi Pico. With `pins.py`, which it alone imports, the only file that knows pins;
`hardware/pinout.md` is their picture, `hardware/board.toml` the source of both.

`machine.ADC` readings are 0..65535. The levels here are for the parts named in `hardware/pinout.md`; another ladder or
another light needs other numbers and nothing else.

What hangs on GP2 to GP7 is the variant's: seat bus, emitters and tamper contact, or the reader of tags. `_RFID` says
which; the compiler leaves out the other, and `dealershoe flash --variant rfid` makes the 0 a 1 (flash/build.py).
"""

import gc

import pins
from drivers.fram import Fram
from drivers.ladder import ladder
from drivers.piezo import Piezo
from drivers.sampler import Sampler
from drivers.shift165 import Shift165
from drivers.ws2812 import Bar
from machine import ADC, UART, WDT, Pin
from micropython import const
from shoe.calibration import Calibration
from shoe.rooms import SAMPLES
from shoe.signals import LAMPS, VOLUME

_RFID = const(0)
if _RFID:
    from drivers.pn5180 import Pn5180
    from rfid.loop import RfidShoe as Shoe  # noqa: F401 (for main.py)
    from rfid.table import TagTable
    from rfid.tags import Tags
else:
    from drivers.rs485 import SeatLine
    from shoe.loop import Shoe  # type: ignore[assignment]  # noqa: F401
    from shoe.seats import SeatBus

# Keys of the ladder in the order of the wire's codes: new hand, action, betting complete, exposed, done, floor;
# and none. Eighths of the range, with nothing at either end: there the wire is at ground, or off. A reading may be off
# by a third of a step.
KEY_LEVELS = (8191, 16383, 24575, 32767, 40959, 49151, 57343)
KEY_TOLERANCE = 2730

# What the FRAM has no calibration for; the keys' levels are these in any case. The double-feed light: 60000 through no
# card, 30000 through one, 15000 through two. The ambient light: 3000 in a lit room, dazzle above 40000, over below
# 30000.
DEFAULTS = (60000, 30000, 40000, 30000) + KEY_LEVELS + (KEY_TOLERANCE,)
SUPPLY_LOW = 27800  # a third of VSYS: 4.2 V


class Board:
    """The parts, started. One of these lives as long as the shoe is on."""

    SUPPLY_LOW = SUPPLY_LOW

    def __init__(self):
        self.bar = Bar(pins.BAR, LAMPS)  # first of all: it goes dark
        host_tx, host_rx = Pin(pins.HOST_TX), Pin(pins.HOST_RX)
        self.host = UART(0, baudrate=115200, tx=host_tx, rx=host_rx, rxbuf=512, txbuf=512, timeout=0)
        self.lanes = Shift165(pins.LANE_DATA, pins.LANE_CLOCK, pins.LANE_LOAD)
        self.piezo = Piezo(pins.PIEZO, VOLUME)
        self.light = ADC(Pin(pins.DOUBLE_FEED))
        self.ambient = ADC(Pin(pins.AMBIENT))
        self.keys = ladder(pins.KEYS)
        self.supply = ADC(Pin(pins.SUPPLY))
        self.lid = Pin(pins.LID, Pin.IN, Pin.PULL_UP)
        if _RFID:
            self.tamper = self.emitter = self.head_emitter = None  # in the lid's loop; both always on
            self._reader = Pn5180(
                0,
                pins.RFID_SCK,
                pins.RFID_MOSI,
                pins.RFID_MISO,
                pins.RFID_NSS,
                pins.RFID_BUSY,
                pins.RFID_RESET,
            )
        else:
            self._seats = SeatLine(1, pins.SEAT_TX, pins.SEAT_RX, pins.SEAT_DE)
            self.tamper = Pin(pins.TAMPER, Pin.IN, Pin.PULL_UP)
            self.emitter = Pin(pins.DOUBLE_EMIT, Pin.OUT, value=1)
            self.head_emitter = Pin(pins.HEAD_EMIT, Pin.OUT, value=1)
        self._levels = [Pin(pins.BOTTOM_CLK + bit, Pin.IN) for bit in range(7)]
        self.memory = Fram(0, pins.I2C_SCL, pins.I2C_SDA)
        self.calibration = Calibration(self.memory, DEFAULTS)
        self.watchdog = WDT(timeout=8000)  # of 8388 ms at most: RP2040 datasheet 4.7

    def watch(self) -> None:
        """Start the sampler, when the rest of the start is done: its ring must be read every 205 ms from now on."""
        self.sampler = Sampler(pins.BOTTOM_CLK, memory=SAMPLES)  # and the six above it, to LIP

    def witness(self, events):
        """What else tells of a card."""
        if _RFID:
            return Tags(self._reader, TagTable(self.memory), events)
        else:  # noqa: RET505 (or the compiler would keep it)
            return SeatBus(self._seats, events)

    def levels(self) -> int:
        """The pins of heads and slots as the bits of a sample, now."""
        return sum([pin() << bit for bit, pin in enumerate(self._levels)])

    @staticmethod
    def free_memory() -> int:
        """Bytes of heap that are free."""
        return gc.mem_free()
