"""A deck drawn through the shoe is counted card by card: the counting, and the command at the real firmware."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, cast

import pytest
from click.testing import CliRunner
from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.deck.check import NO_CARD, Deck, Round, sentences
from dealershoe.deck.check_command import Shoe, of_a_game
from dealershoe.deck.command import command
from dealershoe.emulate.mechanics import printed
from dealershoe.emulate.process import micropython
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from dealershoe.port.port import Port
from hil.hostend import HostEnd
from hypothesis import given
from hypothesis import strategies as st
from shoelink import notice, schema, tokens

SECRET = bytes(range(16))
NAMES = tokens.tokens(SECRET)
NEEDS = pytest.mark.skipif(micropython() is None, reason="no MicroPython for this platform")


def card(
    name: str, draw: int = 1, *, deck: int = 0, flags: int = 0, way: int = schema.WAY_DOWN, erasures: int = 0
) -> Any:
    number = card_number(name) if name else -1
    token = NAMES[4 * number : 4 * number + 4] if name else bytes(schema.TOKEN_UNREAD)
    if not name and not flags & schema.CARD_FOREIGN:
        flags |= schema.CARD_UNREAD
    return schema.Card(7, draw, bytes(4), token, deck, way, 0, 0, 0, flags, 900, erasures)


def drawn(cards: Sequence[Any]) -> Round:
    one = Round()
    for message in [*cards, schema.Reveal(7, SECRET)]:
        one.heard(message)
    return one


def found(*rounds: Sequence[Any]) -> Deck:
    deck = Deck()
    for cards in rounds:
        deck.add(drawn(cards))
    return deck


WHOLE = [card(name) for name in FIFTY_TWO]


@given(st.permutations(WHOLE))
def test_fifty_two_different_cards_in_any_order_are_whole(cards: list[Any]) -> None:
    assert found(cards).verdict == "whole"


@given(st.integers(0, 51), st.integers(0, 51))
def test_a_card_instead_of_another_is_one_missing_and_one_double(out: int, instead: int) -> None:
    cards = WHOLE.copy()
    cards[out] = WHOLE[instead]
    deck = found(cards)
    if out == instead:
        assert deck.verdict == "whole"
    else:
        assert deck.verdict == "wrong"
        assert (dict(deck.missing), dict(deck.double)) == ({FIFTY_TWO[out]: 1}, {FIFTY_TWO[instead]: 1})


@pytest.mark.parametrize(
    ("other", "verdict", "says"),
    [
        (card(""), "not known", "not read: 1, card 4"),
        (card("5c", flags=schema.CARD_DOUBLE), "not known", "two drawn as one: card 4"),
        (card("joker", flags=schema.CARD_JOKER), "wrong", "not of a deck of 52: 1: joker"),
        (card("", flags=schema.CARD_FOREIGN), "wrong", f"not of a deck of 52: 1: {NO_CARD}"),
        (card("5c", deck=2), "wrong", "of another deck: 1: 5c"),
        (card("5c", way=schema.WAY_UP), "whole", "face up in the deck: 1"),
        (card("5c", erasures=1), "whole", "read with a cell put right: 1: 5c"),
    ],
)
def test_what_can_be_wrong_with_a_card_is_said(other: Any, verdict: str, says: str) -> None:
    deck = found([*WHOLE[:3], other, *WHOLE[4:]])
    assert deck.verdict == verdict
    told = sentences(deck, with_cards=True)
    assert says in told
    assert told[-1] == f"the deck is {verdict}"


def test_one_card_less_and_one_more_are_wrong() -> None:
    assert found(WHOLE[:-1]).verdict == "wrong"
    assert found([*WHOLE, WHOLE[9]]).verdict == "wrong"
    assert found([*WHOLE, card("")]).verdict == "not known"
    assert found([]).verdict == "wrong"
    assert Deck().verdict == "wrong"


def test_over_three_rounds_a_weak_strip_shows() -> None:
    weak = [*WHOLE[:51], card("As", erasures=1)]
    blind = [*WHOLE[:51], card("")]
    deck = found(weak, WHOLE, blind)
    assert (deck.read["As"], deck.weak["As"], deck.missing["As"], deck.read["2c"]) == (2, 1, 1, 3)
    told = sentences(deck, with_cards=True)
    assert "read with a cell put right: 1: As (1x)" in told
    assert "not read: 1, card 52 of round 3" in told
    assert deck.verdict == "not known"


def test_no_card_is_named_unless_it_is_asked_for() -> None:
    deck = found([card("7h"), card("7h"), card("Ks", deck=1), card("5c", erasures=1), *WHOLE[7:]])
    told = " ".join(sentences(deck, with_cards=False))
    assert not any(name in told for name in FIFTY_TWO)
    assert "missing: 6 " in f"{told} "
    assert "more than once: 1" in told


def test_a_card_told_by_its_tag_was_not_read_as_far_as_its_code_goes() -> None:
    deck = Deck()
    deck.add(drawn([card("7h", 1), card("8h", 2, flags=schema.CARD_BY_TAG, way=schema.WAY_UNKNOWN)]))
    assert deck.unread == [(1, 2)]


def test_a_card_that_goes_back_is_not_counted_twice() -> None:
    one = Round()
    for message in (card("7h", 1), card("8h", 2), schema.CardBack(7, 2, bytes(4), 635), card("8h", 2)):
        one.heard(message)
    assert one.passed == 2


def test_a_token_without_its_secret_is_not_known() -> None:
    deck = Deck()
    one = Round()
    one.heard(card("7h"))
    deck.add(one)
    assert deck.unread == [(1, 1)]


# ---- the command, at the firmware on real MicroPython


def checked(shoe: EmulatedShoe, arguments: list[str], draw: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    """Run the command; once it asks for the deck, draw."""
    command_line = [sys.executable, "-c", "from dealershoe.cli import main; main()"]
    command_line += ["deck", "check", "--port", shoe.port, "--any-shoe", *arguments]
    with subprocess.Popen(command_line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        asked = running.stderr if "--json" in arguments else running.stdout
        assert asked is not None
        try:
            while "draw the deck" in (line := asked.readline()):
                draw()
                shoe.press("done")
                if line.split()[-1] == line.split()[-3].rstrip(","):
                    break
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
        return subprocess.CompletedProcess(command_line, running.returncode, out, err)


@NEEDS
def test_at_a_sealed_shoe_the_deck_is_named_after_it_was_drawn() -> None:
    names = list(FIFTY_TWO)
    random.Random(8).shuffle(names)
    wrong = ["As" if name == "7h" else name for name in names]
    clean = [printed(name) for name in wrong]
    torn = [card.with_strips(card.ends[0].torn(20.0, 30.0)) if card.name == "2c" else card for card in clean]
    decks = [torn, clean]
    with EmulatedShoe(pace="fast") as shoe:

        def draw() -> None:
            for paper in decks.pop(0):
                shoe.pull(paper)

        done = checked(shoe, ["--times", "2", "--open", "--json"], draw)
        assert done.returncode == 1, done.stderr
        said = json.loads(done.stdout)
        assert said["passed"] == [52, 52]
        assert said["verdict"] == "wrong"
        assert said["double"] == {"As": 2}
        assert said["missing"] == {"7h": 2, "2c": 1}
        assert [number for number, _ in said["unread"]] == [1]
        assert (said["read"]["As"], said["read"]["Kd"]) == (4, 2)
        with HostEnd(shoe.port) as host:  # nothing of it waits for a bridge
            hello = host.greetings[-1].hello
            host.wait_for(lambda: len(host.events) >= hello.next - hello.oldest, "what the shoe still had")
            assert not [told for told in host.events if of_a_game(told)]


@pytest.mark.parametrize(("draw", "taken"), [(0, True), (3, False)])
def test_a_seat_node_that_saw_a_card_of_no_draw_speaks_of_no_game(draw: int, taken: bool) -> None:
    """A card of a check that was cut short comes to lie on a seat after the check has gone."""
    shoe = Shoe(cast(Port, None), None)
    hello = schema.Hello(1, 0, bytes(4), b"jrnl", b"boot", 1, 1, 3, 256, bytes(4), bytes(4))
    shoe._heed(notice.Greeting(hello, schema.Ident(bytes(8), bytes(12), bytes(16))))
    told = notice.Recorded(1, schema.SEAT, schema.Seat(7, draw, bytes(4), 3, 0, 100), b"")
    with nullcontext() if taken else pytest.raises(UserError, match="reports of a game"):
        shoe._heed(told)


@NEEDS
def test_reports_of_a_game_are_not_taken_from_the_bridge() -> None:
    with EmulatedShoe(pace="fast") as shoe:
        shoe.pull("As")
        done = CliRunner().invoke(command, ["check", "--port", shoe.port, "--any-shoe"], catch_exceptions=True)
        assert done.exit_code == 1
        assert "reports of a game" in str(done.exception)
        with HostEnd(shoe.port) as host:
            host.next(schema.Card)
