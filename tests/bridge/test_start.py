"""How a bridge begins: not under rules that do not hold what they promise; with the hand in play, under its own rules;
with the word that the shoe gave before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dealershoe.bridge.bridge import moment
from dealershoe.bridge.start import desk_from, open_bridge
from dealershoe.desk.desk import Desk
from dealershoe.desk.table_link import frame_of
from dealershoe.entries import EventRow
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.stack import load_stack
from shoelink import schema, tokens

HAND = "hand seats=1-6 button=6"
DEVICE = b"TESTSHOE"

PACK = """
[pack]
id = "broken"
version = "1.0.0"
title = "A pack whose scenario fails"

[[rules]]
id = "exposed"
finding = "exposed"
ruling = "play-on"
cite = "none"

[[scenarios]]
name = "expects what no rule says"
deal = '''
hand seats=1-3 button=3
card 1 exposed
expect misdeal
'''
"""


def test_a_pack_that_fails_its_own_scenario_is_refused(tmp_path: Path) -> None:
    pack = tmp_path / "broken.toml"
    pack.write_text(PACK)
    journal = tmp_path / "table.journal"
    with pytest.raises(UserError, match=r"broken\.toml:\d+: .*expected `expect misdeal`, got `play-on"):
        open_bridge("/dev/null", str(pack), journal, lambda _: None)
    assert not journal.exists()


class Table:
    """A desk at a journal, without a shoe: what it is told is written at once, and `open` is a start after a kill."""

    def __init__(self, folder: Path, rules: str) -> None:
        self.path, self.shelf = folder / "journal", Shelf(folder / "shelf")
        self.number = 0  # of the shoe's last report
        self.open(rules)

    def open(self, rules: str) -> None:
        with Journal(self.path) as journal:
            self.desk: Desk = desk_from(journal, load_stack(rules, self.shelf), self.shelf)
        self.desk.device = DEVICE
        self._keep()

    def say(self, line: str) -> None:
        self.desk.say(line, "stdin", 1, moment())
        self._keep()

    def report(self, message: Any) -> None:
        kind = schema.KIND_OF[type(message)]
        self.number += 1
        self.desk.report(message, frame_of(kind, schema.pack(message)), moment(), b"JRN1", self.number)
        self._keep()

    def _keep(self) -> None:
        with Journal(self.path) as journal:
            journal.write(self.desk.entries)
        self.desk.entries = []

    def kinds(self, hand: int) -> list[str]:
        """What the journal has of a hand."""
        with Journal(self.path) as journal:
            rows = journal.rows(EventRow)
        return [kind for _, of, _, kind, _ in rows if of == hand]


def test_a_hand_in_play_goes_on_under_its_own_rules_whatever_the_bridge_is_started_with(tmp_path: Path) -> None:
    table = Table(tmp_path, "tda-2024+house")
    table.say(HAND)
    table.open("roberts")
    assert table.desk.session.stack.name == "tda-2024+house"
    assert not table.desk.align_why
    table.say("award")
    table.say("hand next")
    assert table.desk.session.stack.name == "roberts"
    table.open("roberts")
    assert table.desk.session.stack.name == "roberts"


def test_the_word_that_the_shoe_gave_before_the_hand_in_play_counts_after_a_start(tmp_path: Path) -> None:
    """The secret of a hand comes when the next one has begun; the bridge was killed in between."""
    table = Table(tmp_path, "house")
    table.say(HAND)
    first, secret = table.desk.hand, bytes(range(16))
    table.report(schema.Commit(first, tokens.commitment(DEVICE, first, secret)))
    table.say("award")
    table.say("hand next")
    table.open("house")
    table.report(schema.Reveal(first, secret))
    assert table.kinds(first)[-1] == "Revealed"
