"""The facts that reach the table: what the shoe sensed and what people said. Frozen records, no judgement in them."""

from __future__ import annotations

from dataclasses import dataclass

# A place at the table: a seat number (1 to 11) or one of PLACES.
Place = int | str
PLACES = ("burn", "board", "muck", "off-table")
SEATS = range(1, 12)

ACTIONS = ("fold", "check", "call", "bet", "raise", "bring-in")
CHIPS = frozenset({"call", "bet", "raise"})  # voluntary actions that put chips in the pot
FLOOR_DECISIONS = ("misdeal", "play-on", "void", "dead")
GAMES = ("holdem", "stud")


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand begins, described in full. `seats` are the seats entitled to cards."""

    seats: tuple[int, ...]
    button: int
    sb: int | str | None = None  # a seat, "dead", or None: by the rules
    bb: int | None = None
    game: str = "holdem"
    absent: tuple[int, ...] = ()  # dealt in, away from the table
    penalty: tuple[int, ...] = ()  # dealt in, serving a penalty


@dataclass(frozen=True, slots=True)
class NextHand:
    """The next hand of the same table: button and blinds move by the rules."""

    gone: tuple[int, ...] = ()
    new: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawForButton:
    """Cards drawn for the button, as (seat, card) pairs."""

    cards: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """The deck was cut by a seat, or by the dealer (`by` None). `refused`: the seats that it was offered to first."""

    by: int | None
    refused: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DealerPush:
    """A new dealer sits down."""


@dataclass(frozen=True, slots=True)
class LimitChange:
    """The limit or the level changes."""


@dataclass(frozen=True, slots=True)
class DeckRequest:
    """A player asks for another deck; `marked`: with proof that cards are marked."""

    seat: int
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Draw:
    """One card left the shoe. `target` None: it went where it was due.

    `exposed` is "dealer", "player" or None: who turned it up. `confirmed` False: the target is inferred from an exit
    lane or the due order. `number` None: the table counts; the shoe gives its own number. `touched`: it touched the
    player, his hand or his chips before it came to rest. `knocked` "player": a player knocked it off the table.
    `unseen`: no head of the shoe saw which way up it lay, so it may have been boxed.
    """

    target: Place | None = None
    card: str | None = None
    boxed: bool = False
    exposed: str | None = None
    double: bool = False
    unread: bool = False
    foreign: bool = False
    wrong_back: bool = False
    up: bool = False
    confirmed: bool = True
    number: int | None = None
    deck: int | None = None
    touched: bool = False
    knocked: str | None = None
    unseen: bool = False

    def sent_to(self, target: Place) -> Draw:
        """The same card with its target said."""
        return Draw(
            target, self.card, self.boxed, self.exposed, self.double, self.unread, self.foreign, self.wrong_back,
            self.up, self.confirmed, self.number, self.deck, self.touched, self.knocked, self.unseen,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Act:
    """A player acted. `seat` and `kind` None: a dealer's key that counts actions and not their kind."""

    seat: int | None
    kind: str | None
    out_of_turn: bool = False


@dataclass(frozen=True, slots=True)
class BettingComplete:
    """This street's betting is closed."""


@dataclass(frozen=True, slots=True)
class BettingOver:
    """No more betting is possible in the hand."""


@dataclass(frozen=True, slots=True)
class Exposed:
    """A late report: draw `number` lies face up, `by` whom. `number` None: the last card drawn.

    `touched`: it touched the player, his hand or his chips before it came to rest.
    """

    number: int | None
    by: str = "dealer"
    touched: bool = False


@dataclass(frozen=True, slots=True)
class OffTable:
    """Draw `number` left the table: dealt or knocked off it, `by` whom."""

    number: int
    by: str = "dealer"


@dataclass(frozen=True, slots=True)
class ReportCount:
    """A player holds `cards` cards, as found."""

    seat: int
    cards: int


@dataclass(frozen=True, slots=True)
class ReportTarget:
    """Where draw `number` really went, said by a person, a table system or a seat sensor."""

    number: int
    target: Place


@dataclass(frozen=True, slots=True)
class Misread:
    """The shoe read draw `number` wrongly: a person turned it up, it is `card`; None: another than it said."""

    number: int
    card: str | None = None


@dataclass(frozen=True, slots=True)
class ReportButton:
    """Where the button should have been."""

    seat: int


@dataclass(frozen=True, slots=True)
class ReportEntitled:
    """A seat was (or was not) entitled to a hand."""

    seat: int
    entitled: bool


@dataclass(frozen=True, slots=True)
class ReportDuplicate:
    """Two cards of the same rank and suit were found; `in_stub`: one of them, or both, among the undealt cards."""

    in_stub: bool = False


@dataclass(frozen=True, slots=True)
class ReportWrongBack:
    """Draw `number` has another back; None: a card of the stub has."""

    number: int | None


@dataclass(frozen=True, slots=True)
class ReportJoker:
    """Draw `number` does not belong to the game; None: a card of the stub does not."""

    number: int | None


@dataclass(frozen=True, slots=True)
class ReportBoxed:
    """Which way up draw `number` left the shoe, where no head saw it: face up, or (`boxed` False) face down.

    Of one card the last word counts: `Exposed` says that it was face down in the shoe and turned up later.
    """

    number: int
    boxed: bool = True


@dataclass(frozen=True, slots=True)
class ReportMissing:
    """A card is missing from the deck."""


@dataclass(frozen=True, slots=True)
class ReportShortStub:
    """The stub has fewer cards than are still to be dealt."""


@dataclass(frozen=True, slots=True)
class ReportBadShuffle:
    """A player objects to the shuffle or the cut."""


@dataclass(frozen=True, slots=True)
class DroppedStub:
    """The stub was dropped; `mixed` names what it mixed with: "muck", "burns"."""

    mixed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PullBack:
    """The last card was pushed back into the shoe."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A person moved a card that is out already."""

    number: int
    target: Place


@dataclass(frozen=True, slots=True)
class Looked:
    """A player saw the card or mixed it with others."""

    number: int


@dataclass(frozen=True, slots=True)
class Knew:
    """A player knew that the deck was bad."""

    seat: int


@dataclass(frozen=True, slots=True)
class Pick:
    """The outcome of a random pick that a remedy asked for."""

    number: int


@dataclass(frozen=True, slots=True)
class Ack:
    """The dealer has done the step on display."""


@dataclass(frozen=True, slots=True)
class ShuffledStub:
    """The stub was shuffled and reloaded; `ids` where the order is known."""

    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeckLoaded:
    """A full deck was shuffled, cut and loaded; `ids` where the order is known."""

    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FloorDecision:
    """The floor decides: one of FLOOR_DECISIONS, "dead" with a seat."""

    decision: str
    seat: int | None = None


@dataclass(frozen=True, slots=True)
class Award:
    """The pot has been pushed."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The last person's input is taken back."""


Event = (
    Hand | NextHand | DrawForButton | Cut | DealerPush | LimitChange | DeckRequest | Draw | Act | BettingComplete
    | BettingOver | Exposed | OffTable | ReportCount | ReportTarget | ReportButton | ReportEntitled | ReportDuplicate
    | ReportWrongBack | ReportJoker | ReportMissing | ReportShortStub | ReportBadShuffle | DroppedStub | PullBack
    | Placed | Looked | Knew | Pick | Ack | ShuffledStub | DeckLoaded | FloorDecision | Award | Undo | Misread
    | ReportBoxed
)  # fmt: skip
