"""The judge agrees with a second, independent reading of the rule books: single faults at every place, and pairs.

Of pairs the second reading speaks of two cards exposed, two boxed, a replacement exposed, two extra cards (all of
them, with the single faults), and of any fault in the redeal after one that was a misdeal (a sample).
"""

from __future__ import annotations

import random
import re
from functools import cache

import pytest
from dealershoe.deal.grammar import header_stacks, parse
from dealershoe.judge.runner import run_script
from dealershoe.rules.stack import Stack, load_stack
from rules.oracle import Case, cases

SAMPLE = 200  # pairs, at each number of seats
SAME_SEATS = ("exposed", "boxed hole card", "first card to the wrong seat", "extra card")  # are dealt in again


@cache
def _stack(name: str) -> Stack:
    return load_stack(name)


def disagreements(all_cases: list[Case]) -> tuple[int, list[object]]:
    """How many expectations were held against the judge, and which it does not meet."""
    checked = 0
    found: list[object] = []
    for case in all_cases:
        lines = parse(case.script, case.name)
        for name in header_stacks(case.script):
            report = run_script(case.name, lines, _stack(name))
            checked += report.checked
            found += report.failures
    return checked, found


@pytest.mark.parametrize("seats", [2, 3, 6, 9, 11])
def test_judge_and_oracle_agree(seats: int) -> None:
    checked, found = disagreements(list(cases(seats)))
    assert checked > 1000
    assert found == []


def after_a_misdeal(first: Case, second: Case) -> Case:
    """The second hand in place of the first one's redeal; draw numbers go on."""
    opening, _ = first.script.split("\nshuffled deck\n", 1)
    drawn = sum(line.startswith("card ") for line in opening.splitlines())
    body = "\n".join(second.script.splitlines()[2:])  # its stack and its seats are the first one's
    body = re.sub(r"#(\d+)", lambda number: f"#{int(number[1]) + drawn}", body)
    return second._replace(name=f"{first.name}; {second.name}", script=f"{opening}\nshuffled deck\n{body}\n")


@pytest.mark.parametrize("seats", range(2, 12))
def test_judge_and_oracle_agree_on_any_fault_after_a_misdeal(seats: int) -> None:
    rng = random.Random(seats)
    by_hand: dict[str, list[Case]] = {}
    for case in cases(seats):
        by_hand.setdefault("\n".join(case.script.splitlines()[:2]), []).append(case)
    pairs = []
    for same in by_hand.values():
        kinds = [case for case in same if any(f", {kind}" in case.name for kind in SAME_SEATS)]
        firsts = [case for case in kinds if case.expected.ruling == "misdeal" and "\nshuffled deck\n" in case.script]
        pairs += [after_a_misdeal(rng.choice(firsts), rng.choice(same)) for _ in range(SAMPLE // 5) if firsts]
    checked, found = disagreements(pairs)
    assert checked > SAMPLE
    assert found == []
