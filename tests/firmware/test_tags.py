"""Tags as second witness: whose card a tag is, what the table learns, what contradicts it, what a power cut leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import SIZE, Fram, PowerLossError
from dealershoe.emulate.parts.pn5180 import uid_of
from dealershoe.link.faults import DETAILS
from firmware.reader_bench import OTHER, UID, Memory, Shoe
from shoelink import schema

kept: Any = import_module("shoe.kept")
table: Any = import_module("rfid.table")
AS, KD = 51, 24
MANY, AT_REST, CONTRADICTS = 1, 2, 3  # hardware/faults.md
NOTHING = -1
CALM_MS = 5_100


@pytest.fixture
def shoe(monkeypatch: pytest.MonkeyPatch) -> Shoe:
    return Shoe(monkeypatch).up()


def test_a_pair_is_learned_from_a_card_that_was_read_and_tells_one_that_was_not(shoe: Shoe) -> None:
    assert shoe.card(UID, read=False) == NOTHING  # nothing is known
    assert shoe.card(UID, card=AS, deck=2) == NOTHING  # the heads have told it
    assert shoe.card(UID, read=False) == 2 * 54 + AS
    assert shoe.card(OTHER, read=False) == NOTHING
    assert shoe.card(read=False) == NOTHING
    assert shoe.told.faults == []


@pytest.mark.parametrize("given", [{"down": False}, {"erasures": 1}, {"double": True}, {"card": 54}, {"read": False}])
def test_nothing_is_learned_from_a_card_that_is_not_certain(shoe: Shoe, given: dict[str, Any]) -> None:
    shoe.card(UID, **given)
    assert shoe.table.place_of(UID) == NOTHING
    assert shoe.told.faults == []


def test_of_two_cards_drawn_as_one_no_tag_tells_anything(shoe: Shoe) -> None:
    shoe.card(UID, card=AS)
    assert shoe.card(UID, read=False, double=True) == NOTHING
    assert shoe.card(UID, OTHER, read=False, double=True) == NOTHING
    assert shoe.told.faults == []  # the double says it


def test_two_tags_with_one_card_are_a_fault_and_tell_nothing(shoe: Shoe) -> None:
    shoe.card(UID, card=AS)
    assert shoe.card(UID, OTHER, read=False) == NOTHING
    assert shoe.told.open == {schema.FAULT_TAG: MANY}
    shoe.run(CALM_MS)
    assert shoe.told.open == {schema.FAULT_TAG: MANY}  # until a card has passed as it should
    shoe.card(UID, card=AS)
    shoe.run(CALM_MS)
    assert shoe.told.open == {}


def test_two_tags_one_after_the_other_with_one_card_are_two_as_well(shoe: Shoe) -> None:
    shoe.card(UID, card=AS)
    shoe.run(30, False)
    shoe.bench.enter(UID)
    shoe.run(25, False)
    shoe.bench.leave(UID)
    assert shoe.card(OTHER, read=False) == NOTHING
    assert shoe.told.open == {schema.FAULT_TAG: MANY}


@pytest.mark.parametrize(
    ("uid", "card"), [(UID, KD), (OTHER, AS)], ids=["the tag is another card's", "the card has another tag"]
)
def test_a_pair_that_contradicts_a_known_one_is_a_fault_and_is_not_learned(shoe: Shoe, uid: bytes, card: int) -> None:
    shoe.card(UID, card=AS)
    assert shoe.card(uid, card=card) == NOTHING
    assert shoe.told.open == {schema.FAULT_TAG: CONTRADICTS}
    assert shoe.table.place_of(UID) == AS
    assert shoe.table.place_of(OTHER) == NOTHING
    assert not shoe.table.has(KD)
    shoe.card(UID, card=AS)
    shoe.run(CALM_MS)
    assert shoe.told.open == {}


@pytest.mark.parametrize(("uid", "card"), [(UID, KD), (OTHER, AS)])
def test_a_pair_that_was_contradicted_tells_no_card_and_is_learned_anew_after_a_start(
    uid: bytes, card: int, shoe: Shoe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which of the two is wrong nobody knows: what was learned once may have been the tag of the card beside it."""
    shoe.card(UID, card=AS)
    shoe.run(50)
    assert shoe.card(UID, read=False) == AS
    shoe.card(uid, card=card)
    assert shoe.card(UID, read=False) == NOTHING
    shoe.run(CALM_MS)
    assert shoe.card(UID, read=False) == NOTHING  # also when the fault is over
    again = Shoe(monkeypatch, shoe.fram).up()
    assert again.card(UID, read=False) == NOTHING
    again.card(uid, card=card)
    again.run(50)
    assert again.card(uid, read=False) == card
    assert again.told.open == {}


def test_a_tag_that_answers_in_a_rest_is_a_fault_and_no_tag_counts_until_it_is_gone(shoe: Shoe) -> None:
    """The reader reaches as far as the stack, or a card lies before the shoe: it would pass for each that leaves."""
    shoe.card(UID, card=AS)
    shoe.bench.enter(UID)
    shoe.run(120)
    assert shoe.told.open == {}  # once may be a hand that passes; no tag counts already
    assert shoe.card(read=False) == NOTHING
    shoe.bench.enter(UID)
    shoe.run(400)
    assert shoe.told.open == {schema.FAULT_TAG: AT_REST}
    assert shoe.card(card=KD) == NOTHING
    assert shoe.table.place_of(UID) == AS
    shoe.bench.leave(UID)
    shoe.run(CALM_MS + 400)
    assert shoe.told.open == {}
    assert shoe.card(UID, read=False) == AS


def test_without_that_rule_the_tag_at_rest_would_be_a_wrong_card(shoe: Shoe) -> None:
    shoe.card(UID, card=AS)
    shoe.bench.enter(UID)
    shoe.run(400)
    hear = shoe.tags._hear

    def deaf() -> None:
        hear()
        shoe.tags._at_rest = 0

    shoe.tags._hear = deaf
    shoe.run(60, False)
    shoe.tags._at_rest = 0
    reading: Any = type("Reading", (), {"result": 1, "card": 0, "deck": 0, "erasures": 0})
    assert shoe.tags.passed(reading, True, False, shoe.bench.now) == AS


@pytest.mark.parametrize("late_ms", [0.5, 2, 4, 6, 8])
def test_an_answer_that_was_asked_for_before_the_card_came_is_not_its_own(shoe: Shoe, late_ms: float) -> None:
    shoe.card(UID, card=AS)
    shoe.bench.enter(UID)  # somebody waves a card past the lip
    shoe.tags._asked_at -= 2000  # a request is due
    shoe.run(late_ms)
    shoe.run(1.5, False)
    shoe.bench.leave(UID)
    assert shoe.card(read=False) == NOTHING


@pytest.mark.parametrize("more_ms", range(0, 12, 2))
def test_nor_is_one_that_was_asked_for_before_the_card_left_a_tag_at_rest(shoe: Shoe, more_ms: float) -> None:
    """The next cards come 30 ms behind each other, before a look in a rest: they would not be believed, and a FAULT."""
    cardcode: Any = import_module("shoe.cardcode")
    shoe.card(UID, card=AS)
    shoe.card(OTHER, card=KD)
    reading: Any = type("Reading", (), {"result": cardcode.UNREAD, "card": 0, "deck": 0, "erasures": 0})
    for uid, place in ((UID, AS), (OTHER, KD)) * 3:
        shoe.run(60, False)
        shoe.bench.enter(uid)
        shoe.run(25 + more_ms, False)
        assert shoe.tags.passed(reading, True, False, shoe.bench.now) == place
        shoe.run(6)  # its answer is on the air
        shoe.bench.leave(uid)
        shoe.run(24)
    assert shoe.told.faults == []


def test_the_next_card_close_behind_does_not_get_the_first_one_s_tag(shoe: Shoe) -> None:
    """The throat is never clear between them."""
    shoe.card(UID, card=AS)
    cardcode: Any = import_module("shoe.cardcode")
    reading: Any = type("Reading", (), {"result": cardcode.UNREAD, "card": 0, "deck": 0, "erasures": 0})
    shoe.run(60, False)
    shoe.bench.enter()
    shoe.run(25, False)
    shoe.bench.leave()
    assert shoe.tags.passed(reading, True, False, shoe.bench.now) == AS
    shoe.run(60, False)
    assert shoe.tags.passed(reading, True, False, shoe.bench.now) == NOTHING


def test_a_quiet_tag_in_a_standing_card_is_read_because_the_field_is_switched(monkeypatch: pytest.MonkeyPatch) -> None:
    """ESPuino#444: a card left in another state gives misses for ever."""

    def read_of_a_standing_card(shoe: Shoe) -> int:
        shoe.card(UID, card=AS)
        shoe.run(60, False)
        shoe.bench.enter()
        shoe.part.quiet = [UID]
        shoe.run(400, False)
        shoe.bench.leave()
        cardcode: Any = import_module("shoe.cardcode")
        reading: Any = type("Reading", (), {"result": cardcode.UNREAD, "card": 0, "deck": 0, "erasures": 0})
        place: int = shoe.tags.passed(reading, True, False, shoe.bench.now)
        return place

    shoe = Shoe(monkeypatch).up()
    assert read_of_a_standing_card(shoe) == AS
    assert shoe.part.field_ons > 1
    without = Shoe(monkeypatch).up()
    monkeypatch.setattr(without.bench.tags_module, "UNANSWERED", 1 << 20)
    assert read_of_a_standing_card(without) == NOTHING


def test_a_reader_that_fails_is_a_fault_its_tags_count_for_nothing_and_it_is_over_when_it_is_well(shoe: Shoe) -> None:
    shoe.card(UID, card=AS)
    shoe.part.fault = "busy"
    shoe.run(100)
    assert shoe.told.open == {schema.FAULT_READER: 2}
    assert shoe.card(UID, read=False) == NOTHING
    shoe.part.fault = ""
    shoe.run(1_500 + CALM_MS)
    assert shoe.told.open == {}
    assert shoe.card(UID, read=False) == AS


def test_a_reader_that_fails_again_and_again_is_told_once(shoe: Shoe) -> None:
    shoe.part.fault = "restarts"
    shoe.run(8_000)
    assert shoe.told.faults == [(schema.FAULT_READER, 4)]


def test_the_host_has_a_sentence_for_each_detail(shoe: Shoe) -> None:
    module = shoe.bench.tags_module
    assert {(code, detail): name for (code, detail), (name, _) in DETAILS.items() if code == schema.FAULT_TAG} == {
        (schema.FAULT_TAG, module.MANY): "many",
        (schema.FAULT_TAG, module.AT_REST): "at-rest",
        (schema.FAULT_TAG, module.CONTRADICTS): "contradicts",
    }


# ---- the table in the FRAM

EVERY = {place: uid_of(1 + place) for place in range(table.PLACES)}


def on(fram: Fram) -> Any:
    return table.TagTable(Memory(fram))


def test_it_lies_behind_the_journal_and_fits() -> None:
    records = kept.RING + (kept.CAPACITY + 2) * kept._RECORD
    assert records <= table.HEAD
    assert table.HEAD + table._HEAD <= table.FIRST
    assert table.FIRST + table.PLACES * table.RECORD <= SIZE
    assert table.PLACES == 4 * 54


def test_every_card_of_four_decks_is_known_again_after_a_power_cut() -> None:
    fram = Fram()
    first = on(fram)
    for place, uid in EVERY.items():
        assert first.place_of(uid) == NOTHING
        assert first.learn(place, uid)
    again = on(fram)
    for found in (first, again):
        assert {place: uid for place, uid in EVERY.items() if found.place_of(uid) == place} == EVERY
        assert found.place_of(uid_of(9999)) == NOTHING
        assert all(found.has(place) for place in EVERY)


def test_tags_of_any_maker_with_all_hashes_alike_are_told_apart() -> None:
    uids = [bytes((1, 2, 3, n & 0xFF, n >> 8, 0, 4, 0xE0)) for n in range(table.PLACES)]
    found = on(Fram())
    for place, uid in enumerate(uids):
        found.learn(place, uid)
    assert [found.place_of(uid) for uid in uids] == list(range(table.PLACES))


def test_what_is_forgotten_stays_so_and_is_learned_anew() -> None:
    fram = Fram()
    found = on(fram)
    found.learn(AS, UID)
    found.learn(KD, OTHER)
    found.forget()
    assert found.place_of(UID) == NOTHING
    found.learn(KD, UID)
    again = on(fram)
    assert (again.place_of(UID), again.place_of(OTHER), again.has(AS)) == (KD, NOTHING, False)


@pytest.mark.parametrize("torn", [None, 0x0F])
def test_a_power_cut_at_any_byte_leaves_the_pair_or_none_and_all_others(torn: int | None) -> None:
    for cut in range(17):
        fram = Fram()
        on(fram).learn(KD, OTHER)
        fram.cut, fram.torn = cut, torn
        with contextlib.suppress(PowerLossError):
            on(fram).learn(AS, UID)
        fram.cut = -1
        again = on(fram)
        assert again.place_of(OTHER) == KD
        assert again.place_of(UID) in (NOTHING, AS)
        assert again.place_of(UID) == (AS if cut >= 16 else NOTHING) or torn
        assert again.learn(AS, UID)
        assert on(fram).place_of(UID) == AS


def cut_short(cut: int, torn: int | None, act: Callable[[Any], object]) -> Fram:
    """What an FRAM with two pairs has, if the power is cut after so many bytes of what `act` writes."""
    fram = Fram()
    pairs = on(fram)
    pairs.learn(AS, UID)
    pairs.learn(KD, OTHER)
    fram.cut, fram.torn = cut, torn
    with contextlib.suppress(PowerLossError):
        act(pairs)
    fram.cut = -1
    return fram


@pytest.mark.parametrize("torn", [None, 0x0F])
def test_a_power_cut_while_a_pair_is_dropped_leaves_it_or_none_and_all_others(torn: int | None) -> None:
    for cut in range(17):
        again = on(cut_short(cut, torn, lambda pairs: pairs.drop(AS)))
        assert again.place_of(OTHER) == KD
        assert again.place_of(UID) in (NOTHING, AS)
        assert again.place_of(UID) == NOTHING or cut < 16


@pytest.mark.parametrize("torn", [None, 0x0F])
def test_a_power_cut_while_all_is_forgotten_leaves_all_or_nothing(torn: int | None) -> None:
    for cut in range(11):
        fram = cut_short(cut, torn, lambda pairs: pairs.forget())
        again = on(fram)
        assert (again.place_of(UID), again.place_of(OTHER)) in ((AS, KD), (NOTHING, NOTHING))
        if not again.has(AS):
            again.learn(AS, OTHER)
            assert on(fram).place_of(OTHER) == AS
            assert on(fram).place_of(UID) == NOTHING


def test_without_an_fram_it_is_learned_in_ram_and_nothing_is_written_over_one_that_could_not_be_read() -> None:
    fram = Fram()
    on(fram).learn(AS, UID)
    before = bytes(fram.memory)
    fram.fault = "absent"
    found = on(fram)
    assert found.place_of(UID) == NOTHING
    fram.fault = ""
    assert not found.learn(AS, OTHER)
    found.forget()
    found.learn(KD, OTHER)
    assert found.place_of(OTHER) == KD
    assert bytes(fram.memory) == before
    assert on(fram).place_of(UID) == AS


def test_whoever_calibrates_the_shoe_has_it_learn_anew(shoe: Shoe) -> None:
    """The deck may be another: as seat nodes that were taken away, tags are settled by the person who sets it up."""
    shoe.card(UID, card=AS)
    shoe.card(OTHER, card=AS)
    assert shoe.told.open == {schema.FAULT_TAG: CONTRADICTS}
    shoe.tags.settle()
    shoe.card(OTHER, card=AS)
    shoe.run(CALM_MS)
    assert shoe.told.open == {}
    assert (shoe.table.place_of(OTHER), shoe.table.place_of(UID)) == (AS, NOTHING)
