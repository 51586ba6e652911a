"""`dealershoe journal`: show, verify, replay, export and keep what a table's bridge has recorded."""

from __future__ import annotations

import click

from dealershoe.lazy import LazyGroup


@click.group(
    "journal",
    cls=LazyGroup,
    modules={
        "show": "dealershoe.record.show_command",
        "hands": "dealershoe.record.show_command",
        "tail": "dealershoe.record.show_command",
        "receipt": "dealershoe.record.show_command",
        "verify": "dealershoe.record.verify_command",
        "replay": "dealershoe.record.replay_command",
        "export": "dealershoe.record.export_command",
        "import": "dealershoe.record.export_command",
        "backup": "dealershoe.record.keep_command",
        "prune": "dealershoe.record.keep_command",
        "upgrade": "dealershoe.record.keep_command",
        "key": "dealershoe.record.keep_command",
    },
)
def command() -> None:
    """A table's record: what happened, whether it is what was written, how other rules would have ruled."""
