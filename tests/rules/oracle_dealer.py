"""Deals a hand as the books say, writes it down as a `.deal` script and notes where each draw lies. For the oracle."""

from __future__ import annotations

from dataclasses import dataclass, field

from rules.oracle_books import verdict

SIGNAL_OF = {"misdeal": "stop", "floor": "floor", "replace": "attention", "correct": "attention", "dead": "attention"}
BOARD_CARDS = {"flop": 3, "turn": 1, "river": 1}
STREETS = tuple(BOARD_CARDS)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong. `kind` is one of KINDS.

    `draws`: the draws at fault, counted from 1 in the hand. `late`: reported after the hole cards and `acts` (in turn),
    else it is seen as it happens. `seat`: the seat at fault. `cards`: how many board cards came too early.
    """

    kind: str
    draws: tuple[int, ...] = ()
    by: str = "dealer"
    acts: tuple[str, ...] = ()
    late: bool = False
    seats: tuple[int, ...] = ()
    cards: int = 1


@dataclass(frozen=True, slots=True)
class Expected:
    """The last ruling, and where the draws lie at the hand's end; None: the books do not say."""

    ruling: str
    seat: int | None
    burns: tuple[int, ...] | None
    board: tuple[int, ...] | None
    seats: dict[int, tuple[int, ...]] | None


class UnwrittenError(Exception):
    """The books do not say what to do here."""


@dataclass(slots=True)
class Dealer:
    """A hand under `stack` at the seats `chairs`, with the button at `button`: the script and the layout so far."""

    stack: str
    chairs: tuple[int, ...]
    button: int
    lines: list[str] = field(default_factory=list)
    number: int = 0
    held: dict[int, list[int]] = field(default_factory=dict)
    burns: list[int] = field(default_factory=list)
    board: list[int] = field(default_factory=list)
    muck: list[int] = field(default_factory=list)
    folded: set[int] = field(default_factory=set)
    ruling: str = "none"
    ruled_seat: int | None = None
    layout_known: bool = True

    def __post_init__(self) -> None:
        numbers = ",".join(map(str, self.chairs))
        self.lines += [f"# stacks: {self.stack}", f"hand seats={numbers} button={self.button}"]

    @property
    def order(self) -> tuple[int, ...]:
        """The seats in dealing order: clockwise from the button, the button last."""
        return tuple(sorted(self.chairs, key=lambda seat: (seat - self.button - 1) % 11))

    def say(self, line: str) -> None:
        self.lines.append(line)

    def due(self, what: int | str) -> None:
        self.say(f"expect due seat {what}" if isinstance(what, int) else f"expect due {what}")

    def draw(self, target: int | str, words: str = "") -> int:
        """The next card goes to `target`, whatever is due."""
        self.say(f"card {target} {words}".strip())
        self.number += 1
        if isinstance(target, int):
            self.held.setdefault(target, []).append(self.number)
        else:
            {"burn": self.burns, "board": self.board}[target].append(self.number)
        return self.number

    def rule(self, finding: str, acts: tuple[str, ...] = (), seat: int | None = None, signal: bool = True) -> str:
        """The ruling on what has just been written, and the light that goes with it where no other ruling is open."""
        ruling = verdict(self.stack, finding, acts)
        if ruling is None:
            raise UnwrittenError(finding)
        if ruling == "dead" and seat in self.folded:  # it had thrown its hand away: nothing to kill, CNT-5
            ruling = "play-on"
        named = f" seat={seat}" if seat is not None and ruling in ("replace", "dead") else ""
        self.say(f"expect {ruling}{named}")
        if signal:
            self.say(f"expect signal {SIGNAL_OF.get(ruling, 'ready')}")
        self.ruling, self.ruled_seat = ruling, seat if named else None
        return ruling

    def hole(self, until: int | None = None) -> None:
        """Hole cards in order up to draw number `until` of an unshifted deal, or all of them."""
        for _ in range(2 * len(self.chairs) if until is None else until):
            self.next_hole()

    def next_hole(self, words: str = "") -> int:
        return self.draw(self.next_seat, words)

    @property
    def next_seat(self) -> int:
        out = sum(map(len, self.held.values()))
        return self.order[out % len(self.chairs)]

    def act(self, acts: tuple[str, ...], street: str = "hole") -> None:
        """Actions in turn: before the flop from the seat after the big blind (heads-up the button), later from e1."""
        first = 0 if street != "hole" else 2 if len(self.chairs) > 2 else 1
        for place, kind in enumerate(acts, first):
            seat = self.order[place % len(self.chairs)]
            self.say(f"act {seat} {kind}")
            if kind == "fold":
                self.folded.add(seat)

    def finish(self, streets: tuple[str, ...] = STREETS, burn: bool = True, wait: bool = True) -> None:
        """The streets that are left. `burn` False: the first has none. `wait` False: the betting before it is over."""
        for street in streets:
            if wait:
                self.due("betting")
                self.say("betting complete")
            if burn:
                self.due("burn")
                self.draw("burn")
            for _ in range(BOARD_CARDS[street]):
                self.due("board")
                self.draw("board")
            burn = wait = True
        self.due("betting")
        self.say("betting complete")
        self.due("nothing")

    def redeal(self, chairs: tuple[int, ...] | None = None) -> None:
        """A misdeal: shuffle, cut, the same seats and button again, to the end. TDA 35-C; draw numbers go on."""
        self.due("shuffle")
        self.say("shuffled deck")
        self.chairs = chairs or self.chairs
        for place in (self.burns, self.board, self.muck):
            place.clear()
        self.held.clear()
        for _ in range(2 * len(self.chairs)):
            self.due(self.next_seat)
            self.next_hole()
        self.finish()

    def expected(self) -> Expected:
        if not self.layout_known:
            return Expected(self.ruling, self.ruled_seat, None, None, None)
        seats = {seat: tuple(draws) for seat, draws in sorted(self.held.items())}
        lists = {"burns": self.burns, "board": self.board} | {f"seat{seat}": list(held) for seat, held in seats.items()}
        if self.muck:
            lists["muck"] = self.muck
        written = {name: ",".join(f"#{number}" for number in numbers) for name, numbers in lists.items()}
        self.say("expect " + " ".join(f"{name}={numbers}" for name, numbers in written.items()))
        return Expected(self.ruling, self.ruled_seat, tuple(self.burns), tuple(self.board), seats)
