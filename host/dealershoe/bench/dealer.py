"""The scripted dealer of a test: plays text, and keeps what a shoe cannot sense for whoever is to be told."""

from __future__ import annotations

from collections.abc import Callable

from dealershoe.deal.grammar import parse, parse_line
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.events import Hand, NextHand
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession


class Dealer:
    """`play` deals at the shoe. `tell` is called with every line that the shoe cannot sense; `said` keeps them all."""

    def __init__(
        self, shoe: EmulatedShoe, rules: str, tell: Callable[[str], object] | None = None, *, hosted: bool = False
    ) -> None:
        """`hosted`: a host is there for certain and is waited for, as of `EmulatedShoe.quiet`."""
        self.said: list[str] = []
        self.tell = tell
        self._shoe = shoe
        self.dealer = ScriptedDealer(shoe, TableSession(load_stack(rules)), self._tell, hosted=hosted)

    def play(self, script: str) -> None:
        """Play lines of a deal script, and return when the shoe is done with the last. Raises UserError by line."""
        for _ in self.dealer.play(parse(script, "the test's script")):
            pass

    def _tell(self, line: str) -> None:
        before = self._shoe.line.due
        self.said.append(line)
        if self.tell is None:
            return
        self.tell(line)
        parsed = parse_line(line, 1, "the dealer")
        if parsed is not None and isinstance(parsed.item, Hand | NextHand) and self._shoe.line.up:
            # cards pulled before the shoe knows of the hand would be counted in the one before
            self._shoe.wait_for(lambda: self._shoe.line.due not in (None, before), f"the host to begin `{line}`")
