"""Answers of rules that say one thing and do another: steps that find nothing to act on, rulings without a remedy."""

from __future__ import annotations

from collections.abc import Iterator

from dealershoe.rules.pack import Answer, Rule
from dealershoe.rules.remedy import VERBS, parse_verb

# Findings that are about no card, no seat: `{cards}` and `{seat}` stay empty, and steps that move a card move none.
CARDLESS = frozenset(
    {"cut-wrong", "short", "dealt-out", "button-wrong", "missing-card", "stub-dropped", "stub-short",
     "shuffle-doubted"}
)  # fmt: skip
SEATLESS = frozenset(
    {"burn-exposed", "premature-flop", "premature-turn", "premature-river", "premature-combination", "extra-board-card",
     "missing-burn", "extra-burn", "duplicate", "missing-card", "stub-dropped", "stub-short", "shuffle-doubted"}
)  # fmt: skip
# Findings of the initial deal: they are about no street that lies on the board.
DEALING = frozenset({"first-card-wrong-seat", "short", "dealt-out"})
NEEDED = {  # what a ruling means by its name, as the step that does it
    "misdeal": ("redeal",),
    "void": ("refund", "redeal"),  # or "refund-others", where a player knew
    "dead": ("dead-hand",),
}


def doubts(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """(level, key, text) for what is doubtful in the rule's answers."""
    sides = [("", rule.open)] + ([("closed", rule.closed)] if rule.window else [])
    for key, answer in sides:
        where = f"rule `{rule.id}`, closed" if key else f"rule `{rule.id}`"
        for level, inner, text in _answer(rule, answer):
            yield level, key or inner, f"{where}: {text}"


def _answer(rule: Rule, answer: Answer) -> Iterator[tuple[str, str, str]]:
    yield from _ruling(answer)
    yield from _order(answer.remedy)
    for kind in rule.findings:
        for step in answer.remedy:
            verb, operand = parse_verb(step)
            text = VERBS[verb].text
            if kind in CARDLESS and not operand and ("{cards}" in text or "cards" in VERBS[verb].operands):
                yield "problem", "remedy", f"step `{step}` has no card to act on: `{kind}` is about none"
            if kind in SEATLESS and "{seat}" in text:
                yield "problem", "remedy", f"step `{step}` has no seat to act on: `{kind}` is about none"
            if kind in DEALING and verb == "deal-street" and not operand:
                yield "problem", "remedy", f"step `{step}` has no street: `{kind}` is about the initial deal"
        if kind in CARDLESS and "{cards}" in answer.say:
            yield "problem", "say", f"`{{cards}}` stays empty: `{kind}` is about no card"
        if kind in SEATLESS and "{seat}" in answer.say:
            yield "problem", "say", f"`{{seat}}` stays empty: `{kind}` is about no seat"


def _ruling(answer: Answer) -> Iterator[tuple[str, str, str]]:
    verbs = {parse_verb(step)[0] for step in answer.remedy}
    if answer.ruling in ("none", "floor"):
        if answer.remedy:
            yield "problem", "remedy", f"the remedy of a `{answer.ruling}` is never asked for"
        return
    done = verbs | ({"refund"} if "refund-others" in verbs else set())
    missing = [step for step in NEEDED.get(answer.ruling, ()) if step not in done]
    if missing:
        yield "warning", "remedy", f"a `{answer.ruling}` without the step `{missing[0]}`"
    if answer.ruling in ("correct", "replace") and not answer.remedy:
        yield "warning", "remedy", f"a `{answer.ruling}` that asks for no step"
    if answer.ruling != "play-on" and not answer.say:
        yield "warning", "say", "the dealer reads nothing: there is no `say`"


def _order(remedy: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Steps in an order in which one of them comes to nothing."""
    picked = False
    for index, step in enumerate(remedy):
        verb, operand = parse_verb(step)
        if operand == "picked" and not picked:
            yield "problem", "remedy", f"step `{step}` before any `pick`"
        picked = picked or verb == "pick"
        if verb == "redeal" and index < len(remedy) - 1:
            yield "problem", "remedy", f"step `{remedy[index + 1]}` behind `redeal`, which ends the hand as it stands"
            return
    if picked and not any(parse_verb(step)[1] == "picked" for step in remedy):
        yield "warning", "remedy", "a `pick` whose card no later step names"
