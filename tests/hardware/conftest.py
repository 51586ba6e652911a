"""A copy of the hardware that a test may break."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sheets.model import HARDWARE, ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with all that `make hardware` reads."""
    (tmp_path / "hardware").mkdir()
    for name in ("board.toml", "node.toml", "pinout.md", "README.md"):
        shutil.copy(HARDWARE / name, tmp_path / "hardware")
    for name in ("board.py", "drivers", "node"):
        source = ROOT / "firmware" / name
        (tmp_path / "firmware" / name).parent.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / "firmware" / name)
    return tmp_path
