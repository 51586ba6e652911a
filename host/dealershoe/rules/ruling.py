"""A ruling: what a rule book says about a finding, with everything a floor person needs to defend it."""

from __future__ import annotations

from typing import NamedTuple

# rulings, weakest first: of several on one event the strongest counts (DESIGN section 6)
STRENGTH = {"none": 0, "play-on": 1, "correct": 2, "replace": 3, "floor": 4, "dead": 5, "misdeal": 6, "void": 7}
SIGNALS = {
    "misdeal": "stop",
    "void": "stop",
    "floor": "floor",
    "replace": "attention",
    "correct": "attention",
    "dead": "attention",
    "play-on": "ready",
    "none": "ready",
}
LOUDNESS = {"ready": 0, "attention": 1, "floor": 2, "stop": 3}
DECIDERS = ("dealer", "floor")


class Ruling(NamedTuple):
    """One ruling. `rule` and `layer` are "" when no rule was found and the floor must decide."""

    ruling: str
    rule: str
    cite: str
    layer: str
    finding: str
    cards: tuple[int, ...]
    seat: int
    say: str
    decider: str
    verbs: tuple[str, ...]
    remedy: tuple[str, ...]  # the steps as the dealer reads them
    window: str = ""  # of the rule that ruled: open, closed, ask, or "" for no window
    street: str = ""
    event: int = 0  # the entry of the session's log that it ruled on
    version: str = ""  # of the pack that ruled
    digest: str = ""  # SHA-256 of that pack's file

    @property
    def signal(self) -> str:
        return SIGNALS[self.ruling]
