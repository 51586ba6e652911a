"""`dealershoe deck check`: draw a deck through a shoe on which no table runs, and be told what it is worth."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from shoelink import frame, notice, schema
from shoelink.link import Link
from shoelink.timing import TICKS

from dealershoe import __version__
from dealershoe.deck.check import Deck, Round, sentences, table
from dealershoe.errors import UserError
from dealershoe.link import faults, keystore
from dealershoe.port.identity import PortLost, find
from dealershoe.port.port import Port

IDENT = schema.Ident(b"deck\0\0\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))
GREETS_S = 6.0
BEGINS_S = 5.0
FIRST_S = 300.0  # until the first card of a round: a deck is shuffled
QUIET_S = 10.0  # without a card: the round is over
SETTLED_S = 0.5  # without a report: none is on its way, not from a seat node either
TURN_S = 0.02
OF_A_GAME = (schema.Commit, schema.Reveal, schema.Card, schema.CardBack, schema.Seat, schema.Key)


@click.command("check", short_help="draw a deck through the shoe: is it whole, and does every card read well?")
@click.option("--port", required=True, metavar="auto|PATH", help="The shoe's serial port; no bridge may hold it.")
@click.option("--times", default=1, show_default=True, type=click.IntRange(1, 20), help="Draw the deck so often.")
@click.option("--open", "with_cards", is_flag=True, help="Name the cards, and list how often each was read.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object at the end.")
@click.option("--keys", type=click.Path(dir_okay=False, path_type=Path), help="The file of keys that `enroll` writes.")
@click.option("--any-shoe", is_flag=True, help="Take a shoe without a key, whatever is in that file.")
def command(port: str, times: int, with_cards: bool, as_json: bool, keys: Path | None, any_shoe: bool) -> None:
    """Draw a deck through the shoe, one card after the other; press `done` at the shoe when it is out (or wait ten
    seconds).

    Between hands and at a table that runs, deal the deck out instead: the bridge says what it finds, and `journal
    receipt` prints it. Nothing of the check is kept anywhere. Exit status 0: 52 cards, each once; 1: not so.
    """
    known = None if any_shoe else keystore.enrolled(keys)
    address = find(port)
    try:
        shoe = Shoe(Port(address.path), known)
        try:
            deck = _draw(shoe, times, as_json)
            shoe.settle()
        finally:
            shoe.close()
    except PortLost as lost:
        raise UserError(*str(lost).split("; ", 2)) from lost
    if as_json:
        click.echo(json.dumps(_record(deck, with_cards)))
    else:
        for line in [*sentences(deck, with_cards), *(table(deck) if with_cards else [])]:
            click.echo(line)
    sys.exit(0 if deck.verdict == "whole" else 1)


def _draw(shoe: Shoe, times: int, as_json: bool) -> Deck:
    deck = Deck()
    shoe.meet()
    shoe.next_hand()
    for number in range(1, times + 1):
        click.echo(f"draw the deck, {number} of {times}", err=as_json)
        one = Round()
        for message in shoe.until_done():
            one.heard(message)
            if isinstance(message, schema.Fault):
                click.echo(faults.sentence(message.code, message.detail), err=as_json)
        if not one.cards:
            raise UserError("no card was drawn", "", "draw the deck through the shoe, then press its key done")
        for message in shoe.next_hand():
            one.heard(message)
        deck.add(one)
    return deck


def _record(deck: Deck, with_cards: bool) -> dict[str, object]:
    counts: dict[str, object] = {
        "verdict": deck.verdict,
        "passed": deck.passed,
        "unread": deck.unread,
        "two_as_one": deck.twos,
        "boxed": deck.boxed,
    }
    for name in ("missing", "double", "foreign", "other"):
        counts[name] = dict(getattr(deck, name)) if with_cards else len(getattr(deck, name))
    if with_cards:
        counts |= {"read": dict(deck.read), "put_right": dict(+deck.weak)}
    return counts


class Shoe:
    """A shoe on a port, for the check alone. It takes the shoe's reports for good, so it begins only where no report
    of a game waits for a bridge."""

    def __init__(self, port: Port, keys: dict[bytes, bytes] | None) -> None:
        self._port = port
        self._link = Link(schema.HOST, IDENT, os.urandom, keys=keys or None)
        self._heard: list[Any] = []  # reports, in order
        self._held = 0  # the number of the last report that the shoe had when it greeted,
        self._last = 0  # and of the last that was heard
        self._refused = ""
        # half the ring of numbers away from those that a bridge takes from the clock
        self._hand = (int(time.time()) + 0x8000) & 0xFFFF

    def close(self) -> None:
        self._port.close()

    def meet(self) -> None:
        """Come into session. Raises UserError where that does not come about, and where the shoe has a game's reports
        that no bridge has stored."""
        self._link.start(_now())
        until = time.monotonic() + GREETS_S
        while not (self._link.up and self._last >= self._held):
            self._turn()
            if self._refused:
                raise UserError("this shoe is not taken", self._refused, "see --keys, and --any-shoe")
            if time.monotonic() > until:
                raise UserError(
                    "no shoe answers on the port", "it has no power, or it is another device", "ask dealershoe doctor"
                )
        self._link.desire(schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED))

    def next_hand(self) -> list[Any]:
        """Have the shoe begin another hand; what it reports meanwhile: the secret of the one that is over."""
        self._hand = self._hand % 0xFFFF + 1
        self._heard.clear()
        self._link.desire(schema.Due(0, self._hand, schema.DUE_NOTHING, 0, 1))
        until = time.monotonic() + BEGINS_S
        while not any(isinstance(told, schema.Commit) and told.hand == self._hand for told in self._heard):
            self._turn()
            if time.monotonic() > until:
                raise UserError(
                    "the shoe begins no hand", "it is halted, or its memory is full", "switch it off and on"
                )
        return self._heard.copy()

    def until_done(self) -> Iterator[Any]:
        """The shoe's reports until its key `done` was pressed, or no card has come for a while."""
        self._heard.clear()
        until = time.monotonic() + FIRST_S
        while time.monotonic() < until:
            self._turn()
            for told in self._heard:
                if isinstance(told, schema.Key) and told.key == schema.KEY_DONE:
                    self._heard.clear()
                    return
                if isinstance(told, schema.Card):
                    until = time.monotonic() + QUIET_S
                yield told
            self._heard.clear()

    def settle(self) -> None:
        """Take what still comes, so that nothing of the check waits for the table's bridge."""
        self._heard.clear()
        until = time.monotonic() + SETTLED_S
        while time.monotonic() < until:
            self._turn()
            if self._heard:
                self._heard.clear()
                until = time.monotonic() + SETTLED_S

    # ---- the line

    def _turn(self) -> None:
        self._port.wait(min(TURN_S, self._link.wait(_now()) / 1000), None)
        self._link.stamp = schema.word(time.monotonic_ns() // 1_000 & 0xFFFFFFFF)
        for told in [*self._link.receive(self._port.read(), _now()), *self._link.poll(_now())]:
            self._heed(told)
        self._link.poll(_now())
        self._port.write(bytes(self._link.take()))

    def _heed(self, told: Any) -> None:
        match told:
            case notice.Greeting(hello=hello):
                self._held = hello.next - 1
                self._last = frame.extend(hello.oldest, hello.next) - 1
                self._link.resume(0, _now())
            case notice.Recorded():
                if told.number <= self._held and of_a_game(told.message):
                    raise UserError(
                        "the shoe has reports of a game that no bridge has stored",
                        "it was dealt from without a bridge, or the line broke",
                        "run its table once (dealershoe run), then check the deck",
                    )
                self._last = told.number
                self._link.stored(told.number)
                self._heard.append(told.message)
            case notice.LinkLost():
                raise UserError("the shoe was lost in the middle of the check", told.reason, "begin again")
            case notice.Refused():
                self._refused = told.detail


def of_a_game(report: Any) -> bool:
    """(A seat node that has seen a card which was not drawn for it says nothing of a game.)"""
    return isinstance(report, OF_A_GAME) and not (isinstance(report, schema.Seat) and not report.draw)


def _now() -> int:
    return int(time.monotonic() * 1000) & TICKS
