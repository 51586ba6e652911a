"""A deck that went through the shoe to its last card: 52 seen, or what is missing, double or foreign."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dealershoe.cli import commands
from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.entries import DeviceRow
from dealershoe.record.journal import Journal
from record.dealing import DEVICE, SHOE_JOURNAL, Table
from shoelink import schema


def passed(path: Path, cards: list[int], sealed: bool = False, reveal: bool = True, flags: int = 0) -> None:
    """Cards drawn through the shoe one after the other, between hands, until it is empty; the last has `flags`."""
    with Journal(path) as journal:
        journal.write([DeviceRow(SHOE_JOURNAL, b"boot", DEVICE, "1.2.0", bytes(16), 1, 5, bytes(4), 1)])
        table = Table(journal, 1, sealed=sealed)
        table.say("dealer push", who="dealer: Bo")
        table.say("hand seats=1-6 button=6")
        if sealed:
            table.commit_to()
        table.report(schema.Deck(table.desk.hand, bytes(4), schema.DECK_LOADED, 0, 52))
        for draw, card in enumerate(cards, 1):
            table.deck = [card]
            table.desk.passages.last = draw - 1
            table.pass_card(draw, flags if draw == len(cards) else 0)
        table.report(schema.Deck(table.desk.hand, bytes(4), schema.DECK_EMPTY, 0, 0))
        if sealed and reveal:
            table.say("award")
            table.reveal()
        table.commit()


def told(path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(commands, ["journal", "receipt", str(path), "--json", *options], catch_exceptions=False)
    (line,) = result.stdout.splitlines()
    return result.exit_code, json.loads(line)


@pytest.mark.parametrize("sealed", [False, True])
def test_a_whole_deck_has_a_receipt_with_shoe_dealer_and_a_place_in_the_chain(tmp_path: Path, sealed: bool) -> None:
    path = tmp_path / "journal"
    passed(path, list(range(52)), sealed)
    status, receipt = told(path)
    assert status == 0
    assert (receipt["verdict"], receipt["passed"], receipt["seen"], receipt["missing"]) == ("whole", 52, 52, 0)
    assert (receipt["serial"], receipt["model"], receipt["dealer"]) == ("SHOE0001", "firmware 1.2.0", "dealer: Bo")
    with Journal(path) as journal:
        assert journal._db.execute(
            "SELECT id, hex(chain) FROM facts WHERE seq = ?", (receipt["record"],)
        ).fetchone() == (receipt["last_fact"], receipt["chain"].upper())


@pytest.mark.parametrize("sealed", [False, True])
def test_a_missing_and_a_double_card_are_counted_and_named_only_when_asked(tmp_path: Path, sealed: bool) -> None:
    path = tmp_path / "journal"
    passed(path, [*range(51), 7], sealed)
    status, receipt = told(path)
    assert status == 1
    assert (receipt["verdict"], receipt["seen"], receipt["missing"], receipt["double"]) == ("wrong", 51, 1, 1)
    assert not re.search(r"\b[2-9TJQKA][cdhs]\b", json.dumps(receipt))
    _, named = told(path, "--open")
    assert (named["missing_cards"], named["double_cards"]) == (["As"], ["9c"])


def test_cards_of_a_hand_that_is_not_revealed_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    passed(path, list(range(52)), sealed=True, reveal=False)
    status, receipt = told(path, "--open")
    assert (status, receipt["verdict"], receipt["sealed"], receipt["missing"]) == (1, "not known", 52, 0)
    assert "missing_cards" not in receipt


@pytest.mark.parametrize("gone", [None, 17])
def test_a_deck_that_is_dealt_out_between_two_hands_is_a_deck_that_is_checked(tmp_path: Path, gone: int | None) -> None:
    """As the kit's own shoe does it, which has no sensor for its deck: known when the next hand reveals the secret."""
    path = tmp_path / "journal"
    with Journal(path) as journal:
        table = Table(journal, 1, sealed=True)
        table.say("dealer push", who="dealer: Bo")
        table.say("hand seats=1-6 button=6")
        table.commit_to()
        for _ in range(12):
            table.draw_due()
        table.say("award")
        table.deck = [card for card in range(52) if card != gone]
        for draw in range(13, 13 + len(table.deck)):
            table.pass_card(draw)
        table.commit()
        assert told(path)[1]["verdict"] == "not known"  # its secret is still the shoe's
        old = table.desk.hand
        table.say("hand next")
        table.report(schema.Reveal(old, table.secret))
        table.commit_to()
        for _ in range(12):
            table.draw_due()
        table.say("award")
        for draw in range(13, 18):  # a few cards that somebody wanted to see are no deck
            table.pass_card(draw)
        table.commit()
    status, receipt = told(path, "--open")
    assert receipt["dealer"] == "dealer: Bo"
    assert receipt["passed"] == receipt["seen"] == 52 - (gone is not None)
    assert (status, receipt["verdict"]) == ((0, "whole") if gone is None else (1, "wrong"))
    assert receipt["missing_cards"] == ([] if gone is None else [FIFTY_TWO[gone]])


def test_a_card_that_comes_twice_is_counted_while_its_hand_is_sealed(tmp_path: Path) -> None:
    """Its token comes twice; which card it is, nobody knows yet."""
    path = tmp_path / "journal"
    passed(path, [*range(52), 7], sealed=True, reveal=False)
    status, receipt = told(path, "--open")
    assert status == 1
    assert (receipt["verdict"], receipt["passed"], receipt["double"], receipt["sealed"]) == ("wrong", 53, 1, 53)
    assert receipt["missing"] == 0
    assert "double_cards" not in receipt


@pytest.mark.parametrize(
    ("flags", "name", "verdict"),
    [
        (schema.CARD_FOREIGN, "foreign", "wrong"),
        (schema.CARD_JOKER, "jokers", "wrong"),
        (schema.CARD_UNREAD, "unread", "not known"),
    ],
)
def test_a_foreign_card_a_joker_and_an_unread_one_are_counted(
    tmp_path: Path, flags: int, name: str, verdict: str
) -> None:
    path = tmp_path / "journal"
    passed(path, list(range(52)), flags=flags)
    status, receipt = told(path)
    assert (status, receipt[name], receipt["verdict"]) == (1, 1, verdict)


def test_too_few_cards_are_no_deck(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    passed(path, list(range(40)))
    status, receipt = told(path)
    assert (status, receipt["verdict"], receipt["missing"], receipt["passed"]) == (1, "wrong", 12, 40)
    printed = CliRunner().invoke(commands, ["journal", "receipt", str(path)]).stdout
    assert printed.startswith("deck: wrong\n")
    assert "  missing          12\n" in printed
