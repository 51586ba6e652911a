"""Who is dealt in, in what order, and how button and blinds move from hand to hand."""

from __future__ import annotations

from typing import NamedTuple

from dealershoe.errors import UserError
from dealershoe.events import SEATS, Hand, NextHand

SMALLEST, LARGEST = 2, 11  # NJAC 13:69F-14.10 deals up to eleven players


CUTS = ("dealers-right", "buttons-right", "dealer")


class Setup(NamedTuple):
    """One hand's seats. `order` is the dealing order: clockwise from the button, the button's seat last."""

    seats: tuple[int, ...]
    button: int
    sb: int | None  # None: dead small blind
    bb: int
    game: str
    order: tuple[int, ...]
    absent: tuple[int, ...] = ()
    penalty: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()  # at the table, not dealt in until the button has passed
    dead_sb: int = 0  # the seat where a dead small blind should have been, 0: not known
    killed: tuple[int, ...] = ()  # dealt in, dead once the deal is complete
    left_out: tuple[int, ...] = ()  # away and not dealt in; at the table for the next hand
    burn_first: bool = False  # the room burns before the deal
    cut: str = ""  # who cuts the deck: one of CUTS, "" where no rule says

    @property
    def cards_each(self) -> int:
        """Cards of the initial deal: two down in hold'em; two down and one up in stud."""
        return 2 if self.game == "holdem" else 3


def clockwise(seats: tuple[int, ...], after: int) -> tuple[int, ...]:
    """The seats in order from the first one clockwise of `after`; `after` itself, if among them, last."""
    ordered = sorted(seats)
    return tuple([s for s in ordered if s > after] + [s for s in ordered if s <= after])


def cutter(setup: Setup, refused: tuple[int, ...] = ()) -> int | None:
    """The seat whose cut it is, 0: the dealer cuts himself, None: no rule says.

    Seats are numbered clockwise from the dealer's left, so that the highest is on his right; where the button deals,
    it is the seat before the button. Who is away does not cut, and a refusal passes on to the right, in the end to the
    dealer (RULES 13).
    """
    if setup.cut in ("", "dealer"):
        return 0 if setup.cut else None
    away = {*setup.absent, *setup.penalty, *setup.left_out, *refused}
    here = [seat for seat in (*setup.seats, *setup.waiting) if seat not in away]
    if setup.cut == "buttons-right":
        here = [seat for seat in clockwise(tuple(here), setup.button) if seat != setup.button]
        return here[-1] if here else 0
    return max(here, default=0)


def first_setup(hand: Hand, absent_seat: str = "") -> Setup:
    """The setup that a `hand` line describes in full. `absent_seat`: the rules' answer about players who are away.

    Raises UserError for fewer than 2 or more than 11 seats, a seat outside 1 to 11, or a blind at an unused seat.
    """
    seats = tuple(sorted(set(hand.seats) | set(hand.absent) | set(hand.penalty)))
    if not SMALLEST <= len(seats) <= LARGEST:
        raise UserError(f"a hand with {len(seats)} seat(s)", f"a table has {SMALLEST} to {LARGEST}", "name the seats")
    for seat in (*seats, hand.button):
        if seat not in SEATS:
            raise UserError(f"seat {seat}", "seats are numbered 1 to 11", "correct the seat number")
    order = clockwise(seats, hand.button)
    sb: int | None
    sb, bb = _blinds(order, hand.button)
    if hand.sb == "dead":
        sb, bb = None, order[0] if hand.bb is None else hand.bb
    elif hand.sb is not None:
        sb = int(hand.sb)
        bb = hand.bb if hand.bb is not None else clockwise(seats, sb)[0]
    elif hand.bb is not None:
        bb = hand.bb
    for name, post in (("small blind", sb), ("big blind", bb)):
        if post is not None and post not in seats:
            raise UserError(f"the {name} at seat {post}", "that seat is not dealt in", "correct seats= or the blind")
    setup = Setup(seats, hand.button, sb, bb, hand.game, order, hand.absent, hand.penalty)
    if absent_seat == "dealt-in":
        return setup._replace(killed=tuple(s for s in seats if s in hand.absent or s in hand.penalty))
    posted = (sb, bb) if absent_seat == "dealt-in-if-posted" else ()
    away = tuple(s for s in hand.absent if absent_seat and s not in posted)
    return without_seats(setup, away) if away else setup


def without_seats(setup: Setup, away: tuple[int, ...]) -> Setup:
    """The same hand without the seats `away`; a blind of theirs is the next player's.

    Raises UserError when fewer than two are left.
    """
    seats = tuple(s for s in setup.seats if s not in away)
    if len(seats) < SMALLEST:
        raise UserError(f"a hand with {len(seats)} seat(s)", f"{len(away)} player(s) are away", "wait for them")
    order = clockwise(seats, setup.button)
    sb, bb = setup.sb, setup.bb
    if len(seats) == SMALLEST or sb in away or bb in away:
        sb, bb = _blinds(order, setup.button)
    return setup._replace(seats=seats, order=order, sb=sb, bb=bb, left_out=away)


def _blinds(order: tuple[int, ...], button: int) -> tuple[int, int]:
    """Heads-up the small blind is on the button (TDA 34-B, house rules); else the first two seats of the order."""
    if len(order) == 2:
        return order[1], order[0]
    return order[0], order[1]


def next_setup(last: Setup, event: NextHand, button: int = 0) -> Setup:
    """The next hand: the big blind moves one player clockwise, small blind and button follow to where they were due.

    A seat that has emptied leaves a dead small blind or a dead button (TDA 32, Robert's section 4). A new player
    between the button and the big blind waits (TDA 8-A, 10-A). Heads-up the button has the small blind (TDA 34-B).
    `button`: the seat to which the button goes back after an error, or the next one if nobody is there; 0: it moves on.
    """
    present = (set(last.seats) | set(last.left_out) | set(last.waiting) | set(event.new)) - set(event.gone)
    arrived = (set(event.new) | set(last.waiting)) & present
    veterans = tuple(sorted(present - arrived)) or tuple(sorted(present))
    if len(present) < SMALLEST:
        raise UserError(f"{len(present)} player(s) left", "everyone else is gone", "end the table or add players")
    if button:
        return _from_button(button, present, veterans, last)
    if len(present) == SMALLEST:
        seats = tuple(sorted(present))
        bb = clockwise(seats, last.bb)[0]
        other = next(s for s in seats if s != bb)
        return _setup(seats, other, other, bb, last)
    bb = clockwise(tuple(sorted(present)), last.bb)[0]
    sb: int | None = last.bb if last.bb in veterans else None
    button = last.sb if last.sb is not None else last.button
    if last.sb is None:  # the dead small blind's place takes the button
        button = last.dead_sb or _seat_before(last.bb, last)
    between = {s for s in arrived if s != bb and _between(s, button, bb)}
    if len(present - between) < SMALLEST:  # there is no hand without them
        between = set()
    seats = tuple(sorted(present - between))
    if len(seats) == SMALLEST:
        other = next(s for s in seats if s != bb)
        return _setup(seats, other, other, bb, last)._replace(waiting=tuple(sorted(between)))
    dead_sb = last.bb if sb is None else 0
    return _setup(seats, button, sb, bb, last)._replace(waiting=tuple(sorted(between)), dead_sb=dead_sb)


def _from_button(button: int, present: set[int], veterans: tuple[int, ...], last: Setup) -> Setup:
    """A hand whose button is put at `button`: blinds are the next two players, who comes new between them waits."""
    if button not in present:
        button = clockwise(tuple(present), button)[0]
    order = clockwise(tuple(present), button)
    if len(order) == SMALLEST:
        return _setup(tuple(sorted(present)), button, button, order[0], last)
    settled = [seat for seat in order if seat in veterans] if len(veterans) > SMALLEST else list(order)
    bb = settled[1]
    waiting = {s for s in present - set(settled) if _between(s, button, bb)}
    seats = tuple(sorted(present - waiting))
    return _setup(seats, button, settled[0], bb, last)._replace(waiting=tuple(sorted(waiting)))


def _seat_before(bb: int, last: Setup) -> int:
    """The place of a dead small blind: the seat number just before the big blind's, wrapping at the table's end."""
    previous = bb - 1
    return previous if previous >= 1 else max(*last.seats, last.button)


def _between(seat: int, after: int, before: int) -> bool:
    """Is `seat` met when going clockwise from `after` to `before`?"""
    if after < before:
        return after <= seat < before
    return seat >= after or seat < before


def _setup(seats: tuple[int, ...], button: int, sb: int | None, bb: int, last: Setup) -> Setup:
    return Setup(seats, button, sb, bb, last.game, clockwise(seats, button))


def redealt(setup: Setup, seats: tuple[int, ...], button: int) -> Setup:
    """The setup of a redeal: the same hand again, with what was found wrong about seats or button put right.

    Who was away may play the redeal; a penalty is served in it (TDA 35-C).
    """
    if setup.killed:
        setup = setup._replace(killed=tuple(s for s in setup.killed if s in setup.penalty))
    return reseated(setup, seats, button)


def reseated(setup: Setup, seats: tuple[int, ...], button: int) -> Setup:
    """The same hand for `seats` from `button`; as it was where fewer than two players would be left."""
    if (seats == setup.seats and button == setup.button) or len(seats) < SMALLEST:
        return setup
    order = clockwise(seats, button)
    sb: int | None
    if button != setup.button or setup.bb not in seats or (setup.sb is not None and setup.sb not in seats):
        sb, bb = _blinds(order, button)
    else:
        sb, bb = setup.sb, setup.bb
    killed = tuple(seat for seat in setup.killed if seat in seats)
    return setup._replace(seats=seats, button=button, order=order, sb=sb, bb=bb, killed=killed)
