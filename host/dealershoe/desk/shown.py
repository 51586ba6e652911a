"""What the shoe is to show, in the codes of the link: light, buzzer, and what is due. Pure; for the desk."""

from __future__ import annotations

from typing import NamedTuple

from shoelink import schema

from dealershoe.session import TableSession
from dealershoe.table.agenda import BOARD_SIZE
from dealershoe.table.state import board_cards

CAUSES = {
    "misdeal": schema.REASON_MISDEAL,
    "replace": schema.REASON_REPLACE,
    "correct": schema.REASON_CORRECT,
    "dead": schema.REASON_DEAD,
    "void": schema.REASON_VOID,
    "play-on": schema.REASON_PLAY_ON,
    "floor": schema.REASON_FLOOR,
}
SIGNALS = {
    "ready": schema.SIGNAL_READY,
    "attention": schema.SIGNAL_ATTENTION,
    "stop": schema.SIGNAL_STOP,
    "floor": schema.SIGNAL_FLOOR,
}
DUES = {
    "nothing": schema.DUE_NOTHING,
    "seat": schema.DUE_SEAT,
    "burn": schema.DUE_BURN,
    "board": schema.DUE_BOARD,
    "betting": schema.DUE_BETTING,
    "ack": schema.DUE_ACK,
    "shuffle": schema.DUE_SHUFFLE,
    "pick": schema.DUE_PICK,
}
CARDS_DUE = ("seat", "burn", "board")  # kinds of due that a card answers


class ShownSignal(NamedTuple):
    """What the light and buzzer are to say, in codes of the link."""

    signal: int
    cause: int
    mode: int


class ShownDue(NamedTuple):
    """What the shoe is to take as due, in codes of the link."""

    hand: int
    due: int
    seat: int
    cards: int


def signal_codes(signal: str, cause: int, *, aligned: bool) -> ShownSignal:
    """The codes of a signal; a light that says ready has no cause."""
    mode = schema.MODE_SUPERVISED if aligned else schema.MODE_ALIGN
    return ShownSignal(SIGNALS[signal], schema.REASON_NONE if signal == "ready" else cause, mode)


def due_codes(number: int, session: TableSession | None) -> ShownDue:
    """The codes of what is due in hand `number`; without a session nothing is."""
    if session is None:
        return ShownDue(number, schema.DUE_NOTHING, 0, 0)
    due = session.due
    return ShownDue(number, DUES[due.kind], due.seat or 0, _cards(session))


def _cards(session: TableSession) -> int:
    """How many cards are due one after the other at the same place; 0 where none is."""
    hand, kind = session.hand, session.due.kind
    if hand is None or kind not in CARDS_DUE:
        return 0
    if kind == "board":
        return max(1, BOARD_SIZE.get(hand.street, 1) - len(board_cards(hand, hand.street)))
    return 1
