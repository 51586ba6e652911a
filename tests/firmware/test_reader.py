"""The reader's driver on the model of the part: what it finds, how short its steps are, and each fault that is known of
such readers from the field (hardware/faults.md), seen to do its harm where the remedy is taken away.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dealershoe.emulate.parts import READER_FAILURES, pn5180
from firmware.reader_bench import OTHER, UID, Bench

NOBODY, ONE, SEVERAL, TORN = 0, 1, 2, 3
WELL, ABSENT, BUSY, FROZEN, RESTARTED, LIES, NO_FIELD = range(7)
STEP_US = 200  # the most that a step of the driver may spend on pins and bytes; the rest of its 0.3 ms is bytecode
ANSWERED_MS = 1.62 + 0.32 + 3.93  # request, pause, answer: ISO/IEC 15693-2, one slot, 26.48 kbit/s


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def fail(bench: Bench, how: str) -> Bench:
    bench.part.fault = how
    return bench


def answered(bench: Bench, meanwhile: Callable[[], object] = lambda: None) -> float:
    """ms from the request until what it found is known, by a loop with nothing else to do."""
    begun = bench.us
    bench.reader.ask()
    while not bench.results:
        meanwhile()
        bench.step()
        bench.us += 100
    return (bench.us - begun) / 1000


def test_it_starts_as_the_data_sheet_asks_and_switches_the_field_on_once(bench: Bench) -> None:
    frames: list[bytes] = []
    bench.part.on_frame = frames.append
    bench.up().run(500)
    commands = [frame for frame in frames if frame[0] != 0xFF]
    # READ_EEPROM of the versions, LOAD_RF_CONFIG of ISO 15693 at 26 kbit/s, registers, RF_ON: 11.4.3.3
    assert commands[0] == b"\x07\x10\x06"
    assert commands[1] == b"\x11\x0d\x8d"
    assert [frame[0] for frame in commands[2:4]] == [0x03, 0x16]
    assert bench.part.field_ons == 1
    # of all that is ever said on the air there is an inventory of one slot (26 01 00), and never Stay Quiet (02)
    assert {frame[2:] for frame in commands if frame[0] == 0x09} == {b"\x26\x01\x00"}


def test_a_tag_is_found_with_its_uid_and_no_sooner_than_it_can_answer(bench: Bench) -> None:
    took = answered(bench.up().enter().run(2, asking=False))
    assert bench.results == [(ONE, UID)]
    assert ANSWERED_MS <= took <= ANSWERED_MS + 1.5


def test_an_empty_field_is_known_before_an_answer_would_have_ended(bench: Bench) -> None:
    assert answered(bench.up()) < ANSWERED_MS
    assert bench.found() == [NOBODY]


def test_two_tags_are_several(bench: Bench) -> None:
    bench.up().enter().enter(OTHER).run(60)
    assert set(bench.found()) <= {NOBODY, SEVERAL}
    bench.leave(OTHER).run(10)
    bench.found()
    bench.run(60)
    assert set(bench.found()) == {ONE}


@pytest.mark.parametrize("after_us", range(0, 7000, 500))
def test_a_tag_that_leaves_while_it_is_asked_is_torn_or_nobody_and_no_fault(bench: Bench, after_us: int) -> None:
    bench.up().enter().run(3, asking=False)
    begun = bench.us
    answered(bench, lambda: bench.us - begun >= after_us and bench.leave())
    found, uid = bench.results[0]
    assert found in (NOBODY, TORN) or (found == ONE and uid == UID and after_us > 5800)
    assert bench.reader.trouble == WELL
    bench.run(40)
    assert set(bench.found()[1:]) == {NOBODY}


# ---- field faults: what is named, how soon, and that it goes on when it is over

NAMED = {
    "absent": ABSENT,
    "zeros": ABSENT,
    "busy": BUSY,
    "freezes": FROZEN,
    "restarts": RESTARTED,
    "flips": LIES,
    "no E0": LIES,
    "no field": NO_FIELD,
}


def leaves_while_it_answers(bench: Bench) -> None:
    """A card is removed during an exchange (playful#1, dotnet/iot#1139)."""
    bench.run(20, asking=False).enter().run(3, asking=False)
    bench.reader.ask()
    for _ in range(40):
        bench.step()
        bench.us += 100
    bench.leave().run(60)


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("when", ["from the start", "in use"])
def test_a_reader_that_fails_is_named_never_waited_for_and_never_believed(bench: Bench, how: str, when: str) -> None:
    if when == "in use":
        bench.up().enter(OTHER).run(30)
        bench.leave(OTHER).run(30)
        bench.results.clear()
        if how == "no field":
            bench.reader.cycle()
    fail(bench, how)
    if how == "freezes":
        bench.run(40, asking=False)
        leaves_while_it_answers(bench)
    else:
        bench.enter()
    bench.run(900)
    lost_its_mark = {RESTARTED} if when == "in use" else set()  # who answers with zeros looks like that at first
    assert {NAMED[how]} <= bench.troubles <= {NAMED[how]} | lost_its_mark
    assert bench.longest_us <= STEP_US
    if how != "restarts":  # which reads well in between
        assert ONE not in bench.found()
    fail(bench, "").run(2500)
    bench.enter().run(50)
    assert bench.reader.trouble == WELL
    assert bench.results[-1] == (ONE, UID)
    assert not any(found == ONE and uid not in (UID, OTHER) for found, uid in bench.results)


def test_every_fault_of_the_part_is_above_or_floats() -> None:
    assert set(pn5180.FAULTS) == set(NAMED) | {"floats"}
    assert {how for _, how in READER_FAILURES} == set(pn5180.FAULTS) | {"tag at rest"}


def test_a_loose_busy_wire_is_named_and_makes_no_card(bench: Bench) -> None:
    """cube-pn5180: floating BUSY waits 250 ms, several times. Here no step is long, and what is read is checked."""
    fail(bench.up().enter(), "floats").run(2500)
    assert bench.troubles
    assert bench.longest_us <= STEP_US
    assert all(uid == UID for found, uid in bench.results if found == ONE)
    fail(bench, "").run(2500)
    assert bench.results[-1] == (ONE, UID)


@pytest.mark.parametrize(("how", "within_ms"), [("busy", 30), ("absent", 30)])
def test_it_is_named_soon_and_tried_again_once_a_second(bench: Bench, how: str, within_ms: int) -> None:
    fail(bench.up(), how).run(within_ms)
    assert bench.reader.trouble == NAMED[how]
    before = bench.resets
    bench.run(5000)
    assert 3 <= bench.resets - before <= 6


def test_without_a_limit_a_busy_reader_is_never_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.driver, "PATIENCE", 1 << 29)
    fail(bench.up(), "busy").run(3000)
    assert bench.reader.trouble == WELL
    fail(bench, "").run(1000)
    assert not bench.part.busy(bench.us)


def test_nss_is_let_go_when_a_frame_comes_to_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """qalcosonic#28: NSS left low after a time-out, and whatever is said next belongs to the old frame."""
    fail(bench.up(), "absent").run(200)
    assert (bench.reader.trouble, bench.nss) == (ABSENT, 1)

    left = Bench(monkeypatch)
    failed, select = left.reader._fail, left.reader._nss

    def without(now: int, why: int) -> None:
        left.reader._nss = lambda level: None
        failed(now, why)
        left.reader._nss = select

    left.reader._fail = without
    fail(left.up(), "absent").run(200)
    assert (left.reader.trouble, left.nss) == (ABSENT, 0)


def test_an_old_answer_is_not_taken_for_a_new_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """ESPuino#428: a stale RX IRQ looks like a new card."""

    def after_one_has_left(bench: Bench) -> set[int]:
        bench.up().enter().run(60)
        while not bench.reader.ready:  # its last answer was whole
            bench.turn(asking=False)
        bench.leave().run(12)
        bench.found()
        bench.run(60)
        return set(bench.found())

    assert after_one_has_left(bench) == {NOBODY}
    careless = Bench(monkeypatch)
    listen = careless.driver._SCRIPT[careless.driver._LISTEN]
    assert listen[0][7:13] == b"\x03\x01\xff\xff\x0f\x00"  # IRQ_CLEAR of all twenty
    without = (listen[0][:7] + listen[0][13:], *listen[1:])
    monkeypatch.setattr(
        careless.driver, "_SCRIPT", tuple(without if step is listen else step for step in careless.driver._SCRIPT)
    )
    assert after_one_has_left(careless) == {ONE}  # a card that is not there


def test_a_frozen_reader_reads_again_because_it_is_reset(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def reads_after_freezing(bench: Bench) -> bool:
        fail(bench.up(), "freezes")
        leaves_while_it_answers(bench)
        bench.found()
        bench.enter().run(2500)
        return ONE in bench.found()

    assert reads_after_freezing(bench)
    left = Bench(monkeypatch).up()
    left.reader._reset = lambda level: None
    assert not reads_after_freezing(left)


def test_a_reader_that_starts_again_by_itself_is_set_up_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its field is off and its settings are gone: for ever nobody would be there."""

    def reads_after_a_dip(bench: Bench) -> bool:
        fail(bench.up().enter(), "restarts").run(450)
        fail(bench, "").run(60)
        bench.found()
        bench.run(60)
        return ONE in bench.found()

    assert reads_after_a_dip(bench)
    unseen = Bench(monkeypatch)
    failed = unseen.reader._fail
    unseen.reader._fail = lambda now, why: unseen.reader._end(NOBODY) if why == RESTARTED else failed(now, why)
    assert not reads_after_a_dip(unseen)


@pytest.mark.parametrize(
    ("how", "given"),
    [("flips", {"_RESIDUE": 0xFFFF}), ("no E0", {"_E0": 0x16})],
)
def test_a_lying_reader_makes_a_card_only_if_it_is_not_checked(
    monkeypatch: pytest.MonkeyPatch, how: str, given: dict[str, int]
) -> None:
    checked = fail(Bench(monkeypatch).up().enter(), how).run(100)
    assert ONE not in checked.found()
    assert checked.reader.trouble == LIES
    believed = fail(Bench(monkeypatch).up().enter(), how)
    for name, value in given.items():
        monkeypatch.setattr(believed.driver, name, value)
    if how == "flips":
        believed.reader._halves = (b"", b"")  # the CRC is made of nothing
    believed.run(100)
    assert any(found == ONE and uid != UID for found, uid in believed.results)


def test_the_field_stays_on_between_two_requests_and_so_twice_as_many_go_out(bench: Bench) -> None:
    """PN5180#1: the field switched for each inventory slows it."""
    bench.up().run(300)
    assert bench.part.field_ons == 1
    often = bench.part.heard
    ready = True
    begun = bench.us
    while bench.us - begun < 300_000:  # the same with the field off and on before each
        if bench.reader.ready:
            ready = not ready
            if ready:
                bench.reader.ask()
            else:
                bench.reader.cycle()
        bench.turn(asking=False)
    assert often >= 2 * (bench.part.heard - often)
