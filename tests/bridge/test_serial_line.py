"""What went wrong on other people's serial lines, a test a case of docs/serial-cases.md: frames, repeats, versions."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path
from typing import Any

import pytest
from bridge.rig import SHOE_IDENT, Rig, entropy
from dealershoe.bridge.health import Health
from dealershoe.entries import Fact
from dealershoe.frames.recorder import Recorder
from dealershoe.link import codec
from shoelink import frame, notice, schema, timing
from shoelink.link import Link

from protocol import faulty_line


def wire(message: Any, seq: int = 1, kind: int | None = None) -> bytes:
    return frame.encode(kind or schema.KIND_OF[type(message)], 0, seq, 0, schema.pack(message))


def card(draw: int) -> schema.Card:
    return schema.Card(0, draw, bytes(4), schema.word(draw), 0, 0, 0, 0, 30, 0, 1000, 0)


def held(path: str) -> int:
    """Descriptors of this process that lead to `path`, gone or not."""
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            count += os.readlink(entry).startswith(path)
        except OSError:
            continue
    return count


def test_s23_s24_an_idle_line_carries_frames_of_the_host_and_a_card_is_there_at_once() -> None:
    rig = Rig()
    rig.run(300)
    gaps, quiet = [], 0
    for _ in range(10_000):  # ten seconds in which nothing happens
        before = rig.table.link.count["sent"]
        rig.run(1)
        if rig.table.link.count["sent"] != before:
            gaps.append(quiet)
            quiet = 0
        quiet += 1
    assert max(gaps) <= 300, "USB power saving wants 2,000 ms of silence"
    rig.card(1)
    rig.run(50)
    assert rig.shoe.journal.held() == 0


def test_s33_a_bridge_that_was_paused_says_so_and_gets_every_card_once() -> None:
    rig = Rig()
    rig.run(300)
    health = Health(rig.table)
    health.turn(None, rig.at)
    for draw in range(1, 105):
        rig.card(draw)
    for _ in range(20_000):  # the shoe goes on, the host does not turn
        rig.ms += 1
        rig.shoe.heed(rig.shoe.link.poll(rig.ms & timing.TICKS))
        rig.shoe.link.take()
    paused = [happening.text for happening in health.turn(None, rig.at) if "stood still" in happening.text]
    assert paused == ["this bridge stood still for 20 s: its host slept, or something held it"]
    rig.run(2_000)
    assert rig.shoe.journal.held() == 0
    facts = [entry for entry in rig.durable if isinstance(entry, Fact) and entry.journal is not None]
    assert [entry.number for entry in facts] == list(range(1, 105))


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s35_boot_noise_costs_one_frame_at_most_and_makes_none(decoder: Any) -> None:
    for seed in range(300):
        dice = random.Random(seed)
        frames = [wire(card(draw), draw) for draw in range(1, 4)]
        got = decoder().feed(dice.randbytes(200) + b"".join(frames))
        assert [seq for _, _, seq, _, _ in got] in ([1, 2, 3], [2, 3])


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
@pytest.mark.parametrize(
    "text",
    [
        b'\r\nTraceback (most recent call last):\r\n  File "main.py", line 3, in <module>\r\nValueError: 7\r\n',
        b"MicroPython v1.26.1 on 2025-09-11; Raspberry Pi Pico with RP2040\r\n>>> ",
        b"rst:0x1 (POWERON_RESET),boot:0x13\r\nets Jun  8 2016 00:22:57\r\n",
    ],
    ids=["traceback", "prompt", "boot ROM"],
)
def test_s35_text_in_front_or_between_costs_no_frame(decoder: Any, text: bytes) -> None:
    frames = [wire(card(draw), draw) for draw in range(1, 4)]
    reader = decoder()
    got = reader.feed(text + frames[0] + frames[1] + text + frames[2])
    assert [seq for _, _, seq, _, _ in got] == [1, 2, 3]
    assert reader.damaged == 2


def test_s36_a_host_greets_until_a_shoe_that_still_boots_is_there() -> None:
    rig = Rig()
    rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal)  # not started: it neither hears nor speaks
    rig.run(1_500)
    assert not rig.table.up
    rig.shoe.link.start(rig.ms)
    rig.run(300)
    assert rig.table.up
    assert rig.table.sessions == 1


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s53_a_zero_inside_is_never_decoded(decoder: Any) -> None:
    reader = decoder()
    assert reader.feed(b"\x02\0\0") == []
    whole = wire(card(1))
    for at in range(1, len(whole) - 1):
        assert reader.feed(whole[:at] + b"\0" + whole[at + 1 :]) == []


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s54_groups_of_254_bytes_are_longer_than_any_frame(decoder: Any) -> None:
    for length, end in itertools.product((253, 254, 255, 256), (b"", b"\0")):
        reader = decoder()
        assert reader.feed(b"\0" + bytes([0xFF]) + b"\x05" * length + end + b"\0" + wire(card(1)))
        assert reader.count["frames"] == 1
        assert reader.count["long"] == 1


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s59_any_number_of_zeros_in_front_means_nothing(decoder: Any) -> None:
    for zeros in (0, 1, 2, 3, 50, 5_000):
        assert len(decoder().feed(bytes(zeros) + wire(card(1)))) == 1


@pytest.mark.parametrize("decoder", [frame.Decoder, codec.Decoder])
def test_s60_a_stream_that_begins_out_of_step_falls_into_step(decoder: Any) -> None:
    stream = b"".join(wire(card(draw), draw) for draw in range(1, 5))
    for lost in range(2, len(wire(card(1)))):
        assert [seq for _, _, seq, _, _ in decoder().feed(stream[lost:])] == [2, 3, 4]


def test_s61_a_systematic_fault_of_the_line_is_told_from_silence() -> None:
    recorder = Recorder()
    recorder.heard(bytes(byte ^ 1 for byte in b"".join(wire(card(draw)) for draw in range(5))))
    assert "the level or the speed of the line is wrong" in recorder.cause()
    assert Recorder().cause() == ""


def test_s63_s68_a_repeat_is_acknowledged_again_and_delivered_once() -> None:
    rig = faulty_line.Rig()
    rig.run(200)
    rig.report(faulty_line.card(1))
    rig.run(230)
    acknowledged = rig.host.count["sent"]
    event = frame.encode(schema.CARD, 0, 1, 0, schema.pack(faulty_line.card(1)))
    for _ in range(5):
        assert rig.host.receive(event, rig.ticks()) == ()
        rig.host.poll(rig.ticks())
        last = frame.Decoder().feed(rig.host.take())[-1]
        assert last[0] & ~0x80 == schema.ACK
        assert last[3] == 1
    assert rig.host.count["duplicates"] == 5
    assert rig.host.count["sent"] >= acknowledged + 5
    rig.check(rig.shoe_journal)


def test_s66_every_trouble_alone_and_in_pairs_has_one_way_back() -> None:
    troubles = ("silence", "restart of the shoe", "port")
    for first, second in itertools.product(troubles, (None, *troubles)):
        rig = faulty_line.Rig()
        rig.run(200)
        rig.report(faulty_line.card(1))
        for trouble in filter(None, (first, second)):
            if trouble == "silence":
                rig.silence(1_000)
            elif trouble == "port":
                rig.replug()
            else:
                rig.reset_shoe(ram_lost=False)
            rig.run(rig.now + 100)
        rig.report(faulty_line.card(2))
        rig.run(rig.now + 3_000)
        assert rig.host.up, (first, second)
        assert rig.shoe.up, (first, second)
        rig.check(rig.shoe_journal)


def test_s67_an_old_reset_cause_and_stale_frames_in_front_are_not_fatal() -> None:
    rig = Rig()
    stale = wire(schema.Fault(bytes(4), schema.FAULT_HEAD, 0), 7) + wire(schema.Ping(bytes(4)))
    assert rig.table.link.receive(stale, rig.ms) == ()
    rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal, boot=b"boot", reset=schema.RESET_WATCHDOG)
    rig.shoe.link.start(rig.ms)
    rig.run(500)
    assert rig.table.up
    assert rig.table.link.count["early"] == 2
    peer = rig.table.link.peer
    assert peer is not None
    assert peer.reset == schema.RESET_WATCHDOG


def test_s71_counters_stop_and_never_overflow() -> None:
    rig = faulty_line.Rig()
    rig.run(200)
    rig.report(faulty_line.card(1))
    rig.run(300)
    event = frame.encode(schema.CARD, 0, 1, 0, schema.pack(faulty_line.card(1)))
    for _ in range(300):
        rig.host.receive(event, rig.ticks())
    assert rig.host.count["duplicates"] == 300
    rig.shoe.count["sent"] = 70_000
    assert rig.shoe.stats(1 << 20, 0).sent == 0xFFFF
    schema.pack(rig.shoe.stats(1 << 20, 1 << 20))


def test_s74_twenty_events_in_50_ms_fit_and_the_peak_is_told() -> None:
    rig = Rig()
    rig.run(300)
    for draw in range(1, 21):
        rig.card(draw)
        if draw % 5 == 0:
            rig.run(10)
    rig.run(1_000)
    assert rig.shoe.journal.held() == 0
    stats = rig.shoe.link.stats(0, 0)
    assert 1 <= stats.peak <= 20
    assert stats.refused == 0


def test_s75_another_version_is_refused_with_both_and_stays_said() -> None:
    rig = Rig()
    hello = schema.Hello(2, 0, b"abcd", b"JRN1", b"boot", 1, 1, 1, 256, b"12345678", bytes(4))
    rig.table.received(frame.encode(schema.HELLO, schema.FLAG_ASK, 1, 0, schema.pack(hello)), rig.at)
    rig.table.received(wire(SHOE_IDENT), rig.at)
    assert not rig.table.up
    assert "the peer speaks link 2.0, this end 1.0: update the older one" in rig.table.why_down


def test_s84_a_hand_goes_on_over_the_wrap_of_the_ticks() -> None:
    rig = faulty_line.Rig(start=timing.TICKS + 1 - 5_000)
    for draw in range(1, 21):
        rig.report(faulty_line.card(draw))
        rig.run(rig.now + 500)
    assert rig.now > 5_000
    assert len(rig.of(schema.HOST, notice.LinkUp)) == 1
    assert not rig.of(schema.HOST, notice.LinkLost)
    rig.check(rig.shoe_journal)
