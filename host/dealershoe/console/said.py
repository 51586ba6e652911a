"""The host's sentences by kind, so that a page can say them in its own language. For what the console sends.

A sentence is made where something happens, and is kept in journals as it is. Here stands of what kind it is and what is
filled in: the words of a kind are in `pages/words/`, one file a language. So are those of the rule books that come with
the program; a room's own pack has sentences of a kind where it says the same as they do.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from shoelink import schema

from dealershoe.bridge.bridge import KEPT_BY_SHOE
from dealershoe.deal.items import RULINGS
from dealershoe.desk.desk import NO_HAND
from dealershoe.desk.sealed import OPEN_SHOE, TOLD_SHOE, UNBOUND_SHOE
from dealershoe.desk.table_link import NOT_STORED
from dealershoe.link.faults import DETAILS, FAULTS, NODE
from dealershoe.rules.judge import ASK, NO_RULE
from dealershoe.rules.remedy import STREETS, VERBS
from dealershoe.table.findings import KINDS

_PLACE = r"seat \d+|burn|board|muck|off-table|unknown"
_STREET = "|".join(STREETS)
_CARDS = rf"(?:#\d+(?:, #\d+)*)?|picked at random|of the (?:{_STREET})|burned before the (?:{_STREET})|burned so far"
BLANKS = {  # what can stand in a blank
    "number": r"\d+", "came": r"\d+", "seat": r"\d+", "hand": r"\d+", "table": r"\d+", "shoe": r"\d+", "first": r"\d+",
    "last": r"\d+", "times": r"\d+", "seconds": r"\d+", "place": _PLACE,
    "due": rf"{_PLACE}|betting|ack|shuffle|pick|nothing", "street": _STREET, "cards": _CARDS,
    "knew": r"nobody|seats? [\d, ]+", "seats": r"[\d, ]+",
    "name": r"[\w.-]*", "line": r"[^`]*", "away": r"\d+", "blind": "small blind|big blind",
    "decision": "|".join(one.replace("-", " ") for one in RULINGS),
}  # fmt: skip
NESTED = (
    "fault",
    "reason",
    "cards",
    "knew",
)  # blanks that may hold a sentence, or a part of one, with a kind of its own
_ENGLISH = json.loads((files("dealershoe.console") / "pages" / "words" / "en.json").read_text(encoding="utf-8"))
_BOOKS = {kind: said for kind, said in _ENGLISH.items() if kind.startswith("book.")}  # by the rule that says it first


def _kind_of_fault(code: int) -> str:
    return f"fault.{schema.code_name('code', code).lower().replace('_', '-')}"


# `detail`: what a system, a port or a defect says of itself; it stays as it is
SENTENCES: dict[str, str] = {
    **{f"finding.{kind}": said for kind, said in KINDS.items()},
    **{_kind_of_fault(code): said for code, said in FAULTS.items()},
    **{f"{_kind_of_fault(code)}-{name}": said for (code, _), (name, said) in DETAILS.items()},
    "fault.seat-node-at": NODE,
    "fault.disk": f"the journal cannot be written ({{detail}}); {KEPT_BY_SHOE}",
    "fault.disk-again": "the journal is written again",
    "fault.unbound": UNBOUND_SHOE,
    "fault.secret": "the secret of the shoe's hand {hand} proves nothing: {detail}",
    "fault.over": "over: {fault}",
    **{f"do.{verb}": known.text for verb, known in VERBS.items()},
    "of.picked": "picked at random",
    "of.board": "of the {street}",
    "of.burn": "burned before the {street}",
    "of.burns": "burned so far",
    "knew.nobody": "nobody",
    "knew.seat": "seat {seat}",
    "knew.seats": "seats {seats}",
    "say.no-rule": NO_RULE.say,
    "say.ask": ASK.say,
    "say.late": "Too late to change it: play on",
    "say.folded": "Seat {seat} has folded: play on",
    "say.decided": "The floor decides: {decision}",
    "say.nothing": "Nothing is wrong",
    "question.where": "card #{number} seems to have gone to {place}, due was {due}: say where it went",
    "question.unknown": "card #{number} left the shoe, due was {due}: say where it went",
    "question.burn": "burn #{number} left before the betting was complete: it stays the burn, deal no further card yet",
    "question.unseen": "no head saw which way up {cards} left the shoe: if it came face up, "
    "say `report boxed #{number}`",
    "note.taken-boxed": "no head saw #{number} in the shoe, and it lies face up: taken as boxed; if somebody turned it "
    "over, say `exposed #{number}`",
    "note.still-boxed": "#{number} was taken as boxed: if somebody turned it over, say `exposed #{number}`",
    # why nothing is judged
    "reason.no-hand": NO_HAND,
    "reason.rules-gone": "the rules that hand {hand} began with are not here any more ({detail})",
    "reason.open-shoe": OPEN_SHOE,
    "reason.told-shoe": TOLD_SHOE,
    "reason.memory": "the shoe lost its memory in the middle of the hand",
    "reason.other-shoe": "the shoe lost its memory, or it is another one, in the middle of the hand",
    "reason.card-missing": "card #{number} of the hand is missing, #{came} came",
    "reason.card-refused": "the table could not take a card that the shoe reported",
    "reason.card-before": "a card left the shoe before it had heard that the hand begins: nobody can say whose it is",
    "reason.other-hand": "the shoe deals hand {shoe}, the table is in hand {table}",
    "reason.may-be-missing": "{fault}: a card may be missing",
    "reason.reports-gone": "reports {first} to {last} of the shoe are gone for good",
    "reason.not-understood": "the shoe reports something that must be understood and is not ({detail})",
    # why the shoe is not there
    "reason.waiting": "waiting for the shoe",
    "reason.not-stored": NOT_STORED,
    "reason.silent": "the shoe is silent",
    "reason.restarted": "the shoe started again",
    "reason.no-session": "no session with this shoe: {detail}",
    "reason.stopped": "the bridge has stopped",
    "reason.failed": "the bridge has failed: {detail}",
    "reason.table-stopped": "the table's bridge has stopped",
    "reason.table-failed": "the table's bridge has failed: {detail}",
    # as they are heard
    "link.align": "align: {reason}; nothing is judged until the next hand begins",
    "link.down": "unsupervised: {reason}",
    "link.down-again": "unsupervised again: {reason}",
    "link.up-again": "the shoe is on the line again",
    "link.proven": "the shoe {name} is on the line, proven by its key",
    "link.up": "the shoe {name} is on the line",
    **_BOOKS,
    # why a line is not taken, as far as a page's keys can say one
    "refused.no-card": "an exposed card; no card has been drawn in this hand; deal first",
    "refused.no-undo": "there is nothing to take back; nothing was said in this hand, or a step that follows from it "
    "is done; call the floor if something is wrong",
    "refused.floors": "this would take back a decision of the floor; only the floor may",
    "refused.align": "`{line}` is not taken; nothing is judged now: {reason}; begin a hand first",
    "refused.no-hand": "`hand next`; no hand has been played at this table; describe the first hand in full",
    "refused.away": "a hand with {number} seat(s); {away} player(s) are away; wait for them",
    "refused.left": "{number} player(s) left; everyone else is gone; end the table or add players",
    "refused.blind": "the {blind} at seat {seat}; that seat is not dealt in; correct seats= or the blind",
    "refused.down": "table {name} is down: {detail}",
    "refused.no-answer": "there is no answer yet after {seconds} s; ask again with the same id, it is done once",
    "refused.look-only": "{name} may look, and say nothing",
    "refused.key": "no key takes the floor's decision back: call the floor, who says `undo`",
}
PORT = "reason.port"  # what is no other reason is about the port, and for whoever plugs shoes in
WORDS = SENTENCES | {PORT: "{detail}"}


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    text = []
    for n, part in enumerate(parts):
        if n % 2 == 0:
            text.append(re.escape(part))
        else:  # a blank that stands there twice holds the same twice
            text.append(f"(?P={part})" if part in parts[1:n:2] else f"(?P<{part}>{BLANKS.get(part, '.+')})")
    return re.compile("".join(text), re.DOTALL)


_PATTERNS = {kind: _pattern(said) for kind, said in SENTENCES.items() if "{" in said}
_PLAIN = {said: kind for kind, said in SENTENCES.items() if "{" not in said}


@functools.lru_cache(maxsize=4096)
def kind_of(text: str) -> dict[str, Any] | None:
    """The `kind` of a sentence and the `values` in its blanks, themselves of a kind where they have one; None: none."""
    if text in _PLAIN:
        return {"kind": _PLAIN[text], "values": {}}
    for kind, pattern in _PATTERNS.items():
        found = pattern.fullmatch(text)
        if found is not None:
            values: dict[str, Any] = found.groupdict()
            for name in NESTED:
                if values.get(name):
                    values[name] = why_down(values[name]) if name == "reason" else kind_of(values[name]) or values[name]
            return {"kind": kind, "values": values}
    return None


def why_down(text: str) -> dict[str, Any]:
    """The kind of a reason why the shoe is not there: what is no other is about its port."""
    return kind_of(text) or {"kind": PORT, "values": {"detail": text}}


def kinds(texts: Iterable[str]) -> dict[str, Any]:
    """Of those of `texts` that have one, by text."""
    return {text: found for text in texts if text and (found := kind_of(text)) is not None}
