"""What the screen may show of a table, as frozen records: made by the bridge, drawn by the view."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeatView:
    """A seat of the hand. `marks`: "button", "sb", "bb", "absent", "dead", ... `faces` only on an open table."""

    seat: int
    cards: int
    due: bool = False
    marks: tuple[str, ...] = ()
    faces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawView:
    """A card that left the shoe: where it went ("seat 3"), whether that is confirmed, which way up, what is odd."""

    number: int
    place: str
    confirmed: bool
    way_up: str
    marks: tuple[str, ...] = ()
    face: str | None = None


@dataclass(frozen=True, slots=True)
class RulingView:
    """A ruling as the dealer reads it, with the clause and the pack it comes from."""

    ruling: str
    say: str
    cite: str
    layer: str
    decider: str
    seat: int | None = None
    cards: tuple[int, ...] = ()
    n: int = 0  # among the rulings of the hand, from 1; 0: it is not one of them any more
    happened: str = ""  # the finding in the vocabulary's words, "" for a decision of the floor's own
    signal: str = ""
    language: str = "en"  # of `say` and `cite`, a tag as in HTML


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step of the remedy that is being followed."""

    text: str
    done: bool
    current: bool


@dataclass(frozen=True, slots=True)
class LightView:
    """What the shoe shows and sounds. `pixels`: the eight lamps as an emulated shoe really has them, else None."""

    state: str  # ready attention stop floor align unsupervised
    light: str
    sound: str
    pixels: tuple[tuple[int, int, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of a table."""

    title: str
    stack: str
    link: str  # supervised, align, unsupervised
    link_why: str
    light: LightView
    hand: int | None = None
    street: str = ""
    due: str = "nothing"
    seats: tuple[SeatView, ...] = ()
    burns: int = 0
    board: int = 0
    muck: int = 0
    board_faces: tuple[str, ...] = ()
    draws: tuple[DrawView, ...] = ()
    rulings: tuple[RulingView, ...] = ()
    steps: tuple[StepLine, ...] = ()
    question: str | None = None
    unseen: tuple[int, ...] = ()  # cards of which somebody is to say whether they came out face up
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()  # hands, draws, rulings, frames, ...
    draw_count: int = 0
    in_force: RulingView | None = None  # the ruling that light and steps are about
    hand_over: bool = False  # the pot is pushed, or no hand was begun
    can_undo: bool = False  # there is something of a person to be taken back
    floor_called: bool = False
    shuffle: str | None = None  # what is to be shuffled and put in the shoe, where that is the step: "stub" or "deck"
    next_stack: str | None = None  # the rules from the next hand on, where they are others
    prompt: str | None = None  # what is being typed, at a terminal
