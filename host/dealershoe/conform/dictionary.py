"""The check of the dictionary: the device tells its schema, and the schema is the one that it named."""

from __future__ import annotations

import hashlib

from shoelink import schema

from dealershoe.conform.check import Checks, Fails, need
from dealershoe.conform.peer import Peer

CHECKS = Checks("The dictionary: a shoe that is newer than its host")


@CHECKS.add(
    "dictionary",
    "LOOKUP brings the schema, and its hash is right",
)
def _(peer: Peer) -> None:
    hello = next(h.message for h in reversed(peer.heard) if isinstance(h.message, schema.Hello))
    text = b""
    for _again in range(200):
        peer.say(schema.Lookup(len(text)))
        at = len(text)
        heard = peer.wait(300.0, lambda h, at=at: isinstance(h.message, schema.Words) and h.message.offset == at)  # type: ignore[misc]
        if heard is None:
            raise Fails(f"no WORDS from {at} within 300 ms")
        left = heard.message.total - at
        text += heard.message.text[: min(left, schema.WORDS_TEXT)]
        if left <= schema.WORDS_TEXT:
            break
    need(hashlib.sha256(text).digest()[:4] == hello.schema, "its text does not have the hash of its HELLO")
