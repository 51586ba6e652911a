"""Cards lost or doubled, resuming and latency on a bad line: both real ends of the link in virtual time, many seeds."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from dealershoe.bench.faults import DAMAGE, Faults  # noqa: E402
from protocol.faulty_line import KEYS, Rig, card  # noqa: E402
from shoelink import timing  # noqa: E402

COMMAND = "python tests/bench/run.py link"
SEEDS = 1000
CARDS = 104  # two decks
LOSS = Faults(loss=0.2)
# The line of DESIGN; every fault that a line can have, alone, a fifth of the frames; and all at once.
DESIGNED = Faults(loss=0.2, duplicate=0.02, reorder=0.02)
ALONE = {name: Faults(**{name: 0.2}) for name in ("loss", "duplicate", "reorder", "spike", *DAMAGE)}
TOGETHER = Faults(loss=0.1, duplicate=0.1, reorder=0.1, spike=0.01, **dict.fromkeys(DAMAGE, 0.03))
SETTLE_MS = 20_000  # for what the line has not let through when the last card is out


def _bad_line(seed: int, faults: Faults = DESIGNED) -> tuple[int, list[float]]:
    """Cards lost, doubled or out of order, and how long each resuming took (ms): a bad line, and worse happens.

    Every fifth seed is sealed, where a peer that starts again is met only after the silence.
    """
    keys = None if seed % 5 else KEYS
    rig = Rig(seed, faults, start=timing.TICKS - 10_000, shoe_keys=keys, host_keys=keys)
    resumed = []
    for draw in range(1, CARDS + 1):
        rig.report(card(draw))
        rig.run(rig.now + rig.dice.uniform(0, 400))
        trouble = rig.dice.randrange(40)
        if trouble == 0:
            rig.silence(rig.dice.uniform(750, 3000))
            rig.run(rig.up_line.silent_until)
        elif trouble == 1:
            rig.replug()
        elif trouble == 2:
            rig.reset_host()
        elif trouble == 3:
            rig.reset_shoe(ram_lost=False)
        elif trouble == 4:
            rig.silence(rig.dice.uniform(750, 3000), rig.dice.choice((rig.up_line, rig.down_line)))
            rig.run(max(rig.up_line.silent_until, rig.down_line.silent_until))
        elif trouble == 5:
            began = rig.now + rig.dice.uniform(750, 3000)
            rig.freeze_host(began - rig.now)
            rig.run(began)
        else:
            continue
        began = rig.now
        rig.run(began + SETTLE_MS, stop=lambda: rig.shoe.up and rig.host.up and not rig.shoe_journal.held())
        resumed.append(rig.now - began)
    for line in (rig.up_line, rig.down_line):  # what is late is not lost
        line.faults = Faults()
    rig.run(rig.now + 2 * SETTLE_MS, stop=lambda: not rig.shoe_journal.held())
    numbers = [number for number, _, _ in rig.stored.get(rig.shoe_journal.id, [])]
    doubled = len(numbers) - len(set(numbers))
    disordered = sum(after < before for before, after in itertools.pairwise(numbers))
    return CARDS - len(set(numbers)) + doubled + disordered, resumed


def _latencies(seed: int) -> list[float]:
    """Milliseconds from card read to stored, one card each half second, a fifth of the frames lost; sealed as above."""
    keys = None if seed % 5 else KEYS
    rig = Rig(seed, shoe_keys=keys, host_keys=keys)
    rig.run(500)
    rig.up_line.faults = rig.down_line.faults = LOSS
    for draw in range(1, CARDS + 1):
        rig.report(card(draw))
        rig.run(rig.now + 500)
    rig.run(rig.now + SETTLE_MS, stop=lambda: not rig.shoe_journal.held())
    return rig.latencies


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def figures(seeds: int = SEEDS) -> list[dict[str, Any]]:
    """The figures of the link on a bad line, each with its target from DESIGN."""
    wrong = 0
    resumed: list[float] = []
    for seed in range(seeds):
        lost, times = _bad_line(seed)
        wrong += lost
        resumed += times
    few = seeds // 20
    kinds = len(ALONE)
    other = sum(_bad_line(seed, faults)[0] for faults in ALONE.values() for seed in range(few))
    other += sum(_bad_line(seed, TOGETHER)[0] for seed in range(few * kinds))
    latencies = [latency for seed in range(seeds // 5) for latency in _latencies(seed)]
    p99 = _percentile(latencies, 0.99) / 1000
    worst = max(resumed) / 1000

    def entry(name: str, value: float, unit: str, target: str, ok: bool) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}

    return [
        entry("cards_lost", wrong, "cards", "0", wrong == 0),
        entry("cards_lost_any_fault", other, "cards", "0", other == 0),
        entry("latency_p99_s", round(p99, 3), "s", "<= 0.3", p99 <= 0.3),
        entry("resume_worst_s", round(worst, 3), "s", "<= 2", worst <= 2),
    ]


if __name__ == "__main__":
    for figure in figures():
        print(f"{figure['name']:20} {figure['value']:>12} {figure['unit']:24} {figure['target']:12} ok={figure['ok']}")
