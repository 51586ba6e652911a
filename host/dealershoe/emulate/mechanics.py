"""The mechanics of the shoe: printed cards moving past sensors, for the emulated shoe and the tests of the firmware.

Pure: a scene and a path give pin levels over time. The levels come from the marks on the cards' strips and from where
the sensors are; no card number is in here. Positions are millimetres of the leading edge past the throat slot P0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dealershoe.deck.cards import card_number
from dealershoe.deck.strip import TRACKS, TRAVEL, Mark, Strip, print_strip
from dealershoe.emulate.motion import Path, crossings

# Where the sensors are, and the bits of a sample.
P0, HEADS, P1, LANES_AT = 0.0, 12.0, 24.0, 40.0
READER_AT, READER_REACH = 41.0, 12.5  # the middle of the reader's loop, and how far from it a tag's middle is read
BOTTOM = {"clk": 0x01, "data": 0x02, "ndata": 0x04}
TOP = {"clk": 0x08, "data": 0x10}
P0_BIT, P1_BIT = 0x20, 0x40
SAMPLE_MS = 0.05  # one sample of all levels each 50 µs

IN_SHOE = -4.0  # the next card rests with its leading edge short of the throat slot
GONE = LANES_AT + TRAVEL + 1.0  # the leading edge when the trailing edge has passed everything

LANES = 8
LANE_PITCH = 15.0  # degrees between two exit lanes; lane 0 is at -52.5
PLACE_CODES: dict[int | str, int] = {**{seat: seat for seat in range(1, 12)}, "burn": 32, "board": 33, "muck": 34}


@dataclass(frozen=True, slots=True)
class PaperCard:
    """A card as a thing: its face is `name` to a person, and the sensors see only the strips on its two short edges."""

    name: str
    ends: tuple[Strip, Strip]
    tag: int = 0  # the number of the ISO 15693 tag in its middle; 0: none
    turned: bool = False  # by 180 degrees: the other end runs over the heads
    face_up: bool = False  # face up in the shoe: boxed

    @property
    def seen_end(self) -> Strip:
        """The strip that runs past a head. The top head is over the opposite short edge, so a boxed card, turned over
        about the line of travel, shows it the end that the bottom head would have seen."""
        return self.ends[1 if self.turned else 0]

    def boxed(self) -> PaperCard:
        return replace(self, face_up=True)

    def rotated(self) -> PaperCard:
        return replace(self, turned=not self.turned)

    def with_strips(self, strip: Strip) -> PaperCard:
        """The same card with another strip stuck on both ends."""
        return replace(self, ends=(strip, strip))


def printed(name: str, deck: int = 0, tag: int = 0) -> PaperCard:
    """A card of a coded deck, fresh from the printer; with a tag of that number in it."""
    strip = print_strip(card_number(name), deck)
    return PaperCard(name, (strip, strip), tag)


def plain(name: str) -> PaperCard:
    """A card of an ordinary deck: no code on it."""
    return PaperCard(name, (Strip(), Strip()))


NO_TAGS = frozenset[int]()


class State(NamedTuple):
    """What the sensors give at one moment."""

    pins: int  # bits as in a sample
    lanes: int  # bit k: a card over exit lane k
    layers: int  # cards between the double-feed light and its receiver
    tags: frozenset[int] = NO_TAGS  # in the reader's field


EMPTY = State(0, 0, 0)


class Run(NamedTuple):
    """A state for a number of samples."""

    samples: int
    state: State


def lane_of(target: int | str) -> int | None:
    """The exit lane towards a target: seats share lanes 0 to 6; burn, board and muck are lane 7; off-table has none."""
    if isinstance(target, int):
        return (target - 1) * 7 // 11
    return None if target == "off-table" else 7


def angle_of(target: int | str) -> float | None:
    """Degrees from straight ahead at which a card leaves towards a target; None: past all lanes."""
    lane = lane_of(target)
    return None if lane is None else (lane - (LANES - 1) / 2) * LANE_PITCH


def lanes_at(angle: float | None) -> int:
    """The lanes (bits) that a card leaving at this angle covers: one, or two when it leaves between them."""
    if angle is None:
        return 0
    bits = 0
    for lane in range(LANES):
        if abs(angle - (lane - (LANES - 1) / 2) * LANE_PITCH) <= LANE_PITCH / 2:
            bits |= 1 << lane
    return bits


def _cut(marks: Sequence[Mark], hidden: Sequence[Mark]) -> list[Mark]:
    for begin, end in hidden:
        pieces = []
        for a, b in marks:
            if a < min(b, begin):
                pieces.append((a, min(b, begin)))
            if max(a, end) < b:
                pieces.append((max(a, end), b))
        marks = pieces
    return list(marks)


@dataclass(frozen=True)
class Scene:
    """Cards that move as one past the sensors: one card, or several for a double feed.

    `cards` from the bottom up, each with its lag in mm behind the first. `angle` in degrees is where it leaves to.
    `stuck` are pin bits that read 1 whatever passes (dirt on a window, a dead receiver).
    """

    cards: tuple[tuple[PaperCard, float], ...]
    angle: float | None = None
    stuck: int = 0
    _steps: tuple[tuple[float, State], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        flips: dict[float, list[tuple[int, int, int, int]]] = {}

        def add(start: float, end: float, pins: int = 0, lanes: int = 0, layers: int = 0, tag: int = 0) -> None:
            if start < end:
                flips.setdefault(start, []).append((pins, lanes, layers, tag))
                flips.setdefault(end, []).append((pins, lanes, -layers, tag))

        for upwards, bits in ((True, BOTTOM), (False, TOP)):
            hidden: list[Mark] = []
            for card, lag in self.cards if upwards else reversed(self.cards):
                if card.face_up is not upwards:
                    for track in TRACKS:
                        marks = [(a + lag, b + lag) for a, b in getattr(card.seen_end, track)]
                        for a, b in _cut(marks, hidden):
                            add(a + HEADS, b + HEADS, pins=bits.get(track, 0))
                hidden.append((lag, lag + TRAVEL))
        covered: list[Mark] = []
        for _card, lag in self.cards:
            body = (lag, lag + TRAVEL)
            for a, b in _cut([body], covered):
                add(a + P0, b + P0, pins=P0_BIT)
                add(a + P1, b + P1, pins=P1_BIT)
                add(a + LANES_AT, b + LANES_AT, lanes=lanes_at(self.angle))
            covered.append(body)
            add(lag + HEADS, lag + TRAVEL + HEADS, layers=1)
        for card, lag in self.cards:
            if card.tag:
                over = lag + TRAVEL / 2 + READER_AT
                add(over - READER_REACH, over + READER_REACH, tag=card.tag)

        pins = lanes = layers = 0
        tags = NO_TAGS
        steps = []
        for place in sorted(flips):
            for flipped_pins, flipped_lanes, more_layers, tag in flips[place]:
                tags ^= {tag} if tag else NO_TAGS
                pins ^= flipped_pins
                lanes ^= flipped_lanes
                layers += more_layers
            steps.append((place, State(pins | self.stuck, lanes, layers, tags)))
        object.__setattr__(self, "_steps", tuple(steps))

    @property
    def last_lag(self) -> float:
        """How far the last card is behind the first, mm."""
        return max(lag for _card, lag in self.cards)

    def at(self, place: float) -> State:
        """The state with the leading edge at `place`."""
        state = EMPTY._replace(pins=self.stuck)
        for begin, new in self._steps:
            if begin > place:
                break
            state = new
        return state

    def runs(self, path: Path, phase: float = 0.0) -> Iterator[Run]:
        """The sampled states along a path. `phase` (0 to 1) is how far into a sample the path begins.

        Levels are sampled at fixed moments, so a mark shorter than a sample may be missed, as by the real sampler.
        """
        before = {}
        after = {}
        state = EMPTY._replace(pins=self.stuck)
        for place, new in self._steps:
            before[place], after[place] = state, new
            state = new
        now = self.at(path.at if not path.stretches else path.stretches[0].start)
        taken = 0
        for t, place, direction in crossings(path, after):
            count = int(t / SAMPLE_MS + phase)
            if count > taken:
                yield Run(count - taken, now)
                taken = count
            now = after[place] if direction > 0 else before[place]
        total = int(path.lasts / SAMPLE_MS + phase)
        if total > taken:
            yield Run(total - taken, now)
