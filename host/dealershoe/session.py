"""A table's session: facts are told, findings judged, remedies followed; late reports and undo fold again."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from dealershoe.errors import UserError
from dealershoe.events import (
    DealerPush,
    DeckRequest,
    Draw,
    DrawForButton,
    Event,
    Exposed,
    FloorDecision,
    Hand,
    LimitChange,
    NextHand,
    Place,
    PullBack,
    ReportTarget,
    Undo,
)
from dealershoe.rules.judge import judge
from dealershoe.rules.remedy import prescribe, texts
from dealershoe.rules.ruling import LOUDNESS, SIGNALS, STRENGTH, Ruling
from dealershoe.rules.stack import Stack
from dealershoe.table.agenda import Due, front
from dealershoe.table.buttons import draw_for_button
from dealershoe.table.findings import Finding
from dealershoe.table.fold import fold
from dealershoe.table.setup import Setup, first_setup, next_setup
from dealershoe.table.state import HandState, at, begin, due, open_remedies

SHOE = ("shoe", "seat sensor")  # sources that are not people: an undo passes over what they said
NOTHING = Due("nothing")
FLOOR_REMEDIES = {  # what the floor's own decision asks of the dealer
    "misdeal": ("redeal",),
    "void": ("refund", "new-deck", "redeal"),
    "dead": ("dead-hand",),
    "play-on": (),
}
Key = tuple[int, str, int]  # of a finding: the entry it arose at, its kind, what it is about


class Entry(NamedTuple):
    """One fact of the log. `amends`: the entry that it changed, as that was before; `overrules`: a finding."""

    id: int
    event: Event
    source: str
    amends: Entry | None = None
    overrules: Key | None = None


class Outcome(NamedTuple):
    """What telling a fact brought: rulings, weakest first, and remarks on what could not be used."""

    rulings: tuple[Ruling, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ruling(self) -> Ruling | None:
        """The ruling that counts: the strongest."""
        return self.rulings[-1] if self.rulings else None


class StepView(NamedTuple):
    """A step of a remedy as the dealer reads it."""

    text: str
    done: bool
    ruling: int  # index of the ruling among the hand's rulings


class TableState(NamedTuple):
    """What is known of the table around the hand in play."""

    hand: HandState | None = None
    setup: Setup | None = None
    button: int = 0
    deck: str = ""  # the answer to the last question about the deck: change or keep
    hands: int = 0


class TableSession:
    """Folds facts under a stack of rule packs. Pure: the same facts give the same rulings."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._entries: list[Entry] = []
        self._states: list[TableState] = []  # after each entry
        self._base = TableState()  # before the first entry
        self._noticed: dict[Key, int] = {}  # the entry at which each finding was noticed and judged
        self._draws: dict[int, int] = {}  # draw number → entry
        self._next = 1
        self._coming: Stack | None = None

    def change_rules(self, stack: Stack) -> None:
        """Judge by `stack` from the next hand on; the hand in play ends under the rules it began with."""
        self._coming = stack
        if self.hand is None:
            self._take_up_rules()

    def _take_up_rules(self) -> None:
        if self._coming is not None:
            self.stack, self._coming = self._coming, None

    # what is known

    @property
    def table(self) -> TableState:
        return self._states[-1] if self._states else self._base

    @property
    def hand(self) -> HandState | None:
        return self.table.hand

    @property
    def hand_number(self) -> int:
        return self.table.hands

    @property
    def aligned(self) -> bool:
        """False until a hand has begun: before that nothing is judged."""
        return self.hand is not None

    @property
    def draws(self) -> int:
        return len(self.hand.cards) if self.hand else 0

    @property
    def due(self) -> Due:
        return due(self.hand) if self.hand else NOTHING

    @property
    def due_street(self) -> str:
        """The street that the next open step belongs to, "" when nothing is open."""
        index = front(self.hand.agenda) if self.hand else -1
        return self.hand.agenda[index].street if self.hand and index >= 0 else ""

    @property
    def question(self) -> str | None:
        return self.hand.question or None if self.hand else None

    @property
    def signal(self) -> str:
        """The light: that of the loudest ruling whose remedy is not done or whose call is not answered."""
        if self.hand is None:
            return "ready"
        open_now = (*open_remedies(self.hand), *self.hand.calls)
        shown = [SIGNALS[self.hand.remedies[index].ruling.ruling] for index in open_now]
        return max(shown, key=lambda name: LOUDNESS[name], default="ready")

    @property
    def steps(self) -> tuple[StepView, ...]:
        """The steps of every open remedy, the latest remedy first."""
        if self.hand is None:
            return ()
        waiting = {(step.remedy, step.part) for step in self.hand.agenda if step.remedy >= 0}
        return tuple(
            StepView(text, (index, part) not in waiting, index)
            for index in reversed(open_remedies(self.hand))
            for part, text in enumerate(self.hand.remedies[index].texts)
        )

    def seat_cards(self, seat: int) -> tuple[int, ...]:
        return at(self.hand, seat) if self.hand else ()

    def places(self, place: Place) -> tuple[int, ...]:
        return at(self.hand, place) if self.hand else ()

    # telling

    def tell(self, event: Event, source: str = "") -> Outcome:
        """Take in one fact.

        Raises UserError, and changes nothing, when the fact cannot be true of this table.
        """
        special = _SPECIAL.get(type(event))
        if special is not None:
            return special(self, event, source)
        return self._append(Entry(self._next, event, source))

    def _append(self, entry: Entry) -> Outcome:
        if isinstance(entry.event, Hand | NextHand):
            return self._begin(entry)
        state, rulings, notes = self._apply(self.table, entry, None, {})
        entry = _pinned(entry, state)
        self._commit([*self._entries, entry], [*self._states, state])
        return Outcome(rulings, notes)

    def _commit(self, entries: list[Entry], states: list[TableState]) -> None:
        self._entries = entries
        self._states = states
        self._next = max(self._next, entries[-1].id) + 1

    def _begin(self, entry: Entry) -> Outcome:
        table = self.table
        if isinstance(entry.event, Hand):
            setup = first_setup(entry.event)
        elif isinstance(entry.event, NextHand):
            if table.setup is None:
                raise UserError(
                    "`hand next`", "no hand has been played at this table", "describe the first hand in full"
                )
            setup = next_setup(table.setup, entry.event)
        self._take_up_rules()
        started = table._replace(hand=begin(setup), setup=setup, button=setup.button, hands=table.hands + 1, deck="")
        self._base = table._replace(hand=None)
        self._noticed = {}
        self._draws = {}
        self._commit([entry], [started])
        return Outcome()

    # the fold

    def _apply(
        self, table: TableState, entry: Entry, now: int | None, deferred: dict[int, list[tuple[Key, Finding]]]
    ) -> tuple[TableState, tuple[Ruling, ...], tuple[str, ...]]:
        """One entry onto the table. `now`: while folding again, the entry at which what is new has been noticed."""
        around = _around(table, entry.event, self.stack)
        if around is not None:
            return around[0], (), around[1]
        if table.hand is None:
            return table, (), ("no hand is in play: nothing is judged until one begins",)
        hand = table.hand
        rulings: tuple[Ruling, ...] = ()
        notes: tuple[str, ...] = ()
        if isinstance(entry.event, FloorDecision):
            hand, rulings = _decide(hand, entry)
        elif not isinstance(entry.event, Undo | ReportTarget):
            for fact in _single(entry.event):
                step = fold(hand, fact)
                notes += step.notes
                hand = step.state
                if isinstance(fact, Draw):
                    self._draws[hand.last] = entry.id
                found = []
                for finding in step.findings:
                    key = (entry.id, finding.kind, finding.seat or (finding.cards[-1] if finding.cards else 0))
                    if any(e.overrules == key for e in self._entries):
                        continue
                    at_entry = self._noticed.get(key)
                    if at_entry is None:
                        at_entry = self._noticed[key] = entry.id if now is None else now
                    if at_entry == entry.id:
                        found.append((key, finding))
                    else:
                        deferred.setdefault(at_entry, []).append((key, finding))
                hand, more = self._rule(hand, found, entry.id)
                rulings += more
        hand, more = self._rule(hand, deferred.pop(entry.id, []), entry.id)
        if hand.setup is not table.hand.setup:
            table = table._replace(button=hand.setup.button)
        return table._replace(hand=hand), tuple(sorted(rulings + more, key=_strength)), notes

    def _rule(
        self, hand: HandState, found: list[tuple[Key, Finding]], entry: int
    ) -> tuple[HandState, tuple[Ruling, ...]]:
        """Judge what was found at one moment. A misdeal or a void hand leaves nothing for the other rulings to mend."""
        ruled = []
        for key, finding in found:
            ruling = judge(self.stack, hand, finding)
            if ruling is not None:
                ruled.append((key, ruling._replace(event=entry)))
        ruled.sort(key=lambda pair: _strength(pair[1]))
        if ruled and STRENGTH[ruled[-1][1].ruling] >= STRENGTH["misdeal"]:
            ruled = ruled[-1:]
        for key, ruling in ruled:
            hand = prescribe(hand, ruling, key)
        return hand, tuple(ruling for _, ruling in ruled)

    def _refold(self, entries: list[Entry], now: int) -> Outcome:
        """Fold a changed log again; what is found only now is judged as things stand now."""
        before = (self._entries, dict(self._noticed), dict(self._draws))
        start = 0
        while start < min(len(entries), len(self._entries)) and entries[start] == self._entries[start]:
            start += 1
        states = self._states[:start]
        deferred: dict[int, list[tuple[Key, Finding]]] = {}
        ids = {entry.id for entry in entries}
        self._noticed = {key: at_ for key, at_ in self._noticed.items() if at_ in ids and key[0] in ids}
        self._entries = entries
        rulings: tuple[Ruling, ...] = ()
        notes: tuple[str, ...] = ()
        try:
            for entry in entries[start:]:
                table = states[-1] if states else self._base
                if isinstance(entry.event, Hand | NextHand):
                    states.append(self._states[0])
                    continue
                state, rulings, notes = self._apply(table, entry, now, deferred)
                states.append(state)
        except UserError:
            self._entries, self._noticed, self._draws = before
            raise
        self._commit(entries, states)
        return Outcome(rulings, notes)

    # what changes the log itself

    def _undo(self, event: Event, source: str) -> Outcome:
        for position in range(len(self._entries) - 1, 0, -1):
            entry = self._entries[position]
            exposed = isinstance(entry.event, Draw) and entry.event.exposed
            if entry.source in SHOE and not exposed:
                continue
            if isinstance(entry.event, Undo | PullBack) or (isinstance(entry.event, Draw) and not exposed):
                continue
            return self._take_back(position, source)
        return Outcome(notes=("there is nothing to take back in this hand",))

    def _take_back(self, position: int, source: str) -> Outcome:
        entry = self._entries[position]
        if self._acted_on(entry):
            return Outcome(notes=("too late to take back: a step that follows from it is done",))
        entries = list(self._entries)
        if isinstance(entry.event, Draw):
            entries[position] = entry._replace(event=_replace(entry.event, exposed=None))
        else:
            if entry.amends is not None:
                index = next(i for i, e in enumerate(entries) if e.id == entry.amends.id)
                entries[index] = entry.amends
            del entries[position]
        marker = Entry(self._next, Undo(), source)
        return self._refold([*entries, marker], marker.id)

    def _acted_on(self, entry: Entry) -> bool:
        """Has a step been done of a remedy that this entry brought about?"""
        if self.hand is None:
            return False
        return any(
            remedy.begun and (self._noticed.get(remedy.key, remedy.key[0]) == entry.id)
            for remedy in self.hand.remedies
            if not isinstance(entry.event, Draw) or "exposed" in remedy.key[1]
        )

    def _pull_back(self, event: Event, source: str) -> Outcome:
        """The last card is back in the shoe: as if it had not left, unless something was ruled on it."""
        hand = self.hand
        if hand is None or not hand.cards:
            return Outcome(notes=("no card is out that could have come back",))
        entry_id = self._draws.get(hand.last, 0)
        position = next((i for i, e in enumerate(self._entries) if e.id == entry_id), -1)
        marker = Entry(self._next, PullBack(), source)
        if position >= 0 and not any(key[0] == entry_id for key in self._noticed):
            entries = [e for i, e in enumerate(self._entries) if i != position]
            return self._refold([*entries, marker], marker.id)
        return self._append(marker)

    def _report_target(self, event: Event, source: str) -> Outcome:
        """Where a card really went: the draw is put right where it stands in the log, and all is folded again."""
        assert isinstance(event, ReportTarget)
        entry_id = self._draws.get(event.number)
        position = next((i for i, e in enumerate(self._entries) if e.id == entry_id), -1)
        if position < 0:
            if self.hand is None:
                return Outcome(notes=("no hand is in play: nothing is judged until one begins",))
            raise UserError(
                f"card #{event.number}", f"{self.draws} card(s) have been drawn in this hand", "correct the draw number"
            )
        entry = self._entries[position]
        assert isinstance(entry.event, Draw)
        assert self.hand is not None
        card = self.hand.cards[event.number - 1]
        as_due = card.due is not None and event.target in (card.due.seat or "", card.due.kind)
        right = _replace(entry.event, target=event.target, confirmed=True)
        marker = Entry(self._next, event, source, amends=entry)
        if as_due and card.place == event.target and entry.event.target in (None, event.target):
            confirmed = self._confirm(event.number)  # it is where the table has it: nothing to fold again
            entries = [e if e.id != entry.id else entry._replace(event=right) for e in self._entries]
            self._commit([*entries, marker], [*self._states, confirmed])
            return Outcome()
        entries = [e if e.id != entry.id else entry._replace(event=right) for e in self._entries]
        return self._refold([*entries, marker], marker.id)

    def _confirm(self, number: int) -> TableState:
        table = self.table
        assert table.hand is not None
        hand = table.hand
        cards = tuple(c._replace(confirmed=True) if c.number == number else c for c in hand.cards)
        question = "" if number == len(cards) else hand.question
        return table._replace(hand=hand._replace(cards=cards, question=question))

    def _exposed(self, event: Event, source: str) -> Outcome:
        """A report that contradicts an earlier one about who exposed a card takes its place."""
        assert isinstance(event, Exposed)
        hand = self.hand
        number = event.number
        if hand is not None and number is not None and 1 <= number <= len(hand.cards):
            before = hand.cards[number - 1].exposed
            if before is not None and before != event.by:
                return self._correct_exposure(number, event, source)
        return self._append(Entry(self._next, event, source))

    def _correct_exposure(self, number: int, event: Exposed, source: str) -> Outcome:
        entries = list(self._entries)
        marker = Entry(self._next, event, source)
        for index, entry in enumerate(entries):
            drawn = isinstance(entry.event, Draw) and self._draws.get(number) == entry.id and entry.event.exposed
            told = isinstance(entry.event, Exposed) and entry.event.number == number
            if drawn or told:
                if self._acted_on(entry):
                    return Outcome(notes=("too late to change who exposed it: a step that follows from it is done",))
                changed = _replace(entry.event, exposed=event.by) if drawn else event
                entries[index] = entry._replace(event=changed)
                self._noticed = {k: v for k, v in self._noticed.items() if k[0] != entry.id}
                break
        marker = marker._replace(event=Undo())
        return self._refold([*entries, marker], marker.id)

    def _floor(self, event: Event, source: str) -> Outcome:
        """The floor decides; a `play-on` over a ruling that is being followed withdraws that ruling."""
        assert isinstance(event, FloorDecision)
        hand = self.hand
        entry = Entry(self._next, event, source)
        if hand is not None and event.decision == "play-on" and not hand.calls:
            standing = open_remedies(hand)
            if standing:
                marker = entry._replace(overrules=hand.remedies[standing[-1]].key)
                position = next(i for i, e in enumerate(self._entries) if e.id == hand.remedies[standing[-1]].key[0])
                entries = [*self._entries, marker]
                return self._refold_from(entries, position, marker.id)
        return self._append(entry)

    def _refold_from(self, entries: list[Entry], position: int, now: int) -> Outcome:
        """Fold again from `position` although the log is the same there: what is overruled has changed."""
        kept = self._entries
        self._entries = entries[:position]
        try:
            return self._refold(entries, now)
        except UserError:
            self._entries = kept
            raise


def _strength(ruling: Ruling) -> int:
    return STRENGTH[ruling.ruling]


def _replace(event: Event, **values: object) -> Event:
    return replace(event, **values)  # type: ignore[arg-type]


def _pinned(entry: Entry, table: TableState) -> Entry:
    """A card that went where it was due went to that place: a later change of what was due does not move it."""
    if not isinstance(entry.event, Draw) or entry.event.target is not None or table.hand is None:
        return entry
    wanted = table.hand.cards[table.hand.last - 1].due
    if wanted is None or wanted.kind not in ("seat", "burn", "board"):
        return entry
    return entry._replace(event=_replace(entry.event, target=wanted.seat or wanted.kind))


def _single(event: Event) -> tuple[Event, ...]:
    """A double passage is two cards at the same place, the second unread."""
    if isinstance(event, Draw) and event.double:
        first = _replace(event, double=False)
        second = Draw(target=event.target, unread=True, confirmed=event.confirmed)
        return first, second
    return (event,)


def _decide(hand: HandState, entry: Entry) -> tuple[HandState, tuple[Ruling, ...]]:
    """The floor's own ruling, and what it asks of the dealer."""
    event = entry.event
    assert isinstance(event, FloorDecision)
    answered = hand.remedies[hand.calls[-1]].ruling if hand.calls else None
    seat = event.seat or (answered.seat if answered else 0)
    if event.decision == "dead" and not seat:
        raise UserError("`floor dead` without a seat", "a dead hand has one", "say `floor dead SEAT`")
    verbs = FLOOR_REMEDIES[event.decision]
    cards = answered.cards if answered else ()
    ruling = Ruling(
        ruling=event.decision, rule="", cite="decision of the floor", layer="floor",
        finding=answered.finding if answered else "", cards=cards, seat=seat,
        say=f"The floor decides: {event.decision.replace('-', ' ')}", decider="floor", verbs=verbs,
        remedy=texts(verbs, cards, seat, ""), event=entry.id,
    )  # fmt: skip
    key = (entry.id, "decision", seat)
    return prescribe(hand._replace(calls=()), ruling, key), (ruling,)


def _around(table: TableState, event: Event, stack: Stack) -> tuple[TableState, tuple[str, ...]] | None:
    """Facts about the table rather than the hand: the draw for the button, the deck."""
    if isinstance(event, DrawForButton):
        button = draw_for_button(event.cards, stack.procedure("button_tie") or "redraw")
        if button is None:
            return table, ("the highest cards tie: those players draw again",)
        return table._replace(button=button), ()
    question = {DealerPush: "deck_on_dealer_push", LimitChange: "deck_on_limit_change"}.get(type(event))
    if isinstance(event, DeckRequest):
        question = "deck_on_proof" if event.marked else "deck_on_request"
    if question is None:
        return None
    answer = stack.procedure(question)
    notes = () if answer else ("no rule found about changing the deck: call the floor",)
    return table._replace(deck=answer or "keep"), notes


_SPECIAL = {
    Undo: TableSession._undo,
    PullBack: TableSession._pull_back,
    ReportTarget: TableSession._report_target,
    Exposed: TableSession._exposed,
    FloorDecision: TableSession._floor,
}
