"""What a session does with time: undo, late reports, inferred targets, pull-back, the floor, and rules that change."""

from pathlib import Path

import pytest
from dealershoe.deal.grammar import parse, parse_line
from dealershoe.errors import UserError
from dealershoe.events import Ack, Act, BettingComplete, Draw, Exposed, Hand, NextHand, Undo
from dealershoe.judge.runner import run_script
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession

SIX = "hand seats=1-6 button=6\n"


def holds(stack: str, script: str) -> None:
    report = run_script("script", parse(script, "script"), load_stack(stack))
    assert report.failures == []
    assert report.checked > 0


def refused(stack: str, script: str) -> str:
    with pytest.raises(UserError) as caught:
        run_script("script", parse(script, "script"), load_stack(stack))
    return str(caught.value)


# undo (DESIGN 6: withdraws the latest input of a person until a step that follows from it is done)


def test_undo_takes_back_an_exposure_and_its_remedy() -> None:
    script = "deal 2\ncard 3 exposed\nexpect replace\nundo\nexpect signal ready\ndeal 9\nexpect due betting"
    holds("house", SIX + script)


def test_undo_of_a_wrong_press_until_the_replacement_is_drawn() -> None:
    # case D08
    holds("house", SIX + "deal 2\ncard 3 exposed\ndeal 9\nexpect due seat 3\nundo\nexpect due betting")
    holds("house", SIX + "deal 2\ncard 3 exposed\ndeal 9\ncard 3\nundo\nexpect burns=#3\nexpect seat3=#9,#13")


def test_undo_reopens_the_betting_after_the_turn_is_out() -> None:
    # case D48: the flop round is opened again after the turn was logged; RP-5-B
    holds(
        "tda-2024",
        SIX + "deal hole\nbetting complete\ndeal flop\nbetting complete\ndeal turn\nexpect none\nundo\n"
        "expect correct rule=tda-rp-5\nexpect due betting\nbetting complete\nexpect due shuffle\nshuffled stub\n"
        "deal turn\nexpect burns=#13,#17 board=#14,#15,#16,#19\nexpect signal ready",
    )


def test_undo_of_an_action_opens_a_window_again() -> None:
    # house: one action closes it; taken back, the misdeal can be called
    holds("house", SIX + "deal hole\nact 3 fold\nundo\nreport not-entitled seat=4\nexpect misdeal")


def test_undo_with_nothing_to_take_back_says_so() -> None:
    report = run_script("s", parse(SIX + "deal 3\nundo", "s"), load_stack("house"))
    assert report.notes[-1][1] == "there is nothing to take back in this hand"


# late reports


def test_exposure_reported_after_substantial_action_plays_on() -> None:
    # TDA 35-D and 36
    holds("tda-2024", SIX + "deal hole\nact 3 call\nact 4 fold\nexposed #1\nexpect play-on\nexpect signal ready")


def test_exposure_reported_after_two_folds_is_still_a_misdeal_under_the_tda() -> None:
    holds("tda-2024", SIX + "deal hole\nact 3 fold\nact 4 fold\nexposed #1\nexpect misdeal")
    holds("roberts", SIX + "deal hole\nact 3 fold\nact 4 fold\nexposed #1\nexpect play-on")


def test_a_wrong_inference_is_put_right_and_all_after_it_is_folded_again() -> None:
    # #4 went to seat 5: due goes on clockwise from there, so the cards after it lie elsewhere too
    holds(
        "tda-2024",
        SIX + "deal 3\ncard 5 inferred\nexpect none\nexpect due seat 5\nreport target #4 5\nexpect floor\n"
        "expect due seat 6\nexpect seat5=#4",
    )


def test_a_report_that_confirms_changes_nothing() -> None:
    holds("tda-2024", SIX + "deal 3\nreport target #3 3\nexpect none\nexpect due seat 4")


def test_an_inferred_premature_turn_asks_and_is_ruled_once_confirmed() -> None:
    holds(
        "tda-2024",
        SIX + "deal hole\nbetting complete\ndeal flop\ncard burn inferred\ncard board inferred\nexpect none\n"
        "report target #17 burn\nexpect none\nreport target #18 board\nexpect correct\nexpect signal attention",
    )


def test_who_exposed_a_card_can_be_corrected() -> None:
    # TDA 65-B: a card that its player exposed plays
    holds("tda-2024", SIX + "card 1 exposed\nexpect misdeal\nexposed #1 by=player\nexpect none\nexpect due seat 2")


def test_two_cards_that_left_together_stay_where_each_was_due_when_the_log_is_told_again() -> None:
    # SEQ-1 would be found of them otherwise: nobody has said where they went
    script = "deal 2\ncard due double inferred\nexpect seat3=#3 seat4=#4\nreport misread #1\n"
    holds("roberts", SIX + script + "expect none\nexpect seat3=#3 seat4=#4\nexpect due seat 5")
    moved = "deal 2\ncard due double\nreport target #2 muck\n"  # seat 2 was due again, had that been known
    holds("roberts", SIX + moved + "expect seat3=#3 seat4=#4")


# pull-back


def test_a_card_pulled_back_keeps_its_number() -> None:
    holds("tda-2024", SIX + "deal 3\npull-back\nexpect due seat 3\ncard 3\nexpect seat3=#3\nexpect due seat 4")


def test_what_was_said_of_a_card_goes_back_with_it() -> None:
    holds(
        "tda-2024",
        SIX + "deal 5\nreport target #5 5\npull-back\ncard 5\nexpect none\nexpect seat5=#5\nexpect due seat 6",
    )


def test_a_card_that_was_ruled_on_stays_ruled_on_when_it_is_pulled_back() -> None:
    # EXP-1: the first card was seen, pushing it back does not unsee it
    holds("tda-2024", SIX + "card 1 exposed\nexpect misdeal\npull-back\nexpect due shuffle\nexpect signal stop")
    holds(
        "roberts", SIX + "deal 3\ncard 4 boxed\nexpect replace\npull-back\nexpect due seat 4\ncard 4\nexpect seat4=#4"
    )


# the floor


def test_the_floor_withdraws_a_misdeal_and_the_hand_goes_on() -> None:
    holds("tda-2024", SIX + "card 1 exposed\nexpect misdeal\nexpect due shuffle\nfloor play-on\nexpect play-on\n"
          "expect due seat 2\nexpect signal ready")  # fmt: skip


def test_the_floor_answers_a_call() -> None:
    holds("tda-2024", SIX + "deal 2\ncard 3 exposed\nexpect floor\nexpect signal floor\ndeal 9\nfloor play-on\n"
          "expect signal ready\nexpect due betting")  # fmt: skip
    holds("tda-2024", SIX + "deal 2\ncard 3 exposed\nfloor misdeal\nexpect misdeal\nexpect due shuffle\ndeck\n"
          "expect due seat 1\nexpect signal ready")  # fmt: skip


def test_the_floor_kills_a_hand() -> None:
    holds("tda-2024", SIX + "deal hole\nfloor dead 4\nexpect dead seat=4\nexpect dead=4 muck=#4,#10")


# misdeal and redeal (MIS-1: the same seats, the same button; numbers go on; positions count anew)


def test_redeal_to_the_same_seats_with_positions_counted_anew() -> None:
    holds(
        "tda-2024",
        SIX + "card 1 exposed\nexpect misdeal\ndeck\nexpect due seat 1\ncard 1\nexpect seat1=#2\ncard 2 exposed\n"
        "expect misdeal rule=tda-35-a-7\nexpect signal stop",
    )


def test_a_redeal_leaves_out_the_seat_that_was_not_entitled() -> None:
    holds("tda-2024", SIX + "deal hole\nreport not-entitled seat=4\nexpect misdeal\ndeck\ndeal 3\nexpect due seat 5")


def test_a_redeal_takes_the_button_that_was_right() -> None:
    # SEQ-3: the redeal is from the corrected button
    holds("roberts", SIX + "deal hole\nreport button seat=2\nexpect misdeal\ndeck\nexpect due seat 3\nexpect button 2")


def notes(stack: str, script: str) -> list[str]:
    return [note for _, note in run_script("script", parse(script, "script"), load_stack(stack)).notes]


def test_play_on_over_a_remedy_that_is_begun_says_what_becomes_of_it() -> None:
    # BRD-1: the stub is shuffled; the flop that went back cannot come again, so a new one stays due
    begun = SIX + "deal hole\ncard burn\ncard board\nbetting complete\nshuffled stub\nfloor play-on\n"
    assert notes("house", begun) == ["a step of the remedy is done: what is still open of it stays due"]
    holds("house", begun + "expect play-on\nexpect due board\nexpect signal attention\ndeal flop\nexpect signal ready")
    assert notes("house", SIX + "deal hole\ncard burn\ncard board\nfloor play-on") == []


def test_the_button_after_an_error_is_told_to_the_floor_where_no_book_speaks() -> None:
    # SEQ-3: Robert's restores, TDA does not back up, the house has no line on the next hand
    late = SIX + "deal hole\nact 3 call\nact 4 call\nreport button seat=2\naward\nhand next"
    told = ["no rule found about the button after the last hand's error: call the floor"]
    assert [notes(stack, late) for stack in ("house", "house+roberts", "tda-2024")] == [told, [], []]
    withdrawn = late.replace("award", "undo\naward")
    assert notes("house", withdrawn) == []


def test_who_knew_is_heard_until_the_refund_is_done() -> None:
    # FOUL-1; Robert's irregularities 5: the refund cannot be forfeit once it is paid
    paid = SIX + "deal hole\nact 3 raise\nreport duplicate\nack\nknew 3"
    assert notes("roberts", paid) == ["too late for the rules: a step of the remedy is done, so call the floor"]


# windows with a dealer's key that counts actions and not their kind


@pytest.mark.parametrize(("presses", "ruling"), [(0, "misdeal"), (1, "misdeal"), (2, "floor"), (3, "play-on")])
def test_a_window_that_depends_on_the_kind_of_actions_asks(presses: int, ruling: str) -> None:
    # TDA 36: two actions close it with chips in one of them, three in any case; Robert's and house count all kinds
    session = TableSession(load_stack("tda-2024"))
    session.tell(Hand(tuple(range(1, 7)), 6))
    for _ in range(12):
        session.tell(Draw())
    for _ in range(presses):
        session.tell(Act(None, None))
    outcome = session.tell(Exposed(1))
    assert outcome.ruling is not None
    assert outcome.ruling.ruling == ruling
    assert outcome.ruling.window == {"misdeal": "open", "floor": "ask", "play-on": "closed"}[ruling]


@pytest.mark.parametrize(("presses", "ruling"), [(0, "correct"), (3, "correct"), (4, "dead"), (6, "dead"), (7, "dead")])
def test_whose_actions_a_key_counted_follows_from_their_order(presses: int, ruling: str) -> None:
    # TDA 37: the button is fourth to act of six; once he acts on a short hand it is dead
    keys = "act\n" * presses
    holds("tda-2024", SIX + f"deal hole\n{keys}report count seat=6 cards=1\nexpect {ruling} seat=6")


def test_who_has_acted_in_stud_is_asked_where_only_the_key_counted() -> None:
    # Robert's irregularities 8: a joker kills the hand of who has acted on it; in stud the cards decide who opens
    stud = "hand seats=1-6 button=6 game=stud\ndeal third\n"
    holds("roberts", stud + "report joker #4\nexpect replace")
    holds("roberts", stud + "act\nact\nreport joker #4\nexpect floor")
    holds("roberts", stud + "act\n" * 6 + "report joker #4\nexpect dead seat=4")


def test_a_condition_that_depends_on_the_kind_of_actions_asks(tmp_path: Path) -> None:
    rules = (
        '[[rules]]\nid = "one"\nfinding = "exposed"\nwhen = "chip_actions == 1"\nruling = "misdeal"\ncite = "1"\n'
        'remedy = ["redeal"]\n[[rules]]\nid = "other"\nfinding = "exposed"\nruling = "play-on"\ncite = "2"\n'
    )
    path = tmp_path / "one.toml"
    path.write_text('[pack]\nid = "one"\nversion = "1.0.0"\ntitle = "One"\n' + rules)
    for acts, ruling in (("", "play-on"), ("act\n", "floor"), ("act\nact\n", "floor"), ("act 3 call\n", "misdeal")):
        holds(str(path), SIX + f"deal hole\n{acts}exposed #5\nexpect {ruling}")


# sessions


def test_nothing_is_judged_before_a_hand_begins() -> None:
    session = TableSession(load_stack("tda-2024"))
    outcome = session.tell(Draw(1, exposed="dealer"))
    assert outcome.rulings == ()
    assert not session.aligned
    assert str(session.due) == "nothing"


def test_rules_change_at_the_next_hand() -> None:
    session = TableSession(load_stack("house"))
    session.tell(Hand((1, 2, 3), 3))
    session.change_rules(load_stack("tda-2024"))
    assert session.stack.name == "house"
    assert session.tell(Draw(1, exposed="dealer")).rulings[0].layer == "house"
    session.tell(NextHand())
    ruling = session.tell(Draw(session.due.seat, exposed="dealer")).rulings[0]
    assert (ruling.layer, ruling.version, len(ruling.digest)) == ("tda-2024", "1.0.0", 64)


def test_bad_input_changes_nothing() -> None:
    session = TableSession(load_stack("house"))
    session.tell(Hand((1, 2, 3), 3))
    session.tell(Draw(1))
    before = session.hand
    for event in (Exposed(9), Act(8, "call")):
        with pytest.raises(UserError):
            session.tell(event)
        assert session.hand is before


def test_a_deal_when_no_card_is_due_names_file_and_line() -> None:
    said = refused("house", SIX + "deal 13")
    assert said.startswith("script, line 2: a `deal` when no card is due; due is betting")


def test_an_acknowledgement_with_no_step_open_is_a_note() -> None:
    session = TableSession(load_stack("house"))
    session.tell(Hand((1, 2, 3), 3))
    assert session.tell(Ack()).notes == ("no step waits for the dealer",)
    assert session.tell(BettingComplete()).rulings  # the deal is left with everyone unserved
    assert session.tell(Undo()).notes == ()


def test_exp_6_a_card_knocked_down_before_the_burn_is_nobodys_and_the_burn_is_still_due() -> None:
    session = TableSession(load_stack("roberts"))
    for text in ("hand seats=1-6 button=6", *["card due"] * 12, "betting complete", "card off-table by=player"):
        line = parse_line(text, 1, "test")
        assert line is not None
        outcome = session.tell(line.item)  # type: ignore[arg-type]
    assert [ruling.ruling for ruling in outcome.rulings] == ["floor"]
    assert session.due.kind == "burn"
