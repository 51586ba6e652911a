"""Runs every benchmark of this folder, prints the figures and writes build/bench.json. For `make bench`.

A benchmark is a file `bench_NAME.py` with a function `figures()` that returns a list of dictionaries: name, value,
unit, target, ok, command, and reason where the value is None. `python tests/bench/run.py NAME…` runs only those.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "bench.json"
COMMAND = "python tests/bench/run.py"
KEYS = ("name", "value", "unit", "target", "ok", "command")

# The figures to reach (the design's table): name → unit, target. Each one is always in the list.
EXPECTED: dict[str, tuple[str, str]] = {
    "decode_rate": ("frames/s", ">= 900000"),
    "decode_vs_pymavlink": ("ratio", ">= 6"),
    "decode_vs_ash": ("ratio", ">= 10"),
    "decode_vs_floor": ("ratio", "<= 3"),
    "blast_radius": ("frames", "<= 1"),
    "damaged_delivered": ("frames", "0"),
    "cards_lost": ("cards", "0"),
    "latency_p99_s": ("s", "<= 0.3"),
    "draw_to_signal_p99_ms": ("ms", "<= 5"),
    "hands_vs_pokerkit": ("ratio", ">= 25"),
    "ruling_p99_ms": ("ms", "< 2"),
    "encode_us": ("us", "<= 150"),
    "encode_alloc_bytes": ("bytes", "0"),
    "misreads": ("cards", "0"),
    "noread_rate": ("ratio", "<= 2.5e-5"),
    "shoes_held": ("shoes", ">= 256"),
    "replay_rate": ("hands/s", ">= 1000"),
    "ruling_to_page_p99_ms": ("ms", "< 100"),
}
Figure = dict[str, Any]


def load(path: Path) -> ModuleType:
    """A benchmark file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def run(paths: list[Path], say: Console) -> tuple[list[Figure], int]:
    """The figures of all files, and how many files failed."""
    figures: list[Figure] = []
    failed = 0
    for number, path in enumerate(paths, 1):
        say.print(f"[{number}/{len(paths)}] {path.name} …", highlight=False)
        begun = time.monotonic()
        try:
            got = load(path).figures()
        except Exception as error:  # one broken benchmark must not hide the others
            failed += 1
            say.print(f"      failed: {error!r}", highlight=False, markup=False, soft_wrap=True)
            continue
        for figure in got:
            missing = [key for key in KEYS if key not in figure]
            if missing or (figure["value"] is None and not figure.get("reason")):
                raise SystemExit(f"{path.name}: {figure} lacks {', '.join(missing) or 'the reason'}")
        figures += got
        say.print(f"      {len(got)} figures in {time.monotonic() - begun:.1f} s", highlight=False)
    return figures, failed


def complete(figures: list[Figure], failed: int, partly: bool) -> list[Figure]:
    """The expected figures first, in their order, then the others; what nobody measured says so."""
    by_name = {figure["name"]: figure for figure in figures}
    why = "no benchmark in this tree measures it yet"
    if failed:
        why = "its benchmark failed"
    elif partly:
        why = "not asked for in this run"
    for name, (unit, target) in EXPECTED.items():
        by_name.setdefault(
            name,
            {
                "name": name,
                "value": None,
                "unit": unit,
                "target": target,
                "ok": None,
                "command": COMMAND,
                "reason": why,
            },
        )
    order = list(EXPECTED)
    return sorted(by_name.values(), key=lambda figure: order.index(figure["name"]) if figure["name"] in order else 99)


def table(figures: list[Figure]) -> Table:
    """The figures for a person."""
    shown = Table(title="figures", title_justify="left")
    shown.add_column("figure", no_wrap=True)
    for head in ("value", "unit", "target", "reached"):
        shown.add_column(head)
    for figure in figures:
        value = figure["value"]
        said = f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if value is not None else ""
        said = said or escape(figure.get("reason", ""))
        reached = {True: "yes", False: "NO", None: "-"}[figure["ok"]]
        shown.add_row(figure["name"], said, str(figure["unit"]), str(figure["target"] or "-"), reached)
    return shown


def main(names: list[str]) -> int:
    say = Console(stderr=True)
    paths = sorted(Path(__file__).parent.glob("bench_*.py"))
    if names:
        there = {path.stem.removeprefix("bench_"): path for path in paths}
        unknown = [name for name in names if name not in there]
        if unknown:
            say.print(f"there is no benchmark {', '.join(unknown)}; name some of {', '.join(there)}", highlight=False)
            return 2
        paths = [there[name] for name in sorted(set(names))]
    figures, failed = run(paths, say)
    figures = complete(figures, failed, bool(names))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=1) + "\n")
    Console().print(table(figures))
    say.print(f"written to {OUT.relative_to(ROOT)}", highlight=False)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "protocol"), str(ROOT / "host")]
    raise SystemExit(main(sys.argv[1:]))
