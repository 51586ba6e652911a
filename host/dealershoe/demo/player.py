"""Plays deal scripts at an emulated shoe against a real bridge on its port, and holds their expectations to both ends.

An `expect` line is checked against the bridge's own session, `expect signal` against the lamps of the shoe as well.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dealershoe.bridge.bridge import Bridge
from dealershoe.deal.items import Expect, ExpectRuling, ExpectSignal, Line
from dealershoe.demo.scripts import Script
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.words import colour
from dealershoe.errors import UserError
from dealershoe.judge.runner import unmet
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession

ORIGIN = "dealer"  # who says what the shoe cannot sense
LIGHT_S = 3.0  # until the lamps must show a signal: more than the longest dark phase of a rhythm, on a busy machine
COLOURS = {"ready": "white", "attention": "amber", "stop": "red", "floor": "red"}  # the shoe's light language


@dataclass(slots=True)
class Result:
    """What a script came to."""

    script: Script
    hands: int = 0
    draws: int = 0
    findings: int = 0
    rulings: list[Ruling] = field(default_factory=list)
    expected: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def held(self) -> int:
        """Expectations that hold."""
        return self.expected - len(self.failures)


class Player:
    """A dealer at `shoe`, whose reports go through `bridge` to its table."""

    def __init__(self, shoe: EmulatedShoe, bridge: Bridge, rules: str, between: float) -> None:
        """`rules`: the stack that the bridge judges by. `between`: seconds from card to card."""
        self._rules = rules
        self._shoe = shoe
        self._bridge = bridge
        self._desk = bridge.desk
        self._dealer = ScriptedDealer(shoe, TableSession(load_stack(rules)), self._tell, between=between, hosted=True)

    def play(self, result: Result) -> Iterator[Line]:
        """Play the script of `result`; gives each line when both ends are done with it, and fills in the result."""
        desk = self._desk
        before = dict(desk.counts)
        ruled = desk.counts["findings"]
        hand, taken = desk.counts["hands"], len(desk.rulings)
        for line in self._dealer.play(result.script.lines):
            item = line.item
            if isinstance(item, Expect) and (not item.stacks or self._rules in item.stacks):
                latest = desk.last_ruling if desk.counts["findings"] > ruled else None
                self._check(line, item, latest, result)
                if isinstance(item, ExpectRuling):
                    ruled = desk.counts["findings"]
            now = desk.counts
            result.hands, result.draws, result.findings = (now[k] - before[k] for k in ("hands", "draws", "findings"))
            if now["hands"] != hand:
                hand, taken = now["hands"], 0
            result.rulings += desk.rulings[taken:]
            taken = len(desk.rulings)
            yield line

    def _check(self, line: Line, item: Expect, latest: Ruling | None, result: Result) -> None:
        result.expected += 1
        got = unmet(self._desk.session, item, latest)
        if got is None and isinstance(item, ExpectSignal):
            got = self._lamps(item.signal)
        if got is not None:
            result.failures.append(f"line {line.number}: {line.text}: got {got}")

    def _lamps(self, signal: str) -> str | None:
        """What the shoe's lamps show instead of `signal`, None when they show it."""
        try:
            self._shoe.wait_for(lambda: COLOURS[signal] in self._lit(), f"{COLOURS[signal]} light", LIGHT_S)
        except UserError:
            return f"lamps {', '.join(sorted(self._lit())) or 'dark'}"
        return None

    def _lit(self) -> set[str]:
        return {colour(pixel) for pixel in self._shoe.lights} - {"dark"}

    def _tell(self, text: str) -> None:
        """A person's line to the bridge; back when the shoe has what follows from it."""
        self._bridge.ask(text, ORIGIN)
        self._shoe.wait_for(self._agreed, f"the shoe to hear what follows from `{text}`")

    def _agreed(self) -> bool:
        """Does the shoe have the signal and the due card that the desk wants it to have?"""
        line, desk = self._shoe.line, self._desk
        return _same(line.signal, desk.shown_signal) and _same(line.due, desk.shown_due)


def _same(heard: Any, wanted: tuple[int, ...] | None) -> bool:
    return wanted is None or (heard is not None and tuple(heard)[1:] == tuple(wanted))


def wait_for_session(shoe: EmulatedShoe, bridge: Bridge, number: int, deadline_s: float = 20.0) -> None:
    """Until bridge and shoe have met for the `number`th time. Raises UserError when they do not."""
    until = time.monotonic() + deadline_s
    while bridge.sessions < number:
        shoe.check()
        if time.monotonic() > until:
            raise UserError("bridge and emulated shoe did not meet", bridge.snapshot().link_why, "try again")
        time.sleep(0.01)
