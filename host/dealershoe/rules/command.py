"""`dealershoe rules`: read, check, test and change rule packs. Each subcommand lives with what it does."""

from __future__ import annotations

import click

from dealershoe.lazy import LazyGroup


@click.group(
    "rules",
    cls=LazyGroup,
    modules={
        "list": "dealershoe.rules.show_command",
        "show": "dealershoe.rules.show_command",
        "vocabulary": "dealershoe.rules.show_command",
        "lint": "dealershoe.rules.lint_command",
        "test": "dealershoe.trial.scenarios_command",
        "diff": "dealershoe.trial.diff_command",
        "keygen": "dealershoe.rules.shelf_command",
        "sign": "dealershoe.rules.shelf_command",
        "verify": "dealershoe.rules.shelf_command",
        "trust": "dealershoe.rules.shelf_command",
        "revoke": "dealershoe.rules.shelf_command",
        "install": "dealershoe.rules.shelf_command",
        "activate": "dealershoe.rules.shelf_command",
        "rollback": "dealershoe.rules.shelf_command",
        "history": "dealershoe.rules.shelf_command",
    },
)
def command() -> None:
    """Rule packs: what is installed, what it says, whether it is sound, and how a table changes over to another."""
