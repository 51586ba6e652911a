"""Everything that is wrong or doubtful in a pack's file, with its line. Pure but for reading the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dealershoe.deal.grammar import parse
from dealershoe.deal.items import DealError
from dealershoe.errors import UserError
from dealershoe.rules import lint_matching, lint_remedies
from dealershoe.rules.conditions import Condition
from dealershoe.rules.lint_space import Budget, impossible_texts
from dealershoe.rules.pack import Pack, examine, strange_windows
from dealershoe.rules.pack_fields import shown
from dealershoe.rules.stack import Library, Stack, combined, extended
from dealershoe.rules.toml_lines import Lines
from dealershoe.rules.toml_lines import Path as Place
from dealershoe.table.findings import KINDS

LEVELS = ("problem", "warning", "info")


class Remark(NamedTuple):
    """`level` is one of LEVELS: a problem must be put right, a warning read, an info known."""

    line: int
    level: str
    text: str


def lint(path: Path, stack: Stack | None = None, library: Library | None = None) -> tuple[Remark, ...]:
    """All remarks on a file by line; what no rule answers is held against `stack` where one is given.

    What the pack extends is looked for beside it, in `library` and among the packs that come with the program.
    Raises UserError for a file that cannot be read as TOML.
    """
    pack, problems, lines = examine(path)
    remarks = [Remark(problem.line, "problem", _sentence(problem.seen, problem.do)) for problem in problems]
    whole, strange = _inherited(pack, path, lines, library)
    remarks += strange
    remarks += _texts(pack, lines)
    remarks += _matching(whole, lines)
    remarks += _remedies(pack, lines)
    remarks += _unused(pack, lines)
    remarks += _scripts(pack)
    remarks += _unanswered(pack, stack)
    return tuple(sorted(set(remarks), key=lambda r: (r.line, LEVELS.index(r.level), r.text)))


def _inherited(pack: Pack, path: Path, lines: Lines, library: Library | None) -> tuple[Pack, list[Remark]]:
    """The pack with the windows of what it extends, and its rules that name one which is nowhere."""
    if not pack.extends:
        return pack, []
    try:
        base = combined(extended(pack, path.parent, library)[1:])
    except UserError as error:
        return pack, [Remark(lines.line(("pack", "extends")), "problem", _sentence(error.seen, error.cause))]
    strange = [
        Remark(
            lines.line((*lines.path_at(rule.line), "window")),
            "problem",
            _sentence(f"rule `{rule.id}`: unknown window `{shown(rule.window)}`", do),
        )
        for rule, do in strange_windows(pack, base.windows)
    ]
    return replace(pack, windows={**base.windows, **pack.windows}), strange


def _sentence(seen: str, do: str) -> str:
    return f"{seen}; {do}" if do else seen


def _texts(pack: Pack, lines: Lines) -> Iterator[Remark]:
    """Facts compared with a text that they never are."""
    conditions: list[tuple[Place, str, Condition]] = [
        *((("windows", name), f"window `{name}`", condition) for name, condition in pack.windows.items()),
        *(((*lines.path_at(r.line), "when"), f"rule `{r.id}`", r.when) for r in pack.rules if r.when),
    ]
    for path, where, condition in conditions:
        for fact, text in impossible_texts(condition):
            yield Remark(lines.line(path, text), "problem", f"{where}: `{fact}` is never '{shown(text)}'")


def _matching(pack: Pack, lines: Lines) -> Iterator[Remark]:
    budget = Budget()
    for doubt in lint_matching.doubts(pack, budget):
        line = lines.line((*lines.path_at(doubt.rule.line), doubt.key))
        yield Remark(line, doubt.level, doubt.text)
    if budget.left <= 0:
        text = "too many rules on the same findings to hold each against each: some that never rule may not be named"
        yield Remark(1, "warning", text)


def _remedies(pack: Pack, lines: Lines) -> Iterator[Remark]:
    for rule in pack.rules:
        for level, key, text in lint_remedies.doubts(rule):
            step = re.search(r"step `([^`]*)`", text)
            line = lines.line((*lines.path_at(rule.line), key), f'"{step[1]}"' if step else "")
            yield Remark(line, level, text)


def _unused(pack: Pack, lines: Lines) -> Iterator[Remark]:
    conditions = [*pack.windows.values(), *(rule.when for rule in pack.rules if rule.when)]
    named = set().union(*(condition.names for condition in conditions))
    for name in pack.parameters:
        if name not in named and not pack.extends:
            yield Remark(lines.line(("parameters", name)), "warning", f"parameter `{name}` is used by no condition")
    windows = {rule.window for rule in pack.rules}
    for name in pack.windows:
        if name not in windows and not pack.extends:
            yield Remark(lines.line(("windows", name)), "warning", f"window `{name}` is used by no rule")


def _scripts(pack: Pack) -> Iterator[Remark]:
    """Scenarios that are no deal scripts. Whether they come out as they say is for `rules test`."""
    for scenario in pack.scenarios:
        try:
            parse("\n" * (scenario.first - 1) + scenario.deal, shown(scenario.name))
        except DealError as error:
            do = f"did you mean `{error.nearest}`?" if error.nearest else f"expected {error.expected}"
            text = f"scenario `{shown(scenario.name)}`: {error.got}; {do}"
            yield Remark(error.line, "problem", text)


def _unanswered(pack: Pack, stack: Stack | None) -> Iterator[Remark]:
    """Kinds of finding that no rule answers; `extends` may, so nothing is said of a pack that extends another."""
    if stack is None:
        missing = [kind for kind in KINDS if kind not in pack.by_finding]
        if missing and not pack.extends:
            yield Remark(1, "info", f"the next layer, or the floor, is asked about {', '.join(missing)}")
        return
    packs = [pack if layer.id == pack.id else layer for layer in stack.packs]
    missing = [kind for kind in KINDS if not any(kind in layer.by_finding for layer in packs)]
    if missing:
        yield Remark(1, "info", f"no rule of {stack.name} answers, so the floor is called about {', '.join(missing)}")
