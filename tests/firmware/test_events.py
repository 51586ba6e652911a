"""From what the passage tells to the wire's events: numbers of hands and draws, targets, faults. On a real journal."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest
from firmware.physics import Card, Scene, pieces, print_card, ride
from shoelink import schema, tokens
from shoelink.journal import Journal
from shoelink.link import Link
from shoelink.tokens import Veil

cardcode: Any = import_module("shoe.cardcode")
events_module: Any = import_module("shoe.events")
lanes: Any = import_module("shoe.lanes")
passage_module: Any = import_module("shoe.passage")
sampleclock: Any = import_module("shoe.sampleclock")

STEADY = ride([(110, 1000, 1000)])


class Shoe:
    """Passage, lanes and events over a journal, without the loop."""

    def __init__(self, opened: bool = True) -> None:
        self.journal = Journal(os.urandom(4))
        self.link = Link(schema.SHOE, schema.Ident(bytes(8), bytes(12), bytes(16)), os.urandom, self.journal)
        self.clock = sampleclock.SampleClock()
        self.exits = lanes.ExitLanes()
        self.events = events_module.Events(self.link, self.clock, self.exits, Veil(bytes(8), os.urandom, opened))
        self.passage = passage_module.Passage(self.events, self.clock)

    def feed(self, samples: bytes) -> None:
        for piece in pieces(samples + bytes(8), ()):
            self.passage.feed(piece, len(piece))

    def draw(self, card: Card | None = None, covered: int = 0) -> Any:
        self.exits.see(covered)
        self.feed(Scene([(card or print_card(7), 0)]).samples(STEADY))
        return self.last

    def due(self, hand: int, due: int = schema.DUE_NOTHING, seat: int = 0) -> None:
        self.events.take_due(schema.Due(0, hand, due, seat, 1))

    def event(self, number: int) -> Any:
        at, length = self.journal.load(number), self.journal.length(number)
        return schema.unpack(self.journal.buffer[at - 2], bytes(self.journal.buffer[at : at + length]))

    @property
    def all(self) -> list[Any]:
        return [self.event(number) for number in range(self.journal.oldest, self.journal.next)]

    @property
    def last(self) -> Any:
        return self.event(self.journal.next - 1)


@pytest.fixture
def shoe() -> Shoe:
    return Shoe()


class Tags:
    """Says which card it is that could not be read (rfid/tags.py), and writes down what it was asked."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.asked: list[tuple[bool, bool, bool]] = []

    def passed(self, reading: Any, down: bool, double: bool, at: int) -> int:
        read = reading.result == cardcode.READ
        self.asked.append((read, down, double))
        return -1 if read else self.place


@pytest.mark.parametrize("opened", [True, False])
def test_a_card_that_no_head_read_is_told_by_its_tag(opened: bool) -> None:
    shoe = Shoe(opened)
    shoe.due(1)
    read = shoe.draw(print_card(51, 2))
    shoe.events.tags = tags = Tags(2 * 54 + 51)
    card = shoe.draw(Card())
    assert (card.flags, card.deck, card.way_up) == (schema.CARD_BY_TAG, 2, schema.WAY_UNKNOWN)
    assert bytes(card.token) == bytes(read.token)
    assert shoe.events.doubtful
    again = shoe.draw(print_card(12))
    assert (again.flags, again.way_up) == (0, schema.WAY_DOWN)
    assert tags.asked == [(False, False, False), (True, True, False)]
    tags.place = 53
    assert shoe.draw(Card()).flags == schema.CARD_BY_TAG | schema.CARD_JOKER
    tags.place = -1
    card = shoe.draw(Card())
    assert (card.flags, card.token) == (schema.CARD_UNREAD, schema.TOKEN_UNREAD)


def test_a_card_in_full(shoe: Shoe) -> None:
    shoe.due(300, schema.DUE_SEAT, 4)
    card = shoe.draw(print_card(51, 2), 0b10)
    assert card._replace(speed=0, t_us=b"") == schema.Card(
        hand=300,
        draw=1,
        t_us=b"",
        token=bytes((51, 0, 0, 0)),
        deck=2,
        way_up=schema.WAY_DOWN,
        target=4,
        origin=schema.ORIGIN_LANE,
        certainty=60,
        flags=0,
        speed=0,
        erasures=0,
    )
    assert card.speed == pytest.approx(1000, rel=0.01)
    assert schema.value(card.t_us) == pytest.approx((5 + 24 + 63.5) * 1000, abs=100)  # µs


def test_a_sealed_hand_is_committed_to_before_its_first_card_and_revealed_when_the_next_begins() -> None:
    """protocol/README.md, "Cards under a secret"."""
    shoe = Shoe(opened=False)
    shoe.due(7, schema.DUE_SEAT, 1)
    shoe.draw(print_card(51))
    shoe.draw(print_card(52))
    shoe.draw(print_card(51))
    shoe.events.pressed(schema.KEY_NEW_HAND, schema.PRESS_SHORT)
    commit, first, joker, again, reveal, following, key = shoe.all
    assert [type(event).__name__ for event in (commit, reveal, following, key)] == ["Commit", "Reveal", "Commit", "Key"]
    assert (commit.hand, reveal.hand, following.hand, key.hand) == (7, 7, 8, 8)
    assert first.token == again.token != joker.token
    assert joker.flags == schema.CARD_JOKER
    assert tokens.commitment(bytes(8), 7, reveal.secret) == commit.commitment
    names = tokens.tokens(reveal.secret)
    assert [tokens.card_of(names, card.token) for card in (first, joker, again)] == [51, 52, 51]


def test_before_the_first_hand_a_card_is_not_named_either() -> None:
    shoe = Shoe(opened=False)
    assert schema.value(shoe.draw(print_card(20)).token) > 53


def test_ways_up_and_flags(shoe: Shoe) -> None:
    down, up, unknown = schema.WAY_DOWN, schema.WAY_UP, schema.WAY_UNKNOWN
    dirty = print_card(20)
    dirty.scratch("clk", 30, 36)
    dirty_boxed = print_card(20, boxed=True)
    dirty_boxed.scratch("clk", 30, 36)
    unread = schema.TOKEN_UNREAD
    for paper, way_up, flags, token, deck in (
        (print_card(20), down, 0, bytes((20, 0, 0, 0)), 0),
        (print_card(52, boxed=True), up, schema.CARD_JOKER, bytes((52, 0, 0, 0)), 0),
        (print_card(20, 1, mirrored=True), down, schema.CARD_REVERSED, bytes((20, 0, 0, 0)), 1),
        (print_card(54, 3), down, schema.CARD_FOREIGN, unread, 3),
        (Card(), unknown, schema.CARD_UNREAD, unread, 255),
        (dirty, down, schema.CARD_UNREAD, unread, 255),
        (dirty_boxed, up, schema.CARD_UNREAD, unread, 255),
    ):
        card = shoe.draw(paper)
        assert (card.way_up, card.flags, card.token, card.deck) == (way_up, flags, token, deck)


def flashed(boxed: bool) -> bytes:
    """A card of which the heads see five cells; then light from outside hides the print, and flickers below."""
    samples = bytearray(Scene([(print_card(20, boxed=boxed), 0)]).samples(STEADY))
    fifth = [at for at in range(1, len(samples)) if samples[at] & 0x09 and not samples[at - 1] & 0x09][5]
    for at in range(fifth - 2, len(samples)):
        samples[at] &= 0x60  # the slots are no heads
    at = fifth
    for light, dark in ((147, 4), (35, 19), (5, 71), (3, 15), (60, 7), (16, 43), (90, 13)):
        at += light
        for flicker in range(at, at + dark):
            samples[flicker] |= 0x01
        at += dark
    return bytes(samples)


@pytest.mark.parametrize("boxed", [False, True])
def test_marks_that_a_flash_made_below_do_not_tell_a_boxed_card_as_face_down(shoe: Shoe, boxed: bool) -> None:
    """Seven marks below that no print makes, and five of a print. If these are above, it is not face down."""
    shoe.feed(flashed(boxed))
    assert shoe.passage.top.marks == (5 if boxed else 0)
    assert shoe.passage.bottom.marks >= 7
    way_up = schema.WAY_UNKNOWN if boxed else schema.WAY_DOWN
    assert (shoe.last.way_up, shoe.last.flags) == (way_up, schema.CARD_UNREAD)


def test_no_lane_is_no_target_and_a_lane_that_is_not_due_is_less_certain(shoe: Shoe) -> None:
    shoe.due(1, schema.DUE_SEAT, 4)
    card = shoe.draw()
    assert (card.target, card.origin, card.certainty) == (0, schema.ORIGIN_NONE, 0)
    card = shoe.draw(covered=0b1000)
    assert (card.target, card.origin, card.certainty) == (6, schema.ORIGIN_LANE, 30)
    assert shoe.draw().target == 0  # the lanes of the card before are forgotten


def test_draws_count_from_1_in_each_hand(shoe: Shoe) -> None:
    assert [(card.hand, card.draw) for card in (shoe.draw(), shoe.draw())] == [(0, 1), (0, 2)]
    shoe.due(7)
    assert [(card.hand, card.draw) for card in (shoe.draw(), shoe.draw())] == [(7, 1), (7, 2)]
    shoe.due(7, schema.DUE_BURN)
    assert shoe.draw().draw == 3
    shoe.due(0)  # a host without a hand changes nothing
    assert (shoe.draw().hand, shoe.last.draw) == (7, 4)


def test_a_double_takes_two_numbers(shoe: Shoe) -> None:
    shoe.feed(Scene([(print_card(3), 0), (Card(), 20)]).samples(ride([(160, 1000, 1000)])))
    assert (shoe.last.draw, shoe.last.flags) == (1, schema.CARD_DOUBLE)
    assert shoe.draw().draw == 3


def test_a_card_pushed_back_keeps_its_number(shoe: Shoe) -> None:
    shoe.draw()
    shoe.feed(Scene([(print_card(8), 0)]).samples(ride([(120, 900, 900), (-122, 700, 700), (120, 900, 900)])))
    assert [(type(event).__name__, event.draw) for event in shoe.all] == [
        ("Card", 1),
        ("Card", 2),
        ("CardBack", 2),
        ("Card", 2),
    ]
    assert shoe.draw().draw == 3


def test_a_card_half_out_goes_back_with_the_number_it_would_have_had(shoe: Shoe) -> None:
    shoe.draw()
    shoe.feed(Scene([(print_card(8), 0)]).samples(ride([(49, 800, 800), (-46, 800, 800), (110, 800, 800)])))
    assert [(type(event).__name__, event.draw) for event in shoe.all[1:]] == [("CardBack", 2), ("Card", 2)]


def test_the_new_hand_key_begins_the_next_hand_here(shoe: Shoe) -> None:
    shoe.due(9)
    shoe.draw()
    shoe.events.pressed(schema.KEY_NEW_HAND, schema.PRESS_SHORT)
    assert (shoe.last.hand, shoe.last.key, shoe.last.press) == (10, schema.KEY_NEW_HAND, schema.PRESS_SHORT)
    assert (shoe.draw().hand, shoe.last.draw) == (10, 1)
    for key in (schema.KEY_ACTION, schema.KEY_DONE):
        shoe.events.pressed(key, schema.PRESS_HELD)
        assert (shoe.last.hand, shoe.last.key, shoe.last.press) == (10, key, schema.PRESS_HELD)
    shoe.due(0xFFFF)
    shoe.events.pressed(schema.KEY_NEW_HAND, schema.PRESS_SHORT)
    assert shoe.last.hand == 1  # never 0


def test_a_due_sent_before_the_host_heard_of_the_key_does_not_take_the_hand_back(shoe: Shoe) -> None:
    shoe.due(9)
    shoe.events.pressed(schema.KEY_NEW_HAND, schema.PRESS_SHORT)
    key = shoe.journal.next - 1
    shoe.due(9, schema.DUE_BURN)
    assert shoe.draw().hand == 10
    shoe.journal.release(key)  # the host has stored the key: now it means what it says
    shoe.due(9)
    assert (shoe.draw().hand, shoe.last.draw) == (9, 1)


def test_an_arrival_belongs_to_the_draw_that_was_expected_there(shoe: Shoe) -> None:
    shoe.due(1, schema.DUE_SEAT, 3)
    shoe.draw()
    shoe.due(1, schema.DUE_SEAT, 4)
    shoe.draw()
    shoe.events.arrived(3, False)
    assert (shoe.last.draw, shoe.last.place, shoe.last.way_up) == (1, 3, schema.WAY_DOWN)
    shoe.events.arrived(7, True)  # expected nowhere: the oldest that is on its way
    assert (shoe.last.draw, shoe.last.place, shoe.last.way_up) == (2, 7, schema.WAY_UP)
    shoe.events.arrived(8, False)  # nothing is on its way: the last
    assert shoe.last.draw == 2


def test_an_arrival_at_the_neighbour_in_the_same_lane_belongs_to_the_card_that_went_over_it(shoe: Shoe) -> None:
    shoe.due(1)
    shoe.draw(covered=0b10000000)  # 1: burn or board
    shoe.draw(covered=0b00001000)  # 2: seat 6 or 7, hinted at 6
    shoe.draw(covered=0b10000000)  # 3
    shoe.events.arrived(7, False)
    shoe.events.arrived(33, False)
    shoe.events.arrived(32, False)
    assert [event.draw for event in shoe.all[4:]] == [2, 1, 3]


def test_a_card_that_no_node_reports_is_not_waited_for_long(shoe: Shoe) -> None:
    shoe.due(1)
    shoe.draw(covered=0b10000000)
    shoe.feed(bytes(2 * 20_000))
    shoe.draw(covered=0b00001000)
    shoe.events.arrived(7, False)
    assert shoe.last.draw == 2


def test_both_cards_of_a_double_may_arrive(shoe: Shoe) -> None:
    shoe.due(1, schema.DUE_SEAT, 2)
    shoe.feed(Scene([(print_card(3), 0), (Card(), 20)]).samples(ride([(160, 1000, 1000)])))
    shoe.events.arrived(2, False)
    shoe.events.arrived(2, False)
    assert [event.draw for event in shoe.all[1:]] == [1, 1, 2]


def test_a_fault_is_told_once_until_it_is_cleared(shoe: Shoe) -> None:
    shoe.events.fault(schema.FAULT_DAZZLE, 50000, 0)
    shoe.events.fault(schema.FAULT_DAZZLE, 50001, 0)
    shoe.events.clear(schema.FAULT_HEAD, 0, 0)
    shoe.events.clear(schema.FAULT_DAZZLE, 0, 0)
    assert [type(event).__name__ for event in shoe.all] == ["Fault", "Clear"]


def test_half_drawn_from_samples_to_fault_and_clear(shoe: Shoe) -> None:
    shoe.feed(Scene([(print_card(8), 0)]).samples(ride([(40, 700, 700), (0, 2.0, 0), (70, 700, 700)])))
    assert [type(event).__name__ for event in shoe.all] == ["Fault", "Clear", "Card"]
    assert (shoe.all[0].code, shoe.all[0].detail) == (schema.FAULT_HALF_DRAWN, 3)


def test_the_journal_takes_256_events_and_the_numbers_go_on_without_them(shoe: Shoe) -> None:
    for _ in range(300):
        shoe.events.pressed(schema.KEY_ACTION, schema.PRESS_SHORT)
    assert 256 <= shoe.journal.held() <= 258  # and what the link says of it
    for _ in range(3):
        shoe.feed(Scene([(print_card(8), 0)]).samples(STEADY))
    shoe.journal.release(shoe.journal.next - 1)
    assert shoe.draw().draw == 4  # three went by unseen, and the host can tell


def test_a_fault_is_told_once_until_it_is_over_and_again_of_another_part(shoe: Shoe) -> None:
    for detail, another in ((5, False), (5, False), (7, True)):
        shoe.events.fault(schema.FAULT_SEAT_NODE, detail, 0, another)
    for _ in range(2):
        shoe.events.clear(schema.FAULT_SEAT_NODE, 7, 0)
    assert [(type(one), one.detail) for one in shoe.all] == [(schema.Fault, 5), (schema.Fault, 7), (schema.Clear, 7)]
