"""Button and blinds from hand to hand: dead button, dead small blind, heads-up, newcomers (TDA 32, 34-B, 8-A, 10-A)."""

import pytest
from dealershoe.errors import UserError
from dealershoe.events import Hand, NextHand
from dealershoe.table.setup import Setup, cutter, first_setup, next_setup
from hypothesis import given, settings
from hypothesis import strategies as st


def places(setup: Setup) -> tuple[int, int | None, int]:
    return setup.button, setup.sb, setup.bb


SIX = first_setup(Hand(tuple(range(1, 7)), 6))


def test_first_hand_deals_from_the_button_s_left_and_the_button_last() -> None:
    # NJAC 13:69F-14.10(e)
    assert SIX.order == (1, 2, 3, 4, 5, 6)
    assert places(SIX) == (6, 1, 2)
    assert first_setup(Hand((2, 5, 9), 5)).order == (9, 2, 5)


def test_heads_up_the_button_has_the_small_blind_and_the_last_card() -> None:
    # TDA 34-B; house rules: heads up the blinds are reversed
    setup = first_setup(Hand((3, 8), 8))
    assert places(setup) == (8, 8, 3)
    assert setup.order == (3, 8)


def test_everyone_moves_one_seat() -> None:
    assert places(next_setup(SIX, NextHand())) == (1, 2, 3)


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ((3,), (1, 2, 4)),  # who was to be big blind is gone: the next player is
        ((2,), (1, None, 3)),  # the big blind is gone: dead small blind
        ((1,), (1, 2, 3)),  # the small blind is gone: dead button in front of his seat
        ((6,), (1, 2, 3)),
        ((2, 3, 4), (1, None, 5)),
    ],
)
def test_dead_button_and_dead_small_blind(gone: tuple[int, ...], expected: tuple[int, int | None, int]) -> None:
    assert places(next_setup(SIX, NextHand(gone=gone))) == expected


def test_after_a_dead_small_blind_the_button_is_where_it_should_have_been() -> None:
    second = next_setup(SIX, NextHand(gone=(2, 3, 4)))
    third = next_setup(second, NextHand())
    assert places(third) == (2, 5, 6)
    assert third.order == (5, 6, 1)


def test_down_to_two_nobody_has_the_big_blind_twice_running() -> None:
    three = first_setup(Hand((1, 2, 3), 1))
    assert places(three) == (1, 2, 3)
    for gone in (1, 2, 3):
        setup = next_setup(three, NextHand(gone=(gone,)))
        assert setup.bb != 3
        assert setup.button == setup.sb
        assert places(next_setup(setup, NextHand())) == (setup.bb, setup.bb, setup.button)


def test_from_two_to_three() -> None:
    two = first_setup(Hand((1, 3), 3))
    assert places(next_setup(two, NextHand(new=(2,)))) == (3, 1, 2)


def test_a_newcomer_between_button_and_big_blind_waits() -> None:
    first = first_setup(Hand((1, 3, 4, 5, 6), 6))
    assert places(first) == (6, 1, 3)
    second = next_setup(first, NextHand(new=(2,)))
    assert places(second) == (1, 3, 4)
    assert 2 not in second.seats
    assert second.waiting == (2,)
    third = next_setup(second, NextHand())
    assert places(third) == (3, 4, 5)
    assert 2 in third.seats


def test_a_table_has_two_to_eleven_seats() -> None:
    for seats in ((1,), tuple(range(1, 13))):
        with pytest.raises(UserError):
            first_setup(Hand(seats, 1))
    with pytest.raises(UserError, match="1 player"):
        next_setup(first_setup(Hand((1, 2), 1)), NextHand(gone=(1,)))


@pytest.mark.parametrize(
    ("event", "button", "expected"),
    [
        (NextHand(), 4, (4, 5, 6)),  # two seats back, or on: blinds follow
        (NextHand(gone=(4,)), 4, (5, 6, 1)),  # who was to have it is gone: the next player has
        (NextHand(gone=(1, 2, 3, 5)), 4, (4, 4, 6)),  # heads-up it has the small blind
    ],
)
def test_the_button_goes_back_to_where_it_was_due(event: NextHand, button: int, expected: tuple[int, int, int]) -> None:
    assert places(next_setup(SIX, event, button)) == expected


def test_a_newcomer_between_button_and_big_blind_waits_when_the_button_goes_back() -> None:
    setup = next_setup(first_setup(Hand((1, 3, 4, 5, 6), 6)), NextHand(new=(2,)), 1)
    assert places(setup) == (1, 3, 4)
    assert (setup.seats, setup.waiting) == ((1, 3, 4, 5, 6), (2,))


@settings(deadline=None)
@given(st.data())
def test_hands_go_round_wherever_the_button_goes_back_to(data: st.DataObject) -> None:
    seats = data.draw(st.sets(st.integers(1, 11), min_size=2, max_size=11))
    setup = first_setup(Hand(tuple(seats), data.draw(st.sampled_from(sorted(seats)))))
    gone = data.draw(st.sets(st.sampled_from(sorted(seats)), max_size=len(seats) - 2))
    free = sorted(set(range(1, 12)) - seats)
    new = data.draw(st.sets(st.sampled_from(free), max_size=3)) if free else set()
    setup = next_setup(setup, NextHand(tuple(gone), tuple(new)), data.draw(st.integers(1, 11)))
    assert set(setup.seats) | set(setup.waiting) == (seats - gone) | new
    assert not set(setup.seats) & set(setup.waiting)
    assert len(setup.seats) >= 2
    assert {setup.sb, setup.bb} <= set(setup.seats)
    assert setup.sb != setup.bb
    assert sorted(setup.order) == sorted(setup.seats)


@settings(deadline=None)
@given(st.data())
def test_whoever_is_here_and_willing_cuts(data: st.DataObject) -> None:
    seats = tuple(sorted(data.draw(st.sets(st.integers(1, 11), min_size=2, max_size=11))))
    away = data.draw(st.sets(st.sampled_from(seats)))
    refused = data.draw(st.sets(st.sampled_from(seats)))
    setup = first_setup(Hand(seats, data.draw(st.sampled_from(seats)), absent=tuple(away)))
    willing = set(seats) - away - refused
    assert cutter(setup, tuple(refused)) is None
    assert cutter(setup._replace(cut="dealer"), tuple(refused)) == 0
    assert cutter(setup._replace(cut="dealers-right"), tuple(refused)) == max(willing, default=0)
    right_of_button = [seat for seat in reversed(setup.order[:-1]) if seat in willing]
    expected = right_of_button[0] if right_of_button else 0
    assert cutter(setup._replace(cut="buttons-right"), tuple(refused)) == expected


@settings(deadline=None)
@given(st.data())
def test_hands_go_round_whatever_comes_and_goes(data: st.DataObject) -> None:
    seats = data.draw(st.sets(st.integers(1, 11), min_size=2, max_size=11))
    setup = first_setup(Hand(tuple(seats), data.draw(st.sampled_from(sorted(seats)))))
    for _ in range(data.draw(st.integers(1, 12))):
        here = set(setup.seats) | set(setup.waiting)
        gone = data.draw(st.sets(st.sampled_from(sorted(here)), max_size=max(0, len(here) - 2)))
        free = sorted(set(range(1, 12)) - here)
        new = data.draw(st.sets(st.sampled_from(free), max_size=2)) if free else set()
        before = setup
        setup = next_setup(setup, NextHand(tuple(gone), tuple(new)))
        assert set(setup.seats) | set(setup.waiting) == (here - gone) | new
        assert setup.bb in setup.seats
        assert setup.bb != before.bb
        assert setup.sb is None or setup.sb in setup.seats
        assert sorted(setup.order) == sorted(setup.seats)
        assert len(setup.seats) >= 2
        if setup.button in setup.seats:
            assert setup.order[-1] == setup.button
