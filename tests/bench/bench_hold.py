"""How many shoes one host process holds: real bridges (link, rules, table, journal) on real ptys. For `make bench`.

The shoes' ends are real links of `shoelink` in another process (`hold_shoes.py`), not the whole firmware: 256 of these
would measure the emulator. Each deals clean nine-handed hands, 3 cards a second. A number of shoes is held when every
report is stored exactly once and acknowledged, the cards keep their pace, no hand is interrupted, the time from a
report to its acknowledgement (which follows the commit to the disk) has its p99 within ACK_S, and memory is flat.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from dealershoe.bridge.bridge import Bridge  # noqa: E402
from dealershoe.bridge.start import Place, open_tables  # noqa: E402
from shoelink import schema  # noqa: E402

COMMAND = "python tests/bench/run.py hold"
SHOES = 256
CARDS_PER_S = 3.0
PACE = 0.99  # share of these that must come
ACK_S = 1.0  # p99 from a report to its acknowledgement
FLAT_KB_PER_S = 0.2  # a shoe, over the second half: a hand's growth is given back with the next one
WARM_S = 5.0
# The last frames of each line (16 kB both ways), a half minute of clock stamps and the journal's 256 kB of pages fill
# first; the pages take longest, some 180 s at this pace.
MEASURED_S = 360.0
TRIED_S = 15.0  # for a number of shoes, before they are measured for so long
DESCRIPTORS = 16  # of a bridge: port and pyserial's pipes 5, wake 2, journal 4; and some more
HAND = "hand seats=1-9 button=9"
DEADLINE_S = 15.0  # for all shoes to come on the line
GIVEN_UP_S = 90.0  # beside the seconds that are measured: a host that is overwhelmed does not end by itself


def rss_mb() -> float:
    """Memory of this process in RAM, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def room_for(shoes: int) -> str:
    """Raise the limit of descriptors; why not, where the system does not allow it."""
    wanted = shoes * DESCRIPTORS + 100
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (ValueError, OSError) as error:
            return f"{shoes} shoes need {wanted} descriptors, this system allows {hard} a process ({error})"
    return ""


def open_all(ports: list[str], folder: Path, bridges: list[Bridge]) -> None:
    """A started bridge for each port, each in a hand."""
    places = [Place(str(number), port, folder / f"{number}.journal") for number, port in enumerate(ports)]
    bridges += open_tables(places, lambda _, __: None, shelf=folder / "shelf").values()
    for bridge in bridges:
        bridge.start()
    until = time.monotonic() + DEADLINE_S
    while not all(bridge.sessions for bridge in bridges):
        if time.monotonic() > until:
            raise RuntimeError(f"{sum(not bridge.sessions for bridge in bridges)} shoes do not come on the line")
        time.sleep(0.1)
    for bridge in bridges:
        bridge.ask(HAND, "bench")


def stored(journal: Path) -> tuple[int, int, int]:
    """Cards, reports of the shoe, and the highest number of a report, as the file has them."""
    with contextlib.closing(sqlite3.connect(journal)) as db:
        row = db.execute(
            "SELECT coalesce(sum(substr(raw, 1, 1) = ?), 0), count(*), coalesce(max(number), 0) FROM facts "
            "WHERE origin = 'shoe'",
            (bytes((schema.CARD,)),),
        ).fetchone()
    return int(row[0]), int(row[1]), int(row[2])


def hold(shoes: int, measured_s: float) -> dict[str, Any]:
    """This process is the host: hold so many shoes for `measured_s` and say how it went."""
    before_mb = rss_mb()
    bridges: list[Bridge] = []
    command = [sys.executable, str(Path(__file__).with_name("hold_shoes.py")), str(shoes), str(CARDS_PER_S)]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as dealers,
    ):
        assert dealers.stdin is not None
        assert dealers.stdout is not None
        folder = Path(name)
        try:
            open_all(json.loads(dealers.stdout.readline()), folder, bridges)
            time.sleep(WARM_S)
            dealers.stdin.write(f"begin {measured_s}\n")
            begun, cpu = time.monotonic(), time.process_time()
            samples: list[tuple[float, float]] = []
            while (passed := time.monotonic() - begun) < measured_s:
                samples.append((passed, rss_mb()))
                time.sleep(1.0)
            cpu = time.process_time() - cpu
            seen: dict[str, Any] = json.loads(dealers.stdout.readline())
        finally:
            for bridge in bridges:
                bridge.stop()
        wrong = sum(
            stored(folder / f"{number}.journal") != (shoe["cards"], shoe["last"], shoe["last"]) or shoe["held"] > 0
            for number, shoe in enumerate(seen["shoes"])
        )
    late = [sample for sample in samples if sample[0] >= measured_s / 2]
    slope = statistics.linear_regression(*zip(*late, strict=True)).slope
    return {
        "wrong": wrong,
        "failed": sum(bridge.error is not None for bridge in bridges),
        "interrupted": sum(bool(b.desk.align_why or b.desk.counts["findings"]) or b.sessions != 1 for b in bridges),
        "cards_per_s": sum(shoe["measured"] for shoe in seen["shoes"]) / measured_s,
        "slowest_per_s": min(shoe["measured"] for shoe in seen["shoes"]) / measured_s,
        "p50_s": seen["p50_s"],
        "p99_s": seen["p99_s"],
        "worst_s": seen["worst_s"],
        "rss_mb": samples[-1][1],
        "mb_per_shoe": (samples[-1][1] - before_mb) / shoes,
        "kb_per_s": slope * 1_000 / shoes,
        "cores": cpu / measured_s,
        "dealers_cores": seen["took_s"] / measured_s,  # of the other process: near 1 the figure is theirs
    }


def shortcomings(shoes: int, got: dict[str, Any], measured_s: float) -> str:
    """Why so many shoes are not held; empty if they are. Memory is judged only when all that fills first is full."""
    enough = PACE * CARDS_PER_S * shoes
    said = [
        (got["wrong"], f"{got['wrong']} journals lack or repeat reports, or were not acknowledged"),
        (got["failed"], f"{got['failed']} bridges failed"),
        (got["interrupted"], f"{got['interrupted']} tables were interrupted"),
        (got["cards_per_s"] < enough, f"{got['cards_per_s']:.0f} cards/s came, not {enough:.0f}"),
        (got["p99_s"] > ACK_S, f"the p99 of acknowledgements is {got['p99_s']:.2f} s"),
        (
            measured_s >= MEASURED_S and got["kb_per_s"] > FLAT_KB_PER_S,
            f"memory grows by {got['kb_per_s']:.2f} kB/s a shoe",
        ),
    ]
    return "; ".join(words for true, words in said if true)


def host(shoes: int, measured_s: float) -> tuple[dict[str, Any], str]:
    """What a process of its own says of holding so many, and why it does not; "" if it does."""
    command = [sys.executable, __file__, "host", str(shoes), str(measured_s)]
    deadline_s = measured_s + GIVEN_UP_S
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=deadline_s)
    except subprocess.TimeoutExpired:
        return {}, f"the host was not done after {deadline_s:.0f} s"
    except subprocess.CalledProcessError as error:
        return {}, (error.stderr.strip().splitlines() or ["the host failed"])[-1]
    got = json.loads(done.stdout)
    return got, shortcomings(shoes, got, measured_s)


def figures(most: int = SHOES) -> list[dict[str, Any]]:
    """The most shoes held, of `most` and its halves, and what they cost."""
    why = room_for(most) or ("" if Path("/proc/self/statm").exists() else "memory is read from Linux's /proc")
    shoes, missed = most, ""
    got: dict[str, Any] = {}
    while not why and shoes:
        short = host(shoes, TRIED_S)[1]
        if not short:
            got, short = host(shoes, MEASURED_S)
            if not short:
                break
        missed += f"{shoes}: {short}. "
        shoes //= 2

    def entry(name: str, value: float | None, unit: str, target: str, ok: bool | None) -> dict[str, Any]:
        figure = {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}
        return figure | ({"reason": why} if value is None else {})

    if why:
        return [entry("shoes_held", None, "shoes", f">= {SHOES}", None)]
    if not shoes:
        return [entry("shoes_held", 0, "shoes", f">= {SHOES}", False) | {"missed": missed.strip()}]
    held = entry("shoes_held", shoes, "shoes", f">= {SHOES}", shoes >= SHOES)
    held |= {"measured": {name: round(value, 4) for name, value in got.items()}, "missed": missed.strip()}
    p99_ms, growth = got["p99_s"] * 1_000, got["kb_per_s"]
    flat = f"<= {FLAT_KB_PER_S:g}"
    return [
        held,
        entry("shoes_cards_per_s", round(got["cards_per_s"], 1), "cards/s", "", None),
        entry("shoes_ack_p99_ms", round(p99_ms, 1), "ms", f"<= {ACK_S * 1_000:.0f}", p99_ms <= ACK_S * 1_000),
        entry("shoes_host_cores", round(got["cores"], 3), "cores", "", None),
        entry("shoes_dealers_cores", round(got["dealers_cores"], 3), "cores", "", None),
        entry("shoes_rss_mb_per_shoe", round(got["mb_per_shoe"], 2), "MB", "", None),
        entry("shoes_rss_growth", round(growth, 2), "kB/s a shoe", flat, growth <= FLAT_KB_PER_S),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["host"]:
        room_for(int(sys.argv[2]))
        print(json.dumps(hold(int(sys.argv[2]), float(sys.argv[3]))))
    else:
        for figure in figures():
            print(figure)
