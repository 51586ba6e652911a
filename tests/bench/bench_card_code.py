"""Silent misreads and no-reads of the card code in simulated passes at 0.3 to 3 m/s, dirt and dazzle in.

`python tests/bench/bench_card_code.py --passes 1000000 --doubles 50000 --processes 2` is the run for the target; a
smaller one proves less and says so. The physics: `tests/firmware/passes.py`; the run of record:
`hardware/card-code.md`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("firmware", "protocol", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from firmware.passes import total, totals  # noqa: E402

PASSES, DOUBLES = 6_000, 500  # in `make bench`
PROVES = 1_000_000  # passes that the target is about
NOREADS = 2.5e-5
DOUBLES_MISSED = 1e-3
DOUBT = 0.05  # what is said holds with 95 % confidence
BOXED_PROVE = 10_000
COMMAND = "python tests/bench/bench_card_code.py --passes 1000000 --doubles 50000 --processes 2"
RECORD = "the run of record: hardware/card-code.md"


def most(seen: int) -> float:
    """The greatest mean at which so few events are still seen once in twenty times (Poisson): 3.0 of none, 4.7 of one.

    So a rate of rare events is below `most(seen) / n` with 95 % confidence."""
    return _mean(seen, DOUBT)


def least(seen: int) -> float:
    """The smallest mean at which so many events, or more, are still seen once in twenty times; 0 of none."""
    return _mean(seen - 1, 1 - DOUBT) if seen else 0.0


def _mean(seen: int, chance: float) -> float:
    """The mean of which so many events or fewer are seen with this chance."""
    low, high = 0.0, 10.0 + 3.0 * seen
    for _ in range(60):
        mean = (low + high) / 2
        some = sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(seen + 1))
        low, high = (mean, high) if some > chance else (low, mean)
    return low


def reached(seen: int, of: int, rate: float) -> bool | None:
    """Whether events are rarer than `rate`, with 95 % confidence either way; None: too few passes to say."""
    if most(seen) <= rate * of:
        return True
    return False if least(seen) > rate * of else None


def figures(passes: int = PASSES, doubles: int = DOUBLES, seed: int = 1, processes: int = 1) -> list[dict[str, Any]]:
    """Misreads of all passes; the share of clean cards that were not read; doubles and boxed cards found."""
    count: Counter[str] = totals(passes, doubles, seed=seed, processes=processes)
    wrong = total(count, "misread")
    clean, unread = count["clean cards"], count["clean unread"]
    alone, alarms = count["single passes"], count["single told as two"]
    found, both = count["double told as two"], count["double passes"]
    boxed, missed = count["clean boxed"], count["clean boxed"] - count["clean boxed found"]
    runs = total(count, "passes")
    boxed_wrong = total(count, "boxed misread")
    return [
        {
            "name": "misreads",
            "value": wrong,
            "unit": f"of {runs:,} passes ({RECORD}); {boxed_wrong} boxed ones wrong, which are told as uncertain",
            "target": f"0 of {PROVES:,}",
            "ok": False if wrong else True if runs >= PROVES else None,
            "command": COMMAND,
        },
        {
            "name": "noread_rate",
            "value": unread / clean,
            "unit": f"of {clean:,} clean passes: below {most(unread) / clean:.1e} with 95 % confidence ({RECORD})",
            "target": f"<= {NOREADS}",
            "ok": reached(unread, clean, NOREADS),
            "command": COMMAND,
        },
        {
            "name": "doubles_found",
            "value": found / both,
            "unit": f"of {both:,} doubles; {alarms} of {alone:,} single cards as well",
            "target": ">= 0.999",
            "ok": reached(both - found, both, DOUBLES_MISSED),
            "command": COMMAND,
        },
        {
            "name": "boxed_missed",
            "value": missed,
            "unit": f"of {boxed:,} clean boxed cards ({RECORD})",
            "target": "0",
            "ok": False if missed else True if boxed >= BOXED_PROVE else None,
            "command": COMMAND,
        },
    ]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--passes", type=int, default=PASSES)
    arguments.add_argument("--doubles", type=int, default=DOUBLES)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--processes", type=int, default=1)
    for figure in figures(**vars(arguments.parse_args())):
        reaches = {True: "reached", False: "NOT reached", None: "too few to say"}[figure["ok"]]
        print(f"{figure['name']}: {figure['value']} {figure['unit']} (target {figure['target']}: {reaches})")
