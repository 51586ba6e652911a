"""Conditions in words, for people who do not read expressions: the facts' own meanings, joined as the condition is."""

from __future__ import annotations

from collections.abc import Mapping

from dealershoe.rules.conditions import Condition
from dealershoe.rules.expression import Among, Binary, Choice, Literal, Name, Node, Unary
from dealershoe.table.findings import FACTS, Value

_COMPARED = {
    "==": "{}",
    "!=": "anything but {}",
    "<": "fewer than {}",
    "<=": "{} or fewer",
    ">": "more than {}",
    ">=": "{} or more",
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}  # the same comparison from the other side
_RECKONED = {"+": "plus", "-": "minus", "*": "times", "/": "divided by", "%": "modulo"}
_INDENT = "  "


def in_words(condition: Condition) -> tuple[str, ...]:
    """A condition as lines; what belongs to a line stands indented below it."""
    return tuple(_lines(condition.tree, condition.parameters))


def _lines(node: Node, parameters: Mapping[str, Value]) -> list[str]:
    if isinstance(node, Binary) and node.mark in ("&&", "||"):
        return _group("all of these" if node.mark == "&&" else "one of these", _joined(node, node.mark), parameters)
    if isinstance(node, Unary) and node.mark == "!":
        inner = node.of
        if isinstance(inner, Binary) and inner.mark in ("&&", "||"):
            head = "none of these" if inner.mark == "||" else "not all of these"
            return _group(head, _joined(inner, inner.mark), parameters)
        first, *rest = _lines(inner, parameters)
        return [f"not: {first}", *rest]
    if isinstance(node, Choice):
        parts = zip(("if", "then", "otherwise"), node, strict=True)
        return [line for word, part in parts for line in _under(f"{word}", _lines(part, parameters))]
    return [_leaf(node, parameters)]


def _joined(node: Node, mark: str) -> list[Node]:
    """What `mark` joins, however it is bracketed."""
    if isinstance(node, Binary) and node.mark == mark:
        return [*_joined(node.left, mark), *_joined(node.right, mark)]
    return [node]


def _group(head: str, parts: list[Node], parameters: Mapping[str, Value]) -> list[str]:
    lines = [f"{head}:"]
    for part in parts:
        first, *rest = _lines(part, parameters)
        lines += [f"{_INDENT}- {first}", *(f"{_INDENT}  {line}" for line in rest)]
    return lines


def _under(head: str, lines: list[str]) -> list[str]:
    first, *rest = lines
    return [f"{head} {first}", *(_INDENT + line for line in rest)]


def _leaf(node: Node, parameters: Mapping[str, Value]) -> str:
    if isinstance(node, Among):
        return f"{_term(node.item, parameters)}: {' or '.join(_term(option, parameters) for option in node.options)}"
    if isinstance(node, Binary) and node.mark in _COMPARED:
        left, right, mark = node.left, node.right, node.mark
        if not _of_facts(left, parameters) and _of_facts(right, parameters):
            left, right, mark = right, left, _TURNED.get(mark, mark)
        return f"{_term(left, parameters)}: {_COMPARED[mark].format(_term(right, parameters))}"
    return _term(node, parameters)


def _of_facts(node: Node, parameters: Mapping[str, Value]) -> bool:
    return not isinstance(node, Literal) and not (isinstance(node, Name) and node.name in parameters)


def _term(node: Node, parameters: Mapping[str, Value]) -> str:
    if isinstance(node, Literal):
        return str(node.value).lower() if isinstance(node.value, bool) else str(node.value) or "nothing"
    if isinstance(node, Name):
        if node.name in parameters:
            return f"{parameters[node.name]} ({node.name})"
        kind, meaning = FACTS[node.name]
        return meaning.partition(":")[0] if kind == "string" else meaning
    if isinstance(node, Binary) and node.mark in _RECKONED:
        return f"{_term(node.left, parameters)} {_RECKONED[node.mark]} {_term(node.right, parameters)}"
    if isinstance(node, Unary) and node.mark == "-":
        return f"minus {_term(node.of, parameters)}"
    return " ".join(line.strip() for line in _lines(node, parameters))
