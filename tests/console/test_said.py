"""The host's sentences have a kind, and every kind has its words: what can be found, reported, asked and told to do."""

from __future__ import annotations

import ast
import inspect
import json
import re
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest
from dealershoe.bridge import bridge
from dealershoe.console.said import PORT, SENTENCES, WORDS, kind_of, kinds, why_down
from dealershoe.console.state import state_of
from dealershoe.deal.grammar import parse
from dealershoe.desk import desk, table_link
from dealershoe.desk.desk import Desk, Moment
from dealershoe.desk.look import snapshot
from dealershoe.errors import UserError
from dealershoe.events import Hand
from dealershoe.judge.runner import ScriptError, run_script
from dealershoe.link.faults import DETAILS, FAULTS
from dealershoe.rules.remedy import STREETS, VERBS, texts
from dealershoe.rules.stack import load_stack, shipped
from dealershoe.session import TableSession
from dealershoe.table.findings import KINDS
from dealershoe.table.setup import first_setup
from shoelink import schema

WORDS_OF = {
    path.name.removesuffix(".json"): json.loads(path.read_text())
    for path in (files("dealershoe.console") / "pages" / "words").iterdir()
}
DEALS = Path(__file__).parents[1] / "rules" / "deals"
AT = Moment(1, 1_700_000_000_000_000_000)


def test_every_finding_and_every_fault_of_the_link_has_words_in_every_language() -> None:
    told = [
        *KINDS.values(),
        *(FAULTS[code] for code, _ in schema.CODES["code"]),
        *(said for _, said in DETAILS.values()),
    ]
    assert len(told) == len(set(told))
    for text in told:
        found = kind_of(text)
        assert found is not None, text
        assert found["kind"].startswith(("finding.", "fault.")), text
        for language, words in WORDS_OF.items():
            assert words[found["kind"]], language
            assert language == "en" or words[found["kind"]] != text


def test_the_english_words_are_the_host_s_own_sentences() -> None:
    assert {kind: WORDS_OF["en"][kind] for kind in WORDS} == WORDS


def test_no_sentence_is_taken_for_one_of_another_kind() -> None:
    samples = {
        "street": "turn", "cards": "#3, #14", "place": "seat 3", "due": "burn", "knew": "seats 3, 4", "detail": "!",
        "decision": "play on", "fault": "the lid is open", "reason": "the shoe is silent", "name": "SHOE0001",
        "seats": "3, 4", "blind": "big blind", "line": "betting complete",
    }  # fmt: skip
    for kind, template in SENTENCES.items():
        blanks = {name: samples.get(name, "7") for name in _blanks(template)}
        found = kind_of(template.format(**blanks))
        assert found is not None
        assert found["kind"] == kind
        assert set(found["values"]) == set(blanks)


def _blanks(template: str) -> list[str]:
    return [part.split("}")[0] for part in template.split("{")[1:]]


@pytest.mark.parametrize("verb", VERBS)
def test_every_step_of_the_vocabulary_has_a_kind_whatever_stands_in_it(verb: str) -> None:
    for operand in ("", *VERBS[verb].operands):
        entry = f"{verb} {operand}".strip()
        for cards, seat, street, knew in (((), 0, "flop", ()), ((3,), 11, "turn", (4,)), ((3, 14), 2, "sixth", (5, 4))):
            if verb == "offer-cut" and not seat:
                continue
            (text,) = texts((entry,), cards, seat, street, knew)
            found = kind_of(text)
            assert found is not None, text
            assert found["kind"] == f"do.{verb}", text
    assert set(STREETS) <= {key.removeprefix("street.") for key in WORDS_OF["de"]}


def test_every_sentence_of_the_rule_books_that_come_with_the_program_has_words() -> None:
    packs = [pack for name in shipped() for pack in load_stack(name).packs]
    said = {answer.say for pack in packs for rule in pack.rules for answer in (rule.open, rule.closed) if answer.say}
    books = {text for kind, text in WORDS.items() if kind.startswith("book.")}
    assert said == books
    for text in said:
        found = kind_of(text.format(seat=7, cards="#7", street="turn", knew="seat 7"))
        assert found is not None
        assert WORDS[found["kind"]] == text


@pytest.mark.parametrize("rules", ["tda-2024+house", "roberts", "house"])
def test_what_real_incidents_ask_of_a_dealer_can_be_said_in_every_language(rules: str) -> None:
    stack = load_stack(rules)
    steps = 0
    for path in sorted(DEALS.glob("*.deal"))[::4]:
        try:
            report = run_script(path.name, parse(path.read_text(), path.name), stack)
        except ScriptError:  # written for another book, by which the hand goes on otherwise
            continue
        for ruled in report.rulings:
            ruling = ruled.ruling
            assert kind_of(ruling.say), ruling.say
            for step in ruling.remedy:
                assert kind_of(step), step
                steps += 1
    assert steps > 20


# ---- why the shoe is not there, or nothing is judged: sentences that are made in many places

REASONS = {"align", "_align", "halt", "_halt", "_down", "closed", "_close"}  # what takes one
ROOMS = (bridge, desk, table_link)


def _made(module: ModuleType) -> list[tuple[int, str]]:
    """Every sentence that is given to one of REASONS, blanks filled with numbers; names stand for their texts.

    What has no word of its own is what a port says of itself.
    """
    found = []
    for call in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in REASONS:
            ways = [call.args[0]]
            if isinstance(ways[0], ast.IfExp):
                ways = [ways[0].body, ways[0].orelse]
            found += [(call.lineno, text) for way in ways if (text := _text(way, module)) and re.search("[a-z]", text)]
    return found


def _text(node: ast.expr, module: ModuleType) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.values)  # type: ignore[misc]
    if isinstance(node, ast.Name) and isinstance(getattr(module, node.id, None), str):
        return str(getattr(module, node.id))
    return None


@pytest.mark.parametrize("module", ROOMS, ids=lambda one: one.__name__)
def test_every_reason_that_the_bridge_gives_has_a_kind(module: ModuleType) -> None:
    made = _made(module)
    assert len(made) >= 2
    for line, text in made:
        found = kind_of(text)
        assert found is not None, f"line {line}: {text}"
        assert found["kind"].startswith("reason."), f"line {line}: {text}"


def test_what_is_no_other_reason_is_about_the_port_and_stays_as_it_is() -> None:
    seen = "the shoe (2e8a:0005) is not plugged in; it was unplugged or lost power; plug it in again"
    assert why_down(seen) == {"kind": PORT, "values": {"detail": seen}}
    assert why_down("the shoe is silent")["kind"] == "reason.silent"
    told = kind_of(f"unsupervised: {seen}")
    assert told is not None
    assert told["values"]["reason"]["kind"] == PORT


def test_a_state_names_the_kinds_of_its_sentences() -> None:
    table = Desk(TableSession(load_stack("tda-2024+house")))
    table.say("hand seats=1-6 button=6", "console", 1, AT, "ann")
    for number in range(12):
        _card(table, number + 1)
    table.say("betting complete", "console", 1, AT, "ann")
    for number in range(12, 16):
        _card(table, number + 1)
    table.say("act 1 check", "console", 1, AT, "ann")
    _card(table, 17)
    _card(table, 18)
    asked = state_of("t1", 1, snapshot(table, "port", ""), {}, open_table=False)
    assert asked["kinds"][asked["question"]]["kind"] in ("question.where", "question.unknown")
    table.say("report target #17 burn", "console", 1, AT, "ann")
    table.say("report target #18 board", "console", 1, AT, "ann")
    table.faults[schema.FAULT_LID] = 0
    now = state_of("t1", 1, snapshot(table, "port", "the shoe is silent"), {}, open_table=False)
    assert now["kinds"][now["ruling"]["happened"]]["kind"] == "finding.premature-turn"
    assert [now["kinds"][step["text"]]["kind"].split(".")[0] for step in now["steps"]] == ["do"] * len(now["steps"])
    assert now["kinds"]["the lid is open"] == {"kind": "fault.lid", "values": {}}
    assert now["kinds"][now["link_why"]]["kind"] == "reason.silent"
    assert now["kinds"][now["ruling"]["say"]] == {"kind": "book.tda-rp-5", "values": {"street": "turn"}}


def _card(table: Desk, draw: int) -> None:
    message = schema.Card(table.hand, draw, bytes(4), bytes((255, 0, 0, draw)), 1, 0, 0, 0, 30, 0, 1000, 0)
    table.report(message, b"", AT, b"journal!", draw)


def test_sentences_without_a_kind_are_left_out() -> None:
    assert kinds(["", "somebody's own words", "the lid is open"]).keys() == {"the lid is open"}


def test_too_few_players_are_said_in_every_language() -> None:
    with pytest.raises(UserError) as few:
        first_setup(Hand((1, 2), 1, absent=(2,)), "left-out")
    found = kind_of(str(few.value))
    assert found == {"kind": "refused.away", "values": {"number": "1", "away": "1"}}
