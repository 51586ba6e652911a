"""Runs the checks against a device on a port and says what holds. For the command and for tests of other shoes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from shoelink import frame, schema

from dealershoe.conform.check import Check, Fails, Untested
from dealershoe.conform.checks import CHECKS, chosen
from dealershoe.conform.peer import Peer
from dealershoe.errors import UserError
from dealershoe.port.identity import PortLost, find
from dealershoe.port.port import Port

GREETS_MS = 3_000.0  # an unanswered device says HELLO every 100 ms; it may still be starting
PILED_MS = 300.0  # in which what had piled up is through: a device's buffer is 512 bytes, 45 ms of the line
HOLDS, FAILS, UNTESTED = "holds", "fails", "untested"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A check and what came of it; `seen` is what was seen where it does not hold, or why it could not be told."""

    check: Check
    verdict: str
    seen: str
    seconds: float


def run(port: str, names: tuple[str, ...] = (), *, take: bool = False) -> Iterator[Verdict]:
    """The verdicts on the device at `port`, as they come. `take`: events that it holds may be taken from it.

    Raises UserError for a port that cannot be used, a device that does not greet at all, or one with events in it.
    """
    unknown = set(names) - {check.name for check in CHECKS}
    if unknown:
        raise UserError(
            f"there is no check {', '.join(sorted(unknown))}", "", f"the checks are {', '.join(c.name for c in CHECKS)}"
        )
    try:
        opened = Port(find(port).path)
    except PortLost as lost:
        raise UserError(*str(lost).split("; ", 2)) from lost
    try:
        peer = Peer(opened)
        _meet(peer, take)
        for check in chosen(names):
            yield _judge(check, peer)
        with contextlib.suppress(PortLost):
            peer.connect()  # what the checks provoked is stored: the device forgets it
    finally:
        opened.close()


def _meet(peer: Peer, take: bool) -> None:
    try:
        heard = peer.hello(GREETS_MS)
        peer.listen(PILED_MS)  # a HELLO that had piled up does not know of the cards that were drawn since
    except PortLost as lost:
        raise UserError(*str(lost).split("; ", 2)) from lost
    if heard is None:
        raise UserError(
            f"no HELLO came within {GREETS_MS / 1_000:g} s",
            "there is no shoe at this port, it has no power, or it does not speak this protocol at all",
            "look at what it says with dealershoe frames",
        )
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    peer.journal = hello.journal
    peer.stored = peer.highest = hello.next - 1 if take else frame.extend(hello.oldest, hello.next) - 1
    held = hello.next - 1 - peer.stored
    if held > 0:
        raise UserError(
            f"the device holds {held} event{'s' * (held != 1)} that no host has stored",
            "a table is being dealt on it, or a bridge was stopped",
            "let the bridge store them first, or give them up with --take",
        )


def _judge(check: Check, peer: Peer) -> Verdict:
    begun = time.monotonic()
    verdict, seen = HOLDS, ""
    try:
        if check.up and not peer.connect():
            raise Fails("no session came up")
        if not check.up:
            _let_go(peer)
        check.run(peer)
    except Fails as failed:
        verdict, seen = FAILS, str(failed)
    except Untested as reason:
        verdict, seen = UNTESTED, str(reason)
    except PortLost as lost:
        verdict, seen = FAILS, f"the port was lost: {lost}"
    peer.alive = False
    return Verdict(check, verdict, seen, time.monotonic() - begun)


def _let_go(peer: Peer) -> None:
    """Be silent until the device greets on its own, for the checks that begin there."""
    peer.alive = False
    peer.renew()
    peer.hello(2_500.0)
