"""Findings: the differences between what was due and what happened, and the facts a rule may ask about them.

The vocabulary of rule packs is declared here: every kind of finding and every fact with its type and meaning.
"""

from __future__ import annotations

from typing import NamedTuple

from dealershoe.events import CHIPS, Act
from dealershoe.table.agenda import DEAL, find
from dealershoe.table.setup import clockwise
from dealershoe.table.state import (
    STUB,
    Card,
    HandState,
    at,
    board_cards,
    chip_actions,
    first_street,
    need,
    street_acts,
    voluntary,
)

KINDS = {
    "cut-wrong": "the deck was cut by another than the one whose cut it was",
    "exposed": "a downcard lies face up, or was seen",
    "burn-exposed": "a burn card lies face up",
    "off-table": "a card of the deal left the table",
    "boxed": "a card was face up in the shoe",
    "not-entitled": "cards went to a seat that is not entitled to a hand",
    "dealt-out": "a seat that is entitled to a hand got no cards",
    "first-card-wrong-seat": "the first card of the deal went to the wrong seat",
    "out-of-sequence": "a card went to another place than the one that was due",
    "extra-card": "a seat has more cards than it should",
    "short": "a seat has fewer cards than it should",
    "button-wrong": "the button was out of position",
    "duplicate": "two cards of the same rank and suit",
    "wrong-back": "a card with another back",
    "joker": "a joker or another card that does not belong to the game",
    "foreign-card": "a card of another deck",
    "missing-card": "a card is missing from the deck",
    "premature-flop": "a flop card before the betting was complete",
    "premature-turn": "the turn before the betting was complete",
    "premature-river": "the river before the betting was complete",
    "premature-street": "a stud street before the betting was complete",
    "premature-combination": "a further street while an earlier premature one is not yet put right",
    "extra-board-card": "more board cards than the street has",
    "missing-burn": "a street was dealt without its burn",
    "extra-burn": "a burn where none is due",
    "stub-dropped": "the stub was dropped or disordered",
    "stub-short": "the stub has fewer cards than are still to be dealt",
    "shuffle-doubted": "a player objects to the shuffle or the cut",
    "not-due": "a card left the shoe when none was due",
}

OF_THE_DECK = ("duplicate", "wrong-back", "joker", "foreign-card", "missing-card")  # such a deck is in doubt

FACTS = {
    "game": ("string", "the game: holdem or stud"),
    "street": ("string", "the street that the finding is about"),
    "players": ("int", "seats dealt in"),
    "heads_up": ("bool", "two seats dealt in"),
    "seat": ("int", "the seat that the finding is about, 0 for none"),
    "place": ("string", "where the card was due: seat, burn, board, or nothing"),
    "to_place": ("string", "where the card went: seat, burn, board, muck, off-table"),
    "position": ("int", "the card's place in the deck since the last full reload, 1 is the first card off"),
    "initial_deal": ("bool", "the card belongs to the initial deal (a replacement included)"),
    "replacement": ("bool", "the card replaced another one"),
    "downcard": ("bool", "the card was to lie face down"),
    "by": ("string", "who turned the card up, sent it off the table or cut the deck: dealer or player"),
    "touched": ("bool", "the card touched the player, his hand or his chips before it came to rest"),
    "exposed_by_dealer": ("int", "downcards of this deal exposed by the dealer"),
    "exposed_by_player": ("int", "downcards of this deal exposed by players"),
    "seat_exposed": ("int", "downcards of this deal exposed by the dealer that were the finding's seat's"),
    "off_table_cards": ("int", "downcards of this deal that left the table"),
    "shown_by_dealer": (
        "int",
        "downcards of this deal that the dealer exposed, before their player looked, or dealt off the table, each once",
    ),
    "boxed_on_deal": ("int", "boxed cards met on the initial deal"),
    "boxed_cards": ("int", "boxed cards met since the last full reload"),
    "cards_dealt": ("int", "cards out since the last full reload"),
    "in_stub": ("bool", "the card was found in the stub, not in play"),
    "cards_count": ("int", "cards that the finding is about"),
    "deal_complete": ("bool", "every seat has been served its cards of the initial deal"),
    "on_button": ("bool", "the seat is the button's"),
    "in_sequence": ("bool", "the missing card would be the very next one of the deal"),
    "last_off": ("bool", "the extra card was the last one off the deck, after the deal was complete"),
    "looked": ("bool", "a player looked at the card or mixed it; of the shuffle, at any card of the deal"),
    "cards_held": ("int", "cards the seat has, as found or counted"),
    "extra_cards": ("int", "extra cards dealt in this deal, over all seats"),
    "actions": ("int", "voluntary actions in turn on the first betting round"),
    "chip_actions": ("int", "those of them that put chips in the pot"),
    "players_acted": ("int", "players who have acted in turn on the first betting round"),
    "first_betting_closed": ("bool", "the first betting round is complete, or no more betting is possible"),
    "street_actions": ("int", "actions of any kind on the finding's street"),
    "betting_over": ("bool", "no more betting is possible in the hand"),
    "seat_acted": ("bool", "the seat has acted in this hand"),
    "pot_awarded": ("bool", "the pot has been pushed"),
    "board_cards": ("int", "board cards that lie on the finding's street"),
    "burned": ("bool", "the street's burn was made"),
    "mixed_with_muck": ("bool", "the stub mixed with the muck"),
    "mixed_with_burns": ("bool", "the stub mixed with the burns"),
    "knew": ("bool", "a player knew that the deck was bad"),
    "knower_bet": ("bool", "a player who knew put chips in the pot, beyond blind and ante"),
}

Value = bool | int | str
Facts = dict[str, Value]


class Finding(NamedTuple):
    """One finding: its kind, the draws and the seat it is about, and what only the moment could tell."""

    kind: str
    cards: tuple[int, ...] = ()
    seat: int = 0
    street: str = ""
    more: tuple[tuple[str, Value], ...] = ()


class Reading(NamedTuple):
    """One way to read actions that were counted on a dealer's key: the first `chips` of them put chips in the pot.

    `acted`: the finding's seat is among those who made them, where the order of the game does not say.
    """

    chips: int = 0
    acted: bool = False


PLAIN = Reading()


def readings(state: HandState) -> tuple[Reading, ...]:
    """Every way to read the actions of `state`: one, where all that is asked of them was told."""
    unknown = sum(1 for _, act in state.acts if act.kind is None)
    if not unknown:
        return (PLAIN,)
    ways = (False, True) if state.setup.game == "stud" else (False,)
    return tuple(Reading(chips, acted) for chips in range(unknown + 1) for acted in ways)


def facts(state: HandState, finding: Finding, reading: Reading = PLAIN) -> Facts:
    """Every fact of FACTS about `finding` in `state`, its actions read as `reading` says."""
    played = _read(state, reading) if reading.chips else state.acts
    acts = voluntary(state._replace(acts=played) if reading.chips else state)
    street = finding.street or state.street
    lead = state.cards[finding.cards[0] - 1] if finding.cards else None
    deal = [card for card in state.cards[state.reload :] if card.initial]
    seat = finding.seat
    first = first_street(state)
    result: Facts = {
        "game": state.setup.game,
        "street": street,
        "players": len(state.setup.order),
        "heads_up": len(state.setup.order) == 2,
        "seat": seat,
        "place": lead.due.kind if lead and lead.due else "nothing",
        "to_place": ("seat" if isinstance(lead.place, int) else lead.place) if lead else "",
        "position": lead.number - state.reload if lead else 0,
        "initial_deal": bool(lead and lead.initial),
        "replacement": bool(lead and lead.replacement),
        "downcard": bool(lead and (lead.initial or (lead.serves and lead.street == "seventh"))),
        "by": _who(finding, lead),
        "touched": bool(lead and lead.touched),
        "exposed_by_dealer": sum(1 for card in deal if card.exposed == "dealer"),
        "exposed_by_player": sum(1 for card in deal if card.exposed == "player"),
        "seat_exposed": sum(1 for card in deal if card.exposed == "dealer" and seat and card.serves == seat),
        "off_table_cards": sum(1 for card in deal if card.off_table),
        "shown_by_dealer": sum(
            1 for card in deal if card.off_table == "dealer" or (card.exposed == "dealer" and not card.claimed)
        ),
        "boxed_on_deal": sum(1 for card in deal if is_boxed(card)),
        "boxed_cards": sum(1 for card in state.cards[state.reload :] if is_boxed(card)),
        "cards_dealt": len(state.cards) - state.reload,
        "in_stub": bool(lead and lead.place == STUB),
        "cards_count": len(finding.cards),
        "deal_complete": find(state.agenda, DEAL, first) < 0,
        "on_button": seat == state.setup.button,
        "in_sequence": False,
        "last_off": bool(lead and lead.number == len(state.cards)),
        "looked": any(state.cards[n - 1].looked for n in finding.cards),
        "cards_held": dict(state.found).get(seat, len(at(state, seat))) if seat else 0,
        "extra_cards": sum(1 for card in state.cards[state.reload :] if card.extra) + _found_extra(state),
        "actions": len(acts),
        "chip_actions": chip_actions(acts),
        "players_acted": min(
            len({act.seat if act.seat is not None else -index for index, act in enumerate(acts, 1)}),
            len(state.setup.order),  # nobody acts twice before everybody has
        ),
        "first_betting_closed": first in state.closed or state.betting_over or state.awarded,
        "street_actions": street_acts(state, street),
        "betting_over": state.betting_over,
        "seat_acted": _acted(state, seat, len(acts), reading),
        "pot_awarded": state.awarded,
        "board_cards": len(board_cards(state, street)),
        "burned": any(card.place == "burn" and card.street == street for card in state.cards),
        "mixed_with_muck": False,
        "mixed_with_burns": False,
        "knew": bool(state.knew),
        "knower_bet": bool(state.knew)
        and any(act.kind in CHIPS and (act.seat is None or act.seat in state.knew) for _, act in played),
    }
    result.update(finding.more)
    return result


def is_boxed(card: Card) -> bool:
    """A joker that lies face up in the shoe is a joker (Robert's irregularities 8: its discovery is no misdeal)."""
    return card.boxed and card.card != "joker"


def _who(finding: Finding, lead: Card | None) -> str:
    if lead is None:
        return "dealer"
    return (lead.off_table if finding.kind == "off-table" else lead.exposed) or "dealer"


def _read(state: HandState, reading: Reading) -> tuple[tuple[str, Act], ...]:
    """The actions with the first `reading.chips` of unknown kind as calls."""
    left = reading.chips
    played = []
    for street, act in state.acts:
        if act.kind is None and left:
            left -= 1
            act = Act(act.seat, "call", act.out_of_turn)
        played.append((street, act))
    return tuple(played)


def _acted(state: HandState, seat: int, actions: int, reading: Reading) -> bool:
    """Has the seat acted? Of `actions` on the first round that were only counted, each is the next player's in turn."""
    if any(act.seat == seat for _, act in state.acts):
        return True
    if not seat or all(act.seat is not None for _, act in state.acts):
        return False
    players = [s for s in clockwise(state.setup.order, state.setup.bb) if s not in state.setup.killed]
    if actions >= len(players) or first_street(state) in state.closed:
        return True
    if state.setup.game == "stud":  # who opens is up to the cards
        return reading.acted and actions > 0
    return seat in players[:actions]


def _found_extra(state: HandState) -> int:
    """Extra cards that were reported by count and that no sensed draw accounts for."""
    share = need(state, first_street(state))
    sensed = {card.place for card in state.cards[state.reload :] if card.extra}
    return sum(held - share for seat, held in state.found if held > share and seat not in sensed)
