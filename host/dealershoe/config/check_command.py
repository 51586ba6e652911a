"""`dealershoe check CONFIG`: would this room open? And what a Linux host needs to open it by itself."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from dealershoe.bridge.start import Rulebooks
from dealershoe.config.read import Config, read
from dealershoe.console.people import load
from dealershoe.console.serve import check_certificate
from dealershoe.errors import UserError
from dealershoe.link import keystore
from dealershoe.port.identity import Ports, find
from dealershoe.record.keys import existing_key
from dealershoe.record.opening import is_new

UNITS = Path(__file__).parent / "units"
PROGRAM = "/usr/bin/dealershoe"  # in the unit as it is shipped


@click.command("check", short_help="would the room of a configuration file open?")
@click.argument("config", required=False, type=click.Path(dir_okay=False, path_type=Path), metavar="[CONFIG]")
@click.option("--systemd", is_flag=True, help="Print a unit that runs a room, with the path of this program.")
@click.option("--udev", is_flag=True, help="Print udev rules: shoes keep their names, and may be opened.")
def command(config: Path | None, systemd: bool, udev: bool) -> None:
    """Read CONFIG as `run --config` would, look at everything that it names, and say what was found.

    Nothing is opened or changed. Exit status 2, in one sentence, for the first thing that would keep it from running.
    """
    if systemd:
        program = shutil.which(sys.argv[0]) or shutil.which("dealershoe") or PROGRAM
        text = (UNITS / "dealershoe.service").read_text(encoding="utf-8")
        click.echo(text.replace(PROGRAM, str(Path(program).absolute())), nl=False)
    if udev:
        click.echo((UNITS / "70-dealershoe.rules").read_text(encoding="utf-8"), nl=False)
    if config is not None:
        for line in found(read(config)):
            click.echo(line)
    elif not systemd and not udev:
        raise UserError("no file was named", "", "run `dealershoe check CONFIG`")


def found(config: Config, ports: Ports | None = None) -> list[str]:
    """What there is of a room, a line each. Raises UserError for what would keep it from running."""
    lines = []
    if config.shelf.exists() and not config.shelf.is_dir():
        raise UserError(f"the shelf {config.shelf} is no folder", "another file was named", "name a folder")
    books = Rulebooks(config.shelf)
    for place in config.tables:
        try:
            rules = books.stack(place.rules).name
            journal = _journal(place.journal)
            if place.signs is not None and os.path.lexists(place.signs):  # else it is made when the table is opened
                existing_key(place.signs)
        except UserError as error:
            raise UserError(f"table {place.name}: {error.seen}", error.cause, error.do) from error
        try:
            address = find(place.port, ports)
        except UserError as error:
            shoe = f"its shoe is waited for: {error.seen}"
        else:
            there = address.usb is not None or os.path.exists(address.path)
            shoe = f"its shoe is at {address.path}" if there else f"its shoe is waited for: there is no {address.path}"
        kind = "open table, " if place.open_table else ""
        lines.append(f"table {place.name}: {kind}{rules}, {journal}; {shoe}")
    if config.keys is None:
        lines.append("keys: any shoe is taken")
    else:
        lines.append(f"keys: {len(keystore.enrolled(config.keys))} shoes are enrolled in {config.keys}")
    if config.console is None:
        lines.append("console: none")
        return lines
    people = load(config.users)
    if not people:
        raise UserError(
            f"nobody may use the console: {config.users} names no one", "", "make one with `dealershoe users add`"
        )
    if config.console.certificate is not None:
        check_certificate(config.console.certificate, config.console.certificate_key)
    known = {place.name for place in config.tables}
    for person in people.values():
        strange = [table for table in person.tables if table not in known]
        if strange:
            lines.append(f"users: {person.name} is for table {', '.join(strange)}, which is not in this room")
    scheme = "https" if config.console.certificate else "http"
    lines.append(f"console: {scheme} at {config.console.listen}, for {len(people)} people")
    return lines


def _journal(path: Path) -> str:
    if not path.parent.is_dir():
        raise UserError(f"the folder of the journal {path} is missing", "", "make it")
    if not path.exists():
        return f"a new journal {path.name}"
    return f"an empty journal {path.name}" if is_new(path, pages=False) else f"journal {path.name}"
