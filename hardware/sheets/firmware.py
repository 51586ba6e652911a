"""What the firmware asks of a board, read from its source, and whether board.toml and node.toml give it. For
`make hardware` and the tests of the board."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sheets import checks, model
from sheets.model import Board, BoardError

DIRECTIVES = ("wrap", "wrap_target", "label")  # of a PIO program; the rest are instructions
# Signals whose `use` names levels that the firmware decides by; from 10000 on they are readings, below examples
LEVELS = {"KEYS": 10000, "AMBIENT": 10000}


@dataclass(frozen=True, slots=True)
class Firmware:
    """What the shoe's firmware asks for."""

    pio: Mapping[str, int]  # programs, as path:function, and how many instructions each has
    dma: int  # channels
    khz: float  # of the I2C bus
    key_levels: tuple[int, ...]
    key_tolerance: int
    pins: frozenset[str]  # by the names of signals
    numbers: frozenset[int]  # all whole numbers in board.py


def the_firmware() -> Firmware:
    """As it is in the folder firmware. Raises BoardError where that does not say what is asked for here."""
    drivers = sorted((model.ROOT / "firmware" / "drivers").glob("*.py"))
    board = parsed(model.ROOT / "firmware" / "board.py")
    said = constants(board)
    try:
        levels, tolerance = tuple(said["KEY_LEVELS"]), int(said["KEY_TOLERANCE"])
    except (KeyError, TypeError, ValueError):
        raise BoardError("firmware/board.py does not say KEY_LEVELS and KEY_TOLERANCE in figures") from None
    return Firmware(
        pio={name: words for path in drivers for name, words in programs(path)},
        dma=sum(model.read_file(path).count("rp2.DMA()") for path in drivers),
        khz=hertz(parsed(model.ROOT / "firmware" / "drivers" / "fram.py")) / 1000,
        key_levels=levels,
        key_tolerance=tolerance,
        pins=frozenset(
            node.attr
            for node in ast.walk(board)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pins"
        ),
        numbers=frozenset(
            node.value for node in ast.walk(board) if isinstance(node, ast.Constant) and isinstance(node.value, int)
        ),
    )


def the_nodes_gpios() -> frozenset[int]:
    """The pins that a seat node's firmware uses."""
    used: set[Any] = set()
    for node in ast.walk(parsed(model.ROOT / "firmware" / "node" / "board.py")):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Pin":
            if isinstance(node.args[0], ast.Constant):
                used.add(node.args[0].value)
        elif isinstance(node, ast.comprehension):
            used |= {each.value for each in getattr(node.iter, "elts", ()) if isinstance(each, ast.Constant)}
    return frozenset(used)


def parsed(path: Path) -> ast.Module:
    """A file of the firmware."""
    try:
        return ast.parse(model.read_file(path))
    except (SyntaxError, ValueError) as error:
        raise BoardError(f"{path} is not Python: {error}") from None


def constants(tree: ast.Module) -> dict[str, Any]:
    """The names that a file gives to figures."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            with contextlib.suppress(ValueError):  # not a literal
                found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def programs(path: Path) -> Iterator[tuple[str, int]]:
    """The PIO programs of a file and their instructions."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef) and any("asm_pio" in ast.unparse(d) for d in node.decorator_list):
            calls = [
                ast.unparse(line.value)
                for line in node.body
                if isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)
            ]
            words = [call for call in calls if call.split("(")[0] not in DIRECTIVES]
            yield f"{path.relative_to(model.ROOT).as_posix()}:{node.name}", len(words)


def hertz(tree: ast.Module) -> float:
    """The frequency that the FRAM's driver asks of the I2C bus."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "I2C"]
    said = [word.value for call in calls for word in call.keywords if word.arg == "freq"]
    try:
        (word,) = said
        return float(constants(tree)[word.id] if isinstance(word, ast.Name) else ast.literal_eval(word))
    except (ValueError, KeyError, TypeError):
        raise BoardError("firmware/drivers/fram.py does not say in one figure how fast it asks for I2C") from None


def programs_are_booked(board: Board, firmware: Firmware) -> Iterator[str]:
    """Every PIO program and DMA channel that the firmware uses is booked, as it is, and no other."""
    booked = {use.program: use.words for use in board.pio}
    for name in booked.keys() - firmware.pio.keys():
        known = ", ".join(firmware.pio) or "none"
        yield f"the PIO program {name} is booked, and the firmware has none of that name; it has {known}"
    for name, words in firmware.pio.items():
        if name not in booked:
            yield f"the firmware's PIO program {name} is not booked: add a [[pio]] for it"
        elif booked[name] != words:
            yield f"the PIO program {name} has {words} instructions; {booked[name]} are booked"
    if (channels := sum(use.dma for use in board.pio)) != firmware.dma:
        yield f"the firmware uses {firmware.dma} DMA channels; {channels} are booked"


def bus_is_as_fast_as_asked(board: Board, firmware: Firmware) -> Iterator[str]:
    """The I2C bus is built for the clock that the firmware asks for."""
    if board.i2c and firmware.khz > board.i2c.khz:
        yield (
            f"firmware/drivers/fram.py asks the I2C bus for {firmware.khz:g} kHz, and it is built for {board.i2c.khz:g}"
        )


def ladder_gives_the_levels(board: Board, firmware: Firmware) -> Iterator[str]:
    """At its worst each key, and none, is within what the firmware takes for it, and a wire at ground or off is not."""
    if board.ladder is None:
        return
    ground, *spans, off = checks.ladder_spans(board.ladder).items()
    if len(spans) != len(firmware.key_levels):
        yield f"the ladder has {len(spans) - 1} keys; firmware/board.py has levels for {len(firmware.key_levels) - 1}"
        return
    bands = [(level - firmware.key_tolerance, level + firmware.key_tolerance) for level in firmware.key_levels]
    for (name, (least, most)), (low, high) in zip(spans, bands, strict=True):
        if least < low or most > high:
            yield f"{name} may read {least:.0f} to {most:.0f}; firmware/board.py takes {low} to {high} for it"
    for (_, before), (begins, _) in pairwise([ground[1], *bands, off[1]]):
        if begins <= before:
            yield f"what begins at {begins:.0f} is not told from what ends at {before:.0f} (firmware/board.py)"


def pins_have_signals(board: Board, firmware: Firmware) -> Iterator[str]:
    """Every pin that the firmware asks for by name is a signal, and the levels said of signals are the firmware's."""
    uses = {signal.name: signal.use for signal in board.signals}
    for name in sorted(firmware.pins - uses.keys()):
        yield f"firmware/board.py asks for the pin of {name}, and there is no such signal"
    for name, least in LEVELS.items():
        said = {
            int(word) for word in uses.get(name, "").replace(";", " ").replace(",", " ").split() if word.isdecimal()
        }
        for level in sorted(level for level in said - firmware.numbers if least <= level < 65535):
            yield f"the use of {name} names {level}; firmware/board.py decides by no such level"


CHECKS: tuple[Callable[[Board, Firmware], Iterator[str]], ...] = (
    programs_are_booked,
    bus_is_as_fast_as_asked,
    ladder_gives_the_levels,
    pins_have_signals,
)


def faults(board: Board, firmware: Firmware) -> list[str]:
    """All in which the shoe's board and its firmware differ, in sentences."""
    return [fault for check in CHECKS for fault in check(board, firmware)]


def node_faults(node: Board, gpios: frozenset[int]) -> list[str]:
    """The same of a seat node's board and the pins that its firmware uses."""
    wired = {signal.gpio: signal.name for signal in node.signals}
    missing = [f"firmware/node/board.py uses GP{gpio}, and no signal is there" for gpio in sorted(gpios - wired.keys())]
    unused = [
        f"{wired[gpio]} is on GP{gpio}, which firmware/node/board.py does not use"
        for gpio in sorted(wired.keys() - gpios)
    ]
    return missing + unused
