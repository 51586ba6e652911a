"""The command line: `dealershoe COMMAND`. Each command lives with what it starts and is imported when it is called."""

from __future__ import annotations

import errno
import signal
import sys

import click

from dealershoe import __version__, streams
from dealershoe.errors import UserError
from dealershoe.lazy import LazyGroup

COMMANDS = {
    "demo": "dealershoe.demo.command",
    "run": "dealershoe.bridge.command",
    "emulate": "dealershoe.emulate.command",
    "enroll": "dealershoe.link.enroll_command",
    "judge": "dealershoe.judge.command",
    "rules": "dealershoe.rules.command",
    "journal": "dealershoe.record.command",
    "frames": "dealershoe.frames.command",
    "deck": "dealershoe.deck.command",
    "conform": "dealershoe.conform.command",
    "doctor": "dealershoe.doctor.command",
    "flash": "dealershoe.flash.command",
    "users": "dealershoe.console.users_command",
    "check": "dealershoe.config.check_command",
}


@click.group(cls=LazyGroup, modules=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dealershoe")
def commands() -> None:
    """A card-reading dealing shoe: emulate one, run a table with it, rule on deals."""


def main() -> None:
    """Run a command; a `UserError` or a full disk is one sentence on standard error and exit status 2."""
    streams.make_safe()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as with Ctrl-C: files closed, names taken away
    try:
        commands(prog_name="dealershoe")
    except UserError as error:
        _refuse(error)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _refuse(UserError("nothing more can be written", str(error.strerror), "make room on that disk"))


def _refuse(error: UserError) -> None:
    click.echo(f"dealershoe: {error}", err=True)
    sys.exit(2)
