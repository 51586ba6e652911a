"""The deal scripts that the demonstration plays: the same files that the rule tests run, real incidents among them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from dealershoe.deal.grammar import parse
from dealershoe.deal.items import Line
from dealershoe.errors import UserError

_HERE = Path(__file__).parent
SHOWN = "t03-third-card-exposed"  # the one hand at a dealer's pace
CLEAN = (
    "clean-2-seats",
    "clean-3-seats",
    "clean-6-seats",
    "clean-9-seats",
    "clean-11-seats",
    "clean-gaps-in-seats",
    "clean-dead-small-blind",
)
INCIDENTS = (
    "d01-replacement-exposed-after-three-calls",
    "d08-card-strikes-a-hand",
    "d13-stuck-third-card",
    "d17-big-blind-has-one-card",
    "d18-first-to-act-has-one-card",
    "d24-empty-seat-dealt-in",
    "d28-heads-up-button-dealt-first",
    "d48-turn-while-a-player-is-raising",
    "d59-first-flop-card-before-the-option",
    "d60-skipped-player-folds-all-the-same",
    "d87-seat-skipped-found-at-once",
    "t05-dead-small-blind-second-card-exposed",
    "t11-two-boxed-cards-nothing-for-the-first",
    "t14-deal-starts-at-the-wrong-seat",
)
_CASE = re.compile(r"^[A-Z]+[0-9]+\. ")
FAST = (*CLEAN, *INCIDENTS)


@dataclass(frozen=True, slots=True)
class Script:
    """A deal script: its name, what it is about in a line, and its lines."""

    name: str
    title: str
    lines: tuple[Line, ...]


def folder() -> Path:
    """Where the scripts are: beside this module when installed, among the rule tests in the repository."""
    for place in (_HERE / "deals", _HERE.parents[2] / "tests" / "rules" / "deals"):
        if (place / f"{SHOWN}.deal").is_file():
            return place
    raise UserError("the demonstration's scripts are missing", "the installation is incomplete", "install it again")


def load(name: str) -> Script:
    """The script of that name. Its title is the first sentence of its comment, after the number of the case."""
    path = folder() / f"{name}.deal"
    text = path.read_text(encoding="utf-8")
    comment = itertools.takewhile(lambda line: line.startswith("# "), text.splitlines()[1:])
    told = _CASE.sub("", " ".join(line.removeprefix("# ") for line in comment))
    return Script(name, told.partition(". ")[0].rstrip("."), parse(text, path.name))
