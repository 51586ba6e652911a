"""The judge: a finding and the facts go in, the first rule that matches, from the highest layer down, comes out."""

from __future__ import annotations

from dealershoe.rules.pack import Answer, Pack, Rule
from dealershoe.rules.remedy import phrase, texts
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.stack import Stack
from dealershoe.table.findings import Facts, Finding, Reading, facts, readings
from dealershoe.table.state import HandState, folded

NO_RULE = Answer("floor", (), "No rule was found for this: call the floor", "floor")
ASK = Answer("floor", (), "It depends on the actions so far, and their kind is not known: call the floor", "floor")


def judge(stack: Stack, state: HandState, finding: Finding) -> Ruling | None:
    """The ruling on `finding`, or None where a rule says that nothing is wrong.

    No rule in any layer: the floor is called. What depends on actions whose kind nobody has said asks the floor as
    well; it is never guessed. A hand that was folded cannot be killed: play on.
    """
    ruling = _any_reading(stack, state, finding)
    if ruling is not None and ruling.ruling == "dead" and folded(state, ruling.seat):
        say = f"Seat {ruling.seat} has folded: play on"
        return ruling._replace(ruling="play-on", say=say, verbs=(), remedy=())
    return ruling


def _any_reading(stack: Stack, state: HandState, finding: Finding) -> Ruling | None:
    """The ruling, if it is the same however the actions that were only counted are read; else it is for the floor."""
    found = [_first_match(stack, state, finding, reading) for reading in readings(state)]
    if all(ruling == found[0] for ruling in found):
        return found[0]
    rules = {(ruling.layer, ruling.rule) if ruling else None for ruling in found}
    asked = _ruling(ASK, state, finding, window="ask")
    if asked is not None and len(rules) == 1 and found[0] is not None:  # its window is all that is in doubt
        one = found[0]
        return asked._replace(rule=one.rule, cite=one.cite, layer=one.layer, version=one.version, digest=one.digest)
    return asked


def _first_match(stack: Stack, state: HandState, finding: Finding, reading: Reading) -> Ruling | None:
    known = facts(state, finding, reading)
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
    if window.holds(known):
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
