"""The types of `notice.py`; a test holds the two together."""

from typing import NamedTuple

from shoelink.schema import Hello, Ident, Message

class Greeting(NamedTuple):
    hello: Hello
    ident: Ident

class LinkUp(NamedTuple):
    hello: Hello
    ident: Ident
    minor: int

class LinkLost(NamedTuple):
    reason: str

class Refused(NamedTuple):
    reason: str
    detail: str

class Recorded(NamedTuple):
    number: int
    kind: int
    message: Message | None
    body: bytes

class Delivered(NamedTuple):
    kind: int
    message: Message

class Gap(NamedTuple):
    first: int
    next: int

class Stopped(NamedTuple):
    reason: str
    kind: int
    number: int

class JournalFull(NamedTuple):
    refused: int

class JournalRoom(NamedTuple):
    refused: int

Notice = Greeting | LinkUp | LinkLost | Refused | Recorded | Delivered | Gap | Stopped | JournalFull | JournalRoom
