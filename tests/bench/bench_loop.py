"""The whole loop timed: real firmware on a pty, bridge, journal, rules, and back to the lamps. For `make bench`."""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.deck.strip import TRAVEL
from dealershoe.emulate.mechanics import P1, SAMPLE_MS, printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.timeline import Output
from dealershoe.emulate.words import colour
from shoelink import schema

MAIN = "from dealershoe.cli import main; main()"
COMMAND = "python tests/bench/run.py loop"
STACK = "roberts"  # one boxed card is replaced: the light turns amber
SAMPLES = 200
BEYOND = 0.5  # mm: so far the trailing edge is past the lip when its mark comes, three samples at this speed
SPEED = 3.0  # m/s = mm/ms, the fastest draw of the card code's range
TABLE = "hand seats=1-11 button=11"
HANDS = 40


class TimedShoe(EmulatedShoe):
    """Knows when a sample was due: at real pace the samples are locked to the wall clock.

    A mark says how many samples the firmware has; the mark that was told soonest gives the time of sample 0.
    """

    samples = 0  # at the last mark
    zero_s = float("inf")

    def _take(self, output: Output, data: bytes) -> None:
        if output is Output.MARK:
            _, self.samples = struct.unpack("<II", data)
            self.zero_s = min(self.zero_s, time.monotonic() - self.samples * SAMPLE_MS / 1_000)
        super()._take(output, data)


@contextmanager
def table(pace: str) -> Iterator[tuple[TimedShoe, IO[str]]]:
    """A shoe with the real firmware, and the standard input of `dealershoe run` on its port."""
    with tempfile.TemporaryDirectory() as folder, TimedShoe(pace=pace) as shoe:
        command = [sys.executable, "-c", MAIN, "run", "--port", shoe.port, "--rules", STACK]
        command += ["--journal", str(Path(folder) / "journal")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, bufsize=1) as run:
            assert run.stdin is not None
            try:
                shoe.wait_for(lambda: shoe.line.signal is not None, "the bridge's first signal")
                yield shoe, run.stdin
            finally:
                run.terminate()


def begin(shoe: TimedShoe, run: IO[str], hand: str) -> None:
    """A hand begins, and the shoe knows it."""
    before = shoe.line.due.hand if shoe.line.due is not None else 0
    run.write(hand + "\n")
    shoe.wait_for(lambda: shoe.line.due is not None and shoe.line.due.hand != before, "the hand")
    shoe.load(printed(name) for name in FIFTY_TWO)


def heard_more(shoe: EmulatedShoe, before: object) -> bool:
    return shoe.line.due is not before


def lit(shoe: EmulatedShoe, name: str) -> bool:
    return any(colour(pixel) == name for pixel in shoe.lights)


def draw_to_signal() -> list[float]:
    """Milliseconds from the moment the trailing edge passes the lip to the change of the lamps, sorted."""
    taken: list[tuple[float, float]] = []
    with table("real") as (shoe, run):
        changed: list[float] = []

        def on_change() -> None:
            if lit(shoe, "amber"):
                changed.append(time.monotonic())

        shoe.on_change = on_change
        for _ in range(SAMPLES):
            begin(shoe, run, "hand seats=1-2 button=1")
            shoe.wait_for(lambda: lit(shoe, "white"), "white light")
            changed.clear()
            shoe.draw(P1 + TRAVEL + BEYOND, 2, speed=SPEED, boxed=True)
            edge_ms = shoe.samples * SAMPLE_MS - BEYOND / SPEED
            shoe.wait_for(lambda: bool(changed), "amber light")
            taken.append((changed[0] * 1_000, edge_ms))
            shoe.finish(speed=SPEED, arrives=False)
        zero_ms = shoe.zero_s * 1_000
    return sorted(changed_ms - zero_ms - edge_ms for changed_ms, edge_ms in taken)


def draws_per_second() -> float:
    """Cards a second, one at a time: the next one leaves when the shoe has heard what is due next."""
    with table("fast") as (shoe, run):
        begun = time.monotonic()
        for _ in range(HANDS):
            begin(shoe, run, TABLE)
            for seat in (*range(1, 12), *range(1, 12)):
                before = shoe.line.due
                shoe.pull(None, seat, arrives=False, wait=False)
                shoe.wait_for(partial(heard_more, shoe, before), "what is due next")
            assert shoe.line.due.due == schema.DUE_BETTING
        took = time.monotonic() - begun
    return 22 * HANDS / took


def figures() -> list[dict[str, Any]]:
    """The figures of this file."""
    times = draw_to_signal()
    p99 = times[round(0.99 * len(times)) - 1]
    rate = draws_per_second()
    return [
        figure("draw_to_signal_p99_ms", p99, "ms", "<= 5", p99 <= 5.0),
        figure("draw_to_signal_p50_ms", times[len(times) // 2], "ms", "", None),
        figure("loop_draws_per_s", rate, "draws/s", "", None),
    ]


def figure(name: str, value: float, unit: str, target: str, ok: bool | None) -> dict[str, Any]:
    return {"name": name, "value": round(value, 3), "unit": unit, "target": target, "ok": ok, "command": COMMAND}
