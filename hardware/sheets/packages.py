"""What each pin of a part is and at which voltages it works, typed as data from the data sheets, for the checks of the
wiring. A part whose number is not here cannot be wired: type its pins from its data sheet first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What a pin may be. IN must have a level; OUT drives and may stay open; OC only pulls down and needs a resistor to a
# supply; ANODE and CATHODE are an LED's, UP and DOWN the ends of a phototransistor or photodiode that look to the
# supply and to ground; LINE must go somewhere; FREE may stay open.
IN, OUT, OC, LINE, FREE, VCC, GND = "input", "output", "open drain", "line", "free", "supply", "ground"
ANODE, CATHODE, UP, DOWN = "anode", "cathode", "upper end", "lower end"


@dataclass(frozen=True, slots=True)
class Package:
    """A part as its data sheet has it."""

    pins: Mapping[str, str]  # the kind of each
    source: str
    volts: tuple[float, float] | None = None  # that its supply may have
    high: float = 0.0  # what its inputs take for a 1 at the latest, V; 0: see `share`
    share: float = 0.0  # the same as a share of its supply
    tolerant: bool = False  # its inputs stand more than its supply
    decoupled: bool = False  # a board that brings its own capacitors
    comparators: tuple[tuple[str, str, str], ...] = ()  # output, inverting input, other input
    named: Mapping[str, str] | None = None  # pins whose net has a name in this project


def numbered(*kinds: str) -> dict[str, str]:
    """Pins 1, 2, 3 … by kind."""
    return {str(number): kind for number, kind in enumerate(kinds, 1)}


def alike(kind: str, *names: str) -> dict[str, str]:
    """Pins of one kind."""
    return dict.fromkeys(names, kind)


PICO_GROUNDS = ("3", "8", "13", "18", "23", "28", "33", "38")
PACKAGES: dict[str, Package] = {
    "SC0917": Package(
        {
            **alike(FREE, *(str(pin) for pin in range(1, 41))),
            **alike(GND, *PICO_GROUNDS),
            "36": LINE,
        },
        "Raspberry Pi Pico data sheet, 2.1; pin 36 gives V3V3",
    ),
    "MAX3232EEPE+": Package(
        numbered(LINE, LINE, LINE, LINE, LINE, LINE, OUT, FREE, OUT, IN, IN, OUT, LINE, OUT, GND, VCC),
        "Maxim 19-0273: 3.0 to 5.5 V; T1IN and T2IN have no pull-up, R1IN and R2IN 5 kΩ to ground",
        volts=(3.0, 5.5),
        high=2.0,
        tolerant=True,
    ),
    "THVD1410DR": Package(
        numbered(OUT, IN, IN, IN, GND, LINE, LINE, VCC),
        "TI SLLSEY3E: 3 to 5.5 V; R is 1 on an open, shorted or idle bus",
        volts=(3.0, 5.5),
        high=2.0,
        tolerant=True,
        named={"6": "RS485_A", "7": "RS485_B"},
    ),
    "MB85RC256V": Package(
        {"VCC": VCC, "GND": GND, "SCL": OC, "SDA": OC, **alike(IN, "WP", "A0", "A1", "A2")},
        "Fujitsu DS501-00017-5v1-E: 2.7 to 5.5 V, a 1 from 0.8 of the supply on",
        volts=(2.7, 5.5),
        share=0.8,
        decoupled=True,
    ),
    "MCP6544-I/P": Package(
        numbered(OUT, IN, IN, VCC, IN, IN, OUT, OUT, IN, IN, GND, IN, IN, OUT),
        "Microchip DS20001696K: 1.6 to 5.5 V, inputs from rail to rail, outputs push-pull, 4 µs",
        volts=(1.6, 5.5),
        comparators=(("1", "2", "3"), ("7", "6", "5"), ("8", "9", "10"), ("14", "13", "12")),
    ),
    "SN74HC165N": Package(
        numbered(IN, IN, IN, IN, IN, IN, OUT, GND, OUT, IN, IN, IN, IN, IN, IN, VCC),
        "TI SCLS116: 2 to 6 V",
        volts=(2.0, 6.0),
        share=0.75,
    ),
    "SN74HC14N": Package(
        numbered(IN, OUT, IN, OUT, IN, OUT, GND, OUT, IN, OUT, IN, OUT, IN, VCC),
        "TI SCLS085: 2 to 6 V; a falling input counts from 0.9 to 0.17 of the supply on, a rising one to 0.75",
        volts=(2.0, 6.0),
        share=0.75,
    ),
    "SN74AHCT125N": Package(
        numbered(IN, IN, OUT, IN, IN, OUT, GND, OUT, IN, IN, OUT, IN, IN, VCC),
        "TI SCLS264: 4.5 to 5.5 V, a 1 from 2 V on",
        volts=(4.5, 5.5),
        high=2.0,
        tolerant=True,
    ),
    "MCP112-300E/TO": Package(
        numbered(OUT, VCC, GND),
        "Microchip DS20001889F: 1 to 5.5 V, low below 2.93 V, push-pull, no delay",
        volts=(1.0, 5.5),
    ),
    "NeoPixel Stick": Package(
        {"5V": VCC, "GND": GND, "DIN": IN},
        "Worldsemi WS2812B: 3.5 to 5.3 V, a 1 from 0.7 of the supply on",
        volts=(3.5, 5.3),
        share=0.7,
        decoupled=True,
    ),
    "AO3400A": Package(
        {"G": IN, "S": LINE, "D": LINE}, "Alpha & Omega: 48 mΩ at 2.5 V on the gate", high=2.5, tolerant=True
    ),
    "QRE1113GR": Package(
        numbered(ANODE, CATHODE, UP, DOWN),
        "onsemi QRE1113/D: 1 anode, 2 cathode, 3 collector, 4 emitter; 50 mA, 0.1 mA at least",
    ),
    "EE-SX1041": Package(
        {"A": ANODE, "K": CATHODE, "C": UP, "E": DOWN}, "Omron EE-SX1041: 50 mA, 0.5 mA at least at 20 mA"
    ),
    "TSAL4400": Package({"A": ANODE, "K": CATHODE}, "Vishay 81006: 100 mA"),
    "BPW34": Package({"K": UP, "A": DOWN}, "Vishay 81521; in reverse"),
    "PKM22EPPH2001-B0": Package(numbered(LINE, LINE), "Murata P37E"),
    "3296W": Package(numbered(LINE, LINE, LINE), "Bourns 3296: 2 is the tap"),
    "3296W-1-253LF": Package(numbered(LINE, LINE, LINE), "Bourns 3296: 2 is the tap"),
    "B3F-4055": Package(numbered(LINE, LINE), "Omron B3F: pins on one side of the button are one; wire across"),
    "SS-5GL": Package({"COM": LINE, "NO": FREE, "NC": FREE}, "Omron SS"),
    "DS-04": Package(numbered(*(LINE,) * 8), "any DIP switch: 1 opposite 8"),
    "RJ45": Package(
        numbered(LINE, LINE, FREE, FREE, FREE, FREE, FREE, LINE),
        "hardware/seat-bus.md: A, B and GND at 1, 2, 8",
        named={"1": "RS485_A", "2": "RS485_B", "8": "GND"},
    ),
    "PN5180": Package(
        {**alike(LINE, "5V", "3V3", "GND"), **alike(IN, "SCK", "MOSI", "NSS", "RST"), **alike(OUT, "MISO", "BUSY")},
        "a board; its logic hangs on 3V3",
        high=2.3,
        decoupled=True,
    ),
}
