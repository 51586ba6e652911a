"""`dealershoe journal verify`: is the file what the bridge wrote? Offline, with the public key alone."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import click

from dealershoe.errors import UserError
from dealershoe.record.asking import FILE, journal_argument, json_option, progress
from dealershoe.record.keys import public_key
from dealershoe.record.read import last_seq, opened
from dealershoe.record.verify import Check, Fault
from dealershoe.rules.signing import key_id

SHOWN = 100  # faults that are printed; the count is of all
_SEEN = re.compile(r"([0-9]+):([0-9a-f]{64})")


@click.command("verify", short_help="hold every record against the chain and the key")
@journal_argument
@click.option(
    "--key",
    "keys",
    type=FILE,
    multiple=True,
    metavar="PUB",
    help="The bridge's public key, of `journal key`.",
)
@click.option(
    "--seen", multiple=True, metavar="RECORD:CHAIN", help="A checkpoint that was noted elsewhere; it must be in FILE."
)
@json_option
def verify_command(file: Path, keys: tuple[Path, ...], seen: tuple[str, ...], as_json: bool) -> None:
    """Name every record of FILE that was changed, taken out, put in or moved. Exit status 0: none; 1: some.

    Without --key only the chain is checked: whoever can change the file can make that anew.
    """
    public = {key_id(key): key for key in map(public_key, keys)}
    noted = dict(_noted(one) for one in seen)
    with opened(file) as db, progress("verifying", last_seq(db)) as told:
        check = Check(db, public or None, seen=noted, progress=told)
        count = 0
        for fault in check.run():
            count += 1
            if count <= SHOWN:
                click.echo(json.dumps(_json(fault)) if as_json else f"{file}: {fault}")
    if as_json:
        click.echo(json.dumps(_summary(check, count, bool(public))))
    else:
        _tell(file, check, count, bool(public))
    sys.exit(1 if count else 0)


def _noted(text: str) -> tuple[int, bytes]:
    found = _SEEN.fullmatch(text)
    if found is None:
        raise UserError(f"`{text}` is no checkpoint", "one is written as 1234:9f86…, 64 digits", "copy it whole")
    return int(found[1]), bytes.fromhex(found[2])


def _json(fault: Fault) -> dict[str, Any]:
    return {"record": fault.seq, "fault": str(fault)}


def _summary(check: Check, count: int, signed: bool) -> dict[str, Any]:
    return {
        "faults": count,
        "first": check.first,
        "last": check.last,
        "records": check.records,
        "hands": check.hands,
        "checkpoints": check.checkpoints,
        "signed_up_to": check.signed_up_to if signed else None,
        "pruned_up_to": check.pruned_up_to,
        "upgraded_up_to": check.upgraded_up_to,
        "clock_back": len(check.clock_back),
    }


def _tell(file: Path, check: Check, count: int, signed: bool) -> None:
    if count > SHOWN:
        click.echo(f"{file}: and {count - SHOWN} more")
    if check.pruned_up_to:
        click.echo(f"{file}: records up to {check.pruned_up_to} were pruned")
    if check.upgraded_up_to:
        click.echo(f"{file}: records up to {check.upgraded_up_to} come from an earlier version, which signed nothing")
    for fact, back_ns in check.clock_back[:3]:
        click.echo(f"{file}: the clock went back {back_ns / 1e9:.1f} s before fact {fact}")
    said = f"{check.records:,} records, {check.hands:,} hands, {check.checkpoints:,} checkpoints"
    if count:
        click.echo(f"{file}: {said}: {count} faults; it is not what was written")
    elif signed:
        behind = check.last - check.signed_up_to
        more = f"; the last {behind} are covered by the chain alone" if behind else ""
        click.echo(f"{file}: {said}: all as written, signed up to record {check.signed_up_to}{more}")
    else:
        click.echo(f"{file}: {said}: the chain holds; no key was given, so nobody's word stands for it")
