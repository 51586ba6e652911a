"""Two things that go wrong in one hand, where the second once met what the first had left behind."""

import pytest
from dealershoe.deal.grammar import parse
from dealershoe.errors import UserError
from dealershoe.events import BettingComplete, Draw, Hand, ReportCount, ReportEntitled, ReportTarget
from dealershoe.judge.runner import run_script
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession
from dealershoe.trial.situations import obedient, tell
from rules.proof import Table


def holds(script: str, stack: str) -> None:
    report = run_script("pair.deal", parse(script, "pair.deal"), load_stack(stack))
    assert report.checked > 0
    assert report.failures == []


def test_a_late_joker_is_replaced_once_though_the_deal_is_under_way() -> None:
    """Robert's irregularities 8: it is replaced. The deal owes its seat no third card."""
    holds(
        """hand seats=1-6 button=6
deal 8
report joker #1
expect replace seat=1
deal 4
expect due seat 1
deal 1
expect due betting
expect seat1=#7,#13 seat6=#6,#12 muck=#1
""",
        "roberts",
    )


def test_a_joker_that_lies_on_the_board_without_its_burn_gives_way_to_a_board_card() -> None:
    """TDA 35-D: a board card takes its place, though a burn was due when it left."""
    holds(
        """hand seats=1-2 button=2
deal 4
betting complete
deal 4
betting complete
card board
betting complete
report joker #9
expect replace
expect due board
deal 1
expect due burn
""",
        "tda-2024",
    )


def test_a_card_that_a_person_takes_off_the_top_of_the_stub_does_not_leave_again() -> None:
    """Robert's: a second burn goes back on top. What leaves next, once it was moved to the muck, is another card."""
    holds(
        """hand seats=1-6 button=6
deal 12
card burn
card burn
expect correct
betting complete
place #14 muck
deal 3
expect burns=#13 muck=#14 board=#15,#16,#17
""",
        "roberts",
    )


@pytest.mark.parametrize("target", [2, 3])
def test_a_report_that_would_undo_what_went_back_on_top_is_refused(target: int) -> None:
    """The second burn has gone back and is on the board: a first card at another seat leaves no way to say so."""
    session = TableSession(load_stack("roberts"))
    tell(session, Hand((1, 2, 3, 4, 5, 6), 6))
    for line in parse("card burn\ncard burn\nbetting complete\n", "x"):
        while session.due.kind == "seat":
            told = obedient(session)
            assert told is not None
            tell(session, told)
        tell(session, line.item)  # type: ignore[arg-type]
    for _ in range(3):
        told = obedient(session)
        assert told is not None
        tell(session, told)
    before = session.table
    with pytest.raises(UserError, match="other cards would have gone back"):
        tell(session, ReportTarget(1, target))
    assert session.table == before


def test_a_joker_on_the_board_gives_way_to_a_board_card_though_betting_was_due_when_it_left() -> None:
    """Robert's irregularities 8: a second river card came too soon and stayed as the river; its joker is replaced."""
    holds(
        """hand seats=1-2 button=2
deal 4
betting complete
deal 4
betting complete
deal 2
card burn
card board
card board
expect floor
betting complete
shuffled stub
report joker #13
expect replace
expect due board
deal 1
expect muck=#13 board=#6,#7,#8,#10,#14
expect due betting
""",
        "roberts",
    )


def test_an_exposed_card_that_was_one_too_many_is_one_burn_and_is_not_replaced() -> None:
    """House, misdeals: the additional card is the burn, and so is the exposed one; it is the same card."""
    holds(
        """hand seats=1-2 button=2
deal 4
exposed #4
expect replace seat=2
report target #4 1
expect due seat 2
deal 1
expect due betting
expect burns=#4 seat1=#1,#3 seat2=#2,#5
betting complete
deal flop
betting complete
expect due burn
""",
        "house",
    )


def test_a_ruling_that_a_late_report_changes_counts_for_the_end_of_the_hand() -> None:
    """House, misdeals: of two additional cards nothing is said. The light calls the floor to the end of the hand."""
    table = Table(load_stack("house"), 2)
    for _ in range(4):
        table.step()
    for event in (ReportCount(2, 3), BettingComplete(), ReportTarget(4, 1)):
        table.tell(event)
    assert table.session.signal == "floor"
    assert not table.settled
    table.finish()


def test_a_hand_ends_with_the_last_card_in_the_shoe() -> None:
    """Six hands of seven cards, four burns and five cards not asked for are 51: the betting round ends."""
    table = Table(load_stack("house"), 5, "stud")
    table.tell(ReportEntitled(6, True))
    while table.hand.last < 46:
        table.step()
    assert table.session.due.kind == "betting"
    for place in ("burn", "board", "board", "board", "board"):
        table.tell(Draw(place))
    table.finish()
    assert (table.hand.last, table.session.due.kind) == (51, "nothing")


def test_a_flop_that_is_known_too_late_to_have_come_too_soon_goes_back_whole() -> None:
    """Robert's, hold'em, premature flop: all of it goes back. Seat 9 is owed a card while the flop is dealt, but only
    the report says so."""
    holds(
        """hand seats=1-9 button=9
deal 8
card 9 exposed
deal 10
betting complete
deal flop
report target #18 1
expect due shuffle
expect board=
shuffled stub
deal 1
deal flop
expect board=#24,#25,#26 burns=#9
""",
        "roberts",
    )
