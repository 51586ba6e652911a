"""`dealershoe rules list`, `rules show` and `rules vocabulary`: which packs there are, and what they say."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dealershoe.rules.pack import Pack, read_pack
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.shelf_names import Version
from dealershoe.rules.show import as_json as pack_json
from dealershoe.rules.show import pages
from dealershoe.rules.show_vocabulary import put_into, tables
from dealershoe.rules.stack import SHIPPED, load_pack


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a version of a pack.")
@shelf_option
def list_command(as_json: bool, shelf: Shelf) -> None:
    """List the packs that come with the program and those on the shelf, every version of each."""
    state = shelf.state()
    active = {(pin.pack, pin.digest) for layer in state.active for pin in layer}
    found: list[tuple[Pack, str]] = [(read_pack(path), "program") for path in SHIPPED.glob("*.toml")]
    for name, version in state.installed:
        pack = shelf.find(name, version)
        if pack is not None:
            found.append((pack, "shelf"))
    found.sort(key=lambda one: (one[0].id, Version.parse(one[0].version), one[1]))
    for pack, where in found:
        in_force = (pack.id, pack.digest) in active
        if as_json:
            click.echo(json.dumps(_entry(pack, where, in_force)))
        else:
            name = f"{pack.id}@{pack.version}"
            since = f", from {pack.effective}" if pack.effective else ""
            click.echo(f"{name:24} {where:8} {'in force' if in_force else '':9} {pack.title}{since}")


def _entry(pack: Pack, where: str, in_force: bool) -> dict[str, object]:
    return {
        "id": pack.id, "version": pack.version, "title": pack.title, "effective": pack.effective or None,
        "where": where, "in_force": in_force, "rules": len(pack.rules), "scenarios": len(pack.scenarios),
        "digest": pack.digest,
    }  # fmt: skip


@click.command("show")
@click.argument("pack", metavar="PACK|FILE")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@shelf_option
def show_command(pack: str, as_json: bool, shelf: Shelf) -> None:
    """Print a pack as a person reads it: `id`, `id@version` or a .toml file."""
    found = load_pack(pack, library=shelf)
    click.echo(json.dumps(pack_json(found)) if as_json else pages(found), nl=as_json)


@click.command("vocabulary")
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="A Markdown file with marked places for the tables, which are brought up to date.")  # fmt: skip
def vocabulary_command(into: Path | None) -> None:
    """Print every finding, fact, step and ruling that a rule pack may name, as tables in Markdown."""
    if into is not None:
        into.write_text(put_into(into.read_text(encoding="utf-8")), encoding="utf-8")
        return
    for name, table in tables().items():
        click.echo(f"## {name}\n\n{table}")
