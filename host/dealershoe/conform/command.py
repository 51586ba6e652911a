"""`dealershoe conform`: does the device or emulator at a port speak the protocol? One line a check."""

from __future__ import annotations

import json
import sys

import click

from dealershoe.conform.run import FAILS, HOLDS, run

MARKS = {"holds": "holds   ", "fails": "FAILS   ", "untested": "untested"}


@click.command("conform", short_help="does a device or emulator speak the protocol?")
@click.option(
    "--port", required=True, metavar="auto|usb:VID:PID[:SERIAL]|PATH", help="The device; a path is best one of by-id."
)
@click.option("--only", "names", multiple=True, metavar="CHECK", help="This check; may be given more than once.")
@click.option("--take", is_flag=True, help="Take events that the device holds: they are lost to its bridge.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a check.")
def command(port: str, names: tuple[str, ...], take: bool, as_json: bool) -> None:
    """Run the protocol's conformance checks, for some 20 seconds, and print what holds.

    The device needs no card and no person: the checks get it to report events by sending it a kind that it cannot
    know. Exit status 0: everything holds; 1: something does not; 2: nothing could be tested.
    """
    failed = held = 0
    for verdict in run(port, names, take=take):
        failed += verdict.verdict == FAILS
        held += verdict.verdict == HOLDS
        check = verdict.check
        if as_json:
            click.echo(
                json.dumps(
                    {
                        "check": check.name,
                        "verdict": verdict.verdict,
                        "holds": check.holds,
                        "seen": verdict.seen or None,
                        "section": check.section,
                        "seconds": round(verdict.seconds, 3),
                    },
                    ensure_ascii=False,
                )
            )
        else:
            seen = f"; seen: {verdict.seen} (protocol/README.md, {check.section!r})" if verdict.seen else ""
            click.echo(f"{MARKS[verdict.verdict]}  {check.name:<24}  {check.holds}{seen}")
    if not as_json:
        click.echo(f"{held} hold, {failed} fail")
    sys.exit(1 if failed else 0)
