"""`dealershoe judge`: rule on deal scripts under a stack of rule packs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from dealershoe.deal.grammar import parse
from dealershoe.errors import UserError
from dealershoe.judge.runner import Report, Ruled, run_script
from dealershoe.rules.ruling import SIGNALS
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.stack import load_stack


@click.command("judge")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--rules", required=True, metavar="STACK", help="Pack ids joined by +, highest layer first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a ruling.")
@shelf_option
def command(files: tuple[str, ...], rules: str, as_json: bool, shelf: Shelf) -> None:
    """Rule on deal scripts. Exit status 0: every expectation for STACK holds; 1: one does not; 2: bad input."""
    stack = load_stack(rules, shelf)
    reports = []
    for name in files:
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"{name} cannot be read", str(error.strerror), "name a deal script") from error
        except UnicodeDecodeError as error:
            raise UserError(f"{name}: not a text file", "it is not UTF-8", "give a .deal script") from error
        reports.append(run_script(name, parse(text, name), stack))
    failed = False
    for report in reports:
        failed = failed or bool(report.failures)
        if as_json:
            for ruled in report.rulings:
                click.echo(json.dumps(ruling_json(ruled)))
        else:
            _print(report)
        for failure in report.failures:
            where = f"{failure.name}:{failure.line}"
            click.echo(f"{where}: expected `{failure.expected}`, got `{failure.got}`", err=as_json)
    sys.exit(1 if failed else 0)


def ruling_json(ruled: Ruled) -> dict[str, object]:
    """A ruling as programs read it; the keys are fixed."""
    ruling = ruled.ruling
    return {
        "file": ruled.name,
        "line": ruled.line,
        "event": ruled.event,
        "rule": ruling.rule or None,
        "cite": ruling.cite or None,
        "layer": ruling.layer or None,
        "ruling": ruling.ruling,
        "seat": ruling.seat or None,
        "cards": list(ruling.cards),
        "remedy": list(ruling.verbs),
        "say": ruling.say,
        "decider": ruling.decider,
        "signal": SIGNALS[ruling.ruling],
    }


def _print(report: Report) -> None:
    for ruled in report.rulings:
        ruling = ruled.ruling
        source = f"{ruling.cite} [{ruling.layer}]" if ruling.layer else "no rule found"
        click.echo(f"{ruled.name}:{ruled.line}: {ruled.event}")
        click.echo(f"    {ruling.ruling}: {ruling.say} ({source}; {ruling.decider} decides)")
        for number, step in enumerate(ruling.remedy, 1):
            click.echo(f"    {number}. {step}")
    for line, note in report.notes:
        click.echo(f"{report.name}:{line}: note: {note}")
    held = report.checked - len(report.failures)
    counts = f"{report.draws} draws, {len(report.rulings)} rulings, {held} of {report.checked} expectations hold"
    click.echo(f"{report.name}: {counts}")
