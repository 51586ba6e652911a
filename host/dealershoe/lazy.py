"""A group of commands that imports a command's module only when that command is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """`modules`: each command and its module, where it is called `NAME_command`, or `command` if it stands alone."""

    def __init__(self, *args: Any, modules: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        module = importlib.import_module(self._modules[cmd_name])
        found = getattr(module, f"{cmd_name}_command", None) or module.command
        assert isinstance(found, click.Command)
        return found
