"""The pytest plugin `dealershoe`: fixtures for the tests of any program that speaks to a shoe.

`pip install dealershoe[bench]`, and they are there. `docs/bench.md` has examples. Whatever costs time to import is
imported by the fixture that needs it: other tests of the same run pay nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dealershoe.bench.dealer import Dealer
    from dealershoe.bench.line import FaultyLine
    from dealershoe.bench.table import Table
    from dealershoe.emulate.shoe import EmulatedShoe

SEEDS = 1_000_000


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dealershoe", "an emulated dealing shoe")
    group.addoption("--shoe-seed", type=int, metavar="N", help="Seed of the faults of a line; a new one each run.")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.shoe_seed is None:
        config.option.shoe_seed = random.randrange(SEEDS)


def pytest_report_header(config: pytest.Config) -> str:
    from dealershoe.emulate.process import micropython

    found = micropython()
    runs = f"the firmware runs on {found}" if found else "no MicroPython here: the CPython twin runs the firmware"
    return f"dealershoe: {runs}; --shoe-seed={config.option.shoe_seed}"


# ---- to be overridden where a test wants another


@pytest.fixture
def shoe_interpreter() -> str:
    """What runs the firmware: "micropython", "cpython", or "auto", MicroPython where there is a wheel for it."""
    return "auto"


@pytest.fixture
def shoe_pace() -> str:
    """How cards move: "fast", as quickly as the firmware looks, or "real"."""
    return "fast"


@pytest.fixture
def shoe_rules() -> str:
    """The stack of rule packs of the scripted dealer and of the bridge."""
    from dealershoe.rules.stack import DEFAULT

    return DEFAULT


@pytest.fixture
def shoe_seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run's faults (`--shoe-seed`)."""
    seed: int = request.config.option.shoe_seed
    return seed


@pytest.fixture
def shoe_open() -> bool:
    """Whether the table is open: the shoe names its cards on the line. False: sealed, as at a live table."""
    return False


# ---- the bench


@pytest.fixture
def emulated_shoe(shoe_interpreter: str, shoe_pace: str, shoe_open: bool) -> Iterator[EmulatedShoe]:
    """A shoe with the real firmware. `emulated_shoe.port` is a serial port that any program can open."""
    from dealershoe.emulate.shoe import EmulatedShoe

    with EmulatedShoe(pace=shoe_pace, interpreter=shoe_interpreter, opened=shoe_open) as shoe:
        yield shoe


@pytest.fixture
def shoe_line(emulated_shoe: EmulatedShoe, shoe_seed: int) -> Iterator[FaultyLine]:
    """A line to the shoe, without faults until the test asks for some. The host opens `shoe_line.port`."""
    from dealershoe.bench.line import FaultyLine

    with FaultyLine(emulated_shoe.port, shoe_seed) as line:
        yield line


@pytest.fixture
def shoe_bridge(request: pytest.FixtureRequest, shoe_rules: str, shoe_open: bool, tmp_path: Path) -> Iterator[Table]:
    """The bridge of this package at the shoe, through `shoe_line` if the test has one."""
    from dealershoe.bench.table import Table

    end: Any = request.getfixturevalue("shoe_line" if "shoe_line" in request.fixturenames else "emulated_shoe")
    with Table(end.port, shoe_rules, tmp_path, shoe_open) as table:
        yield table


@pytest.fixture
def shoe_dealer(request: pytest.FixtureRequest, emulated_shoe: EmulatedShoe, shoe_rules: str) -> Dealer:
    """A dealer who plays lines of deal scripts at the shoe, and tells the bridge, if the test has one, the rest."""
    from dealershoe.bench.dealer import Dealer

    tell: Callable[[str], object] | None = None
    if "shoe_bridge" in request.fixturenames:
        tell = request.getfixturevalue("shoe_bridge").ask
    return Dealer(emulated_shoe, shoe_rules, tell)
