"""A rule pack: a TOML file of a card room's rules, checked against the vocabulary before anything is judged."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dealershoe.errors import UserError
from dealershoe.rules.conditions import Condition, ConditionError
from dealershoe.rules.remedy import VERBS, parse_verb
from dealershoe.rules.ruling import DECIDERS, STRENGTH
from dealershoe.table.findings import KINDS, Value

BIGGEST = 256 * 1024  # bytes; the shipped packs are a tenth of it
PACK_KEYS = {"id", "version", "title", "source", "edition", "effective", "extends"}
RULE_KEYS = {"id", "finding", "when", "window", "ruling", "remedy", "cite", "say", "decides", "closed"}
ANSWER_KEYS = {"ruling", "remedy", "say", "decides"}
SECTIONS = {"pack", "parameters", "windows", "procedure", "rules"}
PROCEDURES = {  # small questions that a pack answers with one word
    "button_tie": ("suit", "redraw"),
    "deck_on_dealer_push": ("change", "keep"),
    "deck_on_limit_change": ("change", "keep"),
    "deck_on_request": ("change", "keep"),
    "deck_on_proof": ("change", "keep"),
    "absent_seat": ("dealt-in", "left-out"),
}


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


class _Reader:
    """Reads one file and names file and line in every refusal."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()

    def refuse(self, seen: str, near: str = "", do: str = "") -> UserError:
        line = next((n for n, text in enumerate(self.lines, 1) if near and near in text), 1)
        return UserError(f"{self.path.name}:{line}: {seen}", do=do or "correct the pack")

    def text(self, table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
        value = table.get(key, default)
        if not isinstance(value, str):
            raise self.refuse(f"{where}: `{key}` must be a text", where)
        return value

    def only(self, table: object, keys: set[str], where: str) -> Mapping[str, Any]:
        if not isinstance(table, dict):
            raise self.refuse(f"{where} must be a table", where)
        for key in table:
            if key not in keys:
                raise self.refuse(f"{where}: unknown key `{key}`", key, f"use one of {', '.join(sorted(keys))}")
        return table


def read_pack(path: Path) -> Pack:
    """Load a pack from a file. Raises UserError, with file and line, for anything outside the format."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}", "the pack is not there", "check the name") from error
    if len(raw) > BIGGEST:
        raise UserError(f"{path.name}: {len(raw)} bytes", f"a pack has {BIGGEST} at most", "split or shorten it")
    try:
        text = raw.decode("utf-8")
        data = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path.name}: not a TOML file", str(error), "correct the pack") from error
    read = _Reader(path, text)
    read.only(data, SECTIONS, "the pack")
    head = read.only(data.get("pack", {}), PACK_KEYS, "[pack]")
    parameters = _parameters(read, data.get("parameters", {}))
    windows = _windows(read, data.get("windows", {}), parameters)
    procedure = _procedure(read, data.get("procedure", {}))
    entries = data.get("rules", [])
    if not isinstance(entries, list):
        raise read.refuse("`rules` must be a list of [[rules]]", "rules")
    rules = tuple(_rule(read, entry, parameters, windows) for entry in entries)
    ids = [rule.id for rule in rules]
    for rule_id in ids:
        if ids.count(rule_id) > 1:
            raise read.refuse(f"two rules are named `{rule_id}`", f'"{rule_id}"')
    pack = Pack(
        id=read.text(head, "id", "[pack]"),
        version=read.text(head, "version", "[pack]"),
        title=read.text(head, "title", "[pack]"),
        source=read.text(head, "source", "[pack]", ""),
        edition=read.text(head, "edition", "[pack]", ""),
        effective=read.text(head, "effective", "[pack]", ""),
        extends=read.text(head, "extends", "[pack]", ""),
        parameters=parameters,
        windows=windows,
        procedure=procedure,
        rules=rules,
        digest=hashlib.sha256(raw).hexdigest(),
        path=str(path),
    )
    return indexed(pack, rules)


def indexed(pack: Pack, rules: tuple[Rule, ...]) -> Pack:
    """The pack with `rules`, and those found by kind of finding, in the pack's order."""
    by_finding: dict[str, tuple[Rule, ...]] = {}
    for rule in rules:
        for kind in rule.findings:
            by_finding[kind] = (*by_finding.get(kind, ()), rule)
    values = {name: getattr(pack, name) for name in Pack.__dataclass_fields__ if name not in ("rules", "by_finding")}
    return Pack(**values, rules=rules, by_finding=by_finding)


def _parameters(read: _Reader, table: object) -> dict[str, Value]:
    if not isinstance(table, dict):
        raise read.refuse("[parameters] must be a table", "parameters")
    for name, value in table.items():
        if not isinstance(value, bool | int | str):
            raise read.refuse(f"parameter `{name}` must be a number, a text, true or false", name)
    return dict(table)


def _windows(read: _Reader, table: object, parameters: Mapping[str, Value]) -> dict[str, Condition]:
    if not isinstance(table, dict):
        raise read.refuse("[windows] must be a table", "windows")
    return {name: _condition(read, str(source), parameters, f"window `{name}`") for name, source in table.items()}


def _condition(read: _Reader, source: str, parameters: Mapping[str, Value], where: str) -> Condition:
    try:
        return Condition(source, parameters)
    except ConditionError as error:
        raise read.refuse(f"{where}: {error}", source[:40]) from error


def _procedure(read: _Reader, table: object) -> dict[str, str]:
    read.only(table, set(PROCEDURES), "[procedure]")
    assert isinstance(table, dict)
    for name, value in table.items():
        if value not in PROCEDURES[name]:
            raise read.refuse(f"`{name}` is `{value}`", name, f"use one of {', '.join(PROCEDURES[name])}")
    return dict(table)


def _rule(read: _Reader, entry: object, parameters: Mapping[str, Value], windows: Mapping[str, Condition]) -> Rule:
    table = read.only(entry, RULE_KEYS, "a rule")
    rule_id = read.text(table, "id", "a rule")
    where = f"rule `{rule_id}`"
    near = f'"{rule_id}"'
    finding = table.get("finding")
    findings = tuple(finding) if isinstance(finding, list) else (finding,)
    for kind in findings:
        if kind not in KINDS:
            raise read.refuse(f"{where}: unknown finding `{kind}`", near, f"use one of {', '.join(sorted(KINDS))}")
    window = read.text(table, "window", where, "")
    if window and window not in windows:
        raise read.refuse(f"{where}: unknown window `{window}`", near, "declare it under [windows]")
    when = read.text(table, "when", where, "")
    answer = _answer(read, {k: v for k, v in table.items() if k in ANSWER_KEYS}, where, near)
    closed = Answer("play-on", (), "", "dealer")
    if "closed" in table:
        if not window:
            raise read.refuse(f"{where}: `closed` without a window", near)
        said = table["closed"]
        closed = _answer(read, {"ruling": said} if isinstance(said, str) else said, f"{where}, closed", near)
    return Rule(
        id=rule_id,
        findings=findings,
        when=_condition(read, when, parameters, where) if when else None,
        window=window,
        cite=read.text(table, "cite", where),
        open=answer,
        closed=closed,
    )


def _answer(read: _Reader, entry: object, where: str, near: str) -> Answer:
    table = read.only(entry, ANSWER_KEYS, where)
    ruling = read.text(table, "ruling", where)
    if ruling not in STRENGTH:
        raise read.refuse(f"{where}: unknown ruling `{ruling}`", near, f"use one of {', '.join(STRENGTH)}")
    remedy = table.get("remedy", [])
    if not isinstance(remedy, list):
        raise read.refuse(f"{where}: `remedy` must be a list of steps", near)
    for step in remedy:
        if not isinstance(step, str) or parse_verb(step) == ("", ""):
            raise read.refuse(f"{where}: unknown step `{step}`", near, f"use one of {', '.join(sorted(VERBS))}")
    decides = read.text(table, "decides", where, "floor" if ruling == "floor" else "dealer")
    if decides not in DECIDERS:
        raise read.refuse(f"{where}: `decides` is `{decides}`", near, "use dealer or floor")
    return Answer(ruling, tuple(remedy), read.text(table, "say", where, ""), decides)
