"""What the link promises, one promise a test. Virtual time; 115,200 Bd and 1 ms each way unless said otherwise."""

from __future__ import annotations

import pytest
from dealershoe.bench.faults import Faults
from protocol.faulty_line import Rig, card, damaged, ident
from protocol.lone import heard, hello, lone_host, lone_shoe, say
from shoelink import frame, journal, link, notice, outbox, schema, timing


def _up(**how: float) -> Rig:
    rig = Rig(**how)  # type: ignore[arg-type]
    rig.run(500)
    assert rig.shoe.up
    assert rig.host.up
    return rig


# ---- sessions


def test_both_ends_are_up_within_a_tenth_of_a_second() -> None:
    rig = Rig()
    rig.run(100)
    assert rig.shoe.up
    assert rig.host.up
    (_, up) = rig.of(schema.HOST, notice.LinkUp)[0]
    assert isinstance(up, notice.LinkUp)
    assert up.ident == ident(b"s")
    assert up.hello.journal == rig.shoe_journal.id


def test_the_greeting_ends_in_silence_not_in_a_storm() -> None:
    """Two ends that are not up must not answer each other for ever: here the host's owner says nothing."""
    rig = Rig()
    rig.host.resume = lambda last, now: None  # type: ignore[method-assign]
    rig.run(3000)
    assert not rig.shoe.up
    assert rig.shoe.count["sent"] < 2 * 3000 / timing.HELLO_MS + 20


@pytest.mark.parametrize("start", [0, timing.TICKS - 400, timing.TICKS])
@pytest.mark.parametrize("idle", range(0, 250, 10))  # a PING each 246 ms: one of these is just before the silence
def test_a_lost_link_is_known_to_both_ends_within_750_ms(start: int, idle: int) -> None:
    rig = _up(start=start)
    rig.run(rig.now + idle)
    began = rig.now
    rig.silence(5000)
    rig.run(began + 5000)
    for side in (schema.SHOE, schema.HOST):
        ((when, lost),) = rig.of(side, notice.LinkLost)
        assert lost == notice.LinkLost("silence")
        assert when - began <= 750
    rig.run(began + 6000)
    assert rig.shoe.up
    assert rig.host.up


def test_an_idle_link_stays_up_for_an_hour_on_few_bytes() -> None:
    rig = _up()
    frames = rig.up_line.frames + rig.down_line.frames
    rig.run(3_600_000)
    assert rig.host.count["lost"] == rig.shoe.count["lost"] == 0
    assert (rig.up_line.frames + rig.down_line.frames - frames) / 3600 < 9  # a PING and a PONG every 246 ms


def test_another_major_is_refused_by_name_and_a_newer_minor_is_not() -> None:
    host, notices = lone_host(peer=hello(major=2, minor=3))
    (refused,) = notices
    assert isinstance(refused, notice.Refused)
    assert refused.reason == "major"
    assert "link 2.3" in refused.detail
    assert "1.0" in refused.detail
    assert not host.up
    host, notices = lone_host(peer=hello(minor=3))
    assert isinstance(notices[-1], notice.LinkUp)
    assert notices[-1].minor == 0


def test_a_host_that_has_more_than_the_shoe_ever_had_is_refused() -> None:
    host, notices = lone_host(last=100)
    assert notices[-1] == notice.Refused("journal", "event 100 is stored here, the shoe's next is 100")
    assert not host.up


def test_events_that_another_host_took_are_a_gap_by_name() -> None:
    host, notices = lone_host(last=5, peer=hello(oldest=9, next=12))
    assert notice.Gap(6, 9) in notices
    assert host.receive(say(card(9), seq=9), 2)[0] == notice.Recorded(9, schema.CARD, card(9), schema.pack(card(9)))


def test_the_oldest_number_is_extended_from_sixteen_bits() -> None:
    _, notices = lone_host(last=65530, peer=hello(oldest=0xFFFF, next=0x1_0005))
    assert notice.Gap(65531, 65535) in notices


def test_frames_of_our_own_come_back_change_nothing() -> None:
    """A loop-back plug: the device must not answer itself (ArduinoCore-samd #168)."""
    shoe = link.Link(schema.SHOE, ident(b"s"), lambda n: b"s" * n, journal.Journal(b"jrnl"))
    shoe.start(0)
    for now in range(0, 2000, 10):
        shoe.poll(now)
        assert shoe.receive(shoe.take(), now) == ()
    assert not shoe.up
    assert shoe.count["received"] == 0
    assert shoe.count["echoes"] == shoe.count["sent"] <= 2 * 2000 / timing.HELLO_MS


# ---- events, shoe to host


def test_an_event_is_acknowledged_only_when_it_is_stored() -> None:
    host, _ = lone_host()
    for number in (1, 2, 3):
        host.receive(say(card(number), seq=number), 10)
    host.poll(11)
    assert host.take() == b""
    host.stored(2)
    host.poll(12)
    ((kind, _, _, ack, _),) = frame.Decoder().feed(host.take())
    assert (kind, ack) == (schema.ACK | schema.FROM_HOST, 2)


def test_a_store_that_sleeps_for_twenty_seconds_loses_nothing() -> None:
    """bellows #735: the owner's event loop stalls, the device must not give up."""
    rig = _up(commit=10_000)
    for draw in range(1, 105):
        rig.report(card(draw))
        rig.run(rig.now + 200)
    rig.commit = 1
    rig.run(rig.now + 40_000, stop=lambda: not rig.shoe_journal.held())
    rig.check(rig.shoe_journal)


def test_a_delay_of_60_ms_repeats_nothing() -> None:
    """klipper #690: repeats of frames that were only on their way."""
    rig = _up(delay=60)
    for draw in range(1, 105):
        rig.report(card(draw))
        rig.run(rig.now + rig.dice.uniform(0, 300))
    rig.run(rig.now + 1000)
    rig.check(rig.shoe_journal)
    assert rig.shoe.stats(0, 0).resent == 0
    assert rig.host.count["duplicates"] == 0


@pytest.mark.parametrize("seed", range(10))
def test_a_kilobyte_of_garbage_brings_one_nak(seed: int) -> None:
    rig = _up(seed=seed)
    garbage = bytes(rig.dice.randrange(256) for _ in range(1024))
    for at in range(0, 1024, 12):  # a millisecond's worth at a time
        rig.host.receive(garbage[at : at + 12], rig.ticks())
        rig.run(rig.now + 1)
    rig.run(rig.now + 500)
    assert rig.host.count["naks"] == 1


def test_a_second_condition_after_silence_brings_a_second_nak() -> None:
    host, _ = lone_host()
    for now, expected in ((10, 1), (20, 1), (49, 1), (80, 2)):
        host.receive(b"\0noise\0", now)
        host.poll(now)
        assert host.count["naks"] == expected, now


def test_a_gap_is_named_at_once_and_repaired_from_there() -> None:
    host, _ = lone_host()
    host.receive(say(card(1), seq=1) + say(card(3), seq=3) + say(card(4), seq=4), 10)
    host.poll(10)
    assert schema.Nak(2, schema.NAK_GAP) in heard(host.take())
    assert host.count == {**host.count, "gaps": 2, "naks": 1}


def test_a_repeat_is_acknowledged_again_and_not_delivered_again() -> None:
    """ns3-rdma #8: a receiver that ignores duplicates makes the sender repeat for ever."""
    host, _ = lone_host()
    host.receive(say(card(1), seq=1), 10)
    host.stored(1)
    host.poll(10)
    host.take()
    assert host.receive(say(card(1), seq=1), 20) == ()
    host.poll(20)
    assert [ack for _, _, _, ack, _ in frame.Decoder().feed(host.take())] == [1]


def test_numbers_go_on_past_two_to_the_sixteenth() -> None:
    rig = Rig()
    rig.shoe_journal.oldest = rig.shoe_journal.next = 65_530
    rig.reset_shoe(ram_lost=False)
    rig.stored[rig.shoe_journal.id] = [(65_529, 0, b"")]
    for draw in range(1, 41):
        rig.report(card(draw))
        rig.run(rig.now + 10)
    rig.run(rig.now + 1000)
    numbers = [number for number, _, _ in rig.stored[rig.shoe_journal.id]]
    assert numbers == list(range(65_529, 65_570))


def test_eight_frames_or_192_bytes_are_in_flight_and_no_more() -> None:
    shoe = lone_shoe()
    for draw in range(1, 20):
        shoe.report(card(draw))
    shoe.poll(10)
    wire = shoe.take()
    assert len(heard(wire)) == 5  # 34 bytes each
    assert len(wire) <= 192
    shoe = lone_shoe()
    for _ in range(20):
        shoe.report(schema.Key(1, b"\0\0\0\0", schema.KEY_ACTION, schema.PRESS_SHORT))
    shoe.poll(10)
    assert len(heard(shoe.take())) == 8  # 21 bytes each


def test_a_host_that_takes_less_gets_less() -> None:
    shoe = lone_shoe(receive=80)
    for draw in range(1, 20):
        shoe.report(card(draw))
    shoe.poll(10)
    assert len(heard(shoe.take())) == 2


def test_an_acknowledgement_of_what_was_never_sent_releases_nothing() -> None:
    shoe = lone_shoe()
    shoe.report(card(1))
    shoe.receive(say(schema.Ack(0, 0), ack=7, mark=schema.FROM_HOST), 5)
    assert shoe.journal.held() == 1
    assert shoe.count["bad_ack"] == 1


def test_repeats_come_after_the_time_out_and_the_doubling_is_forgotten() -> None:
    shoe = lone_shoe()
    shoe.report(card(1))
    sent = []
    for now in range(10, 1100):
        if now % 200 == 0:  # the host lives, but acknowledges nothing
            shoe.receive(say(schema.Pong(bytes(4), bytes(4), bytes(4)), mark=schema.FROM_HOST), now)
        shoe.poll(now)
        sent += [now for message in heard(shoe.take()) if isinstance(message, schema.Card)]
    assert sent == [10, 210, 410, 660, 910]  # 200 ms, twice, then never more than 250
    shoe.receive(say(schema.Ack(0, 0), ack=1, mark=schema.FROM_HOST), 1100)
    shoe.report(card(2))
    sent.clear()
    for now in range(1101, 1400):
        shoe.poll(now)
        sent += [now for message in heard(shoe.take()) if isinstance(message, schema.Card)]
    assert sent == [1101, 1301]


# ---- a full journal


def test_a_full_journal_refuses_by_name_and_says_how_much_is_missing() -> None:
    rig = Rig()
    rig.run(100)
    rig.silence(60_000)
    numbers = [rig.report(card(draw)) for draw in range(1, 301)]
    assert numbers == [*range(1, 257), *[0] * 44]
    assert rig.shoe_journal.held() == 257  # and the FAULT that says so
    rig.reported[rig.shoe_journal.id, 257] = (rig.now, schema.Fault(bytes(4), schema.FAULT_JOURNAL_FULL, 0))
    rig.reported[rig.shoe_journal.id, 258] = (rig.now, schema.Clear(bytes(4), schema.FAULT_JOURNAL_FULL, 44))
    rig.up_line.silent_until = rig.down_line.silent_until = rig.now
    rig.run(rig.now + 5000, stop=lambda: rig.shoe_journal.next > 257 and not rig.shoe_journal.held())
    rig.check(rig.shoe_journal)
    told = [what for _, side, what in rig.notices if side == schema.SHOE]
    assert notice.JournalFull(1) in told
    assert notice.JournalRoom(44) in told
    assert rig.report(card(301)) == 259


def test_an_event_is_never_written_over_one_that_is_not_stored() -> None:
    ring = journal.Journal(b"jrnl", capacity=3)
    kept = []
    for draw in range(1, 50):
        at = ring.open(schema.KEY, 8)
        if at < 0:
            ring.release(ring.oldest + draw % 3)
            continue
        ring.buffer[at : at + 8] = bytes([draw]) * 8
        kept.append((ring.close(), draw))
        for number, value in kept:
            if number >= ring.oldest:
                start = ring.load(number)
                assert ring.buffer[start : start + ring.length(number)] == bytes([value]) * 8


# ---- desired state, host to shoe


def test_the_present_state_is_not_sent_again() -> None:
    rig = _up()
    stop = schema.Signal(0, schema.SIGNAL_STOP, schema.REASON_MISDEAL, schema.MODE_SUPERVISED)
    generation = rig.host.desire(stop)
    rig.run(rig.now + 300)
    assert rig.host.desire(stop) == generation
    rig.run(rig.now + 300)
    assert rig.signals == [stop._replace(generation=generation)]
    assert rig.host.desire(stop._replace(signal=schema.SIGNAL_READY)) == generation + 1


def test_an_older_state_is_refused_and_a_repeat_is_confirmed_again() -> None:
    shoe = lone_shoe()
    new, old = schema.Signal(9, 2, 1, 0), schema.Signal(8, 0, 0, 0)
    assert shoe.receive(say(new), 5) == (notice.Delivered(schema.SIGNAL, new),)
    shoe.poll(5)
    shoe.take()
    for now, state in ((6, old), (7, new)):
        assert shoe.receive(say(state), now) == ()
        shoe.poll(now)
        assert heard(shoe.take()) == [schema.Ack(schema.SIGNAL, 9)]
    assert (shoe.count["stale"], shoe.count["duplicates"]) == (1, 1)


def test_generations_go_round() -> None:
    shoe = lone_shoe()
    for generation in (65_534, 65_535, 1, 2):
        assert shoe.receive(say(schema.Signal(generation, 0, 0, 0)), 5)
    assert not shoe.receive(say(schema.Signal(65_535, 0, 0, 0)), 5)


def test_a_state_is_sent_again_after_a_reconnect() -> None:
    rig = _up()
    rig.host.desire(schema.Signal(0, schema.SIGNAL_FLOOR, 0, 0))
    rig.run(rig.now + 100)
    rig.reset_shoe(ram_lost=True)
    rig.run(rig.now + 500)
    assert [state.signal for state in rig.signals if isinstance(state, schema.Signal)] == [schema.SIGNAL_FLOOR] * 2


def test_a_state_is_with_the_shoe_in_less_than_5_ms() -> None:
    """DESIGN's figure is draw to signal at most 5 ms above the wire: the link itself adds no waiting."""
    rig = _up()
    rig.host.desire(schema.Signal(0, schema.SIGNAL_STOP, 0, 0))
    began = rig.now
    rig.run(began + 100, stop=lambda: bool(rig.signals))
    assert rig.now - began < 1 + 18 / 11.52 + 1


# ---- newer peers


def _raw(kind: int, seq: int, body: bytes) -> bytes:
    return frame.encode(kind, 0, seq, 0, body)


def test_an_unknown_event_that_is_not_critical_is_stored_acknowledged_and_counted() -> None:
    host, _ = lone_host()
    assert host.receive(_raw(0x3F, 1, b"new"), 5) == (notice.Recorded(1, 0x3F, None, b"new"),)
    host.stored(1)
    assert host.receive(say(card(2), seq=2), 6)
    assert host.count["unknown"] == 1
    assert not host.receive(_raw(0x1E, 1, b""), 7)
    assert host.count["unknown"] == 2


def test_an_unknown_critical_event_stops_the_deal_by_name() -> None:
    host, _ = lone_host()
    assert host.receive(_raw(0x7F, 1, b"new"), 5) == (notice.Stopped("unknown critical kind", 0x7F, 1),)
    assert not host.receive(_raw(0x7F, 1, b"new") + say(card(2), seq=2), 6), "said once, nothing after it delivered"
    host.poll(7)
    assert [ack for _, _, _, ack, _ in frame.Decoder().feed(host.take())] in ([], [0])


def test_an_event_with_a_short_body_stops_the_deal_by_name() -> None:
    host, _ = lone_host()
    assert host.receive(_raw(schema.CARD, 1, bytes(20)), 5) == (notice.Stopped("short body", schema.CARD, 1),)
    assert host.count["short_body"] == 1


def test_an_unknown_critical_state_stops_the_shoe_and_is_reported() -> None:
    shoe = lone_shoe()
    assert shoe.receive(_raw(0xFE, 1, b"\x01\x00"), 5) == (notice.Stopped("unknown critical kind", 0xFE, 0),)
    shoe.poll(6)
    assert heard(shoe.take()) == [schema.Fault(bytes(4), schema.FAULT_UNKNOWN_KIND, 0xFE)]


def test_an_unknown_state_that_is_not_critical_is_confirmed() -> None:
    shoe = lone_shoe()
    assert shoe.receive(_raw(0xBE, 1, b"\x05\x01more"), 5) == ()
    shoe.poll(6)
    assert heard(shoe.take()) == [schema.Ack(0xBE, 0x0105)]


# ---- time and output


def test_a_pong_carries_four_stamps() -> None:
    shoe = lone_shoe()
    shoe.stamp = b"\x01\x02\x03\x04"
    shoe.receive(say(schema.Ping(b"\xaa\xbb\xcc\xdd"), mark=schema.FROM_HOST), 5)
    shoe.stamp = b"\x05\x06\x07\x08"
    shoe.poll(5)
    assert heard(shoe.take()) == [schema.Pong(b"\xaa\xbb\xcc\xdd", b"\x01\x02\x03\x04", b"\x05\x06\x07\x08")]


def test_no_write_is_a_multiple_of_a_usb_packet() -> None:
    """micropython #15960: a write of whole 64-byte packets can stall."""
    shoe = lone_shoe()
    for number in range(1, 9):
        shoe.report(schema.Seat(1, number, bytes(4), 3, 0, 90))  # 24 bytes each on the wire
    shoe.poll(10)
    assert len(heard(bytes(shoe.out[: 3 * 64]))) == 8
    assert shoe.take()[3 * 64 :] == b"\0"
    whole = outbox.Outbox(0, None, {"sent": 0}, frame.encode_into)
    for ready in range(outbox.SIZE + 1):
        whole.ready = ready
        whole.pad()
        assert whole.ready == ready + (ready > 0 and ready % 64 == 0)
        assert len(whole.buffer) >= whole.ready


def test_output_can_be_written_in_pieces() -> None:
    whole, pieces = lone_shoe(), lone_shoe()
    for shoe in (whole, pieces):
        shoe.report(card(1))
        shoe.poll(10)
    written = b""
    while pieces.ready:
        size = min(5, pieces.ready)
        written += bytes(pieces.out[:size])
        pieces.taken(size)
    assert written == whole.take()


def test_statistics_saturate() -> None:
    """smoltcp #224: a counter that overflows must not stop the link."""
    shoe = lone_shoe()
    shoe.count["naks"] = 70_000
    stats = shoe.stats(80_000, 5)
    assert (stats.naks, stats.overruns, stats.free) == (65_535, 65_535, 5)
    assert shoe.send(stats, 10)
    assert heard(shoe.take()) == [stats]


def test_a_frame_from_before_the_session_is_not_delivered() -> None:
    host = link.Link(schema.HOST, ident(b"h"), lambda n: b"h" * n)
    host.start(0)
    assert host.receive(say(card(1), seq=1), 1) == ()
    assert host.count["early"] == 1


def test_faults_of_all_sorts_never_raise() -> None:
    rig = Rig(7, Faults(loss=0.1, **damaged(0.6), duplicate=0.2))
    rig.run(20_000)
