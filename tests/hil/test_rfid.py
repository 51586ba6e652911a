"""A shoe with a reader of tags, the real firmware behind a real port: what it reports, what it does with a reader that
fails, and that no UID ever leaves it.

`hardware/faults.md` has the same table for people. Cards pass at 1 m/s; the field of the loop is 25 mm long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dealershoe.deck.cards import card_number
from dealershoe.emulate.command import command
from dealershoe.emulate.mechanics import PaperCard, plain, printed
from dealershoe.emulate.parts import READER_FAILURES
from dealershoe.emulate.parts.pn5180 import uid_of
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.words import colour
from dealershoe.errors import UserError
from hil.hostend import HostEnd
from shoelink import schema

ROOT = Path(__file__).resolve().parents[2]
BETWEEN_MS = 150  # three cards a second
BY_TAG = schema.CARD_BY_TAG


@pytest.fixture
def shoe(interpreter: str) -> Iterator[EmulatedShoe]:
    with EmulatedShoe(pace="fast", interpreter=interpreter, opened=True, variant="rfid") as running:
        yield running


@pytest.fixture
def host(shoe: EmulatedShoe) -> Iterator[HostEnd]:
    with HostEnd(shoe.port) as running:
        running.want(schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED))
        shoe.rest(300)
        yield running


def draw(shoe: EmulatedShoe, host: HostEnd, card: PaperCard | str) -> Any:
    """What the shoe reports of a card."""
    shoe.pull(card, arrives=False)
    shoe.rest(BETWEEN_MS)
    (told,) = host.next(schema.Card)
    return told


def unread(shoe: EmulatedShoe, name: str) -> PaperCard:
    """That card of the deck, its code torn off."""
    return replace(plain(name), tag=shoe.tag(name))


def faults(host: HostEnd) -> list[tuple[int, int]]:
    return [(event.code, event.detail) for event in host.events if isinstance(event, schema.Fault)]


def told(host: HostEnd, code: int) -> int:
    """The detail of the FAULT, when it is here."""
    host.wait_for(lambda: code in dict(faults(host)), f"FAULT {code}")
    return dict(faults(host))[code]


def magenta(shoe: EmulatedShoe) -> bool:
    return any(colour(pixel) == "magenta" for pixel in shoe.lights)


def test_cards_that_cannot_be_read_are_told_by_their_tags(shoe: EmulatedShoe, host: HostEnd) -> None:
    names = ("As", "Kd", "7c", "2h")
    for name in names:
        card = draw(shoe, host, name)
        assert (schema.value(card.token), card.flags) == (card_number(name), 0)
    for name in reversed(names):
        card = draw(shoe, host, unread(shoe, name))
        assert (schema.value(card.token), card.flags) == (card_number(name), BY_TAG)
        assert (card.deck, card.way_up, card.erasures) == (0, schema.WAY_UNKNOWN, 0)
    stranger = draw(shoe, host, replace(plain("9s"), tag=9999))
    assert (stranger.token, stranger.flags) == (schema.TOKEN_UNREAD, schema.CARD_UNREAD)
    bare = draw(shoe, host, plain("9s"))
    assert (bare.token, bare.flags) == (schema.TOKEN_UNREAD, schema.CARD_UNREAD)
    assert faults(host) == []


def test_the_dealer_is_shown_that_the_shoe_doubts_a_card_told_by_its_tag(shoe: EmulatedShoe, host: HostEnd) -> None:
    draw(shoe, host, "As")
    assert not magenta(shoe)
    before = len(shoe.shown)
    draw(shoe, host, unread(shoe, "As"))
    lights = [shown.data for shown in list(shoe.shown)[before:] if shown.output.name == "BITS"]
    assert any(colour((d[2], d[1], d[3])) == "magenta" for d in lights)


def test_what_was_learned_outlives_the_power(shoe: EmulatedShoe, host: HostEnd) -> None:
    draw(shoe, host, "As")
    shoe.power_cycle()
    shoe.rest(500)
    card = draw(shoe, host, unread(shoe, "As"))
    assert (schema.value(card.token), card.flags) == (card_number("As"), BY_TAG)


def test_a_tag_that_contradicts_is_a_fault_and_the_code_counts(shoe: EmulatedShoe, host: HostEnd) -> None:
    draw(shoe, host, "As")
    card = draw(shoe, host, printed("Kd", tag=shoe.tag("As")))
    assert (schema.value(card.token), card.flags) == (card_number("Kd"), 0)
    assert told(host, schema.FAULT_TAG) == 3
    shoe.wait_for(lambda: magenta(shoe), "magenta: a fault")
    host.events.clear()
    card = draw(shoe, host, unread(shoe, "As"))
    assert (card.token, card.flags) == (schema.TOKEN_UNREAD, schema.CARD_UNREAD)  # which of the two has it?


def test_two_cards_of_which_the_heads_saw_one_are_a_fault(shoe: EmulatedShoe, host: HostEnd) -> None:
    """The second has no code, and lies so exactly below the first that no slot and no light tells: two tags do."""
    draw(shoe, host, "As")
    shoe.fail("light", "stuck at one card")
    shoe.deck.insert(0, unread(shoe, "Kd"))
    shoe.pull(printed("As", tag=shoe.tag("As")), double=True, arrives=False)
    shoe.rest(BETWEEN_MS)
    (card,) = host.next(schema.Card)
    assert card.flags & schema.CARD_DOUBLE or told(host, schema.FAULT_TAG) == 1
    assert not card.flags & BY_TAG


def test_a_sealed_table_stays_sealed(interpreter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card told by its tag has the token that it has when it is read, and no UID is on the line."""
    with (
        EmulatedShoe(pace="fast", interpreter=interpreter, variant="rfid", flash=tmp_path / "flash") as shoe,
        HostEnd(shoe.port) as host,
    ):
        line = bytearray()
        feed = shoe.line.feed

        def listen(from_host: bool, data: bytes, now: float) -> None:
            if not from_host:
                line.extend(data)
            feed(from_host, data, now)

        monkeypatch.setattr(shoe.line, "feed", listen)
        host.want(schema.Due(0, 1, schema.DUE_SEAT, 1, 1))
        host.next(schema.Commit)
        shoe.rest(300)
        serial = 0x5EA1ED
        read = draw(shoe, host, printed("As", tag=serial))
        tagged = draw(shoe, host, replace(plain("As"), tag=serial))
        other = draw(shoe, host, printed("Kd", tag=7))
        assert tagged.flags == BY_TAG
        assert bytes(tagged.token) == bytes(read.token) != bytes(other.token)
        assert schema.value(tagged.token) > 53
        uid = uid_of(serial)
        for piece in (uid[:4], uid[:3], uid[3:], uid[::-1][:4], uid[::-1][5:]):
            assert piece not in line
        memory = (tmp_path / "flash" / "fram.bin").read_bytes()
        assert memory[:0x5000].find(uid) == -1  # not in the journal; the table is behind it
        assert memory[0x5000:].find(uid) >= 0


def restless(shoe: EmulatedShoe, host: HostEnd) -> None:
    """A card is drawn until its tag is in the field, and goes back while it answers: each time at another moment of the
    10 ms from one request to the next, so some time in the middle of an answer."""
    for number in range(40):
        shoe.draw(62.0)
        shoe.rest(60)
        shoe.push_back(speed=0.1 + 0.02 * number)
        shoe.rest(BETWEEN_MS)
        if faults(host):
            break


# what is told while the shoe is on, and of the self-test at power-up
IN_USE: dict[str, tuple[int, set[int]]] = {
    "absent": (schema.FAULT_READER, {1}),
    "zeros": (schema.FAULT_READER, {1, 4}),
    "busy": (schema.FAULT_READER, {2}),
    "floats": (schema.FAULT_READER, {1, 2, 3, 4, 5}),
    "freezes": (schema.FAULT_READER, {3}),
    "restarts": (schema.FAULT_READER, {4}),
    "flips": (schema.FAULT_READER, {5}),
    "no E0": (schema.FAULT_READER, {5}),
    "no field": (schema.FAULT_READER, {6}),
    "tag at rest": (schema.FAULT_TAG, {2}),
}
AT_START = ("absent", "zeros", "busy", "no field")


def test_the_table_names_every_failure_and_the_page_has_every_line() -> None:
    assert set(IN_USE) == {how for _, how in READER_FAILURES}
    page = (ROOT / "hardware" / "faults.md").read_text()
    names = dict(schema.CODES["code"])
    for how, (code, _) in IN_USE.items():
        assert f"| reader | {how} | {names[code]} |" in page, how


@pytest.mark.parametrize("how", IN_USE)
def test_a_reader_that_fails_in_use_is_named_shown_and_makes_no_wrong_card(how: str) -> None:
    with EmulatedShoe(pace="fast", opened=True, variant="rfid") as shoe, HostEnd(shoe.port) as host:
        host.want(schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED))
        shoe.rest(300)
        draw(shoe, host, "As")
        draw(shoe, host, "Kd")
        shoe.fail("reader", how)
        if how == "no field":  # seen when the field is switched on: the reader's supply dips
            shoe.fail("reader", "restarts")
            shoe.rest(500)
            shoe.fail("reader", how)
        if how != "tag at rest":
            restless(shoe, host)
        shoe.rest(2_300)
        code, details = IN_USE[how]
        if how == "no field":
            host.wait_for(lambda: schema.FAULT_READER in dict(faults(host)), "FAULT READER")
        else:
            assert told(host, code) in details
        shoe.wait_for(lambda: magenta(shoe), "magenta: a fault")
        host.events.clear()
        for name in ("Qs", "As"):  # cards go on, by their codes
            card = draw(shoe, host, name)
            assert (schema.value(card.token), card.flags) == (card_number(name), 0)
        card = draw(shoe, host, unread(shoe, "Kd"))
        assert card.token == schema.TOKEN_UNREAD or schema.value(card.token) == card_number("Kd")


@pytest.mark.parametrize("how", AT_START)
def test_a_reader_that_has_failed_before_the_start_is_named_by_the_self_test_too(how: str) -> None:
    with (
        EmulatedShoe(pace="fast", opened=True, variant="rfid", failing={"reader": how}) as shoe,
        HostEnd(shoe.port) as host,
    ):
        shoe.rest(500)
        assert told(host, schema.FAULT_READER) in IN_USE[how][1]
        assert told(host, schema.FAULT_SELF_TEST) == 32768
        host.wait_for(lambda: any(isinstance(m, schema.SelfTest) for m in host.delivered), "SELF_TEST")
        card = draw(shoe, host, "As")
        assert schema.value(card.token) == card_number("As")


def test_the_self_test_has_the_reader_among_its_parts(shoe: EmulatedShoe, host: HostEnd) -> None:
    host.wait_for(lambda: any(isinstance(m, schema.SelfTest) for m in host.delivered), "SELF_TEST")
    (result,) = [m for m in host.delivered if isinstance(m, schema.SelfTest)]
    assert result.tested & 32768
    assert result.failed & ~2048 == 0  # never calibrated


def test_its_parts_are_those_of_its_variant() -> None:
    with pytest.raises(UserError, match=r"no part 'seats' can fail; the parts that can are .*reader"):
        EmulatedShoe(variant="rfid", failing={"seats": "bus shorted"})
    with pytest.raises(UserError, match="no part 'reader' can fail"):
        EmulatedShoe(failing={"reader": "busy"})


def test_emulate_deals_with_the_variant() -> None:
    """There are no seat nodes: nobody waits for one to see a card arrive."""
    lines = "hand seats=1-6 button=6\ncard 1\ncard 2\nfail reader busy\ncard 3\ncard 4\nlook\n"
    done = CliRunner().invoke(command, ["--variant", "rfid", "--pace", "fast", "--open"], input=lines)
    assert done.exit_code == 0, done.output
    assert "in the shoe 48 cards" in done.output


def test_emulate_has_the_variant() -> None:
    given = ["--variant", "rfid", "--pace", "fast", "--open"]
    done = CliRunner().invoke(command, given, input="fail reader tag at rest\nlook\nfail seats bus shorted\n")
    assert "in the shoe 52 cards" in done.output
    assert isinstance(done.exception, UserError)  # from a pipe a bad line ends it
    assert "no part 'seats' can fail" in done.exception.seen
