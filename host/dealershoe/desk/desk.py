"""The desk: takes facts, keeps them, tells the table, and says what the shoe is to show. Pure; for the bridge.

Every fact becomes a journal entry before anything is made of it. While the table is aligned the facts are judged; else
they are only kept, until the next hand begins.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from shoelink import schema

from dealershoe.deal.grammar import parse_line, render
from dealershoe.deal.items import DealNext, Expect, FloorCall
from dealershoe.desk.deckcheck import DeckCheck
from dealershoe.desk.facts import (
    NEW_TABLE,
    Before,
    body,
    finding_row,
    hand_row,
    pack_rows,
    proposal_row,
    ruling_row,
)
from dealershoe.desk.happening import Happening
from dealershoe.desk.numbers import following, number_of
from dealershoe.desk.passages import Passages
from dealershoe.desk.sealed import OPEN_SHOE, TOLD_SHOE, UNBOUND_SHOE, Promises
from dealershoe.desk.shown import CAUSES, ShownDue, ShownSignal, due_codes, signal_codes
from dealershoe.desk.translate import ANY_CONTEXT, SLOT_BLIND, Context, Told, names_its_card, table_events
from dealershoe.desk.words import SENSOR, event_words, ruling_words
from dealershoe.entries import ALIGN, BRIDGE, RULES, SHOE, Entry, EventRow, Fact, SignalRow, ToldFact
from dealershoe.errors import UserError
from dealershoe.events import (
    Ack,
    DealerPush,
    DeckRequest,
    Draw,
    DrawForButton,
    Event,
    FloorDecision,
    Hand,
    LimitChange,
    NextHand,
    Undo,
)
from dealershoe.link import faults
from dealershoe.link.clock import When
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.shelf_pins import described, names, pins, write_layers
from dealershoe.rules.stack import Stack
from dealershoe.session import TableSession
from dealershoe.table.agenda import RELOAD, SHUFFLE, Due, front
from dealershoe.table.drawing import faces_up
from dealershoe.table.misread import propose

KEY = "dealer key"  # a person's word, and can be taken back
BEFORE_A_HAND = (DrawForButton, DealerPush, LimitChange, DeckRequest)  # can be said at any time
SOURCES = {schema.Seat: SENSOR, schema.Key: KEY}
NOTES = ("note", "refused", "fault", "link")
NOTES_KEPT = 8
SHUFFLES = {RELOAD: "deck", SHUFFLE: "stub"}  # steps that wait for cards to be put in the shoe
NO_HAND = "no hand has begun"
HAND = "hand"  # something is wrong with the hand in play


class Moment(NamedTuple):
    """When, on the host's monotonic clock and since 1970, in nanoseconds."""

    mono_ns: int
    wall_ns: int


class Desk:
    """One table. Reads no clock and does no I/O: the caller takes `entries` and `happenings` away and writes them."""

    def __init__(
        self, session: TableSession, *, open_table: bool = False, next_fact: int = 1, before: Before = NEW_TABLE
    ) -> None:
        """`before`: the numbers of the hands from before, where `session` goes on with a table."""
        self.session = session
        self.open_table = open_table
        self.silent = False  # True: nobody watches, nothing is shown; only findings and rulings are made rows
        self.entries: list[Entry] = []
        self.happenings: list[Happening] = []
        self.hand = before.hand  # the shoe's number of the hand in play, 0 for none
        self.align_why = NO_HAND  # "" while the table is aligned
        self.halt_why = ""  # "" unless the deal must stop
        self.floor_called = False
        self._call_is_latest = False  # of what people said: an undo takes it back
        self.faults: dict[int, int] = {}  # code → detail
        self.wrong: dict[str, str] = {}  # beside them, as long as it lasts: what it is with → a sentence
        self.rulings: list[Ruling] = []  # of the hand in play
        self.last_ruling: Ruling | None = None  # of all hands: the strongest of the latest event that was ruled on
        self.counts = {"hands": 0, "draws": 0, "findings": 0, "facts": 0}
        self.notes: deque[str] = deque(maxlen=NOTES_KEPT)  # the last words that are no draw, ruling or signal
        self.device = b""  # of the shoe on the line, its 8 bytes
        self._promises = Promises()
        self._given_away = False  # the shoe has told the secret of the hand in play
        self._next_fact = next_fact
        self._begun_ns = 0  # when a person began the hand in play
        self._previous: set[int] = set()  # hands whose late cards are no surprise
        self._seen_hand = before.seen  # the hand that the shoe named last
        self.passages = Passages()
        self._check = DeckCheck()
        self._cause = schema.REASON_NONE
        self._generation = 0  # of signals, for the record
        self._last: tuple[Due, str, str | None, tuple[str, ...]] | None = None
        self._shown: ShownSignal | None = None

    # ---- facts

    def report(
        self,
        message: Any,
        raw: bytes,
        at: Moment,
        journal: bytes,
        number: int,
        *,
        backlog: bool = False,
        when: When | None = None,
    ) -> None:
        """A numbered report of the shoe, `message` None when its kind is not known here. `when` it was made, if known.

        `backlog`: from before the shoe and this bridge met; what is not of the hand in play is kept and no surprise.
        """
        fact = self._keep(SHOE, raw, at, journal, number, when, backlog=backlog)
        made_ns = (when.mono_us - when.uncertainty_us) * 1_000 if when else None
        self._report(fact, message, backlog, made_ns)
        self._settle(fact, at)

    def say(self, text: str, origin: str, line: int, at: Moment, who: str = "") -> None:
        """A person's line in the words of deal scripts. `who` said it, where `origin` is a way to say something.

        `line`: its number there, 0 where it came alone. Raises UserError when it is none, or the table refuses it.
        """
        parsed = parse_line(text, line, origin)
        if parsed is None:
            return
        item = parsed.item
        if isinstance(item, DealNext | Draw | Expect):
            raise UserError(
                f"{f'{origin}, line {line}: ' if line else ''}`{text.split()[0]}` is for scripts",
                "at a table the shoe reports its cards itself",
                "say where a card really went with `report target #N PLACE`",
            )
        self._said(self._keep(origin, text.encode(), at, who=who), item, origin, at)

    def align(self, why: str, at: Moment) -> None:
        """From here on the hand in play is not known: nothing is judged until the next one begins."""
        fact = self._keep(BRIDGE, ALIGN + why.encode(), at)
        self._align(why)
        self._settle(fact, at)

    def halt(self, why: str, at: Moment) -> None:
        """The deal must stop: the shoe says something that must be understood and is not."""
        self.halt_why = why
        self.align(why, at)

    def judge_by(self, stack: Stack, at: Moment) -> None:
        """From the next hand on judge by `stack`; a hand in play ends under the rules it began with."""
        layers = pins(stack.files)
        fact = self._keep(BRIDGE, RULES + write_layers(layers).encode(), at)
        when = "from the next hand on" if self.session.hand else "from the first hand on"
        self.entries += pack_rows(stack.files)
        self.session.change_rules(stack)
        self.happen("rules", f"{when}: {described(layers)}", stack=stack.name, files=[[*map(str, x)] for x in layers])
        self._settle(fact, at)

    def resume(
        self, hand: int, facts: Iterable[Fact], decode: Callable[[bytes], Any], rules: Callable[[str], Stack]
    ) -> None:
        """Tell the kept facts of the hand in play again, under the rules that it began with.

        `hand`: its number. `decode` reads a kept frame; `rules` finds the files of a stack, or raises UserError.
        """
        told = 0
        lost = hand_lost = ""  # why the rules of the next hand, and of the hand in play, are not to be had
        for fact in facts:
            number = self.hand
            if fact.origin == BRIDGE and fact.raw.startswith(RULES):
                stack, lost = self._kept_rules(fact, rules)
                self.session.change_rules(stack)
                continue
            self.retell(fact, decode)
            if not told:
                self.hand = hand
            if self.hand != number:
                hand_lost = lost
            told += 1
        if hand_lost:
            self._align(f"the rules that hand {self.hand} began with are not here any more ({hand_lost})")
        self.entries.clear()
        self.happenings.clear()
        self._note(f"hand {self.hand} goes on as the journal has it: {told} facts, {self.session.draws} cards")

    def recall(self, commits: Iterable[schema.Commit]) -> None:
        """What the shoe had committed itself to before the facts that `resume` is given, in order."""
        for commit in commits:
            self._promises.made(commit)

    def retell(self, fact: Fact | ToldFact, decode: Callable[[bytes], Any]) -> None:
        """A kept fact of the shoe, a person, or the loss of the hand: what came of it then comes of it now."""
        if fact.origin == SHOE:
            made_ns = None if fact.made_ns is None or fact.within_ns is None else fact.made_ns - fact.within_ns
            self._report(fact.id, decode(fact.raw), bool(fact.backlog), made_ns)
            if not self.silent:
                self._settle(fact.id, Moment(fact.mono_ns, fact.wall_ns))
        elif fact.origin == BRIDGE:
            self._align(fact.raw.removeprefix(ALIGN).decode())
            self._settle(fact.id, Moment(fact.mono_ns, fact.wall_ns))
        else:
            said = _kept_line(fact.raw)
            if said is not None:
                with contextlib.suppress(UserError):  # refused then, refused now
                    self._said(fact.id, said, fact.origin, Moment(fact.mono_ns, fact.wall_ns))

    def begin_from(self, session: TableSession, before: Before) -> None:
        """Go on with another session, that of a table as it was before a hand."""
        self.session = session
        self.hand, self._seen_hand = before.hand, before.seen
        self._given_away = False
        self.passages.clear()
        self._check.clear()

    def _kept_rules(self, fact: Fact, rules: Callable[[str], Stack]) -> tuple[Stack, str]:
        try:
            return rules(fact.raw.removeprefix(RULES).decode()), ""
        except UserError as error:
            return Stack("", ()), str(error)

    # ---- what the shoe is to show

    @property
    def stack(self) -> str:
        """The rules that judge now."""
        return self.session.stack.name

    @property
    def last_fact(self) -> int:
        """The id of the fact that was kept last."""
        return self._next_fact - 1

    @property
    def signal(self) -> str:
        """ready, attention, stop or floor: the session's, or a call for the floor."""
        if self.halt_why:
            return "stop"
        if self.align_why:
            return "ready"
        signal = self.session.signal
        return "floor" if self.floor_called and signal != "stop" else signal

    @property
    def can_undo(self) -> bool:
        """Whether an undo would take something back: a call for the floor, or what the table was told."""
        called = self.floor_called and self._call_is_latest
        return called or (not self.align_why and self.session.can_undo)

    @property
    def next_stack(self) -> str | None:
        """The rules from the next hand on with their versions, None where they are those of now."""
        coming = self.session.coming
        if coming is None or pins(coming.files) == pins(self.session.stack.files):
            return None
        return names(pins(coming.files))

    @property
    def shown_signal(self) -> ShownSignal:
        """What the light and buzzer are to say."""
        cause = schema.REASON_FAULT if self.halt_why else self._cause
        return signal_codes(self.signal, cause, aligned=not self.align_why)

    @property
    def shown_due(self) -> ShownDue | None:
        """What the shoe is to take as due. None: it keeps what it has (no hand has begun here)."""
        if not self.hand:
            return None
        return due_codes(self.hand, None if self.align_why else self.session)

    # ---- the shoe's reports

    def _report(self, fact: int, message: Any, backlog: bool, made_ns: int | None) -> None:
        """`made_ns`: before this the shoe cannot have made it; None: not known."""
        card = type(message) is schema.Card  # by far the most reports are: nothing is asked twice of them
        if message is None:
            return  # it is kept, and what it is has been said by who can read it
        if names_its_card(message) and not self.open_table and not backlog:
            self._halt(OPEN_SHOE)
        elif card and self._given_away and message.hand == self.hand:
            self._halt(TOLD_SHOE)
        elif not card and isinstance(message, schema.Fault | schema.Clear):
            self._fault(message)
        elif not card and isinstance(message, schema.Commit):
            self._promised(message)
        elif not card and isinstance(message, schema.Reveal):
            self._revealed(fact, message)
        else:
            self._seen_hand = message.hand
            told = table_events(message, ANY_CONTEXT if card else self._context())
            if told.events and isinstance(told.events[0], NextHand):
                if not backlog or message.hand == following(self.hand):
                    self._next_by_key(fact, message.hand, told.events[0])
            elif self._of_this_hand(message, backlog, made_ns) and not self.align_why:
                self._sensed(fact, message, told)

    def _halt(self, why: str) -> None:
        """Each card of such a shoe is a reason, and is said once."""
        if (self.halt_why, self.align_why) != (why, why):
            self.halt_why = why
            self._align(why)

    def _promised(self, commit: schema.Commit) -> None:
        """A hand begins at the shoe. If it is the hand in play, and cards are out, the shoe has forgotten them."""
        self._promises.made(commit)
        self._given_away = self._given_away and commit.hand != self.hand
        if commit.hand == self.hand and self.passages.last and not self.align_why:
            self._align("the shoe lost its memory in the middle of the hand")

    def _revealed(self, fact: int, reveal: schema.Reveal) -> None:
        """The secret of a hand that is over: the record says whether it proves which cards were dealt.

        The key that begins the next hand comes after it; a card of the same hand never does.
        """
        self._given_away = self._given_away or reveal.hand == self.hand
        why = self._promises.broken(self.device, reveal)
        self.entries.append(EventRow(fact, reveal.hand, None, "Broken" if why else "Revealed", "{}"))
        if why:
            self.happen("fault", f"the secret of the shoe's hand {reveal.hand} proves nothing: {why}")

    def _sensed(self, fact: int, message: Any, told: Told) -> None:
        card = type(message) is schema.Card
        hand = self.session.hand
        if hand is not None and hand.awarded and self._check.takes(message, self.passages.last):
            self._checked(fact, message)
            return
        if told.note:
            self._note(told.note)
        if told.floor_called:
            self._call_floor(fact)
        key = not card and isinstance(message, schema.Key)
        if key and told.events and self._takes_call_back(fact, told.events[0]):
            return
        if key and Undo() in told.events and isinstance(self.session.undoes, FloorDecision):
            self.entries.append(EventRow(fact, self.hand, None, "refused", "{}"))
            self.happen("refused", "no key takes the floor's decision back: call the floor, who says `undo`")
            return
        if card and message.draw > self.passages.last + 1:
            self._align(f"card #{self.passages.last + 1} of the hand is missing, #{message.draw} came")
            return
        for event in told.events:
            try:
                self._tell(fact, event, SOURCES.get(type(message), SHOE))
            except UserError as error:
                self.happen("refused", str(error))
                if card:
                    self._align("the table could not take a card that the shoe reported")
        hand = self.session.hand
        if hand is not None:
            self.passages.count(message, hand.last)
        if card:
            self._propose(fact)
            if not (self.open_table or self.silent or HAND in self.wrong or self._promises.has(message.hand)):
                self.wrong[HAND] = UNBOUND_SHOE
                self.happen("fault", UNBOUND_SHOE)

    def _checked(self, fact: int, message: Any) -> None:
        """A card of a deck that is checked, or what is said of one: of no hand."""
        said = self._check.add(fact, message)
        if said:
            self._note(said)
        if isinstance(message, schema.Card) and not self.silent:
            self.entries.append(EventRow(fact, self.hand, message.draw, "Checked", "{}"))

    def _propose(self, fact: int) -> None:
        """A card that turned up twice may be an earlier read that was wrong: say which, and why."""
        for finding in self.session.found:
            hand = self.session.hand
            twice = finding.kind == "duplicate"
            proposal = propose(hand, finding.cards, self.passages.reads) if hand and twice else None
            if proposal is not None:
                self.entries.append(proposal_row(fact, self.hand, proposal))
                self.happen("question", str(proposal), cards=list(proposal.cards), misread=proposal.number or None)

    def _of_this_hand(self, message: Any, backlog: bool, made_ns: int | None) -> bool:
        if message.hand == self.hand:
            return True
        if backlog:
            self._previous.add(message.hand)
        if self.align_why or backlog:
            return False
        if isinstance(message, schema.Card) and made_ns is not None and made_ns > self._begun_ns:
            self._align("a card left the shoe before it had heard that the hand begins: nobody can say whose it is")
        elif message.hand in self._previous:
            self._note(f"a late report of hand {message.hand}: kept, not counted in this hand")
        else:
            self._align(f"the shoe deals hand {message.hand}, the table is in hand {self.hand}")
        return False

    def _next_by_key(self, fact: int, number: int, event: NextHand) -> None:
        if self.session.table.setup is None:
            self._note("the new-hand key was pressed: say who sits where with `hand seats=… button=…`")
            return
        try:
            self._tell(fact, event, KEY, begins=number)
        except UserError as error:
            self.happen("refused", str(error))

    def _fault(self, message: Any) -> None:
        detail = message.detail if isinstance(message, schema.Fault) else self.faults.get(message.code, 0)
        what = faults.sentence(message.code, detail)
        if isinstance(message, schema.Fault):
            self.faults[message.code] = message.detail
            self.happen("fault", what, code=message.code)
            unseen = message.code == schema.FAULT_SLOT and message.detail & SLOT_BLIND
            lost = message.code == schema.FAULT_SAMPLES_LOST or unseen  # a card may have passed unseen
        else:
            self.faults.pop(message.code, None)
            self.happen("fault", f"over: {what}", code=message.code)
            lost = message.code == schema.FAULT_JOURNAL_FULL and message.detail > 0  # so many reports were refused
        if lost and not self.align_why:
            self._align(f"{what}: a card may be missing")

    def _context(self) -> Context:
        hand = self.session.hand
        if hand is None:
            return Context(self.hand)
        last = 0 if hand.last in hand.top else hand.last
        first = front(hand.agenda)  # asked here rather than for what is due: this is done for every card
        shuffle = SHUFFLES.get(hand.agenda[first].kind, "") if first >= 0 else ""
        unseen = tuple(n for n in hand.unseen if not faces_up(hand, hand.cards[n - 1]))
        return Context(self.hand, last, self.passages.numbers, shuffle, unseen)

    # ---- people's lines

    def _said(self, fact: int, event: Event | FloorCall, origin: str, at: Moment) -> None:
        if isinstance(event, FloorCall):
            self._call_floor(fact)
            self._settle(fact, at)
            return
        if self._takes_call_back(fact, event):
            self._settle(fact, at)
            return
        begins = isinstance(event, Hand | NextHand)
        if self.align_why and not begins and not isinstance(event, BEFORE_A_HAND):
            raise UserError(
                f"`{render(event)}` is not taken", f"nothing is judged now: {self.align_why}", "begin a hand first"
            )
        if begins:
            self._tell(fact, event, origin, begins=number_of(event, at.wall_ns, self.hand, self._seen_hand))
            self._begun_ns = at.mono_ns
        else:
            self._tell(fact, event, origin)
        if isinstance(event, FloorDecision):
            self.floor_called = False
        self._settle(fact, at)

    def _call_floor(self, fact: int) -> None:
        """Light and pages call the floor; nothing of the deal is changed by it."""
        self.floor_called = self._call_is_latest = True
        self._cause = schema.REASON_FLOOR
        self.entries.append(EventRow(fact, self.hand, None, "FloorCall", "{}"))
        self.happen("signal", "the dealer calls the floor")

    def _takes_call_back(self, fact: int, event: Event) -> bool:
        """Whether a person's word was about the call for the floor, and is nothing for the table."""
        latest, self._call_is_latest = self._call_is_latest, False
        if not self.floor_called or not (isinstance(event, Ack) or (latest and isinstance(event, Undo))):
            return False
        self.floor_called = False
        self.entries.append(EventRow(fact, self.hand, None, "FloorCall", '{"taken_back": true}'))
        self.happen("signal", "the call for the floor is taken back")
        return True

    # ---- the table

    def _tell(self, fact: int, event: Event, origin: str, begins: int = 0) -> None:
        """Tell the table. Raises UserError, nothing changed, when it refuses. `begins`: the hand that it begins."""
        known = self.session.table
        try:
            outcome = self.session.tell(event, source=origin)
        except UserError:
            self.entries.append(EventRow(fact, self.hand, None, "refused", "{}"))
            raise
        if begins:
            before = Before(self.hand, self._seen_hand, known)
            self._previous = {self.hand, self._seen_hand}
            self.hand = begins
            self.align_why = ""
            self.floor_called = False
            self._given_away = False
            self.wrong.pop(HAND, None)
            self.passages.clear()
            self._check.clear()
            self.rulings.clear()
            self.notes.clear()
            self.counts["hands"] += 1
        if type(event) is Draw:
            self.counts["draws"] += 1
        if not self.silent:
            number = getattr(event, "number", None)
            self.entries.append(EventRow(fact, self.hand, number, type(event).__name__, body(event, self.session)))
            if begins:
                self.entries.append(hand_row(fact, self.hand, self.session, before, self.open_table))
            kind, words, data = event_words(event, self.session, origin, self.open_table)
            self.happen(kind, words, **data)
        for finding in self.session.found:
            self.entries.append(finding_row(fact, self.hand, finding))
        for ruling in outcome.rulings:
            self._rule(fact, ruling)
        for note in outcome.notes:
            self._note(note)
        if self._check.kept and self.session.hand is not None and not self.session.hand.awarded:
            # the push was taken back: the cards are the hand's after all
            for kept, message in self._check.clear():
                if not self.align_why:
                    self._sensed(kept, message, table_events(message, self._context()))

    def _rule(self, fact: int, ruling: Ruling) -> None:
        self.rulings.append(ruling)
        self.last_ruling = ruling
        self.counts["findings"] += 1
        if ruling.signal != "ready":
            self._cause = CAUSES.get(ruling.ruling, schema.REASON_NONE)
        self.entries.append(ruling_row(fact, self.hand, self.stack, ruling))
        if not self.silent:
            words, data = ruling_words(ruling)
            self.happen("ruling", words, **data)

    def _align(self, why: str) -> None:
        self.align_why = why
        self.floor_called = False
        self.happen("link", f"align: {why}; nothing is judged until the next hand begins")

    # ---- what follows from a fact

    def _settle(self, fact: int, at: Moment) -> None:
        """Say what changed: the step, what is due, the question, the signal."""
        if self.silent:
            return
        session = self.session
        steps = tuple(step.text for step in session.steps if not step.done)
        now = (session.due, self.signal, session.question, steps)
        before = self._last or (None, "ready", None, ())
        if not self.align_why:
            if steps and steps != before[3]:
                self.happen("step", f"now: {steps[0]}" + (f" ({len(steps) - 1} more)" if len(steps) > 1 else ""))
            if session.question and session.question != before[2]:
                self.happen("question", session.question)
            if now[0] != before[0]:
                self.happen("due", str(session.due), due=session.due.kind, seat=session.due.seat or None)
        self._last = now
        shown = self.shown_signal
        if shown != self._shown:
            self._shown = shown
            self._generation += 1
            mode = schema.code_name("mode", shown.mode).lower()
            self.entries.append(SignalRow(fact, self._generation, self.signal, mode, at.mono_ns))
            self.happen("signal", f"{self.signal} ({mode})", signal=self.signal, mode=mode)

    def _keep(
        self,
        origin: str,
        raw: bytes,
        at: Moment,
        journal: bytes | None = None,
        number: int | None = None,
        when: When | None = None,
        *,
        who: str = "",
        backlog: bool = False,
    ) -> int:
        fact = self._next_fact
        self._next_fact += 1
        self.counts["facts"] += 1
        made = (when.mono_us * 1_000, when.uncertainty_us * 1_000) if when else (None, None)
        self.entries.append(
            Fact(
                fact, origin, raw, at.mono_ns, at.wall_ns, journal, number, made[0], made[1], who or None,
                int(backlog) or None,
            )
        )  # fmt: skip
        return fact

    def _note(self, text: str) -> None:
        self.happen("note", text)

    def happen(self, kind: str, text: str, **data: Any) -> None:
        """Say something to whoever watches."""
        self.happenings.append(Happening(kind, text, data))
        if kind in NOTES:
            self.notes.append(text)


@functools.lru_cache(maxsize=4096)  # some lines ("betting complete", "hand next") are most of a journal's
def _kept_line(raw: bytes) -> Event | FloorCall | None:
    """What a person's line says that was kept; None where it says nothing to the table."""
    parsed = parse_line(raw.decode(), 0, "")
    return None if parsed is None or isinstance(parsed.item, DealNext | Expect) else parsed.item
