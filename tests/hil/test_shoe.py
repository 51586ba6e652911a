"""The real firmware behind a real port: what it reports of cards, keys, lanes and seats, and what it shows."""

from __future__ import annotations

import time

import pytest
from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.deck.strip import TRAVEL, print_strip
from dealershoe.emulate.mechanics import P1, plain, printed
from dealershoe.emulate.shoe import EmulatedShoe, Shown
from dealershoe.emulate.timeline import Output
from dealershoe.emulate.words import colour
from hil.hostend import HostEnd
from shoelink import schema
from shoelink.notice import LinkLost

SILENCE_S = 0.75  # protocol/README.md: losing the host is shown within 750 ms; to the ms in protocol/test_link.py
MARGIN_S = 5.0  # a busy machine takes and gives processor time as it likes


def due_seat(seat: int, hand: int = 1) -> schema.Due:
    return schema.Due(0, hand, schema.DUE_SEAT, seat, 1)


def colours(shoe: EmulatedShoe) -> set[str]:
    return {colour(pixel) for pixel in shoe.lights} - {"dark"}


def shows_blue(shown: Shown) -> bool:
    grb = [shown.data[at : at + 3] for at in range(1, len(shown.data) - 2, 3)]
    return shown.output is Output.BITS and {colour((r, g, b)) for g, r, b in grb} - {"dark"} == {"blue"}


def test_it_greets_with_who_it_is(shoe: EmulatedShoe, host: HostEnd) -> None:
    greeting = host.greetings[0]
    assert greeting.hello.major == schema.MAJOR
    assert greeting.hello.schema == schema.SCHEMA
    assert greeting.hello.reset == schema.RESET_POWER
    assert greeting.ident.device == b"EMULATED"


def test_every_card_of_the_deck_arrives_as_itself(shoe: EmulatedShoe, host: HostEnd) -> None:
    for _ in FIFTY_TWO:
        shoe.pull(wait=False, arrives=False, speed=1.5)
    cards = host.next(schema.Card, 52)
    assert [schema.value(card.token) for card in cards] == list(range(52))
    assert [card.draw for card in cards] == list(range(1, 53))
    assert {(card.way_up, card.deck, card.flags, card.erasures) for card in cards} == {(schema.WAY_DOWN, 0, 0, 0)}


@pytest.mark.parametrize(("speed", "within"), [(speed, 0.02) for speed in (0.3, 1.0, 3.0)])
def test_a_card_is_read_at_any_specified_speed(shoe: EmulatedShoe, host: HostEnd, speed: float, within: float) -> None:
    """Between its slots, 24 mm apart, a card at 3 m/s is sampled 160 times."""
    shoe.pull("Td", target=3, speed=speed)
    (card,) = host.next(schema.Card)
    assert schema.value(card.token) == card_number("Td")
    assert card.speed == pytest.approx(speed * 1000, rel=within)


def test_another_strip_makes_another_card_the_pull_unchanged(shoe: EmulatedShoe, host: HostEnd) -> None:
    reported = []
    for strip in (print_strip(card_number("As"), 0), print_strip(card_number("7d"), 0)):
        shoe.load([printed("As").with_strips(strip)])
        shoe.pull(target=3)
        reported.append(schema.value(host.next(schema.Card)[0].token))
    assert reported == [51, card_number("7d")]


def test_a_turned_card_reads_the_same(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull(printed("9h").rotated())
    (card,) = host.next(schema.Card)
    assert (schema.value(card.token), card.way_up) == (card_number("9h"), schema.WAY_DOWN)


def test_a_card_face_up_in_the_shoe_is_boxed(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull("Kc", boxed=True)
    (card,) = host.next(schema.Card)
    assert card.way_up == schema.WAY_UP


def test_two_cards_in_one_passage_are_a_double(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull("2c", double=True, arrives=False)
    shoe.pull("Ah", arrives=False)
    double, after = host.next(schema.Card, 2)
    assert double.flags & schema.CARD_DOUBLE
    assert (double.draw, after.draw) == (1, 3)  # one passage, numbers N and N + 1
    assert not after.flags & schema.CARD_DOUBLE


def test_a_torn_code_is_unread_never_guessed(shoe: EmulatedShoe, host: HostEnd) -> None:
    whole = print_strip(card_number("Qs"), 0)
    shoe.pull(printed("Qs").with_strips(whole.torn(20.0, 30.0)))
    shoe.pull(printed("Qs").with_strips(whole.torn(0.0, TRAVEL)))
    shoe.pull(plain("Qs"))
    for card in host.next(schema.Card, 3):
        assert card.token == schema.TOKEN_UNREAD
        assert card.flags & schema.CARD_UNREAD


def test_a_card_pushed_back_is_told_and_keeps_its_number(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull("4s", target=2, arrives=False)
    assert host.next(schema.Card)[0].draw == 1
    shoe.push_back()
    assert host.next(schema.CardBack)[0].draw == 1
    shoe.pull(target=2, arrives=False)
    (again,) = host.next(schema.Card)
    assert (again.draw, schema.value(again.token)) == (1, card_number("4s"))


def test_a_card_drawn_half_and_taken_back_never_left(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.draw(P1 + 4.0, speed=0.5)
    shoe.push_back()
    shoe.pull(arrives=False)
    (card,) = host.next(schema.Card)
    assert (card.draw, schema.value(card.token)) == (1, 0)


def test_a_card_that_stops_half_out_is_a_fault_until_it_moves(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.draw(P1 + 6.0)
    shoe.rest(1400)
    assert host.events == []
    shoe.rest(600)
    assert host.next(schema.Fault)[0].code == schema.FAULT_HALF_DRAWN
    shoe.wait_for(lambda: "magenta" in colours(shoe), "magenta: a device fault")
    shoe.finish()
    assert host.next(schema.Clear)[0].code == schema.FAULT_HALF_DRAWN
    assert schema.value(host.next(schema.Card)[0].token) == 0


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("new-hand", schema.KEY_NEW_HAND),
        ("action", schema.KEY_ACTION),
        ("betting-complete", schema.KEY_BETTING_COMPLETE),
        ("exposed", schema.KEY_EXPOSED),
        ("done", schema.KEY_DONE),
        ("floor", schema.KEY_FLOOR),
    ],
)
def test_each_key_is_told_short_and_held(shoe: EmulatedShoe, host: HostEnd, name: str, key: int) -> None:
    shoe.press(name)
    shoe.press(name, held=True)
    short, held = host.next(schema.Key, 2)
    assert (short.key, short.press) == (key, schema.PRESS_SHORT)
    assert (held.key, held.press) == (key, schema.PRESS_HELD)


def test_two_keys_held_start_the_self_test(shoe: EmulatedShoe, host: HostEnd) -> None:
    def told() -> bool:
        return any(isinstance(told, schema.SelfTest) for told in host.delivered)

    host.wait_for(told, "what it found as the power came on")
    shoe.quiet()
    host.delivered.clear()
    shoe.press("done+new-hand")
    host.wait_for(told, "the result")
    result = next(told for told in host.delivered if isinstance(told, schema.SelfTest))
    assert result.why == schema.WHY_HOST
    assert result.tested & ~result.failed
    assert not [event for event in host.events if isinstance(event, schema.Key)]


def test_the_seat_node_confirms_where_a_card_arrived(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull("2h", target=7)
    shoe.quiet()
    shoe.pull("3h", target="burn", face_up=True)
    first, second = host.next(schema.Seat, 2)
    assert (first.draw, first.place, first.way_up) == (1, 7, schema.WAY_DOWN)
    assert (second.draw, second.place, second.way_up) == (2, schema.TARGET_BURN, schema.WAY_UP)


def test_the_exit_lane_hints_at_the_target(shoe: EmulatedShoe, host: HostEnd) -> None:
    host.want(due_seat(2))
    shoe.wait_for(lambda: shoe.line.due is not None, "DUE has reached the shoe")
    shoe.pull(target=2, arrives=False)  # lane 0 is that of seats 1 and 2
    shoe.pull(target=9, arrives=False)
    shoe.pull(target="off-table", arrives=False)
    as_due, elsewhere, nowhere = host.next(schema.Card, 3)
    assert (as_due.target, as_due.origin, as_due.certainty) == (2, schema.ORIGIN_LANE, 60)
    assert (elsewhere.target, elsewhere.origin, elsewhere.certainty) == (9, schema.ORIGIN_LANE, 30)
    assert (nowhere.target, nowhere.origin) == (schema.TARGET_UNKNOWN, schema.ORIGIN_NONE)


def test_the_host_begins_a_hand_and_draw_numbers_begin_again(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull(arrives=False)
    assert host.next(schema.Card)[0].draw == 1
    host.want(due_seat(1, hand=4711))
    shoe.wait_for(lambda: shoe.line.due is not None, "DUE has reached the shoe")
    shoe.pull(arrives=False)
    (card,) = host.next(schema.Card)
    assert (card.hand, card.draw) == (4711, 1)


def test_light_and_sound_follow_the_signal(shoe: EmulatedShoe, host: HostEnd) -> None:
    def show(signal: int, mode: int = schema.MODE_SUPERVISED) -> None:
        host.want(schema.Signal(0, signal, schema.REASON_NONE, mode))

    show(schema.SIGNAL_READY)
    shoe.wait_for(lambda: colours(shoe) == {"white"}, "white: ready")
    show(schema.SIGNAL_ATTENTION)
    shoe.wait_for(lambda: colours(shoe) == {"amber"}, "amber: attention")
    shoe.wait_for(lambda: shoe.tone > 0, "a beep")
    show(schema.SIGNAL_STOP)
    shoe.wait_for(lambda: colours(shoe) == {"red"}, "red: stop")
    heard: set[int] = set()

    def two_tones() -> bool:
        heard.add(shoe.tone)
        return len(heard - {0}) >= 2

    shoe.wait_for(two_tones, "two tones")
    show(schema.SIGNAL_READY, schema.MODE_ALIGN)
    shoe.wait_for(lambda: colours(shoe) == {"blue"}, "blue: align")


def test_losing_the_host_is_shown_within_750_ms_and_its_return_too(shoe: EmulatedShoe, host: HostEnd) -> None:
    host.want(schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED))
    shoe.wait_for(lambda: colours(shoe) == {"white"}, "white: ready")
    host.frozen = True
    silent_from = time.monotonic()
    shoe.wait_for(lambda: colours(shoe) == {"blue"}, "blue: unsupervised")
    blue_at = next(one.at for one in shoe.shown if one.at > silent_from and shows_blue(one))
    assert blue_at - silent_from < SILENCE_S + MARGIN_S
    host.frozen = False
    shoe.wait_for(lambda: colours(shoe) == {"white"}, "white again")


def test_a_card_pulled_without_a_host_is_told_to_it_later(shoe: EmulatedShoe) -> None:
    shoe.pull("Jd", target=4)
    with HostEnd(shoe.port) as host:
        assert schema.value(host.next(schema.Card)[0].token) == card_number("Jd")


def test_a_power_cycle_forgets_the_memory_and_keeps_the_deck(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.pull(arrives=False)
    host.next(schema.Card)
    shoe.draw(P1 + 4.0)
    port, before = shoe.port, host.greetings[-1].hello
    shoe.power_cycle()
    host.wait_for(lambda: len(host.greetings) > 1 and host.link.up, "a second greeting")
    after = host.greetings[-1].hello
    assert shoe.port == port
    assert after.boot != before.boot
    assert any(isinstance(notice, LinkLost) for notice in host.notices)
    shoe.finish(arrives=False)  # the card that was half out; its code had begun to pass in the dark
    shoe.pull(arrives=False)
    assert schema.value(host.next(schema.Card, 2)[1].token) == 2


def test_all_256_byte_values_pass_both_ways(shoe: EmulatedShoe, host: HostEnd) -> None:
    host.write(bytes(range(256)) * 2)  # noise, with the console's interrupt character among it
    for hand in range(1, 260):
        host.want(due_seat(1, hand=hand * 257 & 0xFFFF))
        shoe.pull(printed(FIFTY_TWO[hand % 52]), arrives=False, wait=False)
        if hand % 20 == 0:
            shoe.settle()
    shoe.settle()
    cards = host.next(schema.Card, 259)
    assert [schema.value(card.token) for card in cards] == [hand % 52 for hand in range(1, 260)]
    assert host.seen == set(range(256))
    assert host.link.decoder.count["crc"] == 0


def test_light_from_outside_is_a_fault(shoe: EmulatedShoe, host: HostEnd) -> None:
    shoe.dazzle()
    assert host.next(schema.Fault)[0].code == schema.FAULT_DAZZLE
    shoe.dazzle(False)
    assert host.next(schema.Clear)[0].code == schema.FAULT_DAZZLE


def test_at_a_dealers_pace_the_same(interpreter: str) -> None:
    with EmulatedShoe(pace="real", interpreter=interpreter, opened=True) as shoe, HostEnd(shoe.port) as host:
        begun = time.monotonic()
        shoe.pull("Ac", target=5)
        assert time.monotonic() - begun >= 0.1  # 108 mm at 1 m/s
        (card,) = host.next(schema.Card)
        assert (schema.value(card.token), card.target) == (card_number("Ac"), 5)
        assert host.next(schema.Seat)[0].place == 5
