"""`rules diff` finds what the reading of the rule books says must differ, and nothing where nothing does."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from dealershoe.deal.grammar import parse
from dealershoe.judge.runner import events_of, run_script
from dealershoe.rules.pack import PROCEDURES
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.stack import SHIPPED, Stack, load_stack
from dealershoe.session import TableSession
from dealershoe.trial.diff import Comparison, action_states, compare, differing, differing_kinds, questions, seat_counts
from dealershoe.trial.diff_command import diff_command


def compared(left: Stack, right: Stack, pairs: bool = False) -> Comparison:
    found = Comparison(left, right)
    for _ in compare(found, pairs):
        pass
    return found


def answers(found: Comparison) -> set[tuple[str, ...]]:
    """Finding and the two rulings, "none" where nothing was ruled."""
    return {(d.finding, *(side.ruling if side else "none" for side in (d.left, d.right))) for d in found.differences}


def variant(tmp_path: Path, pack: str, old: str, new: str) -> Stack:
    """A shipped pack with one line of its file changed."""
    text = (SHIPPED / f"{pack}.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / f"{pack}.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return load_stack(str(path))


@pytest.fixture(scope="module")
def books() -> Comparison:
    """TDA against Robert's, single faults."""
    return compared(load_stack("tda-2024"), load_stack("roberts"))


@pytest.mark.parametrize(
    ("finding", "tda", "roberts"),
    [
        ("not-entitled", "misdeal", "play-on"),  # 13B 1: two folds end the window by Robert's only
        ("extra-card", "misdeal", "correct"),  # 13B 2
        ("premature-turn", "correct", "correct"),  # 13B 3: one ruling, two remedies
        ("extra-board-card", "correct", "correct"),  # 13B 4
        ("missing-burn", "correct", "correct"),  # 13B 5
        ("joker", "misdeal", "replace"),  # 13B 6
        ("short", "correct", "dead"),  # 13B 7: the button's, after action
        ("out-of-sequence", "floor", "misdeal"),  # 13B 9
        ("exposed", "floor", "replace"),  # 13B 11
    ],
)
def test_the_conflicts_that_matter_most_are_found(books: Comparison, finding: str, tda: str, roberts: str) -> None:
    assert (finding, tda, roberts) in answers(books)


def test_each_difference_has_a_script_that_shows_it(books: Comparison) -> None:
    for difference in books.differences:
        lines = parse(books.script(difference), "shortest.deal")
        for stack, expected in (("tda-2024", difference.left), ("roberts", difference.right)):
            rulings = [entry.ruling for entry in run_script("shortest.deal", lines, load_stack(stack)).rulings]
            shown = [(r.finding, r.ruling, r.verbs) for r in rulings if r.finding == difference.finding]
            if expected is not None:
                assert (expected.finding, expected.ruling, expected.verbs) in shown, books.script(difference)


def test_scripts_are_the_shortest_there_are(books: Comparison) -> None:
    boxed = next(d for d in books.differences if d.finding == "boxed")
    assert books.script(boxed).splitlines()[1:] == ["hand seats=1-2 button=2", "card 1 boxed"]
    assert boxed.met > 50


def test_a_stack_does_not_differ_from_itself() -> None:
    house = load_stack("house")
    assert differing_kinds(house, house) == frozenset()
    assert compared(house, house).differences == []
    assert questions(house, house) == ()


def test_other_words_and_names_are_no_difference(tmp_path: Path) -> None:
    renamed = variant(tmp_path, "house", 'id = "house-button"', 'id = "house-position"')
    assert compared(load_stack("house"), renamed).differences == []


def test_one_changed_number_is_found_and_nothing_else(tmp_path: Path) -> None:
    stricter = variant(tmp_path, "roberts", "first_cards = 2 ", "first_cards = 1 ")
    found = compared(load_stack("roberts"), stricter)
    assert {d.finding for d in found.differences} <= {"exposed", "off-table"}
    second = next(d for d in found.differences if d.finding == "exposed")
    assert (second.left and second.left.ruling, second.right and second.right.ruling) == ("misdeal", "replace")
    assert found.script(second).splitlines()[2:] == ["deal 1", "card 2 exposed"]


def test_a_difference_that_takes_two_faults_is_found(tmp_path: Path) -> None:
    milder = variant(tmp_path, "roberts", "boxed_limit = 2 ", "boxed_limit = 3 ")
    assert compared(load_stack("roberts"), milder).differences == []
    found = compared(load_stack("roberts"), milder, pairs=True)
    assert ("boxed", "misdeal", "replace") in answers(found)
    assert {len(d.what) for d in found.differences} == {2}


def test_tables_and_actions_follow_what_conditions_ask(tmp_path: Path) -> None:
    house = load_stack("house")
    assert seat_counts(house, house) == (2, 6)
    crowded = variant(tmp_path, "house", 'when = "extra_cards == 1', 'when = "players > 8 && extra_cards == 1')
    assert seat_counts(house, crowded) == (2, 6, 7, 8, 9)
    patient = variant(tmp_path, "house", "first_action = 1 ", "first_action = 4 ")
    first, _ = action_states(house, patient)
    assert ("fold",) * 4 in first
    assert ("call", "fold", "call", "fold") in first


def shown(stack: Stack, script: str) -> tuple[object, ...]:
    """What a table shows of a script under a stack, from its first line to its last."""
    session = TableSession(stack)
    seen: list[object] = []
    for line in parse(script, "question"):
        for event in events_of(session, line.item):  # type: ignore[arg-type]
            outcome = session.tell(event, "script")
            hand = session.hand
            dealt = (hand.setup.seats, hand.dead) if hand else ()
            seen.append((outcome, session.due, session.table.button, session.table.deck, dealt))
    return tuple(seen)


@pytest.mark.parametrize("question", PROCEDURES)
def test_the_script_of_a_small_question_comes_out_differently(question: str, tmp_path: Path) -> None:
    stacks = []
    for answer in PROCEDURES[question][1]:
        path = tmp_path / f"{answer}.toml"
        head = f'[pack]\nid = "{answer}"\nversion = "1.0.0"\ntitle = "One"\n[procedure]\n{question} = "{answer}"\n'
        path.write_text(head)
        stacks.append(load_stack(str(path)))
    for left, right in combinations(stacks, 2):
        (one,) = questions(left, right)
        assert shown(left, one.script) != shown(right, one.script), one


def test_small_questions_differ_too() -> None:
    found = {q.question: (q.left, q.right) for q in questions(load_stack("tda-2024"), load_stack("house"))}
    assert found["deck_on_proof"] == ("keep", "change")
    assert "deck_on_request" not in found


def test_where_the_hand_ends_only_that_is_compared() -> None:
    void, misdeal, floor = (_ruling(r, f) for r, f in (("void", "duplicate"), ("misdeal", "joker"), ("floor", "boxed")))
    assert differing((misdeal,), (misdeal, floor)) == []
    assert differing((void,), (misdeal,)) == [(void, None)]
    assert differing((floor,), (misdeal,)) == [(None, misdeal)]


def _ruling(ruling: str, finding: str) -> Ruling:
    return Ruling(ruling, "", "", "", finding, (1,), 1, "", "dealer", (), ())


def test_the_command_writes_one_object_a_difference_and_progress_beside_it() -> None:
    result = CliRunner().invoke(diff_command, ["tda-2024", "tda-2024+house", "--single", "--json"])
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    exposed = next(o for o in objects if o.get("finding") == "exposed")
    assert [answer["ruling"] for answer in exposed["answers"]] == ["floor", "replace"]
    assert exposed["script"].startswith("# stacks: tda-2024 tda-2024+house\nhand ")
    assert all({"question", "finding"} & set(entry) for entry in objects)


def test_the_command_says_in_words_when_nothing_differs() -> None:
    result = CliRunner().invoke(diff_command, ["house", "house", "--single"])
    assert result.exit_code == 0
    assert result.stdout.startswith("house and house: 0 differences in ")
