"""The nets of a board: who meets whom on each, and what resistors lead to. The checks of them: wired.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sheets import rp2040
from sheets.model import Board, Chip, Part, Signal, Two
from sheets.packages import OUT, PACKAGES, VCC, Package

MAIN = "main board"
RAILS = ("V5", "V3V3", "GND")
OPEN = "-"
SOURCES = "QDSR"  # sensors, diodes, switches and trimmers: they give a net its level without a supply of their own
NOTHING = Package({}, "")
UNITS = {"Ω": 1.0, "kΩ": 1e3, "MΩ": 1e6}


@dataclass(frozen=True, slots=True)
class End:
    """One pin, or one end of a part with two, on a net."""

    ref: str
    pin: str
    on: str
    drives: bool = False
    passive: bool = False  # a part with two ends, or one of SOURCES
    supply: str = ""

    def __str__(self) -> str:
        return f"{self.ref} pin {self.pin}"


def refs(part: Part) -> list[str]:
    """The names of a part's pieces: "Q1 Q2 Q3" or "RV1 - RV8" one by one."""
    found: list[str] = []
    text = part.ref.replace(",", " ").strip()
    for first, last in re.findall(r"(\S+)(?: - (\S+))?", "" if text == OPEN else text):
        letters, number = re.fullmatch(r"(\D+)(\d+)", first).groups()  # type: ignore[union-attr]  # refs are so made
        end = int(last[len(letters) :]) if last else int(number)
        found += [f"{letters}{n}" for n in range(int(number), end + 1)]
    return found


def chips_of(board: Board, variant: str) -> list[Chip]:
    """The chips that a variant has."""
    return [chip for chip in board.chips if chip.variant in ("", variant)]


def twos_of(board: Board, variant: str) -> list[Two]:
    """The parts with two ends that a variant has."""
    return [two for two in board.twos if two.variant in ("", variant)]


def package(board: Board, chip: Chip) -> Package:
    """What the data sheet says of a chip's pins; nothing of a part that packages.py does not know."""
    number = next((part.number for part in board.parts if part.id == chip.part), "")
    return PACKAGES.get(number, NOTHING)


def rail_of(board: Board, chip: Chip) -> str:
    """The rail that feeds a chip; empty for a part without a supply."""
    fed = [chip.pins.get(pin, "") for pin, kind in package(board, chip).pins.items() if kind == VCC]
    return chip.supply or (fed[0] if fed else "")


def gpio_drives(signal: Signal) -> bool:
    """Whether a pin of the Pico drives its net."""
    return signal.function.endswith((" out", " TX", " SCK", " CSn")) or signal.function.startswith("PWM")


def nets(board: Board, variant: str) -> dict[str, list[End]]:
    """Every end on every net of a variant."""
    found: dict[str, list[End]] = {}
    for chip in chips_of(board, variant):
        kinds, rail = package(board, chip).pins, rail_of(board, chip)
        for pin, net in chip.pins.items():
            end = End(chip.ref, pin, chip.on, kinds.get(pin) == OUT, chip.ref[0] in SOURCES, rail)
            found.setdefault(net, []).append(end)
    for two in twos_of(board, variant):
        for ref, *ends in two.each:
            for number, net in enumerate(ends, 1):
                found.setdefault(net, []).append(End(ref, str(number), two.on, passive=True))
    for signal in board.of(variant):
        if signal.gpio in rp2040.ON_HEADER:
            drives = gpio_drives(signal)
            pulled = signal.pull != "none" or signal.function.startswith("I2C")
            found.setdefault(signal.name, []).append(
                End("A1", f"GP{signal.gpio}", MAIN, drives, pulled, "V3V3" if drives else "")
            )
    found.pop(OPEN, None)
    return found


def reached(board: Board, variant: str) -> dict[str, set[str]]:
    """The nets that a resistor leads to from each."""
    found: dict[str, set[str]] = {}
    for two in twos_of(board, variant):
        if two.what.startswith("resistor"):
            for _, a, b in two.each:
                found.setdefault(a, set()).add(b)
                found.setdefault(b, set()).add(a)
    for chip in chips_of(board, variant):
        if chip.ref.startswith("RV"):
            for a in chip.pins.values():
                found.setdefault(a, set()).update(set(chip.pins.values()) - {a})
    return found


def leads(net: str, ways: Mapping[str, set[str]]) -> set[str]:
    """A net, and all that resistors lead to from it, one behind the other; a rail is an end."""
    found, new = {net}, [net]
    while new:
        here = new.pop()
        more = ways.get(here, set()) - found if here not in RAILS else set()
        found |= more
        new += sorted(more)
    return found


def ohms(value: str) -> float:
    """A resistor's value in ohm: "2.2 kΩ" is 2200."""
    number, unit = value.split()
    return float(number) * UNITS[unit]


def between(board: Board, a: str, b: str) -> dict[str, float]:
    """The resistors from one net to another by name, ohm."""
    return {
        ref: ohms(two.value)
        for two in board.twos
        if two.what.startswith("resistor")
        for ref, *ends in two.each
        if set(ends) == {a, b}
    }
