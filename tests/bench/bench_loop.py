"""The whole loop timed: real firmware on a pty, bridge, journal, rules, and back to the lamps. For `make bench`."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from bench.hold_shoes import Dealing
from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.deck.strip import TRAVEL
from dealershoe.desk.table_link import TICKS
from dealershoe.emulate.mechanics import P1, SAMPLE_MS, printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.timeline import Output
from dealershoe.emulate.words import colour
from dealershoe.link.codec import Decoder
from dealershoe.port.port import Port
from shoelink import notice, schema
from shoelink.link import Link

FAR_END = Path(__file__).with_name("far_end.py")
MAIN = "from dealershoe.cli import main; main()"
COMMAND = "python tests/bench/run.py loop"
STACK = "roberts"  # one boxed card is replaced: the light turns amber
SAMPLES = 200
BEYOND = 0.5  # mm: so far the trailing edge is past the lip when its mark comes, three samples at this speed
SPEED = 3.0  # m/s = mm/ms, the fastest draw of the card code's range
TABLE = "hand seats=1-11 button=11"
HANDS = 40
TRIPS = 2_000
PACE_S = 0.02  # from card to card of a shoe without firmware
POLL_S = 0.002
AGAIN_S = 0.25
WAIT_S = 20.0  # for a session, and for one answer


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
def bridge(port: str) -> Iterator[IO[str]]:
    """The standard input of `dealershoe run` on `port`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", MAIN, "run", "--port", port, "--rules", STACK]
        command += ["--journal", str(Path(folder) / "journal")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, bufsize=1) as run:
            assert run.stdin is not None
            try:
                yield run.stdin
            finally:
                run.terminate()


@contextmanager
def table(pace: str) -> Iterator[tuple[TimedShoe, IO[str]]]:
    """A shoe with the real firmware, and the standard input of `dealershoe run` on its port."""
    with TimedShoe(pace=pace) as shoe, bridge(shoe.port) as run:
        shoe.wait_for(lambda: shoe.line.signal is not None, "the bridge's first signal")
        yield shoe, run


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


def host_share() -> list[float]:
    """Milliseconds from a card on the line to what the host says of it, sorted: the bridge and a pty, no firmware."""
    shoe = Dealing(1, PACE_S, time.monotonic())
    taken: list[float] = []
    sent_s: float | None = None
    with bridge(shoe.path) as run:
        run.write("hand seats=1-9 button=9\n")
        until = time.monotonic() + WAIT_S + SAMPLES * PACE_S
        while len(taken) < SAMPLES:
            if time.monotonic() > until:
                raise RuntimeError(f"the host has answered {len(taken)} of {SAMPLES} cards")
            came = bool(select.select([shoe.master], [], [], POLL_S)[0])
            due, cards = shoe.due, shoe.cards
            shoe.turn(time.monotonic(), came)
            if sent_s is not None and shoe.due is not due:
                taken.append((time.monotonic() - sent_s) * 1_000)
                sent_s = None
            if shoe.cards != cards:
                sent_s = time.monotonic()
    os.close(shoe.master)
    os.close(shoe.slave)
    return sorted(taken)


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


class Asker:
    """The host's end of the link on a port: asks the shoe for its time."""

    def __init__(self, port: Port) -> None:
        ident = schema.Ident(b"bench".ljust(8, b"\0"), b"bench".ljust(12, b"\0"), bytes(16))
        self._port = port
        self._link = Link(schema.HOST, ident, os.urandom, decoder=Decoder())
        self._link.start(self._now())
        self._until("PONG", lambda told: any(isinstance(one, notice.Delivered) for one in told))

    @staticmethod
    def _now() -> int:
        return int(time.monotonic() * 1_000) & TICKS

    def _until(self, what: str, came: Callable[[Any], bool]) -> None:
        """Turn the link until `came` is true of what it said."""
        until = time.monotonic() + WAIT_S
        told: list[Any] = []
        while not came(told):
            if time.monotonic() > until:
                raise RuntimeError(f"the shoe does not answer: no {what}")
            told = list(self._link.poll(self._now()))
            self._port.write(self._link.take())
            self._port.wait(0.05, None)
            told += self._link.receive(self._port.read(), self._now())
            if any(isinstance(one, notice.Greeting) for one in told):
                self._link.resume(0, self._now())

    def trip(self, number: int) -> float:
        """Microseconds from a PING to its PONG."""
        word = self._link.stamp = schema.word(number)  # the link's own PINGs carry it too: the shoe answers the last

        def answered(told: list[Any]) -> bool:
            pongs = (one.message for one in told if isinstance(one, notice.Delivered))
            return any(isinstance(pong, schema.Pong) and bytes(pong.ping) == word for pong in pongs)

        begun = time.perf_counter()
        again_s = 0.0

        def asked(told: list[Any]) -> bool:  # a PING is not repeated by the link: ask again, the time goes on
            nonlocal again_s
            if answered(told):
                return True
            if time.monotonic() >= again_s and self._link.send(schema.Ping(word), self._now()):
                again_s = time.monotonic() + AGAIN_S
            return False

        self._until("PONG", asked)
        return (time.perf_counter() - begun) * 1e6


def trips(path: str) -> list[float]:
    """Microseconds from PING to PONG with whatever is behind a port, sorted."""
    port = Port(path)
    try:
        asker = Asker(port)
        return sorted(asker.trip(number) for number in range(1, TRIPS + 1))
    finally:
        port.close()


def round_trips() -> list[float]:
    """The host's whole stack at both ends of a pty, each in its own process."""
    with subprocess.Popen([sys.executable, str(FAR_END)], stdout=subprocess.PIPE, text=True) as far:
        assert far.stdout is not None
        try:
            return trips(far.stdout.readline().strip())
        finally:
            far.kill()


def firmware_round_trips() -> list[float]:
    """The host's stack at one end, the whole firmware on MicroPython at the other."""
    with EmulatedShoe() as shoe:
        return trips(shoe.port)


def at(share: float, values: list[float]) -> float:
    """The value that so large a share of the sorted ones does not exceed."""
    return values[max(0, round(share * len(values)) - 1)]


def figures() -> list[dict[str, Any]]:
    """The figures of this file."""
    times = draw_to_signal()
    p99 = at(0.99, times)
    share = host_share()
    rate = draws_per_second()
    pty, firmware = round_trips(), firmware_round_trips()
    half, most = at(0.5, pty), at(0.99, pty)
    return [
        figure("draw_to_signal_p99_ms", p99, "ms", "<= 5", p99 <= 5.0),
        figure("draw_to_signal_p50_ms", at(0.5, times), "ms", "", None),
        figure("host_share_p50_ms", at(0.5, share), "ms", "", None),
        figure("host_share_p99_ms", at(0.99, share), "ms", "", None),
        figure("loop_draws_per_s", rate, "draws/s", "", None),
        figure("pty_round_trip_p50_us", half, "us", "<= 150", half <= 150),
        figure("pty_round_trip_p99_us", most, "us", "<= 400", most <= 400),
        figure("firmware_round_trip_p50_us", at(0.5, firmware), "us", "", None),
        figure("firmware_round_trip_p99_us", at(0.99, firmware), "us", "", None),
    ]


def figure(name: str, value: float, unit: str, target: str, ok: bool | None) -> dict[str, Any]:
    return {"name": name, "value": round(value, 3), "unit": unit, "target": target, "ok": ok, "command": COMMAND}
