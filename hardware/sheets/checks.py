"""Whether a board can be built: each check gives sentences for whoever changed board.toml, none if all is well."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from math import inf, log

from sheets import rp2040, wired
from sheets.model import Board, Bus, Holdup, Ladder

PULLS = ("up", "down", "none")
BLOCK = ("BOTTOM_CLK", "BOTTOM_DATA", "BOTTOM_NDATA", "TOP_CLK", "TOP_DATA", "THROAT", "LIP")  # bits 0 to 6 of a sample
KEYS = 6
STEP = 65535 / (KEYS + 2)  # from the wire at ground over the keys and no key to the wire off
LADDER_VOLTS = 3.3
FASTEST_MM_S = 3000.0  # a card pulled by hand
PICO_MA, EFFICIENCY, VSYS_VOLTS = 100.0, 0.8, 4.1  # assumed: a busy RP2040 with its flash; the RT6150 behind D4
FRAM_KHZ = 1000.0  # DS501-00017-5v1-E: SCL at most, from 2.7 V on
FRAM_VOLTS, FRAM_OFF = 2.7, 1.0  # DS501-00017-5v1-E: where it begins to work, and where its fall ends
HALF_CELL_MM = 1.25  # the shortest mark: half a cell of hardware/card-code.md


def names_and_variants(board: Board) -> Iterator[str]:
    """Names are used once, and what they refer to exists."""
    for kind, named in (
        ("signal", Counter(signal.name for signal in board.signals)),
        ("part", Counter(part.id for part in board.parts)),
        ("cable", Counter(cable.id for cable in board.cables)),
    ):
        yield from (f"two of {kind} are called {name}" for name, count in named.items() if count > 1)
    parts = {part.id: part.variant for part in board.parts}
    for signal in board.signals:
        if signal.part not in parts:
            yield f"{signal.name} leads to {signal.part}, and there is no such part"
        elif parts[signal.part] not in ("", signal.variant):
            yield f"{signal.name} leads to {signal.part}, which only the variant {parts[signal.part]} has"
        if signal.pull not in PULLS:
            yield f"{signal.name} pulls {signal.pull}; a pin pulls {', '.join(PULLS)}"
    for thing, variant in (
        *((signal.name, signal.variant) for signal in board.signals),
        *((part.id, part.variant) for part in board.parts),
        *((cable.id, cable.variant) for cable in board.cables),
    ):
        if variant and variant not in board.variants:
            yield f"{thing} is of the variant {variant}; there are {', '.join(board.variants)}"


def pins_used_once(board: Board) -> Iterator[str]:
    """No pin has two signals in a variant."""
    for variant in board.variants:
        users: dict[int, str] = {}
        for signal in board.of(variant):
            if signal.gpio in users:
                yield f"GP{signal.gpio} is {users[signal.gpio]} and {signal.name} in the variant {variant}: move one"
            users[signal.gpio] = signal.name


def pins_can(board: Board) -> Iterator[str]:
    """Every function is one that the RP2040 has on that pin and that a Pico brings out."""
    for signal in board.signals:
        if signal.gpio not in rp2040.GPIOS:
            yield f"{signal.name} is on GP{signal.gpio}; the RP2040 has GP0 to GP29"
            continue
        if signal.function not in rp2040.functions(signal.gpio):
            able = [gpio for gpio in rp2040.GPIOS if signal.function in rp2040.functions(gpio)]
            where = f"it is on {', '.join(f'GP{gpio}' for gpio in able)}" if able else "no pin can"
            yield f"{signal.name}: GP{signal.gpio} cannot be {signal.function}; {where}"
        if signal.function.startswith("ADC") and signal.pull != "none":
            yield f"{signal.name} is measured, and the Pico's pull {signal.pull} would bend it: pull none"
        if signal.gpio not in rp2040.ON_HEADER and rp2040.ON_BOARD.get(signal.gpio) != signal.function:
            yield f"{signal.name}: GP{signal.gpio} is not on the Pico's header, nor wired as {signal.function} on it"


def channels_used_once(board: Board) -> Iterator[str]:
    """A UART, SPI, I2C or PWM output leads to one pin; pins of one PWM slice are told of each other by its channel."""
    for variant in board.variants:
        users: dict[str, str] = {}
        for signal in board.of(variant):
            if signal.function in rp2040.ANYWHERE:
                continue
            if signal.function in users:
                yield f"{users[signal.function]} and {signal.name} are both {signal.function} in the variant {variant}"
            users[signal.function] = signal.name
        slices: dict[str, str] = {}
        for function, name in users.items():
            if function.startswith("PWM"):
                unit = function.split()[0]
                if unit in slices:
                    yield f"{slices[unit]} and {name} share the frequency of {unit} in the variant {variant}"
                slices[unit] = name


def buses_are_whole(board: Board) -> Iterator[str]:
    """Where one line of a bus is used, so are those without which it says nothing."""
    for variant in board.variants:
        used = {signal.function for signal in board.of(variant)}
        for bus, lines in (("UART", ("TX", "RX")), ("I2C", ("SDA", "SCL")), ("SPI", ("SCK", "TX", "RX"))):
            for unit in ("0", "1"):
                present = {line for line in lines if f"{bus}{unit} {line}" in used}
                if present and present != set(lines):
                    missing = ", ".join(sorted(set(lines) - present))
                    yield f"{bus}{unit} lacks {missing} in the variant {variant}"


def sampler_has_its_block(board: Board) -> Iterator[str]:
    """Heads and slots follow each other from pin to pin: one PIO instruction takes them all."""
    if not board.pio:
        return
    pins = {signal.name: signal for signal in board.signals}
    for bit, name in enumerate(BLOCK):
        if name not in pins:
            yield f"{name}, bit {bit} of a sample, is missing"
        elif BLOCK[0] in pins and pins[name].gpio != pins[BLOCK[0]].gpio + bit:
            place = pins[BLOCK[0]].gpio + bit
            yield f"{name} is bit {bit} of a sample and must be on GP{place}, not GP{pins[name].gpio}"
        elif not pins[name].function.startswith("PIO"):
            yield f"{name} is read by PIO and cannot be {pins[name].function}"


def pio_not_overbooked(board: Board) -> Iterator[str]:
    """Blocks, machines, words and DMA channels suffice."""
    machines = Counter((use.block, use.machine) for use in board.pio)
    yield from (
        f"machine {machine} of PIO{block} runs {count} programs"
        for (block, machine), count in machines.items()
        if count > 1
    )
    for use in board.pio:
        if not (0 <= use.block < rp2040.PIO_BLOCKS and 0 <= use.machine < rp2040.PIO_MACHINES):
            yield f"{use.program} is on machine {use.machine} of PIO{use.block}; there are 2 blocks of 4"
    for block in range(rp2040.PIO_BLOCKS):
        words = sum({use.program: use.words for use in board.pio if use.block == block}.values())
        if words > rp2040.PIO_WORDS:
            yield f"the programs of PIO{block} have {words} instructions; a block holds {rp2040.PIO_WORDS}"
    channels = sum(use.dma for use in board.pio)
    if channels > rp2040.DMA_CHANNELS:
        yield f"{channels} DMA channels are in use; there are {rp2040.DMA_CHANNELS}"
    blocks = {f"PIO{use.block}" for use in board.pio}
    for signal in board.signals:
        if signal.function.startswith("PIO") and signal.function.split()[0] not in blocks:
            yield f"{signal.name} is {signal.function}, and no program runs there"


def rails_suffice(board: Board) -> Iterator[str]:
    """The worst of every part at once, and the margin, within what a rail can give."""
    for variant in board.variants:
        for name, rail in board.rails.items():
            drawn = draw(board, variant, name)
            allowed = rail.ma * (1 - rail.margin)
            if drawn > allowed:
                yield (
                    f"{name} must give {drawn:.0f} mA in the variant {variant}; {rail.source} leaves {allowed:.0f} mA "
                    f"of {rail.ma:.0f} with a margin of {rail.margin:.0%}"
                )
    for part in board.parts:
        if (part.v5 or part.v3v3) and not part.current:
            yield f"{part.id} draws current and does not say where the figure is from"


def draw(board: Board, variant: str, rail: str) -> float:
    """mA that the parts of a variant draw from a rail at their worst."""
    field = {"V5": "v5", "V3V3": "v3v3"}[rail]
    return sum(float(getattr(part, field)) for part in board.parts_of(variant))


def pico_ma(board: Board, variant: str) -> float:
    """mA that the Pico takes at VSYS = 4.1 V for itself and all of V3V3 (see the constants)."""
    out = PICO_MA + draw(board, variant, "V3V3")
    return out * board.rails["V3V3"].volts / EFFICIENCY / VSYS_VOLTS


def the_pico_carries_v3v3(board: Board) -> Iterator[str]:
    """What hangs on V3V3 is in the Pico's own share of V5, and in what the capacitor must feed."""
    pico = next((part for part in board.parts if part.id == "pico"), None)
    most = max(pico_ma(board, variant) for variant in board.variants)
    if pico and pico.v5 < most - 0.5:
        yield f"with all of V3V3 the Pico draws {most:.0f} mA from V5; its part says {pico.v5:.0f}"
    if board.holdup and board.holdup.ma < most - 0.5:
        yield f"the capacitor feeds {most:.0f} mA; the hold-up reckons with {board.holdup.ma:.0f}"


def pins_not_overloaded(board: Board) -> Iterator[str]:
    """No pin gives more than its driver can, nor all of them more than the chip."""
    for signal in board.signals:
        if signal.ma > rp2040.PIN_MA:
            yield f"{signal.name} would carry {signal.ma} mA; a pin drives {rp2040.PIN_MA:.0f}"
    for variant in board.variants:
        total = sum(signal.ma for signal in board.of(variant))
        if total > rp2040.ALL_PINS_MA:
            yield f"all pins carry {total:.1f} mA in the variant {variant}; the chip stands {rp2040.ALL_PINS_MA:.0f}"


def cables_lead_somewhere(board: Board) -> Iterator[str]:
    """A connector has as many pins as there are wires, and carries signals of its own variant."""
    for cable in board.cables:
        pins = cable.connector.split()[-1]
        if pins.isdigit() and int(pins) != len(cable.wires):
            yield f"{cable.id} has {len(cable.wires)} wires in a {cable.connector}"
        if cable.far_pins is not None and len(cable.far_pins) != len(cable.wires):
            yield f"{cable.id} has {len(cable.wires)} wires and {len(cable.far_pins)} far pins"
        for signal in board.signals:
            if signal.name in cable.wires and signal.variant not in ("", cable.variant):
                yield f"{cable.id} carries {signal.name}, which only the variant {signal.variant} has"


def ladder_levels(ladder: Ladder) -> list[float]:
    """What the ADC reads of each key and, last, of none, 0 to 65535, with exact resistors."""
    sums = [sum(ladder.steps[:key]) for key in range(1, len(ladder.steps) + 1)]
    return [65535 * ohm / (ohm + ladder.pull_up) for ohm in sums]


def ladder_spans(ladder: Ladder) -> dict[str, tuple[float, float]]:
    """The least and the most that the ADC can read with the wire at ground, of each key, of none, with the wire off:
    all that board.toml says against it at its worst, at once."""
    spans = {"the wire at ground": (0.0, ladder.contact_ohm)}
    for key in range(1, len(ladder.steps)):
        ohm = sum(ladder.steps[:key])
        spans[f"key {key}"] = (ohm * (1 - ladder.tolerance), ohm * (1 + ladder.tolerance) + ladder.contact_ohm)
    ohm = sum(ladder.steps)
    spans["no key"] = (ohm * (1 - ladder.tolerance), ohm * (1 + ladder.tolerance))
    spans["the wire off"] = (inf, inf)
    return {name: (_reading(ladder, least, -1), _reading(ladder, most, 1)) for name, (least, most) in spans.items()}


def _reading(ladder: Ladder, ohm: float, worst: int) -> float:
    """What the ADC reads at most (`worst` 1) or at least (-1) of so many ohm from KEYS to ground."""
    pull_up = ladder.pull_up * (1 - worst * ladder.tolerance)
    share = 1 / (1 + pull_up / ohm) if ohm else 0.0
    leak = worst * ladder.leak_ua * 1e-6 * pull_up * share / LADDER_VOLTS  # behind both, side by side
    reference = LADDER_VOLTS - (ladder.reference_ohm * ladder.reference_ma / 1000 if worst > 0 else 0.0)
    level = 65535 * (share + leak) * LADDER_VOLTS / reference + worst * 16 * ladder.adc_lsb
    return min(max(level, 0.0), 65535.0)


def ladder_has_even_steps(board: Board) -> Iterator[str]:
    """Six keys, an eighth of the range apart and from its ends, and no reading more than a third of that off."""
    if board.ladder is None:
        return
    if len(board.ladder.steps) != KEYS + 1:
        yield f"the ladder has {len(board.ladder.steps)} steps; {KEYS} keys need {KEYS + 1}"
        return
    for place, (name, span) in enumerate(ladder_spans(board.ladder).items()):
        for level in span:
            if abs(level - place * STEP) > STEP / 3:
                yield f"{name} may read {level:.0f}, more than a third of a step from {place * STEP:.0f}"


def heads_are_fast(board: Board) -> Iterator[str]:
    """A sensor rises and falls within half of the shortest mark at the highest speed; its LED stays within 50 mA."""
    if board.head is None:
        return
    mark_us = HALF_CELL_MM / FASTEST_MM_S * 1e6
    edges_us = 2 * board.head.rise_us_per_kohm * board.head.load_ohm / 1000
    if edges_us > mark_us / 2:
        yield f"a head takes {edges_us:.0f} µs to rise and fall; the shortest mark lasts {mark_us:.0f} µs"
    led = (5.25 - board.head.led_volts) / board.head.led_ohm * 1000
    if led > 50:  # QRE1113/D and EE-SX1041: continuous forward current
        yield f"a head's LED draws {led:.0f} mA; it stands 50"


def rise_ns(bus: Bus) -> float:
    """How long a line takes from 30 to 70 % of the supply: RC × ln(0.7 / 0.3), without the help of a breakout."""
    return log(0.7 / 0.3) * bus.pull_up * (1 + bus.tolerance) * sum(bus.picofarad) / 1000


def bus_is_fast(board: Board) -> Iterator[str]:
    """No faster than its part; the pull-ups lift it in time, and a part can still pull it down (NXP UM10204, 7.1)."""
    if board.i2c is None:
        return
    if board.i2c.khz > FRAM_KHZ:
        yield f"the I2C bus is built for {board.i2c.khz:g} kHz; the FRAM stands {FRAM_KHZ:g}"
    if (rises := rise_ns(board.i2c)) > board.i2c.rise_ns:
        yield (
            f"a line of the I2C bus rises in {rises:.0f} ns, at {board.i2c.khz:.0f} kHz it may take "
            f"{board.i2c.rise_ns:.0f}: smaller pull-ups, or less on the bus"
        )
    least = 1 / (1 / board.i2c.pull_up / (1 - board.i2c.tolerance) + 1 / board.i2c.breakout)
    sunk = (board.rails["V3V3"].volts * 1.03 - 0.4) / least * 1000
    if sunk > board.i2c.sink_ma:
        yield f"a part must sink {sunk:.1f} mA to pull the I2C bus down, and can sink {board.i2c.sink_ma:.1f}"


def holdup_ms(holdup: Holdup) -> float:
    """How long the capacitor feeds the Pico once the supply is said to be going."""
    farad = holdup.microfarad * 1e-6 * (1 - holdup.tolerance)
    joule = farad * (holdup.from_volts**2 - holdup.to_volts**2) / 2
    return joule / (4.1 * holdup.ma / 1000) * 1000


def power_outlasts_a_write(board: Board) -> Iterator[str]:
    """An event that has begun is in the FRAM before the Pico's supply ends; the FRAM's own ends as it must."""
    if board.holdup is None:
        return
    if (lasts := holdup_ms(board.holdup)) < board.holdup.needed_ms:
        yield f"the capacitor lasts {lasts:.1f} ms and {board.holdup.needed_ms} ms are needed"
    if board.holdup.least_volts < board.holdup.from_volts + 0.05:
        yield (
            f"VSYS may be {board.holdup.least_volts:g} V in use, and below {board.holdup.from_volts:g} V the power is "
            "said to go: no room between them"
        )
    most = max(draw(board, variant, "V3V3") for variant in board.variants)
    falls = board.holdup.rail_microfarad * (1 - board.holdup.tolerance) * (FRAM_VOLTS - FRAM_OFF) / most
    if falls < board.holdup.fall_ms:
        yield f"V3V3 may fall past the FRAM in {falls:.2f} ms; it asks for {board.holdup.fall_ms:g} ms: more capacity"
    if board.holdup.reset_volts <= FRAM_VOLTS:
        yield f"the Pico runs down to {board.holdup.reset_volts:g} V, and the FRAM works from {FRAM_VOLTS:g} V on"


def cost(board: Board, variant: str) -> float:
    """USD for one shoe of this variant."""
    return sum(part.price * part.quantity for part in board.parts_of(variant))


def parts_can_be_ordered(board: Board) -> Iterator[str]:
    """A part has its maker's number, but for what any maker has; nothing is bought in less than one piece."""
    for part in board.parts:
        if not part.number or (part.number == "-" and not part.maker.startswith("any")):
            yield f"{part.id} has no maker's number: nobody can order it"
        if part.quantity < 1 or part.price < 0 or part.v5 < 0 or part.v3v3 < 0:
            yield (
                f"{part.id} has a figure that cannot be: {part.quantity} pieces at {part.price:g} USD, "
                f"{part.v5:g} and {part.v3v3:g} mA"
            )
    for signal in board.signals:
        if signal.ma < 0:
            yield f"{signal.name} carries {signal.ma:g} mA; the figure has no sign"


def affordable(board: Board) -> Iterator[str]:
    """The recommended variant stays below the limit."""
    if (total := cost(board, board.recommended)) > board.limit_usd:
        yield f"it costs {total:.2f} USD, more than {board.limit_usd:.0f}"


CHECKS: tuple[Callable[[Board], Iterator[str]], ...] = (
    names_and_variants,
    pins_used_once,
    pins_can,
    channels_used_once,
    buses_are_whole,
    sampler_has_its_block,
    pio_not_overbooked,
    rails_suffice,
    the_pico_carries_v3v3,
    pins_not_overloaded,
    cables_lead_somewhere,
    ladder_has_even_steps,
    heads_are_fast,
    bus_is_fast,
    power_outlasts_a_write,
    parts_can_be_ordered,
    affordable,
)


def faults(board: Board) -> list[str]:
    """All that is wrong with a board, in sentences; what is wrong in several variants is said of the first."""
    found: dict[str, str] = {}
    for check in (*CHECKS, *wired.CHECKS):
        for fault in check(board):
            found.setdefault(re.sub(r"\bin the variant \w+", "", fault), fault)
    return list(found.values())
