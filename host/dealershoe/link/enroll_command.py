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
    keystore.load(path)  # a file that cannot be used is said before the shoe is changed
    keystore.FILE.prepare(path)
    address = find(port)
    try:
        device, key = _enroll(address.path)
    except PortLost as lost:
        raise UserError(*str(lost).split("; ", 2)) from lost
    keystore.pin(path, device, key)
    click.echo(f"enrolled {device.hex()}; its key is in {path}")


def _now() -> int:
    return int(time.monotonic() * 1000) & TICKS


def _enroll(path: str) -> tuple[bytes, bytes]:
    """Device id and key of the shoe on `path`, which has proven that it keeps the key."""
    ident = schema.Ident(b"enroll\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))
    port = Port(path)
    try:
        enrolment = Enrolment(ident, os.urandom, os.urandom(KEY), _now())
        until = time.monotonic() + PATIENCE_S
        while not enrolment.done:
            port.wait(TURN_S, None)
            enrolment.received(port.read(), _now())
            port.write(enrolment.turn(_now()))
            if time.monotonic() > until:
                raise _silent(path, enrolment.written)
    finally:
        port.close()
    return enrolment.device, enrolment.key


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
