"""What a check of the protocol is, and what the checks share: for the modules of checks beside this one.

A check speaks to the device through a `Peer` and raises `Fails` with what was seen, or `Untested` with the reason.
Times are the protocol's, with room above for a slow line and a busy machine: too early is as wrong as missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shoelink import schema

from dealershoe.conform.peer import Heard, Peer

UNKNOWN = 0x1F  # a number that no kind of either end has
SKIPPED, WISHED, STOPPING = UNKNOWN, UNKNOWN | schema.RELIABLE, UNKNOWN | schema.CRITICAL
SLACK_MS = 150.0


class Fails(Exception):  # noqa: N818 - the verdict of a check
    """The device does not do it; the text says what was seen."""


class Untested(Exception):  # noqa: N818 - the verdict of a check
    """It could not be told; the text says why."""


@dataclass(frozen=True, slots=True)
class Check:
    """`holds` is the sentence that is true of a device that passes. `up`: it needs a fresh session that is up."""

    name: str
    holds: str
    section: str
    up: bool
    run: Callable[[Peer], None]


class Checks(list[Check]):
    """The checks of one section of the protocol's README.md, in the order in which they are run."""

    def __init__(self, section: str) -> None:
        super().__init__()
        self._section = section

    def add(self, name: str, holds: str, *, up: bool = True) -> Callable[[Callable[[Peer], None]], None]:
        """Add a check."""

        def append(run: Callable[[Peer], None]) -> None:
            self.append(Check(name, holds, self._section, up, run))

        return append


def need(condition: object, seen: str) -> None:
    """Fail with what was seen unless the condition holds."""
    if not condition:
        raise Fails(seen)


def obeys(peer: Peer, wish: schema.Signal, more: str = "") -> None:
    """Send a state; fail unless its generation is confirmed within 500 ms. `more`: what was done before it."""
    place = len(peer.heard)
    peer.say(wish)
    need(
        peer.confirmed(schema.SIGNAL, wish.generation, 500.0, place),
        f"no ACK of SIGNAL {wish.generation}{more} within 500 ms",
    )


def provoke(peer: Peer) -> Heard:
    """Get the device to report an event: it must say so when a critical kind is not known. Its first FAULT of that."""
    place = len(peer.heard)
    peer.send(STOPPING, b"\1\2\3")
    kind = STOPPING | schema.FROM_HOST
    wanted = schema.FAULT_UNKNOWN_KIND

    def named(heard: Heard) -> bool:
        return isinstance(heard.message, schema.Fault) and (heard.message.code, heard.message.detail) == (wanted, kind)

    found = peer.wait(1_000.0, named, place)
    if found is None:
        raise Fails(f"no FAULT UNKNOWN_KIND for kind {kind:02x} within 1 s")
    return found
