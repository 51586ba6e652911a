"""`rules lint`: what it says of packs, and that what it takes for impossible never happens at a table."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dealershoe.deal.grammar import header_stacks, parse
from dealershoe.errors import UserError
from dealershoe.judge.runner import run_script
from dealershoe.rules import judge
from dealershoe.rules import lint as linting
from dealershoe.rules.command import command
from dealershoe.rules.conditions import Condition
from dealershoe.rules.expression import ConditionError
from dealershoe.rules.lint import lint
from dealershoe.rules.lint_remedies import CARDLESS, DEALING, SEATLESS
from dealershoe.rules.lint_space import BONDS, OF_KIND, RANGES, TEXTS, Budget, TooWideError, assignments
from dealershoe.rules.stack import SHIPPED, load_stack
from dealershoe.table.findings import FACTS, KINDS, PLAIN, Facts, Finding, Reading, facts
from dealershoe.table.state import HandState
from hypothesis import given
from hypothesis import strategies as st
from rules.test_packs_steps import OPENINGS, stack

HEAD = '[pack]\nid = "mine"\nversion = "1.0.0"\ntitle = "Mine"\n'
DEALS = sorted((Path(__file__).parent / "deals").glob("*.deal"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def remarks(place: Path, body: str, *levels: str) -> list[str]:
    place.write_text(HEAD + body, encoding="utf-8")
    return [f"{r.line}: {r.text}" for r in lint(place) if r.level in (levels or ("problem", "warning"))]


def rule(rule_id: str, finding: str, **values: object) -> str:
    """A rule of a pack; the values of a sound one where none are given."""
    given_values = {"ruling": "floor", "cite": "1", "say": "Ask"} | values
    lines = [f"{key} = {json.dumps(value)}" for key, value in given_values.items()]
    return "\n".join(["[[rules]]", f'id = "{rule_id}"', f'finding = "{finding}"', *lines, ""])


def test_a_rule_that_no_facts_can_satisfy(place: Path) -> None:
    said = remarks(place, rule("a", "exposed", when="position < 2 && position > 3"))
    assert said == ["11: rule `a` can never match: no facts make its `when` true"]


def test_a_window_that_cannot_be_read_is_the_problem_not_its_rules(place: Path) -> None:
    said = remarks(place, '[windows]\nlate = "actions / 0 > 1"\n' + rule("a", "exposed", window="late"), "problem")
    assert said == ["6: window `late`: `/` needs a plain number other than 0 on its right"]


@pytest.mark.parametrize(
    ("finding", "when"),
    [
        ("premature-turn", "street == 'flop'"),  # the kind says on which street it is
        ("exposed", "game == 'holdem' && street == 'third'"),
        ("exposed", "heads_up && players > 2"),
        ("short", "chip_actions > actions"),
        ("short", "players_acted == 2 && actions < 2"),
        ("boxed", "boxed_cards == 0"),
        ("exposed", "seat == 12"),
        ("short", "pot_awarded && !first_betting_closed"),
    ],
)
def test_what_a_table_cannot_show_is_never_matched(place: Path, finding: str, when: str) -> None:
    assert len(remarks(place, rule("a", finding, when=when), "problem")) == 1


def test_a_fact_compared_with_a_text_that_it_never_is(place: Path) -> None:
    said = remarks(place, rule("a", "exposed", when="street == 'flopp' || heads_up"))
    assert said == ["11: rule `a`: `street` is never 'flopp'"]


def test_a_rule_that_an_earlier_one_shadows(place: Path) -> None:
    body = rule("a", "exposed", when="position <= 2") + rule("b", "exposed", when="position == 1 && heads_up")
    assert remarks(place, body) == [
        "13: rule `b` is never reached for `exposed`: `a` (line 5) takes all that it matches"
    ]


def test_a_rule_that_several_earlier_ones_shadow_together(place: Path) -> None:
    body = rule("a", "exposed", when="heads_up") + rule("b", "exposed", when="!heads_up") + rule("c", "exposed")
    assert remarks(place, body) == [
        "20: rule `c` is never reached for `exposed`: the rules before it take all that it matches"
    ]


def test_a_narrower_rule_before_a_wider_one_is_how_packs_are_written(place: Path) -> None:
    body = rule("a", "exposed", when="position == 1 && heads_up") + rule("b", "exposed", when="position <= 2")
    assert remarks(place, body + rule("c", "exposed")) == []


def test_two_rules_of_which_neither_is_the_narrower_and_the_order_that_settles_it(place: Path) -> None:
    first = rule("a", "exposed", when="position <= 2")
    second = rule("b", "exposed", when="heads_up", ruling="play-on")
    assert remarks(place, first + second) == [
        "18: rules `a` (line 5) and `b` both match exposed and answer differently, "
        "for one where heads_up && position == 0; say `after` if the first is to rule"
    ]
    assert remarks(place, first + second + 'after = ["a"]\n') == []
    assert remarks(place, second + first.replace('say = "Ask"', 'after = ["c"]'), "problem") == [
        "17: rule `a`: `after` names `c`, which does not stand before it"
    ]


def test_rules_that_overlap_and_say_the_same_are_no_matter(place: Path) -> None:
    assert remarks(place, rule("a", "exposed", when="position <= 2") + rule("b", "exposed", when="heads_up")) == []


def test_a_window_that_is_never_open_or_never_closes_where_the_rule_matches(place: Path) -> None:
    windows = '[windows]\nearly = "actions < 2"\n'
    body = windows + rule("a", "exposed", window="early", when="actions >= 2")
    assert remarks(place, body) == ["13: rule `a`: window `early` is never open where it matches"]
    body = windows + rule("a", "exposed", window="early", when="actions == 0")
    assert remarks(place, body) == ["13: rule `a`: window `early` never closes where it matches"]


def test_parameters_and_windows_that_nothing_uses(place: Path) -> None:
    body = '[parameters]\nlimit = 2\nother = 1\n[windows]\nearly = "actions < limit"\n'
    assert remarks(place, body) == [
        "7: parameter `other` is used by no condition",
        "9: window `early` is used by no rule",
    ]


@pytest.mark.parametrize(
    ("finding", "ruling", "remedy", "said"),
    [
        ("short", "correct", ["scrap"], "step `scrap` has no card to act on: `short` is about none"),
        ("extra-burn", "dead", ["dead-hand"], "step `dead-hand` has no seat to act on: `extra-burn` is about none"),
        ("short", "correct", ["deal-street"], "step `deal-street` has no street: `short` is about the initial deal"),
        ("exposed", "correct", ["make-burn picked"], "step `make-burn picked` before any `pick`"),
        ("exposed", "misdeal", ["redeal", "burn"], "step `burn` behind `redeal`, which ends the hand as it stands"),
        ("exposed", "floor", ["redeal"], "the remedy of a `floor` is never asked for"),
        ("exposed", "none", ["redeal"], "the remedy of a `none` is never asked for"),
    ],
)
def test_steps_that_come_to_nothing(place: Path, finding: str, ruling: str, remedy: list[str], said: str) -> None:
    body = rule("a", finding, ruling=ruling, remedy=remedy)
    assert f"11: rule `a`: {said}" in remarks(place, body, "problem")


def test_rulings_without_what_they_mean(place: Path) -> None:
    body = rule("a", "exposed", ruling="misdeal") + rule("b", "boxed", ruling="correct", say="")
    assert [said.partition(": ")[2] for said in remarks(place, body, "warning")] == [
        "rule `a`: a `misdeal` without the step `redeal`",
        "rule `b`: a `correct` that asks for no step",
        "rule `b`: the dealer reads nothing: there is no `say`",
    ]


def test_a_scenario_that_is_no_deal_script(place: Path) -> None:
    body = "[[scenarios]]\nname = 's'\ndeal = '''\nhand seats=1-6 button=6\ndeel hole\n'''\n"
    assert remarks(place, body)[0] == "9: scenario `s`: saw `deel` at the start of a line; did you mean `deal`?"


def test_findings_that_nothing_answers_are_named(place: Path) -> None:
    place.write_text(HEAD + rule("a", "exposed"))
    (alone,) = lint(place)
    assert alone.level == "info"
    assert set(alone.text.partition("about ")[2].split(", ")) == set(KINDS) - {"exposed"}
    (stacked,) = lint(place, load_stack("roberts"))
    answered = load_stack("roberts").packs[0].by_finding
    assert set(stacked.text.partition("about ")[2].split(", ")) == set(KINDS) - set(answered)


def test_the_command_says_by_its_exit_status_what_it_found(place: Path) -> None:
    def run(body: str, *options: str) -> int:
        place.write_text(body)
        return (
            CliRunner()
            .invoke(command, ["lint", str(place), "--shelf", str(place.parent / "shelf"), *options])
            .exit_code
        )

    assert run(HEAD + rule("a", "exposed")) == 0
    warned = HEAD + rule("a", "exposed", ruling="misdeal")
    assert (run(warned), run(warned, "--strict")) == (0, 1)
    assert run(HEAD + rule("a", "exposed", when="seat > 20")) == 1
    assert run("not a pack") == 2


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_packs_have_no_problem(path: Path) -> None:
    assert [remark for remark in lint(path) if remark.level == "problem"] == []


# What lint takes for impossible, held against tables.


class Seen:
    """Every finding that was judged, with its facts."""

    def __init__(self) -> None:
        self.findings: list[tuple[Finding, Facts]] = []

    def facts(self, state: HandState, finding: Finding, reading: Reading = PLAIN) -> Facts:
        known = facts(state, finding, reading)
        self.findings.append((finding, known))
        return known


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All that is judged in the deal scripts and in the openings of every kind."""
    watching = Seen()
    folder = tmp_path_factory.mktemp("seen")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "facts", watching.facts)
        for path in DEALS:
            for name in header_stacks(path.read_text()):
                run_script(path.name, parse(path.read_text(), path.name), load_stack(name))
        for kind, openings in OPENINGS.items():
            for opening in openings:
                run_script("opening", parse(opening, "opening"), stack(folder / "one.toml", kind, ["stands"]))
    assert {finding.kind for finding, _ in watching.findings} == set(KINDS)
    return watching.findings


def test_every_fact_stays_in_its_values(seen: list[tuple[Finding, Facts]]) -> None:
    assert {name for name, (kind, _) in FACTS.items() if kind == "string"} == set(TEXTS)
    for finding, known in seen:
        for name, value in known.items():
            if name in TEXTS:
                assert value in TEXTS[name], (finding, name)
            elif FACTS[name][0] == "int":
                low, high = RANGES.get(name, (0, 10**6))
                assert isinstance(value, int)
                assert low <= value <= high, (finding, name)


def test_every_bond_between_facts_holds(seen: list[tuple[Finding, Facts]]) -> None:
    for finding, known in seen:
        for names, holds in BONDS + OF_KIND.get(finding.kind, ()):
            assert holds(*(known[name] for name in names)), (finding, names)


def test_findings_are_about_what_lint_says_they_are(seen: list[tuple[Finding, Facts]]) -> None:
    for finding, known in seen:
        assert not (finding.kind in CARDLESS and finding.cards), finding
        assert not (finding.kind in SEATLESS and finding.seat), finding
        assert finding.kind not in DEALING or known["street"] in ("preflop", "third"), finding


SMALL = {"actions": range(5), "chip_actions": range(5), "heads_up": (False, True), "players": range(2, 6)}
SOURCES = st.sampled_from(
    ["actions > 2", "actions == chip_actions", "heads_up", "players >= 4", "actions + chip_actions == 3",
     "chip_actions < 2", "actions in [1, 3]", "!heads_up", "players == 3", "actions - chip_actions > 1",
     "heads_up ? actions > 1 : actions == 0"]
)  # fmt: skip


@given(
    sources=st.lists(SOURCES, min_size=1, max_size=4),
    joins=st.lists(st.sampled_from(["&&", "||"]), min_size=3, max_size=3),
)
def test_enumeration_finds_facts_wherever_there_are_any(sources: list[str], joins: list[str]) -> None:
    """Against every combination of small values: where one satisfies the condition, one that is tried does."""
    source = sources[0]
    for join, more in zip(joins, sources[1:], strict=False):
        source = f"({source}) {join} ({more})"
    try:
        condition = Condition(source, {})
    except ConditionError:
        return
    tried = any(condition.holds(known) for known in assignments("short", [condition]))
    exists = any(
        condition.holds(known)
        for values in product(*SMALL.values())
        for known in [dict(zip(SMALL, values, strict=True))]
        if known["chip_actions"] <= known["actions"] and known["heads_up"] == (known["players"] == 2)
    )
    assert tried == exists


@pytest.mark.parametrize("pack", [path.stem for path in sorted(SHIPPED.glob("*.toml"))])
def test_shipped_packs_give_lint_nothing_to_say(pack: str) -> None:
    result = CliRunner().invoke(command, ["lint", "--strict", pack])
    assert result.exit_code == 0, result.output


def test_a_pack_that_would_take_hours_to_compare_is_said_to_be_too_much(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = "position + actions + chip_actions + players_acted + boxed_cards"
    place.write_text(HEAD + "".join(rule(f"r{n}", "exposed", when=f"{counts} > {n}", say=f"{n}") for n in range(40)))
    monkeypatch.setattr(linting, "Budget", lambda: Budget(20_000))
    warned = [r.text for r in lint(place) if r.line == 1 and r.level == "warning"]
    assert warned == [
        "too many rules on the same findings to hold each against each: some that never rule may not be named"
    ]
    with pytest.raises(TooWideError):
        list(assignments("exposed", [Condition("position > 3", {})], Budget(22)))


def test_a_window_of_the_pack_that_is_extended_can_be_named(place: Path) -> None:
    head = HEAD.replace('title = "Mine"', 'title = "Mine"\nextends = "house"')
    mine = rule("a", "short", when="heads_up", window="action", remedy=["give-next"], ruling="correct")
    place.write_text(head + mine)
    assert [r for r in lint(place) if r.level != "info"] == []
    script = "hand seats=1,2 button=2\ndeal hole\nreport count seat=1 cards=1\nexpect correct rule=a\n"
    script += "expect due seat 1\nhand next\ndeal hole\nact 1 call\nreport count seat=2 cards=1\nexpect play-on rule=a"
    report = run_script("window", parse(script, "window"), load_stack(str(place)))
    assert (report.checked, report.failures) == (3, [])


@pytest.mark.parametrize(
    ("extends", "said"),
    [
        ("house", "13: rule `a`: unknown window `actoin`; use one of action"),
        ("hause", "5: no rule pack `hause`; with the program come house, roberts, tda-2024"),
    ],
)
def test_a_window_or_a_pack_that_is_nowhere_is_a_problem(place: Path, extends: str, said: str) -> None:
    place.write_text(
        HEAD.replace('title = "Mine"', f'title = "Mine"\nextends = "{extends}"')
        + rule("a", "short", when="heads_up", window="actoin")
    )
    assert [f"{r.line}: {r.text}" for r in lint(place) if r.level == "problem"] == [said]
    with pytest.raises(UserError, match=r"actoin|hause"):
        load_stack(str(place))


def test_a_window_of_the_pack_that_is_extended_must_have_two_sides_here_too(place: Path) -> None:
    head = HEAD.replace('title = "Mine"', 'title = "Mine"\nextends = "house"')
    place.write_text(head + rule("a", "short", when="actions > 2", window="action"))
    assert [r.text for r in lint(place) if r.level == "warning"] == [
        "rule `a`: window `action` is never open where it matches"
    ]
