"""A second reading of the rule books: one fault in a hand, the ruling expected, and the layout once the remedy is done.

`cases(seats)` gives every fault at every place as a `.deal` script with its expectations in it, `play` a single one.
Written from the books alone, to be compared with the judge; where the books leave a thing open there is no case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

from rules.oracle_books import RIVER_AS_TURN, STACKS, speaker
from rules.oracle_dealer import BOARD_CARDS, STREETS, Dealer, Expected, Fault, UnwrittenError

PREFLOP_ACTS: tuple[tuple[str, ...], ...] = (
    (), ("fold",), ("call",), ("raise",), ("fold", "fold"), ("fold", "call"), ("raise", "fold"), ("call", "check"),
    ("fold", "fold", "fold"), ("fold", "fold", "call"),
)  # fmt: skip
STREET_ACTS: tuple[tuple[str, ...], ...] = (
    (), ("check",), ("bet",), ("check", "check"), ("bet", "call"), ("check", "bet", "fold"),
)  # fmt: skip


class Case(NamedTuple):
    name: str
    script: str
    expected: Expected


def _clean(dealer: Dealer, fault: Fault) -> None:
    dealer.hole()
    dealer.act(fault.acts)
    dealer.finish()
    dealer.say("expect none")


def _replace_exposed(dealer: Dealer, number: int, seat: int) -> None:
    """Robert's hold'em 1, house misdeals 3: finish the deal, the top card replaces it, it is the burn of the flop."""
    while dealer.number < 2 * len(dealer.chairs):
        dealer.due(dealer.next_seat)
        dealer.next_hole()
    dealer.due(seat)
    dealer.draw(seat)
    dealer.held[seat].remove(number)
    dealer.burns.append(number)
    dealer.finish(burn=False)


def _exposed(dealer: Dealer, fault: Fault) -> None:
    """One or two hole cards turned up, as they fall or reported late."""
    by = "" if fault.by == "dealer" else " by a player"
    seats = dealer.order
    last = 0
    if fault.late:
        dealer.hole()
        dealer.act(fault.acts)
    for nth, number in enumerate(fault.draws):
        if fault.late:
            dealer.say(f"exposed #{number} by={fault.by}")
        else:
            dealer.hole(number - 1 - last)
            dealer.next_hole(f"exposed by={fault.by}")
        last = number
        if nth == 1:
            finding = "two cards exposed"
        elif number <= 2:
            finding = "first or second card exposed" + by
        else:
            finding = "later card exposed" + by
        seat = seats[(number - 1) % len(seats)]
        if nth == 0 and len(fault.draws) == 2 and fault.acts:
            continue  # what one card late in the betting leads to is not written; both together are
        ruling = dealer.rule(finding, fault.acts, seat, signal=not (nth == 1 and fault.late))
    if ruling == "misdeal":
        dealer.redeal()
    elif ruling == "replace":
        _replace_exposed(dealer, number, seat)
    elif len(fault.draws) == 2:
        dealer.layout_known = False
    else:
        dealer.hole(2 * len(seats) - dealer.number)
        dealer.finish()


def _replacement_exposed(dealer: Dealer, fault: Fault) -> None:
    """The card that replaces an exposed one is turned up too, before anyone acts: two exposed cards."""
    number = fault.draws[0]
    dealer.hole(number - 1)
    seat = dealer.next_seat
    dealer.next_hole("exposed by=dealer")
    if dealer.rule("later card exposed", seat=seat) != "replace":
        raise UnwrittenError("nothing replaces it")
    dealer.hole(2 * len(dealer.chairs) - number)
    dealer.due(seat)
    dealer.draw(seat, "exposed by=dealer")
    dealer.rule("two cards exposed")
    dealer.redeal()


def _boxed_hole(dealer: Dealer, fault: Fault) -> None:
    """One or two hole cards face up in the shoe. Robert's: scrap, the same seat gets the next card, the deal shifts."""
    boxed = 0
    while sum(map(len, dealer.held.values())) < 2 * len(dealer.chairs):
        seat = dealer.next_seat
        if boxed:
            dealer.due(seat)
        if dealer.number + 1 not in fault.draws:
            dealer.next_hole()
            continue
        number = dealer.next_hole("boxed")
        boxed += 1
        ruling = dealer.rule("hole card boxed" if boxed == 1 else "two hole cards boxed", seat=seat)
        if ruling == "misdeal":
            dealer.redeal()
            return
        if ruling == "replace":
            dealer.held[seat].remove(number)
            dealer.muck.append(number)
    if boxed < len(fault.draws):
        raise UnwrittenError("the second boxed card is not a hole card")
    dealer.finish()


def _boxed_later(dealer: Dealer, fault: Fault) -> None:
    """A burn or board card face up in the shoe. Robert's: scrap, the next card takes its place."""
    dealer.hole()
    for street in STREETS:
        dealer.say("betting complete")
        for target in ("burn", *["board"] * BOARD_CARDS[street]):
            dealer.due(target)
            if dealer.number + 1 in fault.draws:
                number = dealer.draw(target, "boxed")
                if dealer.rule("burn or board card boxed") == "replace":
                    (dealer.burns if target == "burn" else dealer.board).remove(number)
                    dealer.muck.append(number)
                    dealer.due(target)
                    dealer.draw(target)
            else:
                dealer.draw(target)
    dealer.due("betting")


def _first_card(dealer: Dealer, fault: Fault) -> None:
    """The deal starts at another entitled seat; where no book speaks, it goes on clockwise from there."""
    (wrong,) = fault.seats
    dealer.draw(wrong)
    if dealer.rule("first card to the wrong seat") == "misdeal":
        dealer.redeal()
        return
    start = dealer.order.index(wrong)
    for step in range(1, 2 * len(dealer.chairs)):
        seat = dealer.order[(start + step) % len(dealer.chairs)]
        dealer.due(seat)
        dealer.draw(seat)
    dealer.finish()


def _extra(dealer: Dealer, fault: Fault) -> None:
    """After the deal one or two cards too many go to `fault.seats`."""
    dealer.hole()
    dealer.act(fault.acts)
    ruling = ""
    for nth, seat in enumerate(fault.seats):
        if ruling == "misdeal":
            raise UnwrittenError("a card dealt on after a misdeal")
        number = dealer.draw(seat)
        ruling = dealer.rule("one extra card" if nth == 0 else "two extra cards", fault.acts, seat)
        if ruling == "correct":  # returned, and the burn: Robert's hold'em 2, house misdeals 4
            dealer.held[seat].remove(number)
            dealer.burns.append(number)
    if ruling == "misdeal":
        dealer.redeal()
        return
    if len(fault.seats) == 2:
        dealer.layout_known = False
        return
    dealer.say("betting complete")
    if ruling == "dead":  # one card is burned as ever, TDA 38 with its illustrations
        dealer.say(f"expect dead={fault.seats[0]}")
        dealer.held.pop(fault.seats[0])
    if ruling in ("dead", "play-on"):
        dealer.draw("burn")
    for _ in range(3):
        dealer.draw("board")
    dealer.finish(STREETS[1:])


def _not_entitled(dealer: Dealer, fault: Fault) -> None:
    """A card goes to a seat that has none coming: seen at once, or found when its turn to act comes."""
    (seat,) = fault.seats
    others = tuple(chair for chair in dealer.chairs if chair != seat)
    if fault.late:
        dealer.hole()
        dealer.act(fault.acts)
        dealer.say(f"report not-entitled seat={seat}")
    else:
        dealer.hole(fault.draws[0] - 1)
        dealer.draw(seat)
    if dealer.rule("seat not entitled", fault.acts) == "misdeal":
        dealer.redeal(others)
    else:
        dealer.finish()
        dealer.held.pop(seat)


def _dealt_out(dealer: Dealer, fault: Fault) -> None:
    """A seat that has cards coming was passed over in both rounds. TDA 35-A-4; Robert's misdeals 2(j)."""
    (seat,) = fault.seats
    dealer.hole()
    dealer.act(fault.acts)
    dealer.say(f"report entitled seat={seat}")
    if dealer.rule("entitled seat dealt out", fault.acts) == "misdeal":
        dealer.redeal(tuple(sorted((*dealer.chairs, seat))))
    else:
        dealer.finish()


def _premature(dealer: Dealer, fault: Fault, street: str) -> None:
    """A street comes while the betting before it is open. Burn stays, board cards go back; never a second burn."""
    dealer.hole()
    for earlier in STREETS[: STREETS.index(street)]:
        dealer.say("betting complete")
        dealer.draw("burn")
        for _ in range(BOARD_CARDS[earlier]):
            dealer.draw("board")
    dealer.act(fault.acts, "hole" if street == "flop" else "board")
    dealer.draw("burn")
    for _ in range(fault.cards):
        dealer.draw("board")
    dealer.rule("premature board", fault.acts)
    del dealer.board[-fault.cards :]
    dealer.due("betting")
    dealer.say("betting complete")
    left = STREETS[STREETS.index(street) :]
    book = speaker(dealer.stack, "premature board")
    if street == "turn" and book is not None and RIVER_AS_TURN[book]:
        for target in ("burn", "board"):  # the card that would have been the river, with its burn
            dealer.due(target)
            dealer.draw(target)
        dealer.due("betting")
        dealer.say("betting complete")
        left = ("river",)
    dealer.due("shuffle")
    dealer.say("shuffled stub")
    dealer.finish(left, burn=False, wait=False)


KINDS: dict[str, Callable[[Dealer, Fault], None]] = {
    "clean": _clean,
    "exposed": _exposed,
    "replacement exposed": _replacement_exposed,
    "boxed hole card": _boxed_hole,
    "boxed burn or board card": _boxed_later,
    "first card to the wrong seat": _first_card,
    "extra card": _extra,
    "seat not entitled": _not_entitled,
    "seat dealt out": _dealt_out,
    "premature flop": lambda dealer, fault: _premature(dealer, fault, "flop"),
    "premature turn": lambda dealer, fault: _premature(dealer, fault, "turn"),
    "premature river": lambda dealer, fault: _premature(dealer, fault, "river"),
}


def play(seats: int, fault: Fault, stack: str) -> Case | None:
    """A hand of `seats` players (2 to 11, the last has the button) with one fault, under a stack; None: not written."""
    if stack == "tda-2024+house" and fault.by == "player":
        return None  # whether TDA 65-B answers here, or leaves it to the house, is not written
    chairs = tuple(range(1, seats + 1))
    if fault.kind == "seat dealt out":  # the passed-over seat sits between the others
        chairs = tuple(chair for chair in range(1, seats + 2) if chair not in fault.seats)
    dealer = Dealer(stack, chairs, chairs[-1])
    try:
        KINDS[fault.kind](dealer, fault)
    except UnwrittenError:
        return None
    still_open = fault.late and len(fault.draws) == 2  # the first of the two may wait for its own remedy
    settled = dealer.ruling in ("misdeal", "replace", "none", "play-on") and not still_open
    if settled or fault.kind.startswith("premature"):
        dealer.say("expect signal ready")
    expected = dealer.expected()
    return Case(_name(seats, fault, stack), "\n".join((*dealer.lines, "")), expected)


def _name(seats: int, fault: Fault, stack: str) -> str:
    parts = [f"{seats} seats", stack, fault.kind, *(f"#{number}" for number in fault.draws)]
    parts += [f"seat {seat}" for seat in fault.seats]
    parts += [f"by {fault.by}"] if fault.by != "dealer" else []
    parts += [f"{fault.cards} cards"] if fault.kind == "premature flop" else []
    parts += ["late"] if fault.late else []
    parts += ["-".join(fault.acts)] if fault.acts else []
    return ", ".join(parts)


def _playable(acts: tuple[str, ...], seats: int) -> bool:
    """Two players are left, and nobody acts twice."""
    return acts.count("fold") <= seats - 2 and len(acts) <= seats and (seats == 2 or acts != ("call", "check"))


def faults(seats: int) -> Iterator[Fault]:
    """Every fault at every place of a hand of `seats` players, 2 to 11."""
    hole = range(1, 2 * seats + 1)
    before_flop = [acts for acts in PREFLOP_ACTS if _playable(acts, seats)]
    on_board = [acts for acts in STREET_ACTS if _playable(acts, seats)]
    yield from (Fault("clean", acts=acts) for acts in before_flop)
    for number in hole:
        yield from (Fault("exposed", (number,), by) for by in ("dealer", "player"))
        for acts in before_flop if number <= 2 else [()]:
            yield Fault("exposed", (number,), acts=acts, late=True)
        yield Fault("boxed hole card", (number,))
    for pair in combinations(range(3, 2 * seats + 1), 2):
        yield Fault("exposed", pair)
    yield from (Fault("exposed", (3, 2 * seats), acts=acts, late=True) for acts in before_flop)
    yield from (Fault("replacement exposed", (number,)) for number in hole[2:])
    for pair in combinations(range(1, 2 * seats + 2), 2):
        yield Fault("boxed hole card", pair)
    yield from (Fault("boxed burn or board card", (2 * seats + place,)) for place in range(1, 9))
    yield from (Fault("first card to the wrong seat", seats=(seat,)) for seat in range(2, seats + 1))
    for acts in before_flop:
        folded = {2 + place for place, kind in enumerate(acts, 1) if kind == "fold"}  # what they hold is of no effect
        yield from (Fault("extra card", seats=(seat,), acts=acts) for seat in range(1, seats + 1) if seat not in folded)
    yield from (Fault("extra card", seats=pair) for pair in ((1, 2), (1, 1)))
    if seats < 11:
        yield from (Fault("seat not entitled", (number,), seats=(seats + 1,)) for number in hole)
        for acts in before_flop:
            yield Fault("seat dealt out", seats=(3 if seats > 2 else 2,), acts=acts)
    for acts in before_flop:
        empty = 3 + len(acts)  # the first seat that has not acted
        if empty < seats:  # not the button's, whose chair decides the order
            yield Fault("seat not entitled", seats=(empty,), acts=acts, late=True)
        yield from (Fault("premature flop", acts=acts, cards=cards) for cards in (1, 2, 3))
    for acts in on_board:
        yield from (Fault(kind, acts=acts) for kind in ("premature turn", "premature river"))


def cases(seats: int) -> Iterator[Case]:
    """Every case of a hand of `seats` players, 2 to 11, under every stack: its name, its script, what it expects."""
    for fault in faults(seats):
        for stack in STACKS:
            case = play(seats, fault, stack)
            if case is not None:
                yield case
