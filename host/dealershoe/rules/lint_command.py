"""`dealershoe rules lint`: is a pack sound?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from dealershoe.errors import UserError
from dealershoe.rules.lint import Remark, lint
from dealershoe.rules.pack_fields import shown
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.stack import SHIPPED, load_pack, load_stack


def pack_file(name: str, shelf: Shelf) -> Path:
    """The file of a pack that is named by its path, by `id` or by `id@version`; it need not be sound."""
    if name.endswith(".toml"):
        return Path(name)
    try:
        return Path(load_pack(name, library=shelf).path)
    except UserError:
        shipped = SHIPPED / f"{name}.toml"
        if shipped.is_file():
            return shipped
        raise


@click.command("lint")
@click.argument("packs", nargs=-1, required=True, metavar="PACK|FILE...")
@click.option("--rules", metavar="STACK", help="Say which findings no rule of this stack answers.")
@click.option("--strict", is_flag=True, help="Warnings count as problems.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a remark.")
@shelf_option
def lint_command(packs: tuple[str, ...], rules: str | None, strict: bool, as_json: bool, shelf: Shelf) -> None:
    """Say what is wrong or doubtful in rule packs. Exit status 0: no problem; 1: a problem; 2: a file is no pack."""
    stack = load_stack(rules, shelf) if rules else None
    status = 0
    for name in packs:
        try:
            path = pack_file(name, shelf)
            remarks = lint(path, stack, shelf)
        except UserError as error:
            click.echo(f"dealershoe: {error}", err=True)
            status = 2
            continue
        bad = {"problem", "warning"} if strict else {"problem"}
        if any(remark.level in bad for remark in remarks):
            status = max(status, 1)
        _tell(shown(path.name), remarks, as_json)
    sys.exit(status)


def _tell(file: str, remarks: tuple[Remark, ...], as_json: bool) -> None:
    for remark in remarks:
        if as_json:
            click.echo(json.dumps({"file": file, **remark._asdict()}))
        else:
            click.echo(f"{file}:{remark.line}: {remark.level}: {remark.text}")
    if not as_json:
        counts = [sum(remark.level == level for remark in remarks) for level in ("problem", "warning")]
        click.echo(f"{file}: {counts[0]} problems, {counts[1]} warnings")
