"""The faulty line: each fault does what its name says, the seed decides, and the port is a real one that goes away."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import serial
from dealershoe.bench.faults import Faults, Wire
from dealershoe.bench.line import FaultyLine
from dealershoe.errors import UserError
from hypothesis import given
from hypothesis import strategies as st
from shoelink import frame, schema

FRAMES = [frame.encode(schema.PING, 0, n, 0, schema.word(n * 0x01010101 & 0xFFFFFFFF)) for n in range(400)]


def through(faults: Faults, seed: int = 1, frames: list[bytes] = FRAMES) -> tuple[bytes, Wire]:
    wire = Wire("to host", seed)
    wire.faults = faults
    for one in frames:
        wire.send(one, 0.0)
    return wire.arrived(0.0), wire


def test_a_line_without_faults_changes_nothing() -> None:
    assert through(Faults())[0] == b"".join(FRAMES)


@pytest.mark.parametrize(
    ("faults", "delivered", "damaged"),
    [
        (Faults(loss=0.25), range(260, 341), 0),
        (Faults(duplicate=0.25), range(460, 541), 0),
        (Faults(bit_error=0.25), range(260, 341), 1),
        (Faults(inserted=0.25), range(260, 361), 1),
        (Faults(dropped=0.25), range(260, 361), 1),
        (Faults(burst=0.25), range(260, 341), 1),
        (Faults(zeroed=0.25), range(260, 361), 1),
        (Faults(cut=0.25), range(260, 361), 1),
        (Faults(loss=1.0), range(1), 0),
    ],
)
def test_each_fault_befalls_its_share_of_the_frames(faults: Faults, delivered: range, damaged: int) -> None:
    out, wire = through(faults)
    decoder = frame.Decoder()
    assert len(decoder.feed(out)) in delivered
    assert (decoder.damaged > 0) == bool(damaged)
    assert wire.frames == len(FRAMES)
    assert len(wire.log) >= 60


def test_the_seed_decides_and_nothing_else_does() -> None:
    faults = Faults(loss=0.2, bit_error=0.2, inserted=0.1, dropped=0.1, duplicate=0.1)
    assert through(faults, 7)[0] == through(faults, 7)[0]
    assert through(faults, 7)[0] != through(faults, 8)[0]
    lost = set(through(Faults(loss=0.2), 7)[1].log)
    assert lost == {line for line in through(faults, 7)[1].log if line.endswith(": lost")}


@given(st.lists(st.integers(1, 40)), st.integers(0, 5))
def test_how_the_stream_is_cut_changes_nothing(cuts: list[int], seed: int) -> None:
    stream = b"".join(FRAMES[:20])
    faults = Faults(loss=0.3, bit_error=0.3)
    whole, cut = Wire("x", seed), Wire("x", seed)
    whole.faults = cut.faults = faults
    whole.send(stream, 0.0)
    at = 0
    for size in [*cuts, len(stream)]:
        cut.send(stream[at : at + size], 0.0)
        at += size
    assert whole.arrived(0.0) == cut.arrived(0.0)


def test_delay_and_jitter_keep_the_order() -> None:
    wire = Wire("to host", 3)
    wire.faults = Faults(delay_ms=10.0, jitter_ms=30.0)
    for at, one in enumerate(FRAMES):
        wire.send(one, float(at))
    assert wire.arrived(9.9) == b""
    assert wire.wait(9.9) is not None
    out = b"".join(wire.arrived(float(at)) for at in range(500))
    assert out == b"".join(FRAMES)


def test_a_frame_that_is_held_back_is_overtaken_and_none_is_lost() -> None:
    wire = Wire("to host", 3)
    wire.faults = Faults(reorder=0.25)
    for at, one in enumerate(FRAMES):
        wire.send(one, float(at))
    early = b"".join(wire.arrived(float(at)) for at in range(len(FRAMES)))
    order = [seq for _, _, seq, _, _ in frame.Decoder().feed(early + wire.arrived(1_000.0))]
    assert order != sorted(order)
    assert sorted(order) == list(range(len(FRAMES)))
    assert max(early - late for late, early in enumerate(order)) <= 20  # frames a millisecond apart


def test_a_spike_delays_all_that_comes_after_and_no_more_than_is_said() -> None:
    wire = Wire("to host", 3)
    wire.faults = Faults(spike=1.0, spike_ms=50.0)
    for frame_ in FRAMES[:10]:
        wire.send(frame_, 0.0)  # each late, from now on, and none by the lateness of those before
    wire.faults = Faults()
    wire.send(FRAMES[10], 1.0)
    held = wire.wait(0.0)
    assert held
    assert 1.0 < held <= 50.0
    assert wire.arrived(held - 0.1) == b""
    assert wire.arrived(held).startswith(FRAMES[0])
    rest = wire.wait(held)
    while rest:
        held += rest
        assert held <= 50.0
        last = wire.arrived(held)
        rest = wire.wait(held)
    assert last.endswith(FRAMES[10])


def test_a_line_has_its_pace() -> None:
    wire = Wire("to host", 3, pace=11.52, delay_ms=1.0)
    wire.send(FRAMES[0] + FRAMES[1], 5.0)
    first, both = (5.0 + 1.0 + length / 11.52 for length in (len(FRAMES[0]), len(FRAMES[0] + FRAMES[1])))
    assert wire.arrived(first - 0.01) == b""
    assert wire.arrived(first) == FRAMES[0]
    assert wire.arrived(both - 0.01) == b""
    assert wire.arrived(both + 1e-9) == FRAMES[1]


def test_nothing_comes_out_of_a_silent_line_not_even_half_a_frame() -> None:
    wire = Wire("to host", 3)
    wire.silent = True
    wire.send(FRAMES[0] + FRAMES[1][:5], 0.0)
    assert wire.arrived(1_000.0) == b""


def test_half_a_frame_goes_on_when_nothing_follows() -> None:
    wire = Wire("to host", 3)
    wire.send(FRAMES[0][:5], 0.0)
    assert wire.arrived(10.0) == b""
    assert wire.wait(10.0) == 10.0
    assert wire.arrived(20.0) == FRAMES[0][:5]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"loss": 20}, "loss=20 is no fault of a line; loss is a share of the frames, a number from 0 to 1"),
        ({"loss": "0.2"}, "loss='0.2' is no fault of a line; loss is a share of the frames, a number from 0 to 1"),
        ({"cut": float("nan")}, "cut=nan is no fault of a line; cut is a share of the frames, a number from 0 to 1"),
        ({"burst": -0.1}, "burst=-0.1 is no fault of a line; burst is a share of the frames, a number from 0 to 1"),
        ({"delay_ms": -1}, "delay_ms=-1 is no fault of a line; delay_ms is a number of milliseconds, 0 or more"),
        (
            {"spike_ms": float("inf")},
            "spike_ms=inf is no fault of a line; spike_ms is a number of milliseconds, 0 or more",
        ),
    ],
)
def test_a_value_that_no_fault_has_is_refused_in_a_sentence(value: dict[str, float], sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        Faults(**value)
    assert str(refused.value) == sentence


# ---- real ports


class Far:
    """The shoe's side: a pty."""

    def __init__(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.port = os.ttyname(self.slave)

    def read(self) -> bytes:
        try:
            return os.read(self.master, 65_536)
        except BlockingIOError:
            return b""


@pytest.fixture
def far() -> Iterator[Far]:
    made = Far()
    yield made
    os.close(made.master)
    os.close(made.slave)


@pytest.fixture
def line(far: Far) -> Iterator[FaultyLine]:
    with FaultyLine(far.port) as made:
        yield made


def test_a_fault_that_there_is_not_is_refused_with_the_names_of_those_that_there_are(line: FaultyLine) -> None:
    line.faults(loss=0.5)
    with pytest.raises(UserError) as refused:
        line.faults(losss=0.2)
    assert str(refused.value) == (
        "a line has no fault losss; its faults are loss, duplicate, bit_error, burst, zeroed, inserted, dropped, cut, "
        "reorder, spike, delay_ms, jitter_ms, spike_ms"
    )
    assert line.to_host.faults == line.to_shoe.faults == Faults(loss=0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda line: line.faults(loss=0.2, to="bridge"),
        lambda line: line.silence(to="bridge"),
        lambda line: line.speak(to="bridge"),
    ],
    ids=["faults", "silence", "speak"],
)
def test_an_end_that_there_is_not_is_refused(line: FaultyLine, call: Callable[[FaultyLine], None]) -> None:
    with pytest.raises(UserError) as refused:
        call(line)
    assert str(refused.value) == (
        'a line has no end \'bridge\'; say to="host", to="shoe", or nothing for both directions'
    )
    assert not line.to_host.silent
    assert not line.to_shoe.silent


def wait_until_gone(host: serial.Serial) -> None:
    until = time.monotonic() + 20.0
    while time.monotonic() < until:
        host.read(1)
        host.in_waiting  # noqa: B018 (raises once the port has gone)


def arrives(line: FaultyLine, read: object, expected: bytes) -> None:
    got = bytearray()

    def all_there() -> bool:
        got.extend(read())  # type: ignore[operator]
        return len(got) >= len(expected)

    line.wait_for(all_there, f"{len(expected)} bytes")
    assert bytes(got) == expected


def test_bytes_cross_both_ways_and_the_port_comes_back_under_its_name(far: Far) -> None:
    threads = threading.active_count()
    with FaultyLine(far.port, 5) as line:
        for _ in range(3):
            with serial.Serial(line.port, 115_200, timeout=0) as host:
                os.write(far.master, FRAMES[1])
                arrives(line, lambda h=host: h.read(4096), FRAMES[1])
                host.write(FRAMES[2])
                arrives(line, far.read, FRAMES[2])
                line.disconnect()
                with pytest.raises((serial.SerialException, OSError)):
                    wait_until_gone(host)
                assert not os.path.exists(line.port)
            line.reconnect()
        line.disconnect()
    assert threading.active_count() == threads


def test_silence_is_one_way(far: Far) -> None:
    with FaultyLine(far.port) as line, serial.Serial(line.port, 115_200, timeout=0) as host:
        line.silence(to="host")
        os.write(far.master, FRAMES[1])
        host.write(FRAMES[2])
        arrives(line, far.read, FRAMES[2])
        line.wait_for(lambda: line.to_host.log == ["to host 0: lost"], "the frame to be lost")
        line.speak(to="host")
        os.write(far.master, FRAMES[3])
        arrives(line, lambda: host.read(4096), FRAMES[3])


def test_delay_is_real_time(far: Far) -> None:
    with FaultyLine(far.port) as line, serial.Serial(line.port, 115_200, timeout=0) as host:
        line.faults(delay_ms=60.0, to="host")
        begun = time.monotonic()
        os.write(far.master, FRAMES[1])
        arrives(line, lambda: host.read(4096), FRAMES[1])
        assert time.monotonic() - begun >= 0.06


def test_a_wait_that_fails_names_the_seed_and_the_faults(far: Far) -> None:
    with FaultyLine(far.port, 99) as line:
        line.silence(to="host")
        os.write(far.master, FRAMES[1])
        line.wait_for(lambda: line.log, "a fault")
        with pytest.raises(TimeoutError, match=r"for: nothing \(seed 99, faults \['to host 0: lost'\]\)"):
            line.wait_for(lambda: False, "nothing", 0.01)


def test_a_thread_that_dies_is_seen(far: Far, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        with FaultyLine(far.port) as line:
            monkeypatch.setattr(line.to_host, "send", lambda *_: 1 / 0)
            os.write(far.master, b"x")
            line.wait_for(lambda: False, "the failure")

    with pytest.raises(RuntimeError, match="the faulty line has failed"):
        fails()


def test_faults_are_counted_by_name() -> None:
    _, wire = through(Faults(bit_error=0.5, dropped=0.5))
    kinds = Counter("lost" if line.endswith("lost") else "flipped" for line in wire.log)
    assert set(kinds) == {"lost", "flipped"}
