"""For every test: nobody's own shelf of rule packs decides what a name of a pack means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A shelf that does not exist, for this process and those that it starts."""
    nowhere = tmp_path_factory.mktemp("no") / "shelf"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEALERSHOE_SHELF", str(nowhere))
        yield nowhere
