"""The draw for the button: the highest card gets it."""

from __future__ import annotations

from dealershoe.errors import UserError

RANKS = "23456789TJQKA"
SUITS = "cdhs"  # low to high: spades over hearts over diamonds over clubs (S.D. Admin. R. 20:18:16:13, TDA RP-10-D)


def draw_for_button(cards: tuple[tuple[int, str], ...], tie: str) -> int | None:
    """The seat that gets the button; None when the highest ranks tie and the rule is to draw again.

    `tie` is "suit" or "redraw". Raises UserError for a card that two players drew or that is no card.
    """
    seen = [card for _, card in cards]
    for card in seen:
        if len(card) != 2 or card[0] not in RANKS or card[1] not in SUITS:
            raise UserError(f"{card} drawn for the button", "it is not a card that counts", "draw again")
        if seen.count(card) > 1:
            raise UserError(f"{card} drawn twice for the button", "the deck is fouled, or a misread", "check the deck")
    best = max(RANKS.index(card[0]) for card in seen)
    leaders = [(seat, card) for seat, card in cards if RANKS.index(card[0]) == best]
    if len(leaders) > 1 and tie == "redraw":
        return None
    return max(leaders, key=lambda pair: SUITS.index(pair[1][1]))[0]
