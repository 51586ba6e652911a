"""What can go wrong at each moment of a hand, and a dealer who follows every remedy: for diff and the proofs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dealershoe.chronicle import Outcome
from dealershoe.deal.grammar import render
from dealershoe.deal.items import DealNext
from dealershoe.errors import UserError
from dealershoe.events import (
    FLOOR_DECISIONS,
    SEATS,
    Ack,
    Act,
    Award,
    BettingComplete,
    BettingOver,
    DeckLoaded,
    Draw,
    DroppedStub,
    Event,
    Exposed,
    FloorDecision,
    Knew,
    Looked,
    Misread,
    OffTable,
    Pick,
    Place,
    Placed,
    PullBack,
    ReportBadShuffle,
    ReportBoxed,
    ReportButton,
    ReportCount,
    ReportDuplicate,
    ReportEntitled,
    ReportJoker,
    ReportMissing,
    ReportShortStub,
    ReportTarget,
    ReportWrongBack,
    ShuffledStub,
)
from dealershoe.session import TableSession
from dealershoe.table.agenda import BOARD_SIZE, RELOAD, front
from dealershoe.table.setup import clockwise
from dealershoe.table.state import HandState, board_cards, first_street, in_play

PLAIN = Draw()  # a card that went where it was due
DEALT = ("seat", "burn", "board")  # what is due when a card is
Acts = tuple[tuple[str, ...], ...]
FIRST_ACTS: Acts = (  # one of each kind that a cut-off of RULES section 1 tells apart
    (), ("fold",), ("call",), ("raise",), ("fold", "fold"), ("fold", "call"), ("raise", "fold"), ("call", "call"),
    ("fold", "fold", "fold"), ("fold", "fold", "call"), ("?",), ("?", "?"), ("?", "?", "?"),
)  # fmt: skip
LATER_ACTS: Acts = ((), ("check",), ("bet",), ("bet", "call"))


class Fault(NamedTuple):
    """One thing that goes wrong: `name` says what, without seat or number; `events` are the facts, in order.

    `acts` were made on the street before it. `regular`: nothing is wrong with it, the table may have nothing to say.
    """

    name: str
    events: tuple[Event, ...]
    acts: tuple[str, ...] = ()
    regular: bool = False


def tell(session: TableSession, event: Event) -> Outcome:
    """Tell a fact with the source that it would have at a table."""
    return session.tell(event, "shoe" if isinstance(event, Draw | PullBack) else "dealer")


def obedient(session: TableSession) -> Event | None:
    """What a dealer does next who only obeys what is due; None at the end of the hand."""
    kind = session.due.kind
    if kind in DEALT:
        return Draw()
    if kind == "betting":
        return BettingComplete()
    if kind == "ack":
        return Ack()
    if kind == "nothing" or session.hand is None:
        return None
    step = session.hand.agenda[front(session.hand.agenda)]
    if kind == "pick":
        return Pick(step.cards[0])
    return DeckLoaded() if step.kind == RELOAD else ShuffledStub()


def script(events: Iterable[Event], heading: str = "") -> str:
    """The events as a deal script; cards that simply went where they were due are one `deal` line."""
    lines = [f"# {heading}"] if heading else []
    run = 0
    for event in (*events, None):
        if event == PLAIN:
            run += 1
            continue
        if run:
            lines.append(render(DealNext(count=run)))
            run = 0
        if event is not None:
            lines.append(render(event))
    return "\n".join((*lines, ""))


def lines_of(events: Iterable[Event]) -> int:
    """How many lines `script` makes of the events."""
    count = 0
    running = False
    for event in events:
        plain = event == PLAIN
        count += not (plain and running)
        running = plain
    return count


def faults(
    session: TableSession, wide: bool = False, first_acts: Acts = FIRST_ACTS, later_acts: Acts = LATER_ACTS
) -> Iterator[Fault]:
    """Everything that can go wrong at this moment of a hand in play, after each of the given actions on its street.

    `wide`: every seat and every draw number wherever one is named, else the ones that differ in kind.
    """
    hand = session.hand
    if hand is None:
        return
    kind = session.due.kind
    states = _acts(hand, first_acts if hand.street == first_street(hand) else later_acts)
    if kind in DEALT:
        yield from _instead(session, hand, wide)
        yield from _about_the_last(hand, wide)
    else:
        for acts in states if kind == "betting" else ((),):
            yield from _undue(hand, wide and not acts, acts)
    if kind == "betting":
        for acts in states:
            yield from _while_betting(hand, wide, acts)
        yield from _about_the_betting(hand)
    yield from _at_any_time(hand)


def _instead(session: TableSession, hand: HandState, wide: bool) -> Iterator[Fault]:
    """The card that is due leaves in another state, or goes to another place."""
    due = session.due
    aim: Place = due.seat or due.kind
    name = f"{due.kind} card"
    for by in ("dealer", "player"):
        if aim != "board":
            regular = by == "player" or hand.setup.game == "stud"  # stud deals cards face up
            yield Fault(f"{name} exposed by the {by}", (Draw(aim, exposed=by),), regular=regular)
    if aim != "board":
        yield Fault(f"{name} exposed as it touched a hand", (Draw(aim, exposed="dealer", touched=True),), regular=True)
    yield Fault(f"{name} knocked off the table", (Draw("off-table", knocked="player"),), regular=True)
    yield Fault(f"{name} boxed", (Draw(aim, boxed=True),))
    yield Fault(f"{name} drawn double", (Draw(aim, double=True),), regular=aim == "board")
    yield Fault(f"{name} is a joker", (Draw(aim, "joker"),))
    yield Fault(f"{name} of another deck", (Draw(aim, foreign=True),))
    yield Fault(f"{name} with another back", (Draw(aim, wrong_back=True),))
    yield Fault(f"{name} unread", (Draw(aim, unread=True),), regular=True)
    for target in _targets(hand, wide):
        if target != aim:
            yield Fault(f"{name} to {_kind_of(hand, target)}", (Draw(target),))
    wrong = next(target for target in _targets(hand, False) if target != aim)
    yield Fault(f"{name} seems to go elsewhere", (Draw(wrong, confirmed=False),))
    lacking = BOARD_SIZE.get(session.due_street, 0) - len(board_cards(hand, session.due_street))
    if due.kind == "burn":
        yield Fault("two burns", (Draw("burn"), Draw("burn")))
        yield Fault("street without its burn", (Draw("board"),) * max(lacking, 1))
    if due.kind == "board":
        yield Fault("one board card too many", (Draw("board"),) * (max(lacking, 0) + 1))
    if due.kind == "seat":
        order = hand.setup.order
        yield Fault("action before the deal is complete", (Act(_opener(hand)[0], "call"),), regular=True)
        yield Fault("betting complete before the deal is", (BettingComplete(),), regular=True)
        absentee = order[len(order) // 2]
        found = ReportCount(absentee, hand.setup.cards_each + 1)
        yield Fault("a seat has too many cards while the deal goes on", (found,))


def _about_the_last(hand: HandState, wide: bool) -> Iterator[Fault]:
    """What is said of the card that left last, before the next one does."""
    if not hand.cards:
        return
    number = hand.last
    card = hand.cards[number - 1]
    yield Fault("last card exposed, said late", (Exposed(number, "dealer"),), regular=True)
    yield Fault("last card exposed by a player, said late", (Exposed(number, "player"),), regular=True)
    yield Fault("last card left the table, said late", (OffTable(number),), regular=True)
    yield Fault("last card knocked off the table, said late", (OffTable(number, "player"),), regular=True)
    yield Fault("last card was read wrongly", (Misread(number),), regular=True)
    yield Fault("last card has another back", (ReportWrongBack(number),))
    yield Fault("last card is a joker, said late", (ReportJoker(number),))
    yield Fault("last card boxed, said late", (ReportBoxed(number),))
    yield Fault("last card not boxed after all", (ReportBoxed(number), ReportBoxed(number, False)), regular=True)
    yield Fault("last card seen by its player", (Looked(number),), regular=True)
    yield Fault("last card pulled back", (PullBack(),), regular=True)
    yield Fault("last card moved to the muck", (Placed(number, "muck"),), regular=True)
    for target in _targets(hand, wide):
        if target != card.place:
            yield Fault(f"last card really went to {_kind_of(hand, target)}", (ReportTarget(number, target),))


def _undue(hand: HandState, wide: bool, acts: tuple[str, ...]) -> Iterator[Fault]:
    """Cards leave although none is due."""
    played = act_events(hand, acts)
    for target in _targets(hand, wide):
        yield Fault(f"card to {_kind_of(hand, target)} though none is due", (*played, Draw(target)), acts)
    yield Fault("burn exposed though none is due", (*played, Draw("burn", exposed="dealer")), acts)
    yield Fault("two burns though none is due", (*played, Draw("burn"), Draw("burn")), acts)
    for count in (1, 2, 3, 4):
        board = (Draw("board"),) * count
        cards = f"{count} board card{'s' if count > 1 else ''}"
        yield Fault(f"{cards}, burned, though none is due", (*played, Draw("burn"), *board), acts)
        yield Fault(f"{cards} though none is due", (*played, *board), acts)


def _while_betting(hand: HandState, wide: bool, acts: tuple[str, ...]) -> Iterator[Fault]:
    """What is found while the players act: counts of cards, and late reports about any card."""
    share = hand.setup.cards_each
    first = hand.street == first_street(hand)
    played = act_events(hand, acts)
    for seat in hand.setup.order if wide and first else _some_seats(hand):
        for count in range(share + 3):
            if count != share:
                yield Fault(f"{_number_name(count - share)} found at a seat", (*played, ReportCount(seat, count)), acts)
    for number in _some_numbers(hand, wide and first and not acts):
        for by in ("dealer", "player"):
            late = Exposed(number, by)
            yield Fault(f"card exposed by the {by}, found late", (*played, late), acts, regular=True)
        yield Fault("card left the table, found late", (*played, OffTable(number)), acts, regular=True)
        yield Fault("joker found late", (*played, ReportJoker(number)), acts)
        yield Fault("boxed card found late", (*played, ReportBoxed(number)), acts)
        yield Fault("another back found late", (*played, ReportWrongBack(number)), acts)
        yield Fault("card seen", (*played, Looked(number)), acts, regular=True)
        yield Fault("card really lies at another seat", (*played, ReportTarget(number, _elsewhere(hand, number))), acts)
    if acts:
        for event in _reports(hand):
            yield Fault(_report_name(event), (*played, event), acts, _is_regular(event, hand))


def _about_the_betting(hand: HandState) -> Iterator[Fault]:
    yield Fault("no more betting", (BettingOver(),), regular=True)
    out_of_turn = Act(hand.setup.order[-1], "raise", out_of_turn=True)
    yield Fault("action out of turn", (out_of_turn,), regular=True)


def _at_any_time(hand: HandState) -> Iterator[Fault]:
    for event in _reports(hand):
        yield Fault(_report_name(event), (event,), regular=_is_regular(event, hand))
    yield Fault("stub shuffled though nobody asked", (ShuffledStub(),), regular=True)
    yield Fault("deck loaded though nobody asked", (DeckLoaded(),), regular=True)
    yield Fault("acknowledged though nothing waits", (Ack(),), regular=True)
    yield Fault("pot awarded", (Award(),), regular=True)
    for decision in FLOOR_DECISIONS:
        seat = hand.setup.order[0] if decision == "dead" else None
        yield Fault(f"the floor says {decision}", (FloorDecision(decision, seat),))


def _reports(hand: HandState) -> Iterator[Event]:
    order = hand.setup.order
    yield ReportButton(order[0])
    for seat in _some_seats(hand):
        yield ReportEntitled(seat, False)
    outsider = _outsider(hand)
    if outsider:
        yield ReportEntitled(outsider, True)
    yield ReportDuplicate()
    yield ReportDuplicate(in_stub=True)
    yield ReportWrongBack(None)
    yield ReportJoker(None)
    yield ReportMissing()
    yield ReportShortStub()
    yield ReportBadShuffle()
    yield Knew(order[0])
    for mixed in ((), ("muck",), ("burns",), ("muck", "burns")):
        yield DroppedStub(mixed)


def _report_name(event: Event) -> str:
    if isinstance(event, ReportEntitled):
        return "entitled seat was passed over" if event.entitled else "seat was not entitled"
    if isinstance(event, DroppedStub):
        return "stub dropped" + (f", mixed with {' and '.join(event.mixed)}" if event.mixed else "")
    if isinstance(event, ReportDuplicate) and event.in_stub:
        return "duplicate in the stub"
    return {
        ReportButton: "button was at the wrong seat",
        ReportDuplicate: "duplicate reported",
        ReportWrongBack: "another back in the stub",
        ReportJoker: "joker in the stub",
        ReportMissing: "card missing",
        ReportShortStub: "stub too short",
        ReportBadShuffle: "shuffle doubted",
        Knew: "a player knew",
    }[type(event)]


def _is_regular(event: Event, hand: HandState) -> bool:
    """Told alone this need not be a finding: a seat without cards, a player's knowledge, the button before the deal."""
    undealt = len(hand.cards) == hand.reload
    return isinstance(event, ReportEntitled | Knew) or (isinstance(event, ReportButton) and undealt)


def _number_name(more: int) -> str:
    size = abs(more)
    return f"{size} card{'s' if size > 1 else ''} {'too many' if more > 0 else 'too few'}"


def _outsider(hand: HandState) -> int:
    """A seat that has no hand, 0 when all are taken."""
    return next((seat for seat in SEATS if seat not in hand.setup.seats and seat not in hand.seats), 0)


def _some_seats(hand: HandState) -> tuple[int, ...]:
    """First, middle and last of the dealing order."""
    order = hand.setup.order
    return tuple(dict.fromkeys((order[0], order[len(order) // 2], order[-1])))


def _targets(hand: HandState, wide: bool) -> tuple[Place, ...]:
    outsider = _outsider(hand)
    seats = hand.setup.order if wide else _some_seats(hand)
    return (*seats, *((outsider,) if outsider else ()), "burn", "board", "muck", "off-table")


def _kind_of(hand: HandState, target: Place) -> str:
    if not isinstance(target, int):
        return {"burn": "the burn", "board": "the board", "muck": "the muck", "off-table": "the floor"}[target]
    return "a seat" if target in hand.setup.order else "a seat that is not entitled"


def _some_numbers(hand: HandState, wide: bool) -> list[int]:
    """Draw numbers since the last full reload: all, or the first three, the last of the deal and the last of all."""
    numbers = [card.number for card in hand.cards[hand.reload :]]
    if wide:
        return numbers
    dealt = len(hand.setup.order) * hand.setup.cards_each
    return [n for place, n in enumerate(numbers, 1) if place <= 3 or place in (dealt, len(numbers))]


def _elsewhere(hand: HandState, number: int) -> int:
    """A seat where the card does not lie."""
    return next(seat for seat in hand.setup.order if seat != hand.cards[number - 1].place)


def _acts(hand: HandState, choices: Acts) -> Acts:
    """Those action states that leave at least two players in and in which nobody acts twice."""
    players = len(in_play(hand))
    return tuple(acts for acts in choices if acts.count("fold") <= players - 2 and len(acts) <= players)


def _opener(hand: HandState) -> tuple[int, ...]:
    """Who can act on the street in play, in order."""
    live = tuple(seat for seat in hand.setup.order if seat in in_play(hand))
    if hand.street == "preflop":
        return clockwise(live, hand.setup.bb)
    return live


def act_events(hand: HandState, acts: tuple[str, ...]) -> tuple[Event, ...]:
    """The actions in turn; "?" is one of which only the count is known."""
    return tuple(
        Act(None, None) if kind == "?" else Act(seat, kind) for seat, kind in zip(_opener(hand), acts, strict=False)
    )


def inject(session: TableSession, fault: Fault) -> tuple[list[Event], list[Outcome]]:
    """Tell a fault's facts; those that the table refuses as impossible are left out."""
    told: list[Event] = []
    outcomes = []
    for event in fault.events:
        try:
            outcomes.append(tell(session, event))
        except UserError:
            continue
        told.append(event)
    return told, outcomes
