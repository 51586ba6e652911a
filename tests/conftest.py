"""For every test: nobody's own shelf decides what a pack means, nobody's own key signs, no example has to hurry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Hypothesis fails an example that takes longer than 200 ms, or long to think of: on a busy machine any can. The same
# examples each time, so that a run can be repeated; `pytest --hypothesis-profile=search` looks for others.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", PATIENT)
settings.register_profile("same", PATIENT, derandomize=True)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def no_shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A shelf that does not exist, for this process and those that it starts."""
    nowhere = tmp_path_factory.mktemp("no") / "shelf"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEALERSHOE_SHELF", str(nowhere))
        yield nowhere


@pytest.fixture(scope="session", autouse=True)
def no_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A place for the bridge's key, for this process and those that it starts."""
    key = tmp_path_factory.mktemp("key") / "bridge.key"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEALERSHOE_BRIDGE_KEY", str(key))
        yield key


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """An emulated second of the Pico takes half a minute: what is asked of it ends by its own limits."""
    for item in items:
        if item.path.name.startswith("test_pico"):
            item.add_marker(pytest.mark.timeout(0))
