"""Conditions of rule packs in CEL: compiled once, names checked against the vocabulary, total when evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cel

from dealershoe.table.findings import FACTS, Value

LONGEST = 400  # characters; a condition that a person cannot read at a glance is refused
# what a condition may use: comparison, logic, arithmetic, choice and membership; nothing that loops or reaches out
OPERATORS = frozenset(
    [
        "_==_",
        "_!=_",
        "_<_",
        "_<=_",
        "_>_",
        "_>=_",
        "_&&_",
        "_||_",
        "!_",
        "-_",
        "_+_",
        "_-_",
        "_*_",
        "_/_",
        "_%_",
        "_?_:_",
        "@in",
    ]
)


class ConditionError(Exception):
    """A condition that cannot be used; the message says why."""


class Condition:
    """A compiled CEL expression over facts and a pack's parameters that gives true or false."""

    def __init__(self, source: str, parameters: Mapping[str, Value]) -> None:
        if len(source) > LONGEST:
            raise ConditionError(f"a condition of {len(source)} characters; {LONGEST} are the most")
        try:
            self._program: Any = cel.compile(source)
        except ValueError as error:
            raise ConditionError(f"not a CEL expression: {str(error).splitlines()[0]}") from error
        known = set(FACTS) | set(parameters)
        for name in self._program.variables():
            if name not in known:
                raise ConditionError(f"unknown fact `{name}`")
        for name in self._program.functions():
            if name not in OPERATORS:
                raise ConditionError(f"`{name}` is not allowed in a condition")
        self.source = source
        self.names = frozenset(self._program.variables())
        self._parameters = {name: parameters[name] for name in self.names if name in parameters}

    def holds(self, facts: Mapping[str, Value]) -> bool:
        """Whether the condition is true of these facts. Raises ConditionError when it does not give true or false."""
        values = {name: facts[name] for name in self.names if name not in self._parameters}
        try:
            result = self._program.execute(values | self._parameters)
        except (ValueError, TypeError, RuntimeError) as error:
            raise ConditionError(f"`{self.source}` fails: {error}") from error
        if not isinstance(result, bool):
            raise ConditionError(f"`{self.source}` gives {result!r}, not true or false")
        return result
