"""The command line: `dealershoe COMMAND`. Each command lives with what it starts and is imported when it is called."""

from __future__ import annotations

import importlib
import sys

import click

from dealershoe import __version__
from dealershoe.errors import UserError

# command → the module that has its click command, named `command`
COMMANDS = {
    "demo": "dealershoe.demo.command",
    "run": "dealershoe.bridge.command",
    "emulate": "dealershoe.emulate.command",
    "judge": "dealershoe.judge.command",
    "rules": "dealershoe.rules.command",
}


class Commands(click.Group):
    """Imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dealershoe")
def commands() -> None:
    """A card-reading dealing shoe: emulate one, run a table with it, rule on deals."""


def main() -> None:
    """Run a command; a `UserError` is one sentence on standard error and exit status 2."""
    try:
        commands(prog_name="dealershoe")
    except UserError as error:
        click.echo(f"dealershoe: {error}", err=True)
        sys.exit(2)
