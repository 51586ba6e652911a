"""Draws the schematic of a seat node: one sheet, nets named as the signals and rails of node.toml."""

from __future__ import annotations

import schemdraw
import schemdraw.elements as elm

from sheets.model import Board
from sheets.schematic import gp, note, rs485, sheet, title


def seat_node(node: Board) -> schemdraw.Drawing:
    """The whole node."""
    d = sheet()
    title(d, "Seat node", 0, 6.4)
    slots(d, node)
    below(d, node)
    switches(d, node)
    bus(d, node)
    supply(d)
    note(
        d,
        "Q1 stands outside, Q2 is 20 mm further in: a blocked slot gives 1. Q3 looks up between them;\n"
        "RV1 sets the back of the deck below 26000 and a face above 39000. S1: closed counts, PLACE_1 is\n"
        "the lowest bit; the Pico pulls up. U1 is fed from V3V3, 100 nF (C1) at its VCC. 120 Ω only in a node that is\n"
        "an end of the bus; 10 kΩ from DE to ground keeps the node off the bus during a reset.\n"
        "J1 and J2 are RJ45 sockets, pin by pin the same: the bus goes in and on.",
        0,
        -10.6,
    )
    return d


def slots(d: schemdraw.Drawing, node: Board) -> None:
    """Both slot photo-interrupters."""
    for x, ref, name in ((1, "Q1", "OUTER"), (11.5, "Q2", "INNER")):
        emitter(d, x, f"{ref} EE-SX1041")
        d.add(elm.Vdd().at((x + 3, 5)).label("V3V3"))
        d.add(elm.Resistor().down().at((x + 3, 5)).label("10 kΩ", "bottom"))
        knot = d.add(elm.Dot())
        light = d.add(elm.NpnPhoto().theta(0).anchor("collector"))
        d.add(elm.Ground().at(light.emitter))
        d.add(elm.Line().at(knot.center).right(1.6))
        d.add(elm.Dot(open=True).label(gp(node, name), "right"))


def below(d: schemdraw.Drawing, node: Board) -> None:
    """The sensor that looks at the card's lower side."""
    emitter(d, 22, "Q3 QRE1113")
    d.add(elm.Vdd().at((25, 5)).label("V3V3"))
    light = d.add(elm.NpnPhoto().theta(0).at((25, 5)).anchor("collector"))
    knot = d.add(elm.Dot().at(light.emitter))
    d.add(elm.ResistorVar().down().label("RV1 25 kΩ", "bottom"))
    d.add(elm.Ground())
    d.add(elm.Line().at(knot.center).right(1.6))
    d.add(elm.Dot(open=True).label(gp(node, "LIGHT"), "right"))


def emitter(d: schemdraw.Drawing, x: float, name: str) -> None:
    """A sensor's LED, always on."""
    d.add(elm.Vdd().at((x, 5)).label("V5"))
    d.add(elm.Resistor().down().at((x, 5)).label("220 Ω", "bottom"))
    d.add(elm.LED().down())
    d.add(elm.Ground())
    d.add(elm.Label().at((x, -0.8)).label(name, halign="left", fontsize=12))


def switches(d: schemdraw.Drawing, node: Board) -> None:
    """The node's place."""
    for number, name in enumerate(("PLACE_1", "PLACE_2", "PLACE_4", "PLACE_8")):
        y = -3.2 - 1.6 * number
        d.add(elm.Dot(open=True).at((24.5, y)).label(gp(node, name), "left"))
        d.add(elm.Switch().right().label(f"S1.{number + 1}", "top"))
        d.add(elm.Line().right(0.4))
        d.add(elm.Ground())


def bus(d: schemdraw.Drawing, node: Board) -> None:
    """The transceiver and the two sockets."""
    chip = rs485(d, (4.6, -8), "U1")
    for pin, name in (("DI", "BUS_TX"), ("RO", "BUS_RX"), ("DE", "BUS_DE")):
        d.add(elm.Line().at(chip[pin]).left(0.9))
        d.add(elm.Dot(open=True).label(gp(node, name), "left"))
    knot = d.add(elm.Dot().at((chip.DE[0] - 0.45, chip.DE[1])))
    d.add(elm.Resistor().at(knot.center).down().label("10 kΩ", "top"))
    d.add(elm.Ground())
    d.add(elm.Line().at(chip["/RE"]).down(0.6))
    d.add(elm.Ground())
    d.add(elm.Line().at(chip.A).right(1.2))
    a = d.add(elm.Dot())
    d.add(elm.Line().at(chip.B).right(1.2))
    b = d.add(elm.Dot())
    d.add(elm.Resistor().at(a.center).endpoints(a.center, b.center).label("120 Ω", "bottom"))
    for end, name in ((a, "RS485_A: J1 and J2 pin 1"), (b, "RS485_B: J1 and J2 pin 2")):
        d.add(elm.Line().at(end.center).right(1.6))
        d.add(elm.Dot(open=True).label(name, "right"))
    d.add(elm.Dot(open=True).at((b.center[0] + 1.6, b.center[1] - 1.2)).label("GND: J1 and J2 pin 8", "right"))
    d.add(elm.Line().left(1.0))
    d.add(elm.Ground())


def supply(d: schemdraw.Drawing) -> None:
    """The Pico and its rails."""
    pico = d.add(
        elm.Ic(
            pins=[
                elm.IcPin(name="VBUS", pin="40", side="right", slot="3/3"),
                elm.IcPin(name="3V3", pin="36", side="right", slot="2/3"),
                elm.IcPin(name="GND", pin="3…38", side="right", slot="1/3"),
            ],
            size=(5, 4),
            pinspacing=1.4,
            leadlen=0.8,
        )
        .theta(0)
        .at((32.5, -7.4))
        .label("A1\nRaspberry\nPi Pico", "center", ofst=(-0.6, 0))
    )
    for pin, rail, x in (("VBUS", "V5", 0.8), ("3V3", "V3V3", 2.6)):
        d.add(elm.Line().at(pico[pin]).right(x))
        d.add(elm.Vdd().label(rail))
    d.add(elm.Line().at(pico.GND).right(0.8))
    d.add(elm.Ground())
    d.add(elm.Label().at((32.5, -8.4)).label("5 V come by USB", halign="left", fontsize=11))
