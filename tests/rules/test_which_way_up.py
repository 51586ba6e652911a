"""Which way up a card left the shoe where no head saw it: who is asked, whose word counts, what falls with it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from dealershoe.chronicle import Outcome
from dealershoe.deal.grammar import parse, parse_line
from dealershoe.deal.items import DealNext
from dealershoe.errors import UserError
from dealershoe.events import ReportBoxed
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession
from dealershoe.table.state import STUB

SIX = "hand seats=1-6 button=6"
UNSEEN = "unread unseen"


class Table(TableSession):
    """A session that is told lines of scripts; `outcome` is the last one."""

    outcome = Outcome()

    def say(self, *lines: str, source: str = "dealer") -> Table:
        for line in parse("\n".join(lines), "test"):
            item = line.item
            cards = item.count or 0 if isinstance(item, DealNext) else 0
            for text in ["card due"] * cards or [line.text]:
                one = parse_line(text, 1, "test")
                assert one is not None
                self.outcome = self.tell(one.item, "shoe" if text.startswith("card") else source)  # type: ignore[arg-type]
        return self

    @property
    def stands(self) -> list[str]:
        """The rulings that stand."""
        return [ruling.ruling for ruling in self.rulings]

    def card(self, number: int) -> tuple[bool, str | None]:
        """Whether the card is boxed, and who exposed it."""
        assert self.hand is not None
        return self.hand.cards[number - 1].boxed, self.hand.cards[number - 1].exposed


def table(*lines: str, rules: str = "roberts") -> Table:
    return Table(load_stack(rules)).say(SIX, *lines)


def findings(session: TableSession) -> Iterable[tuple[str, tuple[int, ...], int, str]]:
    return [(one.kind, one.cards, one.seat, one.street) for one in session.found]


# what is found


def test_a_card_that_is_said_to_be_boxed_is_found_as_if_a_head_had_seen_it() -> None:
    seen = table("deal 9", "card 4 boxed")
    said = table("deal 9", f"card 4 {UNSEEN}").say("report boxed #10")
    assert findings(said) == findings(seen) == [("boxed", (10,), 4, "preflop")]
    assert said.card(10) == (True, None)
    assert said.due == seen.due


def test_a_card_that_was_boxed_already_is_nothing_new() -> None:
    seen = table("deal 3", "card 4 boxed")
    assert seen.say("report boxed #4").outcome == Outcome()
    said = table("deal 3", f"card 4 {UNSEEN}", "report boxed #4")
    assert said.stands == ["replace"]
    assert said.say("report boxed #4").outcome == Outcome()
    assert said.stands == ["replace"]


def test_a_joker_that_was_boxed_is_a_joker() -> None:
    # Robert's irregularities 8: its discovery is no misdeal, so it is not counted among the boxed cards
    said = table("deal 3", "card 4 joker").say("report boxed #4")
    assert findings(said) == []
    assert said.card(4) == (True, None)


def test_a_card_that_lies_back_in_the_stub_is_refused_as_one_that_was_never_drawn() -> None:
    back = table("deal 12", "act 3 call", "deal 1", "card board", "betting complete", rules="tda-2024")
    assert back.places(STUB) == (14,)
    before = back.hand
    for number, why in ((14, "it lies back in the stub"), (30, "14 card(s) have been drawn")):
        with pytest.raises(UserError, match="correct the draw number") as caught:
            back.say(f"report boxed #{number}")
        assert why in str(caught.value)
        assert back.hand is before


def test_the_second_card_of_a_double_passage_can_have_been_boxed() -> None:
    said = table("deal 2", "card 3 double").say("report boxed #4")
    assert (said.card(3)[0], said.card(4)[0]) == (False, True)
    hand = table("deal 2", f"card 3 double {UNSEEN}").hand
    assert hand is not None
    assert hand.unseen == (3, 4)


# whose word counts


def test_what_the_shoe_itself_saw_is_not_argued_with() -> None:
    seen = table("deal 3", "card 4 boxed")
    assert "the shoe itself saw #4 face up" in seen.say("report not-boxed #4").outcome.notes[0]
    assert seen.say("exposed #4").outcome == Outcome()
    assert seen.card(4) == (True, None)
    assert seen.stands == ["replace"]


def test_boxed_clears_exposed_and_what_was_ruled_on_it() -> None:
    # BOX-1 and EXP-1: the first card that is boxed is scrap, the first that is exposed makes a misdeal
    said = table(f"card 1 {UNSEEN}", "exposed #1")
    assert said.stands == ["misdeal"]
    assert said.say("report boxed #1").stands == ["replace"]
    assert said.card(1) == (True, None)
    assert (said.due.kind, said.due.seat, said.signal) == ("seat", 1, "attention")


def test_exposed_said_after_boxed_puts_it_right_and_undo_goes_back_step_by_step() -> None:
    said = table(f"card 1 {UNSEEN}", "exposed #1", "report boxed #1", "exposed #1 by=dealer")
    assert (said.stands, said.card(1)) == (["misdeal"], (False, "dealer"))
    assert (said.say("undo").stands, said.card(1)) == (["replace"], (True, None))
    assert (said.say("undo").stands, said.card(1)) == (["misdeal"], (False, "dealer"))
    assert (said.say("undo").stands, said.card(1)) == ([], (False, None))


def test_a_card_that_a_script_has_exposed_as_it_came_out_can_have_been_boxed_too() -> None:
    said = table("card 1 exposed")
    assert said.stands == ["misdeal"]
    assert said.say("report boxed #1").stands == ["replace"]
    assert said.say("undo").stands == ["misdeal"]


def test_not_boxed_takes_the_word_of_a_seat_node_back() -> None:
    said = table("deal 3", f"card 4 {UNSEEN}").say("report boxed #4", source="seat sensor")
    assert said.stands == ["replace"]
    assert said.say("report not-boxed #4").stands == []
    assert (said.card(4), said.due.seat, said.unseen) == ((False, None), 5, ())


def test_what_a_seat_node_says_is_not_undone_by_a_person() -> None:
    said = table("deal 3", f"card 4 {UNSEEN}", "act 3 fold").say("report boxed #4", source="seat sensor")
    assert said.say("undo").stands == ["replace"]


def test_the_exposed_key_does_not_say_that_a_boxed_card_was_turned_over() -> None:
    # whoever presses it sees a card that lies face up, whichever way it left the shoe
    said = table(f"card 1 {UNSEEN}").say("report boxed #1", source="seat sensor")
    assert said.say("exposed").outcome.notes == ("#1 was taken as boxed: if somebody turned it over, say `exposed #1`",)
    assert said.stands == ["replace"]
    assert said.say("exposed #1").stands == ["misdeal"]
    pressed = table(f"card 1 {UNSEEN}", "exposed")
    assert pressed.unseen == (1,)  # it is still asked
    assert pressed.say("report boxed #1", source="seat sensor").stands == ["replace"]


def test_it_is_too_late_when_a_step_that_follows_is_done() -> None:
    said = table("deal 2", f"card 3 {UNSEEN}", "exposed #3", "deal 9", "card 3")
    assert said.places("burn") == (3,)
    before = said.hand
    assert "too late to say otherwise" in said.say("report boxed #3").outcome.notes[0]
    assert said.hand is before
    replaced = table("deal 2", f"card 3 {UNSEEN}", "report boxed #3", "card 3")
    for line in ("exposed #3", "report not-boxed #3"):
        assert "too late to say otherwise" in replaced.say(line).outcome.notes[0]
    assert (replaced.places("muck"), replaced.stands) == ((3,), ["replace"])


def test_a_misdeal_whose_cards_are_collected_is_not_withdrawn() -> None:
    said = table(f"card 1 {UNSEEN}", "exposed #1", "ack")
    assert "too late to say otherwise" in said.say("report boxed #1").outcome.notes[0]
    assert said.stands == ["misdeal"]


def test_a_word_about_a_card_says_nothing_of_the_same_number_drawn_again() -> None:
    # pushed back after the ruling, it keeps its number and leaves a second time
    said = table("deal 3", f"card 4 {UNSEEN}", "report boxed #4", "pull-back", "card 4")
    assert said.card(4) == (False, None)
    assert said.say("exposed #4").stands == ["replace", "replace"]
    assert said.say("report misread #1").stands == ["replace", "replace"]  # told again from the first card on


@pytest.mark.parametrize("said", ["exposed", "exposed #1", "report boxed #1"])
def test_a_card_that_was_ruled_on_by_a_word_stays_ruled_on_when_it_is_pushed_back(said: str) -> None:
    # EXP-1, BOX-1: it was seen, pushing it back does not unsee it
    told = table(f"card 1 {UNSEEN}", said)
    before = told.stands
    assert told.say("pull-back").stands == before == ["replace" if "boxed" in said else "misdeal"]


def test_a_press_of_the_exposed_key_goes_with_the_card_that_is_pushed_back() -> None:
    # on the board it says nothing; it must not be heard of the burn before it
    said = table("deal 12", "betting complete", "deal 1", "card board", "exposed", "pull-back")
    assert said.card(13) == (False, None)
    assert (said.stands, said.due.kind) == ([], "board")


def test_who_exposed_a_card_can_be_corrected_after_a_press_of_the_key() -> None:
    # TDA 65-B: a card that its player exposed plays
    said = table("card 1", "exposed", rules="tda-2024")
    assert said.stands == ["misdeal"]
    assert said.say("exposed #1 by=player").stands == []
    assert said.card(1) == (False, "player")


# what is asked


def asked(session: TableSession) -> str:
    return session.question or ""


def test_a_burn_of_a_run_out_is_asked_for_too() -> None:
    """Nobody acts any more, and a boxed burn is scrap all the same (BOX-3)."""
    acts = ["act 3 raise", "act 4 fold", "act 5 fold", "act 6 fold", "act 1 call", "act 2 fold", "betting over"]
    said = table("deal 12", *acts, f"card burn {UNSEEN}")
    assert said.unseen == (13,)
    assert said.say("report boxed #13").stands == ["replace"]
    assert asked(said) == ""


def test_dealer_and_floor_are_asked_until_the_card_is_answered() -> None:
    said = table("deal 3", f"card 4 {UNSEEN}", "deal 2")
    assert said.unseen == (4,)
    assert asked(said) == "no head saw which way up #4 left the shoe: if it came face up, say `report boxed #4`"
    assert said.due.seat == 1  # the deal does not stop for it
    assert said.signal == "ready"
    for answer in ("report boxed #4", "report not-boxed #4", "exposed #4"):
        assert table("deal 3", f"card 4 {UNSEEN}", "deal 2", answer).unseen == ()
    assert said.say("report not-boxed #4", "undo").unseen == (4,)


def test_several_cards_under_one_flash_are_one_question() -> None:
    said = table("deal 3", f"card 4 {UNSEEN}", f"card 5 {UNSEEN}")
    assert "#4, #5 left the shoe" in asked(said)
    assert "`report boxed #5`" in asked(said)
    assert "#4 left the shoe" in asked(said.say("report not-boxed #5"))


@pytest.mark.parametrize(
    "after",
    ["pull-back", "place #12 muck", "act 3 call", "betting complete", "betting over", "award", "report joker #1"],
)
def test_nobody_is_asked_when_the_answer_has_no_use_any_more(after: str) -> None:
    # a player who acts has his cards in his hand; the joker makes a misdeal (TDA 35-A-6), so all goes back
    said = table("deal 11", f"card 6 {UNSEEN}", rules="tda-2024")
    assert said.unseen == (12,)
    assert said.say(after).question is None


def test_a_card_that_went_back_and_was_seen_as_it_came_again_is_not_asked_about() -> None:
    said = table("deal 3", f"card 4 {UNSEEN}", "exposed", "pull-back", "card 4")
    assert (said.unseen, said.stands) == ((), ["replace"])


def test_a_board_card_is_asked_about_too() -> None:
    said = table("deal 12", "betting complete", "deal 2", f"card board {UNSEEN}")
    assert said.unseen == (15,)
    said.say("deal 1")
    assert said.unseen == (15,)
    assert said.say("act 1 check").unseen == ()


def test_where_a_card_went_is_asked_first() -> None:
    said = table("deal 3", f"card 5 {UNSEEN} inferred")
    assert "say where it went" in asked(said)
    assert "report boxed #4" in asked(said.say("report target #4 4", source="seat sensor"))


def test_a_fact_for_no_hand_is_a_note() -> None:
    session = TableSession(load_stack("roberts"))
    assert session.tell(ReportBoxed(1)).notes == ("no hand is in play: nothing is judged until one begins",)
