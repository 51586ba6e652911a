"""The grammar of deal scripts against its specification: every line it names, and no quiet way through for others."""

from __future__ import annotations

import doctest
import string
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from dealershoe import events as e
from dealershoe.deal import grammar, items
from dealershoe.deal.forms import FORMS
from dealershoe.deal.grammar import header_stacks, parse, parse_line, render
from dealershoe.deal.items import (
    DealError,
    DealNext,
    ExpectButton,
    ExpectDeck,
    ExpectDue,
    ExpectPlaces,
    ExpectRuling,
    ExpectSignal,
    Item,
    Line,
)
from hypothesis import given, settings
from hypothesis import strategies as st

# Each line of the specification of the format, with its optional parts in and out, and the fact that it states.
LINES: tuple[tuple[str, Item], ...] = (
    ("hand seats=1-6 button=6", e.Hand((1, 2, 3, 4, 5, 6), 6)),
    ("hand seats=1,3,5-9 button=9 sb=dead bb=1", e.Hand((1, 3, 5, 6, 7, 8, 9), 9, "dead", 1)),
    ("hand seats=1-3 button=3 sb=1 bb=2 game=holdem", e.Hand((1, 2, 3), 3, 1, 2)),
    ("hand seats=1-8 button=8 game=stud absent=4 penalty=5",
     e.Hand((1, 2, 3, 4, 5, 6, 7, 8), 8, game="stud", absent=(4,), penalty=(5,))),
    ("hand next", e.NextHand()),
    ("hand next gone=3,4 new=5", e.NextHand((3, 4), (5,))),
    ("draw-button 1=7c 2=Kh 5=Ks", e.DrawForButton(((1, "7c"), (2, "Kh"), (5, "Ks")))),
    ("cut by=2", e.Cut(2)),
    ("cut by=dealer refused=5,6", e.Cut(None, (5, 6))),
    ("dealer push", e.DealerPush()),
    ("limit change", e.LimitChange()),
    ("call floor", items.FloorCall()),
    ("request deck seat=3", e.DeckRequest(3)),
    ("request deck seat=3 marked", e.DeckRequest(3, marked=True)),
    ("deal 12", DealNext(count=12)),
    *((f"deal {street}", DealNext(street=street)) for street in
      ("hole", "flop", "turn", "river", "third", "fourth", "fifth", "sixth", "seventh")),
    ("card 3", e.Draw(3)),
    ("card 11 Ah", e.Draw(11, "Ah")),
    ("card 1 10d", e.Draw(1, "Td")),
    ("card board joker", e.Draw("board", "joker")),
    ("card burn boxed", e.Draw("burn", boxed=True)),
    ("card muck", e.Draw("muck")),
    ("card off-table", e.Draw("off-table")),
    ("card 3 exposed", e.Draw(3, exposed="dealer")),
    ("card 3 exposed by=dealer", e.Draw(3, exposed="dealer")),
    ("card 3 2c exposed by=player", e.Draw(3, "2c", exposed="player")),
    ("card 3 double unread foreign wrong-back up inferred",
     e.Draw(3, double=True, unread=True, foreign=True, wrong_back=True, up=True, confirmed=False)),
    ("card 3 unread unseen", e.Draw(3, unread=True, unseen=True)),
    *((f"act 4 {kind}", e.Act(4, kind)) for kind in ("fold", "check", "call", "bet", "raise", "bring-in")),
    ("act 4 raise out-of-turn", e.Act(4, "raise", out_of_turn=True)),
    ("betting complete", e.BettingComplete()),
    ("betting over", e.BettingOver()),
    ("exposed #4", e.Exposed(4)),
    ("exposed #4 by=dealer", e.Exposed(4)),
    ("exposed #4 by=player", e.Exposed(4, "player")),
    ("off-table #4", e.OffTable(4)),
    ("off-table #4 by=player", e.OffTable(4, "player")),
    ("exposed #4 touched", e.Exposed(4, touched=True)),
    ("card 3 exposed touched", e.Draw(3, exposed="dealer", touched=True)),
    ("card off-table by=player", e.Draw("off-table", knocked="player")),
    ("card off-table exposed by=player", e.Draw("off-table", exposed="player", knocked="player")),
    ("report duplicate stub", e.ReportDuplicate(in_stub=True)),
    ("report wrong-back stub", e.ReportWrongBack(None)),
    ("report joker stub", e.ReportJoker(None)),
    ("report short-stub", e.ReportShortStub()),
    ("report bad-shuffle", e.ReportBadShuffle()),
    ("report count seat=5 cards=1", e.ReportCount(5, 1)),
    ("report target #13 board", e.ReportTarget(13, "board")),
    ("report target #13 2", e.ReportTarget(13, 2)),
    ("report button seat=2", e.ReportButton(2)),
    ("report entitled seat=5", e.ReportEntitled(5, True)),
    ("report not-entitled seat=5", e.ReportEntitled(5, False)),
    ("report duplicate", e.ReportDuplicate()),
    ("report misread #7", e.Misread(7)),
    ("report misread #7 9h", e.Misread(7, "9h")),
    ("report wrong-back #7", e.ReportWrongBack(7)),
    ("report joker #7", e.ReportJoker(7)),
    ("report boxed #7", e.ReportBoxed(7)),
    ("report not-boxed #7", e.ReportBoxed(7, False)),
    ("report dropped-stub", e.DroppedStub()),
    ("report dropped-stub with=muck,burns", e.DroppedStub(("muck", "burns"))),
    ("report missing", e.ReportMissing()),
    ("pull-back", e.PullBack()),
    ("place #4 muck", e.Placed(4, "muck")),
    ("looked #4", e.Looked(4)),
    ("knew 5", e.Knew(5)),
    ("pick #15", e.Pick(15)),
    ("ack", e.Ack()),
    ("shuffled stub", e.ShuffledStub()),
    ("shuffled stub ids=Ah,Td,joker", e.ShuffledStub(("Ah", "Td", "joker"))),
    ("shuffled deck ids=Ah,10d", e.DeckLoaded(("Ah", "Td"))),
    ("deck", e.DeckLoaded()),
    ("deck ids=Ah", e.DeckLoaded(("Ah",))),
    ("floor misdeal", e.FloorDecision("misdeal")),
    ("floor play-on", e.FloorDecision("play-on")),
    ("floor void", e.FloorDecision("void")),
    ("floor dead 4", e.FloorDecision("dead", 4)),
    ("award", e.Award()),
    ("undo", e.Undo()),
    *((f"expect {ruling}", ExpectRuling(ruling)) for ruling in
      ("misdeal", "replace", "correct", "dead", "void", "play-on", "floor", "none")),
    ("expect misdeal rule=tda-35-a-7 seat=1", ExpectRuling("misdeal", "tda-35-a-7", 1)),
    ("expect[tda-2024+house,roberts] floor", ExpectRuling("floor", stacks=("tda-2024+house", "roberts"))),
    ("expect due seat 3", ExpectDue("seat", 3)),
    *((f"expect due {kind}", ExpectDue(kind)) for kind in
      ("burn", "board", "betting", "ack", "shuffle", "pick", "nothing")),
    ("expect burns=#13 board=#14,#15,#16 seat3=#3,#9 dead=5 muck=#4",
     ExpectPlaces((13,), (14, 15, 16), ((3, (3, 9)),), (5,), (4,))),
    ("expect board= dead= seat11=", ExpectPlaces(board=(), seats=((11, ()),), dead=())),
    ("expect button 5", ExpectButton(5)),
    ("expect button 5 sb=dead bb=2", ExpectButton(5, "dead", 2)),
    ("expect deck change", ExpectDeck(True)),
    ("expect deck keep", ExpectDeck(False)),
    *((f"expect signal {signal}", ExpectSignal(signal)) for signal in ("ready", "attention", "stop", "floor")),
    # words added for a journal's sake: what the shoe says and a script has no other word for
    ("act", e.Act(None, None)),
    ("exposed", e.Exposed(None)),
    ("card due", e.Draw()),
    ("card 3 number=4 deck=1", e.Draw(3, number=4, deck=1)),
)  # fmt: skip


def read(text: str) -> Item:
    line = parse_line(text, 1, "a.deal")
    assert line is not None
    return line.item


@pytest.mark.parametrize(("text", "item"), LINES, ids=[text for text, _ in LINES])
def test_each_line_of_the_specification(text: str, item: Item) -> None:
    assert read(text) == item


def test_every_form_of_the_grammar_stands_in_the_list() -> None:
    written = {type(item) for _, item in LINES}
    assert written == {form.item for form in FORMS} == set(get_args(items.Item))


def test_keys_and_flags_stand_in_any_order() -> None:
    assert read("card 3 boxed by=player exposed Ah") == read("card 3 Ah boxed exposed by=player")


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("card 3 # the third", e.Draw(3)),
        ("card 3 #", e.Draw(3)),
        ("card 3# the third", e.Draw(3)),
        ("exposed #4 # by the dealer", e.Exposed(4)),
        ("  card   3\t## loud", e.Draw(3)),
    ],
)
def test_a_comment_is_a_hash_and_a_blank(text: str, item: Item) -> None:
    assert read(text) == item


@pytest.mark.parametrize("text", ["", "   ", "# card 3", "#", "  #\tcard 3", "## title", "\ufeff# card 3"])
def test_blank_lines_and_comments_say_nothing(text: str) -> None:
    assert parse_line(text, 1, "a.deal") is None


def test_lines_keep_their_number_and_their_text() -> None:
    lines = parse("# stacks: house\r\nhand seats=1-2 button=1\r\n\n  card 2 # first\n", "a.deal")
    assert [(line.number, line.text) for line in lines] == [(2, "hand seats=1-2 button=1"), (4, "card 2 # first")]


def test_the_first_line_names_the_stacks() -> None:
    assert header_stacks("# stacks: house tda-2024+house\nundo\n") == ("house", "tda-2024+house")
    assert header_stacks("hand seats=1-2 button=1\n# stacks: house\n") == ()


def test_the_examples_in_the_grammar_hold() -> None:
    assert doctest.testmod(grammar) == (0, 2)


# A wrong line, the word at fault, and the right word that it is near to (None: nothing is near).
WRONG: tuple[tuple[str, str, str | None], ...] = (
    ("hnad seats=1-6 button=6", "hnad", "hand"),
    ("#comment", "#comment", "# comment"),
    ("card", "card", None),
    ("card burm", "burm", "burn"),
    ("card 12", "12", None),
    ("card 0", "0", None),
    ("card ٣", "٣", None),
    ("card 3 Ahh", "Ahh", None),
    ("card 3 1h", "1h", None),
    ("card 3 Ah Kh", "Kh", None),
    ("card 3 boxd", "boxd", "boxed"),
    ("card 3 boxed boxed", "boxed", None),
    ("card 3 by=player", "card 3 by=player", None),
    ("card 3 exposed by=payer", "by=payer", "player"),
    ("act 3", "act 3", None),
    ("act 3 rasie", "rasie", "raise"),
    ("act 3 raise 200", "200", None),
    ("deal", "deal", None),
    ("deal 0", "0", None),
    ("deal flopp", "flopp", "flop"),
    ("deal flop turn", "turn", None),
    ("hand", "hand", None),
    ("hand seats=1-6", "hand seats=1-6", None),
    ("hand seats=6-1 button=6", "seats=6-1", None),
    ("hand seats=1,1 button=6", "seats=1,1", None),
    ("hand seats=1-6 button=6 button=5", "button=5", None),
    ("hand seats=1-6 buton=6", "buton=6", "button=6"),
    ("hand nxet", "nxet", "next"),
    ("betting", "the end of the line", None),
    ("betting compleet", "compleet", "complete"),
    ("draw-button", "the end of the line", None),
    ("report", "the end of the line", None),
    ("report coutn seat=5 cards=1", "coutn", "count"),
    ("report count seat=5", "report count seat=5", None),
    ("report count seat=5 cards=53", "cards=53", None),
    ("report dropped-stub with=mcuk", "with=mcuk", "muck"),
    ("place 4 muck", "4", None),
    ("pick #0", "#0", None),
    ("pick #65536", "#65536", None),
    ("undo 3", "3", None),
    ("floor dead", "floor dead", None),
    ("floor misdeal 3", "3", None),
    ("shuffled stub ids=", "ids=", None),
    ("expect", "the end of the line", None),
    ("expect misdeel", "misdeel", "misdeal"),
    ("expect burn=#3", "burn=#3", "burns=#3"),
    ("expect board=14", "board=14", None),
    ("expect due seat", "expect due seat", None),
    ("expect due 3", "3", None),
    ("expect signal red", "red", "ready"),
    ("expect[] misdeal", "", None),
    ("expect[tda-2024,] misdeal", "", None),
    ("expect[tda-2024 misdeal", "expect[tda-2024", None),
)  # fmt: skip


@pytest.mark.parametrize(("text", "got", "nearest"), WRONG, ids=[text for text, *_ in WRONG])
def test_a_wrong_line_says_where_what_and_what_else(text: str, got: str, nearest: str | None) -> None:
    with pytest.raises(DealError) as caught:
        parse(f"# stacks: house\n{text}\n", "wrong.deal")
    error = caught.value
    assert (error.name, error.line, error.nearest) == ("wrong.deal", 2, nearest)
    assert f"`{got}`" in error.got or got == error.got.removeprefix("saw ").partition(" after")[0]
    assert str(error).startswith("wrong.deal, line 2: saw ")
    assert "; expected " in str(error)
    assert "\n" not in str(error)


SEAT = st.integers(1, 11)
SEATS = st.sets(SEAT).map(lambda seats: tuple(sorted(seats)))
DRAW = st.integers(1, 65535)
DRAWS = st.lists(DRAW, max_size=5).map(tuple)
CARD = st.sampled_from([rank + suit for rank in "23456789TJQKA" for suit in "cdhs"] + ["joker"])
CARDS = st.lists(CARD, max_size=5).map(tuple)
PLACE = SEAT | st.sampled_from(e.PLACES)
BY = st.sampled_from(["dealer", "player"])
NAME = st.from_regex(r"[a-z0-9][a-z0-9.-]{0,9}", fullmatch=True)
STACKS = st.lists(st.lists(NAME, min_size=1, max_size=2).map("+".join), max_size=2).map(tuple)
SMALL_BLIND = st.none() | SEAT | st.just("dead")


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def whoever_did_it(draw: e.Draw) -> e.Draw:
    """A line says `by` once: who turned the card up is who knocked it off the table."""
    if draw.target != "off-table":
        return draw
    return replace(draw, knocked="player" if draw.exposed == "player" else None)


# One strategy a type: all that the type's own words allow.
ITEMS: dict[type, st.SearchStrategy[Any]] = {
    e.Hand: st.builds(e.Hand, SEATS.filter(bool), SEAT, SMALL_BLIND, maybe(SEAT), st.sampled_from(e.GAMES), SEATS,
                      SEATS),
    e.NextHand: st.builds(e.NextHand, SEATS, SEATS),
    e.DrawForButton: st.dictionaries(SEAT, CARD, min_size=1).map(
        lambda cards: e.DrawForButton(tuple(sorted(cards.items())))),
    e.Cut: st.builds(e.Cut, maybe(SEAT), SEATS),
    e.DeckRequest: st.builds(e.DeckRequest, SEAT, st.booleans()),
    e.Draw: st.builds(e.Draw, maybe(PLACE), maybe(CARD), st.booleans(), maybe(BY), *[st.booleans()] * 6, maybe(DRAW),
                      maybe(st.integers(0, 3)), st.booleans(), st.none(), st.booleans()).map(whoever_did_it),
    e.Act: st.builds(e.Act, SEAT, st.sampled_from(e.ACTIONS), st.booleans())
    | st.builds(e.Act, st.none(), st.none(), st.booleans()),
    e.Exposed: st.builds(e.Exposed, maybe(DRAW), BY, st.booleans()),
    e.OffTable: st.builds(e.OffTable, DRAW, BY),
    e.ReportDuplicate: st.builds(e.ReportDuplicate, st.booleans()),
    e.ReportCount: st.builds(e.ReportCount, SEAT, st.integers(0, 52)),
    e.ReportTarget: st.builds(e.ReportTarget, DRAW, PLACE),
    e.ReportButton: st.builds(e.ReportButton, SEAT),
    e.ReportEntitled: st.builds(e.ReportEntitled, SEAT, st.booleans()),
    e.Misread: st.builds(e.Misread, DRAW, maybe(CARD)),
    e.ReportWrongBack: st.builds(e.ReportWrongBack, maybe(DRAW)),
    e.ReportJoker: st.builds(e.ReportJoker, maybe(DRAW)),
    e.ReportBoxed: st.builds(e.ReportBoxed, DRAW, st.booleans()),
    e.DroppedStub: st.builds(e.DroppedStub, st.permutations(["muck", "burns"]).flatmap(
        lambda words: st.integers(0, 2).map(lambda count: tuple(words[:count])))),
    e.Placed: st.builds(e.Placed, DRAW, PLACE),
    e.Looked: st.builds(e.Looked, DRAW),
    e.Knew: st.builds(e.Knew, SEAT),
    e.Pick: st.builds(e.Pick, DRAW),
    e.ShuffledStub: st.builds(e.ShuffledStub, CARDS),
    e.DeckLoaded: st.builds(e.DeckLoaded, CARDS),
    e.FloorDecision: st.sampled_from(["misdeal", "play-on", "void"]).map(e.FloorDecision)
    | st.builds(e.FloorDecision, st.just("dead"), SEAT),
    DealNext: st.builds(DealNext, count=DRAW) | st.builds(DealNext, street=st.sampled_from(items.STREETS)),
    ExpectRuling: st.builds(ExpectRuling, st.sampled_from(items.RULINGS), maybe(NAME), maybe(SEAT), STACKS),
    ExpectDue: st.builds(ExpectDue, st.just("seat"), SEAT, STACKS)
    | st.builds(ExpectDue, st.sampled_from(items.DUES), st.none(), STACKS),
    ExpectPlaces: st.builds(ExpectPlaces, maybe(DRAWS), maybe(DRAWS),
                            st.dictionaries(SEAT, DRAWS).map(lambda held: tuple(sorted(held.items()))), maybe(SEATS),
                            maybe(DRAWS), maybe(SEATS), STACKS).filter(
        lambda item: any(getattr(item, part.name) not in (None, ()) or getattr(item, part.name) == () != part.default
                         for part in fields(item) if part.name != "stacks")),
    ExpectButton: st.builds(ExpectButton, SEAT, SMALL_BLIND, maybe(SEAT), STACKS),
    ExpectDeck: st.builds(ExpectDeck, st.booleans(), STACKS),
    ExpectSignal: st.builds(ExpectSignal, st.sampled_from(items.SIGNALS), STACKS),
}  # fmt: skip
TYPES = get_args(items.Item)


@pytest.mark.parametrize("item_type", TYPES, ids=[kind.__name__ for kind in TYPES])
def test_what_is_written_reads_back(item_type: type) -> None:
    @given(ITEMS[item_type] if item_type in ITEMS else st.builds(item_type))
    @settings(max_examples=60, deadline=None)
    def check(item: Item) -> None:
        assert read(render(item)) == item
        assert render(read(render(item))) == render(item)

    check()


WORDS = st.sampled_from(
    sorted({word for form in FORMS for word in form.words}
           | {f"{key.name}=" for form in FORMS for key in form.keys}
           | {flag.word for form in FORMS for flag in form.flags}
           | {"3", "#4", "Ah", "seats=1-6", "burn", "expect[house]", "expect[", "#", "=", "-", ",", "\x0b", "\u2028"})
) | st.text(max_size=6)  # fmt: skip


@given(st.lists(WORDS, max_size=7).map(" ".join) | st.text() | st.text(string.printable))
@settings(max_examples=600, deadline=None)
def test_no_text_raises_anything_but_a_deal_error(text: str) -> None:
    wrong: DealError | None = None
    lines: tuple[Line, ...] = ()
    try:
        lines = parse(text, "fuzz.deal")
    except DealError as error:
        wrong = error
    assert wrong is None or (1 <= wrong.line <= text.count("\n") + 1 and "\n" not in str(wrong))
    for line in lines:
        assert read(render(line.item)) == line.item


SCRIPTS = sorted(Path(__file__).parent.joinpath("deals").glob("*.deal"))


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_every_script_parses_and_names_its_stacks(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    stacks = header_stacks(text)
    named = {stack for line in parse(text, path.name) for stack in getattr(line.item, "stacks", ())}
    assert stacks
    assert named <= set(stacks)
