"""The log of a hand, folded under a stack: an entry further, or again from where it was changed. For the session."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, Self

from dealershoe.errors import UserError
from dealershoe.events import (
    Act,
    BettingComplete,
    DealerPush,
    DeckLoaded,
    DeckRequest,
    Draw,
    DrawForButton,
    Event,
    Exposed,
    FloorDecision,
    LimitChange,
    Misread,
    Place,
    ReportBoxed,
    ReportTarget,
    ShuffledStub,
    Undo,
)
from dealershoe.log import (
    Entry,
    Key,
    changed,
    earliest,
    overtaken,
)
from dealershoe.rules.judge import judge
from dealershoe.rules.remedy import decided, prescribe, renews_deck
from dealershoe.rules.ruling import STRENGTH, Ruling
from dealershoe.rules.stack import Stack
from dealershoe.table.buttons import draw_for_button
from dealershoe.table.drawing import next_number
from dealershoe.table.findings import KINDS, OF_THE_DECK, Finding
from dealershoe.table.fold import fold
from dealershoe.table.setup import Setup
from dealershoe.table.state import STUB, Card, HandState, at, deck_doubt

Noted = list[tuple[Key, Finding]]


class Outcome(NamedTuple):
    """What telling a fact brought: rulings, weakest first, and remarks on what could not be used."""

    rulings: tuple[Ruling, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ruling(self) -> Ruling | None:
        """The ruling that counts: the strongest."""
        return self.rulings[-1] if self.rulings else None


SILENCE = Outcome()


class Situation(NamedTuple):
    """What the rules are asked about: a finding, and the hand as it was then."""

    hand: HandState
    finding: Finding


class TableState(NamedTuple):
    """What is known of the table: the hand in play, its rulings, and what goes on from hand to hand."""

    hand: HandState | None = None
    rulings: tuple[Ruling, ...] = ()  # of the hand; each has its remedy at the same index
    setup: Setup | None = None
    button: int = 0
    deck: str = ""  # the answer to the last question about the deck: change or keep
    hands: int = 0

    def with_hand(self, hand: HandState) -> TableState:
        """The same table, the hand one fact further."""
        return TableState(hand, self.rulings, self.setup, self.button, self.deck, self.hands)


class Chronicle:
    """What has been told of a hand, and what followed from it. Pure: the same facts give the same rulings."""

    def __init__(self, stack: Stack, base: TableState | None = None) -> None:
        """`base`: what is known of the table from before, where it is not a new one."""
        self.stack = stack
        self._entries: list[Entry] = []
        self._states: list[TableState] = []  # after each entry
        self._base = base or TableState()  # before the first entry
        self.found: tuple[Finding, ...] = ()  # what the latest fact brought to judgement, ruled on or not
        self._noticed: dict[Key, int] = {}  # the entry at which each finding was noticed and judged
        self._draws: dict[int, int] = {}  # draw number → entry
        self._asked: dict[Key, Situation] = {}  # what the rules were asked about each finding
        self._next = 1

    def fork(self) -> Self:
        """Another session with the same past; what is told to one the other does not hear."""
        other = copy(self)
        other._entries, other._states = self._entries[:], self._states[:]
        other._noticed, other._draws, other._asked = dict(self._noticed), dict(self._draws), dict(self._asked)
        return other

    @property
    def table(self) -> TableState:
        return self._states[-1] if self._states else self._base

    @property
    def hand(self) -> HandState | None:
        return self.table.hand

    def _append(self, entry: Entry) -> Outcome:
        """One more entry at the end of the log. What is as it should be, by far the most, takes the short way."""
        event = entry.event
        table = self._states[-1] if self._states else self._base
        hand = table.hand
        if hand is not None and not entry.went and _is_plain(event):
            step = fold(hand, event)
            if not step.findings and step.state.setup is hand.setup:
                self.found = ()
                table = table.with_hand(step.state)
                if type(event) is Draw:
                    self._draws[step.state.last] = entry.id
                    if event.target is None:
                        went = (_due_place(step.state.cards[step.state.last - 1]),)
                        entry = Entry(entry.id, event, entry.source, None, None, went)
                self._entries.append(entry)
                self._states.append(table)
                return Outcome((), step.notes) if step.notes else SILENCE
        state, rulings, notes = self._apply(self.table, entry, entry.id, {})
        if type(event) is Draw and event.target is None:
            cards = sorted(number for number, at_ in self._draws.items() if at_ == entry.id)
            known = state.hand.cards if state.hand is not None else ()
            entry = entry._replace(went=tuple(_due_place(known[number - 1]) for number in cards))
        self._entries.append(entry)
        self._states.append(state)
        return Outcome(rulings, notes) if rulings or notes else SILENCE

    def _apply(
        self, table: TableState, entry: Entry, now: int, deferred: dict[int, Noted]
    ) -> tuple[TableState, tuple[Ruling, ...], tuple[str, ...]]:
        """One entry onto the table. `now`: the entry at which a finding that is new has been noticed."""
        self.found = ()
        table, rulings, notes = self._fact(table, entry, now, deferred)
        if table.deck == "change" or not (rulings or isinstance(entry.event, Draw)):
            return table, rulings, notes
        doubt = _doubt(table, entry, rulings)
        if doubt and self.stack.procedure("deck_on_doubt") == "change":
            return table._replace(deck="change"), rulings, (*notes, f"{doubt}: change the deck after this hand")
        return table, rulings, notes

    def _fact(
        self, table: TableState, entry: Entry, now: int, deferred: dict[int, Noted]
    ) -> tuple[TableState, tuple[Ruling, ...], tuple[str, ...]]:
        """One entry's fact, and what is ruled on it."""
        event = entry.event
        if len(entry.went) == 1 and isinstance(event, Draw) and entry.went[0] is not None:
            event = event.sent_to(entry.went[0])
        if isinstance(event, Exposed | ReportBoxed) or (type(event) is Draw and (event.exposed or event.up)):
            event = self._as_it_stands(table, entry, event)
        around = _AROUND.get(type(event))
        if around is not None:
            table, notes = around(table, event, self.stack)
            return table, (), notes
        if table.hand is None:
            return table, (), ("no hand is in play: nothing is judged until one begins",)
        if not deferred and type(event) not in _REWRITES and not (type(event) is Draw and event.double):
            step = fold(table.hand, event)
            if not step.findings:  # by far the most facts are as they should be
                if type(event) is Draw:
                    self._draws[step.state.last] = entry.id
                if step.state.setup is table.hand.setup:
                    return table.with_hand(step.state), (), step.notes
        before = len(table.rulings)
        notes = ()
        if isinstance(event, FloorDecision):
            table = _decide(table, entry, event)
        elif not isinstance(event, Undo | ReportTarget | Misread):
            for fact in _single(event, entry.went):
                assert table.hand is not None
                step = fold(table.hand, fact)
                notes += step.notes
                if isinstance(fact, Draw):
                    self._draws[step.state.last] = entry.id
                table = table._replace(hand=step.state)
                if step.findings:
                    table = self._rule(table, self._notice(step.findings, entry, now, deferred), entry)
        if deferred:
            table = self._rule(table, deferred.pop(entry.id, []), entry)
        assert table.hand is not None
        if table.hand.setup.button != table.button and table.hand.setup is not table.setup:
            table = table._replace(button=table.hand.setup.button, setup=table.hand.setup)
        return table, tuple(sorted(table.rulings[before:], key=strength)), notes

    def _as_it_stands(self, table: TableState, entry: Entry, event: Event) -> Event:
        """Which way up a card lay in the shoe: what somebody has said otherwise since says nothing any more."""
        if isinstance(event, Draw):
            number = next_number(table.hand) if table.hand is not None else 0
            fallen = overtaken(self._entries, entry, (number, entry.id), False)
            return changed(event, exposed=None, up=False, touched=False) if fallen else event
        boxed = isinstance(event, ReportBoxed) and event.boxed
        return Undo() if overtaken(self._entries, entry, entry.about, boxed) else event

    def _notice(self, findings: tuple[Finding, ...], entry: Entry, now: int, deferred: dict[int, Noted]) -> Noted:
        """The findings to be judged at `entry`; those that were noticed only later wait in `deferred`."""
        found: Noted = []
        for finding in findings:
            about = finding.seat or (finding.cards[-1] if finding.cards else 0)
            key = (entry.id, finding.kind, about)
            if any(other.overrules == key for other in self._entries):
                continue
            noticed = self._noticed.setdefault(key, now)
            if noticed == entry.id:
                found.append((key, finding))
            else:
                deferred.setdefault(noticed, []).append((key, finding))
        return found

    def _rule(self, table: TableState, found: Noted, entry: Entry) -> TableState:
        """Judge what was found at one moment. A misdeal or a void hand leaves nothing for the other rulings to mend."""
        ruled: list[tuple[Key, Ruling]] = []
        self.found += tuple(finding for _, finding in found)
        for key, finding in found:
            assert table.hand is not None
            finding = _whole(table.hand, finding)
            self._asked[key] = Situation(table.hand, finding)
            ruling = judge(self.stack, table.hand, finding)
            if ruling is not None:
                ruled.append((key, ruling._replace(event=entry.id)))
        ruled.sort(key=lambda pair: strength(pair[1]))
        if ruled and strength(ruled[-1][1]) >= STRENGTH["misdeal"]:
            ruled = ruled[-1:]
        for key, ruling in ruled:
            table = _follow(table, ruling, key)
        return table

    def _refold(
        self, entries: list[Entry], marker: Entry, start: int, noticed: dict[Key, int] | None = None
    ) -> Outcome:
        """Fold the changed log again from `start`; what is found only now is judged as things stand at `marker`.

        `noticed`: when each finding has been noticed, if that is changed too.
        """
        before = (self._entries, self._noticed, self._draws, dict(self._asked))
        entries = [*entries, marker]
        ids = {entry.id for entry in entries}
        self._entries = entries
        known = self._noticed if noticed is None else noticed
        self._noticed = {key: at_ for key, at_ in known.items() if at_ in ids and key[0] in ids}
        start = earliest(entries, start, self._noticed)
        states = self._states[:start]
        deferred: dict[int, Noted] = {}
        self._draws = dict(self._draws)
        outcome = Outcome()
        try:
            for entry in entries[start:]:
                state, rulings, notes = self._apply(states[-1], entry, marker.id, deferred)
                states.append(state)
                outcome = Outcome(rulings, notes)
            went_back = _went_back(before[0], self._states)
            if any(went_back.get(at_, cards) != cards for at_, cards in _went_back(entries, states).items()):
                raise UserError(
                    "what was said of the cards before",
                    "other cards would have gone back into the shoe than did",
                    "say what the players hold now (`report count`)",
                )
        except UserError:
            self._entries, self._noticed, self._draws, self._asked = before
            raise
        self._states = states
        return outcome


def _went_back(entries: list[Entry], states: list[TableState]) -> dict[int, frozenset[int]]:
    """The cards that were back in the shoe at each shuffle of the log, and the one that left again at each draw."""
    found: dict[int, frozenset[int]] = {}
    out = 0
    for entry, table in zip(entries, states, strict=False):
        if table.hand is None:
            continue
        if isinstance(entry.event, ShuffledStub | DeckLoaded):
            found[entry.id] = frozenset(at(table.hand, STUB))
        elif isinstance(entry.event, Draw):
            found[entry.id] = frozenset((table.hand.last,) if len(table.hand.cards) == out else ())
        out = len(table.hand.cards)
    return found


def _is_plain(event: Event) -> bool:
    """An action, or one card of the game, read and face down in the shoe: no doubt about the deck comes of it."""
    if type(event) is Draw:
        return not (event.double or event.unread or event.foreign or event.boxed or event.card == "joker")
    return type(event) is Act or type(event) is BettingComplete


def _whole(hand: HandState, finding: Finding) -> Finding:
    """A street that came too soon and was noticed only later, with the cards that joined it until then."""
    if finding.cards and finding.street == hand.early and finding.cards == hand.early_cards[: len(finding.cards)]:
        return finding._replace(cards=hand.early_cards)
    return finding


def strength(ruling: Ruling) -> int:
    return STRENGTH[ruling.ruling]


def _follow(table: TableState, ruling: Ruling, key: Key) -> TableState:
    """The ruling stands, and its remedy is on the agenda."""
    assert table.hand is not None
    deck = "change" if renews_deck(ruling) else table.deck
    return table._replace(hand=prescribe(table.hand, ruling, key), rulings=(*table.rulings, ruling), deck=deck)


def _decide(table: TableState, entry: Entry, event: FloorDecision) -> TableState:
    """The floor's own ruling, and what it asks of the dealer; a call that was open is answered by it."""
    hand = table.hand
    assert hand is not None
    answered = table.rulings[hand.calls[-1]] if hand.calls else None
    ruling = decided(event.decision, event.seat, answered)._replace(event=entry.id)
    return _follow(table._replace(hand=hand._replace(calls=())), ruling, (entry.id, "decision", ruling.seat))


def _doubt(table: TableState, entry: Entry, rulings: tuple[Ruling, ...]) -> str:
    """Why the deck is in doubt after `entry`, "" if it is not."""
    for ruling in rulings:
        if ruling.finding in OF_THE_DECK:
            return KINDS[ruling.finding]
    if not isinstance(entry.event, Draw) or table.hand is None or not table.hand.last:
        return ""
    drawn = table.hand.cards[table.hand.last - 1]
    return deck_doubt(table.hand) if drawn.unread or drawn.foreign or drawn.boxed or drawn.card == "joker" else ""


def _due_place(card: Card) -> Place | None:
    """Where the card was due, None when no card was."""
    wanted = card.due
    if wanted is None or wanted.kind not in ("seat", "burn", "board"):
        return None
    return wanted.seat or wanted.kind


def _single(event: Event, went: tuple[Place | None, ...] = ()) -> tuple[Event, ...]:
    """A double passage is two cards at the same place, the second unread; `went`: where each was due."""
    if isinstance(event, Draw) and event.double:
        behind = Draw(target=event.target, unread=True, confirmed=event.confirmed, unseen=event.unseen)
        cards = changed(event, double=False), behind
        if len(went) == len(cards) and event.target is None:
            return tuple(
                card if place is None else changed(card, target=place) for card, place in zip(cards, went, strict=True)
            )
        return cards
    return (event,)


def _button_drawn(table: TableState, event: Event, stack: Stack) -> tuple[TableState, tuple[str, ...]]:
    assert isinstance(event, DrawForButton)
    button = draw_for_button(event.cards, stack.procedure("button_tie") or "redraw")
    if button is None:
        return table, ("the highest cards tie: those players draw again",)
    return table._replace(button=button), ()


def _deck_question(question: str, table: TableState, stack: Stack) -> tuple[TableState, tuple[str, ...]]:
    answer = stack.procedure(question)
    notes = () if answer else ("no rule found about changing the deck: call the floor",)
    return table._replace(deck=answer or "keep"), notes


def _deck_requested(table: TableState, event: Event, stack: Stack) -> tuple[TableState, tuple[str, ...]]:
    assert isinstance(event, DeckRequest)
    return _deck_question("deck_on_proof" if event.marked else "deck_on_request", table, stack)


_REWRITES = (Undo, ReportTarget, Misread, FloorDecision)  # handled before the fold
_AROUND = {  # facts about the table rather than the hand
    DrawForButton: _button_drawn,
    DealerPush: lambda table, _, stack: _deck_question("deck_on_dealer_push", table, stack),
    LimitChange: lambda table, _, stack: _deck_question("deck_on_limit_change", table, stack),
    DeckRequest: _deck_requested,
}
