"""Every part in every way in which it can fail: a fault by name, a light that shows it, and never a wrong card.

`hardware/faults.md` is the same table for people. The real firmware runs; the parts are the models that fail.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from dealershoe.deck.cards import card_number
from dealershoe.emulate.parts import FAILURES
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.words import colour
from dealershoe.errors import UserError
from dealershoe.link.faults import FAULTS
from hil.hostend import HostEnd
from shoelink import schema

ROOT = Path(__file__).resolve().parents[2]
FACTS = schema.SIGNAL_READY


class Seen(NamedTuple):
    """What a failure leads to: the fault that is reported while the shoe is on, and of the self-test at power-up."""

    fault: str
    in_use: bool  # it is told when the part fails while the shoe is on
    at_start: bool = False  # and (of each kind one) when it has failed before


TABLE = {
    ("fram", "absent"): Seen("FRAM", True, True),
    ("fram", "stuck"): Seen("FRAM", True, True),
    ("fram", "forgets"): Seen("FRAM", True, True),
    ("fram", "protected"): Seen("FRAM", True, True),
    ("fram", "flips"): Seen("FRAM", True, True),
    ("fram", "stranger"): Seen("FRAM", False, True),
    ("lanes", "open"): Seen("LANES", True, True),
    ("lanes", "high"): Seen("LANES", True),
    ("lanes", "low"): Seen("LANES", True),
    ("lanes", "no load"): Seen("LANES", True),
    ("lanes", "no clock"): Seen("LANES", True),
    ("lanes", "lane 3 covered"): Seen("LANES", True),
    ("light", "dark"): Seen("LIGHT", True, True),
    ("light", "dusty"): Seen("LIGHT", True),
    ("light", "saturated"): Seen("LIGHT", True),
    ("light", "does not go off"): Seen("LIGHT", True),
    ("light", "stuck at one card"): Seen("LIGHT", True, True),
    ("ambient", "dazzled"): Seen("DAZZLE", True),
    ("ambient", "dead"): Seen("SELF_TEST", True, True),
    ("keys", "done held"): Seen("KEYS", True, True),
    ("keys", "between"): Seen("KEYS", True, True),
    ("keys", "at ground"): Seen("KEYS", True, True),
    ("keys", "off"): Seen("KEYS", True, True),
    ("lid", "open"): Seen("LID", True, True),
    ("tamper", "open"): Seen("TAMPER", True),
    ("supply", "low"): Seen("SUPPLY", True),
    ("supply", "dead"): Seen("SUPPLY", True, True),
    ("heads", "dark"): Seen("HEAD", True, True),
    ("heads", "blind"): Seen("HEAD", True, True),
    ("heads", "one track dark"): Seen("HEAD", True, True),
    ("heads", "one track blind"): Seen("HEAD", True, True),
    ("slots", "throat blocked"): Seen("HALF_DRAWN", True, True),
    ("slots", "lip blocked"): Seen("HALF_DRAWN", True),
    ("slots", "throat free"): Seen("SLOT", True),
    ("slots", "lip free"): Seen("SLOT", True),
    ("sampler", "stalled"): Seen("SAMPLER", True, True),
    ("seats", "node 5 absent"): Seen("SEAT_NODE", True),
    ("seats", "node 5 lies"): Seen("SEAT_NODE", True),
    ("seats", "node 5 garbled"): Seen("SEAT_NODE", True),
    ("seats", "node 5 blocked"): Seen("SEAT_NODE", True),
    ("seats", "bus shorted"): Seen("SEAT_BUS", True),
    ("seats", "bus noisy"): Seen("SEAT_BUS", True, True),
}
# the optics cannot read while these last; with all others the next card is read as what it is
UNREADABLE = {"heads", "slots", "sampler"}
SLOW = {("keys", "done held"): 31_000, ("keys", "between"): 2_500}  # ms until it is certain


def code_of(name: str) -> int:
    return {text: code for code, text in schema.CODES["code"]}[name]


def test_the_table_names_every_failure_and_the_page_has_every_line() -> None:
    assert set(TABLE) == set(FAILURES)
    page = (ROOT / "hardware" / "faults.md").read_text()
    for (part, how), seen in TABLE.items():
        assert f"| {part} | {how} | {seen.fault} |" in page, (part, how)


def test_every_fault_of_the_wire_has_a_sentence_for_the_dealer() -> None:
    assert set(FAULTS) == {code for code, _ in schema.CODES["code"]}


def magenta(shoe: EmulatedShoe) -> bool:
    return any(colour(pixel) == "magenta" for pixel in shoe.lights)


def told(shoe: EmulatedShoe, host: HostEnd, seen: Seen) -> None:
    def fault() -> bool:
        return any(isinstance(event, schema.Fault) and event.code == code_of(seen.fault) for event in host.events)

    host.wait_for(fault, f"FAULT {seen.fault}")
    shoe.wait_for(lambda: magenta(shoe), "magenta: a fault")


def draw(shoe: EmulatedShoe, host: HostEnd, part: str, named: bool = True) -> None:
    """Cards go on, and each is itself or none. `named`: the table is open, so cards are called what they are."""
    host.events.clear()
    for name in ("Qs", "2c"):
        shoe.pull(name, target=3, arrives=False)
    if part in UNREADABLE:
        shoe.settle()
        shoe.quiet()
    else:
        host.wait_for(lambda: len([e for e in host.events if isinstance(e, schema.Card)]) == 2, "two cards")
    cards = [event for event in host.events if isinstance(event, schema.Card)]
    right = {card_number("Qs"), card_number("2c")}
    if not named:
        assert cards[0].token != cards[1].token
        return
    for card in cards:
        read = card.token != schema.TOKEN_UNREAD
        assert not read or schema.value(card.token) in right
        assert read or part in UNREADABLE
    if part not in UNREADABLE:
        assert [schema.value(card.token) for card in cards] == [card_number("Qs"), card_number("2c")]
        assert [card.draw for card in cards] == [1, 2]  # and no double was made of them
        assert not [event for event in host.events if isinstance(event, schema.Key)]


@pytest.mark.parametrize(("part", "how"), [key for key, seen in TABLE.items() if seen.in_use])
def test_a_part_that_fails_in_use_is_named_shown_and_makes_no_wrong_card(part: str, how: str) -> None:
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:
        host.want(schema.Signal(0, FACTS, schema.REASON_NONE, schema.MODE_SUPERVISED))
        host.wait_for(lambda: shoe.lights[0] != (0, 0, 0) and not magenta(shoe), "no fault at first")
        shoe.fail(part, how)
        if part == "fram":  # seen when something is to be kept
            shoe.press("action")
        elif how in ("throat free", "lip free"):  # seen when a card passes
            shoe.pull("7d", arrives=False)
        shoe.rest(SLOW.get((part, how), 2_300))
        told(shoe, host, TABLE[part, how])
        if how.startswith("node 5"):
            assert {event.detail & 0xFF for event in host.events if isinstance(event, schema.Fault)} == {5}
        draw(shoe, host, part)


@pytest.mark.parametrize(("part", "how"), [key for key, seen in TABLE.items() if seen.at_start])
def test_a_part_that_has_failed_before_the_start_is_named_too(part: str, how: str) -> None:
    with EmulatedShoe(pace="fast", opened=True, failing={part: how}) as shoe, HostEnd(shoe.port) as host:
        host.want(schema.Signal(0, FACTS, schema.REASON_NONE, schema.MODE_SUPERVISED))
        shoe.rest(SLOW.get((part, how), 2_300))
        told(shoe, host, TABLE[part, how])
        draw(shoe, host, part, named=part != "keys")  # the key that opens the table could not be held


def test_a_part_or_a_way_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="no part 'lip' can fail; the parts that can are fram, lanes"):
        EmulatedShoe(failing={"lip": "open"})
    with EmulatedShoe(pace="fast") as shoe:
        with pytest.raises(UserError, match="ambient cannot fail as 'dark'; its ways are dazzled, dead"):
            shoe.fail("ambient", "dark")
        with pytest.raises(UserError, match="no part 'lip' can fail"):
            shoe.mend("lip")


def test_mended_parts_clear_their_faults() -> None:
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:
        host.want(schema.Signal(0, FACTS, schema.REASON_NONE, schema.MODE_SUPERVISED))
        for part, how in (("lid", "open"), ("supply", "low"), ("light", "dusty"), ("lanes", "low")):
            shoe.fail(part, how)
        shoe.rest(2_300)
        host.wait_for(lambda: len([e for e in host.events if isinstance(e, schema.Fault)]) == 4, "four faults")
        shoe.mend()
        shoe.rest(2_300)
        host.wait_for(lambda: len([e for e in host.events if isinstance(e, schema.Clear)]) == 4, "four are over")
        shoe.wait_for(lambda: all(colour(pixel) == "white" for pixel in shoe.lights), "white: ready")


def test_with_the_lid_open_no_key_counts_but_the_floors() -> None:
    """After 25 CFR 547.10: recorded, play and inputs off until it is closed, the closing recorded."""
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:
        shoe.fail("lid", "open")
        shoe.rest(200)
        assert host.next(schema.Fault)[0].code == schema.FAULT_LID
        shoe.press("action")
        shoe.press("floor")
        assert host.next(schema.Key)[0].key == schema.KEY_FLOOR
        shoe.mend()
        shoe.rest(200)
        assert host.next(schema.Clear)[0].code == schema.FAULT_LID
        shoe.press("action")
        assert host.next(schema.Key)[0].key == schema.KEY_ACTION


def test_a_node_that_is_missing_after_a_power_cut_is_named_and_one_that_never_was_is_not() -> None:
    """The place of a node is kept in the FRAM; `hardware/seat-bus.md`."""
    with EmulatedShoe(pace="fast", opened=True, failing={"seats": "node 5 absent"}) as shoe, HostEnd(shoe.port) as host:

        def told() -> list[tuple[Any, int, int]]:
            events = [event for event in host.events if isinstance(event, (schema.Fault, schema.Clear))]
            return [(type(event), event.code, event.detail) for event in events]

        shoe.rest(20_000)
        assert told() == []
        shoe.mend()
        shoe.rest(3_000)
        shoe.fail("seats", "node 5 absent")
        shoe.power_cycle()
        shoe.rest(20_000)
        host.wait_for(lambda: told() == [(schema.Fault, schema.FAULT_SEAT_NODE, 5)], "FAULT SEAT_NODE of seat 5")
        shoe.wait_for(lambda: magenta(shoe), "magenta: a fault")
        shoe.mend()
        shoe.rest(8_000)
        host.wait_for(lambda: len(told()) == 2, "it is over")
        assert told()[1] == (schema.Clear, schema.FAULT_SEAT_NODE, 5)


@pytest.mark.parametrize(("how", "detail"), [("at ground", 8), ("off", 9)])  # hardware/faults.md
def test_a_key_wire_that_fails_for_a_moment_is_named_and_begins_no_hand(how: str, detail: int) -> None:
    """Twice: alone, and while a finger is on *new hand*, which ends while the wire is bad."""
    with EmulatedShoe(pace="fast", opened=True) as shoe, HostEnd(shoe.port) as host:

        def told() -> list[Any]:
            return [event for event in host.events if isinstance(event, (schema.Fault, schema.Clear, schema.Key))]

        host.want(schema.Signal(0, FACTS, schema.REASON_NONE, schema.MODE_SUPERVISED))
        shoe.fail("keys", how)
        shoe.rest(200)
        shoe.mend()
        shoe.wait_for(lambda: magenta(shoe), "magenta: a fault")
        shoe.rest(1_500)
        shoe.fail("keys", how)
        shoe.press("new-hand")
        shoe.mend()
        shoe.rest(3_000)
        host.wait_for(lambda: len(told()) >= 4, "a fault and its end, twice")
        shoe.press("new-hand")
        host.wait_for(lambda: len(told()) >= 5, "a key that counts again")
        *faults, key = told()
        once = [(schema.Fault, schema.FAULT_KEYS, detail), (schema.Clear, schema.FAULT_KEYS, 0)]
        assert [(type(event), event.code, event.detail) for event in faults] == 2 * once
        assert key.key == schema.KEY_NEW_HAND


def test_a_key_that_was_down_at_power_up_does_not_count() -> None:
    with EmulatedShoe(pace="fast", opened=True, holding="exposed") as shoe, HostEnd(shoe.port) as host:
        shoe.rest(500)
        shoe.press("done")
        assert host.next(schema.Key)[0].key == schema.KEY_DONE
