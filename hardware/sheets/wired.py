"""Whether a board works as it is soldered: each check gives sentences for what a builder would find too late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from sheets import rp2040
from sheets.model import Board
from sheets.nets import (
    MAIN,
    OPEN,
    RAILS,
    between,
    chips_of,
    gpio_drives,
    leads,
    nets,
    ohms,
    package,
    rail_of,
    reached,
    refs,
    twos_of,
)
from sheets.packages import ANODE, CATHODE, DOWN, FREE, GND, IN, OC, OUT, UP, VCC

SUPPLIES = ("V5", "V3V3")
WORST_VOLTS = {"V5": 5.25, "V3V3": 3.4, "VSYS": 5.0}
FALL = ("V5_IN", "V5", "VSYS", "V3V3", "GND")  # from the highest voltage to the lowest
DE9 = {"RS232_TX": 2, "RS232_RX": 3, "GND": 5}  # of a DCE (TIA-574), so that a straight cable leads to a host
RJ45 = {"RS485_A": 1, "RS485_B": 2, "GND": 8}  # hardware/seat-bus.md


def every_pin_is_said(board: Board) -> Iterator[str]:
    """A chip's pins are those of its data sheet, and each goes where such a pin must go; names are used once."""
    for chip in board.chips:
        kinds = package(board, chip).pins
        if not kinds:
            yield f"{chip.ref} is one of {chip.part}, whose pins packages.py does not know: type its data sheet's"
            continue
        yield from (f"{chip.ref} has no pin {pin}" for pin in chip.pins if pin not in kinds)
        for pin, kind in kinds.items():
            if chip.part == "pico" and kind == FREE:
                continue
            net = chip.pins.get(pin)
            if net is None:
                yield f'{chip.ref} does not say where its pin {pin} goes; "-" leaves it open'
            elif net == OPEN and kind not in (OUT, FREE):
                yield f"{chip.ref} leaves pin {pin} open; that {kind} must go somewhere"
            elif kind == GND and net != "GND":
                yield f"{chip.ref} pin {pin} is its ground and hangs on {net}"
        for pin, name in (package(board, chip).named or {}).items():
            if chip.pins.get(pin, OPEN) not in (OPEN, name):
                yield f"{chip.ref} pin {pin} belongs on {name} and hangs on {chip.pins[pin]}"
    names = Counter([chip.ref for chip in board.chips] + [ref for two in board.twos for ref, *_ in two.each])
    yield from (f"two parts are called {name}" for name, count in names.items() if count > 1)


def what_is_bought_is_wired(board: Board) -> Iterator[str]:
    """Each piece in the bill of materials has its place in the wiring, and the other way round."""
    if not board.chips:
        return
    placed: dict[str, list[str]] = {}
    for chip in board.chips:
        placed.setdefault(chip.part, []).append(chip.ref)
    for two in board.twos:
        placed.setdefault(two.part, []).extend(ref for ref, *_ in two.each)
    known = {part.id for part in board.parts}
    for name, there in placed.items():
        if name not in known:
            yield f"{there[0]} is one of {name}, and there is no such part"
    for part in board.parts:
        if not refs(part):
            continue
        if len(refs(part)) != part.quantity:
            yield f"{part.id} is {part.quantity} pieces and names {len(refs(part))}"
        if missing := sorted(set(refs(part)) - set(placed.get(part.id, ()))):
            yield f"{', '.join(missing)} of {part.id} is bought and wired to nothing"
        if strange := sorted(set(placed.get(part.id, ())) - set(refs(part))):
            yield f"{', '.join(strange)} is wired as {part.id}, which does not name it"


def every_signal_meets_a_part(board: Board) -> Iterator[str]:
    """A part with pins is wired to every pin of the Pico that has a signal; to one that drives or measures, or by a
    resistor."""
    for variant in board.variants if board.chips else ():
        there, ways = nets(board, variant), reached(board, variant)
        with_pins = {chip.ref for chip in chips_of(board, variant)} - {"A1"}
        for signal in board.of(variant):
            if signal.gpio not in rp2040.ON_HEADER:
                continue
            by_resistor = gpio_drives(signal) or signal.function.startswith("ADC")
            near = [signal.name, *(ways.get(signal.name, ()) if by_resistor else ())]
            if not any(end.ref in with_pins for net in near if net not in RAILS for end in there.get(net, ())):
                yield f"{signal.name} leads to {signal.part}, and nothing is wired to it in the variant {variant}"


def no_net_ends_in_the_air(board: Board) -> Iterator[str]:
    """A net has two ends at least, and somebody who decides its level: no input floats."""
    for variant in board.variants if board.chips else ():
        for net, ends in nets(board, variant).items():
            reached = [wire for cable in board.cables if cable.variant in ("", variant) for wire in cable.wires]
            if len(ends) < 2 and net not in reached:
                yield f"{net} ends at {ends[0]} in the variant {variant}: nothing else is on it"
            elif net not in RAILS and len(ends) > 1 and not any(end.drives or end.passive for end in ends):
                yield f"{net} floats in the variant {variant}: {', '.join(map(str, ends))} only listen"


def supplies_fit(board: Board) -> Iterator[str]:
    """A chip is fed from a rail that it works on; the Pico through VSYS or VBUS."""
    for chip in board.chips:
        known = package(board, chip)
        if chip.part == "pico" and {chip.pins.get("39", OPEN), chip.pins.get("40", OPEN)} == {OPEN}:
            yield f"{chip.ref} is fed by nobody: neither pin 39 (VSYS) nor 40 (VBUS) is wired"
        for pin, kind in known.pins.items():
            net = chip.pins.get(pin, OPEN)
            if kind != VCC or net == OPEN or known.volts is None:
                continue
            low, high = known.volts
            if net not in board.rails:
                yield f"{chip.ref} pin {pin} is its supply and hangs on {net}, which is no rail"
            elif not low <= board.rails[net].volts <= high:
                yield f"{chip.ref} works on {low:g} to {high:g} V and hangs on {net}, {board.rails[net].volts:g} V"


def levels_fit(board: Board) -> Iterator[str]:
    """Who drives an input, be it through a resistor, drives it high enough, and not above its supply."""
    for variant in board.variants if board.chips else ():
        there, ways = nets(board, variant), reached(board, variant)
        for chip in chips_of(board, variant):
            known, rail = package(board, chip), rail_of(board, chip)
            own = board.rails[rail].volts if rail in board.rails else 0.0
            needs = known.high or known.share * own
            for pin, kind in known.pins.items():
                net = chip.pins.get(pin, OPEN)
                if kind == OC and needs:
                    for near in sorted(ways.get(net, set()) & set(SUPPLIES)):
                        if board.rails[near].volts < needs:
                            yield f"{chip.ref} pin {pin} takes {needs:.1f} V for a 1, and is pulled up to {near} only"
                if kind != IN or net in (OPEN, *RAILS):
                    continue
                for near in (net, *sorted(ways.get(net, set()) - set(RAILS))):
                    for end in there.get(near, ()):
                        if not end.drives or end.supply not in board.rails:
                            continue
                        volts = board.rails[end.supply].volts
                        if volts < needs:
                            yield f"{chip.ref} pin {pin} takes {needs:.1f} V for a 1, and {end} gives {volts:g} V"
                        if own and volts > own + 0.3 and not known.tolerant:
                            yield f"{chip.ref} pin {pin} stands its supply of {own:g} V, and {end} gives {volts:g} V"


def what_pulls_has_a_resistor(board: Board) -> Iterator[str]:
    """Open drains, ends of sensors and comparators have their resistor, LEDs theirs and the right way round."""
    for variant in board.variants if board.chips else ():
        ways = reached(board, variant)
        switched = {chip.pins["D"] for chip in chips_of(board, variant) if {"G", "S", "D"} <= set(chip.pins)}
        for chip in chips_of(board, variant):
            known = package(board, chip)
            for pin, kind in known.pins.items():
                net = chip.pins.get(pin, OPEN)
                near = leads(net, ways)
                if kind in (UP, OC) and not near & set(SUPPLIES):
                    yield f"{chip.ref} pin {pin} is its {kind}, and {net} leads to no supply, nor does a resistor"
                elif kind == DOWN and "GND" not in near:
                    yield f"{chip.ref} pin {pin} is its {kind}, and {net} leads to no ground, nor does a resistor"
                elif kind == ANODE and (net in RAILS or not near & set(SUPPLIES)):
                    yield f"{chip.ref} pin {pin} is an LED's anode, and no resistor leads from {net} to a supply"
                elif kind == CATHODE and net not in ("GND", *switched):
                    yield f"{chip.ref} pin {pin} is an LED's cathode, and {net} leads neither to ground nor to a MOSFET"
            for out, _, plus in known.comparators:
                a, b = chip.pins.get(out, OPEN), chip.pins.get(plus, OPEN)
                if a != OPEN and b not in ways.get(a, ()):
                    yield f"the comparator of {chip.ref} that drives {a} has no hysteresis: no resistor from {a} to {b}"


def one_drives(board: Board) -> Iterator[str]:
    """Nobody drives against another, nor against a rail; and no output of a 5 V part meets a pin of the Pico."""
    for variant in board.variants if board.chips else ():
        for net, ends in nets(board, variant).items():
            driving = [end for end in ends if end.drives]
            if len(driving) > 1 or (driving and net in RAILS):
                yield f"{' and '.join(map(str, driving))} drive {net} in the variant {variant}"
            if not any(other.ref == "A1" and other.pin.startswith("GP") for other in ends):
                continue
            for end in driving:
                if end.supply == "V5":
                    yield f"{net} is driven by {end} from V5; the RP2040 stands 3.3 V: feed {end.ref} from V3V3"
            if "V5" in reached(board, variant).get(net, ()):
                yield f"{net} is pulled up to V5; the RP2040 stands 3.3 V: pull it to V3V3"


def inputs_keep_a_level_unplugged(board: Board) -> Iterator[str]:
    """An input of the Pico whose source is behind a cable has a resistor or a pull, so that a pulled plug is seen."""
    for variant in board.variants if board.chips else ():
        for net, ends in nets(board, variant).items():
            pins = [end for end in ends if end.ref == "A1" and not end.drives and end.pin.startswith("GP")]
            here = [end for end in ends if end.on == MAIN and end not in pins and (end.drives or end.passive)]
            if pins and not pins[0].passive and not here:
                yield f"{net} comes by a cable only: unplugged, {pins[0]} floats; give it a resistor"


def levels_are_kept_in_reset(board: Board) -> Iterator[str]:
    """Where it matters what a pin's net is while the Pico does not drive it, a resistor says so."""
    for signal in board.signals if board.chips else ():
        if signal.reset not in ("", "high", "low"):
            yield f'{signal.name} is {signal.reset} in reset; it may be "high" or "low"'
        elif signal.reset:
            rail = {"high": "V3V3", "low": "GND"}[signal.reset]
            if not between(board, signal.name, rail):
                yield f"{signal.name} must be {signal.reset} while the Pico is in reset; no resistor leads to {rail}"


def cables_carry_the_nets(board: Board) -> Iterator[str]:
    """A net that is on two boards goes through a cable between them, and no wire leads to nothing."""
    if not board.cables:
        return
    for variant in board.variants:
        there = nets(board, variant)
        cables = [cable for cable in board.cables if cable.variant in ("", variant)]
        to = {cable.to for cable in cables}
        for net, ends in there.items():
            for place in dict.fromkeys(end.on for end in ends if end.on != MAIN):
                end = next(end for end in ends if end.on == place)
                elsewhere = any(other.on != place for other in ends)
                if elsewhere and not any(cable.to == place and net in cable.wires for cable in cables):
                    known = "no cable carries it there" if place in to else "no cable goes there"
                    yield f"{net} is on the {place} ({end}) and elsewhere; {known}"
        for cable in cables:
            for wire in cable.wires:
                ends = there.get(wire, [])
                if not any(end.on == MAIN for end in ends):
                    yield f"{cable.id} carries {wire}, and nothing on the main board is on it"
                if "socket" not in cable.far and not any(end.on == cable.to for end in ends):
                    yield f"{cable.id} carries {wire}, and nothing at its end ({cable.to}) is on it"


def polarity_is_right(board: Board) -> Iterator[str]:
    """Of electrolytics and diodes between rails the plus or the anode is where the circuit wants it."""
    for two in board.twos:
        down = {"electrolytic": True, "Schottky diode": True, "suppressor": False}.get(two.what)
        for ref, first, other in two.each if down is not None else ():
            if first in FALL and other in FALL and (FALL.index(first) < FALL.index(other)) != down:
                yield f"{ref} is the wrong way round: the {two.what} goes from {other} to {first}"


def sockets_are_as_others_expect(board: Board) -> Iterator[str]:
    """A straight cable reaches the host, and the shoe's socket is wired as a node's: both ends agree."""
    for cable in board.cables:
        expected = DE9 if "DE-9" in cable.far else RJ45 if "RJ45" in cable.far else {}
        for wire, pin in zip(cable.wires, cable.far_pins or range(1, len(cable.wires) + 1), strict=False):
            if expected.get(wire, pin) != pin:
                yield f"{cable.id} brings {wire} to pin {pin} of the {cable.far}; it belongs on pin {expected[wire]}"
        there = nets(board, cable.variant or board.recommended)
        if expected is DE9 and not any(end.drives for end in there.get("RS232_TX", ())):
            yield f"{cable.id}: nobody drives RS232_TX, which is what the shoe says to the host"


def chips_are_decoupled(board: Board) -> Iterator[str]:
    """As many capacitors of 100 nF from a rail to ground on a board as chips hang on that rail."""
    for variant in board.variants if board.chips else ():
        hungry: Counter[tuple[str, str]] = Counter()
        for chip in chips_of(board, variant):
            if (rail := rail_of(board, chip)) and not package(board, chip).decoupled:
                hungry[chip.on, rail] += 1
        have: Counter[tuple[str, str]] = Counter()
        for two in twos_of(board, variant):
            if two.value == "100 nF":
                have.update((two.on, ends[0]) for _, *ends in two.each if ends[1] == "GND")
        for (place, rail), count in hungry.items():
            if have[place, rail] < count:
                yield f"{count} chips hang on {rail} on the {place}, and {have[place, rail]} have their 100 nF"


def resistors_stay_cool(board: Board) -> Iterator[str]:
    """A resistor at a rail stands the whole rail across it."""
    for two in board.twos:
        if not two.what.startswith("resistor"):
            continue
        ohm = ohms(two.value)
        for ref, *ends in two.each:
            volts = max((WORST_VOLTS.get(net, 0.0) for net in ends), default=0.0)
            if (watt := volts**2 / ohm) > two.watt:
                yield f"{ref} may turn {watt:.2f} W into heat and stands {two.watt:g} W"


def values_agree(board: Board) -> Iterator[str]:
    """What the tables above reckon with is what is soldered."""
    wanted: list[tuple[str, str, float, str]] = []
    if board.i2c:
        wanted += [(line, "V3V3", board.i2c.pull_up, "pull_up in [i2c]") for line in ("I2C_SDA", "I2C_SCL")]
    if board.ladder:
        taps = ["KEYS", *(f"KEY_{n}" for n in range(1, len(board.ladder.steps))), "GND"]
        wanted.append(("V3V3", "KEYS", board.ladder.pull_up, "pull_up in [ladder]"))
        steps = zip(taps, taps[1:], board.ladder.steps, strict=False)
        wanted += [(a, b, step, f"step {n} in [ladder]") for n, (a, b, step) in enumerate(steps, 1)]
    if board.head:
        for signal in board.signals:
            if signal.part in ("bottom_head", "top_head", "slots"):
                wanted.append(("V3V3", f"{signal.name}_C", board.head.load_ohm, "load_ohm in [head]"))
                wanted.append(("V5", f"{signal.name}_A", board.head.led_ohm, "led_ohm in [head]"))
    for a, b, ohm, said in wanted:
        there = between(board, a, b)
        if list(there.values()) != [ohm]:
            found = ", ".join(f"{value:g}" for value in there.values())
            yield f"from {a} to {b} there should be {ohm:g} Ω; " + differs(found, list(there), said)
    if board.holdup:
        for net, farad, said in (
            ("VSYS", board.holdup.microfarad, "microfarad in [holdup]"),
            ("V3V3", board.holdup.rail_microfarad, "rail_microfarad in [holdup]"),
        ):
            big = {
                ref: two.value
                for two in board.twos
                if two.what == "electrolytic"
                for ref, *ends in two.each
                if ends == [net, "GND"]
            }
            if [value.split(" ")[0] for value in big.values()] != [f"{farad:g}"]:
                yield f"from {net} to GND there should be {farad:g} µF; " + differs(
                    ", ".join(big.values()), [*big], said
                )


def differs(found: str, there: list[str], said: str) -> str:
    """What the wiring has in place of a value that a table says, and where both are to be changed."""
    if not there:
        return f"the wiring has none: add it in a [[two]] of the same file, or change {said}"
    return f"the wiring has {found}: change {' and '.join(there)} in a [[two]] of the same file, or {said}"


CHECKS: tuple[Callable[[Board], Iterator[str]], ...] = (
    every_pin_is_said,
    what_is_bought_is_wired,
    every_signal_meets_a_part,
    no_net_ends_in_the_air,
    supplies_fit,
    levels_fit,
    what_pulls_has_a_resistor,
    one_drives,
    inputs_keep_a_level_unplugged,
    levels_are_kept_in_reset,
    cables_carry_the_nets,
    polarity_is_right,
    sockets_are_as_others_expect,
    chips_are_decoupled,
    resistors_stay_cool,
    values_agree,
)
