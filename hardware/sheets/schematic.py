"""Draws the schematic with schemdraw: one sheet a circuit, nets named as the signals and rails of board.toml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import schemdraw
import schemdraw.elements as elm
from schemdraw import logic

from sheets.checks import BLOCK
from sheets.model import Board

schemdraw.use("svg")
schemdraw.svgconfig.text = "text"  # not outlines, whatever fonts are installed
T = TypeVar("T")
UNIT = 2.4  # length of a two-ended part


def gp(board: Board, name: str) -> str:
    """A signal's net with its pin: HEAD_EMIT (GP3)."""
    return f"{name} (GP{next(signal.gpio for signal in board.signals if signal.name == name)})"


def ohm(value: float) -> str:
    """A resistor's value: 2.2 kΩ."""
    return f"{value / 1000:g} kΩ" if value >= 1000 else f"{value:g} Ω"


def have(thing: T | None) -> T:
    """What the shoe's board has, as these sheets are the shoe's."""
    assert thing is not None
    return thing


def sheet() -> schemdraw.Drawing:
    """An empty sheet."""
    d = schemdraw.Drawing(show=False)
    d.config(unit=UNIT, fontsize=12, inches_per_unit=0.42, bgcolor="white", margin=1.2)
    return d


def title(d: schemdraw.Drawing, words: str, x: float, y: float) -> None:
    """The sheet's name."""
    d.add(elm.Label().at((x, y)).label(words, halign="left", fontsize=16))


def note(d: schemdraw.Drawing, words: str, x: float, y: float) -> None:
    """Words for the builder, a line each."""
    for number, line in enumerate(words.split("\n")):
        d.add(elm.Label().at((x, y - 0.55 * number)).label(line, halign="left", fontsize=11))


def switch(d: schemdraw.Drawing, board: Board, name: str, net: str) -> None:
    """The MOSFET below an LED: on unless the pin pulls its gate down."""
    fet = d.add(elm.NFet().reverse().theta(0).anchor("drain").label(name, "right"))
    d.add(elm.Ground().at(fet.source))
    d.add(elm.Line().at(fet.gate).left(1.6))
    d.add(elm.Dot())
    d.push()
    d.add(elm.Resistor().up().label("10 kΩ", "top"))
    d.add(elm.Vdd().label("V3V3"))
    d.pop()
    d.add(elm.Line().left(0.8))
    d.add(elm.Dot(open=True).label(gp(board, net), "left"))


def value(board: Board, ref: str) -> str:
    """What a part with two ends is, by its name: 2.2 kΩ."""
    return next(two.value for two in board.twos for name, *_ in two.each if name == ref)


def rs485(d: schemdraw.Drawing, at: tuple[float, float], part: str) -> Any:
    """The RS-485 transceiver, which the shoe and each seat node have."""
    return d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="DI", pin="4", side="left", slot="4/4"),
                elm.IcPin(name="RO", pin="1", side="left", slot="3/4"),
                elm.IcPin(name="DE", pin="3", side="left", slot="2/4"),
                elm.IcPin(name="/RE", pin="2", side="left", slot="1/4"),
                elm.IcPin(name="A", pin="6", side="right", slot="4/4"),
                elm.IcPin(name="B", pin="7", side="right", slot="1/4"),
            ],
            size=(3, 4.6),
            pinspacing=1.2,
            leadlen=0.8,
        )
        .at(at)
        .label(f"{part} THVD1410", "top")
    )


def power(board: Board) -> schemdraw.Drawing:
    """From the wall supply to the rails."""
    d = sheet()
    title(d, "Power", 0, 3.2)
    d.add(elm.Dot(open=True).at((-4.4, 0)).label("J1: V5_IN, 5.1 V by USB-C", "left"))
    d.add(elm.Line().right(0.4))
    d.add(elm.Fuse().right().label(f"F1 {value(board, 'F1')}", "top"))
    d.add(elm.Dot())
    d.push()
    d.add(elm.Zener().down().reverse().label(f"D5 {value(board, 'D5')}", "bottom"))
    d.add(elm.Ground())
    d.pop()
    d.add(elm.Line().tox(1.5))
    d.add(elm.Dot())
    d.push()
    d.add(elm.Line().up(1.2))
    d.add(elm.Vdd().label("V5"))
    d.pop()
    d.add(elm.Line().right(1.5))
    d.add(elm.Schottky().right().label(f"D4 {value(board, 'D4')}", "top"))
    d.add(elm.Dot())
    d.push()
    d.add(elm.Capacitor(polar=True).down().label(f"C1 {value(board, 'C1')}", "bottom"))
    d.add(elm.Ground())
    d.pop()
    d.add(elm.Line().right(4.0))
    pico = d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="VSYS", pin="39", side="left", slot="3/3"),
                elm.IcPin(name="GND", pin="3…38", side="left", slot="1/3"),
                elm.IcPin(name="3V3", pin="36", side="right", slot="3/3"),
                elm.IcPin(name="RUN", pin="30", side="right", slot="1/3"),
            ],
            size=(4, 4),
            pinspacing=1.4,
            leadlen=0.8,
        )
        .anchor("VSYS")
        .label("A1\nRaspberry\nPi Pico", "center")
    )
    d.add(elm.Line().at(pico.GND).down(0.6))
    d.add(elm.Ground())
    d.add(elm.Line().at(pico["3V3"]).right(1.5))
    d.add(elm.Dot())
    d.push()
    d.add(elm.Line().up(0.8))
    d.add(elm.Vdd().label("V3V3"))
    d.pop()
    d.add(elm.Line().right(2.2))
    chip = d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="VDD", pin="2", side="left", slot="3/3"),
                elm.IcPin(name="OUT", pin="1", side="left", slot="1/3"),
                elm.IcPin(name="VSS", pin="3", side="right", slot="1/3"),
            ],
            size=(3.6, 4),
            pinspacing=1.4,
            leadlen=0.8,
        )
        .anchor("VDD")
        .label("U10\nMCP112", "center")
    )
    d.add(elm.Line().at(pico.RUN).to(chip["OUT"]))
    d.add(elm.Line().at(chip.VSS).down(0.6))
    d.add(elm.Ground())
    note(
        d,
        "F1 keeps a supply of 3 A off the thin wires, D5 takes sparks at the socket. U10 holds RUN low below 2.93 V.\n"
        "C1 feeds the Pico alone: D4 keeps it from the light bar and the LEDs. C2, 47 µF from V3V3 to GND, lets\n"
        "the FRAM's supply fall slowly (0.5 ms at least). 100 nF at every chip's supply pin.",
        0,
        -5.2,
    )
    return d


def head(board: Board) -> schemdraw.Drawing:
    """One of the seven channels of heads and slots."""
    d = sheet()
    title(d, "Heads and slots: seven channels like this", 0, 6.2)
    d.add(elm.Vdd().at((1, 5)).label("V5"))
    d.add(elm.Resistor().down().at((1, 5)).label(ohm(have(board.head).led_ohm), "bottom"))
    d.add(elm.LED().down().label("940 nm", "bottom"))
    d.add(elm.Line().down(0.4))
    d.add(elm.Dot().label("HEAD_K", "right"))
    d.add(elm.Line().down(0.4))
    switch(d, board, "T1", "HEAD_EMIT")

    d.add(elm.Vdd().at((5, 5)).label("V3V3"))
    d.add(elm.Resistor().down().at((5, 5)).label(ohm(have(board.head).load_ohm), "bottom"))
    knot = d.add(elm.Dot())
    light = d.add(elm.NpnPhoto().theta(0).anchor("collector").label("Q", "right"))
    d.add(elm.Ground().at(light.emitter))
    d.add(elm.Line().at(knot.center).right(2.4))
    plus = d.add(elm.Dot())
    d.add(elm.Line().at(plus.center).right(2.6))
    amp = d.add(elm.Opamp().flip().right().anchor("in2").label("U4, U5", "center", ofst=(-0.3, 0)))
    d.add(elm.Line().at(amp.in1).left(0.8))
    d.add(elm.Line().down(1.6))
    d.add(elm.Line().left(0.8))
    pot = d.add(elm.Potentiometer().down().anchor("tap").label("RV 10 kΩ", "top"))
    d.add(elm.Vdd().at(pot.start).label("V3V3"))
    d.add(elm.Ground().at(pot.end))
    d.add(elm.Line().at(amp.out).right(0.6))
    out = d.add(elm.Dot())
    d.add(elm.Line().right(1.0))
    d.add(elm.Dot(open=True).label("to the Pico", "right"))
    d.add(elm.Line().at(plus.center).up(1.4))
    d.add(elm.Resistor().right().tox(out.center).label(value(board, "R31"), "top"))
    d.add(elm.Line().toy(out.center))
    lines = [f"bit {bit}: {gp(board, name)}, RV{bit + 1}" for bit, name in enumerate(BLOCK)]
    note(d, "\n".join(lines), 10.2, 0.2)
    note(
        d,
        "A light surface lets Q conduct: +input low, output 0. Dark, or a blocked slot: output 1.\n"
        "Slots (Q6, Q7): the LED's cathode goes to ground, not to HEAD_K. T1 serves both heads.\n"
        "U4 and U5 are fed from V3V3; the fourth comparator of U5 is not used:\n"
        "its inputs are at GND and V3V3.\n"
        "220 Ω sits on the head or slot board, all else on the main board:\n"
        "wiring.md has every pin.",
        0,
        -4.8,
    )
    return d


def lanes(board: Board) -> schemdraw.Drawing:
    """The exit lanes: eight sensors, inverters, shift register."""
    d = sheet()
    title(d, "Exit lanes: a board of their own", 0, 6.2)
    d.add(elm.Vdd().at((1, 5)).label("V5"))
    d.add(elm.Resistor().down().at((1, 5)).label(ohm(have(board.head).led_ohm), "bottom"))
    d.add(elm.LED().down().label("940 nm", "bottom"))
    d.add(elm.Ground())
    d.add(elm.Vdd().at((4.6, 5)).label("V3V3"))
    d.add(elm.Resistor().down().at((4.6, 5)).label(value(board, "R60"), "bottom"))
    knot = d.add(elm.Dot())
    light = d.add(elm.NpnPhoto().theta(0).anchor("collector").label("Q8 … Q15", "right"))
    d.add(elm.Ground().at(light.emitter))
    d.add(elm.Line().at(knot.center).right(3.2))
    d.add(logic.SchmittNot().right().label("U7, U8\n74HC14", "top", ofst=0.3))
    d.add(elm.Line().right(1.6))
    chip = d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="A … H", side="left", slot="3/4"),
                elm.IcPin(name="SER", pin="10", side="left", slot="2/4"),
                elm.IcPin(name="INH", pin="15", side="left", slot="1/4"),
                elm.IcPin(name="QH", pin="9", side="right", slot="4/4"),
                elm.IcPin(name="CLK", pin="2", side="right", slot="3/4"),
                elm.IcPin(name="SH//LD", pin="1", side="right", slot="2/4"),
            ],
            size=(3.6, 5),
            pinspacing=1.2,
            leadlen=0.8,
        )
        .anchor("A … H")
        .label("U6\n74HC165", "top")
    )
    d.add(elm.Line().at(chip.SER).left(0.8))
    d.add(elm.Vdd().label("V3V3"))
    d.add(elm.Line().at(chip.INH).down(0.8))
    d.add(elm.Ground())
    for pin, name in (("QH", "LANE_DATA"), ("CLK", "LANE_CLOCK"), ("SH//LD", "LANE_LOAD")):
        d.add(elm.Line().at(chip[pin]).right(0.6))
        d.add(elm.Dot(open=True).label(gp(board, name), "right"))
    note(
        d,
        "Lane 0 at A (D0) to lane 7 at H (D7). A card over a lane: Q conducts, the inverter gives 1.\n"
        "SER at V3V3: behind the eight levels comes a 1, by which the firmware knows that the chip is there.\n"
        "U6, U7 and U8 are fed from V3V3, never from V5. Inputs of the inverters that are left over go to GND.\n"
        "On the main board R4, 10 kΩ, holds LANE_DATA at 0 when the cable is unplugged.",
        0,
        -3.0,
    )
    return d


def light(board: Board) -> schemdraw.Drawing:
    """Double-feed light and ambient light."""
    d = sheet()
    title(d, "Double-feed light and light of the room", 0, 6.2)
    d.add(elm.Vdd().at((1, 5)).label("V5"))
    d.add(elm.Resistor().down().at((1, 5)).label(f"R13 {value(board, 'R13')}\n0.5 W", "bottom"))
    d.add(elm.Dot().label("DOUBLE_A", "right"))
    d.add(elm.LED().down().label("D1", "bottom"))
    d.add(elm.Dot().label("DOUBLE_K", "right"))
    d.add(elm.Line().down(0.4))
    switch(d, board, "T2", "DOUBLE_EMIT")
    for x, diode, net, capacitor in ((7, "D2", "DOUBLE_FEED", "1 nF"), (19, "D3", "AMBIENT", "10 nF")):
        d.add(elm.Vdd().at((x, 5)).label("V3V3"))
        d.add(elm.Photodiode().at((x, 5)).down().reverse().label(f"{diode} BPW34", "bottom"))
        knot = d.add(elm.Dot())
        if net == "DOUBLE_FEED":
            d.add(elm.ResistorVar().down().label("RV8 100 kΩ", "bottom"))
            d.add(elm.Resistor().down(1.8).label("1 kΩ", "bottom"))
        else:
            d.add(elm.Resistor().down().label("10 kΩ", "bottom"))
        d.add(elm.Ground())
        d.add(elm.Line().at(knot.center).right(4.4))
        d.add(elm.Dot())
        d.push()
        d.add(elm.Capacitor().down().label(capacitor, "bottom"))
        d.add(elm.Ground())
        d.pop()
        d.add(elm.Line().right(0.6))
        d.add(elm.Dot(open=True).label(gp(board, net), "right"))
    note(
        d,
        "More light, higher reading. RV8 sets the free path to about 60000.\n"
        "Short wires to D2 and D3; no light of D1 may reach D3. R13 sits on the main board: D1 alone hangs on W8.",
        0,
        -4.6,
    )
    return d


def keys(board: Board) -> schemdraw.Drawing:
    """The ladder of keys, and the contacts of lid and base plate."""
    d = sheet()
    title(d, "Keys, lid and base plate", 0, 5.4)
    d.add(elm.Vdd().at((0, 4)).label("V3V3"))
    d.add(elm.Resistor().at((0, 4)).down().label(ohm(have(board.ladder).pull_up), "bottom"))
    d.add(elm.Dot())
    d.push()
    d.add(elm.Line().left(0.8))
    d.add(elm.Dot(open=True).label(gp(board, "KEYS"), "left"))
    d.pop()
    words = ("new hand", "action", "betting\ncomplete", "exposed", "done", "floor")
    *steps, last = have(board.ladder).steps
    for number, word in enumerate(words):
        d.add(elm.Resistor().right(3.4).label(ohm(steps[number]), "top"))
        knot = d.add(elm.Dot())
        d.add(elm.Button().at(knot.center).down().label(f"S{number + 1}\n{word}", "bottom"))
        d.add(elm.Ground())
        d.here = knot.center
    d.add(elm.Resistor().right(3.4).label(ohm(last), "top"))
    d.add(elm.Line().down(1.2))
    d.add(elm.Ground())
    for x, name, word in ((28, "LID", "S7\nclosed = lid shut"), (34.5, "TAMPER", "S8\nclosed = plate on")):
        d.add(elm.Dot(open=True).at((x, 1.6)).label(gp(board, name), "top"))
        d.add(elm.Switch().down().label(word, "bottom"))
        d.add(elm.Ground())
    note(
        d,
        "Ladder resistors of 1 %, on the key board but for the 10 kΩ. C20, 10 nF, from KEYS to GND.\n"
        "The first keeps every key off ground, the last tells no key from a wire that is off.\n"
        "LID and TAMPER use the Pico's own pull-up: open contact or broken wire reads 1.",
        0,
        -2.6,
    )
    return d


def links(board: Board) -> schemdraw.Drawing:
    """To the host and to the seats."""
    d = sheet()
    title(d, "Links", 0, 4.6)
    chip = d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="T1IN", pin="11", side="left", slot="2/2"),
                elm.IcPin(name="R1OUT", pin="12", side="left", slot="1/2"),
                elm.IcPin(name="T1OUT", pin="14", side="right", slot="2/2"),
                elm.IcPin(name="R1IN", pin="13", side="right", slot="1/2"),
            ],
            size=(4, 3.4),
            pinspacing=1.4,
            leadlen=0.8,
        )
        .at((4, 0))
        .label("U1 MAX3232", "top")
    )
    for pin, net, side in (
        ("T1IN", gp(board, "HOST_TX"), "left"),
        ("R1OUT", gp(board, "HOST_RX"), "left"),
        ("T1OUT", "RS232_TX: J2 pin 1, DE-9 pin 2", "right"),
        ("R1IN", "RS232_RX: J2 pin 2, DE-9 pin 3", "right"),
    ):
        d.add(elm.Line().at(chip[pin]).right(0.5) if side == "right" else elm.Line().at(chip[pin]).left(0.5))
        d.add(elm.Dot(open=True).label(net, side))
    bus = rs485(d, (25, -0.6), "U2")
    for pin, name in (("DI", "SEAT_TX"), ("RO", "SEAT_RX"), ("DE", "SEAT_DE")):
        d.add(elm.Line().at(bus[pin]).left(0.5))
        d.add(elm.Dot(open=True).label(gp(board, name), "left"))
    d.add(elm.Line().at(bus["/RE"]).down(0.6))
    d.add(elm.Ground())
    d.add(elm.Line().at(bus.A).right(1.2))
    a = d.add(elm.Dot())
    d.add(elm.Line().at(bus.B).right(1.2))
    b = d.add(elm.Dot())
    d.add(elm.Resistor().at(a.center).endpoints(a.center, b.center).label("120 Ω", "bottom"))
    for knot, name in ((a, "RS485_A: J3 pin 1"), (b, "RS485_B: J3 pin 2")):
        d.add(elm.Line().at(knot.center).right(1.6))
        d.add(elm.Dot(open=True).label(name, "right"))
    note(
        d,
        "U1 and U2 are fed from V3V3. U1: 100 nF at C1+/C1-, C2+/C2-, V+, V- and VCC; T2IN (pin 10) to GND.\n"
        "R3, 10 kΩ from HOST_TX to V3V3: no break on the line during a reset.\n"
        "The shoe is the DCE, so a straight cable fits.\n"
        "U2: 120 Ω only if the shoe is an end of the bus; 10 kΩ from DE to ground keeps it silent during a reset.",
        0,
        -2.6,
    )
    return d


def memory(board: Board) -> schemdraw.Drawing:
    """FRAM, light bar, piezo."""
    d = sheet()
    title(d, "FRAM, light bar, piezo", 0, 7)
    chip = d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="SDA", pin="5", side="left", slot="2/2"),
                elm.IcPin(name="SCL", pin="6", side="left", slot="1/2"),
                elm.IcPin(name="A0-A2, WP", side="right", slot="1/2"),
                elm.IcPin(name="VDD", pin="8", side="right", slot="2/2"),
            ],
            size=(4.2, 3.4),
            pinspacing=1.4,
            leadlen=0.8,
        )
        .at((6, 0))
        .label("U3 MB85RC256V", "top")
    )
    for pin, name, x in (("SDA", "I2C_SDA", 3.4), ("SCL", "I2C_SCL", 1.2)):
        d.add(elm.Line().at(chip[pin]).left(x))
        knot = d.add(elm.Dot())
        d.add(elm.Line().left(5.4 - x))
        d.add(elm.Dot(open=True).label(gp(board, name), "left"))
        d.add(elm.Line().at(knot.center).up().toy(2.8))
        d.add(elm.Resistor().up().label(value(board, "R1"), "bottom"))
        d.add(elm.Vdd().label("V3V3"))
    d.add(elm.Line().at(chip.VDD).up(0.8))
    d.add(elm.Vdd().label("V3V3"))
    d.add(elm.Line().at(chip["A0-A2, WP"]).down(0.5))
    d.add(elm.Ground())
    d.add(elm.Dot(open=True).at((19, 2.6)).label(gp(board, "BAR"), "left"))
    d.add(elm.Line().right(0.6))
    d.add(logic.Buf().right().label("U9 74AHCT125\non V5", "bottom", ofst=0.35))
    d.add(elm.Resistor().right().label(value(board, "R10"), "top"))
    d.add(elm.Dot(open=True).label("BAR_5V: J12 pin 3", "right"))
    d.add(elm.Dot(open=True).at((19, -0.6)).label(gp(board, "PIEZO"), "left"))
    d.add(elm.Resistor().right().label(value(board, "R11"), "top"))
    d.add(elm.Dot(open=True).label("PIEZO_R: J13 pin 1", "right"))
    note(
        d,
        "C3, 100 µF across V5 and GND at the bar. WP to ground: the FRAM may be written. U9: first gate, pins 2, 3;\n"
        "its /OE, pin 1, to GND; the other /OE (4, 10, 13) to V5, the other inputs (5, 9, 12) to GND.",
        0,
        -2.6,
    )
    return d


SHEETS: dict[str, Callable[[Board], schemdraw.Drawing]] = {
    "power": power,
    "heads": head,
    "lanes": lanes,
    "light": light,
    "keys": keys,
    "links": links,
    "memory-bar-piezo": memory,
}


def svg(drawing: schemdraw.Drawing) -> str:
    """A sheet as a file, on white whatever the viewer's background."""
    head, rest = drawing.get_imagedata("svg").decode().split(">", 1)
    return f'{head}>\n<rect x="-100%" y="-100%" width="300%" height="300%" fill="white"/>{rest}\n'


def sheets(board: Board) -> dict[str, str]:
    """The SVG of every sheet by its name."""
    return {name: svg(draw(board)) for name, draw in SHEETS.items()}
