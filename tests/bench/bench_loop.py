"""The whole loop timed: real firmware on a pty, bridge, journal, rules, and back to the lamps. For `make bench`."""

from __future__ import annotations

import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import open_bridge
from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.deck.strip import TRAVEL
from dealershoe.demo.player import wait_for_session
from dealershoe.emulate.mechanics import P1, SAMPLE_MS, printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.timeline import Output
from dealershoe.emulate.words import colour

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
def table(pace: str) -> Iterator[tuple[TimedShoe, Bridge]]:
    """A shoe with the real firmware and a bridge on its port."""
    with tempfile.TemporaryDirectory() as folder, TimedShoe(pace=pace) as shoe:
        bridge = open_bridge(shoe.port, STACK, Path(folder) / "journal", lambda _: None)
        bridge.start()
        try:
            wait_for_session(shoe, bridge, 1)
            yield shoe, bridge
        finally:
            bridge.stop()


def begin(shoe: TimedShoe, bridge: Bridge, hand: str) -> None:
    """A hand begins, and the shoe knows it."""
    bridge.ask(hand, "bench")
    shoe.wait_for(lambda: shoe.line.due is not None and shoe.line.due.hand == bridge.desk.hand, "the hand")
    shoe.load(printed(name) for name in FIFTY_TWO)


def lit(shoe: EmulatedShoe, name: str) -> bool:
    return any(colour(pixel) == name for pixel in shoe.lights)


def draw_to_signal() -> list[float]:
    """Milliseconds from the moment the trailing edge passes the lip to the change of the lamps, sorted."""
    taken: list[tuple[float, float]] = []
    with table("real") as (shoe, bridge):
        changed: list[float] = []

        def on_change() -> None:
            if lit(shoe, "amber"):
                changed.append(time.monotonic())

        shoe.on_change = on_change
        for _ in range(SAMPLES):
            begin(shoe, bridge, "hand seats=1-2 button=1")
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
    """Cards a second from sensors to stored and acknowledged, with a seat node's report for each."""
    with table("fast") as (shoe, bridge):
        begun = time.monotonic()
        for _ in range(HANDS):
            begin(shoe, bridge, TABLE)
            for seat in (*range(1, 12), *range(1, 12)):
                shoe.pull(None, seat, wait=False)
            shoe.quiet()
            shoe.wait_for(lambda: bridge.desk.session.draws == 22 and shoe.line.answered, "22 cards on the table")
        took = time.monotonic() - begun
        assert bridge.desk.counts["draws"] == 22 * HANDS
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
