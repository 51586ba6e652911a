"""How soon a page has a ruling: 32 tables dealing, a page open at each and one of the floor for all. For `make bench`.

The shoes are real links on real ptys in another process (`hold_shoes.py`), the pages real streams of events in a third.
Measured is the time from the moment the bridge says a ruling to the moment a page has a state with that ruling, on the
clock that all processes of a machine share (CLOCK_MONOTONIC). A state comes at most 20 times a second a table.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

from dealershoe.bridge.bridge import Bridge  # noqa: E402
from dealershoe.bridge.start import Place, open_tables  # noqa: E402
from dealershoe.console import access  # noqa: E402
from dealershoe.console.access import Person  # noqa: E402
from dealershoe.console.serve import Server  # noqa: E402
from dealershoe.desk.happening import Happening  # noqa: E402

COMMAND = "python tests/bench/run.py console"
TABLES = 32
CARDS_PER_S = 3.0
RULINGS = 10  # at each table
BETWEEN_S = 1.0  # from one table's ruling to its next
TARGET_MS = 100.0
DEADLINE_S = 30.0
HAND = "hand seats=1-9 button=9"


def measured(tables: int = TABLES, rulings: int = RULINGS) -> dict[str, Any]:
    """Milliseconds from ruling to page, of every ruling at every page that shows it."""
    said: dict[tuple[str, int], float] = {}  # table, which of its rulings → when
    counts: dict[str, int] = {}
    lock = threading.Lock()
    tokens = {f"d{number}": access.new_token(os.urandom) for number in range(tables)}
    tokens["floor"] = access.new_token(os.urandom)
    people = {
        name: Person(name, "floor" if name == "floor" else "dealer", access.digest_of(token), at)
        for name, token in tokens.items()
        for at in [() if name == "floor" else ("t" + name[1:],)]
    }
    server = Server("127.0.0.1:0", lambda: people)

    def heard(table: str, happening: Happening) -> None:
        if happening.kind == "ruling":
            with lock:
                counts[table] = counts.get(table, 0) + 1
                said[table, counts[table]] = time.monotonic()
        server.hear(table, happening)

    shoes = [sys.executable, str(Path(__file__).with_name("hold_shoes.py")), str(tables), str(CARDS_PER_S)]
    pages = [sys.executable, __file__, "pages", server.url, json.dumps(list(tokens.values()))]
    bridges: dict[str, Bridge] = {}
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(shoes, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as dealers,
    ):
        assert dealers.stdout is not None
        folder = Path(name)
        try:
            ports = json.loads(dealers.stdout.readline())
            places = [Place(f"t{n}", port, folder / f"{n}.journal") for n, port in enumerate(ports)]
            bridges = open_tables(places, heard, shelf=folder / "shelf")
            for table, bridge in bridges.items():
                server.add(table, bridge)
                bridge.start()
            server.start()
            _until(lambda: all(bridge.sessions for bridge in bridges.values()), "shoes do not come on the line")
            for bridge in bridges.values():
                bridge.ask(HAND, "bench")
            with subprocess.Popen(pages, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as viewers:
                assert viewers.stdout is not None
                viewers.stdout.readline()  # every stream is open
                for round_ in range(rulings):
                    begun = time.monotonic()
                    for number, bridge in enumerate(bridges.values()):
                        time.sleep(max(0.0, begun + BETWEEN_S * number / tables - time.monotonic()))
                        bridge.tell("report bad-shuffle" if round_ % 2 == 0 else "undo", "bench")
                        if round_ % 2 == 0:
                            continue
                        bridge.tell("report missing", "bench")
                        bridge.tell("undo", "bench")
                    time.sleep(max(0.0, begun + BETWEEN_S - time.monotonic()))
                time.sleep(1.0)
                seen = json.loads(viewers.communicate("end\n", timeout=DEADLINE_S)[0])
        finally:
            server.stop()
            for bridge in bridges.values():
                bridge.stop()
            dealers.kill()
    times = [(at - said[table, number]) * 1_000 for table, number, at in seen["rulings"] if (table, number) in said]
    return {"ms": times, "said": len(said), "pages": seen["pages"]}


def _until(true: Any, why: str) -> None:
    end = time.monotonic() + DEADLINE_S
    while not true():
        if time.monotonic() > end:
            raise RuntimeError(why)
        time.sleep(0.05)


# ---- the pages' process


async def watch(url: str, tokens: list[str]) -> dict[str, Any]:
    """Open a stream for each token, until a line comes on standard input. When each page had each ruling's state."""
    host, port = url.removeprefix("http://").rstrip("/").split(":")
    seen: list[tuple[str, int, float]] = []
    opened: asyncio.Queue[None] = asyncio.Queue()

    async def page(token: str) -> None:
        reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
        writer.write(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        waiting: dict[str, list[int]] = {}  # rulings whose state has not come
        counts: dict[str, int] = {}
        kind = ""
        first = True
        while line := await reader.readline():
            if line.startswith(b"event: "):
                kind = line[7:].strip().decode()
            elif line.startswith(b"data: ") and kind in ("happening", "state"):
                at = time.monotonic()
                data = json.loads(line[6:])
                table = data["table"]
                if first:
                    first = False
                    opened.put_nowait(None)
                if kind == "happening" and data["kind"] == "ruling":
                    counts[table] = counts.get(table, 0) + 1
                    waiting.setdefault(table, []).append(counts[table])
                elif kind == "state":
                    seen.extend((table, number, at) for number in waiting.pop(table, ()))

    tasks = [asyncio.create_task(page(token)) for token in tokens]
    for _ in tokens:
        await opened.get()
    print("open", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    for task in tasks:
        task.cancel()
    return {"rulings": seen, "pages": len(tasks)}


def figures(tables: int = TABLES, rulings: int = RULINGS) -> list[dict[str, Any]]:
    """p50, p99 and worst, and how many rulings the pages had."""
    got = measured(tables, rulings)
    times = sorted(got["ms"])
    p99 = statistics.quantiles(times, n=100)[98]
    wanted = 2 * got["said"]  # at its own page, and at the floor's

    def entry(name: str, value: float, unit: str, target: str, ok: bool | None) -> dict[str, Any]:
        return {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}

    return [
        entry("ruling_to_page_p99_ms", round(p99, 1), "ms", f"< {TARGET_MS:.0f}", p99 < TARGET_MS),
        entry("ruling_to_page_p50_ms", round(statistics.median(times), 1), "ms", "", None),
        entry("ruling_to_page_worst_ms", round(times[-1], 1), "ms", "", None),
        entry("rulings_not_shown", wanted - len(times), "rulings", "0", len(times) == wanted),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["pages"]:
        print(json.dumps(asyncio.run(watch(sys.argv[2], json.loads(sys.argv[3])))))
    else:
        for figure in figures():
            print(figure)
