"""The table `hardware/faults.toml`: how large each disturbance of a pass is. For the simulated passes."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

FILE = Path(__file__).parents[2] / "hardware" / "faults.toml"


class Magnitudes:
    """The table. A magnitude without `low` is a size, the same either way."""

    def __init__(self) -> None:
        with FILE.open("rb") as file:
            self.table = tomllib.load(file)

    def high(self, name: str) -> float:
        return float(self.table[name]["high"])

    def range(self, name: str) -> tuple[float, float]:
        return float(self.table[name]["low"]), self.high(name)

    def draw(self, name: str, rng: random.Random) -> float:
        """One from `low` to `high`."""
        return rng.uniform(*self.range(name))

    def either(self, name: str, rng: random.Random) -> float:
        """One from -`high` to `high`."""
        high = self.high(name)
        return rng.uniform(-high, high)

    def up_to(self, name: str, rng: random.Random) -> float:
        """One from 0 to `high`."""
        return rng.uniform(0.0, self.high(name))
