"""Puts the firmware where the tests can import it: the very files that go on the Pico."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "firmware"))
