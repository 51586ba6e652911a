"""Card names and numbers, for everything on the host that prints, reads or names a card.

A number is suit * 13 + rank, suits clubs, diamonds, hearts, spades, ranks 2 to ace: 2c = 0, As = 51; 52 and 53 are the
jokers (the link's CARD token on an open table, and the six card bits of the printed code).
"""

from __future__ import annotations

SEALED = "~"  # before a token: a card whose name nobody may know yet, only whether it is the same
RANKS = "23456789TJQKA"
SUITS = "cdhs"
FIFTY_TWO = tuple(rank + suit for suit in SUITS for rank in RANKS)
JOKERS = (52, 53)


def card_number(name: str) -> int:
    """The number of "As", "Td", or 52 for "joker".

    >>> card_number("2c"), card_number("As"), card_number("joker")
    (0, 51, 52)

    Raises ValueError for any other text.
    """
    if name == "joker":
        return JOKERS[0]
    try:
        return FIFTY_TWO.index(name)
    except ValueError:
        raise ValueError(f"{name!r} is no card: write rank and suit as in As, Td, 2c, or joker") from None


def card_name(number: int) -> str:
    """The text form of a card number 0 to 53.

    >>> card_name(51), card_name(53)
    ('As', 'joker')
    """
    if number in JOKERS:
        return "joker"
    if not 0 <= number < len(FIFTY_TWO):
        raise ValueError(f"{number} is no card number: 0 to 51, 52 and 53 are the jokers")
    return FIFTY_TWO[number]


def sealed_name(token: bytes) -> str:
    """What a card is called while its identity is sealed.

    >>> sealed_name(b"\x9f\x3a\x21\xc0")
    '~9f3a21c0'
    """
    return SEALED + token.hex()


def face(name: str | None) -> str | None:
    """The name of a card if it says which card it is, else None."""
    return None if name is None or name.startswith(SEALED) else name
