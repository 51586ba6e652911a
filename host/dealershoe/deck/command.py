"""`dealershoe deck`: the strips that make an ordinary deck a coded one."""

from __future__ import annotations

import os
from contextlib import suppress
from errno import EISDIR
from pathlib import Path

import click

from dealershoe.deck.check_command import command as check_command
from dealershoe.deck.drawing import as_pdf, as_svg
from dealershoe.deck.sheet import DECKS, PAPERS, sheets
from dealershoe.errors import UserError


@click.group("deck", short_help="print the code strips of a deck, and check a deck")
def command() -> None:
    """Coded decks: strips to print and stick on the cards' short edges, and what a deck that has them is worth."""


command.add_command(check_command)


@command.command("print")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--deck", default=0, show_default=True, type=click.IntRange(0, DECKS - 1), help="The deck's number.")
@click.option("--paper", default="a4", show_default=True, type=click.Choice(sorted(PAPERS)))
@click.option("--jokers/--no-jokers", default=True, show_default=True, help="Two jokers as well.")
def print_strips(out: Path, deck: int, paper: str, jokers: bool) -> None:
    """Write the strips of 52 cards, jokers, a test card and a set-up card to OUT: one .pdf, or an .svg for each sheet.

    Print on label paper at 100 %: the ruler on each sheet must be 100 mm. Toner or pigment ink: dye ink is invisible
    to the shoe's infrared. Cut along the corner marks; the upper edge goes on the card's short edge.
    """
    pages = sheets(deck, paper, jokers)
    if out.suffix.lower() == ".pdf":
        written = {out: as_pdf(pages)}
    elif out.suffix.lower() == ".svg":
        written = {out.with_stem(f"{out.stem}-{number}"): as_svg(page).encode() for number, page in enumerate(pages, 1)}
    else:
        seen = f"`{out}` is no name of a .pdf or an .svg" if out.name else "no file was named"
        raise UserError(seen, "", "name the file deck.pdf or deck.svg")
    _write(written)
    for path in written:
        click.echo(f"{path}")


def _write(files: dict[Path, bytes]) -> None:
    """All of the files, or none: a deck of which some sheets are older ones looks whole."""
    parts = {path: path.with_name(path.name + ".part") for path in files}
    path = next(iter(files))
    try:
        for path, data in files.items():
            if path.is_dir():
                raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
            parts[path].write_bytes(data)
        for path, part in parts.items():
            os.replace(part, path)
    except OSError as error:
        for part in parts.values():
            with suppress(OSError):
                part.unlink()
        raise UserError(f"{path} cannot be written", str(error.strerror), "choose another place") from error
