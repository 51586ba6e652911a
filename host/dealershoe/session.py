"""A table's session: facts are told, findings judged, remedies followed; late reports and undo fold again."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

from dealershoe.errors import UserError
from dealershoe.events import (
    Act,
    DealerPush,
    DeckLoaded,
    DeckRequest,
    Draw,
    DrawForButton,
    Event,
    Exposed,
    FloorDecision,
    Hand,
    Knew,
    LimitChange,
    Misread,
    NextHand,
    OffTable,
    Place,
    PullBack,
    ReportTarget,
    ShuffledStub,
    Undo,
)
from dealershoe.log import (
    Entry,
    Key,
    amended,
    changed,
    contradicts,
    corrected_exposure,
    corrected_target,
    earliest,
    exposure_entry,
    latest_input,
    position_of,
    taken_back,
)
from dealershoe.rules.judge import judge
from dealershoe.rules.remedy import decided, prescribe, renews_deck
from dealershoe.rules.ruling import LOUDNESS, SIGNALS, STRENGTH, Ruling
from dealershoe.rules.stack import Stack
from dealershoe.table.agenda import Due, front
from dealershoe.table.buttons import draw_for_button
from dealershoe.table.findings import KINDS, OF_THE_DECK, Finding
from dealershoe.table.fold import card_of, fold
from dealershoe.table.setup import Setup, first_setup, next_setup
from dealershoe.table.state import STUB, HandState, at, begin, deck_doubt, due, first_street, open_remedies

NOTHING = Due("nothing")
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


class StepView(NamedTuple):
    """A step of a remedy as the dealer reads it."""

    text: str
    done: bool
    ruling: int  # index of its ruling among the hand's


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


class TableSession:
    """Folds facts under a stack of rule packs. Pure: the same facts give the same rulings."""

    def __init__(self, stack: Stack, base: TableState | None = None) -> None:
        """`base`: what is known of the table from before, where it is not a new one."""
        self.stack = stack
        self._coming: Stack | None = None
        self._entries: list[Entry] = []
        self._states: list[TableState] = []  # after each entry
        self._base = base or TableState()  # before the first entry
        self.found: tuple[Finding, ...] = ()  # what the latest fact brought to judgement, ruled on or not
        self._noticed: dict[Key, int] = {}  # the entry at which each finding was noticed and judged
        self._draws: dict[int, int] = {}  # draw number → entry
        self._asked: dict[Key, Situation] = {}  # what the rules were asked about each finding
        self._next = 1

    def fork(self) -> TableSession:
        """Another session with the same past; what is told to one the other does not hear."""
        other = copy(self)
        other._entries, other._states = self._entries[:], self._states[:]
        other._noticed, other._draws, other._asked = dict(self._noticed), dict(self._draws), dict(self._asked)
        return other

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
    def rulings(self) -> tuple[Ruling, ...]:
        """Every ruling of the hand that stands, in order."""
        return self.table.rulings

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
        shown = [SIGNALS[self.rulings[index].ruling] for index in open_now]
        return max(shown, key=lambda name: LOUDNESS[name], default="ready")

    @property
    def in_force(self) -> Ruling | None:
        """The ruling that the light is about: of those not done with the loudest, the strongest, the latest."""
        index = self._index_in_force()
        return None if index is None else self.rulings[index]

    @property
    def situation(self) -> Situation | None:
        """What the ruling in force was asked about; where none is, or it is the floor's own, the latest ruling."""
        if self.hand is None:
            return None
        index = self._index_in_force()
        order = [*([] if index is None else [index]), *reversed(range(len(self.rulings)))]
        asked = (self._asked.get(self.hand.remedies[index].key) for index in order)
        return next((one for one in asked if one is not None), None)

    def _index_in_force(self) -> int | None:
        if self.hand is None:
            return None
        open_now = sorted({*open_remedies(self.hand), *self.hand.calls})
        return max(
            open_now,
            key=lambda index: (_loudness(self.rulings[index]), _strength(self.rulings[index]), index),
            default=None,
        )

    @property
    def can_undo(self) -> bool:
        """Whether an undo would take something back."""
        position = latest_input(self._entries)
        return position >= 0 and not self._acted_on(self._entries[position])

    @property
    def coming(self) -> Stack | None:
        """The rules from the next hand on, None where they stay."""
        return self._coming

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
        """Take in one fact; `source` says who told it ("shoe" and "seat sensor" are not people).

        Raises UserError, and changes nothing, when the fact cannot be true of this table.
        """
        self.found = ()
        entry = Entry(self._next, event, source)
        special = _SPECIAL.get(type(event))
        outcome = special(self, entry) if special is not None else self._append(entry)
        self._next = entry.id + 1
        return outcome

    def _append(self, entry: Entry) -> Outcome:
        state, rulings, notes = self._apply(self.table, entry, entry.id, {})
        event = entry.event
        if type(event) is Draw and event.target is None:
            entry = Entry(entry.id, event, entry.source, went=_due_place(state))
        self._entries.append(entry)
        self._states.append(state)
        return Outcome(rulings, notes) if rulings or notes else SILENCE

    def _begin(self, entry: Entry) -> Outcome:
        table = self.table
        stack = self._coming or self.stack
        notes: tuple[str, ...] = ()
        if isinstance(entry.event, Hand):
            setup = first_setup(entry.event, stack.procedure("absent_seat") or "")
        else:
            assert isinstance(entry.event, NextHand)
            if table.setup is None:
                raise UserError(
                    "`hand next`", "no hand has been played at this table", "describe the first hand in full"
                )
            setup, notes = _following(table, table.setup, entry.event, self.stack)
        burn_first = stack.procedure("burn_before_deal") == "yes"
        setup = setup._replace(burn_first=burn_first, cut=stack.procedure("cut") or "")
        self._take_up_rules()
        self._base = table._replace(hand=None, rulings=())
        self._entries = [entry]
        self._states = [
            TableState(begin(setup), (), setup, setup.button, "", table.hands + 1),
        ]
        self._noticed = {}
        self._draws = {}
        self._asked = {}
        return Outcome(notes=notes)

    # the fold

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
        if entry.went is not None and isinstance(event, Draw):
            event = event.sent_to(entry.went)
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
            for fact in _single(event):
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
        return table, tuple(sorted(table.rulings[before:], key=_strength)), notes

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
            self._asked[key] = Situation(table.hand, finding)
            ruling = judge(self.stack, table.hand, finding)
            if ruling is not None:
                ruled.append((key, ruling._replace(event=entry.id)))
        ruled.sort(key=lambda pair: _strength(pair[1]))
        if ruled and _strength(ruled[-1][1]) >= STRENGTH["misdeal"]:
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

    # what changes the log itself

    def _undo(self, entry: Entry) -> Outcome:
        position = latest_input(self._entries)
        if position < 0:
            return Outcome(notes=("there is nothing to take back in this hand",))
        taken = self._entries[position]
        if self._acted_on(taken):
            return Outcome(notes=("too late to take back: a step that follows from it is done",))
        start = position_of(self._entries, taken.amends.id) if taken.amends is not None else position
        kept = taken_back(self._entries, position)
        again = [key for key, _ in taken.noticed]  # what it had put aside is to be found again
        if taken.overrules is not None:
            again.append(taken.overrules)
        start = min([start, *(position_of(kept, key[0]) for key in again)])
        return self._refold(kept, entry, start, {**self._noticed, **dict(taken.noticed)})

    def _acted_on(self, entry: Entry) -> bool:
        """Has a step been done of a remedy that this entry brought about, or a card been dealt from what it loaded?"""
        if self.hand is None:
            return False
        if isinstance(entry.event, ShuffledStub | DeckLoaded) and any(at_ > entry.id for at_ in self._draws.values()):
            return True
        return any(
            remedy.begun and self._noticed.get(remedy.key, remedy.key[0]) == entry.id
            for remedy in self.hand.remedies
            if not isinstance(entry.event, Draw) or "exposed" in remedy.key[1]
        )

    def _pull_back(self, entry: Entry) -> Outcome:
        """The last card is back in the shoe: as if it had not left, unless something was ruled on it."""
        if self.hand is None or self.hand.last <= self.hand.reload:
            return Outcome(notes=("no card is out that could have come back",))
        if self.hand.cards[self.hand.last - 1].place == STUB:
            return Outcome(notes=("the card that left last is back already",))
        drawn = self._draws.get(self.hand.last, 0)
        position = position_of(self._entries, drawn)
        if position < 0 or any(key[0] == drawn for key in self._noticed):
            return self._append(entry)
        gone = self.hand.last  # and what was said of it
        undrawn = [
            other
            for at_, other in enumerate(self._entries)
            if other.id != drawn and not (at_ > position and getattr(other.event, "number", None) == gone)
        ]
        return self._refold(undrawn, entry._replace(event=Undo()), position)

    def _acted(self, entry: Entry) -> Outcome:
        """An action on a street whose cards were first to be put right: it is judged again, with the action.

        Only the board is: on the deal itself what counts is when attention was called to the error.
        """
        outcome = self._append(entry)
        hand = self.hand
        if hand is None or not hand.remedies or self.due.kind == "betting":
            return outcome
        street = hand.acts[-1][0]
        if street == first_street(hand):
            return outcome
        return self._again(entry, outcome, [i for i in open_remedies(hand) if self.rulings[i].street == street])

    def _knew(self, entry: Entry) -> Outcome:
        """A player knew: what has been ruled on the deck, and is not yet carried out, is judged again with that."""
        outcome = self._append(entry)
        if self.hand is None:
            return outcome
        about = [i for i in open_remedies(self.hand) if self.rulings[i].ruling == "void"]
        if any(self.hand.remedies[index].begun for index in about):
            return Outcome(notes=("too late for the rules: a step of the remedy is done, so call the floor",))
        return self._again(entry, outcome, about)

    def _again(self, entry: Entry, outcome: Outcome, about: list[int]) -> Outcome:
        """The rulings at these indexes judged anew with `entry`, the latest; those of which a step is done stand."""
        hand = self.hand
        assert hand is not None
        for index in about:
            ruling, remedy = self.rulings[index], hand.remedies[index]
            if remedy.begun:
                continue
            before = (self._entries, self._states, self._noticed, self._draws)
            known = self._entries[:-1]
            aside = (remedy.key, self._noticed.get(remedy.key, remedy.key[0]))
            again = self._refold(
                known,
                entry._replace(noticed=(aside,)),
                position_of(known, remedy.key[0]),
                {**self._noticed, remedy.key: entry.id},
            )
            if again.ruling is not None and (again.ruling.rule, again.ruling.window) != (ruling.rule, ruling.window):
                return again
            self._entries, self._states, self._noticed, self._draws = before
        return outcome

    def _report_target(self, entry: Entry) -> Outcome:
        """Where a card really went: the draw is put right where it stands in the log, and all is folded again."""
        report = entry.event
        assert isinstance(report, ReportTarget)
        position = position_of(self._entries, self._draws.get(report.number))
        if self.hand is None:
            return Outcome(notes=("no hand is in play: nothing is judged until one begins",))
        card = card_of(self.hand, report.number)
        drawn = self._entries[position]
        assert isinstance(drawn.event, Draw)
        entry = entry._replace(amends=drawn)
        right = corrected_target(drawn, report)
        as_due = card.due is not None and report.target in (card.due.seat or "", card.due.kind)
        if as_due and card.place == report.target and drawn.event.target in (None, report.target):
            self._entries[position] = right  # it is where the table has it: nothing to fold again
            self._entries.append(entry)
            self._states.append(self._confirmed(report.number))
            return Outcome()
        return self._refold(amended(self._entries, right), entry, position)

    def _misread(self, entry: Entry) -> Outcome:
        """A card that was read wrongly is put right where it was drawn; what followed from the wrong read falls."""
        report = entry.event
        assert isinstance(report, Misread)
        if self.hand is None:
            return Outcome(notes=("no hand is in play: nothing is judged until one begins",))
        card_of(self.hand, report.number)
        position = position_of(self._entries, self._draws.get(report.number))
        drawn = self._entries[position]
        assert isinstance(drawn.event, Draw)
        if drawn.event.double and report.number != self._first_of(drawn):
            return Outcome(notes=(f"#{report.number} went with the card before it: nothing was read of it",))
        about = [i for i, ruling in enumerate(self.rulings) if report.number in ruling.cards]
        if any(self.hand.remedies[i].begun and self.rulings[i].finding == "duplicate" for i in about):
            return Outcome(notes=("too late to put it right: a step that follows from it is done",))
        right = drawn._replace(event=changed(drawn.event, card=report.card))
        return self._refold(amended(self._entries, right), entry._replace(amends=drawn), position)

    def _first_of(self, drawn: Entry) -> int:
        """The number of the first card of a passage."""
        return min(number for number, at_ in self._draws.items() if at_ == drawn.id)

    def _confirmed(self, number: int) -> TableState:
        table = self.table
        assert table.hand is not None
        cards = tuple(c._replace(confirmed=True) if c.number == number else c for c in table.hand.cards)
        question = "" if number == table.hand.last else table.hand.question
        return table._replace(hand=table.hand._replace(cards=cards, question=question))

    def _exposed(self, entry: Entry) -> Outcome:
        """A report that contradicts an earlier one about who exposed a card, or lost it, takes its place."""
        report = entry.event
        assert isinstance(report, Exposed | OffTable)
        number = report.number
        if self.hand is None or number is None or not self.hand.reload < number <= len(self.hand.cards):
            return self._append(entry)
        told = exposure_entry(self._entries, report, self._draws.get(number))
        ignored = isinstance(report, Exposed) and self.hand.cards[number - 1].exposed is None
        if told is None or ignored or not contradicts(told, report):
            return self._append(entry)
        if self._acted_on(told):
            return Outcome(notes=("too late to change who exposed it: a step that follows from it is done",))
        position = position_of(self._entries, told.id)
        aside = tuple((key, at_) for key, at_ in self._noticed.items() if key[0] == told.id)
        noticed = {key: at_ for key, at_ in self._noticed.items() if key[0] != told.id}
        marker = entry._replace(amends=told, noticed=aside)  # the card is exposed by then: told again, it finds nothing
        return self._refold(amended(self._entries, corrected_exposure(told, report)), marker, position, noticed)

    def _floor(self, entry: Entry) -> Outcome:
        """The floor decides; a `play-on` over a ruling of whose remedy no step is done withdraws that ruling."""
        decision = entry.event
        assert isinstance(decision, FloorDecision)
        standing = open_remedies(self.hand) if self.hand is not None else []
        if self.hand is None or decision.decision != "play-on" or self.hand.calls or not standing:
            return self._append(entry)
        if self.hand.remedies[standing[-1]].begun:  # cards lie elsewhere by now: what is done stays done
            outcome = self._append(entry)
            note = "a step of the remedy is done: what is still open of it stays due"
            return Outcome(outcome.rulings, (*outcome.notes, note))
        key = self.hand.remedies[standing[-1]].key
        return self._refold(list(self._entries), entry._replace(overrules=key), position_of(self._entries, key[0]))


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


def _strength(ruling: Ruling) -> int:
    return STRENGTH[ruling.ruling]


def _loudness(ruling: Ruling) -> int:
    return LOUDNESS[ruling.signal]


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


def _following(table: TableState, last: Setup, event: NextHand, stack: Stack) -> tuple[Setup, tuple[str, ...]]:
    """The next hand's setup; where the button of the last one was wrong and stayed, as the rules answer."""
    due_at = last.button
    if table.hand is not None:
        due_at = table.hand.button
        last = last._replace(seats=table.hand.seats)  # who was found to be entitled, or not to be
    if due_at == last.button:
        return next_setup(last, event), ()
    answer = stack.procedure("button_after_error")
    notes = () if answer else ("no rule found about the button after the last hand's error: call the floor",)
    return next_setup(last, event, due_at if answer == "goes-back" else 0), notes


def _due_place(table: TableState) -> Place | None:
    """Where the last card was due, None when no card was."""
    wanted = table.hand.cards[table.hand.last - 1].due if table.hand is not None else None
    if wanted is None or wanted.kind not in ("seat", "burn", "board"):
        return None
    return wanted.seat or wanted.kind


def _single(event: Event) -> tuple[Event, ...]:
    """A double passage is two cards at the same place, the second unread."""
    if isinstance(event, Draw) and event.double:
        return changed(event, double=False), Draw(target=event.target, unread=True, confirmed=event.confirmed)
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
_SPECIAL = {
    Hand: TableSession._begin,
    NextHand: TableSession._begin,
    Undo: TableSession._undo,
    PullBack: TableSession._pull_back,
    ReportTarget: TableSession._report_target,
    Misread: TableSession._misread,
    Act: TableSession._acted,
    Knew: TableSession._knew,
    Exposed: TableSession._exposed,
    OffTable: TableSession._exposed,
    FloorDecision: TableSession._floor,
}
