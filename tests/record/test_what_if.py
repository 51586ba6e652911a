"""Twelve recorded hands judged again by other rules, against what the books say: derived from the clauses by hand.

Recorded under the TDA's rules with the house's below them, asked of Robert's. `then` and `now` are what the clauses
named beside them ask for; none of it was taken from what the program printed. Six seats, button at seat 6: cards 1 to
12 are the players', 13 is the burn, 14 to 16 are the flop, 17 the next burn, 18 the turn.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from dealershoe.cli import commands
from dealershoe.deal.grammar import parse_line
from dealershoe.entries import RulingRow
from dealershoe.events import Draw
from dealershoe.record.journal import Journal
from dealershoe.record.read import between, hands_between, opened
from dealershoe.rules.signing import new_key
from dealershoe.rules.stack import load_stack
from record.dealing import Table


class Ruled(NamedTuple):
    """A ruling: its kind, words of the clause, and how its steps go, in order (regular expressions, case aside)."""

    ruling: str
    clause: str
    steps: tuple[str, ...] = ()


class Case(NamedTuple):
    """What happens in a hand, and what two books make of it; `now` None: the same as then."""

    name: str
    deal: str
    then: Ruled
    now: Ruled | None


FLOOR = Ruled("floor", "^$")  # no clause of either book in force: the floor is called
MISDEAL_STEPS = ("every card", "shuffle", "deal again")
CASES = (
    Case(
        "two folds, then a hand at a seat that should have none",
        "deal 12\nact 3 fold\nact 4 fold\nreport not-entitled seat=5",
        # TDA 36: two folds are no substantial action (two actions need chips, else it takes three); 35-A-3: misdeal
        Ruled("misdeal", "35-A-3", MISDEAL_STEPS),
        # Robert's, misdeals 1: two players have acted after the blinds, so it is played; 2(i) would be the misdeal
        Ruled("play-on", r"2\(i\)"),
    ),
    Case(
        "a thirteenth card to seat 1",
        "deal 12\ncard 1",
        # TDA 35-A-5: the wrong number of cards to any player: misdeal
        Ruled("misdeal", "35-A-5", MISDEAL_STEPS),
        # Robert's, irregularities 11 and hold'em 2: it comes back and is the burn
        Ruled("correct", "irregularities 11", ("back", "burn")),
    ),
    Case(
        "the turn before the flop's betting is complete",
        "deal 12\nbetting complete\ndeal 4\ncard burn\ncard board",
        # TDA RP-5-B: it goes back at once, after the betting the stub is shuffled, the turn is dealt without a burn
        Ruled("correct", "RP-5", ("return", "betting", "shuffle", "cut", "turn")),
        # Robert's: set aside, betting, burn, the river's card is the turn, betting, back, shuffle, river without a burn
        Ruled(
            "correct",
            "premature turn",
            ("aside", "betting", "burn", "turn", "betting", "return", "shuffle", "cut", "do not burn", "river"),
        ),
    ),
    Case(
        "four cards on the flop",
        "deal 12\nbetting complete\ndeal 4\ncard board",
        # TDA 39-A: scrambled, the floor picks one at random, it is the next burn
        Ruled("correct", "39-A", ("scramble", "random", "burn")),
        # Robert's, hold'em 3: all go back, shuffle, cut, a new flop; the burn stays
        Ruled("correct", "hold'em 3", ("return", "shuffle", "cut", "flop")),
    ),
    Case(
        "no burn before the flop, nobody has acted on it",
        "deal 12\nbetting complete\ncard board\ncard board\ncard board",
        # TDA 39-B: one of the three at random is the burn, and the next card of the stub completes the flop
        Ruled("correct", "39-B", ("scramble", "random", "burn", "flop")),
        # Robert's, hold'em 4: the flop is shown, so the deck is shuffled again; then a burn and a flop
        Ruled("correct", "hold'em 4", ("return", "shuffle", "cut", "burn", "flop")),
    ),
    Case(
        "no burn before the turn, nobody has acted on it",
        "deal 12\nbetting complete\ndeal 4\nbetting complete\ncard board",
        # TDA 39-B is about the flop alone, the house says nothing
        FLOOR,
        # Robert's, hold'em 4: the card shown is the burn, the next one is the turn
        Ruled("correct", "hold'em 4", ("burn", "turn")),
    ),
    Case(
        "the fifth card of the deal is a joker",
        "deal 4\ncard 5 joker",
        # TDA 35-A-6: found before substantial action: misdeal
        Ruled("misdeal", "35-A-6", MISDEAL_STEPS),
        # Robert's, irregularities 8: no misdeal, it is replaced as a boxed card is: by the next card
        Ruled("replace", "irregularities 8", ("out of play", "next")),
    ),
    Case(
        "the fifth card goes to seat 6",
        "deal 4\ncard 6",
        # TDA 35-A lists only the first card of the deal at a wrong seat; the house lists none before action begins
        FLOOR,
        # Robert's, misdeals 2(f): a card out of the proper sequence
        Ruled("misdeal", r"2\(f\)", MISDEAL_STEPS),
    ),
    Case(
        "the fourth card is face up in the shoe",
        "deal 3\ncard 4 boxed",
        # TDA 35-A-1 wants two of them, the house says nothing
        FLOOR,
        # Robert's, irregularities 7: a scrap of paper, the next card below takes its place
        Ruled("replace", "irregularities 7", ("out of play", "next")),
    ),
    Case(
        "the button has one card, after a fold and a call",
        "deal 12\nact 3 fold\nact 4 call\nreport count seat=6 cards=1",
        # TDA 37: the button's missing card may be dealt even after substantial action, if it has not acted
        Ruled("correct", "37", ("next card",)),
        # Robert's, misdeals 1 and 2(e): two have acted, the deal is played; a hand of the wrong number is dead
        Ruled("dead", r"2\(e\)", ("dead",)),
    ),
    Case(
        "the first card is turned up by the dealer",
        "card 1 exposed",
        # TDA 35-A-7 and Robert's, misdeals 2(a): misdeal in both
        Ruled("misdeal", "35-A-7", MISDEAL_STEPS),
        None,
    ),
    Case(
        "the third card is turned up by the dealer",
        "deal 2\ncard 3 exposed\ndeal 10",
        # TDA says nothing of a single one; house and Robert's, hold'em 1: the next card, the exposed one is the burn
        Ruled("replace", "house, misdeals: any other hole card", ("deal", "next", "burn", "burn")),
        None,
    ),
)


def played(table: Table, deal: str) -> None:
    """One hand, by the lines of deal scripts."""
    table.shuffle()
    table.say("hand seats=1-6 button=6")
    for text in deal.splitlines():
        parsed = parse_line(text, 1, "here")
        assert parsed is not None
        if text.startswith("deal "):
            for _ in range(int(text.split()[1])):
                table.draw_due()
        elif isinstance(parsed.item, Draw):
            table.draw(parsed.item)
        else:
            assert table.say(text), text
    table.say("award")
    table.commit()


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("what-if") / "journal"
    with Journal(path, new_key()) as kept:
        table = Table(kept, 9, load_stack("tda-2024+house"), sealed=True)
        for case in CASES:
            played(table, case.deal)
    return path


def replayed(path: Path, *options: str) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    """What `journal replay` prints: exit status, a line a hand, the summary."""
    result = CliRunner().invoke(commands, ["journal", "replay", str(path), "--json", *options], catch_exceptions=False)
    *hands, summary = map(json.loads, result.stdout.splitlines())
    return result.exit_code, hands, summary


def holds(said: dict[str, Any], ruled: Ruled) -> None:
    """A ruling is what the clause asks for."""
    steps = json.loads(said["remedy"])
    assert said["ruling"] == ruled.ruling, said
    assert re.search(ruled.clause, said["cite"]), said
    at = 0
    text = "\n".join(steps)
    for step in ruled.steps:
        found = re.compile(step, re.IGNORECASE).search(text, at)
        assert found, f"{step} is not in {text[at:]!r} of {steps}"
        at = found.end()


def test_each_hand_was_ruled_on_as_its_clause_says(journal: Path) -> None:
    with opened(journal) as db:
        spans = list(hands_between(db))
        rulings = [next(between(db, RulingRow, span.row.fact, span.end)) for span in spans]
    assert len(rulings) == len(CASES)
    for ruling, case in zip(rulings, CASES, strict=True):
        holds(asdict(ruling), case.then)


def test_ten_hands_are_ruled_otherwise_as_the_clauses_say_and_two_are_not(journal: Path) -> None:
    status, hands, summary = replayed(journal, "--rules", "roberts")
    assert (status, summary["hands"], summary["different"], summary["not_judged"]) == (1, len(CASES), 10, 0)
    begun = replayed(journal, "--rules", "tda-2024+house")
    assert begun[0] == 0  # the rules that it was recorded under change nothing
    differing = [case for case in CASES if case.now is not None]
    assert len(hands) == len(differing) == 10
    for said, case in zip(hands, differing, strict=True):
        assert case.now is not None
        holds(said["then"], case.then)
        holds(said["now"], case.now)
        assert said["now"]["layer"] == "roberts"
