"""The checks of all that was heard in a run; they come last."""

from __future__ import annotations

from shoelink import frame, schema

from dealershoe.conform.check import Checks, Fails, Untested, need, provoke
from dealershoe.conform.peer import Heard, Peer

CHECKS = Checks("The frame")


@CHECKS.add("damaged-counted", "STATS counts damaged frames")
def _(peer: Peer) -> None:
    def enough(heard: Heard) -> bool:
        return isinstance(heard.message, schema.Stats) and heard.message.damaged > 0

    if not peer.damaged_sent:
        raise Untested("no damaged frame was sent in this run")
    if peer.wait(0.0, enough, 0) or peer.wait(6_000.0, enough):
        return
    if not any(isinstance(h.message, schema.Stats) for h in peer.heard):
        raise Untested("no STATS within 6 s")
    raise Fails(f"{peer.damaged_sent} were sent, it counts none")


@CHECKS.add("ack-zero", "`ack` of its frames is 0")
def _(peer: Peer) -> None:
    provoke(peer)
    for heard in peer.heard:
        need(not heard.ack, f"a frame of kind {heard.kind:02x} with `ack` {heard.ack}")


@CHECKS.add("seq-counts", "`seq` of its frames that are no events counts on")
def _(peer: Peer) -> None:
    before, nonce = None, b""
    for heard in peer.heard:
        if heard.kind & schema.RELIABLE:
            continue
        if isinstance(heard.message, schema.Hello) and heard.message.nonce != nonce:  # it may have started anew
            before, nonce = None, heard.message.nonce
        on = before is None or 0 < (heard.seq - before) & 0xFFFF < 0x8000
        need(on, f"a frame of kind {heard.kind:02x} has `seq` {heard.seq}, the one before it {before}")
        before = heard.seq


@CHECKS.add(
    "frames-fit",
    "all that it sent since it first answered were whole frames of at most 61 bytes, of a shoe's kinds, none short",
)
def _(peer: Peer) -> None:
    damage = peer.damage()
    need(not damage, f"of what it sent was damaged: {', '.join(f'{name} {n}' for name, n in damage.items())}")
    need(peer.longest <= frame.BLOCK, f"{peer.longest} bytes between two delimiters")
    for heard in peer.heard:
        plain = schema.known(heard.kind, False)
        need(not heard.kind & schema.FROM_HOST, f"a frame of kind {heard.kind:02x}, which is the host's")
        need(heard.message is not None or not plain, f"a {schema.NAMES.get(plain, '?')} of {len(heard.body)} bytes")
