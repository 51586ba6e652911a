"""Any step of any remedy may follow any finding: the table goes on, whatever a pack asks. For rules maintainers."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from dealershoe.deal.grammar import parse
from dealershoe.errors import UserError
from dealershoe.events import Ack, BettingComplete, DeckLoaded, Draw, Event, Pick, ShuffledStub
from dealershoe.judge.runner import events_of, run_script
from dealershoe.rules.pack import read_pack
from dealershoe.rules.remedy import VERBS
from dealershoe.rules.stack import Stack
from dealershoe.session import TableSession
from dealershoe.table.agenda import Due
from dealershoe.table.findings import KINDS
from hypothesis import given, settings
from hypothesis import strategies as st

SIX = "hand seats=1-6 button=6\n"
STUD = "hand seats=1-4 button=4 game=stud\n"
TO_THE_FLOP = SIX + "deal hole\nbetting complete\n"
TO_THE_TURN = TO_THE_FLOP + "deal flop\nbetting complete\n"
TO_THE_RIVER = TO_THE_TURN + "deal turn\nbetting complete\n"
# each kind of finding, by the shortest script that brings it about (DESIGN section 6)
OPENINGS: dict[str, list[str]] = {
    "cut-wrong": [SIX + "cut by=3", SIX + "deal 2\ncut by=dealer"],
    "exposed": [
        SIX + "deal 2\ncard 3 exposed",
        STUD + "deal 2\ncard 3 exposed",
        SIX + "deal hole\nact 3 fold\nexposed #5",
    ],
    "burn-exposed": [TO_THE_FLOP + "card burn exposed"],
    "off-table": [
        SIX + "deal 2\ncard off-table",
        SIX + "deal 2\ncard off-table by=player",
        TO_THE_FLOP + "card off-table",
        SIX + "deal hole\noff-table #3",
    ],
    "boxed": [SIX + "deal 3\ncard 4 boxed", TO_THE_FLOP + "card burn boxed", TO_THE_FLOP + "deal 1\ncard board boxed"],
    "not-entitled": [SIX + "deal 3\ncard 9", SIX + "deal hole\nreport not-entitled seat=4"],
    "dealt-out": [SIX + "deal hole\nreport entitled seat=8", SIX + "deal hole\nreport count seat=3 cards=0"],
    "first-card-wrong-seat": [SIX + "card 2"],
    "out-of-sequence": [SIX + "deal 2\ncard 4", SIX + "deal 2\ncard board", SIX + "deal 2\ncard muck"],
    "extra-card": [SIX + "deal hole\ncard 1", SIX + "deal 8\ncard 1", SIX + "deal hole\nreport count seat=3 cards=4"],
    "short": [SIX + "deal hole\nreport count seat=5 cards=1", SIX + "deal 10\nact 3 call"],
    "button-wrong": [SIX + "deal 5\nreport button seat=2"],
    "duplicate": [SIX + "deal 2\nreport duplicate", SIX + "card 1 Ah\ncard 2 Ah"],
    "wrong-back": [
        SIX + "deal 2\ncard 3 wrong-back",
        SIX + "deal 2\nreport wrong-back #1",
        SIX + "report wrong-back stub",
    ],
    "joker": [SIX + "deal 2\ncard 3 joker", TO_THE_FLOP + "deal 1\ncard board joker", SIX + "report joker stub"],
    "foreign-card": [SIX + "deal 2\ncard 3 foreign"],
    "missing-card": [SIX + "deal 2\nreport missing"],
    "premature-flop": [SIX + "deal hole\ncard burn\ncard board"],
    "premature-turn": [TO_THE_FLOP + "deal flop\ncard burn\ncard board"],
    "premature-river": [TO_THE_TURN + "deal turn\ncard burn\ncard board"],
    "premature-street": [STUD + "deal third\ncard 1"],
    "premature-combination": [TO_THE_FLOP + "deal flop\ncard burn\ncard board\ncard burn\ncard board"],
    "extra-board-card": [
        TO_THE_FLOP + "deal flop\ncard board",
        TO_THE_RIVER + "deal river\nbetting complete\ncard board",
    ],
    "missing-burn": [TO_THE_FLOP + "card board\ncard board\ncard board", TO_THE_RIVER + "card board"],
    "extra-burn": [TO_THE_FLOP + "card burn\ncard burn", TO_THE_RIVER + "card burn\ncard burn"],
    "stub-dropped": [TO_THE_FLOP + "report dropped-stub with=muck,burns"],
    "stub-short": [STUD + "deal third\nreport short-stub"],
    "shuffle-doubted": [SIX + "report bad-shuffle", SIX + "deal hole\nlooked #3\nreport bad-shuffle"],
    "not-due": [TO_THE_RIVER + "deal river\nbetting complete\naward\ncard 3"],
}
STEPS = [step for verb, entry in VERBS.items() for step in (verb, *(f"{verb} {operand}" for operand in entry.operands))]
NEXT = st.one_of(
    st.sampled_from([Draw(), Draw(target="burn"), Draw(target="board"), Ack(), ShuffledStub(), DeckLoaded()]),
    st.just(BettingComplete()),
    st.integers(1, 6).map(lambda seat: Draw(target=seat)),
    st.integers(1, 22).map(Pick),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("steps") / "steps.toml"


def stack(place: Path, kind: str, steps: list[str], **more: str) -> Stack:
    """A pack of one rule that answers `kind` with `steps`; `more`: answers to small questions."""
    rule = f'[[rules]]\nid = "r"\nfinding = "{kind}"\nruling = "correct"\ncite = "1"\nremedy = {steps!r}\n'
    answers = {"cut": "dealers-right"} | more
    procedure = "\n".join(["[procedure]", *(f'{name} = "{answer}"' for name, answer in answers.items()), ""])
    place.write_text('[pack]\nid = "steps"\nversion = "1.0.0"\ntitle = "Steps"\n' + procedure + rule)
    return Stack("steps", (read_pack(place),))


def test_every_kind_of_finding_has_an_opening() -> None:
    assert set(OPENINGS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_openings_bring_their_finding(place: Path, kind: str) -> None:
    for opening in OPENINGS[kind]:
        report = run_script("opening", parse(opening, "opening"), stack(place, kind, ["stands"]))
        assert {one.ruling.finding for one in report.rulings if one.ruling.rule} == {kind}, opening


def after(place: Path, kind: str, steps: list[str], script: str, **more: str) -> list[str]:
    """What a script expects in vain under a pack whose one rule answers `kind` with `steps`."""
    report = run_script("after", parse(script, "after"), stack(place, kind, steps, **more))
    assert report.checked
    return [f"{failure.line}: {failure.expected}: {failure.got}" for failure in report.failures]


def test_steps_before_a_redeal_stay_open_until_they_are_done(place: Path) -> None:
    session = TableSession(stack(place, "duplicate", ["refund", "new-deck", "redeal"]))
    for line in parse(SIX + "deal 2\nreport duplicate", "refund"):
        for event in events_of(session, line.item):  # type: ignore[arg-type]
            session.tell(event)
    assert [step.done for step in session.steps] == [False, False, False]
    session.tell(Ack())
    assert [step.done for step in session.steps] == [True, False, False]
    session.tell(DeckLoaded())
    assert (session.steps, session.due) == ((), Due("seat", 1))


def test_put_right_moves_a_card_to_its_seat_and_the_deal_goes_on_from_there(place: Path) -> None:
    script = (
        SIX + "deal 2\ncard 4\nexpect seat3=#3 seat4=\nexpect due seat 4\ndeal hole\nexpect seat3=#3,#9 seat4=#4,#10"
    )
    assert after(place, "out-of-sequence", ["put-right"], script) == []


def test_put_right_makes_the_burn_and_the_board_of_cards_that_missed_them(place: Path) -> None:
    script = (
        TO_THE_FLOP
        + "card muck\nexpect burns=#13 muck=\nexpect due board\ncard muck\ndeal flop\nexpect board=#14,#15,#16"
    )
    assert after(place, "out-of-sequence", ["put-right"], script) == []


def test_the_first_the_last_and_the_burn_are_named_by_operands(place: Path) -> None:
    script = TO_THE_FLOP + "deal flop\ncard board\nexpect burns=#13,#17 board=#14,#15,#16"
    assert after(place, "extra-board-card", ["make-burn last", "do-not-burn"], script) == []
    script = TO_THE_FLOP + "card board\ncard board\ncard board\nexpect burns=#13 board=#14,#15\nexpect due board"
    assert after(place, "missing-burn", ["make-burn first", "deal-street"], script) == []
    script = SIX + "deal hole\ncard burn\ncard board\nexpect burns= board="
    assert after(place, "premature-flop", ["return-to-stub", "return-to-stub burn"], script) == []


def test_finish_the_round_replaces_a_card_when_the_others_of_that_round_are_served(place: Path) -> None:
    steps = ["scrap", "finish-the-round", "give-next"]  # S.D. Admin. R. 20:18:16:34: a joker dealt face down
    first = (
        SIX + "deal 4\nreport joker #3\nexpect due seat 5\ndeal 2\nexpect due seat 3\ndeal 1\nexpect due seat 1\n"
        "deal hole\nexpect seat1=#1,#8 seat3=#7,#10 seat6=#6,#13 muck=#3\nexpect due betting"
    )
    assert after(place, "joker", steps, first) == []
    second = SIX + "deal 9\nreport joker #3\ndeal 3\nexpect due seat 3\ndeal 1\nexpect seat3=#9,#13\nexpect due betting"
    assert after(place, "joker", steps, second) == []
    between = SIX + "deal 6\nreport joker #6\nexpect due seat 6\ndeal 1\nexpect due seat 1\ndeal 6\nexpect seat6=#7,#13"
    assert after(place, "joker", steps, between) == []
    late = SIX + "deal hole\nreport joker #6\nexpect due seat 6\ndeal 1\nexpect seat6=#12,#13\nexpect due betting"
    assert after(place, "joker", steps, late) == []


def test_finish_the_deal_waits_for_both_rounds(place: Path) -> None:
    script = SIX + "deal 4\nreport joker #3\ndeal 8\nexpect due seat 3\ndeal 1\nexpect seat3=#9,#13\nexpect due betting"
    assert after(place, "joker", ["scrap", "finish-the-deal", "give-next"], script) == []


def test_one_of_the_board_cards_can_be_picked(place: Path) -> None:
    script = TO_THE_FLOP + "deal 3\ncard burn\nexpect due pick\npick #15\nexpect burns=#13,#16,#15 board=#14"
    steps = ["scramble board", "pick board", "make-burn picked"]
    assert after(place, "extra-burn", steps, script + "\nexpect due board") == []
    nothing = SIX + "deal 2\ncard 3 exposed\nexpect due seat 4\nexpect seat3=#3"  # no board lies: nothing to pick
    assert after(place, "exposed", steps, nothing) == []


def test_all_the_burns_go_back_where_the_stub_is_too_short(place: Path) -> None:
    script = (  # S.D. Admin. R. 20:18:16:40: the live stub with the burns, without the muck
        STUD + "deal third\nbetting complete\ndeal fourth\nbetting complete\ndeal fifth\nbetting complete\n"
        "expect burns=#13,#18\nreport short-stub\nexpect burns=\nexpect due shuffle\nshuffled stub\nexpect due burn"
    )
    assert after(place, "stub-short", ["return-to-stub burns", "shuffle-stub", "cut"], script) == []


def test_a_burn_before_the_deal(place: Path) -> None:
    script = (
        SIX + "expect due burn\ndeal 1\nexpect due seat 1\ndeal hole\nexpect burns=#1 seat1=#2,#8 seat6=#7,#13\n"
        "betting complete\ndeal flop\nexpect burns=#1,#14 board=#15,#16,#17"
    )
    assert after(place, "exposed", ["redeal"], script, burn_before_deal="yes") == []
    redealt = SIX + "deal 2\nexposed #2\nshuffled deck\nexpect due burn\ndeal 1\nexpect burns=#3\nexpect due seat 1"
    assert after(place, "exposed", ["redeal"], redealt, burn_before_deal="yes") == []
    forgotten = SIX + "card 1\nexpect correct\nexpect due seat 2\ndeal hole\nexpect burns= seat1=#1,#7"
    assert after(place, "missing-burn", ["stands"], forgotten, burn_before_deal="yes") == []
    back = SIX + "deal 1\npull-back\nexpect due burn\ndeal 1\nexpect burns=#1"
    assert after(place, "joker", ["scrap"], back + "\nexpect none", burn_before_deal="yes") == []


def test_whose_cut_it_is(place: Path) -> None:
    dealt = "hand seats=2,4,7 button=4\n"
    dealt += "cut by=2\nexpect none\ncut by=7\nexpect correct seat=2\ncut by=4\nexpect correct"
    assert after(place, "cut-wrong", ["offer-cut"], dealt, cut="buttons-right") == []
    itself = SIX + "cut by=dealer\nexpect none\ncut by=6\nexpect correct"
    assert after(place, "cut-wrong", ["stands"], itself, cut="dealer") == []
    right = SIX + "cut by=1\nexpect correct seat=6\nexpect signal attention\ncut by=6\nexpect none\nexpect signal ready"
    assert after(place, "cut-wrong", ["offer-cut"], right) == []


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_remedy_can_follow_any_finding(place: Path, data: Any) -> None:
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    opening = data.draw(st.sampled_from(OPENINGS[kind]))
    session = TableSession(stack(place, kind, data.draw(st.lists(st.sampled_from(STEPS), max_size=6))))
    for line in parse(opening, "opening"):
        with contextlib.suppress(UserError):
            for event in events_of(session, line.item):  # type: ignore[arg-type]
                session.tell(event)
    follow: list[Event] = data.draw(st.lists(NEXT, max_size=12))
    for event in follow:
        with contextlib.suppress(UserError):
            session.tell(event)
        assert session.due.kind in ("seat", "burn", "board", "betting", "ack", "shuffle", "pick", "nothing")
