"""The numbers by which shoe and bridge tell hands apart: 16 bits, never 0. Pure; for the desk."""

from __future__ import annotations

from dealershoe.events import Event, Hand

LATELY = 3_600  # so far, in hands, a number can be ahead of the clock's because hands were begun faster


def following(hand: int) -> int:
    """The number of the hand after `hand`."""
    return hand % 0xFFFF + 1


def number_of(event: Event, wall_ns: int, hand: int, seen: int) -> int:
    """That of a hand which a person begins. `hand`: of the one before it, `seen`: the shoe named last, 0 for none.

    A hand described in full takes it from the clock: no card of a past that this journal does not know can be taken
    for one of its own.
    """
    if not isinstance(event, Hand):
        return following(hand)
    number = wall_ns // 1_000_000_000 & 0xFFFF
    ahead = [(taken - number) & 0xFFFF for taken in (hand, seen) if taken]
    number += max((by + 1 for by in ahead if by < LATELY), default=0)  # hands begun faster than one a second
    return number & 0xFFFF or 1
