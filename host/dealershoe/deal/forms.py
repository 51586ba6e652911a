"""The grammar of deal scripts as one table: for each line its words, what follows them, and the item that it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from dealershoe import events
from dealershoe.deal.items import (
    DUES,
    RULINGS,
    SIGNALS,
    STREETS,
    DealNext,
    ExpectButton,
    ExpectDeck,
    ExpectDue,
    ExpectPlaces,
    ExpectRuling,
    ExpectSignal,
    FloorCall,
)
from dealershoe.deal.values import (
    CARD,
    CARDS,
    DRAW,
    DRAWS,
    LAST_DRAW,
    NAME,
    SEAT,
    SEAT_LIST,
    SOME_SEATS,
    Value,
    choice,
    either,
    listed,
    number,
)

COUNT = either(number(1, LAST_DRAW, "a number of cards"), choice(*STREETS))
HELD = number(0, 52, "a number of cards from 0 to 52")
PLACE = either(SEAT, choice(*events.PLACES))
PLACE_OR_DUE = either(SEAT, choice(*events.PLACES, "due"))
SMALL_BLIND = either(SEAT, choice("dead"))
BY = choice("dealer", "player")
CUTTER = either(SEAT, choice("dealer"))
DRAW_OR_STUB = either(DRAW, choice("stub"))
DECK_ID = number(0, 3, "a deck from 0 to 3")  # two bits of the card code
NUMBER = number(1, LAST_DRAW, "a draw number")


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a line: `name` is the key before `=` (or only a label), `field` the item's field that it fills."""

    name: str
    value: Value
    required: bool = False
    field: str = ""

    @property
    def fills(self) -> str:
        return self.field or self.name


@dataclass(frozen=True, slots=True)
class Flag:
    """A bare word that may stand in a line, and the value that it gives to a field."""

    word: str
    field: str
    value: object = True


def plain_fields(item: Any) -> dict[str, Any]:
    """The fields of an item that say something: not None, and not their default."""
    values = {part.name: (getattr(item, part.name), part.default) for part in fields(item)}
    return {name: value for name, (value, default) in values.items() if value is not None and value != default}


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of line. `places` are values in order, `keys` and `flags` stand in any order after the words.

    `fixed`: what the words alone say. `make` gets all fields by name; `take` is its inverse. `some`: at least one key.
    """

    words: tuple[str, ...]
    item: type
    places: tuple[Field, ...] = ()
    keys: tuple[Field, ...] = ()
    flags: tuple[Flag, ...] = ()
    fixed: tuple[tuple[str, object], ...] = ()
    make: Callable[..., Any] | None = None
    take: Callable[[Any], dict[str, Any]] = plain_fields
    some: bool = False


def _make_deal(count: int | str) -> DealNext:
    return DealNext(street=count) if isinstance(count, str) else DealNext(count=count)


def _take_deal(item: DealNext) -> dict[str, Any]:
    return {"count": item.street or item.count}


def _make_draw(target: int | str, by: str | None = None, exposed: str | None = None, **rest: Any) -> events.Draw:
    gone = target == "off-table"
    if by and not exposed and not gone:
        raise ValueError("`exposed` beside `by=`, which says who exposed the card")
    knocked = "player" if gone and by == "player" else None
    return events.Draw(
        None if target == "due" else target, exposed=exposed and (by or exposed), knocked=knocked, **rest
    )


def _take_draw(item: events.Draw) -> dict[str, Any]:
    taken = plain_fields(item) | {"target": "due" if item.target is None else item.target}
    if item.exposed == "player":
        taken |= {"exposed": "dealer", "by": "player"}
    if taken.pop("knocked", None):
        taken["by"] = "player"
    return taken


def _make_cut(by: int | str, refused: tuple[int, ...] = ()) -> events.Cut:
    return events.Cut(None if by == "dealer" else int(by), refused)


def _take_cut(item: events.Cut) -> dict[str, Any]:
    return plain_fields(item) | {"by": "dealer" if item.by is None else item.by}


def _found(report: Callable[[int | None], Any]) -> Callable[..., Any]:
    """A report about a draw, or about a card of the stub."""
    return lambda number: report(None if number == "stub" else number)


def _take_found(item: Any) -> dict[str, Any]:
    return {"number": "stub" if item.number is None else item.number}


def _make_act(seat: int | None = None, kind: str | None = None, out_of_turn: bool = False) -> events.Act:
    if seat is not None and kind is None:
        raise ValueError("what the seat did: " + ", ".join(events.ACTIONS))
    return events.Act(seat, kind, out_of_turn)


def _make_exposed(number: int | None = None, by: str = "dealer", touched: bool = False) -> events.Exposed:
    return events.Exposed(number, by, touched)


def _make_draw_for_button(**cards: str) -> events.DrawForButton:
    return events.DrawForButton(tuple((int(seat), card) for seat, card in cards.items()))


def _take_draw_for_button(item: events.DrawForButton) -> dict[str, Any]:
    return {str(seat): card for seat, card in item.cards}


def _make_places(**lists: tuple[int, ...]) -> ExpectPlaces:
    stacks: Any = lists.pop("stacks", ())
    at_seats = tuple((seat, lists.pop(f"seat{seat}")) for seat in events.SEATS if f"seat{seat}" in lists)
    return ExpectPlaces(seats=at_seats, stacks=stacks, **lists)


def _take_places(item: ExpectPlaces) -> dict[str, Any]:
    taken = plain_fields(item)
    return taken | {f"seat{seat}": draws for seat, draws in taken.pop("seats", ())}


SEAT_KEY = Field("seat", SEAT, required=True)
SEAT_WORD = Field("seat", SEAT, required=True)
DRAW_WORD = Field("number", DRAW, required=True)
FOUND_WORD = Field("number", DRAW_OR_STUB, required=True)
TARGET_WORD = Field("target", PLACE, required=True)
BY_KEY = Field("by", BY)
IDS_KEY = Field("ids", CARDS)

# Where two forms make the same item, the first one is how it is written back.
FORMS: tuple[Form, ...] = (
    Form(("hand",), events.Hand,
         keys=(Field("seats", SEAT_LIST, required=True), Field("button", SEAT, required=True), Field("sb", SMALL_BLIND),
               Field("bb", SEAT), Field("game", choice(*events.GAMES)), Field("absent", SEAT_LIST),
               Field("penalty", SEAT_LIST))),
    Form(("hand", "next"), events.NextHand, keys=(Field("gone", SEAT_LIST), Field("new", SEAT_LIST))),
    Form(("draw-button",), events.DrawForButton, keys=tuple(Field(str(seat), CARD) for seat in events.SEATS),
         make=_make_draw_for_button, take=_take_draw_for_button, some=True),
    Form(("cut",), events.Cut, keys=(Field("by", CUTTER, required=True), Field("refused", SEAT_LIST)),
         make=_make_cut, take=_take_cut),
    Form(("dealer", "push"), events.DealerPush),
    Form(("limit", "change"), events.LimitChange),
    Form(("request", "deck"), events.DeckRequest, keys=(SEAT_KEY,), flags=(Flag("marked", "marked"),)),
    Form(("deal",), DealNext, places=(Field("count", COUNT, required=True),), make=_make_deal, take=_take_deal),
    Form(("card",), events.Draw,
         places=(Field("target", PLACE_OR_DUE, required=True), Field("card", CARD)),
         keys=(BY_KEY, Field("number", NUMBER), Field("deck", DECK_ID)),
         flags=(Flag("boxed", "boxed"), Flag("exposed", "exposed", "dealer"), Flag("double", "double"),
                Flag("unread", "unread"), Flag("foreign", "foreign"), Flag("wrong-back", "wrong_back"),
                Flag("up", "up"), Flag("touched", "touched"), Flag("inferred", "confirmed", False),
                Flag("unseen", "unseen")),
         make=_make_draw, take=_take_draw),
    Form(("act",), events.Act,
         places=(Field("seat", SEAT), Field("kind", choice(*events.ACTIONS))),
         flags=(Flag("out-of-turn", "out_of_turn"),), make=_make_act),
    Form(("betting", "complete"), events.BettingComplete),
    Form(("betting", "over"), events.BettingOver),
    Form(("exposed",), events.Exposed, places=(Field("number", DRAW),), keys=(BY_KEY,),
         flags=(Flag("touched", "touched"),), make=_make_exposed),
    Form(("off-table",), events.OffTable, places=(DRAW_WORD,), keys=(BY_KEY,)),
    Form(("report", "count"), events.ReportCount, keys=(SEAT_KEY, Field("cards", HELD, required=True))),
    Form(("report", "target"), events.ReportTarget, places=(DRAW_WORD, TARGET_WORD)),
    Form(("report", "misread"), events.Misread, places=(DRAW_WORD, Field("card", CARD))),
    Form(("report", "button"), events.ReportButton, keys=(SEAT_KEY,)),
    Form(("report", "entitled"), events.ReportEntitled, keys=(SEAT_KEY,), fixed=(("entitled", True),)),
    Form(("report", "not-entitled"), events.ReportEntitled, keys=(SEAT_KEY,), fixed=(("entitled", False),)),
    Form(("report", "duplicate"), events.ReportDuplicate, flags=(Flag("stub", "in_stub"),)),
    Form(("report", "wrong-back"), events.ReportWrongBack, places=(FOUND_WORD,), make=_found(events.ReportWrongBack),
         take=_take_found),
    Form(("report", "joker"), events.ReportJoker, places=(FOUND_WORD,), make=_found(events.ReportJoker),
         take=_take_found),
    Form(("report", "boxed"), events.ReportBoxed, places=(DRAW_WORD,), fixed=(("boxed", True),)),
    Form(("report", "not-boxed"), events.ReportBoxed, places=(DRAW_WORD,), fixed=(("boxed", False),)),
    Form(("report", "missing"), events.ReportMissing),
    Form(("report", "short-stub"), events.ReportShortStub),
    Form(("report", "bad-shuffle"), events.ReportBadShuffle),
    Form(("report", "dropped-stub"), events.DroppedStub,
         keys=(Field("with", listed(choice("muck", "burns"), "muck, burns or both"), field="mixed"),)),
    Form(("pull-back",), events.PullBack),
    Form(("place",), events.Placed, places=(DRAW_WORD, TARGET_WORD)),
    Form(("looked",), events.Looked, places=(DRAW_WORD,)),
    Form(("knew",), events.Knew, places=(SEAT_WORD,)),
    Form(("pick",), events.Pick, places=(DRAW_WORD,)),
    Form(("ack",), events.Ack),
    Form(("shuffled", "stub"), events.ShuffledStub, keys=(IDS_KEY,)),
    Form(("shuffled", "deck"), events.DeckLoaded, keys=(IDS_KEY,)),
    Form(("deck",), events.DeckLoaded, keys=(IDS_KEY,)),
    *(Form(("floor", word), events.FloorDecision, places=(SEAT_WORD,) if word == "dead" else (),
           fixed=(("decision", word),)) for word in events.FLOOR_DECISIONS),
    Form(("call", "floor"), FloorCall),
    Form(("award",), events.Award),
    Form(("undo",), events.Undo),
    *(Form(("expect", word), ExpectRuling, keys=(Field("rule", NAME), Field("seat", SEAT)),
           fixed=(("ruling", word),)) for word in RULINGS),
    Form(("expect", "due", "seat"), ExpectDue, places=(SEAT_WORD,), fixed=(("kind", "seat"),)),
    *(Form(("expect", "due", word), ExpectDue, fixed=(("kind", word),)) for word in DUES),
    Form(("expect",), ExpectPlaces,
         keys=(Field("burns", DRAWS), Field("board", DRAWS), *(Field(f"seat{seat}", DRAWS) for seat in events.SEATS),
               Field("dead", SOME_SEATS), Field("muck", DRAWS), Field("forfeit", SOME_SEATS)),
         make=_make_places, take=_take_places, some=True),
    Form(("expect", "button"), ExpectButton, places=(Field("button", SEAT, required=True),),
         keys=(Field("sb", SMALL_BLIND), Field("bb", SEAT))),
    Form(("expect", "deck", "change"), ExpectDeck, fixed=(("change", True),)),
    Form(("expect", "deck", "keep"), ExpectDeck, fixed=(("change", False),)),
    *(Form(("expect", "signal", word), ExpectSignal, fixed=(("signal", word),)) for word in SIGNALS),
)  # fmt: skip
