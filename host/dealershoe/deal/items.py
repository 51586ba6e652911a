"""What a line of a deal script means beside an event: deal on, expect, call the floor. For judge and emulator."""

from __future__ import annotations

from dataclasses import dataclass

from dealershoe.errors import UserError
from dealershoe.events import Event

STREETS = ("hole", "flop", "turn", "river", "third", "fourth", "fifth", "sixth", "seventh")
RULINGS = ("misdeal", "replace", "correct", "dead", "void", "play-on", "floor", "none")
DUES = ("burn", "board", "betting", "ack", "shuffle", "pick", "nothing")  # "seat" comes with its number
SIGNALS = ("ready", "attention", "stop", "floor")


class DealError(UserError):
    """A line that does not parse: where it stands, what was seen, what was expected and the nearest right word."""

    def __init__(self, name: str, line: int, got: str, expected: str, nearest: str | None = None) -> None:
        super().__init__(
            f"{name}, line {line}: {got}",
            f"expected {expected}",
            f"did you mean `{nearest}`?" if nearest else "",
        )
        self.name = name
        self.line = line
        self.got = got
        self.expected = expected
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class DealNext:
    """The next `count` cards go where they are due, or all that is due up to and including `street`. One of both."""

    count: int | None = None
    street: str | None = None


@dataclass(frozen=True, slots=True)
class FloorCall:
    """The floor is called to the table, as with the shoe's floor key. It says nothing of the deal.

    An `ack`, an `undo` right behind it, or a decision of the floor takes it back.
    """


@dataclass(frozen=True, slots=True)
class ExpectRuling:
    """The latest ruling since the last expectation of this kind. `ruling` is one of RULINGS."""

    ruling: str
    rule: str | None = None
    seat: int | None = None
    stacks: tuple[str, ...] = ()  # the stacks that the expectation speaks of; empty: all


@dataclass(frozen=True, slots=True)
class ExpectDue:
    """`kind` is "seat" (with `seat`) or one of DUES."""

    kind: str
    seat: int | None = None
    stacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectPlaces:
    """Draw numbers in order of arrival; None: the line does not speak of it.

    `dead`: the seats whose hands are dead; `forfeit`: those whose chips stay in the pot for the next deal.
    """

    burns: tuple[int, ...] | None = None
    board: tuple[int, ...] | None = None
    seats: tuple[tuple[int, tuple[int, ...]], ...] = ()  # (seat, its draw numbers), by seat
    dead: tuple[int, ...] | None = None
    muck: tuple[int, ...] | None = None
    forfeit: tuple[int, ...] | None = None
    stacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectButton:
    """Where the button is; `sb` a seat or "dead"; None: the line does not speak of it."""

    button: int
    sb: int | str | None = None
    bb: int | None = None
    stacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectDeck:
    """Whether another deck comes into play."""

    change: bool
    stacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectSignal:
    """What the shoe's light says: one of SIGNALS."""

    signal: str
    stacks: tuple[str, ...] = ()


Expect = ExpectRuling | ExpectDue | ExpectPlaces | ExpectButton | ExpectDeck | ExpectSignal
Item = Event | FloorCall | DealNext | Expect


@dataclass(frozen=True, slots=True)
class Line:
    """A line that says something: its number in the file from 1, as it was written, and what it means."""

    number: int
    text: str
    item: Item
