"""`dealershoe users`: who may use the console, and their tokens. A token is shown once, when it is made."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dealershoe.console import people
from dealershoe.console.access import ROLES, Person, digest_of, new_token
from dealershoe.errors import UserError

users_option = click.option(
    "--users", "path", type=click.Path(dir_okay=False, path_type=Path), help="The file; else that of this user."
)


@click.group("users", short_help="who may use the console: people, roles, tokens")
def command() -> None:
    """People of the console. The host keeps a hash of each token; the token itself is shown once."""


@command.command("add")
@click.argument("name")
@click.option("--role", required=True, type=click.Choice(list(ROLES)))
@click.option("--table", "tables", multiple=True, metavar="NAME", help="Only at this table; may be repeated.")
@users_option
def add(name: str, role: str, tables: tuple[str, ...], path: Path | None) -> None:
    """Make a person, and print the token."""
    path = path or people.default_path()
    token = new_token(os.urandom)
    with people.FILE.changing(path):
        known = people.load(path)
        if name in known:
            raise UserError(f"there is a {name} already", "", f"run `users renew {name}` for a new token")
        people.save(path, known | {name: people.person(name, role, digest_of(token), tables)})
    click.echo(token)


@command.command("renew")
@click.argument("name")
@users_option
def renew(name: str, path: Path | None) -> None:
    """Give a person a new token, and print it; the old one, and whoever is logged in with it, is out."""
    path = path or people.default_path()
    token = new_token(os.urandom)
    with people.FILE.changing(path):
        known = people.load(path)
        one = _known(known, name, path)
        people.save(path, known | {name: people.person(name, one.role, digest_of(token), one.tables)})
    click.echo(token)


@command.command("remove")
@click.argument("name")
@users_option
def remove(name: str, path: Path | None) -> None:
    """Take a person away."""
    path = path or people.default_path()
    with people.FILE.changing(path):
        known = people.load(path)
        _known(known, name, path)
        people.save(path, {other: one for other, one in known.items() if other != name})


@command.command("list")
@users_option
def show(path: Path | None) -> None:
    """Who there is."""
    for one in people.load(path or people.default_path()).values():
        click.echo(f"{one.name:<20} {one.role:<8} {', '.join(one.tables) or 'all tables'}")


def _known(known: dict[str, Person], name: str, path: Path) -> Person:
    if name not in known:
        raise UserError(f"there is no {name} in {path}", "", "run `users list` to see who there is")
    return known[name]
