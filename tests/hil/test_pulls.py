"""However a hand pulls a card, and whatever is on its strip: the card is reported right or as unread, and once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.deck.strip import TRACKS, Strip, print_strip
from dealershoe.emulate.mechanics import GONE, IN_SHOE, printed
from dealershoe.emulate.motion import Path
from dealershoe.emulate.shoe import EmulatedShoe
from hil.hostend import HostEnd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shoelink import schema

SPEEDS = st.floats(0.3, 3.0)  # m/s, what the code is specified for
NAMES = st.sampled_from(FIFTY_TWO)
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def ends() -> Iterator[tuple[EmulatedShoe, HostEnd]]:
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:
        yield shoe, host


@st.composite
def pulls(draw: st.DrawFn) -> Path:
    """All the way out, at changing speeds; the hand may stop for a moment, and draw the card back a little."""
    path = Path(IN_SHOE).ramp(draw(SPEEDS), 3.0)
    while path.at < GONE - 15.0 and draw(st.booleans()):
        path = path.ramp(draw(SPEEDS), draw(st.floats(6.0, 12.0)))
        if draw(st.integers(0, 4)) == 0:
            path = path.rest(draw(st.floats(5.0, 400.0)))
            back = draw(st.floats(0.0, 6.0))
            if back > 0.1:
                path = path.ramp(-draw(SPEEDS), -back).rest(5.0)
            path = path.ramp(draw(SPEEDS), 3.0)
    return path.to(GONE)


def reported(ends: tuple[EmulatedShoe, HostEnd], name: str, strip: Strip, path: Path) -> schema.Card:
    shoe, host = ends
    host.events.clear()
    shoe.pull(printed(name).with_strips(strip), motion=path, arrives=False)
    shoe.quiet()
    cards = [event for event in host.events if isinstance(event, schema.Card)]
    assert len(cards) == 1
    return cards[0]


@EXAMPLES
@given(name=NAMES, path=pulls())
def test_any_pull_gives_the_card_once_and_never_another(
    ends: tuple[EmulatedShoe, HostEnd], name: str, path: Path
) -> None:
    card = reported(ends, name, print_strip(card_number(name), 0), path)
    assert card.token == schema.TOKEN_UNREAD or schema.value(card.token) == card_number(name)


@EXAMPLES
@given(name=NAMES, speed=SPEEDS, shift=st.floats(-0.3, 0.3), stretch=st.floats(0.99, 1.01))
def test_a_print_within_tolerance_is_read(
    ends: tuple[EmulatedShoe, HostEnd], name: str, speed: float, shift: float, stretch: float
) -> None:
    strip = print_strip(card_number(name), 0).misprinted(shift, stretch)
    card = reported(ends, name, strip, Path(IN_SHOE).ramp(speed, 3.0).to(GONE))
    assert schema.value(card.token) == card_number(name)


@EXAMPLES
@given(
    name=NAMES,
    speed=SPEEDS,
    smudges=st.lists(st.tuples(st.sampled_from(TRACKS), st.floats(5.0, 55.0), st.floats(0.2, 6.0)), max_size=3),
    tears=st.lists(st.tuples(st.floats(5.0, 55.0), st.floats(0.2, 6.0)), max_size=2),
)
def test_dirt_and_tears_never_make_another_card(
    ends: tuple[EmulatedShoe, HostEnd],
    name: str,
    speed: float,
    smudges: list[tuple[str, float, float]],
    tears: list[tuple[float, float]],
) -> None:
    strip = print_strip(card_number(name), 0)
    for track, start, length in smudges:
        strip = strip.dirty(track, start, start + length)
    for start, length in tears:
        strip = strip.torn(start, start + length)
    card = reported(ends, name, strip, Path(IN_SHOE).ramp(speed, 3.0).to(GONE))
    assert card.token == schema.TOKEN_UNREAD or schema.value(card.token) == card_number(name)
