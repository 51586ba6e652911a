"""board.toml as frozen records, for the checks and the writers. Reading refuses what no check could make sense of."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

HARDWARE = Path(__file__).resolve().parents[1]
ROOT = HARDWARE.parent
T = TypeVar("T")
KINDS: dict[str, tuple[tuple[type, ...], str]] = {  # a field's type, what TOML may give for it, and that in words
    "str": ((str,), "a text"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "list": ((list,), "a list"),
    "dict": ((dict,), "a table"),
}
SHARES = ("margin", "tolerance")  # of a whole: 1 would leave nothing
LARGEST = 1e9  # of any figure: far beyond what a board of this kind has, and far from what a float cannot reckon with
TITLE = ("name", "mcu", "priced", "limit_usd")  # what [board] says
LISTS = ("signal", "part", "cable", "chip", "two", "pio")  # of tables
SECTIONS = ("ladder", "head", "holdup", "i2c")
TABLES = ("board", "variants", "rails", *LISTS, *SECTIONS)
RAILS = ("V5", "V3V3")
REF = re.compile(r"[A-Z]+\d{1,3}")  # one piece in the schematic; several: "Q1 Q2" or "RV1 - RV8"
REFS = re.compile(r"-|(?:([A-Z]+)\d{1,3}(?: - \1\d{1,3})?(?:,? |$))+")
# Without one of these the checks that look at it would find nothing wrong
NEEDED = ("board", "variants", "rails", "signal", "part", "chip", "two")
NEEDED_IN_THE_SHOE = (*NEEDED, "cable", "pio", *SECTIONS)


class BoardError(Exception):
    """board.toml says something that cannot be built; the message is a sentence for whoever wrote it."""


def between(page: str, begin: str, end: str) -> tuple[str, str]:
    """What stands before and after the part of a page that is written here. Raises BoardError if its marks are gone."""
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise BoardError(f'a page has lost the line "{begin.strip()}" or "{end.strip()}": get it back from git')
    return before, after


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

    def __post_init__(self) -> None:
        if not REFS.fullmatch(self.ref):
            raise BoardError(f'{self.id} has the ref {self.ref!r}: write "Q1 Q2", "RV1 - RV8", or "-" for none')


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

    def __post_init__(self) -> None:
        if not self.connector.strip():
            raise BoardError(f"{self.id} has no connector")


@dataclass(frozen=True, slots=True)
class Chip:
    """A part with pins, by the net that each is soldered to; "-": open."""

    ref: str
    part: str
    pins: dict[str, str]
    on: str = "main board"
    supply: str = ""  # the rail of its outputs, where it hangs on both
    variant: str = ""

    def __post_init__(self) -> None:
        if not REF.fullmatch(self.ref):
            raise BoardError(f'a chip of {self.part} has the ref {self.ref!r}: write one like "U1"')


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
                raise BoardError(f"{' '.join(each[:1]) or self.what} has {len(each) - 1} ends; a {self.what} has two")
        if self.what.startswith("resistor") and not re.fullmatch(r"(?=.*[1-9])\d+(\.\d+)? [kM]?Ω", self.value):
            raise BoardError(f'a {self.what} is of {self.value!r}: write it as "220 Ω", "4.7 kΩ" or "1 MΩ"')


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
    """The keys' string of resistors, ohm, from KEYS to ground; `tolerance` of each. And what a reading suffers from."""

    pull_up: float
    steps: list[float]
    tolerance: float
    contact_ohm: float
    reference_ohm: float
    reference_ma: float
    adc_lsb: float
    leak_ua: float


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


def record(kind: type[T], table: Any, place: str) -> T:
    """One table of the file as a record; what is unknown, missing or of another kind is named."""
    return kind(**checked({field.name: field for field in fields(kind)}, table, place))  # type: ignore[arg-type]


def checked(known: Mapping[str, Field[Any]], table: Any, place: str) -> Mapping[str, Any]:
    """A table with every field that it must have and none that is unknown, each of its kind."""
    if not isinstance(table, dict):
        raise BoardError(f"{place} is {table!r}, where a table belongs")
    if unknown := sorted(set(table) - set(known)):
        raise BoardError(f"{place} has {', '.join(unknown)}, which means nothing here; known are {', '.join(known)}")
    if missing := [name for name, field in known.items() if field.default is MISSING and name not in table]:
        raise BoardError(f"{place} does not say its {' and '.join(missing)}")
    for name, value in table.items():
        check_value(str(known[name].type).removesuffix(" | None"), value, name, place)
    return table


def check_value(kind: str, value: Any, name: str, place: str) -> None:
    """Refuse a value that is not of its kind ("int", "list[float]", "dict[str, str]"), or a number that none can be."""
    whole, _, inner = kind.partition("[")
    wanted, words = KINDS[whole]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise BoardError(f"{place}: {name} is {value!r}, where {words} belongs")
    if isinstance(value, (list, dict)):
        for each in (value.values() if isinstance(value, dict) else value) if inner else ():
            check_value(inner[:-1].removeprefix("str, "), each, f"one of {name}", place)
    elif isinstance(value, (int, float)):
        if not 0 <= value <= LARGEST or math.isnan(value):
            raise BoardError(f"{place}: {name} is {value}; it is a number from 0 to {LARGEST:.0f}")
        if name in SHARES and value >= 1:
            raise BoardError(f"{place}: {name} is {value}; it is a share, 0.2 for 20 %")


def records(kind: type[T], table: Mapping[str, Any], key: str) -> tuple[T, ...]:
    """A list of tables, each named in errors by its name, id or place."""
    entries = table.get(key, [])
    if not isinstance(entries, list):
        raise BoardError(f"{key} is one thing, where a list belongs: write [[{key}]]")
    return tuple(record(kind, entry, f"{key} {named(entry) or number}") for number, entry in enumerate(entries, 1))


def named(entry: Any) -> str:
    """What an entry calls itself."""
    names = [entry.get(key) for key in ("name", "id", "ref")] if isinstance(entry, dict) else []
    return next((name for name in names if name and isinstance(name, str)), "")


def section(kind: type[T], table: Mapping[str, Any], key: str) -> T | None:
    """A table that a board may do without. What it says is divided by, and so never 0, but for a tolerance."""
    if key not in table:
        return None
    found = record(kind, table[key], key)
    for name, value in table[key].items():
        if name not in SHARES and (value == [] or 0 in (value if isinstance(value, list) else [value])):
            raise BoardError(f"{key}: {name} is {value}; it must be more than 0")
    return found


def read_board(text: str, file: str = "board.toml", needed: tuple[str, ...] = NEEDED_IN_THE_SHOE) -> Board:
    """The board that a text of TOML describes; `BoardError` if it describes none, with the file's name."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BoardError(f"{file} is not TOML: {error}") from None
    return board_of(table, file, needed)


def board_of(table: Mapping[str, Any], file: str, needed: tuple[str, ...]) -> Board:
    """The board that the tables of a file describe."""
    if unknown := sorted(set(table) - set(TABLES)):
        raise BoardError(f"{file} has {', '.join(unknown)}, which means nothing here; known are {', '.join(TABLES)}")
    if missing := [key for key in needed if not table.get(key)]:
        raise BoardError(f"{file} has no {' and no '.join(missing)}: what is checked by it would go unchecked")
    title = {field.name: field for field in fields(Board) if field.name in TITLE}
    check_value("dict[str, str]", table["variants"], "variants", file)
    check_value("dict", table["rails"], "rails", file)
    if set(table["rails"]) != set(RAILS):
        raise BoardError(f"{file} has the rails {', '.join(table['rails'])}; they are {' and '.join(RAILS)}")
    return Board(
        **checked(title, table["board"], "board"),
        variants=table["variants"],
        rails={name: record(Rail, entry, f"rail {name}") for name, entry in table["rails"].items()},
        signals=records(Signal, table, "signal"),
        parts=records(Part, table, "part"),
        cables=records(Cable, table, "cable"),
        chips=records(Chip, table, "chip"),
        twos=records(Two, table, "two"),
        pio=records(Pio, table, "pio"),
        ladder=section(Ladder, table, "ladder"),
        head=section(Head, table, "head"),
        holdup=section(Holdup, table, "holdup"),
        i2c=section(Bus, table, "i2c"),
    )


def read_file(path: Path) -> str:
    """The text of a file that is part of the hardware; `BoardError` where there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BoardError(f"{path} cannot be read ({error.strerror}): restore it") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BoardError(f"{path} is not UTF-8 in line {line}: save it as UTF-8") from None


def the_board() -> Board:
    """The shoe's."""
    return read_board(read_file(HARDWARE / "board.toml"))


def the_node() -> Board:
    """A seat node's: no cables, keys, heads, I2C or hold-up."""
    return read_board(read_file(HARDWARE / "node.toml"), "node.toml", NEEDED)
