"""The judge: a finding and the facts go in, the first rule that matches, from the highest layer down, comes out."""

from __future__ import annotations

from dealershoe.rules.pack import Answer, Pack, Rule
from dealershoe.rules.remedy import phrase, texts
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.stack import Stack
from dealershoe.table.findings import Facts, Finding, facts
from dealershoe.table.state import HandState, folded

NO_RULE = Answer("floor", (), "No rule was found for this: call the floor", "floor")
ASK = Answer("floor", (), "It depends on the actions so far, and their kind is not known: call the floor", "floor")


def judge(stack: Stack, state: HandState, finding: Finding) -> Ruling | None:
    """The ruling on `finding`, or None where a rule says that nothing is wrong.

    No rule in any layer: the floor is called. A window that depends on actions whose kind nobody has said asks the
    floor as well; it is never guessed. A hand that was folded cannot be killed: play on.
    """
    ruling = _first_match(stack, state, finding)
    if ruling is not None and ruling.ruling == "dead" and folded(state, ruling.seat):
        say = f"Seat {ruling.seat} has folded: play on"
        return ruling._replace(ruling="play-on", say=say, verbs=(), remedy=())
    return ruling


def _first_match(stack: Stack, state: HandState, finding: Finding) -> Ruling | None:
    known = facts(state, finding)
    for pack in stack.packs:
        for rule in pack.by_finding.get(finding.kind, ()):
            if rule.when is not None and not rule.when.holds(known):
                continue
            return _answered(pack, rule, state, finding, known)
    return _ruling(NO_RULE, state, finding)


def _answered(pack: Pack, rule: Rule, state: HandState, finding: Finding, known: Facts) -> Ruling | None:
    if not rule.window:
        return _ruling(rule.open, state, finding, pack, rule)
    window = pack.windows[rule.window]
    is_open = window.holds(known)
    if any(act.kind is None for _, act in state.acts) and window.holds(facts(state, finding, "call")) != is_open:
        return _ruling(ASK, state, finding, pack, rule, "ask")
    if is_open:
        return _ruling(rule.open, state, finding, pack, rule, "open")
    return _ruling(rule.closed, state, finding, pack, rule, "closed")


def _ruling(
    answer: Answer,
    state: HandState,
    finding: Finding,
    pack: Pack | None = None,
    rule: Rule | None = None,
    window: str = "",
) -> Ruling | None:
    if answer.ruling == "none":
        return None
    say = answer.say or ("Too late to change it: play on" if window == "closed" else "")
    street = finding.street
    return Ruling(
        ruling=answer.ruling,
        rule=rule.id if rule else "",
        cite=rule.cite if rule else "",
        layer=pack.id if pack else "",
        finding=finding.kind,
        cards=finding.cards,
        seat=finding.seat,
        say=phrase(say, finding.cards, finding.seat, street, state.knew),
        decider=answer.decides,
        verbs=answer.remedy,
        remedy=texts(answer.remedy, finding.cards, finding.seat, street, state.knew),
        window=window,
        street=street,
        version=pack.version if pack else "",
        digest=pack.digest if pack else "",
    )
