"""board.toml as frozen records, for the checks and the writers. Reading refuses what no check could make sense of."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

HARDWARE = Path(__file__).resolve().parents[1]
ROOT = HARDWARE.parent
T = TypeVar("T")
TYPES = (  # how a field's type begins, what TOML may give for it, and that in words
    ("str", (str,), "a text"),
    ("int", (int,), "a whole number"),
    ("float", (int, float), "a number"),
    ("list", (list,), "a list"),
    ("dict", (dict,), "a table"),
)
TABLES = (
    "board",
    "variants",
    "rails",
    "signal",
    "part",
    "cable",
    "chip",
    "two",
    "pio",
    "ladder",
    "head",
    "holdup",
    "i2c",
)


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
    reset: str = (
        ""  # "high" or "low": what it must be while the Pico is in reset or in its bootloader; empty: no matter
    )


@dataclass(frozen=True, slots=True)
class Rail:
    """A supply: what its source can give in mA, and the share of it that must stay free."""

    volts: float
    ma: float
    margin: float
    source: str


@dataclass(frozen=True, slots=True)
class Part:
    """A line of the bill of materials. Currents are of all pieces together at their worst, mA; prices of one, USD."""

    id: str
    ref: str
    what: str
    number: str  # the maker's
    maker: str
    quantity: int
    price: float
    current: str = ""  # where the currents are from
    order: str = ""  # a supplier and its number, where one is known
    v5: float = 0.0
    v3v3: float = 0.0
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable from the main board, its wires by the pin of the main board's connector; `mm` long."""

    id: str
    to: str
    connector: str
    far: str
    wires: list[str]
    mm: int
    far_pins: list[int] | None = None  # of the far connector; None: 1, 2, 3 …
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A part with pins, by the net that each is soldered to; "-": open."""

    ref: str
    part: str
    pins: dict[str, str]
    on: str = "main board"
    supply: str = ""  # the rail of its outputs, where it hangs on both
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Two:
    """Parts with two ends, of one value; `each` is name, net, net."""

    what: str
    value: str
    each: list[list[str]]
    on: str = "main board"
    part: str = "passives"
    watt: float = 0.25  # that one stands
    variant: str = ""

    def __post_init__(self) -> None:
        for each in self.each:
            if len(each) != 3:
                raise BoardError(f"{each[0]} has {len(each) - 1} ends; a {self.what} has two")


@dataclass(frozen=True, slots=True)
class Pio:
    """A PIO program in use, as path:function of the firmware."""

    program: str
    block: int
    machine: int
    words: int
    dma: int  # channels that serve it


@dataclass(frozen=True, slots=True)
class Ladder:
    """The keys' string of resistors, ohm; `tolerance` of each."""

    pull_up: float
    steps: list[float]
    tolerance: float


@dataclass(frozen=True, slots=True)
class Head:
    """What decides how fast a sensor answers and what its LED draws."""

    load_ohm: float
    rise_us_per_kohm: float
    led_ohm: float
    led_volts: float


@dataclass(frozen=True, slots=True)
class Bus:
    """The I2C bus: how fast, what pulls it up, what loads it, and what the parts on it ask for."""

    khz: float
    pull_up: float  # ohm, of the board
    tolerance: float
    breakout: float  # ohm, what a breakout may have beside it
    picofarad: list[float]  # parts and wires
    rise_ns: float  # from 30 to 70 % of the supply, at most
    sink_ma: float  # that every part on it can pull down


@dataclass(frozen=True, slots=True)
class Holdup:
    """The capacitor that outlasts the supply, and what for."""

    ma: float  # what it feeds, at 4.1 V
    microfarad: float
    tolerance: float
    from_volts: float
    to_volts: float
    needed_ms: float
    least_volts: float  # VSYS in normal use, at the least
    rail_microfarad: float  # from V3V3 to ground: how slowly that falls at the end
    fall_ms: float  # that the FRAM asks for, from 2.7 V to 1.0 V
    reset_volts: float  # of V3V3, where the supervisor stops the Pico


@dataclass(frozen=True, slots=True)
class Board:
    """The whole of board.toml, or of node.toml."""

    name: str
    mcu: str
    priced: str
    limit_usd: float
    variants: Mapping[str, str]
    rails: Mapping[str, Rail]
    signals: tuple[Signal, ...]
    parts: tuple[Part, ...]
    cables: tuple[Cable, ...]
    chips: tuple[Chip, ...]
    twos: tuple[Two, ...]
    pio: tuple[Pio, ...]
    ladder: Ladder | None  # None: this board has none
    head: Head | None
    holdup: Holdup | None
    i2c: Bus | None

    def of(self, variant: str) -> list[Signal]:
        """The signals of one variant by GPIO."""
        return sorted((s for s in self.signals if s.variant in ("", variant)), key=lambda signal: signal.gpio)

    def parts_of(self, variant: str) -> list[Part]:
        """The parts of one variant."""
        return [part for part in self.parts if part.variant in ("", variant)]

    @property
    def recommended(self) -> str:
        """The variant that is named first."""
        return next(iter(self.variants))


def record(kind: type[T], table: Mapping[str, Any], place: str) -> T:
    """One table of the file as a record; unknown and missing fields are named."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(set(table) - set(known)):
        raise BoardError(f"{place} has {', '.join(unknown)}, which means nothing here; known are {', '.join(known)}")
    if missing := [name for name, field in known.items() if field.default is MISSING and name not in table]:
        raise BoardError(f"{place} does not say its {' and '.join(missing)}")
    for name, value in table.items():
        for start, wanted, words in TYPES:
            if str(known[name].type).startswith(start) and (not isinstance(value, wanted) or isinstance(value, bool)):
                raise BoardError(f"{place}: {name} is {value!r}, where {words} belongs")
    return kind(**table)


def records(kind: type[T], table: Mapping[str, Any], key: str) -> tuple[T, ...]:
    """A list of tables, each named in errors by its name, id or place."""
    return tuple(
        record(kind, entry, f"{key} {entry.get('name') or entry.get('id') or entry.get('ref') or number}")
        for number, entry in enumerate(table.get(key, ()), 1)
    )


def maybe(kind: type[T], table: Mapping[str, Any], key: str) -> T | None:
    """A table that a board may do without."""
    return record(kind, table[key], key) if key in table else None


def read_board(text: str, file: str = "board.toml") -> Board:
    """The board that a text of TOML describes; `BoardError` if it describes none, with the file's name."""
    try:
        table = tomllib.loads(text)
        if unknown := sorted(set(table) - set(TABLES)):
            raise BoardError(
                f"{file} has {', '.join(unknown)}, which means nothing here; known are {', '.join(TABLES)}"
            )
        if missing := [name for name in ("name", "mcu", "priced", "limit_usd") if name not in table["board"]]:
            raise BoardError(f"board does not say its {' and '.join(missing)}")
        return Board(
            **table["board"],
            variants=table["variants"],
            rails={name: record(Rail, entry, f"rail {name}") for name, entry in table["rails"].items()},
            signals=records(Signal, table, "signal"),
            parts=records(Part, table, "part"),
            cables=records(Cable, table, "cable"),
            chips=records(Chip, table, "chip"),
            twos=records(Two, table, "two"),
            pio=records(Pio, table, "pio"),
            ladder=maybe(Ladder, table, "ladder"),
            head=maybe(Head, table, "head"),
            holdup=maybe(Holdup, table, "holdup"),
            i2c=maybe(Bus, table, "i2c"),
        )
    except tomllib.TOMLDecodeError as error:
        raise BoardError(f"{file} is not TOML: {error}") from None
    except KeyError as error:
        raise BoardError(f"{file} has no {error}") from None


def the_board() -> Board:
    """The shoe's."""
    return read_board((HARDWARE / "board.toml").read_text(encoding="utf-8"))


def the_node() -> Board:
    """A seat node's."""
    return read_board((HARDWARE / "node.toml").read_text(encoding="utf-8"), "node.toml")
