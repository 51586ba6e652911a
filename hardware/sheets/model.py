"""board.toml as frozen records, for the checks and the writers. Reading refuses what no check could make sense of."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

HARDWARE = Path(__file__).resolve().parents[1]
ROOT = HARDWARE.parent
T = TypeVar("T")


class BoardError(Exception):
    """board.toml says something that cannot be built; the message is a sentence for whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One line between the RP2040 and a part."""

    name: str
    gpio: int
    function: str  # as the RP2040 datasheet names it: "UART0 TX", "SIO in", "ADC2"
    part: str  # the id of the part at the other end
    pull: str  # the Pico's own resistor
    ma: float  # the most that the pin sources or sinks, mA
    use: str
    high: str  # what a 1 means
    variant: str = ""  # empty: in every variant


@dataclass(frozen=True, slots=True)
class Board:
    """The whole of board.toml."""

    name: str
    mcu: str
    variants: Mapping[str, str]
    signals: tuple[Signal, ...]

    def of(self, variant: str) -> list[Signal]:
        """The signals of one variant by GPIO."""
        return sorted((s for s in self.signals if s.variant in ("", variant)), key=lambda signal: signal.gpio)


def record(kind: type[T], table: Mapping[str, Any], place: str) -> T:
    """One table of the file as a record; unknown, missing and mistyped fields are named."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(set(table) - set(known)):
        raise BoardError(f"{place} has {', '.join(unknown)}, which means nothing here; known are {', '.join(known)}")
    try:
        return kind(**table)
    except TypeError as error:
        raise BoardError(f"{place} is not complete: {error}") from None


def read_board(text: str) -> Board:
    """The board that a text of TOML describes; `BoardError` if it describes none."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BoardError(f"board.toml is not TOML: {error}") from None
    signals = tuple(
        record(Signal, entry, f"signal {entry.get('name', number)}") for number, entry in enumerate(table["signal"], 1)
    )
    return Board(table["board"]["name"], table["board"]["mcu"], table["variants"], signals)


def the_board() -> Board:
    """The board of this repository."""
    return read_board((HARDWARE / "board.toml").read_text(encoding="utf-8"))
