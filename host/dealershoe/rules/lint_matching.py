"""Which rules of a pack can match, and which of them match the same findings. For `rules lint`.

First match wins, so rules that overlap are not wrong: the narrower one stands first. Wrong is a rule that nothing
reaches, and doubtful are two rules of which neither is the narrower.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from dealershoe.rules.conditions import Condition
from dealershoe.rules.lint_space import Budget, TooWideError, assignments
from dealershoe.rules.pack import Pack, Rule
from dealershoe.table.findings import Facts


class Doubt(NamedTuple):
    """What is doubtful about a rule, and the key of it that says so."""

    rule: Rule
    key: str
    level: str
    text: str


def doubts(pack: Pack, budget: Budget) -> Iterator[Doubt]:
    """Rules that never match, that earlier ones shadow, that contradict one another, and windows without two sides.

    What the budget does not reach to is left open.
    """
    dead = set()
    for rule in pack.rules:
        never = [kind for kind in rule.findings if _never(kind, rule, budget)]
        for kind in never:
            dead.add((kind, rule.id))
            of = f" to `{kind}`" if len(rule.findings) > 1 else ""
            yield Doubt(rule, "when", "problem", f"rule `{rule.id}` can never match{of}: no facts make its `when` true")
        if len(never) < len(rule.findings):
            yield from _window(pack, rule, budget)
    for kind, rules in pack.by_finding.items():
        yield from _shadowed(kind, [rule for rule in rules if (kind, rule.id) not in dead], budget)
    yield from _overlapping(pack, dead, budget)


def _never(kind: str, rule: Rule, budget: Budget) -> bool:
    if rule.when is None:
        return False
    try:
        return not any(rule.when.holds(facts) for facts in assignments(kind, [rule.when], budget))
    except TooWideError:
        return False


def _window(pack: Pack, rule: Rule, budget: Budget) -> Iterator[Doubt]:
    """Is the window, where the rule matches, open for some facts and closed for others?"""
    window = pack.windows.get(rule.window) if rule.window else None
    if window is None:  # none asked for, or one that is a problem of its own
        return
    conditions = [window] if rule.when is None else [window, rule.when]
    sides = set()
    try:
        for kind in rule.findings:
            for facts in assignments(kind, conditions, budget):
                if rule.when is None or rule.when.holds(facts):
                    sides.add(window.holds(facts))
    except TooWideError:
        return
    if sides == {False}:
        yield Doubt(
            rule, "window", "warning", f"rule `{rule.id}`: window `{rule.window}` is never open where it matches"
        )
    elif sides == {True}:
        text = f"rule `{rule.id}`: window `{rule.window}` never closes where it matches"
        yield Doubt(rule, "window", "warning", text)


def _shadowed(kind: str, rules: Sequence[Rule], budget: Budget) -> Iterator[Doubt]:
    for index, rule in enumerate(rules):
        shadow = _shadow(kind, rule, rules[:index], budget) if index else ""
        if shadow:
            yield Doubt(rule, "id", "problem", f"rule `{rule.id}` is never reached for `{kind}`: {shadow}")


def _overlapping(pack: Pack, dead: Collection[tuple[str, str]], budget: Budget) -> Iterator[Doubt]:
    """Pairs of rules of which neither is the narrower, unless the second says that it comes `after` the first."""
    for index, rule in enumerate(pack.rules):
        for other in pack.rules[:index]:
            if other.id in rule.after:
                continue
            kinds = [k for k in rule.findings if k in other.findings and not {(k, rule.id), (k, other.id)} & set(dead)]
            found = [(kind, both) for kind in kinds if (both := _overlap(kind, other, rule, budget)) is not None]
            if found:
                of = " and ".join(kind for kind, _ in found)
                text = (
                    f"rules `{other.id}` (line {other.line}) and `{rule.id}` both match {of} and answer differently, "
                    f"for one where {said(found[0][1])}; say `after` if the first is to rule"
                )
                yield Doubt(rule, "when", "warning", text)


def _holds(rule: Rule, facts: Facts) -> bool:
    return rule.when is None or rule.when.holds(facts)


def _conditions(rules: Sequence[Rule]) -> list[Condition]:
    return [rule.when for rule in rules if rule.when is not None]


def _shadow(kind: str, rule: Rule, earlier: Sequence[Rule], budget: Budget) -> str:
    """Which earlier rules take every finding that the rule matches, "" if none do."""
    for other in earlier:
        if _covered(kind, rule, [other], budget):
            return f"`{other.id}` (line {other.line}) takes all that it matches"
    if len(earlier) > 1 and _covered(kind, rule, earlier, budget):
        return "the rules before it take all that it matches"
    return ""


def _covered(kind: str, rule: Rule, earlier: Sequence[Rule], budget: Budget) -> bool:
    if any(other.when is None for other in earlier):
        return True
    try:
        for facts in assignments(kind, _conditions([rule, *earlier]), budget):
            if _holds(rule, facts) and not any(_holds(other, facts) for other in earlier):
                return False
    except TooWideError:
        return False
    return True


def _overlap(kind: str, first: Rule, second: Rule, budget: Budget) -> Facts | None:
    """Facts that both rules match, if neither is the narrower and their answers differ."""
    if first.when is None or second.when is None or _answers(first) == _answers(second):
        return None
    both: Facts | None = None
    only_first = only_second = False
    try:
        for facts in assignments(kind, [first.when, second.when], budget):
            one, two = first.when.holds(facts), second.when.holds(facts)
            if one and two and both is None:
                both = facts
            only_first = only_first or (one and not two)
            only_second = only_second or (two and not one)
    except TooWideError:
        return None
    return both if only_first and only_second else None


def _answers(rule: Rule) -> tuple[object, ...]:
    """What the rule makes people do, on both sides of its window."""
    sides = [rule.open, rule.closed] if rule.window else [rule.open]
    return rule.window, *((side.ruling, side.remedy) for side in sides)


def said(facts: Facts) -> str:
    """Facts in the words of a condition."""
    parts = [
        (name if value else f"!{name}") if isinstance(value, bool)
        else f"{name} == {value}" if isinstance(value, int) else f"{name} == '{value}'"
        for name, value in facts.items()
    ]  # fmt: skip
    return " && ".join(parts)
