"""A table's session: facts are told; late reports, misreads and undo change the log, which is folded again."""

from __future__ import annotations

from typing import NamedTuple

from dealershoe.chronicle import Chronicle, Outcome, Situation, TableState, strength
from dealershoe.errors import UserError
from dealershoe.events import (
    Act,
    DeckLoaded,
    Draw,
    Event,
    Exposed,
    FloorDecision,
    Hand,
    Knew,
    Misread,
    NextHand,
    OffTable,
    Place,
    PullBack,
    ReportBoxed,
    ReportTarget,
    ShuffledStub,
    Undo,
)
from dealershoe.log import (
    Entry,
    Key,
    Passed,
    amended,
    changed,
    contradicts,
    corrected_exposure,
    corrected_target,
    exposure_entry,
    latest_input,
    position_of,
    says_boxed,
    taken_back,
    told_of,
)
from dealershoe.rules.ruling import LOUDNESS, SIGNALS, Ruling
from dealershoe.rules.stack import Stack
from dealershoe.table.agenda import Due, front
from dealershoe.table.fold import card_of
from dealershoe.table.setup import Setup, first_setup, next_setup
from dealershoe.table.state import STUB, asked, at, begin, due, first_street, open_remedies

NOTHING = Due("nothing")


class StepView(NamedTuple):
    """A step of a remedy as the dealer reads it."""

    text: str
    done: bool
    ruling: int  # index of its ruling among the hand's


class TableSession(Chronicle):
    """A table told fact after fact: what is due, what is ruled, what is open, and what a later word changes of it."""

    def __init__(self, stack: Stack, base: TableState | None = None) -> None:
        """`base`: what is known of the table from before, where it is not a new one."""
        super().__init__(stack, base)
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
        if self.hand is None:
            return None
        return self.hand.question or (_ask_which_way_up(self.unseen) if self.hand.unseen else "") or None

    @property
    def unseen(self) -> tuple[int, ...]:
        """The cards of which somebody is to say whether they came out face up: no head of the shoe saw it."""
        return asked(self.hand) if self.hand is not None else ()

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
            key=lambda index: (_loudness(self.rulings[index]), strength(self.rulings[index]), index),
            default=None,
        )

    @property
    def can_undo(self) -> bool:
        """Whether an undo would take something back."""
        return self.undoes is not None

    @property
    def undoes(self) -> Event | None:
        """What an undo would take back, None where there is nothing, or a step that follows from it is done."""
        position = latest_input(self._entries)
        if position < 0 or self._acted_on(self._entries[position]):
            return None
        return self._entries[position].event

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
        if isinstance(taken.event, Exposed | ReportBoxed):  # what had been said otherwise before counts again
            start = min([start, *self._words_about(taken.about)])
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
        gone = self.hand.last  # and what was said of it
        about = {drawn, *(other.id for other in self._entries if other.about == (gone, drawn))}
        if position < 0 or any(key[0] in about for key in self._noticed):
            return self._append(entry)
        undrawn = [
            other
            for at_, other in enumerate(self._entries)
            if other.id != drawn and not (at_ > position and told_of(other) == gone)
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
            before = (self._entries, self._states, self._noticed, self._draws, dict(self._asked))
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
            self._entries, self._states, self._noticed, self._draws, self._asked = before
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
        if self.hand is None:
            return self._append(entry)
        which = number or self.hand.last
        if not self.hand.reload < which <= len(self.hand.cards):
            return self._append(entry)
        entry = entry._replace(about=self._passed(which))
        if number is None:
            return self._exposed_by_key(entry)
        if isinstance(report, Exposed) and self._said_boxed(entry.about):
            return self._say_otherwise(entry, False)
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

    def _exposed_by_key(self, entry: Entry) -> Outcome:
        """The card that left last lies face up; whoever has no number to say has not said how it left the shoe."""
        outcome = self._append(entry)
        if not self._said_boxed(entry.about):
            return outcome
        number = entry.about[0]
        note = f"#{number} was taken as boxed: if somebody turned it over, say `exposed #{number}`"
        return Outcome(outcome.rulings, (*outcome.notes, note))

    def _report_boxed(self, entry: Entry) -> Outcome:
        """Which way up a card left the shoe, where no head saw it; what was said otherwise before is put right."""
        report = entry.event
        assert isinstance(report, ReportBoxed)
        if self.hand is None:
            return Outcome(notes=("no hand is in play: nothing is judged until one begins",))
        card = card_of(self.hand, report.number)
        entry = entry._replace(about=self._passed(report.number))
        if card.boxed and not report.boxed and not self._said_boxed(entry.about):
            return Outcome(notes=(f"the shoe itself saw #{report.number} face up: it was boxed",))
        return self._say_otherwise(entry, report.boxed)

    def _passed(self, number: int) -> Passed:
        return number, self._draws.get(number, 0)

    def _said_boxed(self, card: Passed) -> bool:
        """Is the card boxed by somebody's word, and not by what the shoe saw?"""
        assert self.hand is not None
        known = 0 < card[0] <= len(self.hand.cards) and self.hand.cards[card[0] - 1].boxed
        return known and any(says_boxed(other, card) for other in self._entries)

    def _words_about(self, card: Passed, *which: bool) -> list[int]:
        """Where the log has somebody's word that the card was boxed or that it was not; `which`: such words alone."""
        said = ((at_, says_boxed(entry, card)) for at_, entry in enumerate(self._entries))
        return [at_ for at_, word in said if word is not None and (not which or word in which)]

    def _say_otherwise(self, entry: Entry, boxed: bool) -> Outcome:
        """The last word on which way up a card left the shoe: what followed from those that said otherwise falls."""
        otherwise = self._words_about(entry.about, not boxed)
        if not otherwise:
            return self._append(entry)
        before = (self._entries, self._states, self._noticed, self._draws, dict(self._asked))
        begun = {one for one in self._followed() if one[-1]}
        outcome = self._refold(list(self._entries), entry, otherwise[0])
        if begun <= self._followed():
            return outcome
        self._entries, self._states, self._noticed, self._draws, self._asked = before
        self.found = ()
        return Outcome(notes=("too late to say otherwise: a step that follows from what was said is done",))

    def _followed(self) -> set[tuple[Key, str, bool]]:
        """The findings that were ruled on, the rule of each, and whether a step of its remedy is done."""
        remedies = self.hand.remedies if self.hand is not None else ()
        return {(one.key, ruling.rule, one.begun) for one, ruling in zip(remedies, self.rulings, strict=True)}

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


def _ask_which_way_up(cards: tuple[int, ...]) -> str:
    """What the dealer and the floor are asked about cards that no head saw, "" of none; the latest is named."""
    if not cards:
        return ""
    which = ", ".join(f"#{number}" for number in cards)
    return f"no head saw which way up {which} left the shoe: if it came face up, say `report boxed #{cards[-1]}`"


def _loudness(ruling: Ruling) -> int:
    return LOUDNESS[ruling.signal]


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


_SPECIAL = {
    Hand: TableSession._begin,
    NextHand: TableSession._begin,
    Undo: TableSession._undo,
    PullBack: TableSession._pull_back,
    ReportTarget: TableSession._report_target,
    Misread: TableSession._misread,
    ReportBoxed: TableSession._report_boxed,
    Act: TableSession._acted,
    Knew: TableSession._knew,
    Exposed: TableSession._exposed,
    OffTable: TableSession._exposed,
    FloorDecision: TableSession._floor,
}
