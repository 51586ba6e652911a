"""The kinds of value in a deal script: how a word is read, how it is written back, what it is called in an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dealershoe.events import SEATS

LAST_DRAW = 65535  # a draw number is a u16 on the wire
RANKS = "23456789TJQKA"
SUITS = "cdhs"
JOKER = "joker"


@dataclass(frozen=True, slots=True)
class Value:
    """`read` raises ValueError on a word that is not of this kind; `words` are the fixed words among its values."""

    what: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    words: tuple[str, ...] = ()


def choice(*words: str) -> Value:
    """One of a few words."""

    def read(word: str) -> str:
        if word not in words:
            raise ValueError(word)
        return word

    return Value(" or ".join(filter(None, (", ".join(words[:-1]), words[-1]))), read, str, words)


def number(low: int, high: int, what: str, mark: str = "") -> Value:
    """A whole number from `low` to `high` in plain digits, after `mark`."""
    pattern = re.compile(f"{mark}([0-9]{{1,5}})")

    def read(word: str) -> int:
        match = pattern.fullmatch(word)
        if match is None or not low <= int(match[1]) <= high:
            raise ValueError(word)
        return int(match[1])

    return Value(what, read, lambda value: f"{mark}{value}")


def either(first: Value, second: Value) -> Value:
    """What reads as `first`, else what reads as `second`; the two must not share a value."""

    def read(word: str) -> Any:
        try:
            return first.read(word)
        except ValueError:
            return second.read(word)

    def write(value: Any) -> str:
        return second.write(value) if value in second.words else first.write(value)

    return Value(f"{first.what}, {second.what}", read, write, first.words + second.words)


def listed(value: Value, what: str, empty: bool = False) -> Value:
    """Values with commas between them, in their order; `empty`: there may be none."""

    def read(word: str) -> tuple[Any, ...]:
        if empty and not word:
            return ()
        return tuple(value.read(part) for part in word.split(","))

    return Value(what, read, lambda values: ",".join(map(value.write, values)), value.words)


def _read_seats(word: str) -> tuple[int, ...]:
    seats: list[int] = []
    for part in word.split(","):
        first, dash, last = part.partition("-")
        low = SEAT.read(first)
        high = SEAT.read(last) if dash else low
        if high < low:
            raise ValueError(word)
        seats.extend(range(low, high + 1))
    if len(set(seats)) < len(seats):
        raise ValueError(word)
    return tuple(sorted(seats))


def _write_seats(seats: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for seat in sorted(seats):
        if runs and runs[-1][1] == seat - 1:
            runs[-1][1] = seat
        else:
            runs.append([seat, seat])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def _read_card(word: str) -> str:
    if word.lower() == JOKER:
        return JOKER
    if re.fullmatch(r"~[0-9a-f]{8}", word):  # sealed: only whether it is the same card
        return word
    rank, suit = word[:-1].upper(), word[-1:].lower()
    rank = "T" if rank == "10" else rank
    if len(rank) != 1 or len(suit) != 1 or rank not in RANKS or suit not in SUITS:
        raise ValueError(word)
    return rank + suit


def _read_name(word: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+/:-]*", word):
        raise ValueError(word)
    return word


SEAT = number(SEATS[0], SEATS[-1], f"a seat from {SEATS[0]} to {SEATS[-1]}")
SEAT_LIST = Value("seats such as 1-6 or 1,3,5-9, each once", _read_seats, _write_seats)
SOME_SEATS = Value("seats such as 5 or 1,3 or nothing", lambda word: _read_seats(word) if word else (), _write_seats)
DRAW = number(1, LAST_DRAW, "a draw such as #4", mark="#")
DRAWS = listed(DRAW, "draws such as #13,#14 or nothing", empty=True)
CARD = Value("a card such as Ah, Td, 2c or joker", _read_card, str, (JOKER,))
CARDS = listed(CARD, "cards such as Ah,Td,2c")
NAME = Value("a name without spaces", _read_name, str)
