"""A rule pack as a person reads it, and as a program does. Pure: a pack goes in, text comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dealershoe.rules.conditions import Condition
from dealershoe.rules.pack import ENGLISH, Answer, Pack, Rule
from dealershoe.rules.remedy import STREETS, VERBS, parse_verb
from dealershoe.rules.show_words import in_words
from dealershoe.table.findings import KINDS

RULINGS = {  # what a ruling means to the people at the table
    "none": "nothing is wrong",
    "play-on": "play on, nothing is undone",
    "correct": "the error is put right and the hand goes on",
    "replace": "the card gives way to another",
    "floor": "call the floor",
    "dead": "the hand is dead, its chips stay",
    "misdeal": "misdeal",
    "void": "the deal is void, all bets go back",
}


def pages(pack: Pack) -> str:
    """The whole pack: identity, parameters, windows, procedure, and its rules by what they are about."""
    parts = [_identity(pack), _parameters(pack), _windows(pack), _procedure(pack)]
    parts += [_finding(pack, kind, rules) for kind, rules in pack.by_finding.items()]
    parts.append([f"{len(pack.scenarios)} scenarios of its own."])
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _identity(pack: Pack) -> list[str]:
    lines = [f"{pack.title} ({pack.id} {pack.version})"]
    if pack.source or pack.edition:
        lines.append("  source: " + ", ".join(part for part in (pack.source, pack.edition) if part))
    if pack.language != ENGLISH:
        lines.append(f"  its sentences are in another language: {pack.language}")
    if pack.effective:
        lines.append(f"  in force from {pack.effective}")
    if pack.extends:
        lines.append(f"  what it does not say itself stands in {pack.extends}")
    return [*lines, f"  SHA-256 {pack.digest}"]


def _parameters(pack: Pack) -> list[str]:
    if not pack.parameters:
        return []
    return ["Parameters", *(f"  {name} = {value}" for name, value in pack.parameters.items())]


def _windows(pack: Pack) -> list[str]:
    lines = ["Windows"] if pack.windows else []
    for name, window in pack.windows.items():
        lines += [f"  {name} is open while", *_condition(window, "    ")]
    return lines


def _procedure(pack: Pack) -> list[str]:
    if not pack.procedure:
        return []
    return ["Procedure", *(f"  {name.replace('_', ' ')}: {answer}" for name, answer in pack.procedure.items())]


def _condition(condition: Condition, indent: str) -> list[str]:
    return [*(indent + line for line in in_words(condition)), f"{indent}[{condition.source}]"]


def _finding(pack: Pack, kind: str, rules: tuple[Rule, ...]) -> list[str]:
    lines = [f"When {KINDS[kind]} ({kind})"]
    for number, rule in enumerate(rules, 1):
        lines += [f"  {number}. {rule.cite}  [{rule.id}]"]
        if rule.when is not None:
            lines += ["     if", *_condition(rule.when, "       ")]
        if rule.window:
            lines += [f"     while {rule.window} is open", *_answer(rule.open, kind)]
            lines += [f"     once {rule.window} is closed", *_answer(rule.closed, kind)]
        else:
            lines += ["     then", *_answer(rule.open, kind)]
    return lines


def _answer(answer: Answer, kind: str) -> Iterator[str]:
    decides = f"; the {answer.decides} decides" if answer.ruling != "none" else ""
    yield f"       {RULINGS[answer.ruling]} ({answer.ruling}){decides}"
    if answer.say:
        yield f"       “{answer.say}”"
    for number, step in enumerate(answer.remedy, 1):
        yield f"         {number}. {step_in_words(step)}"


def step_in_words(step: str) -> str:
    """A step of a remedy as the dealer reads it, before a finding fills in cards, seat and street."""
    verb, operand = parse_verb(step)
    said = VERBS[verb].text
    card = _CARDS_SAID.get(operand, "the card")
    street = operand if operand in STREETS else "street"
    for blank, words in _BLANKS:
        said = re.sub(blank, words.format(card=card, street=street), said, flags=re.IGNORECASE)
    if operand and operand in STREETS and "{street}" not in VERBS[verb].text:
        said += f" ({operand})"
    return said[0].upper() + said[1:]


_CARDS_SAID = {
    "first": "the first of the cards",
    "last": "the last of the cards",
    "picked": "the card picked at random",
    "board": "the street's board card",
    "burn": "the street's burn",
    "burns": "all the burns",
}
_BLANKS = (
    ("cards {cards}", "the cards"),
    ("card {cards}", "{card}"),
    ("{cards}", "the cards"),
    ("seat {seat}", "the seat"),
    ("{knew}", "whoever knew"),
    ("{street}", "{street}"),
)


def as_json(pack: Pack) -> dict[str, object]:
    """The pack as a program reads it."""
    return {
        "id": pack.id,
        "version": pack.version,
        "title": pack.title,
        "source": pack.source,
        "edition": pack.edition,
        "effective": pack.effective or None,
        "extends": pack.extends or None,
        "language": pack.language,
        "digest": pack.digest,
        "parameters": dict(pack.parameters),
        "windows": {name: _condition_json(window) for name, window in pack.windows.items()},
        "procedure": dict(pack.procedure),
        "rules": [_rule_json(rule) for rule in pack.rules],
        "scenarios": [{"name": s.name, "stack": s.stack, "deal": s.deal} for s in pack.scenarios],
    }


def _condition_json(condition: Condition) -> dict[str, object]:
    return {"expression": condition.source, "words": list(in_words(condition))}


def _rule_json(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "line": rule.line,
        "findings": list(rule.findings),
        "when": _condition_json(rule.when) if rule.when else None,
        "window": rule.window or None,
        "cite": rule.cite,
        "open": _answer_json(rule.open),
        "closed": _answer_json(rule.closed) if rule.window else None,
    }


def _answer_json(answer: Answer) -> dict[str, object]:
    return {
        "ruling": answer.ruling,
        "remedy": [{"step": step, "words": step_in_words(step)} for step in answer.remedy],
        "say": answer.say,
        "decides": answer.decides,
    }
