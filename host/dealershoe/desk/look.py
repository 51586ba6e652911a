"""Draws a desk up as a snapshot for the view: what is on the table now, in the words of the screen. Pure."""

from __future__ import annotations

from dealershoe.deck.cards import face
from dealershoe.desk.desk import SHUFFLES, Desk
from dealershoe.desk.words import place_words, way_up_words
from dealershoe.link import faults
from dealershoe.rules.ruling import Ruling
from dealershoe.table.findings import KINDS
from dealershoe.table.setup import Setup
from dealershoe.table.state import Card, HandState
from dealershoe.view.snapshot import DrawView, LightView, RulingView, SeatView, Snapshot, StepLine

LAST_DRAWS = 8  # on the screen
LAST_RULINGS = 2
LAST_NOTES = 3
# The shoe's light language (hardware/signals.md): state → light, sound
LIGHTS = {
    "ready": ("white, steady", "none"),
    "attention": ("amber, the middle, slow", "one low tone"),
    "stop": ("red, all, fast", "two tones, twice"),
    "floor": ("red, halves in turn", "two tones, rising"),
    "align": ("blue, the middle, steady", "none"),
    "unsupervised": ("blue, every other lamp", "two low beeps"),
}


def snapshot(desk: Desk, title: str, why_down: str, pixels: tuple[tuple[int, int, int], ...] | None = None) -> Snapshot:
    """The table of `desk` now. `why_down`: why the shoe is not on the line, "" while it is."""
    link = "unsupervised" if why_down else "align" if desk.align_why else "supervised"
    state = desk.signal if link == "supervised" else link
    light, sound = LIGHTS[state]
    session = desk.session
    hand = session.hand
    judged = not desk.align_why and hand is not None
    due = str(session.due) if judged else "nothing"
    steps = tuple(session.steps) if judged else ()
    current = next((index for index, step in enumerate(steps) if not step.done), -1)
    return Snapshot(
        title=title,
        stack=desk.stack,
        link=link,
        link_why=why_down or desk.align_why,
        light=LightView(state, light, sound, pixels),
        hand=session.hand_number if hand is not None else None,
        street=hand.street if hand is not None else "",
        due=due,
        seats=_seats(hand, due, desk.open_table) if hand is not None else (),
        burns=len(session.places("burn")) if hand is not None else 0,
        board=len(session.places("board")) if hand is not None else 0,
        muck=len(session.places("muck")) if hand is not None else 0,
        board_faces=_faces(hand, "board") if hand is not None and desk.open_table else (),
        draws=tuple(_draw(hand, card, desk.open_table) for card in hand.cards[-LAST_DRAWS:])
        if hand is not None
        else (),
        rulings=tuple(_ruling(desk, ruling) for ruling in desk.rulings[-LAST_RULINGS:]),
        steps=tuple(StepLine(step.text, step.done, index == current) for index, step in enumerate(steps)),
        question=session.question if judged else None,
        unseen=session.unseen if judged else (),
        faults=(*(faults.sentence(code, detail) for code, detail in desk.faults.items()), *desk.wrong.values()),
        notes=tuple(desk.notes)[-LAST_NOTES:],
        counts=tuple(desk.counts.items()),
        draw_count=session.draws if hand is not None else 0,
        in_force=_ruling(desk, session.in_force) if judged and session.in_force is not None else None,
        hand_over=hand is None or hand.awarded,
        can_undo=desk.can_undo,
        floor_called=desk.floor_called,
        shuffle=_shuffle(hand) if judged and hand is not None else None,
        next_stack=desk.next_stack,
    )


def _shuffle(hand: HandState) -> str | None:
    """What the step on display, which can have several parts, loads into the shoe."""
    now = [step for step in hand.agenda if (step.remedy, step.part) == (hand.agenda[0].remedy, hand.agenda[0].part)]
    return next((SHUFFLES[step.kind] for step in now if step.kind in SHUFFLES), None)


def _ruling(desk: Desk, ruling: Ruling) -> RulingView:
    happened = KINDS.get(ruling.finding, "")
    language = desk.session.stack.language(ruling.layer)
    number = len(desk.rulings) - desk.rulings[::-1].index(ruling) if ruling in desk.rulings else 0
    return RulingView(
        ruling.ruling, ruling.say, ruling.cite, ruling.layer, ruling.decider, ruling.seat or None, ruling.cards,
        number, happened, ruling.signal, language,
    )  # fmt: skip


def _seats(hand: HandState, due: str, open_table: bool) -> tuple[SeatView, ...]:
    holders = {card.place for card in hand.cards if isinstance(card.place, int)}
    return tuple(
        SeatView(
            seat,
            sum(1 for card in hand.cards if card.place == seat),
            due == f"seat {seat}",
            _marks(hand, hand.setup, seat),
            _faces(hand, seat) if open_table else (),
        )
        for seat in sorted(set(hand.setup.seats) | holders)
    )


def _marks(hand: HandState, setup: Setup, seat: int) -> tuple[str, ...]:
    marks = {
        "button": seat == setup.button,
        "sb": seat == setup.sb,
        "bb": seat == setup.bb,
        "away": seat in setup.absent or seat in setup.penalty,
        "dead": seat in hand.dead,
        "not in": seat not in setup.seats,
    }
    return tuple(name for name, true in marks.items() if true)


def _faces(hand: HandState, place: int | str) -> tuple[str, ...]:
    return tuple(face(card.card) or "??" for card in hand.cards if card.place == place)


def _draw(hand: HandState, card: Card, open_table: bool) -> DrawView:
    marks = tuple(
        name
        for name, true in (
            ("exposed", bool(card.exposed)),
            ("unread", card.unread),
            ("foreign", card.foreign),
            ("wrong back", card.wrong_back),
            ("off table", card.off_table),
            ("extra", card.extra),
        )
        if true
    )
    return DrawView(
        card.number,
        place_words(card.place),
        card.confirmed,
        way_up_words(card.boxed, card.number in hand.unseen),
        marks,
        face(card.card) if open_table else None,
    )
