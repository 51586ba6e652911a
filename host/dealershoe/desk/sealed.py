"""Whether a shoe keeps its word about the cards of a hand: committed to before the deal, revealed after it. Pure; for
the desk.

What a token stands for is not asked here. `card_names` is for whoever may see a hand that is over.
"""

from __future__ import annotations

from shoelink import schema, tokens

from dealershoe.deck.cards import card_name

OPEN_SHOE = (
    "this shoe is an open one, whoever reads its line knows the cards in play; switch it off and on without its "
    "exposed key, or run the table with --open"
)
TOLD_SHOE = (
    "this shoe gave away the secret of a hand and goes on dealing it, whoever reads its line knows the cards in play; "
    "take the shoe off the table"
)
UNBOUND_SHOE = (
    "this shoe deals a hand without having committed itself to its cards: whatever it reveals afterwards proves nothing"
)
HANDS = 16  # commitments that are remembered; a shoe reveals a hand when the next one begins


class Promises:
    """The commitments of the latest hands of a shoe."""

    def __init__(self) -> None:
        self._made: dict[int, bytes] = {}

    def made(self, commit: schema.Commit) -> None:
        """The shoe has committed itself to the secret of a hand."""
        self._made.pop(commit.hand, None)
        self._made[commit.hand] = bytes(commit.commitment)
        while len(self._made) > HANDS:
            del self._made[next(iter(self._made))]

    def has(self, hand: int) -> bool:
        """Whether the shoe has committed itself to the secret of a hand, or to play it openly."""
        return hand in self._made

    def broken(self, device: bytes, reveal: schema.Reveal) -> str:
        """Why a secret that was revealed proves nothing; "" when it is the one that `device` committed itself to."""
        promised = self._made.get(reveal.hand)
        if promised is None:
            return "it had not committed itself to any"
        if tokens.commitment(device, reveal.hand, bytes(reveal.secret)) != promised:
            return "it had committed itself to another"
        return ""


def card_names(secret: bytes) -> dict[bytes, str]:
    """Token → card ("As", "joker") of a hand that is over, by its secret."""
    names = tokens.tokens(secret)
    return {names[4 * card : 4 * card + 4]: card_name(card) for card in range(tokens.CARDS)}
