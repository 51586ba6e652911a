"""An hour of a shoe's own time: random hands and faults; real firmware, pty, bridge and rules. For `make bench`.

`python tests/bench/bench_soak.py MINUTES` soaks for as long as one likes. The hour takes two to three minutes
of processor time; on a machine with much else to do it took 15 minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MINUTES = 60.0
MAIN = [sys.executable, "-c", "from dealershoe.cli import main; main()"]
COMMAND = "python tests/bench/run.py soak"
MEMORY_LEFT = 95.0
LIMIT_S = 3600.0
PORT_S = 20.0
CARDS_A_HAND = 9.0  # of nine seats; some 22 when faults end a hand here and there, one when the host judges nothing


def soaked(minutes: float) -> str:
    """The report of `dealershoe emulate --soak` against `dealershoe run`."""
    with tempfile.TemporaryDirectory() as folder:
        port, said = Path(folder) / "shoe", Path(folder) / "said"
        said.touch()
        emulate = [*MAIN, "emulate", "--soak", str(minutes), "--pace", "fast", "--link", str(port), "--say", str(said)]
        with subprocess.Popen(emulate, stdout=subprocess.PIPE, text=True) as shoe:
            until = time.monotonic() + PORT_S
            while not port.is_symlink() and time.monotonic() < until:
                time.sleep(0.05)
            follow = subprocess.Popen(["tail", "-f", "-n", "+1", str(said)], stdout=subprocess.PIPE)
            journal = str(Path(folder) / "journal")
            run = [*MAIN, "run", "--port", str(port), "--rules", "roberts", "--open", "--journal", journal]
            bridge = subprocess.Popen(run, stdin=follow.stdout, stdout=subprocess.DEVNULL)
            if follow.stdout is not None:
                follow.stdout.close()  # the bridge has it
            try:
                return shoe.communicate(timeout=LIMIT_S)[0]
            finally:
                for process in (bridge, follow, shoe):
                    process.terminate()
                    process.wait()


def figures(minutes: float = MINUTES) -> list[dict[str, Any]]:
    """What the soak found; each count must be 0, and of cards that a host has judged."""
    report = soaked(minutes)
    print(report, file=sys.stderr)

    def number(pattern: str) -> float:
        found = re.search(pattern, report)
        if found is None:
            raise RuntimeError(f"the soak did not come to its end: {report}")
        return float(found[1])

    cards, hands = int(number(r"(\d+) cards\n")), int(number(r"(\d+) hands"))
    bad = {
        "soak_misreads": r"misreads (\d+)",
        "soak_noreads": r"must be read (\d+)",
        "soak_false_alarms": r"false alarms (\d+)",
        "soak_faults_missed": r"not told (\d+), cards",
        "soak_cards_lost": r"cards not told (\d+)",
        "soak_cards_out_of_nothing": r"out of nothing (\d+)",
    }
    unit = f"of {cards} cards in {minutes:g} min of the shoe's clock"
    entries: list[dict[str, Any]] = [
        {"name": name, "value": int(number(pattern)), "unit": unit, "target": "0", "command": COMMAND}
        for name, pattern in bad.items()
    ]
    for entry in entries:
        entry["ok"] = entry["value"] == 0
    dealt = {"name": "soak_cards_a_hand", "value": round(cards / hands, 1), "unit": "cards", "command": COMMAND}
    entries.append({**dealt, "target": f">= {CARDS_A_HAND:g}", "ok": cards >= CARDS_A_HAND * hands})
    worst = number(r"p99 ([\d.]+) ms")
    free = re.search(r"(\d+) bytes at most in the first quarter, (\d+) in the last", report)
    entries.append(
        {"name": "soak_answer_p99_ms", "value": worst, "unit": "ms", "target": "", "ok": None, "command": COMMAND}
    )
    memory = {"name": "soak_memory_left", "unit": "% of what was free at first", "command": COMMAND}
    if free:
        left = round(100 * int(free[2]) / int(free[1]), 1)
        entries.append({**memory, "value": left, "target": f">= {MEMORY_LEFT:g}", "ok": left >= MEMORY_LEFT})
    else:
        why = "too short: the shoe tells its memory every 5 s, between cards"
        entries.append({**memory, "value": None, "target": f">= {MEMORY_LEFT:g}", "ok": None, "reason": why})
    return entries


if __name__ == "__main__":
    for figure in figures(*[float(argument) for argument in sys.argv[1:]]):
        print(figure)
