"""PHH, the open poker hand history format (arXiv 2312.11753): a recorded hand as PHH, a PHH hand as a script. Pure.

A shoe knows the cards, not the chips: blinds, bets and stacks of an exported hand are stand-ins, and say so. What went
wrong and what was ruled is in fields of our own, which begin with an underscore as the format wants it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.errors import UserError
from dealershoe.events import Act
from dealershoe.table.state import HandState, at

SMALL, BIG, STACK = 1, 2, 1_000_000  # stand-ins: nobody is ever all in
STREETS = ("preflop", "flop", "turn", "river")
BOARD = (3, 1, 1)
UNKNOWN = "??"
SHOWN_NOT = ("-", UNKNOWN * 2)  # a hand that was mucked, one that nobody wrote down
NOT_TOLD = " # not on record"
VARIANTS = ("NT", "FT")  # hold'em; what this shoe deals


class Told(NamedTuple):
    """What an exported hand says beside its cards. `cards`: by draw number, those that may be told."""

    hand: int
    fact: int
    day: str  # YYYY-MM-DD
    time: str  # HH:MM:SS
    rules: str
    irregularities: tuple[str, ...]
    rulings: tuple[str, ...]
    cards: dict[int, str]


# ---- out


def written(state: HandState, told: Told) -> str:
    """A hand of hold'em as a PHH file."""
    setup = state.setup
    players = setup.order
    year, month, day = (int(part) for part in told.day.split("-"))
    fields: list[tuple[str, Any]] = [
        ("variant", "NT"),
        ("antes", [0] * len(players)),
        ("blinds_or_straddles", _blinds(players, setup.sb, setup.bb)),
        ("min_bet", BIG),
        ("starting_stacks", [STACK] * len(players)),
        ("actions", list(_actions(state, told.cards))),
        ("year", year),
        ("month", month),
        ("day", day),
        ("hand", told.hand),
        ("seats", list(players)),
        ("_dealershoe_fact", told.fact),
        ("_rules", told.rules),
        ("_chips", "not on record: blinds, bets and stacks are stand-ins"),
        ("_irregularities", list(told.irregularities)),
        ("_rulings", list(told.rulings)),
    ]
    lines = [f"{name} = {_toml(value)}" for name, value in fields]
    lines.insert(6, f"time = {told.time}")
    return "\n".join((*lines, ""))


def _toml(value: Any) -> str:
    """A string, a number or a list of these: JSON's way to write them is also TOML's."""
    return json.dumps(value, ensure_ascii=True)


def _blinds(players: Sequence[int], sb: int | None, bb: int) -> list[int]:
    """By player; heads-up the format has the blinds the other way round: the player before the button posts the big."""
    posted = [SMALL if seat == sb else BIG if seat == bb else 0 for seat in players]
    return posted[::-1] if len(players) == 2 else posted


class _Betting:
    """Whose turn it is, with stand-in amounts: enough to put the acts that were told into words of the format."""

    def __init__(self, players: Sequence[int], posted: Sequence[int]) -> None:
        self.players = list(players)
        self.in_hand = [True] * len(players)
        self.bets = list(posted)
        self.raise_by = BIG
        self.turns: list[int] = []

    def street(self, first: int) -> None:
        """A round of betting begins with the player at `first`."""
        order = [*range(first, len(self.players)), *range(first)]
        self.turns = [index for index in order if self.in_hand[index]]
        self.raise_by = BIG
        if len(self.turns) < 2:
            self.turns = []

    def collected(self) -> None:
        self.bets = [0] * len(self.players)

    def act(self, kind: str | None, note: str = "") -> str:
        """The player whose turn it is acts."""
        index = self.turns.pop(0)
        who = f"p{index + 1}"
        if kind == "fold":
            self.in_hand[index] = False
            if sum(self.in_hand) < 2:
                self.turns = []
            return f"{who} f{note}"
        if kind in ("bet", "raise"):
            self.bets[index] = max(self.bets) + self.raise_by
            after = [*range(index + 1, len(self.players)), *range(index)]
            self.turns = [other for other in after if self.in_hand[other]]
            return f"{who} cbr {self.bets[index]} # amount not on record"
        self.bets[index] = max(self.bets)
        return f"{who} cc{note}"


def _actions(state: HandState, cards: dict[int, str]) -> Iterator[str]:
    players = state.setup.order
    named = _Names(cards)
    for number, seat in enumerate(players, 1):
        held = [draw for draw in at(state, seat) if draw > state.reload]
        if len(held) != 2:
            return  # a hand that was never dealt to its end: what there is of it is in the fields of our own
        yield f"d dh p{number} {''.join(map(named, held))}"
    posted = _blinds(players, state.setup.sb, state.setup.bb)
    betting = _Betting(players, posted[::-1] if len(players) == 2 else posted)
    board = [draw for draw in at(state, "board") if draw > state.reload]
    for street, size in zip(STREETS, (0, *BOARD), strict=True):
        if street != "preflop":
            if len(board) < size or sum(betting.in_hand) < 2:
                return
            yield f"d db {''.join(map(named, board[:size]))}"
            board = board[size:]
            betting.collected()
        first = 2 % len(players) if street == "preflop" else 0
        betting.street(1 if street == "preflop" and len(players) == 2 else first)
        yield from _round(betting, [act for played, act in state.acts if played == street and not act.out_of_turn])
        if not board and street != "river":
            return


def _round(betting: _Betting, acts: Iterable[Act]) -> Iterator[str]:
    """One round: what was told, and the rest as checks and calls that say that nobody told them."""
    for act in acts:
        place = betting.players.index(act.seat) if act.seat in betting.players else -1
        if act.seat is not None and place not in betting.turns:
            continue
        while betting.turns and act.seat is not None and betting.turns[0] != place:
            yield betting.act("call", NOT_TOLD)
        if betting.turns:
            yield betting.act(act.kind, "" if act.kind else NOT_TOLD)
    while betting.turns:
        yield betting.act("call", NOT_TOLD)


class _Names:
    """A card's name where it may be told, once each: a fouled deck's second ace has none."""

    def __init__(self, cards: dict[int, str]) -> None:
        self._cards = cards
        self._given: set[str] = set()

    def __call__(self, draw: int) -> str:
        name = self._cards.get(draw, "")
        if name not in FIFTY_TWO or name in self._given:
            return UNKNOWN
        self._given.add(name)
        return name


# ---- in


def read_hands(text: str, name: str) -> list[dict[str, Any]]:
    """The hands of a PHH file, one or many ([1], [2], …). Raises UserError for anything else."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name} is no PHH file", str(error), "give a .phh or .phhs file") from error
    if "variant" in data:
        return [data]
    hands = [hand for hand in data.values() if isinstance(hand, dict) and "variant" in hand]
    if not hands:
        raise UserError(f"{name} has no hand", "no table in it names a variant", "give a .phh or .phhs file")
    return hands


def as_deal(hand: dict[str, Any], name: str) -> str:
    """A hand as a deal script: cards in the order in which they leave the shoe, acts, one `betting complete` a street.

    Raises UserError for a game that this shoe does not deal, and for a hand that contradicts itself.
    """
    if hand.get("variant") not in VARIANTS:
        raise UserError(
            f"{name}: the variant {hand.get('variant')!r}", "this shoe deals hold'em", f"give hands of {VARIANTS}"
        )
    try:
        return "\n".join((f"# {name}", *_script(hand), ""))
    except (KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise UserError(f"{name}: the hand cannot be dealt", repr(error), "correct its actions") from error


def _script(hand: dict[str, Any]) -> Iterator[str]:
    count = len(hand["starting_stacks"])
    seats = [int(seat) for seat in hand.get("seats") or range(1, count + 1)]
    holes, board, streets = _parts(hand["actions"], count)
    yield f"hand seats={','.join(map(str, sorted(seats)))} button={seats[-1]}"
    for turn in range(2):
        for player in range(count):
            yield f"card {seats[player]}{_face(holes[player][turn])}"
    posted = [int(amount != 0) * float(amount) for amount in hand.get("blinds_or_straddles") or [0] * count]
    bets = posted[::-1] if count == 2 else posted
    for number, acts in enumerate(streets):
        if number:
            yield "card burn"
            yield from (f"card board{_face(card)}" for card in board[number - 1])
        yield from (_act(seats, bets, words) for words in acts)
        bets = [0.0] * count
        yield "betting complete"
    yield "award"


def _parts(actions: Iterable[str], count: int) -> tuple[list[list[str]], list[list[str]], list[list[list[str]]]]:
    """Hole cards by player, board cards by street, acts by street."""
    holes: list[list[str]] = [[UNKNOWN] * 2 for _ in range(count)]
    board: list[list[str]] = []
    streets: list[list[list[str]]] = [[]]
    for action in actions:
        words = action.split("#")[0].split()
        match words:
            case ["d", "dh", player, cards]:
                holes[int(player[1:]) - 1] = _cards(cards, 2)
            case ["d", "db", cards]:
                board.append(_cards(cards, BOARD[len(board)]))
                streets.append([])
            case [_, "f" | "cc" | "cbr", *_]:
                streets[-1].append(words)
            case [player, "sm", cards] if cards not in SHOWN_NOT:  # what was dealt unseen and shown at the end
                dealt = holes[int(player[1:]) - 1]
                if dealt == [UNKNOWN] * 2:
                    dealt[:] = _cards(cards, 2)
            case [] | [_, "sm", *_]:
                pass
            case _:
                raise ValueError(action)
    return holes, board, streets


def _cards(text: str, count: int) -> list[str]:
    cards = [text[index : index + 2] for index in range(0, len(text), 2)]
    if len(cards) != count or any(card != UNKNOWN and card not in FIFTY_TWO for card in cards):
        raise ValueError(f"{text}: {count} cards")
    return cards


def _face(card: str) -> str:
    return "" if card == UNKNOWN else f" {card}"


def _act(seats: Sequence[int], bets: list[float], words: Sequence[str]) -> str:
    player = int(words[0][1:]) - 1
    highest = max(bets)
    if words[1] == "f":
        kind = "fold"
    elif words[1] == "cc":
        kind = "call" if bets[player] < highest else "check"
        bets[player] = highest
    else:
        kind = "raise" if highest else "bet"
        bets[player] = float(words[2])
    return f"act {seats[player]} {kind}"
