"""`dealershoe doctor`: what is plugged in, what works, what does not, what to do, in sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
from shoelink import schema

from dealershoe.doctor import machine, sealed, usb
from dealershoe.doctor.finding import BAD, Finding
from dealershoe.doctor.shoe import shoe
from dealershoe.port.identity import VENDORS, Ports
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option

MARKS = {"good": "  ", "bad": "✗ ", "note": "· "}


@click.command("doctor", short_help="what is plugged in, what works, what does not, what to do")
@click.option("--port", default="", metavar="usb:VID:PID[:SERIAL]|PATH", help="The shoe, if not the one plugged in.")
@click.option("--journal", default="dealershoe.journal", show_default=True, type=click.Path(path_type=Path))
@click.option(
    "--test-card", "draws", flag_value=schema.TEST_CARD, type=int, help="Then draw the test card: is it read?"
)
@click.option("--calibrate", "draws", flag_value=schema.TEST_CALIBRATE, type=int, help="And set the double-feed light.")
@click.option("--keys", type=click.Path(dir_okay=False, path_type=Path), help="The file of keys that `enroll` writes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding.")
@shelf_option
def command(port: str, journal: Path, draws: int | None, keys: Path | None, as_json: bool, shelf: Shelf) -> None:
    """Look at everything between this program and a shoe, and say in sentences what to do. Nothing is changed but by
    --calibrate, and nothing is taken from the shoe.

    Exit status 0: a table can be run; 1: something must be put right first.
    """
    bad = 0
    ask = partial(click.echo, err=as_json)
    for finding in examine(port, journal, shelf.folder, draws=draws or 0, keys=keys, ask=ask):
        bad += finding.verdict == BAD
        if as_json:
            click.echo(json.dumps(asdict(finding), ensure_ascii=False))
        else:
            click.echo(f"{MARKS[finding.verdict]}{finding.topic:<12} {finding.seen}")
            if finding.do:
                click.echo(f"  {'':<12} → {finding.do}")
    sys.exit(1 if bad else 0)


def examine(
    port: str,
    journal: Path,
    shelf: Path,
    ports: Ports | None = None,
    draws: int = 0,
    keys: Path | None = None,
    ask: Callable[[str], None] = click.echo,
) -> Iterator[Finding]:
    """Everything there is to find, in the order in which a person would look.

    `port` "": the one candidate there is. `keys`: the file of them, if it is not this user's own. `ask`: says to a
    person what to do at the shoe.
    """
    ports = ports or Ports()
    yield from machine.programs()
    yield from machine.packs(shelf)
    yield from machine.journal(journal)
    kept = yield from sealed.keys(keys)
    yield from usb.ports(ports, port)
    candidates = [listed for listed in ports.listed() if listed.usb.vid in VENDORS]
    if port:
        yield from shoe(port, ports, draws, kept, ask)
    elif len(candidates) == 1:
        yield from shoe(candidates[0].path, ports, draws, kept, ask)
