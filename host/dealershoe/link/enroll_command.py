"""`dealershoe enroll`: makes a key for a shoe, writes it into the shoe and keeps it here: each knows the other then."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click
from shoelink import schema
from shoelink.seal import KEY
from shoelink.timing import TICKS

from dealershoe import __version__
from dealershoe.errors import UserError
from dealershoe.link import keystore
from dealershoe.link.enrolment import Enrolment
from dealershoe.port.identity import PortLost, find
from dealershoe.port.port import Port

PATIENCE_S = 30.0
TURN_S = 0.05


@click.command("enroll", short_help="give a shoe a key of its own, and keep it here")
@click.option("--port", required=True, metavar="auto|PATH", help="The shoe's serial port.")
@click.option(
    "--keys",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of keys. Default: dealershoe/keys.json in your configuration folder.",
)
def command(port: str, keys: Path | None) -> None:
    """Enroll the shoe on a port.

    \b
    1. Hold the shoe's floor key down and switch it on; let go when all its lamps are magenta.
    2. Run this, at a computer and on a line that you trust: the key crosses the line once, readable.
    3. From then on the shoe speaks only to hosts that have the key, and such a host only to enrolled shoes.
    """
    path = keys or keystore.default_path()
    key = os.urandom(KEY)
    keystore.pend(path, bytes(keystore.DEVICE), key).drop()  # what cannot be kept is said before a shoe is looked for
    address = find(port)
    try:
        device = _enroll(address.path, key, path)
    except PortLost as lost:
        raise _of(lost) from lost
    click.echo(f"enrolled {device.hex()}; its key is in {path}")


def _now() -> int:
    return int(time.monotonic() * 1000) & TICKS


def _enroll(port_path: str, key: bytes, path: Path) -> bytes:
    """Device id of the shoe on `port_path`, which has proven that it keeps the key, as `path` does."""
    ident = schema.Ident(b"enroll\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))
    port = Port(port_path)
    enrolment = Enrolment(ident, os.urandom, key, _now())
    pending: keystore.Pending | None = None
    try:
        until = time.monotonic() + PATIENCE_S
        while not enrolment.done:
            port.wait(TURN_S, None)
            enrolment.received(port.read(), _now())
            if enrolment.device != enrolment.kept:
                if pending is not None:
                    pending.drop()
                pending = keystore.pend(path, enrolment.device, key)
                enrolment.kept = enrolment.device
            port.write(enrolment.turn(_now()))
            if time.monotonic() > until:
                raise _silent(port_path, enrolment.written)
        assert pending is not None  # the shoe was given the key after that
        pending.settle()
    except BaseException as error:
        if pending is None:
            raise
        if not enrolment.given:
            pending.drop()
            raise
        told = _left(enrolment, pending, error)
        if isinstance(error, UserError | PortLost):
            raise told from error
        click.echo(f"dealershoe: {told}", err=True)  # it was ended, or is a fault of this program
        raise
    finally:
        port.close()
    return enrolment.device


def _of(error: PortLost) -> UserError:
    return UserError(*str(error).split("; ", 2))


def _left(enrolment: Enrolment, pending: keystore.Pending, error: BaseException) -> UserError:
    """What is said when the shoe has the key, or may have it, and `path` does not."""
    why = _of(error) if isinstance(error, PortLost) else error
    cause = why.seen if isinstance(why, UserError) else "the enrolment was ended"
    return UserError(
        f"the shoe {enrolment.device.hex()} {'has' if enrolment.done else 'may have'} a key that is not in "
        f"{pending.path}",
        cause,
        f"that key is in {pending.file}, with all others: name that file with --keys, or switch the shoe on with its "
        "floor key held down and enroll again",
    )


def _silent(path: str, written: bool) -> UserError:
    if written:
        return UserError(
            "the shoe has taken a key and has not come back with it",
            "the line broke, or it has another key",
            "switch it on once more with the floor key held down, and enroll again",
        )
    return UserError(
        f"no shoe in its enrolment state answers on {path}",
        "it has no power, or it was not switched on with its floor key held down",
        "hold the floor key, switch it on, let go when all lamps are magenta, and enroll again",
    )
