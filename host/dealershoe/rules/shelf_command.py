"""`dealershoe rules keygen … history`: sign packs, say whose signatures count, put packs in force and take them back.

For rules maintainers, who sign, and for the floor, who decides what a table plays by.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dealershoe.errors import UserError
from dealershoe.rules import signing
from dealershoe.rules.pack import read_pack
from dealershoe.rules.shelf import VARIABLE, Author, Shelf, default_shelf, now, signature_path
from dealershoe.rules.shelf_disk import Disk, create_file, private, read_file, replace_file
from dealershoe.rules.shelf_history import Change, trusting
from dealershoe.rules.shelf_pins import SHOWN, Pin, described, names
from dealershoe.rules.shelf_trust import signers
from dealershoe.trial.scenarios import refuse_failing

try:
    import pwd
except ImportError:  # Windows
    pwd = None  # type: ignore[assignment]

BIGGEST_KEY = 16 * 1024  # bytes of a PEM file; a key has a few hundred

FILE = click.Path(dir_okay=False, path_type=Path)


def shelf_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--shelf DIR`: the shelf that a command is about."""
    return click.option(
        "--shelf",
        "shelf",
        metavar="DIR",
        envvar=VARIABLE,
        show_envvar=True,
        type=click.Path(file_okay=False, path_type=Path),
        default=default_shelf,
        callback=lambda _, __, folder: Shelf(folder),
        help="The house's shelf; without it the one in the user's data folder.",
    )(command)


def author() -> Author:
    """Who runs this command, by the system's account, and when."""
    name = pwd.getpwuid(os.getuid()).pw_name if pwd else getpass.getuser()
    through = os.environ.get("SUDO_USER", "")
    return Author(f"{through} as {name}" if through else name, now())


@click.command("keygen", short_help="make a key to sign packs with")
@click.argument("key", type=FILE, metavar="KEY")
def keygen_command(key: Path) -> None:
    """Make KEY, which signs and stays secret, and KEY.pub, which the house trusts. Nothing is ever written over."""
    public = key.with_name(key.name + ".pub")
    if public.exists() or public.is_symlink():
        raise UserError(f"{public} is there already", "it is never written over", "choose another name")
    made = signing.new_key()
    create_file(Disk(), key, signing.private_pem(made), 0o600)
    create_file(Disk(), public, signing.public_pem(made), 0o644)
    click.echo(f"{key}: the private key; whoever has this file can sign rules for houses that trust it")
    click.echo(f"{public}: key {signing.key_id(signing.raw_public(made.public_key()))}; give this one to the house")


@click.command("sign", short_help="sign a pack")
@click.argument("pack", type=FILE, metavar="PACK")
@click.option("--key", required=True, type=FILE, help="The private key, from `rules keygen`.")
def sign_command(pack: Path, key: Path) -> None:
    """Sign PACK, a .toml file, into PACK.sig beside it. A second key adds its signature to the first."""
    raw = read_file(key, BIGGEST_KEY)
    private(key)
    read = read_pack(pack)
    made = signing.sign(signing.read_private(raw, key.name), read.id, read.version, read.digest)
    path = signature_path(pack)
    others: tuple[signing.Signature, ...] = ()
    if path.exists():
        before = signing.read_signatures(read_file(path, signing.BIGGEST), path.name)
        others = tuple(one for one in before if one.digest == made.digest and one.key != made.key)
    replace_file(Disk(), path, signing.write_signatures((*others, made)))
    click.echo(f"{path}: {made} signed by key {made.key}, SHA-256 {made.digest}")


@click.command("verify", short_help="check a pack's signature, or everything on the shelf")
@click.argument("pack", required=False, type=FILE, metavar="[PACK]")
@click.option("--key", type=FILE, help="A public key to check against, instead of those that the house trusts.")
@click.option("--signature", type=FILE, help="The signature file, if it is not PACK.sig.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a pack.")
@shelf_option
def verify_command(pack: Path | None, key: Path | None, signature: Path | None, as_json: bool, shelf: Shelf) -> None:
    """Check PACK's signature. Without PACK: all that is installed, what is in force, and the history of the shelf."""
    if pack is None:
        state = shelf.check()
        for installed in state.installed.values():
            _tell(installed.pin, as_json)
        if not as_json:
            active = names(state.active) or "no stack"
            click.echo(f"{len(state.changes)} changes, none altered; {active} is in force")
        return
    state = trusting(signing.read_public(read_file(key, BIGGEST_KEY), key.name)) if key else shelf.state()
    path = _signatures_of(pack, signature)
    read = read_pack(pack)
    pin = Pin(read.id, read.version, read.digest)
    keys = signers(state, signing.read_signatures(read_file(path, signing.BIGGEST), path.name), pin, state.needed)
    _tell(pin, as_json, keys)


def _signatures_of(pack: Path, named: Path | None) -> Path:
    path = named or signature_path(pack)
    if pack.exists() and not path.exists():
        raise UserError(
            f"{pack.name} is not signed",
            f"nobody has signed it, or {path.name} stayed behind",
            "sign it with `rules sign`, or name the file with --signature",
        )
    return path


def _tell(pin: Pin, as_json: bool, keys: tuple[str, ...] = ()) -> None:
    if as_json:
        click.echo(json.dumps({**pin._asdict(), "keys": list(keys)}))
    else:
        by = f", signed by {' and '.join(keys)}" if keys else ""
        click.echo(f"{pin}: SHA-256 {pin.digest[:SHOWN]}…{by}: good")


@click.command("trust", short_help="trust a key")
@click.argument("key", type=FILE, metavar="KEY.pub")
@click.option("--signatures", type=int, help="From now on a pack needs so many trusted keys' signatures.")
@shelf_option
def trust_command(key: Path, signatures: int | None, shelf: Shelf) -> None:
    """Take packs signed with this key from now on. Compare the key's id with its owner first."""
    public = signing.read_public(read_file(key, BIGGEST_KEY), key.name)
    click.echo(f"key {shelf.trust(public, author())} is trusted on {shelf.folder}")
    if signatures is not None:
        shelf.need(signatures, author())
        click.echo(f"a pack needs {signatures} signature{'s' * (signatures > 1)} from now on")


@click.command("revoke", short_help="never trust a key again")
@click.argument("key", metavar="ID")
@click.option("--reason", required=True, help="Why, for the history.")
@shelf_option
def revoke_command(key: str, reason: str, shelf: Shelf) -> None:
    """Never trust the key with this ID again, whatever it has signed. ID may be cut short."""
    revoked, gone = shelf.revoke(key, reason, author())
    click.echo(f"key {revoked} is revoked")
    for pin in gone:
        click.echo(
            f"{pin} is in force and can no longer be loaded: activate another, or install a higher version", err=True
        )


@click.command("install", short_help="put a signed pack on the shelf")
@click.argument("pack", type=FILE, metavar="PACK")
@click.option("--signature", type=FILE, help="The signature file, if it is not PACK.sig.")
@shelf_option
def install_command(pack: Path, signature: Path | None, shelf: Shelf) -> None:
    """Put PACK on the shelf: signed by a trusted key, sound, its scenarios passed, above every version there is."""
    pin = shelf.install(pack, _signatures_of(pack, signature), author(), refuse_failing)
    click.echo(f"{pin} is installed, SHA-256 {pin.digest[:SHOWN]}…; `rules activate` puts it in force")


@click.command("activate", short_help="put a stack in force")
@click.argument("stack", metavar="STACK")
@shelf_option
def activate_command(stack: str, shelf: Shelf) -> None:
    """Put STACK in force: packs by ID or ID@VERSION, joined by +, highest layer first. A hand ends as it began."""
    layers = shelf.activate(stack, author())
    click.echo(f"{names(layers)} is in force from the next hand on")


@click.command("rollback", short_help="go back to earlier rules, on purpose")
@click.argument("stack", required=False, default="", metavar="[STACK]")
@click.option("--reason", required=True, help="Why, for the history.")
@shelf_option
def rollback_command(stack: str, reason: str, shelf: Shelf) -> None:
    """Put back in force what was before, or STACK, though it is older."""
    layers = shelf.rollback(stack, reason, author())
    click.echo(f"back to {names(layers)} from the next hand on")


@click.command("history", short_help="who changed what on the shelf")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a change.")
@shelf_option
def history_command(as_json: bool, shelf: Shelf) -> None:
    """Every change of the shelf: when, by whom, what, and the digests."""
    for change in shelf.state().changes:
        if as_json:
            click.echo(json.dumps(_as_json(change)))
        else:
            click.echo(f"{change.at} {change.who}: {_words(change)}")


def _as_json(change: Change) -> dict[str, object]:
    data = {name: value for name, value in asdict(change).items() if value}
    if change.pin is not None:
        data["pin"] = change.pin._asdict()
    if change.layers:
        data["layers"] = [[pin._asdict() for pin in layer] for layer in change.layers]
    return data


def _words(change: Change) -> str:
    match change.what:
        case "trust":
            return f"trusts key {change.key}"
        case "revoke":
            return f"revokes key {change.key}: {change.reason}"
        case "need":
            return f"asks for {change.signatures} signatures a pack"
        case "install":
            return f"installs {change.pin} ({change.pin.digest[:SHOWN]}…)" if change.pin else ""
    files = described(change.layers)
    return f"activates {files}" if change.what == "activate" else f"goes back to {files}: {change.reason}"
