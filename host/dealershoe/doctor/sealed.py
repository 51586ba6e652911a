"""The doctor at a shoe that is enrolled: who speaks sealed is heard, and spoken to with the key that is kept here."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shoelink import frame, notice, schema
from shoelink.link import Link
from shoelink.timing import TICKS

from dealershoe import __version__
from dealershoe.conform.peer import Heard, Peer, now, stamp
from dealershoe.doctor.finding import BAD, Finding, counted
from dealershoe.errors import UserError
from dealershoe.link import keystore
from dealershoe.port.port import Port

MEETS_MS = 5_000.0  # a greeting with keys that comes to nothing is begun anew after 740 ms
IDENT = schema.Ident(b"doctor\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))


class Keys(NamedTuple):
    """The keys that a table here would use, by device, of the file `path`."""

    path: Path
    known: Mapping[bytes, bytes]


def keys(named: Path | None) -> Generator[Finding, None, Keys]:
    """Whether the file of keys that a table here would use can be used, with those there as what `yield from` gives."""
    path = named or keystore.default_path()
    try:
        return Keys(path, keystore.enrolled(named))
    except UserError as error:
        do = f"{error.do[:1].upper()}{error.do[1:]}."
        yield Finding("keys", BAD, f"{error.seen[:1].upper()}{error.seen[1:]}: {error.cause}.", do)
    return Keys(path, {})


class Ear(Peer):
    """Hears also what it cannot check."""

    sealed = False

    def _sealed(self) -> None:
        self.sealed = True


class Sealed(Peer):
    """Speaks sealed, by the host's own link, and acknowledges nothing. `ident`: of who has proven its key."""

    def __init__(self, port: Port, known: Mapping[bytes, bytes]) -> None:
        super().__init__(port)
        self._link = Link(schema.HOST, IDENT, os.urandom, keys=dict(known))
        self.decoder = self._link.decoder
        self.ident: schema.Ident | None = None
        self._hello: schema.Hello | None = None

    def meet(self) -> schema.Hello | None:
        """Come into session with a shoe whose key is known; None when there is none."""
        self._link.start(_ticks())
        self._turn(now() + MEETS_MS, lambda: bool(self._link.up))
        self.judge_from_here()  # also the rest of a frame whose beginning another ear has heard
        return self._hello if self._link.up else None

    def say(self, message: Any, flags: int = 0) -> None:
        """Send a message."""
        self._link.stamp = stamp()
        self._link.send(message, _ticks())
        self._flush()

    def _turn(self, until: float, done: Callable[[], bool]) -> None:
        while not done():
            left = min(until - now(), self._link.wait(_ticks()))
            if now() >= until:
                return
            self._port.wait(max(0.0, left) / 1_000, None)
            self._link.stamp = stamp()
            for told in self._link.receive(self._port.read(), _ticks()):
                self._heed(told)
            self._flush()

    def _flush(self) -> None:
        for told in self._link.poll(_ticks()):
            self._heed(told)
        self._port.write(self._link.take())

    def _heed(self, told: Any) -> None:
        match told:
            case notice.Greeting(hello=hello, ident=ident):
                self._hello, self.ident = hello, ident
                self._link.resume(frame.extend(hello.oldest, hello.next) - 1, _ticks())  # all that it holds it keeps
            case notice.Recorded(number=number, kind=kind, message=message, body=body):
                self.heard.append(Heard(now(), kind, schema.FLAG_AUTH, number & 0xFFFF, 0, body, message))
            case notice.Delivered(kind=kind, message=message):
                self.heard.append(Heard(now(), kind, schema.FLAG_AUTH, 0, 0, b"", message))


NO_KEYS = Keys(Path(), {})


def not_here(keys: Keys) -> Finding:
    """The shoe is enrolled, and its key is none of those."""
    many = len(keys.known)
    kept = f"is none of the {many} in {keys.path}" if many else f"is not here: there is no key in {keys.path}"
    return Finding(
        "link",
        BAD,
        f"The shoe is enrolled and its key {kept}. A table here would refuse it; its firmware, the line and its parts "
        "were not looked at.",
        "Name the file that has its key with --keys, or enroll it here: dealershoe enroll.",
    )


def not_enrolled(keys: Keys) -> Finding:
    """The shoe has no key, and this host takes none without."""
    return Finding(
        "keys",
        BAD,
        f"The shoe is not enrolled, and {keys.path} has {counted(len(keys.known), 'key')} of others: "
        "a table here would refuse it.",
        "Enroll it (dealershoe enroll), or run the table with --any-shoe.",
    )


def _ticks() -> int:
    return int(now()) & TICKS
