"""Conditions of rule packs in CEL: checked against the vocabulary, compiled once, total when evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cel

from dealershoe.rules.expression import ConditionError, check, parse, type_of
from dealershoe.table.findings import FACTS, Value

LONGEST = 400  # characters; a condition that a person cannot read at a glance is refused
_FACT_TYPES = {name: kind for name, (kind, _) in FACTS.items()}


class Condition:
    """A compiled CEL expression over facts and a pack's parameters that gives true or false.

    Raises ConditionError for anything that is not one; what is accepted never fails when it is evaluated.
    """

    def __init__(self, source: str, parameters: Mapping[str, Value]) -> None:
        if len(source) > LONGEST:
            raise ConditionError(f"a condition of {len(source)} characters; {LONGEST} are the most")
        self.tree = parse(source)
        check(self.tree, _FACT_TYPES | {name: type_of(value) for name, value in parameters.items()})
        try:
            self._program: Any = cel.compile(source)
        except ValueError as error:
            raise ConditionError(f"not a CEL expression: {str(error).splitlines()[0]}") from error
        self.source = source
        self.names = frozenset(self._program.variables())
        self.parameters = {name: parameters[name] for name in self.names if name in parameters}

    def holds(self, facts: Mapping[str, Value]) -> bool:
        """Whether the condition is true of these facts."""
        values = {name: facts[name] for name in self.names if name not in self.parameters}
        result: bool = self._program.execute(values | self.parameters)
        return result
