"""The judge agrees with a second, independent reading of the rule books on every single fault at every place."""

from functools import cache

import pytest
from dealershoe.deal.grammar import header_stacks, parse
from dealershoe.judge.runner import run_script
from dealershoe.rules.stack import Stack, load_stack
from rules.oracle import cases


@cache
def _stack(name: str) -> Stack:
    return load_stack(name)


@pytest.mark.parametrize("seats", [2, 3, 6, 9, 11])
def test_judge_and_oracle_agree(seats: int) -> None:
    disagreements = []
    checked = 0
    for case in cases(seats):
        lines = parse(case.script, case.name)
        for name in header_stacks(case.script):
            report = run_script(case.name, lines, _stack(name))
            checked += report.checked
            disagreements += report.failures
    assert checked > 1000
    assert disagreements == []
