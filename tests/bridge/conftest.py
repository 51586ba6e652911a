"""Fixtures of the bridge's tests: a shoe behind a pty, and a bridge without rules that is up on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bridge.ptyshoe import PtyShoe
from bridge.running import Running
from dealershoe.port.identity import Address


@pytest.fixture
def shoe() -> Iterator[PtyShoe]:
    with PtyShoe() as made:
        yield made


@pytest.fixture
def running(shoe: PtyShoe, tmp_path: Path) -> Iterator[Running]:
    made = Running(Address(shoe.path), tmp_path)
    made.up(1)
    yield made
    made.bridge.stop()
