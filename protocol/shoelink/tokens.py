"""What a card is called on the line while its hand is in play: a token under a secret of that hand. For both ends.

The shoe draws a secret for each hand, says what it is bound to (COMMIT) before the first card leaves, and gives it away
(REVEAL) when the next hand begins. Until then a token tells only whether two cards are the same. MicroPython has what
it needs: SHA-256. `protocol/README.md` says what this proves and what it does not.
"""

import hashlib
import struct

from shoelink import schema

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Callable

CARDS = 54  # of a deck with its two jokers
SECRET = 16  # bytes
COMMITMENT = 22  # bytes: 2^88 tries to find two secrets with the same one
OPEN = bytes(COMMITMENT)  # the commitment of a hand whose tokens are the cards' own numbers
_TOKEN = 4
_EACH = 8  # tokens from one SHA-256
_NAMING = b"shoe/1 token"
_BINDING = b"shoe/1 hand"


def tokens(secret: bytes) -> bytes:
    """The tokens of cards 0 to 53 under a secret, one after the other."""
    blocks = (CARDS + _EACH - 1) // _EACH
    text = b"".join([hashlib.sha256(_NAMING + secret + bytes([block])).digest() for block in range(blocks)])
    return text[: CARDS * _TOKEN]


def usable(names: bytes) -> bool:
    """Whether tokens name each card alone, and none reads like an unread card or a card of an open table."""
    seen = {names[at : at + _TOKEN] for at in range(0, len(names), _TOKEN)}
    return (
        len(seen) == CARDS
        and schema.TOKEN_UNREAD not in seen
        and not any(names[at + 1 : at + _TOKEN] == b"\0\0\0" for at in range(0, len(names), _TOKEN))
    )


def commitment(device: bytes, hand: int, secret: bytes) -> bytes:
    """What binds a device to the secret of a hand before its first card: COMMIT.commitment."""
    return hashlib.sha256(_BINDING + device + struct.pack("<H", hand) + secret).digest()[:COMMITMENT]


def card_of(names: bytes, token: bytes) -> int:
    """The card, 0 to 53, that a token names among `names`; -1: none."""
    for card in range(CARDS):
        if names[card * _TOKEN : card * _TOKEN + _TOKEN] == token:
            return card
    return -1


class Veil:
    """The shoe's half: the secret of the hand in play and, drawn while there was time, that of the next.

    `name` allocates nothing. `opened` is what an open table is: the tokens are the cards' own numbers. Before the first
    hand cards have names under a secret that is never told.
    """

    def __init__(self, device: bytes, random: "Callable[[int], bytes]", opened: bool = False) -> None:
        """`random(n)`: n bytes that nobody can foresee."""
        self.opened = opened
        self._device = device
        self._random = random
        self._secret = b""  # of the hand in play, none before the first and on an open table
        self._hand = 0
        self._next_secret = b""
        self._next_names = b""
        self.prepare()
        self._names = b"".join([schema.word(card) for card in range(CARDS)]) if opened else self._next_names
        self._next_secret = b""

    @property
    def prepared(self) -> bool:
        """Whether the next hand can begin without delay."""
        return self.opened or bool(self._next_secret)

    def prepare(self) -> None:
        """Draw the secret of the next hand: some milliseconds on the shoe."""
        while not self.prepared:
            secret = self._random(SECRET)
            names = tokens(secret)
            if usable(names):
                self._next_secret, self._next_names = secret, names

    def begin(self, hand: int) -> "tuple[schema.Reveal | None, schema.Commit]":
        """A hand begins: what is to be reported, of the one that is over (None: it had no secret) and of this one."""
        over = schema.Reveal(self._hand, self._secret) if self._secret else None
        self._hand = hand
        if self.opened:
            return over, schema.Commit(hand, OPEN)
        self.prepare()
        self._secret, self._names = self._next_secret, self._next_names
        self._next_secret = self._next_names = b""
        return over, schema.Commit(hand, commitment(self._device, hand, self._secret))

    @property
    def secret(self) -> bytes:
        """Of the hand in play, for a memory that outlives a reset; none before the first hand and on an open table."""
        return self._secret

    def resume(self, hand: int, secret: bytes) -> None:
        """Go on in a hand after a reset: its cards are called as they were."""
        self._hand = hand
        self._secret = secret
        self._names = tokens(secret)

    def name(self, card: int, token: bytearray) -> None:
        """Write into the 4 bytes of `token` what the card, 0 to 53, is called in this hand."""
        at = card * _TOKEN
        for place in range(_TOKEN):
            token[place] = self._names[at + place]
