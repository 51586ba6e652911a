"""`dealershoe journal backup`, `prune`, `upgrade`, `key`: keeping the record, for whoever looks after the machine."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import click

from dealershoe.errors import UserError
from dealershoe.record.asking import FILE, NS, journal_argument, progress, when
from dealershoe.record.journal import Journal
from dealershoe.record.keys import VARIABLE, bridge_key, default_key, existing_key
from dealershoe.record.opening import damaged, is_new
from dealershoe.record.read import keep_from, opened
from dealershoe.record.upgrade import user
from dealershoe.rules.shelf_disk import Disk, create_file
from dealershoe.rules.signing import key_id, public_pem, raw_public

PAGES = 1_000  # copied at a time: four megabytes, then the bridge may write
DAY_NS = 24 * 3600 * NS


def key_option(command: click.decorators.FC) -> click.decorators.FC:
    """`--key`: the bridge's private key."""
    return click.option(
        "--key", "key", type=FILE, envvar=VARIABLE, show_envvar=True, default=default_key,
        help="The bridge's private key; without it the one in the user's data folder.",
    )(command)  # fmt: skip


@click.command("backup", short_help="a whole copy, while a bridge writes")
@journal_argument
@click.argument("copy", type=FILE, metavar="COPY")
def backup_command(file: Path, copy: Path) -> None:
    """Copy FILE to COPY as it is at one moment. A running bridge is not held up; COPY is there whole or not at all."""
    if copy.exists():
        raise UserError(f"{copy} is there already", "it is never written over", "choose another name")
    part = copy.with_name(copy.name + ".part")
    with opened(file) as db, progress("copying", 0) as told:
        try:
            part.unlink(missing_ok=True)
            with contextlib.closing(sqlite3.connect(part)) as target:
                db.backup(target, pages=PAGES, progress=lambda _, left, total: told(total - left))
                target.execute("PRAGMA journal_mode = DELETE")  # one file, and nothing beside it
            with part.open("rb") as written:
                os.fsync(written.fileno())
            is_new(part)  # sound, or a sentence
            part.rename(copy)
        except (OSError, sqlite3.Error) as error:
            part.unlink(missing_ok=True)
            raise UserError(f"{copy} could not be written ({error})", "the disk is full or failing", "") from error
    click.echo(f"{copy}: a copy of {file}")


@click.command("prune", short_help="take old hands out, so that the rest still verifies")
@journal_argument
@click.option("--keep-days", type=click.IntRange(0), required=True, help="Hands younger than that stay.")
@click.option("--why", required=True, help="Why; it stands in the record.")
@key_option
def prune_command(file: Path, keep_days: int, why: str, key: Path) -> None:
    """Take out what is older, hand by hand, and write a signed record of it. No bridge may be writing FILE.

    The last hand stays: the table resumes from there.
    """
    before_ns = time.time_ns() - keep_days * DAY_NS
    with opened(file) as db:
        fact = keep_from(db, before_ns)
    if fact is None:
        click.echo(f"{file}: nothing to take out: no hand is older than {when(before_ns)} that may go")
        return
    try:
        with Journal(file, existing_key(key)) as journal:
            taken = journal.prune(fact, user(), why)
    except sqlite3.Error as error:
        raise damaged(file, str(error)) from error
    click.echo(f"{file}: {taken:,} records before fact {fact} taken out, and a signed record of it written")


@click.command("upgrade", short_help="bring a journal of an earlier release up to date")
@journal_argument
@key_option
def upgrade_command(file: Path, key: Path) -> None:
    """Bring FILE up to this version, all of it or nothing; a running bridge does the same when it opens it."""
    if not file.exists():
        raise UserError(f"there is no {file}", "", "name a journal")
    with progress("upgrading", 0) as told, Journal(file, bridge_key(key), progress=told) as journal:
        click.echo(f"{file}: {journal.records:,} records, of this version")


@click.command("key", short_help="the public key that verifies this bridge's journals")
@click.option("--out", type=FILE, metavar="PUB", help="Write it there, for `journal verify --key`.")
@key_option
def key_command(out: Path | None, key: Path) -> None:
    """Print the bridge's public key, or write it to a file; the private one is made if there is none yet."""
    private = bridge_key(key)
    pem = public_pem(private)
    if out is None:
        click.echo(pem.decode(), nl=False)
        return
    create_file(Disk(), out, pem, 0o644)
    click.echo(f"{out}: key {key_id(raw_public(private.public_key()))}; give it to whoever is to verify")
