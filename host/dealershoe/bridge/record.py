"""Makes rows of the journal out of events and rulings: without card identities. Pure; for the desk."""

from __future__ import annotations

import json
from dataclasses import fields

from dealershoe.events import Draw, DrawForButton, Event
from dealershoe.record.entries import RulingRow
from dealershoe.rules.ruling import Ruling

FACES = {(Draw, "card"), (DrawForButton, "cards")}  # fields of events that name cards, beside every `ids`


def ruling_row(fact: int, hand: int, stack: str, ruling: Ruling) -> RulingRow:
    """A ruling as the journal keeps it; `fact` is what it ruled on."""
    return RulingRow(
        fact,
        hand,
        stack,
        str(ruling.finding),
        ruling.ruling,
        ruling.rule,
        ruling.cite,
        ruling.layer,
        ruling.version,
        ruling.digest,
        ruling.seat,
        json.dumps(list(ruling.cards)),
        ruling.say,
        ruling.decider,
        ruling.signal,
        json.dumps(list(ruling.remedy), ensure_ascii=False),
    )


def body(event: Event) -> str:
    """An event as JSON, without the fields that name cards."""
    return json.dumps(
        {
            field.name: getattr(event, field.name)
            for field in fields(event)
            if field.name != "ids" and (type(event), field.name) not in FACES
        }
    )
