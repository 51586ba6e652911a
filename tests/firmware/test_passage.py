"""A card's way through the throat: what is told, when, and that the sampler's cuts do not matter.

Lengths are those of `hardware/card-code.md`: heads 12 mm and lip 24 mm behind the throat slot, a card 63.5 mm.
"""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

import pytest
from firmware.listening import Back, Left, Other, passage, told_of
from firmware.pairs import hide
from firmware.physics import CLK, LENGTH, LIP, THROAT, Card, Scene, cell_at, pieces, print_card, random_ride, ride
from hypothesis import given, settings
from hypothesis import strategies as st

sampleclock: Any = import_module("shoe.sampleclock")

STEADY = ride([(110, 1000, 1000)])
TURN = 1 << 30  # where the sample index wraps


def one(card: Card, places: list[float]) -> bytes:
    return Scene([(card, 0)]).samples(places) + bytes(8)


def lefts(told: list[Any]) -> list[Left]:
    return [event for event in told if isinstance(event, Left)]


@pytest.mark.parametrize("speed", [300, 700, 1000, 3000])
def test_speed_is_that_over_the_last_24_mm(speed: int) -> None:
    (left,) = lefts(told_of(one(print_card(1), ride([(40, 300, 300), (20, 300, speed), (60, speed, speed)]))))
    assert left.speed == pytest.approx(speed, rel=0.02)


def test_the_time_of_a_card_is_when_its_trailing_edge_passes_the_lip() -> None:
    (left,) = lefts(told_of(one(print_card(1), STEADY)))
    # from 5 mm short of the throat to 24 mm + 63.5 mm past it at 1 mm/ms, 20 samples a ms
    assert left.at == pytest.approx((5 + 24 + 63.5) * 20, abs=2)


@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.integers(1, 256), max_size=400),
    start=st.sampled_from([0, 12345, TURN - 700]),
)
@settings(max_examples=60, deadline=None)
def test_cuts_do_not_matter(seed: int, sizes: list[int], start: int) -> None:
    rng = random.Random(seed)
    stream = b"".join(
        one(print_card(rng.randrange(64), boxed=rng.random() < 0.3), random_ride(rng))
        if rng.random() < 0.7
        else one(print_card(3), ride([(rng.uniform(5, 60), 500, 500), (0, 1.6, 0), (-70, 400, 400)]))
        for _ in range(2)
    )
    whole = told_of(stream, (), sampleclock.SampleClock(start))
    assert whole
    assert told_of(stream, sizes, sampleclock.SampleClock(start)) == whole


def test_the_sample_index_may_wrap_in_the_middle_of_a_card() -> None:
    stream = one(print_card(44, 3), STEADY)
    plain = lefts(told_of(stream))[0]
    for before in (1, 500, 900, 1300, 1800):
        wrapped = lefts(told_of(stream, (), sampleclock.SampleClock(TURN - before)))[0]
        assert wrapped == plain._replace(at=(plain.at - before) % TURN)


# ---- back into the shoe


def test_half_out_and_back_is_a_pull_back_of_a_card_that_had_not_left() -> None:
    # 20 mm past the lip, all the way back, then out
    told = told_of(one(print_card(9), ride([(49, 800, 800), (-46, 800, 800), (110, 800, 800)])))
    assert [type(event) for event in told] == [Back, Left]
    back, left = told
    assert isinstance(back, Back)
    assert not back.had_left
    assert back.distance == pytest.approx(200, abs=25)
    assert isinstance(left, Left)
    assert left.card == 9


def test_a_card_that_only_peeps_out_of_the_throat_is_nothing() -> None:
    assert told_of(one(print_card(9), ride([(25, 800, 800), (-22, 800, 800)]))) == []


def test_a_card_that_had_left_and_is_pushed_back_in() -> None:
    out_and_in = ride([(120, 900, 900), (-118, 700, 700)])
    told = told_of(one(print_card(17), out_and_in))
    assert [type(event) for event in told] == [Left, Back]
    assert isinstance(told[1], Back)
    assert told[1].had_left
    assert told[1].distance == 635  # its whole length went in past the lip


@pytest.mark.parametrize("speed", [200, 900])
def test_a_card_without_a_code_pushed_back_in(speed: int) -> None:
    told = told_of(one(Card(), ride([(120, speed, speed), (-118, speed, speed)])))
    assert [type(event) for event in told] == [Left, Back]


def test_pushed_back_and_drawn_again_is_read_again() -> None:
    told = told_of(one(print_card(17), ride([(120, 900, 900), (-122, 700, 700), (120, 900, 900)])))
    assert [type(event) for event in told] == [Left, Back, Left]
    assert [left.card for left in lefts(told)] == [17, 17]


def test_trailing_edge_out_then_all_the_way_back_is_a_pull_back() -> None:
    # the trailing edge passes the throat, the card goes back to behind the lip before it has left
    told = told_of(one(print_card(17), ride([(75, 700, 700), (-70, 700, 700)])))
    assert [type(event) for event in told] == [Back]
    assert isinstance(told[0], Back)
    assert not told[0].had_left


def test_pushed_in_to_the_throat_and_taken_out_again_never_counts_twice() -> None:
    told = told_of(one(print_card(17), ride([(120, 900, 900), (-60, 700, 700), (70, 700, 700)])))
    assert len(lefts(told)) == 1
    assert not any(isinstance(event, Back) for event in told)


def test_touching_the_lip_is_nothing() -> None:
    assert told_of(bytes(50) + bytes([LIP]) * 500 + bytes(50)) == []


def test_a_card_drawn_under_a_finger_at_the_lip_is_not_lost() -> None:
    stream = one(print_card(30), STEADY)
    for begin, end in ((0, len(stream) - 100), (0, 200), (50, 700), (1500, len(stream) - 50)):
        touched = bytes(level | LIP if begin <= at < end else level for at, level in enumerate(stream)) + bytes(100)
        told = told_of(touched)
        assert [left.card for left in lefts(told)] == [30], (begin, end, told)
        assert not any(isinstance(event, Back) for event in told)


@pytest.mark.parametrize(("dead", "slot"), [(LIP, 2), (THROAT, 1)])
@given(seed=st.integers(0, 2**32), boxed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_card_past_a_slot_that_sees_nothing_is_told_as_missed(dead: int, slot: int, seed: int, boxed: bool) -> None:
    rng = random.Random(seed)
    samples = one(print_card(rng.randrange(52), boxed=boxed), random_ride(rng))
    told = told_of(bytes(level & ~dead for level in samples))
    assert [(event.what, event.detail) for event in told if isinstance(event, Other)] == [("missed", slot)]
    assert lefts(told) == []


@given(reaches=st.floats(1, 23.5), tremble=st.lists(st.floats(0.5, 11), max_size=2))
@settings(max_examples=60, deadline=None)
def test_a_card_that_only_looks_out_of_the_throat_is_not_missed(reaches: float, tremble: list[float]) -> None:
    legs = [(reaches + 5, 700, 700)]
    for back in tremble:
        legs += [(-min(back, reaches), 500, 500), (min(back, reaches), 500, 500)]
    assert told_of(one(print_card(7), ride([*legs, (-reaches - 5, 500, 500)]))) == []


def test_slots_without_a_code_after_a_touch_are_told_as_odd() -> None:
    stream = bytes(50) + bytes([LIP]) * 900 + bytes([LIP | THROAT]) * 200 + bytes([LIP]) * 900 + bytes(50)
    assert [(event.what, event.detail) for event in told_of(stream) if isinstance(event, Other)] == [("odd", 0)]


# ---- stopped half out


def test_half_drawn_is_told_after_a_second_and_a_half_and_over_when_it_moves() -> None:
    told = told_of(one(print_card(5), ride([(40, 700, 700), (0, 2.0, 0), (70, 700, 700)])))
    stopped, moved, left = told
    assert isinstance(stopped, Other)
    assert (stopped.what, stopped.detail) == ("stopped", 0b11)
    assert isinstance(moved, Other)
    assert moved.what == "moved"
    assert 0.4 * 20_000 <= moved.at - stopped.at <= 0.6 * 20_000
    assert isinstance(left, Left)
    assert left.card == 5


def test_a_slow_card_that_keeps_moving_is_not_half_drawn() -> None:
    # 15 mm/s: 2.6 s between two edges of the slots, but a mark each 170 ms
    told = told_of(one(print_card(5), ride([(30, 300, 300), (60, 15, 15), (30, 300, 300)])))
    assert [left.card for left in lefts(told)] == [5]
    assert len(told) == 1


def test_stopped_twice_is_told_twice() -> None:
    told = told_of(one(print_card(5), ride([(40, 700, 700), (0, 4.0, 0), (3, 50, 50), (0, 2.0, 0), (70, 700, 700)])))
    assert [event.what for event in told if isinstance(event, Other)] == ["stopped", "moved", "stopped", "moved"]


# ---- more than one card


@pytest.mark.parametrize("gap", [0.3, 0.8, 1.3, 2, 2.6, 4, 9, 15, 23, 40])
@pytest.mark.parametrize("speed", [300, 1500, 3000])
def test_a_second_card_close_behind_is_a_card_of_its_own(gap: float, speed: int) -> None:
    two = Scene([(print_card(11, 1), 0), (print_card(46, 2), LENGTH + gap)])
    told = told_of(two.samples(ride([(200, speed, speed)])))
    assert [(left.card, left.deck, left.double) for left in lefts(told)] == [(11, 1, False), (46, 2, False)]
    assert len(told) == 2


@pytest.mark.parametrize("lag", [3, 5, 10, 25, 45, 60, 63.4])
@pytest.mark.parametrize("speed", [300, 1000, 3000])
def test_two_cards_in_one_passage_are_double_and_the_first_is_read(lag: float, speed: int) -> None:
    first, second = print_card(11, 1), print_card(46, 2)
    for track in ("clk", "data", "ndata"):
        # what of the second card's code is not covered by the first
        marks = [(max(a, LENGTH - lag), b) for a, b in getattr(second, track) if b > LENGTH - lag]
        setattr(second, track, marks)
    told = told_of(Scene([(first, 0), (second, lag)]).samples(ride([(190, speed, speed)])))
    assert [(left.card, left.double) for left in lefts(told)] == [(11, True)]


@pytest.mark.parametrize(
    ("lag", "boxed"),
    [
        *((lag, False) for lag in (25, 26, 30, 45, 46, 48, 50, 51.5, 52, 55, 60, 63.4)),
        *((lag, True) for lag in (45, 46, 48, 50, 51.5, 52, 55, 60, 63.4)),  # of 25 mm the light has time to tell
    ],
)
@pytest.mark.parametrize("speed", [300, 1000, 3000])
def test_two_cards_in_one_passage_are_double_though_the_second_hides_the_first(
    lag: float, speed: int, boxed: bool
) -> None:
    """The head sees the beginning of the first card, then all of the second: whole, and no longer than one."""
    first, second = print_card(11, 1, boxed=boxed), print_card(46, 2, boxed=boxed)
    for track in ("clk", "data", "ndata"):
        setattr(first, track, [(a, min(b, lag)) for a, b in getattr(first, track) if a < lag])
    (left,) = lefts(told_of(Scene([(first, 0), (second, lag)]).samples(ride([(190, speed, speed)]))))
    assert left.double
    assert left.card in ((None,) if boxed else (11, 46))


@pytest.mark.parametrize("lag", [46, 55, 60, 63.4])
def test_a_double_is_told_though_the_first_code_is_soiled(lag: float) -> None:
    first, second = print_card(11, 1), print_card(46, 2)
    first.smudge("data", cell_at(4), cell_at(8))
    first.smudge("ndata", cell_at(4), cell_at(8))
    for track in ("clk", "data", "ndata"):
        marks = [(max(a, LENGTH - lag), b) for a, b in getattr(second, track) if b > LENGTH - lag]
        setattr(second, track, marks)
    (left,) = lefts(told_of(Scene([(first, 0), (second, lag)]).samples(ride([(190, 900, 1100)]))))
    assert left.double
    assert left.card == (46 if lag > 54.25 else None)  # of 46 mm no second code is whole


@pytest.mark.parametrize("lag", [30, 36, 42, 48, 54, 60, 63.4])
@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize("soiled", ["first", "second", "both"])
@pytest.mark.parametrize("below", [False, True])
def test_a_double_is_told_whichever_code_is_soiled_and_whichever_is_below(
    lag: float, boxed: bool, soiled: str, below: bool
) -> None:
    """Of the card that is hidden from the head, what sticks out is seen: its beginning, or its end. Ten of the other's
    cells have nothing on DATA or /DATA."""
    first, second = print_card(11, 1, boxed=boxed), print_card(46, 2, boxed=boxed)
    for card, name in ((first, "first"), (second, "second")):
        if soiled in (name, "both"):
            card.scratch("data", cell_at(4), cell_at(14))
            card.scratch("ndata", cell_at(4), cell_at(14))
    pair = hide(first, second, lag, below)
    (left,) = lefts(told_of(pair.samples(ride([(190, 900, 1100)]))))
    assert left.double


@pytest.mark.parametrize("lag", [30, 40, 50, 60, 63.4])
@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize("speed", [300, 1000, 3000])
def test_a_code_that_begins_after_something_has_come_to_the_lip_is_a_second_card_s(
    lag: float, boxed: bool, speed: int
) -> None:
    """Of the first card, which has no code that is seen, nothing else tells."""
    pair = [(Card(boxed=boxed), 0.0), (print_card(46, 2, boxed=boxed), lag)]
    (left,) = lefts(told_of(Scene(pair).samples(ride([(190, speed, speed)]))))
    assert (left.card, left.double) == (46, True)


@pytest.mark.parametrize("reached", [1, 8, 15, 20])
@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize(
    ("start", "begins", "ends"), [(-5, 900, 1100), (-4, 1, 1500), (-0.1, 1, 1500), (-0.1, 1, 3000)]
)
def test_a_finger_at_the_lip_before_the_card_is_there_is_no_second_card(
    reached: float, boxed: bool, start: float, begins: int, ends: int
) -> None:
    """Drawn evenly, or from rest where the next card lies, or as far as it may come."""
    places = ride([(110, begins, ends)], start)
    samples = Scene([(print_card(30, boxed=boxed), 0)]).samples(places)
    touched = bytes(level | (LIP if reached <= place < 60 else 0) for level, place in zip(samples, places, strict=True))
    assert [(left.card, left.double) for left in lefts(told_of(touched + bytes(8)))] == [(30, False)]


@pytest.mark.parametrize("track", ["data", "ndata"])
def test_a_bit_that_looks_like_an_end_and_a_mark_that_shows_twice_are_no_card(track: str) -> None:
    """A speck makes a cell of one track dark on both, like the start; a tremble shows a later mark once more, and the
    count is right again: of all codes one in 256 has the CRC for it."""
    for code in range(216):
        for bit in (1, 2):
            paper = print_card(code >> 2, code & 3)
            paper.smudge(track, cell_at(bit) - 0.1, cell_at(bit + 1) + 0.1)
            for cell in (14, 16):
                there = 12 + cell_at(cell) + 1.9
                legs = [(there + 5, 600, 60), (0, 0.05, 0), (-1.3, 60, 60), (0, 0.05, 0), (110 - there + 1.3, 60, 600)]
                for left in lefts(told_of(one(paper, ride(legs)))):
                    assert left.card in (None, code >> 2)


@pytest.mark.parametrize("boxed", [False, True])
@given(turn=st.floats(18, 62), back=st.floats(4, 19), speed=st.floats(200, 2000))
@settings(max_examples=60, deadline=None)
def test_a_card_drawn_back_into_its_margin_is_not_two(boxed: bool, turn: float, back: float, speed: float) -> None:
    """All it has shown goes back past the head and comes again, with a turn in the margin in between."""
    margin = 12 + 9.25 - min(back, 9)
    legs = [(turn + 5, speed, speed), (margin - turn, 500, 500), (110 - margin, speed, speed)]
    told = told_of(one(print_card(33, boxed=boxed), ride([leg for leg in legs if leg[0]])))
    assert [left.double for left in lefts(told)] == [False]


@pytest.mark.parametrize("boxed", [False, True])
@given(
    turn=st.floats(30, 60),
    back=st.floats(13, 35),
    speed=st.floats(200, 2000),
    rests=st.tuples(*[st.integers(0, 300)] * 2),
)
@settings(max_examples=150, deadline=None)
def test_a_soiled_card_that_was_drawn_back_is_not_two(
    boxed: bool, turn: float, back: float, speed: float, rests: tuple[int, int]
) -> None:
    """It shows more marks than a card has, unread, turns as a hand does, and may rest there."""
    soiled = print_card(33, boxed=boxed)
    for track in ("data", "ndata"):
        soiled.scratch(track, cell_at(7), cell_at(9))
    back = min(back, turn - 1)
    legs = [
        (turn - 1, speed, speed),
        (6, speed, 60),
        (0, rests[0] / 1000, 0),
        (-back / 2, 60, 500),
        (-back / 2, 500, 60),
        (0, rests[1] / 1000, 0),
        (6, 60, speed),
        (104 - turn + back, speed, speed),
    ]
    told = told_of(one(soiled, ride([leg for leg in legs if leg[0] or leg[1]])))
    assert [left.double for left in lefts(told)] == [False]


@pytest.mark.parametrize("ahead", [1.0, 1.27, 1.55, 2.0])
def test_a_boxed_card_that_lies_askew_is_not_two(ahead: float) -> None:
    """The slots are at its other edge, 81 mm from the top head: at 0.9 degrees its code is 1.27 mm before its time."""
    card = print_card(33, 1, boxed=True)
    for track in ("clk", "data"):
        setattr(card, track, [(a - ahead, b - ahead) for a, b in getattr(card, track)])
    told = told_of(one(card, ride([(110, 1000, 1000)])))
    assert [(left.card, left.boxed, left.double) for left in lefts(told)] == [(33, True, False)]


@pytest.mark.parametrize("lag", [20, 40, 60])
def test_two_cards_without_a_code_are_double_by_their_length(lag: float) -> None:
    told = told_of(Scene([(Card(), 0), (Card(), lag)]).samples(ride([(190, 900, 1200)])))
    assert [left.double for left in lefts(told)] == [True]


def test_a_code_on_both_heads_is_double() -> None:
    told = told_of(Scene([(print_card(11), 0), (print_card(46, boxed=True), 0)]).samples(STEADY) + bytes(8))
    assert [(left.card, left.double) for left in lefts(told)] == [(11, True)]


def test_the_light_of_two_cards_is_double() -> None:
    class Seen:
        double = False

        def left(self, p: Any) -> None:
            self.double = p.double

    seen = Seen()
    following = passage.Passage(seen)
    for piece in pieces(one(print_card(2), STEADY), ()):
        following.feed(piece, len(piece))
        if not following.idle:
            following.two_cards()
    assert seen.double


@given(seed=st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_a_single_card_is_never_double(seed: int) -> None:
    rng = random.Random(seed)
    told = told_of(one(print_card(rng.randrange(54), boxed=rng.random() < 0.3), random_ride(rng)))
    assert [left.double for left in lefts(told)] == [False]


# ---- dirt on a head


def test_a_head_that_stays_dark_with_no_card_about_is_told_once_and_over_when_light() -> None:
    told = told_of(bytes(100) + bytes([CLK]) * 50_000 + bytes(100))
    assert [(event.what, event.detail) for event in told if isinstance(event, Other)] == [("dirty", CLK), ("dirty", 0)]


def test_a_stuck_clock_leaves_cards_unread_and_is_told() -> None:
    told = told_of(Scene([(print_card(2), 0)], stuck=CLK).samples(STEADY) + bytes([CLK]) * 25_000)
    assert [left.card for left in lefts(told)] == [None]
    assert [(event.what, event.detail) for event in told if isinstance(event, Other)] == [("dirty", CLK)]
