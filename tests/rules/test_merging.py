"""Hands that the proof of pairs takes for the same are: followed in full, they give the same rulings and due order."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from dealershoe.events import Ack, Draw, Event, Exposed
from dealershoe.rules.stack import load_stack
from dealershoe.trial.situations import FIRST_ACTS, LATER_ACTS, Acts, Fault, faults
from rules.merging import Key, Names, outlook, past, reach, recent, way
from rules.proof import STACKS, Table, moments

NO_ACTS: Acts = ((),)
PAIRS = 40  # pairs of merged hands that are followed in full, of each kind


def faulty(stack: str, seats: int, game: str, rng: random.Random) -> Iterator[Table]:
    """Hands after a first fault, at once and at some of their later moments, until nobody asks for more."""
    clean = list(moments(Table(load_stack(stack), seats, game)))
    while True:
        table = rng.choice(clean).fork()
        if table.inject(rng.choice(list(faults(table.session, False, FIRST_ACTS, LATER_ACTS)))):
            at_once, *later = moments(table)
            yield at_once
            yield from rng.sample(later, min(len(later), 2))


def seconds(table: Table) -> list[Fault]:
    return list(faults(table.session, False, NO_ACTS, NO_ACTS))


def followed(table: Table, events: tuple[Event, ...] = ()) -> list[object]:
    """What is said and due from the events on to the end of the hand; draws count from the last full reload."""
    table = table.fork()
    table.rulings.clear()
    said: list[object] = [table.inject(Fault("", events))] if events else []
    told = 0
    while True:
        base = table.hand.reload
        for ruling in table.rulings[told:]:
            cards = [number - base for number in ruling.cards if number > base]
            about = () if ruling.layer == "floor" else (ruling.finding, ruling.rule, ruling.seat, cards)
            said.append((ruling.ruling, ruling.verbs, *about))  # which call the floor answers, no key asks
        told = len(table.rulings)
        said.append((table.session.due, table.session.signal))
        if not table.step():
            return said


def on(table: Table) -> list[object] | None:
    """What is due from here to the end; None where something is found on the way."""
    table = table.fork()
    said = followed(table)
    noticed = len(table.session._noticed)
    while table.step():
        pass
    return said if len(table.session._noticed) == noticed else None


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("seats", "game"), [(2, "holdem"), (4, "holdem"), (3, "stud")])
def test_hands_with_one_key_go_on_alike(stack: str, seats: int, game: str) -> None:
    rng = random.Random(seats)
    names = Names()
    met: dict[tuple[str, Key], Table] = {}
    compared = dict.fromkeys(("folded", "recent", "way"), 0)
    for table in faulty(stack, seats, game, rng):
        key = outlook(table, names)
        keys = {"folded": key, "recent": key + recent(table, names)}
        for what, known in keys.items():
            other = met.setdefault((what, known), table)
            if other is table or past(other, names) == past(table, names) or compared[what] >= PAIRS:
                continue
            mine, others = seconds(table), seconds(other)
            assert [fault.name for fault in mine] == [fault.name for fault in others]
            for at in rng.sample(range(len(mine)), 6):
                if reach(table.hand, mine[at].events) == what:
                    compared[what] += 1
                    assert followed(table, mine[at].events) == followed(other, others[at].events), mine[at].name
        second = rng.choice(seconds(table))
        later = table.fork()
        if not later.inject(second):
            continue
        rough = way(later, names)
        other = met.setdefault(("way", rough), later)
        if other is not later and outlook(other, names) != outlook(later, names) and compared["way"] < PAIRS:
            mine_on, others_on = on(later), on(other)
            if mine_on is not None or others_on is not None:
                compared["way"] += 1
                assert mine_on == others_on
        if all(count >= PAIRS for count in compared.values()):
            return


def test_whose_card_was_exposed_keeps_hands_apart() -> None:
    """Robert's, stud: one downcard of a seat may be up. The hands differ in nothing else, and go on differently."""
    names = Names()
    keys = set()
    said = []
    for number in (1, 2):
        table = Table(load_stack("roberts"), 2, "stud")
        for event in (Draw(), Draw(), Exposed(number, "dealer"), Ack()):
            table.tell(event)
        keys.add(outlook(table, names))
        table.rulings.clear()
        table.tell(Draw(1, exposed="dealer"))
        said.append(table.rulings[-1].ruling)
    assert said == ["floor", "correct"]
    assert len(keys) == 2
