"""Every deal script under tests/rules/deals holds under every stack that its first line names."""

from pathlib import Path

import pytest
from dealershoe.deal.grammar import header_stacks, parse
from dealershoe.judge.runner import MOST_FACTS, ScriptError, run_script
from dealershoe.rules.stack import load_stack

SCRIPTS = sorted((Path(__file__).parent / "deals").glob("*.deal"))
PAIRS = [(path, stack) for path in SCRIPTS for stack in header_stacks(path.read_text())]


@pytest.mark.parametrize(("path", "stack"), PAIRS, ids=[f"{path.stem}-{stack}" for path, stack in PAIRS])
def test_script_holds(path: Path, stack: str) -> None:
    report = run_script(path.name, parse(path.read_text(), path.name), load_stack(stack))
    assert report.checked > 0, "a script that expects nothing proves nothing"
    assert report.failures == []


def test_there_are_scripts_of_real_incidents() -> None:
    incidents = {path.name.split("-")[0] for path in SCRIPTS if path.name.startswith("d")}
    assert len(incidents) >= 8


def test_a_hand_without_end_is_refused_in_one_sentence() -> None:
    lines = parse("hand seats=1-6 button=6\n" + "act 3 check\n" * (MOST_FACTS + 1), "endless.deal")
    with pytest.raises(ScriptError, match="more than 5000 events in one hand"):
        run_script("endless.deal", lines, load_stack("house"))
    hands = parse("hand seats=1-6 button=6\n" + "hand next\nact 3 check\n" * MOST_FACTS, "long.deal")
    assert run_script("long.deal", hands, load_stack("house")).hands == MOST_FACTS + 1
