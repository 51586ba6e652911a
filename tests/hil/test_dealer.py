"""The scripted dealer: cards and keys go through the shoe, the rest is said, and cards are distinct."""

from __future__ import annotations

from pathlib import Path

import pytest
from dealershoe.deal.grammar import parse
from dealershoe.deck.cards import FIFTY_TWO, card_name
from dealershoe.emulate.accidents import Accident, parse_accident
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession
from hil.hostend import HostEnd
from shoelink import schema

STACK = "tda-2024+house"


class Table:
    """A dealer at a shoe, and what came out at its two ends."""

    def __init__(self, shoe: EmulatedShoe, host: HostEnd) -> None:
        self.shoe = shoe
        self.host = host
        self.said: list[str] = []

    def play(self, script: str, seed: int = 1, accidents: tuple[Accident, ...] = ()) -> ScriptedDealer:
        session = TableSession(load_stack(STACK))
        dealer = ScriptedDealer(self.shoe, session, self.said.append, seed=seed, between=0.0, accidents=accidents)
        for _ in dealer.play(parse(script, "test.deal")):
            pass
        return dealer

    def names(self) -> list[str]:
        """The cards reported so far, in order; "?" for an unread one."""
        cards = [event for event in self.host.events if isinstance(event, schema.Card)]
        return ["?" if c.token == schema.TOKEN_UNREAD else card_name(schema.value(c.token)) for c in cards]


@pytest.fixture
def table(shoe: EmulatedShoe, host: HostEnd) -> Table:
    return Table(shoe, host)


HAND = "hand seats=1-6 button=6\n"


def test_named_cards_come_where_named_and_all_are_distinct(table: Table) -> None:
    table.play(
        HAND + "deal 2\ncard 3 Ah\ndeal 9\nbetting complete\ndeal flop\nbetting complete\ndeal 1\ncard board 2c\n"
    )
    names = table.names()
    assert names[2] == "Ah"
    assert names[-1] == "2c"
    assert len(set(names)) == len(names) == 18
    assert set(names) <= set(FIFTY_TWO)


def test_the_same_seed_deals_the_same_cards(table: Table) -> None:
    table.play(HAND + "deal hole\n", seed=5)
    table.play(HAND + "deal hole\n", seed=5)
    table.play(HAND + "deal hole\n", seed=6)
    names = table.names()
    assert names[:12] == names[12:24]
    assert names[:12] != names[24:]


def test_a_card_named_twice_is_there_twice(table: Table) -> None:
    table.play(HAND + "card 1 Ah\ncard 2 Ah\n")
    assert table.names() == ["Ah", "Ah"]


def test_what_the_shoe_senses_is_not_said(table: Table) -> None:
    script = "deal hole\nact 3 raise\nbetting complete\nexposed #12\nexposed #5\nack\nundo\nhand next\n"
    table.play(HAND + script)
    keys = [(e.key, e.press) for e in table.host.events if isinstance(e, schema.Key)]
    short, held = schema.PRESS_SHORT, schema.PRESS_HELD
    assert keys == [
        (schema.KEY_BETTING_COMPLETE, short),
        (schema.KEY_EXPOSED, short),  # the last card
        (schema.KEY_DONE, short),
        (schema.KEY_DONE, held),
        (schema.KEY_NEW_HAND, short),
    ]
    assert table.said == ["hand seats=1-6 button=6", "act 3 raise", "exposed #5"]


def test_an_exposed_card_lies_face_up_for_the_seat_node(table: Table) -> None:
    table.play(HAND + "card 1\ncard 2 exposed\ncard 3 exposed by=player\ncard 4 exposed inferred\n")
    seats = [(e.draw, e.place, e.way_up) for e in table.host.events if isinstance(e, schema.Seat)]
    assert seats == [(1, 1, schema.WAY_DOWN), (2, 2, schema.WAY_UP), (3, 3, schema.WAY_DOWN)]
    assert [e.key for e in table.host.events if isinstance(e, schema.Key)] == [schema.KEY_EXPOSED]
    assert table.said[1:] == ["exposed #3 by=player"]


def test_odd_cards_are_odd_to_the_sensors(table: Table) -> None:
    table.play(HAND + "card 1 unread\ncard 2 As foreign\ncard 3 joker\ncard 4 boxed\ncard 5 double\n")
    unread, foreign, joker, boxed, double = [e for e in table.host.events if isinstance(e, schema.Card)]
    assert unread.flags & schema.CARD_UNREAD
    assert foreign.deck == 3
    assert schema.value(joker.token) == 52
    assert boxed.way_up == schema.WAY_UP
    assert double.flags & schema.CARD_DOUBLE


def test_a_card_pushed_back_is_the_next_one_again(table: Table) -> None:
    table.play(HAND + "card 1 Kd\npull-back\ncard 1\n")
    assert table.names() == ["Kd", "Kd"]
    assert any(isinstance(e, schema.CardBack) for e in table.host.events)


def test_a_shuffled_stub_holds_what_went_back_and_what_never_left(table: Table) -> None:
    # the premature flop: its burn stays, the board cards go back (RP-5-A)
    script = "deal hole\nact 3 call\ncard burn\ncard board Qd\ncard board\ncard board\nact 4 call\nbetting complete\n"
    dealer = table.play(HAND + script + "shuffled stub\n")
    before = table.names()
    assert len(dealer.shoe.deck) == 52 - 13
    in_shoe = {card.name for card in dealer.shoe.deck}
    assert "Qd" in in_shoe
    assert in_shoe | set(before[:13]) == set(FIFTY_TWO)


def test_a_known_order_is_dealt_in_that_order(table: Table) -> None:
    table.play(HAND + "deck ids=Ks,Qs,2d\ndeal 3\n")
    assert table.names() == ["Ks", "Qs", "2d"]


def test_deal_when_nothing_is_due_is_told_with_its_line(table: Table) -> None:
    with pytest.raises(UserError, match=r"line 3, `deal 1`: no card is due, betting is"):
        table.play(HAND + "deal hole\ndeal 1\n")
    with pytest.raises(UserError, match=r"line 2, `deal third`: there is no third in holdem"):
        table.play(HAND + "deal third\n")


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("half-drawn@2", schema.Fault),
        ("hesitates@2", schema.Card),
        ("dazzle@2", schema.Fault),
    ],
)
def test_an_accident_on_the_way_costs_no_card(table: Table, fault: str, seen: type) -> None:
    table.play(HAND + "card 1 Ac\ncard 2 Kc\ncard 3 Qc\n", accidents=(parse_accident(fault),))
    assert table.names() == ["Ac", "Kc", "Qc"]
    assert any(isinstance(event, seen) for event in table.host.events)


def test_an_accident_of_the_strip_changes_the_report_only(table: Table) -> None:
    dealer = table.play(HAND + "card 1 Ac\ncard 2 Kc\n", accidents=(parse_accident("strip@2=7d"),))
    assert table.names() == ["Ac", "7d"]
    assert dealer.session.hand is not None
    assert [card.card for card in dealer.session.hand.cards] == ["Ac", "Kc"]


def test_a_flash_hides_which_card_it_is_and_which_way_up_it_lies(table: Table) -> None:
    dealer = table.play(HAND + "card 1 Ac\ncard 2 Kc boxed\ncard 2 Qc\n", accidents=(parse_accident("flash@2"),))
    cards = [event for event in table.host.events if isinstance(event, schema.Card)]
    ways = [schema.WAY_DOWN, schema.WAY_UNKNOWN, schema.WAY_DOWN]
    assert (table.names(), [card.way_up for card in cards]) == (["Ac", "?", "Qc"], ways)
    assert [(seat.draw, seat.way_up) for seat in table.host.events if isinstance(seat, schema.Seat)][1] == (
        2, schema.WAY_UP,
    )  # fmt: skip
    assert any(isinstance(event, schema.Fault) for event in table.host.events)
    assert dealer.session.hand is not None
    assert dealer.session.hand.cards[1].boxed
    assert table.said == ["hand seats=1-6 button=6"]  # the node has said it


@pytest.mark.parametrize("where", ["2 Kc boxed inferred", "board Kc boxed"])
def test_a_dealer_says_that_a_card_came_face_up_where_no_head_and_no_node_can(table: Table, where: str) -> None:
    first = "card 1 Ac\n" if where[0] == "2" else "deal hole\nbetting complete\ndeal 1\n"
    number = 2 if where[0] == "2" else 14
    table.play(HAND + first + f"card {where}\n", accidents=(parse_accident(f"flash@{number}"),))
    assert table.said[-1] == f"report boxed #{number}"


def test_a_power_loss_between_two_cards_loses_none(table: Table) -> None:
    table.play(HAND + "card 1 Ac\ncard 2 Kc\ncard 3 Qc\n", accidents=(parse_accident("power@2"),))
    table.host.wait_for(lambda: len(table.names()) == 3, "three cards")
    assert table.names() == ["Ac", "Kc", "Qc"]


@pytest.mark.parametrize("text", ["", "half-drawn", "half-drawn@0", "sneeze@3", "strip@2", "strip@2=1x", "turned@1=As"])
def test_a_bad_fault_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(UserError):
        parse_accident(text)


def test_every_deal_script_can_be_played(table: Table) -> None:
    folder = Path(__file__).parents[1] / "rules" / "deals"
    for path in sorted(folder.glob("clean-*.deal")):
        table.play(path.read_text())
