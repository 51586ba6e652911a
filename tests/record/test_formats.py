"""Export for other programs, and their hands as deals: PHH is held against PokerKit, which reads and plays it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from dealershoe.bench.dealer import Dealer
from dealershoe.bench.table import Table as BenchTable
from dealershoe.cli import commands
from dealershoe.deal.grammar import parse
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from dealershoe.judge.runner import run_script
from dealershoe.record.export_command import COLUMNS
from dealershoe.record.journal import Journal
from dealershoe.record.phh import as_deal, read_hands
from dealershoe.rules.ruling import STRENGTH
from dealershoe.rules.stack import load_stack
from pokerkit import HandHistory
from record.dealing import Table

HANDS = 12
ROOT = Path(__file__).parents[2]
CARD = re.compile(r"\b([2-9TJQKA][cdhs])+\b")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("formats") / "journal"
    with Journal(path) as kept:
        table = Table(kept, 5, accidents=0.6)
        for _ in range(HANDS):
            table.hand()
        table.say("hand seats=1-6 button=6")
        for _ in range(12):
            table.draw_due()
        for act in ("3 raise", "4 call", "5 fold", "6 fold", "1 raise", "2 fold", "3 call", "4 fold"):
            assert table.say(f"act {act}")
        table.say("betting complete")
        for _ in range(4):
            table.draw_due()
        for act in ("1 bet", "3 fold"):
            assert table.say(f"act {act}")
        table.say("betting complete")
        table.say("award")
        table.commit()
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands, ["journal", *map(str, arguments)], catch_exceptions=False)


def exported(journal: Path, *options: str) -> str:
    result = run("export", journal, *options)
    assert result.exit_code == 0
    return result.stdout


def test_json_lines_and_csv_say_the_same(journal: Path) -> None:
    lines = [json.loads(line) for line in exported(journal).splitlines()]
    rows = list(csv.DictReader(io.StringIO(exported(journal, "--format", "csv"))))
    assert len(lines) == len(rows) > HANDS * 20
    for line, row in zip(lines, rows, strict=True):
        assert {name: str(value) for name, value in line.items()} == {
            name: value for name, value in row.items() if value
        }
    assert {line["hand_fact"] for line in lines if line["kind"] == "ruling"}


def test_every_column_is_documented_in_its_order_and_is_what_the_document_says(journal: Path) -> None:
    document = (ROOT / "docs" / "record.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", document.partition("| column |")[2], re.MULTILINE)
    assert rows == list(COLUMNS.items())
    header, *_ = csv.reader(io.StringIO(exported(journal, "--format", "csv")))
    assert header == list(COLUMNS)
    whole, card, word = r"[1-9]\d*", r"[2-9TJQKA][cdhs]", r"[a-z0-9-]+"
    looks = {
        "hand_fact": whole, "hand": whole, "began": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "seconds": r"\d+(\.\d{1,6})?",
        "fact": whole, "who": r"shoe|bridge|\w+ \(.+\)", "kind": r"[A-Za-z]+", "draw": whole, "seat": r"[1-9]|1[01]",
        "card": card, "ruling": "|".join(STRENGTH), "rule": word, "cite": ".+", "layer": word, "version": r"[\d.]+",
        "decider": "dealer|floor", "text": ".+",
    }  # fmt: skip
    assert list(looks) == list(COLUMNS)
    seen = set()
    for line in map(json.loads, exported(journal, "--open").splitlines()):
        for name, value in line.items():
            assert re.fullmatch(looks[name], str(value)), (name, value)
            seen.add(name)
    assert seen == set(COLUMNS)


def test_no_card_is_named_unless_asked(journal: Path) -> None:
    for form in ("jsonl", "csv", "phh"):
        closed = exported(journal, "--format", form)
        assert CARD.search(closed) is None
        assert CARD.search(exported(journal, "--format", form, "--open")) is not None


def hands(text: str) -> list[Any]:
    return list(HandHistory.loads_all(text))


def test_pokerkit_reads_every_hand_and_plays_it_to_its_end(journal: Path) -> None:
    found = hands(exported(journal, "--format", "phh", "--open"))
    assert len(found) == HANDS + 1
    dealt = 0
    for hand in found:
        states = list(hand)
        dealt += bool(states[-1].board_cards)
        assert hand.user_defined_fields["_chips"].startswith("not on record")
    assert dealt > HANDS / 2
    ruled = [hand for hand in found if hand.user_defined_fields["_rulings"]]
    assert ruled
    assert all(hand.user_defined_fields["_irregularities"] for hand in ruled)


def test_each_hand_alone_is_a_file_that_pokerkit_loads(journal: Path) -> None:
    for one in re.split(r"^\[\d+\]\n", exported(journal, "--format", "phh"), flags=re.MULTILINE)[1:]:
        assert HandHistory.loads(one).variant == "NT"


def test_acts_that_were_told_are_in_it_and_the_rest_says_that_nobody_told_it(journal: Path) -> None:
    hand = hands(exported(journal, "--format", "phh"))[-1]
    acts = [action for action in hand.actions if not action.startswith("d ")]
    words = [action.split("#")[0].strip() for action in acts]
    assert words == [
        "p3 cbr 4", "p4 cc", "p5 f", "p6 f", "p1 cbr 6", "p2 f", "p3 cc", "p4 f", "p1 cbr 2", "p3 f",
    ]  # fmt: skip
    assert [action for action in acts if "not on record" in action] == [one for one in acts if " cbr " in one]
    assert list(hand)[-1].status is False  # the last but one has folded: PokerKit sees that it is over


PLURIBUS = """
variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [10000, 10000, 10000]
actions = ['d dh p1 5h7d', 'd dh p2 Qh9c', 'd dh p3 AcKd', 'p3 cbr 250', 'p1 f', 'p2 cc # hm', 'd db 4sKc2d', 'p2 cc',
  'p3 cbr 300', 'p2 cc', 'd db 8s', 'p2 cc', 'p3 cc', 'd db 5s', 'p2 cc', 'p3 cc', 'p2 sm Qh9c', 'p3 sm AcKd']
seats = [4, 6, 2]
"""


def test_a_hand_of_others_becomes_a_deal_that_the_table_takes() -> None:
    (hand,) = read_hands(PLURIBUS, "x.phh")
    script = as_deal(hand, "x.phh, hand 1")
    assert script.splitlines()[1:12] == [
        "hand seats=2,4,6 button=2",
        "card 4 5h", "card 6 Qh", "card 2 Ac", "card 4 7d", "card 6 9c", "card 2 Kd",
        "act 2 raise", "act 4 fold", "act 6 call", "betting complete",
    ]  # fmt: skip
    assert "act 6 check\nact 2 bet\nact 6 call\nbetting complete\ncard burn\ncard board 8s\n" in script
    report = run_script("x", parse(script, "x"), load_stack("tda-2024+house"))
    assert report.rulings == []
    assert report.draws == 6 + 8


# Shapes as in the public data set of hands (arXiv 2312.11753): antes, cards that only the showdown tells or nobody,
# two players with the blinds the other way round, a run-out after all are in, a straddle, a dead small blind.
SHAPES = """
[1]
variant = 'NT'
ante_trimming_status = false
antes = [2.50, 2.50, 2.50]
blinds_or_straddles = [5, 10, 0]
min_bet = 10
starting_stacks = [1492.50, 107.40, 1960]
actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', 'p3 cbr 1960', 'p1 f', 'p2 cc', 'd db Kc7s4h', 'd db 6s',
  'd db 9d', 'p2 sm AhAc', 'p3 sm ????']
seats = [2, 6, 9]
[2]
variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [5, 10]
min_bet = 10
starting_stacks = [1000, 1000]
actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cc', 'p1 cbr 30', 'p2 cc', 'd db 8d4d5d', 'p1 cbr 45', 'p2 cbr 90',
  'p1 f', 'p2 sm -']
seats = [6, 4]
[3]
variant = 'FT'
antes = [0, 0, 0, 0]
blinds_or_straddles = [0, 2, 4, 0]
small_bet = 2
big_bet = 4
starting_stacks = [100, 100, 100, 100]
actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', 'd dh p4 ????', 'p4 cc', 'p1 f', 'p2 cc', 'p3 cc',
  'd db 8d4d5d', 'p2 cc', 'p3 cc', 'p4 cc']
[4]
variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
min_bet = 2
starting_stacks = [100, 100, 100]
actions = ['d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', 'p3 f', 'p1 f']
"""


def test_hands_of_the_shapes_of_the_public_set_are_dealt_without_a_ruling() -> None:
    hands = read_hands(SHAPES, "set.phhs")
    scripts = [as_deal(hand, "set.phhs") for hand in hands]
    assert "card 6 Ah" in scripts[0]  # what was shown down was dealt
    assert [script.count("card board") for script in scripts] == [5, 3, 3, 0]
    assert "act 4 call\nact 6 raise" in scripts[1]
    for script in scripts:
        report = run_script("set", parse(script, "set"), load_stack("tda-2024+house"))
        assert report.rulings == []


def test_a_hand_of_the_public_set_is_dealt_by_the_shoe(tmp_path: Path) -> None:
    """Through the real firmware: the cards that were told leave the shoe where they went."""
    script = as_deal(read_hands(SHAPES, "set.phhs")[0], "set.phhs")
    with (
        EmulatedShoe(pace="fast", opened=True) as shoe,
        BenchTable(shoe.port, "tda-2024+house", tmp_path, True) as table,
    ):
        Dealer(shoe, "tda-2024+house", table.ask, hosted=True).play(script)
        shoe.quiet(hosted=True)
        table.wait_for(lambda: table.snapshot().hand_over, "the pot to be pushed")
        assert table.snapshot().rulings == ()
    told = exported(table.journal, "--open")
    assert "Ah" in told
    assert [one for one in ("Kc", "7s", "4h", "6s", "9d") if f'"card": "{one}"' not in told] == []


@pytest.mark.parametrize("players", [2, 3, 6, 9])
def test_hands_that_pokerkit_plays_are_dealt_without_a_ruling(players: int) -> None:
    """PokerKit deals and plays; its file becomes a script; nothing is wrong with it by any book."""
    from pokerkit import Automation, NoLimitTexasHoldem

    game = NoLimitTexasHoldem(tuple(Automation), True, 0, (1, 2), 2)
    state: Any = game(200, players)
    turn = 0
    while state.status:
        turn += 1
        if turn % 5 == 0 and state.can_complete_bet_or_raise_to():
            state.complete_bet_or_raise_to()
        else:
            state.check_or_call()
    (hand,) = read_hands(HandHistory.from_game_state(game, state).dumps(), "kit")
    report = run_script("kit", parse(as_deal(hand, "kit"), "kit"), load_stack("tda-2024+house"))
    assert report.rulings == []
    assert report.draws == 2 * players + 8


def test_what_goes_out_comes_back_as_the_same_cards(journal: Path, tmp_path: Path) -> None:
    out = tmp_path / "hands.phhs"
    exported(journal, "--format", "phh", "--open", "--out", str(out))
    result = run("import", out)
    assert result.exit_code == 0
    scripts = re.split(r"^# hands\.phhs, hand \d+\n", result.stdout, flags=re.MULTILINE)[1:]
    assert len(scripts) == HANDS + 1
    for script, hand in zip(scripts, hands(out.read_text()), strict=True):
        board = "".join(action.split()[2] for action in hand.actions if action.startswith("d db"))
        assert board == "".join(re.findall(r"^card board (..)$", script, flags=re.MULTILINE))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("this is no TOML", "is no PHH file"),
        ("a = 1", "has no hand"),
    ],
)
def test_a_file_of_something_else_gets_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_hands(text, "x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("'NT'", "'PO'"), "this shoe deals hold'em"),
        (("5h7d", "5h7x"), "cannot be dealt"),
        (("d db 8s", "d db 8s9s"), "cannot be dealt"),
        (("p3 cbr 250", "p9 cbr 250"), "cannot be dealt"),
        (("starting_stacks", "stacks"), "cannot be dealt"),
        (("'p1 f'", "7"), "cannot be dealt"),
        (("p2 cc # hm", "p2 jumps"), "cannot be dealt"),
    ],
)
def test_a_hand_that_cannot_be_dealt_gets_a_sentence(change: tuple[str, str], said: str) -> None:
    (hand,) = read_hands(PLURIBUS.replace(*change), "x")
    with pytest.raises(UserError, match=said):
        as_deal(hand, "x")


def test_an_export_is_never_written_over_a_file(journal: Path, tmp_path: Path) -> None:
    out = tmp_path / "there"
    out.write_text("mine")
    with pytest.raises(UserError, match="is there already"):
        run("export", journal, "--out", out)
    assert out.read_text() == "mine"
