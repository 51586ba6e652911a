"""`dealershoe demo`: an emulated shoe with the real firmware, the bridge on its port, real incidents, to be watched."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import open_bridge
from dealershoe.demo.player import Player, Result, wait_for_session
from dealershoe.demo.screen import Pipe, Screen
from dealershoe.demo.scripts import FAST, SHOWN, load
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.rules.stack import DEFAULT

DEALERS_PACE_S = 0.35  # from card to card
PIPE_WIDTH = 120  # columns of the last table where there is no terminal


@click.command("demo", short_help="an emulated shoe, the bridge, real incidents; ends by itself")
def command() -> None:
    """Deal real incidents at an emulated shoe; watch the bridge rule on them. Exit 0 when every expectation holds."""
    console = Console()
    begun = time.monotonic()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    screen = Screen(console) if console.is_terminal else Pipe(console)
    with tempfile.TemporaryDirectory(prefix="dealershoe-demo-") as folder, EmulatedShoe(pace="real") as shoe:
        python = "" if shoe.on_micropython else " (there is no MicroPython for this platform: CPython runs it)"
        screen.say(f"an emulated shoe with the real firmware{python} on {shoe.port}; rules {DEFAULT}")
        bridge = open_bridge(shoe.port, DEFAULT, Path(folder) / "journal", screen.heard)
        bridge.start()
        try:
            with screen.watching(shoe, bridge):
                results = list(_play(shoe, bridge, screen))
        finally:
            bridge.stop()
    _close(console, results, bridge, time.monotonic() - begun)


def _play(shoe: EmulatedShoe, bridge: Bridge, screen: Screen | Pipe) -> Iterator[Result]:
    """One hand at a dealer's pace; then the shoe is switched off and on, and the rest is dealt as fast as it can be."""
    wait_for_session(shoe, bridge, 1)
    scripts = len(FAST) + 1
    yield _script(Player(shoe, bridge, DEFAULT, DEALERS_PACE_S), screen, SHOWN, 1, scripts)
    screen.say("the shoe is switched off and on: what was in its memory is lost, the next hand begins anew")
    shoe.pace = "fast"
    shoe.power_cycle()
    wait_for_session(shoe, bridge, 2)
    player = Player(shoe, bridge, DEFAULT, 0.0)
    for place, name in enumerate(FAST, 2):
        yield _script(player, screen, name, place, scripts)


def _script(player: Player, screen: Screen | Pipe, name: str, place: int, of: int) -> Result:
    script = load(name)
    result = Result(script)
    screen.begins(result, place, of, slow=name == SHOWN)
    for done, _ in enumerate(player.play(result), 1):
        screen.went_on(result, done)
    screen.ended(result)
    return result


def _close(console: Console, results: list[Result], bridge: Bridge, took_s: float) -> None:
    """The table of results, what did not hold, and the exit status."""
    console.print(closing_table(results))
    for result in results:
        for failure in result.failures:
            click.echo(f"{result.script.name}, {failure}", err=True)
    held, expected = sum(result.held for result in results), sum(result.expected for result in results)
    console.print(f"{held} of {expected} expectations hold, in {took_s:.0f} s", highlight=False)
    if bridge.error is not None:
        click.echo(f"the bridge failed: {bridge.error!r}", err=True)
    if held < expected or bridge.error is not None:
        sys.exit(1)


def closing_table(results: list[Result]) -> Table:
    """On a narrow terminal the names of the scripts give way, and never a figure."""
    table = Table(
        title="what was dealt, and what the bridge made of it", title_justify="left",
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
    table.add_column("script", overflow="ellipsis", min_width=8)
    for head in ("hands", "draws", "findings"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("rulings", min_width=8)
    for head in ("expected", "held"):
        table.add_column(head, justify="right", no_wrap=True)
    for result in results:
        rulings = Counter(ruling.ruling for ruling in result.rulings)
        said = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in rulings.items()) or "none"
        counts = (result.hands, result.draws, result.findings)
        held = str(result.held) if not result.failures else f"✗ {result.held}"
        table.add_row(result.script.name, *map(str, counts), said, str(result.expected), held)
    table.add_section()
    sums = (sum(getattr(result, name) for result in results) for name in ("hands", "draws", "findings"))
    expected, held = (str(sum(getattr(result, name) for result in results)) for name in ("expected", "held"))
    table.add_row("in all", *map(str, sums), str(sum(len(result.rulings) for result in results)), expected, held)
    return table
