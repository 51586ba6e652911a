"""`rules list`, `show` and `test`: what people and programs read of packs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dealershoe.errors import UserError
from dealershoe.rules.command import command
from dealershoe.rules.conditions import Condition
from dealershoe.rules.remedy import VERBS
from dealershoe.rules.show import RULINGS, as_json, pages, step_in_words
from dealershoe.rules.show_words import in_words
from dealershoe.rules.stack import load_pack, shipped
from dealershoe.trial.scenarios import refuse_failing
from rules.shelf_house import House


def run(shelf: Path, *words: str) -> Result:
    return CliRunner().invoke(command, [*words, "--shelf", str(shelf)])


def test_a_condition_in_words() -> None:
    condition = Condition(
        "!first_betting_closed && !(actions >= 3 || actions >= most && chip_actions >= 1)", {"most": 2}
    )
    assert in_words(condition) == (
        "all of these:",
        "  - not: the first betting round is complete, or no more betting is possible",
        "  - none of these:",
        "      - voluntary actions in turn on the first betting round: 3 or more",
        "      - all of these:",
        "          - voluntary actions in turn on the first betting round: 2 (most) or more",
        "          - those of them that put chips in the pot: 1 or more",
    )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("street in ['turn', 'river']", "the street that the finding is about: turn or river"),
        ("3 > actions", "voluntary actions in turn on the first betting round: fewer than 3"),
        ("by != 'player'", "who turned the card up, sent it off the table or cut the deck: anything but player"),
        ("exposed_by_dealer + boxed_on_deal == 2",
         "downcards of this deal exposed by the dealer plus boxed cards met on the initial deal: 2"),
    ],
)  # fmt: skip
def test_a_comparison_in_words(source: str, said: str) -> None:
    assert in_words(Condition(source, {})) == (said,)


def test_every_step_reads_as_a_sentence_without_a_blank() -> None:
    for verb, entry in VERBS.items():
        for step in (verb, *(f"{verb} {operand}" for operand in entry.operands)):
            said = step_in_words(step)
            assert "{" not in said
            assert said[0].isupper()


@pytest.mark.parametrize("name", shipped())
def test_a_pack_shows_all_that_is_in_it(name: str) -> None:
    pack = load_pack(name)
    text = pages(pack)
    for rule in pack.rules:
        assert text.count(f"[{rule.id}]") == len(rule.findings)
        assert rule.cite in text
        assert rule.open.say in text
        assert RULINGS[rule.open.ruling] in text
        assert rule.when is None or f"[{rule.when.source}]" in text
    for window in pack.windows.values():
        assert f"[{window.source}]" in text
    shown = json.loads(json.dumps(as_json(pack)))
    assert [rule["id"] for rule in shown["rules"]] == [rule.id for rule in pack.rules]
    assert [rule["closed"] is not None for rule in shown["rules"]] == [bool(rule.window) for rule in pack.rules]


def test_versions_stand_side_by_side_with_what_comes_with_the_program(tmp_path: Path) -> None:
    house = House(tmp_path).opened()
    for version in ("1.9.0", "1.10.0"):
        house.install("room", version)
    listed = run(house.shelf.folder, "list", "--json")
    found = [json.loads(line) for line in listed.output.splitlines()]
    assert [(one["id"], one["version"]) for one in found if one["where"] == "shelf"] == [
        ("room", "1.9.0"),
        ("room", "1.10.0"),
    ]
    assert sorted(one["id"] for one in found if one["where"] == "program") == list(shipped())
    assert run(house.shelf.folder, "list").output.count("room@1.") == 2
    assert "(room 1.9.0)" in run(house.shelf.folder, "show", "room@1.9.0").output
    assert "(room 1.10.0)" in run(house.shelf.folder, "show", "room").output


FAILING = """[pack]
id = "mine"
version = "1.0.0"
title = "Mine"

[[rules]]
id = "mine-1"
finding = "boxed"
ruling = "misdeal"
remedy = ["redeal"]
cite = "1"
say = "Misdeal"

[[scenarios]]
name = "holds"
deal = '''
hand seats=1-6 button=6
card 1 boxed
expect misdeal rule=mine-1
'''

[[scenarios]]
name = "fails"
deal = '''
hand seats=1-6 button=6
card 1 boxed
expect replace
'''

[[scenarios]]
name = "cannot be"
deal = '''
hand seats=1-6 button=6
exposed #3
'''

[[scenarios]]
name = "proves nothing"
deal = "hand seats=1-6 button=6"

[[scenarios]]
name = "has no such pack below it"
stack = "self+nowhere"
deal = "expect due nothing"
"""


def test_a_scenario_that_fails_is_named_with_file_line_expected_and_got(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FAILING)
    tested = run(tmp_path / "shelf", "test", str(path))
    assert tested.exit_code == 1
    lines = tested.output.splitlines()
    assert lines[0] == "held    mine.toml:14: holds (1 expectations under self)"
    assert lines[1] == "failed  mine.toml:27: fails: expected `expect replace`, got `misdeal rule=mine-1 seat=1`"
    assert lines[2].startswith(
        "failed  mine.toml:34: cannot be: expected `a line that can be true`, got `mine.toml, line 34:"
    )
    assert lines[3].startswith("failed  mine.toml:37: proves nothing: ")
    assert lines[4].startswith("failed  mine.toml:41: has no such pack below it: expected `the stack self+nowhere`")
    assert lines[5] == "mine 1.0.0: 1 of 5 scenarios hold"
    as_lines = [json.loads(line) for line in run(tmp_path / "shelf", "test", str(path), "--json").output.splitlines()]
    assert [bool(one["failures"]) for one in as_lines] == [False, True, True, True, True]
    with pytest.raises(UserError, match=r"mine.toml:27: fails: .* of its own, and 3 more"):
        refuse_failing(load_pack(str(path)))


@pytest.mark.parametrize("name", shipped())
def test_shipped_packs_hold_scenarios_of_their_own(tmp_path: Path, name: str) -> None:
    assert load_pack(name).scenarios
    tested = run(tmp_path / "shelf", "test", name)
    assert tested.exit_code == 0, tested.output
