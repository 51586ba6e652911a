"""Silent misreads and no-reads of the card code in simulated passes at 0.3 to 3 m/s, dirt and dazzle in.

`python tests/bench/bench_card_code.py 1000000 [SEED]` runs as many passes as wanted of each kind.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("firmware", "protocol", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from firmware.dirt import clean_run, soiled_run  # noqa: E402

PASSES = 3000  # of each kind in `make bench`; the figures of DESIGN are for a million
COMMAND = "python tests/bench/bench_card_code.py 1000000"


def figures(passes: int = PASSES, seed: int = 1) -> list[dict[str, Any]]:
    """Misreads over soiled and clean cards; the share of clean cards that were not read."""
    soiled, clean = soiled_run(seed, passes), clean_run(seed, passes)
    wrong = soiled["wrong"] + clean["wrong"]
    return [
        {
            "name": "misreads",
            "value": wrong,
            "unit": f"of {2 * passes} passes; {soiled['boxed wrong']} boxed ones wrong, which are told as uncertain",
            "target": "0 of 10^6",
            "ok": wrong == 0,
            "command": COMMAND,
        },
        {
            "name": "noread_rate",
            "value": clean["unread"] / passes,
            "unit": f"of {passes} clean passes",
            "target": "<= 2.5e-5",
            "ok": clean["unread"] <= 2.5e-5 * passes,
            "command": COMMAND,
        },
    ]


if __name__ == "__main__":
    for figure in figures(*[int(argument) for argument in sys.argv[1:]]):
        print(f"{figure['name']}: {figure['value']} {figure['unit']} (target {figure['target']})")
