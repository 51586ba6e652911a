"""A rule pack: a TOML file of a card room's rules, checked against the vocabulary before anything is judged."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dealershoe.errors import UserError
from dealershoe.rules import toml_lines
from dealershoe.rules.conditions import Condition
from dealershoe.rules.expression import LARGEST, RESERVED, ConditionError
from dealershoe.rules.pack_fields import Fields, Problem, choices, read_text, shown
from dealershoe.rules.remedy import VERBS, parse_verb
from dealershoe.rules.ruling import DECIDERS, STRENGTH
from dealershoe.rules.shelf_names import Version, checked_id, split_name
from dealershoe.table.findings import FACTS, KINDS, Value
from dealershoe.table.setup import CUTS

SELF = "self"  # how a scenario's stack names the pack that it stands in
PACK_KEYS = {"id", "version", "title", "source", "edition", "effective", "extends", "language"}
RULE_KEYS = {"id", "finding", "when", "window", "ruling", "remedy", "cite", "say", "decides", "closed", "after"}
ANSWER_KEYS = {"ruling", "remedy", "say", "decides"}
SCENARIO_KEYS = {"name", "stack", "deal"}
SECTIONS = {"pack", "parameters", "windows", "procedure", "rules", "scenarios"}
_DECK = ("change", "keep")
PROCEDURES = {  # small questions that a pack answers with one word: what is asked, and the answers
    "button_tie": ("the highest cards tie in the draw for the button", ("suit", "redraw")),
    "button_after_error": (
        "the button was wrong and it was too late: the next hand goes on from there, or back to where it was due",
        ("goes-on", "goes-back"),
    ),
    "cut": ("whose cut it is; who is away or refuses passes it on to the right, in the end to the dealer", CUTS),
    "burn_before_deal": ("a card is burned before the hole cards; it is the first card off the deck", ("yes", "no")),
    "deck_on_dealer_push": ("a new dealer sits down", _DECK),
    "deck_on_limit_change": ("the limit or the level changes", _DECK),
    "deck_on_request": ("a player asks for another deck", _DECK),
    "deck_on_proof": ("a player shows that cards are marked", _DECK),
    "deck_on_doubt": (
        "the deck is in doubt: a strange, doubled or missing card, or many that are unread or boxed",
        _DECK,
    ),
    "absent_seat": ("a player is away when the deal begins", ("dealt-in", "dealt-in-if-posted", "left-out")),
}
# Bounds of a pack; the shipped ones stay below a fifth of each.
BIGGEST = 256 * 1024  # bytes of a file
MOST_RULES = 400
MOST_NAMES = 100  # parameters, and windows
MOST_STEPS = 24  # of one remedy
MOST_SCENARIOS = 200
MOST_LINES = 200  # of one scenario
ENGLISH = "en"
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")  # a language tag (RFC 5646), as HTML's `lang` takes it
_PLACEHOLDER = re.compile(r"\{[^}]*\}?")
PLACEHOLDERS = ("{seat}", "{cards}", "{street}", "{knew}")  # what a sentence for the dealer may fill in


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rule says on one side of its window."""

    ruling: str
    remedy: tuple[str, ...]
    say: str
    decides: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: which finding, under which condition, and its answer while the window is open and after."""

    id: str
    findings: tuple[str, ...]
    when: Condition | None
    window: str
    cite: str
    open: Answer
    closed: Answer
    line: int = 0  # of the file that it was read from
    after: tuple[str, ...] = ()  # rules that must stand before it, because they are to rule where both match


@dataclass(frozen=True, slots=True)
class Scenario:
    """A deal script that the pack must rule on as it says. `first` is the line of the file where the script begins."""

    name: str
    stack: str
    deal: str
    line: int
    first: int


@dataclass(frozen=True, slots=True)
class Pack:
    """A rule book as loaded. `digest` is the SHA-256 of the file's bytes."""

    id: str
    version: str
    title: str
    source: str
    edition: str
    effective: str
    extends: str
    parameters: Mapping[str, Value]
    windows: Mapping[str, Condition]
    procedure: Mapping[str, str]
    rules: tuple[Rule, ...]
    digest: str
    path: str
    by_finding: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    scenarios: tuple[Scenario, ...] = ()
    language: str = ENGLISH  # of its sentences
    file: bytes = b""  # as it was read, for a record that must be able to judge by it again


class Examined(NamedTuple):
    """A file read to its end: the pack that it is as far as it is one, what is wrong with it, where things stand."""

    pack: Pack
    problems: tuple[Problem, ...]
    lines: toml_lines.Lines


def read_pack(path: Path) -> Pack:
    """Load a pack from a file. Raises UserError, with file and line, for anything outside the format."""
    pack, problems, _ = examine(path)
    if problems:
        first = problems[0]
        more = f"{len(problems) - 1} more problem(s) in it" if len(problems) > 1 else ""
        raise UserError(f"{shown(path.name)}:{first.line}: {first.seen}", more, first.do or "correct the pack")
    return pack


def examine(path: Path) -> Examined:
    """Read a file and collect every problem in it. Raises UserError only for a file that is not TOML at all."""
    raw, text = read_text(path, BIGGEST)
    read = Fields(path.name, text)
    read.table(read.data, (), SECTIONS, "the pack")
    head = read.table(read.data.get("pack", {}), ("pack",), PACK_KEYS, "[pack]")
    parameters = _parameters(read)
    windows = _windows(read, parameters)
    rules = _rules(read, parameters, windows, "extends" in head)
    pack = Pack(
        id=_pack_id(read, head, "id"),
        version=_version(read, head),
        title=read.text(head, "title", ("pack",), "[pack]"),
        source=read.text(head, "source", ("pack",), "[pack]", ""),
        edition=read.text(head, "edition", ("pack",), "[pack]", ""),
        effective=_effective(read, head),
        extends=_pack_id(read, head, "extends") if "extends" in head else "",
        parameters=parameters,
        windows=windows,
        procedure=_procedure(read),
        rules=rules,
        digest=hashlib.sha256(raw).hexdigest(),
        path=str(path),
        scenarios=_scenarios(read),
        language=_language(read, head),
        file=raw,
    )
    if pack.id == SELF:
        read.note(("pack", "id"), f"`{SELF}` cannot be a pack's id", "it stands for the pack itself in a scenario")
    return Examined(indexed(pack, rules), tuple(sorted(read.problems)), read.lines)


def strange_windows(pack: Pack, inherited: Mapping[str, Condition]) -> tuple[tuple[Rule, str], ...]:
    """Rules that name a window which neither the pack nor what it extends declares, with what to write instead."""
    known = {**inherited, **pack.windows}
    return tuple((rule, choices(rule.window, known)) for rule in pack.rules if rule.window and rule.window not in known)


def indexed(pack: Pack, rules: tuple[Rule, ...]) -> Pack:
    """The pack with `rules`, and those found by kind of finding, in the pack's order."""
    by_finding: dict[str, tuple[Rule, ...]] = {}
    for rule in rules:
        for kind in rule.findings:
            by_finding[kind] = (*by_finding.get(kind, ()), rule)
    values = {name: getattr(pack, name) for name in Pack.__dataclass_fields__ if name not in ("rules", "by_finding")}
    return Pack(**values, rules=rules, by_finding=by_finding)


def _pack_id(read: Fields, head: Mapping[str, Any], key: str) -> str:
    said = read.text(head, key, ("pack",), "[pack]")
    try:
        return checked_id(said) if said else ""
    except UserError as error:
        read.note(("pack", key), f"[pack]: `{key}`: {error.seen}", error.cause)
        return ""


def _version(read: Fields, head: Mapping[str, Any]) -> str:
    said = read.text(head, "version", ("pack",), "[pack]")
    try:
        return str(Version.parse(said)) if said else ""
    except UserError as error:
        read.note(("pack", "version"), f"[pack]: {error.seen}", error.cause)
        return ""


def _effective(read: Fields, head: Mapping[str, Any]) -> str:
    """The day from which the pack holds, as YYYY-MM-DD; "" if it does not say."""
    value = head.get("effective", "")
    if type(value) is datetime.date:
        return value.isoformat()
    said = read.text(head, "effective", ("pack",), "[pack]", "")
    try:
        return datetime.date.fromisoformat(said).isoformat() if said else ""
    except ValueError:
        read.note(("pack", "effective"), f"[pack]: effective `{shown(said)}`", "write a day such as 2024-10-09")
        return ""


def _language(read: Fields, head: Mapping[str, Any]) -> str:
    said = read.text(head, "language", ("pack",), "[pack]", ENGLISH)
    if _LANGUAGE.fullmatch(said):
        return said
    read.note(("pack", "language"), f"[pack]: language `{shown(said)}`", "write a tag such as de or es-MX")
    return ENGLISH


def _named(read: Fields, section: str) -> dict[str, Any]:
    """A section of names of the author's own."""
    table = read.data.get(section, {})
    if not isinstance(table, dict):
        read.note((section,), f"[{section}] must be a table")
        return {}
    if len(table) > MOST_NAMES:
        read.note((section,), f"{len(table)} names in [{section}]", f"{MOST_NAMES} are the most")
    return dict(list(table.items())[:MOST_NAMES])


def _parameters(read: Fields) -> dict[str, Value]:
    parameters: dict[str, Value] = {}
    for name, value in _named(read, "parameters").items():
        path = ("parameters", name)
        said = f"parameter `{shown(name)}`"
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name) or name in RESERVED:
            read.note(path, f"{said} is not a name", "use letters, digits and _, and no word of the condition language")
        elif name in FACTS:
            read.note(path, f"{said} has the name of a fact", "call it otherwise")
        elif not isinstance(value, bool | int | str):
            read.note(path, f"{said} must be a number, a text, true or false")
        elif isinstance(value, int) and abs(value) > LARGEST:
            read.note(path, f"{said} is beyond {LARGEST}")
        elif not isinstance(value, str) or read.printable(value, path, said):
            parameters[name] = value
    return parameters


def _windows(read: Fields, parameters: Mapping[str, Value]) -> dict[str, Condition]:
    windows = {}
    for name, source in _named(read, "windows").items():
        said = f"window `{shown(name)}`"
        if not isinstance(source, str):
            read.note(("windows", name), f"{said} must be a condition in quotes")
        elif read.printable(name, ("windows", name), said):
            condition = _condition(read, source, parameters, ("windows", name), said)
            if condition:
                windows[name] = condition
    return windows


def _condition(
    read: Fields, source: str, parameters: Mapping[str, Value], path: toml_lines.Path, where: str
) -> Condition | None:
    if not read.printable(source, path, where):
        return None
    try:
        return Condition(source, parameters)
    except ConditionError as error:
        for reason in error.reasons:
            name = re.match(r"unknown fact `(\w+)`", reason)
            read.note(path, f"{where}: {reason}", needle=name[1] if name else "")
        return None


def _procedure(read: Fields) -> dict[str, str]:
    table = read.table(read.data.get("procedure", {}), ("procedure",), PROCEDURES, "[procedure]")
    answers = {
        name: read.one_of(value, PROCEDURES[name][1], ("procedure", name), f"[procedure]: `{name}` is")
        for name, value in table.items()
        if name in PROCEDURES
    }
    return {name: answer for name, answer in answers.items() if answer}


def _rules(
    read: Fields, parameters: Mapping[str, Value], windows: Mapping[str, Condition], extends: bool
) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    for index, entry in enumerate(read.entries("rules", MOST_RULES)):
        before = len(read.problems)
        rule = _rule(read, entry, ("rules", index), parameters, windows, extends)
        if rule.id in rules:
            first = rules[rule.id].line
            read.note(("rules", index, "id"), f"two rules are named `{rule.id}`, the first on line {first}")
        elif len(read.problems) == before:
            rules[rule.id] = rule
        for earlier in rule.after:
            if earlier not in rules or earlier == rule.id:
                path = ("rules", index, "after")
                read.note(path, f"rule `{rule.id}`: `after` names `{shown(earlier)}`, which does not stand before it")
    return tuple(rules.values())


def _rule(
    read: Fields,
    entry: object,
    path: toml_lines.Path,
    parameters: Mapping[str, Value],
    windows: Mapping[str, Condition],
    extends: bool,
) -> Rule:
    """`extends`: a window that is not declared may stand in the pack that this one extends, which is not read here."""
    table = read.table(entry, path, RULE_KEYS, "a rule")
    rule_id = read.identity(table, "id", path, "a rule")
    where = f"rule `{rule_id}`"
    said = table.get("finding")
    kinds = said if isinstance(said, list) else [said]
    findings = [read.one_of(kind, KINDS, (*path, "finding"), f"{where}: unknown finding") for kind in kinds]
    if not findings or len(set(findings)) < len(findings):
        read.note((*path, "finding"), f"{where}: `finding` is empty or names one twice")
    window = read.text(table, "window", path, where, "")
    if window and not extends and window not in windows and window not in (read.data.get("windows") or ()):
        do = choices(window, windows) if windows else "declare it under [windows]"
        read.note((*path, "window"), f"{where}: unknown window `{shown(window)}`", do)
    when = read.text(table, "when", path, where, "")
    closed = Answer("play-on", (), "", "dealer")
    if "closed" in table:
        if not window:
            read.note((*path, "closed"), f"{where}: `closed` without a window", "name the window that closes")
        late = table["closed"]
        late = {"ruling": late} if isinstance(late, str) else late
        closed = _answer(read, read.table(late, (*path, "closed"), ANSWER_KEYS, f"{where}, closed"),
                         (*path, "closed"), f"{where}, closed")  # fmt: skip
    return Rule(
        id=rule_id,
        findings=tuple(findings),
        when=_condition(read, when, parameters, (*path, "when"), where) if when else None,
        window=window,
        cite=read.text(table, "cite", path, where),
        open=_answer(read, table, path, where),
        closed=closed,
        line=read.lines.line(path),
        after=_after(read, table, path, where),
    )


def _after(read: Fields, table: Mapping[str, Any], path: toml_lines.Path, where: str) -> tuple[str, ...]:
    said = table.get("after", [])
    if isinstance(said, list) and all(isinstance(name, str) for name in said):
        return tuple(said[:MOST_RULES])
    read.note((*path, "after"), f"{where}: `after` must be a list of rules")
    return ()


def _answer(read: Fields, table: Mapping[str, Any], path: toml_lines.Path, where: str) -> Answer:
    ruling = table.get("ruling")
    if ruling is None:
        read.note(path, f"{where}: `ruling` is missing", choices("", STRENGTH))
        ruling = "none"
    ruling = read.one_of(ruling, STRENGTH, (*path, "ruling"), f"{where}: unknown ruling")
    remedy = table.get("remedy", [])
    if not isinstance(remedy, list) or len(remedy) > MOST_STEPS:
        read.note((*path, "remedy"), f"{where}: `remedy` must be a list of at most {MOST_STEPS} steps")
        remedy = []
    for step in remedy:
        if not isinstance(step, str) or parse_verb(step) == ("", ""):
            _unknown_step(read, step, (*path, "remedy"), where)
    say = read.text(table, "say", path, where, "")
    for placeholder in _PLACEHOLDER.findall(say):
        if placeholder not in PLACEHOLDERS:
            do = f"use {', '.join(PLACEHOLDERS)}"
            read.note((*path, "say"), f"{where}: `say` has the unknown blank `{shown(placeholder)}`", do, placeholder)
    decides = table.get("decides", "floor" if ruling == "floor" else "dealer")
    decides = read.one_of(decides, DECIDERS, (*path, "decides"), f"{where}: `decides` is")
    return Answer(ruling, tuple(step for step in remedy if isinstance(step, str)), say, decides)


def _unknown_step(read: Fields, step: object, path: toml_lines.Path, where: str) -> None:
    verb, _, operand = step.partition(" ") if isinstance(step, str) else (str(step), "", "")
    if verb in VERBS:
        operands = VERBS[verb].operands
        do = f"use {', '.join(operands)} or nothing" if operands else "it takes none"
        read.note(path, f"{where}: step `{verb}` with unknown operand `{shown(operand)}`", do, verb)
    else:
        read.note(path, f"{where}: unknown step `{shown(step)}`", choices(verb, VERBS), verb)


def _scenarios(read: Fields) -> tuple[Scenario, ...]:
    scenarios: dict[str, Scenario] = {}
    for index, entry in enumerate(read.entries("scenarios", MOST_SCENARIOS)):
        path = ("scenarios", index)
        table = read.table(entry, path, SCENARIO_KEYS, "a scenario")
        name = read.text(table, "name", path, "a scenario")
        where = f"scenario `{shown(name)}`"
        stack = read.text(table, "stack", path, where, SELF)
        if not _is_stack(stack):
            do = f"name `{SELF}` and ids of other packs, joined by +"
            read.note((*path, "stack"), f"{where}: stack `{shown(stack)}`", do)
        if name in scenarios:
            read.note((*path, "name"), f"two scenarios are named `{shown(name)}`")
        deal = table.get("deal")
        if not isinstance(deal, str) or deal.count("\n") >= MOST_LINES:
            read.note((*path, "deal"), f"{where}: `deal` must be a script of at most {MOST_LINES} lines")
        elif read.printable(deal, (*path, "deal"), f"{where}: `deal`", also="\n\t"):
            first = read.lines.text_line((*path, "deal"))
            scenarios[name] = Scenario(name, stack, deal, read.lines.line(path), first)
    return tuple(scenarios.values())


def _is_stack(text: str) -> bool:
    """Is it the pack itself, once, among ids of packs? A path has no place here: a pack reads no other file."""
    names = text.split("+")
    try:
        for name in names:
            split_name(name)
    except UserError:
        return False
    return names.count(SELF) == 1
