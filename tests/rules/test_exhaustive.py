"""Every single fault at every moment of a hand, under every shipped stack, ends in order; so does a sample of pairs.

In order means: no exception, a ruling or a call for the floor (or a rule that says nothing is wrong), the 52 cards each
in one place, and a due order that deals the hand to its end. All pairs: `make prove`.
"""

import pytest
from dealershoe.rules.stack import load_stack
from dealershoe.trial.situations import FIRST_ACTS, LATER_ACTS, Acts
from rules.proof import STACKS, BrokenError, Table, check, single, some_pairs

NO_ACTS: Acts = ((),)
PAIRS = 150  # a stack and a number of seats


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("seats", range(2, 12))
def test_every_single_fault_of_a_holdem_hand_ends_in_order(seats: int, stack: str) -> None:
    acts = (FIRST_ACTS, LATER_ACTS) if seats in (2, 6) else (NO_ACTS, NO_ACTS)
    assert counterexamples(stack, seats, "holdem", *acts) == []


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("seats", [2, 5, 8])  # of the others, `make prove`
def test_every_single_fault_of_a_stud_hand_ends_in_order(seats: int, stack: str) -> None:
    assert counterexamples(stack, seats, "stud", NO_ACTS, NO_ACTS) == []


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("seats", [2, 3, 6, 9, 11])
def test_pairs_of_faults_end_in_order(seats: int, stack: str) -> None:
    broken = []
    for moment, fault in some_pairs(load_stack(stack), seats, "holdem", PAIRS, seed=seats):
        try:
            check(moment, fault, first=False)
        except BrokenError as error:
            broken.append(str(error))
    assert broken == []


def counterexamples(stack: str, seats: int, game: str, first_acts: Acts, later_acts: Acts) -> list[str]:
    broken = list(single(Table(load_stack(stack), seats, game), first_acts, later_acts))
    assert len(broken) > 500
    return [reason for reason in broken if reason]
