"""The oracle against the worked examples of the books (six seats, button at seat 6), and that its scripts are sound."""

from __future__ import annotations

import pytest
from dealershoe.deal.grammar import parse
from rules.oracle import cases, play
from rules.oracle_dealer import Fault

# What the examples say: fault, stack, ruling, burns, the flop's first card, the last board card.
WORKED = [
    ("T01 first card up", Fault("exposed", (1,)), "tda-2024", "misdeal", (14, 18, 20), 15, 21),
    ("T03 third card up", Fault("exposed", (3,)), "roberts", "replace", (3, 17, 19), 14, 20),
    ("T03 third card up", Fault("exposed", (3,)), "tda-2024", "floor", (13, 17, 19), 14, 20),
    ("T06 same seat twice", Fault("exposed", (3, 9)), "house", "misdeal", (22, 26, 28), 23, 29),
    ("T08 player grabs it", Fault("exposed", (4,), "player"), "roberts", "none", (13, 17, 19), 14, 20),
    ("T10 one boxed card", Fault("boxed hole card", (4,)), "roberts", "replace", (14, 18, 20), 15, 21),
    ("T11 two boxed cards", Fault("boxed hole card", (4, 9)), "tda-2024", "misdeal", (22, 26, 28), 23, 29),
    ("T14 wrong start", Fault("first card to the wrong seat", seats=(2,)), "roberts", "misdeal", (14, 18, 20), 15, 21),
    ("T18 one extra card", Fault("extra card", seats=(1,)), "house", "correct", (13, 17, 19), 14, 20),
    ("T18 one extra card", Fault("extra card", seats=(1,)), "tda-2024", "misdeal", (26, 30, 32), 27, 33),
    ("T26 premature flop", Fault("premature flop", cards=3), "tda-2024", "correct", (13, 20, 22), 17, 23),
    ("T27 premature turn", Fault("premature turn"), "tda-2024", "correct", (13, 17, 20), 14, 21),
    ("T27 premature turn", Fault("premature turn"), "house", "correct", (13, 17, 19), 14, 21),
    ("RP-5-C premature river", Fault("premature river"), "roberts", "correct", (13, 17, 19), 14, 21),
]


@pytest.mark.parametrize(("name", "fault", "stack", "ruling", "burns", "flop", "river"), WORKED)
def test_worked_examples(
    name: str, fault: Fault, stack: str, ruling: str, burns: tuple[int, ...], flop: int, river: int
) -> None:
    case = play(6, fault, stack)
    assert case is not None
    expected = case.expected
    assert expected.board is not None
    assert (expected.ruling, expected.burns, expected.board[0], expected.board[-1]) == (ruling, burns, flop, river)


@pytest.mark.parametrize(
    ("stack", "acts", "ruling"),
    [
        ("tda-2024", ("fold", "fold"), "misdeal"),
        ("roberts", ("fold", "fold"), "play-on"),
        ("house", ("fold",), "play-on"),
        ("roberts", ("raise",), "misdeal"),
        ("tda-2024", ("raise", "fold"), "play-on"),
        ("tda-2024", ("fold", "fold", "fold"), "play-on"),
    ],
)
def test_the_windows_of_the_three_books(stack: str, acts: tuple[str, ...], ruling: str) -> None:
    case = play(6, Fault("seat not entitled", seats=(3 + len(acts),), acts=acts, late=True), stack)
    assert case is not None
    assert case.expected.ruling == ruling


@pytest.mark.parametrize("seats", [2, 3, 6, 11])
def test_every_case_has_its_name_a_script_and_no_card_in_two_places(seats: int) -> None:
    names = set()
    for case in cases(seats):
        assert case.name not in names
        names.add(case.name)
        assert len(parse(case.script, case.name)) > 2 * seats
        layout = case.expected
        if layout.board is not None and layout.burns is not None and layout.seats is not None:
            out = [*layout.board, *layout.burns, *(draw for held in layout.seats.values() for draw in held)]
            assert len(out) == len(set(out))
            assert (len(layout.board), len(layout.burns)) == (5, 3)
