"""Desk and link in virtual time against the shoe's link: nothing lost or doubled, acknowledged only when kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from bridge.rig import HAND, SHOE_IDENT, Rig, Shoe, entropy, ready
from dealershoe.desk import look, table_link
from dealershoe.desk.table_link import RECORDS, RECORDS_S, frame_of
from dealershoe.entries import ALIGN, DeviceRow, Entry, EventRow, Fact, LinkRow, RulingRow, SignalRow
from dealershoe.errors import UserError
from dealershoe.link.clock import When
from dealershoe.link.faults import DETAILS, FAULTS
from dealershoe.rules.stack import load_stack
from shoelink import schema
from shoelink.link import Link


def dealt(rig: Rig) -> list[int]:
    """Draw numbers that the table was told, as the journal has them."""
    return [entry.draw for entry in rig.durable if isinstance(entry, EventRow) and entry.kind == "Draw"]  # type: ignore[misc]


def test_the_shoe_is_told_signal_mode_and_what_is_due() -> None:
    rig = Rig()
    rig.run(50)
    assert rig.table.up
    assert rig.shoe.signal.mode == schema.MODE_ALIGN
    assert rig.shoe.dues == []  # no hand has begun: the shoe keeps its own
    rig.say(HAND)
    rig.run(20)
    assert rig.shoe.signal.mode == schema.MODE_SUPERVISED
    assert (rig.shoe.due.due, rig.shoe.due.seat, rig.shoe.due.cards) == (schema.DUE_SEAT, 1, 1)
    assert rig.shoe.due.hand == rig.desk.hand


@pytest.mark.parametrize(
    ("rules", "signal", "reason"),
    [
        ("tda-2024", schema.SIGNAL_FLOOR, schema.REASON_FLOOR),  # no rule of these books is about one boxed card
        ("roberts", schema.SIGNAL_ATTENTION, schema.REASON_REPLACE),
    ],
)
def test_the_shoe_is_told_why_it_does_not_show_ready(rules: str, signal: int, reason: int) -> None:
    rig = ready(load_stack(rules))
    assert (rig.shoe.signal.signal, rig.shoe.signal.reason) == (schema.SIGNAL_READY, schema.REASON_NONE)
    rig.card(1, way_up=schema.WAY_UP)
    rig.run(20)
    assert (rig.shoe.signal.signal, rig.shoe.signal.reason) == (signal, reason)


def test_each_draw_moves_what_is_due() -> None:
    rig = ready()
    for draw in range(1, 13):
        rig.card(draw)
        rig.run(20)
        assert rig.desk.session.draws == draw
    assert rig.shoe.due.due == schema.DUE_BETTING
    rig.key(schema.KEY_BETTING_COMPLETE)
    rig.run(20)
    assert rig.shoe.due.due == schema.DUE_BURN
    rig.card(13)
    rig.run(20)
    assert (rig.shoe.due.due, rig.shoe.due.cards) == (schema.DUE_BOARD, 3)


def test_the_signal_never_waits_for_the_commit_and_the_acknowledgement_always_does() -> None:
    rig = ready()
    rig.commit()
    rig.order.clear()
    rig.card(1, way_up=schema.WAY_UP)  # boxed: nothing rules here, so the floor is called
    rig.run(50, commit=False)
    assert rig.shoe.signal.signal == schema.SIGNAL_FLOOR
    assert rig.order == []  # shown, and neither committed nor acknowledged
    assert rig.shoe.journal.oldest == 1
    rig.run(1_000, commit=False)
    assert rig.order == []
    rig.commit()
    rig.run(20)
    assert rig.order == ["commit 1", "ack 1"]


def test_the_raw_report_is_in_the_journal_before_anything_made_of_it() -> None:
    rig = ready()
    rig.card(1, way_up=schema.WAY_UP)
    rig.run(20)
    first = next(i for i, e in enumerate(rig.durable) if isinstance(e, Fact) and e.origin == "shoe")
    fact = rig.durable[first]
    assert isinstance(fact, Fact)
    made = [
        i for i, e in enumerate(rig.durable) if isinstance(e, EventRow | RulingRow | SignalRow) and e.fact == fact.id
    ]
    assert len(made) == 3  # the draw, the ruling, the signal
    assert min(made) > first
    assert schema.unpack(fact.raw[0], fact.raw[1:]).draw == 1


def test_killed_before_the_commit_the_host_gets_it_again_and_counts_it_once() -> None:
    rig = ready()
    rig.card(1)
    rig.card(2)
    rig.run(20)
    rig.card(3)
    rig.card(4)
    rig.run(20, commit=False)
    assert rig.desk.session.draws == 4
    rig.kill()
    assert rig.desk.session.draws == 2  # as the journal has it
    rig.run(200)
    assert rig.desk.session.draws == 4
    assert dealt(rig) == [1, 2, 3, 4]
    assert rig.shoe.journal.oldest == 5


def test_killed_after_the_commit_and_before_the_acknowledgement_nothing_is_doubled() -> None:
    rig = ready()
    rig.card(1)
    rig.run(3, commit=False)
    rig.commit()
    rig.kill()  # the ACK was never sent
    assert rig.desk.session.draws == 1
    rig.run(200)
    rig.card(2)
    rig.run(20)
    assert dealt(rig) == [1, 2]
    assert not rig.desk.align_why


def test_a_link_that_breaks_while_commits_are_on_their_way_tells_the_table_once() -> None:
    rig = ready()
    rig.card(1)
    rig.run(5, commit=False)
    assert rig.desk.session.draws == 1
    rig.plug()  # port closed and opened: the shoe sends again what is not acknowledged
    rig.run(200, commit=False)
    assert rig.desk.session.draws == 1
    rig.commit()
    rig.run(20)
    assert dealt(rig) == [1]
    assert rig.shoe.journal.oldest == 2


def test_a_restarted_host_goes_on_with_the_hand_in_play() -> None:
    rig = ready()
    for draw in range(1, 8):
        rig.card(draw)
    rig.run(50)
    rig.say("exposed #3")
    rig.run(5)
    before = (rig.desk.session.due, rig.desk.session.steps, rig.desk.signal, rig.desk.hand)
    rig.kill()
    assert (rig.desk.session.due, rig.desk.session.steps, rig.desk.signal, rig.desk.hand) == before
    rig.run(100)
    assert rig.shoe.signal.signal == schema.SIGNAL_FLOOR
    assert "goes on as the journal has it" in "\n".join(rig.said)


def test_a_shoe_that_lost_its_memory_in_mid_hand_means_align_until_the_next_hand() -> None:
    rig = ready()
    rig.card(1)
    rig.run(20)
    rig.shoe = Shoe(b"JRN2")
    rig.shoe.link.start(rig.ms)
    rig.run(1_500)
    assert rig.table.up
    assert "lost its memory" in rig.desk.align_why
    assert rig.shoe.signal.mode == schema.MODE_ALIGN
    assert rig.shoe.due.due == schema.DUE_NOTHING
    rig.card(1)
    rig.run(20)
    assert rig.desk.session.draws == 1  # kept, not judged
    rig.key(schema.KEY_NEW_HAND, hand=rig.desk.hand + 1)
    rig.run(20)
    assert not rig.desk.align_why
    assert rig.desk.session.draws == 0
    rig.kill()
    rig.run(100)
    assert not rig.desk.align_why


def test_align_survives_a_restart_of_the_host() -> None:
    rig = ready()
    rig.card(1)
    rig.run(20)
    rig.desk.align("for a reason", rig.at)
    rig.run(5)
    rig.kill()
    assert rig.desk.align_why == "for a reason"


def test_what_the_shoe_reported_before_this_host_knew_it_is_kept_and_not_judged() -> None:
    shoe = Shoe()
    for draw in range(1, 6):
        shoe.link.report(schema.Card(1, draw, bytes(4), schema.word(draw), 0, 1, 0, 0, 30, 0, 1000, 0))
    rig = Rig(shoe)
    rig.say(HAND)  # before the shoe is on the line
    rig.run(300)
    assert len([e for e in rig.durable if isinstance(e, Fact) and e.journal]) == 5
    assert rig.desk.session.draws == 0
    assert not rig.desk.align_why
    assert rig.shoe.journal.oldest == 6
    rig.card(1)
    rig.run(20)
    assert rig.desk.session.draws == 1


def test_another_host_took_reports_of_the_hand_in_play() -> None:
    rig = ready()
    rig.card(1)
    rig.run(20)
    rig.card(2)
    rig.shoe.journal.release(2)
    rig.card(3)
    rig.kill()
    rig.run(300)
    assert "gone for good" in rig.desk.align_why


def test_a_card_missing_in_the_count_means_align() -> None:
    rig = ready()
    rig.card(1)
    rig.card(3)
    rig.run(20)
    assert "card #2 of the hand is missing" in rig.desk.align_why


def test_a_card_pushed_back_comes_again_under_its_number() -> None:
    rig = ready()
    rig.card(1)
    rig.card(2)
    rig.back(2)
    rig.run(20)
    assert rig.desk.session.draws == 1
    assert (rig.shoe.due.due, rig.shoe.due.seat) == (schema.DUE_SEAT, 2)
    rig.back(2)  # drawn half out and pushed back: it had not left
    rig.card(2)
    rig.seat(2, 2)
    rig.run(20)
    assert rig.desk.session.seat_cards(2) == (2,)
    assert not rig.desk.align_why
    assert rig.desk.session.draws == 2


def test_a_double_passage_is_two_cards() -> None:
    rig = ready()
    rig.card(1)
    rig.card(2, flags=schema.CARD_DOUBLE)
    rig.card(4)
    rig.seat(2, 2)
    rig.seat(4, 4)
    rig.run(20)
    assert rig.desk.session.draws == 4
    assert not rig.desk.align_why


def test_a_late_card_of_the_hand_before_is_not_counted_in_this_one() -> None:
    rig = ready()
    before = rig.desk.hand
    rig.say("hand next")
    rig.card(1, hand=before)  # in flight while the person spoke
    rig.run(20)
    assert rig.desk.session.draws == 0
    assert not rig.desk.align_why
    assert f"late report of hand {before}" in "\n".join(rig.said)


@pytest.mark.parametrize(("made_ms", "counts"), [(-40, False), (40, True)])
def test_a_card_that_left_before_the_shoe_heard_of_the_new_hand_makes_no_misdeal_of_a_right_deal(
    made_ms: int, counts: bool
) -> None:
    """It has the old hand's number. Made before the person spoke it is late; after, it is of a hand nobody knows."""
    rig = ready()
    before = rig.desk.hand
    rig.say("hand next")
    card = schema.Card(before, 1, bytes(4), schema.word(0x1001), 0, 0, 0, 0, 30, 0, 1000, 0)
    when = When(rig.ms * 1_000 + made_ms * 1_000, 2_000)
    rig.desk.report(card, frame_of(schema.CARD, schema.pack(card)), rig.at, b"JRN1", 99, when=when)
    assert ("nobody can say whose it is" in rig.desk.align_why) is counts
    assert rig.desk.session.draws == 0
    rig.say("hand next")
    assert not rig.desk.align_why


def test_an_inferred_target_asks_and_a_seat_sensor_confirms() -> None:
    rig = ready()
    rig.card(1, target=4, origin=schema.ORIGIN_LANE)
    rig.run(20)
    assert rig.desk.session.question
    assert rig.desk.counts["findings"] == 0
    rig.seat(1, 4)
    rig.run(20)
    assert rig.desk.session.seat_cards(4) == (1,)
    assert rig.desk.counts["findings"] == 1


def test_a_fault_of_the_shoe_is_shown_until_it_is_over() -> None:
    rig = ready()
    rig.shoe.link.report(schema.Fault(bytes(4), schema.FAULT_HALF_DRAWN, 0))
    rig.run(20)
    assert schema.FAULT_HALF_DRAWN in rig.desk.faults
    rig.shoe.link.report(schema.Clear(bytes(4), schema.FAULT_HALF_DRAWN, 0))
    rig.run(20)
    assert rig.desk.faults == {}


PLAIN = {
    (schema.FAULT_FRAM, 0): FAULTS[schema.FAULT_FRAM],
    (schema.FAULT_KEYS, 5): "a key is stuck",
    (schema.FAULT_SEAT_NODE, 0x005): "the node at seat 5 does not answer, or cannot be believed",
    (schema.FAULT_SEAT_NODE, 0x221): "the node at board does not answer, or cannot be believed",
    (schema.FAULT_SEAT_NODE, 0x063): FAULTS[schema.FAULT_SEAT_NODE],  # of no place that this bridge knows
    (99, 1): "fault 99 of the shoe",
}


@pytest.mark.parametrize(("code", "detail"), [*DETAILS, *PLAIN])
def test_a_fault_is_told_in_the_words_of_its_detail_and_its_end_in_the_same(code: int, detail: int) -> None:
    said = PLAIN.get((code, detail)) or DETAILS[code, detail][1]
    rig = ready()
    rig.shoe.link.report(schema.Fault(bytes(4), code, detail))
    rig.run(20)
    assert look.snapshot(rig.desk, "t", "").faults == (said,)
    rig.shoe.link.report(schema.Clear(bytes(4), code, 0))
    rig.run(20)
    assert look.snapshot(rig.desk, "t", "").faults == ()
    told = [happening.text for happening in rig.desk.happenings if happening.kind == "fault"]
    assert told == [said, f"over: {said}"]


@pytest.mark.parametrize(
    "lost",
    [
        schema.Fault(bytes(4), schema.FAULT_SAMPLES_LOST, 900),
        schema.Fault(bytes(4), schema.FAULT_SLOT, 0x102),  # a code went by, and the lip slot saw nothing
        schema.Clear(bytes(4), schema.FAULT_JOURNAL_FULL, 3),  # three reports were refused
    ],
)
def test_where_a_card_may_have_gone_unseen_nothing_is_judged_any_more(lost: object) -> None:
    rig = ready()
    rig.shoe.link.report(lost)  # type: ignore[arg-type]
    rig.run(20)
    assert "a card may be missing" in rig.desk.align_why


def test_what_must_be_understood_and_is_not_stops_the_deal() -> None:
    rig = ready()
    kind = schema.RELIABLE | schema.CRITICAL | 0x1F  # no kind of this schema
    rig.shoe.journal.buffer[rig.shoe.link.open(kind, 1)] = 7
    rig.shoe.journal.close()
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_STOP
    why = "the shoe reports something that must be understood and is not (unknown critical kind 7f)"
    assert rig.desk.align_why == rig.desk.halt_why == why
    assert [fact.raw for fact in rig.durable if isinstance(fact, Fact)][-1] == ALIGN + why.encode()
    assert rig.shoe.journal.oldest == 1  # not acknowledged: the next host may know it


def test_while_the_port_is_gone_the_link_is_not_up_and_each_loss_is_counted_once() -> None:
    rig = Rig()
    rig.run(300)
    assert (rig.table.up, rig.table.lost) == (True, 0)
    for losses in (1, 2):
        for _ in range(3):  # it is looked for again and again
            rig.table.closed("there is no port")
            assert (rig.table.up, rig.table.lost) == (False, losses)
        rig.plug()
        assert (rig.table.up, rig.table.lost) == (False, losses)
        rig.run(1_500)
        assert (rig.table.up, rig.table.lost) == (True, losses)
    rig.shoe.link = Shoe().link  # silent
    rig.run(1_000)
    assert (rig.table.up, rig.table.lost) == (False, 3)
    rig.table.closed("there is no port")
    assert rig.table.lost == 3, "it was lost already"


def test_a_silent_shoe_is_unsupervised_within_750_ms() -> None:
    rig = ready()
    rig.shoe.link = Shoe().link  # says nothing more
    rig.run(751)
    assert rig.table.why_down == "the shoe is silent"


def test_a_shoe_whose_reports_cannot_be_stored_shows_that_nobody_watches_it_until_they_are() -> None:
    """It sends no more than a window of them: cards behind that would go unseen under a light that says ready."""
    rig = ready()
    for draw in range(1, 13):
        rig.card(draw)
        rig.run(150, commit=False)
    told = rig.desk.session.draws
    assert 0 < told < 12
    assert (rig.table.up, rig.table.why_down) == (False, "what the shoe reports cannot be stored")
    rig.run(800, commit=False)
    assert not rig.shoe.link.up  # it shows that by itself
    rig.run(5_000, commit=False)
    assert rig.table.why_down == "what the shoe reports cannot be stored"
    assert dealt(rig) == []
    rig.run(3_000)
    assert rig.table.up
    assert rig.shoe.link.up
    assert dealt(rig) == list(range(1, 13))
    assert rig.shoe.journal.held() == 0
    numbers = [entry.number for entry in rig.durable if isinstance(entry, Fact) and entry.origin == "shoe"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_disk_that_is_slow_and_goes_on_leaves_the_shoe_supervised() -> None:
    rig = ready()
    for draw in range(1, 13):
        rig.card(draw)
        rig.run(700, commit=False)
        assert rig.table.up
        rig.commit()
    assert (rig.table.sessions, rig.desk.session.draws) == (1, 12)


def test_a_port_that_goes_while_the_disk_is_waited_for_comes_back_and_still_waits() -> None:
    rig = ready()
    rig.card(1)
    rig.run(1_500, commit=False)
    rig.table.closed("the port is gone")
    rig.plug()
    rig.run(1_500, commit=False)
    assert (rig.table.up, rig.table.why_down) == (False, "what the shoe reports cannot be stored")
    rig.run(2_000)
    assert (rig.table.up, dealt(rig)) == (True, [1])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("crad 3", "stdin, line 1: saw"),
        ("card 3 As", "is for scripts"),
        ("deal 3", "is for scripts"),
        ("expect misdeal", "is for scripts"),
        ("hand seats=1 button=1", "1 seat"),
    ],
)
def test_a_line_that_cannot_be_taken_says_why_and_changes_nothing(line: str, why: str) -> None:
    rig = ready()
    before = rig.desk.session.table
    with pytest.raises(UserError, match=why):
        rig.say(line)
    assert rig.desk.session.table == before
    rig.card(1)
    rig.run(20)
    assert rig.desk.session.draws == 1


def test_before_a_hand_a_persons_report_is_refused_with_the_reason() -> None:
    rig = Rig()
    with pytest.raises(UserError, match="nothing is judged now: no hand has begun; begin a hand first"):
        rig.say("exposed #1")


def test_no_column_but_the_raw_facts_names_a_card() -> None:
    rig = ready()
    rig.card(1, token=schema.word(51))
    rig.say("draw-button 1=As 2=Kd")
    rig.run(20)
    made = [repr(entry) for entry in rig.durable if not isinstance(entry, Fact)]
    assert made
    assert not [text for text in made if "As" in text or "Kd" in text]
    assert not [line for line in rig.said if "As" in line or "Kd" in line]


def test_hands_begun_faster_than_one_a_second_have_numbers_of_their_own() -> None:
    rig = Rig()
    numbers = []
    for _ in range(50):  # the clock of the rig stands still
        rig.say("hand seats=1-6 button=6")
        numbers.append(rig.desk.hand)
    assert len(set(numbers)) == 50
    assert all(0 < number < 0x10000 for number in numbers)


def test_a_storm_of_strange_greetings_is_not_remembered() -> None:
    """Anyone on a line without keys can greet under ever new journals, and report nothing."""
    rig = Rig()
    rig.run(300)
    before = len(rig.table._taken)
    for number in range(50):
        rig.shoe = Shoe(b"J%03d" % number)
        rig.shoe.link.start(rig.ms)
        rig.run(120)
    assert rig.table.sessions > 10
    assert len(rig.table._taken) == before
    rig.say("hand seats=1-6 button=6")
    rig.run(300)
    rig.card(1)
    rig.run(300)
    assert len(rig.table._taken) == before + 1
    assert rig.desk.session.draws == 1


def _recorded(rig: Rig, kind: type[Entry]) -> list[Any]:
    return [entry for entry in rig.durable if isinstance(entry, kind)]


def test_who_greets_again_and_again_cannot_fill_the_journal_and_a_real_start_is_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without keys, ever new boots in ever new journals, eight a second; then the real shoe is back."""
    assert 1 / 2 <= RECORDS / 2 / RECORDS_S <= 2, "a shoe that starts every two seconds is recorded each time"
    monkeypatch.setattr(table_link, "RECORDS", 20)
    monkeypatch.setattr(table_link, "RECORDS_S", 6.0)
    rig = Rig()
    rig.run(300)
    for number in range(80):
        rig.shoe = Shoe(b"J%03d" % number)
        rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal, boot=b"B%03d" % number)
        rig.shoe.link.start(rig.ms)
        rig.run(120)
    assert rig.table.sessions > 40
    rows = len(_recorded(rig, DeviceRow)) + len(_recorded(rig, LinkRow))
    assert rows <= 2 * 2 * 20, "of two spans; as many downs as ups"
    rig.shoe = Shoe(b"REAL")
    rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal, boot=b"real")
    rig.shoe.link.start(rig.ms)
    rig.run(7_000)
    assert _recorded(rig, DeviceRow)[-1].boot == b"real"
    last = _recorded(rig, LinkRow)[-1]
    assert last.state == "up"
    assert re.fullmatch(r"it came and went \d+ times before, which was not recorded", last.why)


def test_a_boot_is_recorded_once_and_a_new_one_at_once() -> None:
    rig = Rig()
    rig.run(300)
    for boot in (b"one.", b"one.", b"two."):
        rig.shoe.link = Link(schema.SHOE, SHOE_IDENT, entropy, rig.shoe.journal, boot=boot, reset=schema.RESET_WATCHDOG)
        rig.shoe.link.start(rig.ms)
        rig.run(1_500)
    assert [(row.boot, row.reset_cause) for row in _recorded(rig, DeviceRow)][1:] == [
        (b"one.", schema.RESET_WATCHDOG),
        (b"two.", schema.RESET_WATCHDOG),
    ]
    assert [row.state for row in _recorded(rig, LinkRow)] == ["up"] + ["down", "up"] * 3


def test_a_reason_that_comes_and_goes_while_the_link_is_down_is_recorded_once() -> None:
    rig = Rig()
    rig.run(300)
    for size in range(50):
        rig.table.closed(f"nothing understandable came; not one frame in {size} bytes")
        rig.table.closed("there is no port")
    rig.run(1)
    assert [row.state for row in _recorded(rig, LinkRow)] == ["up", "down", "down"]
    rig.plug()
    rig.run(300)
    rig.table.closed("there is no port")
    rig.run(1)
    assert [row.state for row in _recorded(rig, LinkRow)][3:] == ["up", "down"]


def test_what_another_host_took_before_this_one_ever_met_the_shoe_is_not_missed_here() -> None:
    shoe = Shoe()
    for draw in range(1, 6):
        shoe.link.report(schema.Card(7, draw, bytes(4), schema.word(0x1000), 0, 0, 0, 0, 30, 0, 1000, 0))
    shoe.journal.release(3)
    rig = Rig(shoe)
    rig.run(300)
    assert rig.shoe.journal.held() == 0
    assert not [line for line in rig.said if "gone for good" in line]


def test_a_stop_for_what_is_not_understood_ends_with_the_next_session() -> None:
    rig = ready()
    rig.desk.halt("the shoe reports something that must be understood and is not (unknown critical kind)", rig.at)
    rig.run(50)
    assert rig.shoe.signal.signal == schema.SIGNAL_STOP
    rig.shoe.restart(rig.ms)
    rig.run(500)
    assert rig.table.sessions == 2
    assert rig.shoe.signal.signal == schema.SIGNAL_READY
    assert rig.shoe.signal.mode == schema.MODE_ALIGN


def test_a_late_report_of_a_hand_that_came_as_a_backlog_is_no_surprise() -> None:
    rig = ready()
    rig.card(1, hand=9)
    rig.plug()  # greets anew: the report is from before
    rig.run(300)
    assert rig.desk.align_why == ""
    rig.shoe.link.report(schema.Seat(9, 1, bytes(4), 2, schema.WAY_DOWN, 100))
    rig.run(50)
    assert rig.desk.align_why == ""
    assert any("a late report of hand 9" in line for line in rig.said)


def test_a_call_for_the_floor_does_not_make_a_stop_less() -> None:
    rig = ready(load_stack("tda-2024"))
    rig.card(1)
    rig.seat(1, 5)  # the first card to another seat than the first: a misdeal
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_STOP
    rig.key(schema.KEY_FLOOR)
    rig.run(20)
    assert rig.desk.floor_called
    assert rig.shoe.signal.signal == schema.SIGNAL_STOP
