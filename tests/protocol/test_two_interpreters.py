"""A host on CPython and a shoe on MicroPython speak the same link: cards, signals, a bad line, a silence."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from dealershoe.bench.faults import Faults
from dealershoe.link import codec
from protocol.faulty_line import KEY, Line, card, damaged, ident
from protocol.shoe_beside import ShoeBeside
from protocol.test_vectors import MICROPYTHON, PROTOCOL, needs_micropython
from shoelink import link, notice, schema, timing

from protocol import shoe_process

STEP = 5  # milliseconds of virtual time a turn


@needs_micropython
@pytest.mark.parametrize("key", [b"", KEY], ids=["plain", "sealed"])
def test_a_host_on_cpython_and_a_shoe_on_micropython(key: bytes) -> None:
    dice = random.Random(1)
    bad = Faults(loss=0.1, **damaged(0.1), duplicate=0.05)
    up, down = Line("up", 1, bad), Line("down", 1, bad)
    with ShoeBeside(str(MICROPYTHON), PROTOCOL, key) as shoe:
        host = link.Link(
            schema.HOST, ident(b"h"), dice.randbytes, decoder=codec.Decoder(), keys={b"upython!": key} if key else None
        )
        start = timing.TICKS - 2000  # the clock wraps on the way
        host.start(start)
        stored: list[tuple[int, object]] = []
        lost: list[str] = []
        draw = 0
        for turn in range(2400):
            now = turn * STEP
            ticks = (start + now) & timing.TICKS
            if turn == 1000:  # a silence of 1.5 s in the middle of the hand
                up.silent_until = down.silent_until = now + 1500
            if turn == 600:
                host.desire(schema.Signal(0, schema.SIGNAL_STOP, schema.REASON_MISDEAL, schema.MODE_SUPERVISED))
            if turn == 2000:
                host.desire(schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED))
            notices = host.receive(up.arrived(now), ticks) + host.poll(ticks)
            for what in notices:
                if isinstance(what, notice.Greeting):
                    host.resume(len(stored), ticks)
                elif isinstance(what, notice.Recorded):
                    stored.append((what.number, what.message))
                    host.stored(what.number)
                elif isinstance(what, notice.LinkLost):
                    lost.append(what.reason)
            host.poll(ticks)
            down.send(host.take(), now)
            dealt = 100 <= turn < 1900 and turn % 30 == 0
            draw += dealt
            up.send(shoe.turn(ticks, draw if dealt else 0, down.arrived(now)), now)
            if turn == 999:
                assert shoe.up
                assert host.sealed == (b"upython!" if key else None)
                assert shoe.signal == schema.SIGNAL_STOP
        assert draw == 60
        assert stored == [(number, card(number)) for number in range(1, draw + 1)]
        assert shoe.held == 0
        assert shoe.signal == schema.SIGNAL_READY
        assert lost, "the silence was noticed"


@needs_micropython
def test_the_shoe_allocates_nothing_from_the_sensor_to_the_frame() -> None:
    done = subprocess.run(
        [str(MICROPYTHON), str(Path(__file__).with_name("no_allocation.py"))],
        env={**os.environ, "MICROPYPATH": f"{PROTOCOL}:.frozen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "nothing allocated\n", done.stdout + done.stderr


def test_the_script_of_the_shoe_deals_the_same_cards() -> None:
    assert [shoe_process.card(draw) for draw in (1, 52, 300)] == [card(draw) for draw in (1, 52, 300)]
