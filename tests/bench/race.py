"""Ways to do one thing, side by side: taken in turns so that the machine's moods fall on all alike; the best counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple

ROUNDS = 200  # the fastest counts: the machine does other things too


class Way(NamedTuple):
    """A way: `run` does what is measured with what `prepare` makes for each round, and returns how many frames."""

    name: str
    prepare: Callable[[], Any]
    run: Callable[[Any], int] | None
    why_not: str = ""  # run is None
    every: int = 1  # rounds


def rates(ways: list[Way], rounds: int = ROUNDS) -> dict[str, float]:
    """Frames per second of each way, 0 for one that is not there."""
    gc.collect()
    gc.freeze()  # what the peers have imported is no work of those that run
    best = {way.name: 0.0 for way in ways}
    for turn in range(rounds):
        for way in ways:
            if way.run is None or turn % way.every:
                continue
            prepared = way.prepare()
            began = time.perf_counter()
            frames = way.run(prepared)
            best[way.name] = max(best[way.name], frames / (time.perf_counter() - began))
    gc.unfreeze()
    return best


def against(
    name: str, ours: float, other: float, least: float, why_not: str, about: str, command: str
) -> dict[str, Any]:
    """The figure: how many times as fast we are. `least` 0: no target. `about`: what was measured."""
    target = f">= {least:g}" if least else ""
    figure = {"name": name, "unit": "ratio", "target": target, "command": command}
    if not other:
        return figure | {"value": None, "ok": None, "reason": why_not}
    return figure | {
        "value": round(ours / other, 1),
        "ok": ours / other >= least if least else None,
        "peer": f"{about}: {other:,.0f} frames/s",
    }
