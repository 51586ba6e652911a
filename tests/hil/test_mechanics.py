"""The model of the mechanics: levels follow from marks, places and motion, whatever the speed."""

import pytest
from dealershoe.deck.cards import card_number
from dealershoe.deck.strip import Strip, code_word, print_strip
from dealershoe.emulate.mechanics import (
    GONE,
    IN_SHOE,
    P0_BIT,
    P1_BIT,
    SAMPLE_MS,
    PaperCard,
    Run,
    Scene,
    angle_of,
    lane_of,
    lanes_at,
    plain,
    printed,
)
from dealershoe.emulate.motion import Path, crossings, glide
from hypothesis import given
from hypothesis import strategies as st

SPEEDS = st.floats(0.3, 3.0)  # m/s, the range that the card code is specified for


def word_of(runs: list[Run], shift: int = 0) -> int | None:
    """A reader of its own: DATA at each beginning of a CLK mark; None if there are not eighteen marks."""
    bits = []
    before = 0
    for _, state in runs:
        now = state.pins >> shift
        if now & 1 and not before & 1:
            bits.append(now >> 1 & 1)
        before = now
    if len(bits) != 18:
        return None
    return sum(bit << (15 - place) for place, bit in enumerate(bits[1:17]))


def passed(scene: Scene, speed: float = 1.0) -> list[Run]:
    return list(scene.runs(glide(IN_SHOE, GONE, speed)))


@given(card=st.integers(0, 53), deck=st.integers(0, 3), first=SPEEDS, second=SPEEDS, phase=st.floats(0, 0.999))
def test_the_levels_spell_the_printed_code_at_any_speed(
    card: int, deck: int, first: float, second: float, phase: float
) -> None:
    strip = print_strip(card, deck)
    path = Path(IN_SHOE).ramp(first, 3.0).to(30.0).ramp(second, 20.0).to(GONE)
    runs = list(Scene(((PaperCard("", (strip, strip)), 0.0),)).runs(path, phase))
    assert word_of(runs) == code_word(card, deck)
    assert not any(state.pins & 0x18 for _, state in runs)  # nothing on the top head
    assert abs(sum(run.samples for run in runs) - path.lasts / SAMPLE_MS) <= 1


def test_another_strip_another_code_the_same_everything_else() -> None:
    card = printed("As")
    swapped = card.with_strips(print_strip(card_number("7d"), 0))
    before, after = (passed(Scene(((c, 0.0),))) for c in (card, swapped))
    assert word_of(before) == code_word(51, 0)
    assert word_of(after) == code_word(card_number("7d"), 0)
    assert swapped.name == "As"

    def slots(runs: list[Run]) -> list[int]:
        return [n for n in range(len(runs)) if (runs[n].state.pins ^ runs[n - 1].state.pins) & 0x60]

    assert len(slots(before)) == len(slots(after))


def test_turned_by_180_degrees_the_other_end_is_read() -> None:
    card = PaperCard("half", (print_strip(5, 0), print_strip(6, 0)))
    assert word_of(passed(Scene(((card, 0.0),)))) == code_word(5, 0)
    assert word_of(passed(Scene(((card.rotated(), 0.0),)))) == code_word(6, 0)


def test_a_boxed_card_shows_its_code_to_the_top_head_only() -> None:
    runs = passed(Scene(((printed("Kd").boxed(), 0.0),)))
    assert word_of(runs, shift=3) == code_word(card_number("Kd"), 0)
    assert not any(state.pins & 0x07 for _, state in runs)


def test_slots_see_the_card_from_edge_to_edge() -> None:
    scene = Scene(((plain("2c"), 0.0),))
    assert [scene.at(x).pins & P0_BIT for x in (-0.01, 0.0, 63.49, 63.5)] == [0, P0_BIT, P0_BIT, 0]
    assert [scene.at(x).pins & P1_BIT for x in (23.99, 24.0, 87.49, 87.5)] == [0, P1_BIT, P1_BIT, 0]
    assert [scene.at(x).layers for x in (11.9, 12.0, 75.4, 75.5)] == [0, 1, 1, 0]


def test_a_lip_passage_at_one_metre_a_second_takes_63_5_ms() -> None:
    runs = passed(Scene(((printed("9h"), 0.0),)))
    assert sum(n for n, state in runs if state.pins & P1_BIT) == pytest.approx(63.5 / SAMPLE_MS, abs=1)


@given(turn=st.floats(0.5, 100.0), speed=SPEEDS)
def test_out_and_back_ends_as_it_began(turn: float, speed: float) -> None:
    scene = Scene(((printed("3s"), 0.0),))
    out = list(scene.runs(glide(IN_SHOE, turn, speed)))
    back = list(scene.runs(glide(turn, IN_SHOE, speed)))
    assert back[-1].state == scene.at(IN_SHOE)
    assert out[0].state == back[-1].state


def test_a_card_stopped_exactly_at_the_throat_and_drawn_back_clears_it() -> None:
    scene = Scene(((printed("3s"), 0.0),))
    assert list(scene.runs(Path(0.0).ramp(-0.5, -1.0)))[-1].state.pins == 0


def test_a_double_feed_is_longer_and_darker_and_hides_the_second_strip() -> None:
    two = Scene(((printed("As"), 0.0), (printed("Ks"), 3.0)))
    path = glide(IN_SHOE, GONE + 3.0, 1.0)
    runs = list(two.runs(path))
    assert word_of(runs) == code_word(51, 0)
    assert max(state.layers for _, state in runs) == 2
    assert sum(n for n, state in runs if state.pins & P1_BIT) == pytest.approx(66.5 / SAMPLE_MS, abs=1)


def test_stuck_bits_read_dark_whatever_passes() -> None:
    scene = Scene(((plain("2c"), 0.0),), stuck=0x01)
    assert all(state.pins & 1 for _, state in passed(scene))
    assert scene.at(IN_SHOE).pins == 1


def test_an_ordinary_card_has_no_code() -> None:
    assert not any(state.pins & 0x1F for _, state in passed(Scene(((plain("Qh"), 0.0),))))
    assert plain("Qh").ends == (Strip(), Strip())


@pytest.mark.parametrize(
    ("target", "lane"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 3), (7, 3), (8, 4), (9, 5), (10, 5), (11, 6)]
)
def test_seats_share_the_lanes(target: int, lane: int) -> None:
    assert lane_of(target) == lane
    assert lanes_at(angle_of(target)) == 1 << lane


def test_burn_and_board_leave_by_the_last_lane_and_off_table_by_none() -> None:
    assert lanes_at(angle_of("burn")) == lanes_at(angle_of("board")) == 0x80
    assert lanes_at(angle_of("off-table")) == 0
    assert lanes_at(0.0) == 0x18  # straight ahead is between lanes 3 and 4


@given(
    legs=st.lists(st.tuples(SPEEDS, st.floats(1.0, 30.0)), min_size=1, max_size=6),
    places=st.lists(st.floats(-10.0, 120.0), max_size=20),
)
def test_a_place_is_passed_when_the_position_says_so(legs: list[tuple[float, float]], places: list[float]) -> None:
    path = Path(IN_SHOE)
    for speed, over in legs:
        path = path.ramp(speed, over)
    times = [t for t, _, _ in crossings(path, places)]
    assert times == sorted(times)
    for t, place, _ in crossings(path, places):
        begun = 0.0
        for stretch in path.stretches:
            if t <= begun + stretch.lasts + 1e-9:
                assert stretch.position(t - begun) == pytest.approx(place, abs=1e-6)
                break
            begun += stretch.lasts


def test_a_motion_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="never comes to"):
        glide(0.0, 20.0, 1.0).to(5.0)
    with pytest.raises(ValueError, match="no way to change"):
        Path(0.0).ramp(1.0, -5.0)
