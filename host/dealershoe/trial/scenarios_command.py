"""`dealershoe rules test`: does a pack rule on its own scenarios as they say?"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from dealershoe.rules.pack_fields import shown
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.stack import load_pack
from dealershoe.trial.scenarios import Played, play


@click.command("test")
@click.argument("packs", nargs=-1, required=True, metavar="PACK|FILE...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a scenario.")
@shelf_option
def test_command(packs: tuple[str, ...], as_json: bool, shelf: Shelf) -> None:
    """Play the scenarios that packs carry. Exit status 0: all hold; 1: one does not; 2: a file is no sound pack."""
    failed = False
    for name in packs:
        pack = load_pack(name, library=shelf)
        results = list(play(pack, shelf))
        for played in results:
            failed = failed or bool(played.failures)
            click.echo(json.dumps(_as_json(pack.id, played)) if as_json else _line(shown(Path(pack.path).name), played))
        if not as_json:
            held = sum(not played.failures for played in results)
            click.echo(f"{pack.id} {pack.version}: {held} of {len(results)} scenarios hold")
    sys.exit(1 if failed else 0)


def _line(file: str, played: Played) -> str:
    if played.failures:
        return "\n".join(f"failed  {failure}" for failure in played.failures)
    scenario = played.scenario
    return f"held    {file}:{scenario.line}: {scenario.name} ({played.checked} expectations under {scenario.stack})"


def _as_json(pack: str, played: Played) -> dict[str, object]:
    scenario = played.scenario
    failures = [{"line": one.line, "expected": one.expected, "got": one.got} for one in played.failures]
    return {
        "pack": pack, "scenario": scenario.name, "line": scenario.line, "stack": scenario.stack,
        "checked": played.checked, "failures": failures,
    }  # fmt: skip
