"""The part of CEL that a rule pack may use, as a syntax tree with types: so that a condition is known to be total.

A condition compares, counts and joins; it has no loops, calls, fields, indexes or lists other than behind `in`. What
passes here never fails when it is evaluated: names are known, types fit, nothing divides by what could be zero and no
number can leave CEL's 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from dealershoe.table.findings import Value

DEEPEST = 24  # brackets, `!` and choices inside one another; the shipped packs reach 3
LARGEST = 1_000_000  # a whole number in a pack, and the most that a fact can be
OVERFLOW = 2**62  # below CEL's 64-bit bound, with room for the last operation
RESERVED = frozenset((  # CEL's own words
    "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
    "namespace", "null", "package", "return", "true", "var", "void", "while",
))  # fmt: skip
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>'[^'"\\\n\r]*'|"[^'"\\\n\r]*")
    |(?P<number>[0-9]+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:()\[\],])
    )""",
    re.VERBOSE,
)
_LEVELS = (  # binary operators, the loosest first; all of them bind to the left
    ("||",),
    ("&&",),
    ("==", "!=", "<=", ">=", "<", ">", "in"),
    ("+", "-"),
    ("*", "/", "%"),
)


class ConditionError(Exception):
    """A condition that cannot be used; each of `reasons` says why."""

    def __init__(self, *reasons: str) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


class Literal(NamedTuple):
    value: Value


class Name(NamedTuple):
    name: str


class Unary(NamedTuple):
    mark: str  # ! or -
    of: Node


class Binary(NamedTuple):
    mark: str
    left: Node
    right: Node


class Among(NamedTuple):
    """`item in [options]`."""

    item: Node
    options: tuple[Node, ...]


class Choice(NamedTuple):
    """`test ? yes : no`."""

    test: Node
    yes: Node
    no: Node


Node = Literal | Name | Unary | Binary | Among | Choice


def parse(source: str) -> Node:
    """The syntax tree of an expression. Raises ConditionError."""
    return _Parser(source).whole()


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node."""
    if isinstance(node, Unary):
        return (node.of,)
    if isinstance(node, Binary):
        return node.left, node.right
    if isinstance(node, Among):
        return node.item, *node.options
    if isinstance(node, Choice):
        return tuple(node)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """Every node of the tree, the top first."""
    yield node
    for part in parts(node):
        yield from walk(part)


def type_of(value: Value) -> str:
    """CEL's name for the type of a value."""
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"


def check(node: Node, types: Mapping[str, str]) -> None:
    """Refuse what could fail when it is evaluated, or gives something else than true or false.

    Raises ConditionError with every reason.
    """
    unknown = dict.fromkeys(n.name for n in walk(node) if isinstance(n, Name) and n.name not in types)
    if unknown:
        raise ConditionError(*(f"unknown fact `{name}`{_near(name, types)}" for name in unknown))
    kind, _ = _typed(node, types)
    if kind != "bool":
        raise ConditionError(f"it gives a {_SAID[kind]}, not true or false")


def _near(name: str, types: Mapping[str, str]) -> str:
    close = get_close_matches(name, types, 1)
    return f", did you mean `{close[0]}`?" if close else ""


_SAID = {"bool": "truth value", "int": "number", "string": "text"}


def _typed(node: Node, types: Mapping[str, str]) -> tuple[str, int]:
    """Type of a node and the largest number, in either direction, that it can give."""
    if isinstance(node, Literal):
        return type_of(node.value), abs(node.value) if type_of(node.value) == "int" else 0  # type: ignore[arg-type]
    if isinstance(node, Name):
        return types[node.name], LARGEST
    if isinstance(node, Unary):
        wanted = "bool" if node.mark == "!" else "int"
        return wanted, _of_type(node.of, wanted, f"`{node.mark}`", types)
    if isinstance(node, Among):
        kind, _ = _typed(node.item, types)
        for option in node.options:
            _of_type(option, kind, "`in`", types)
        return "bool", 0
    if isinstance(node, Choice):
        _of_type(node.test, "bool", "`?`", types)
        kind, most = _typed(node.yes, types)
        return kind, max(most, _of_type(node.no, kind, "`:`", types))
    return _typed_binary(node, types)


def _typed_binary(node: Binary, types: Mapping[str, str]) -> tuple[str, int]:
    said = f"`{node.mark}`"
    if node.mark in ("==", "!="):
        kind, _ = _typed(node.left, types)
        _of_type(node.right, kind, said, types)
        return "bool", 0
    wanted = "bool" if node.mark in ("&&", "||") else "int"
    left = _of_type(node.left, wanted, said, types)
    right = _of_type(node.right, wanted, said, types)
    if node.mark in ("&&", "||", "<", "<=", ">", ">="):
        return "bool", 0
    if node.mark in ("/", "%"):
        if not isinstance(node.right, Literal) or not node.right.value:
            raise ConditionError(f"{said} needs a plain number other than 0 on its right")
        return "int", left
    most = left * right if node.mark == "*" else left + right
    if most > OVERFLOW:
        raise ConditionError(f"the numbers around {said} can grow beyond what can be reckoned with")
    return "int", most


def _of_type(node: Node, wanted: str, said: str, types: Mapping[str, str]) -> int:
    kind, most = _typed(node, types)
    if kind != wanted:
        raise ConditionError(f"{said} joins a {_SAID[wanted]} and a {_SAID[kind]}" if said not in ("`!`", "`-`", "`?`")
                             else f"{said} needs a {_SAID[wanted]}, not a {_SAID[kind]}")  # fmt: skip
    return most


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, source: str) -> None:
        self.tokens = list(_tokens(source))
        self.at = 0
        self.depth = 0

    def whole(self) -> Node:
        node = self.choice()
        if self.at < len(self.tokens):
            raise ConditionError(f"`{self.tokens[self.at]}` where the expression could end")
        return node

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, mark: str) -> None:
        seen = self.take()
        if seen != mark:
            raise ConditionError(f"`{seen}` where `{mark}` belongs" if seen else f"`{mark}` is missing at the end")

    def choice(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ConditionError(f"more than {DEEPEST} brackets or choices inside one another")
        node = self.binary(0)
        if self.peek() == "?":
            self.take()
            yes = self.binary(0)
            self.expect(":")
            node = Choice(node, yes, self.choice())
        self.depth -= 1
        return node

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        node = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            mark = self.take()
            node = Among(node, self.listed()) if mark == "in" else Binary(mark, node, self.binary(level + 1))
        return node

    def listed(self) -> tuple[Node, ...]:
        self.expect("[")
        options = []
        while self.peek() != "]":
            options.append(self.choice())
            if self.peek() != "]":
                self.expect(",")
        self.take()
        if not options:
            raise ConditionError("`in []` is never true")
        return tuple(options)

    def unary(self) -> Node:
        token = self.take()
        if token in ("!", "-"):
            if self.peek() == token:
                raise ConditionError(f"`{token}{token}`: write it once or not at all")
            return Unary(token, self.unary())
        if token == "(":
            node = self.choice()
            self.expect(")")
            return node
        return self.leaf(token)

    def leaf(self, token: str) -> Node:
        if token[:1] in ("'", '"') and token:
            return Literal(token[1:-1])
        if token.isdigit():
            if len(token) > len(str(LARGEST)) or int(token) > LARGEST:
                raise ConditionError(f"the number {token[:12]} is above {LARGEST}")
            return Literal(int(token))
        if token in ("true", "false"):
            return Literal(token == "true")
        if token.isidentifier() and token not in RESERVED:
            if self.peek() in ("(", "["):
                raise ConditionError(f"`{token}{self.peek()}`: a condition compares; it calls and indexes nothing")
            return Name(token)
        raise ConditionError(f"`{token}` where a fact, a number or a text belongs" if token else "it ends too soon")


def _tokens(source: str) -> Iterator[str]:
    position = 0
    end = len(source.rstrip())
    while position < end:
        match = _TOKEN.match(source, position)
        if match is None:
            seen = source[position:].strip()[:1]
            raise ConditionError(f"{seen!r} has no place in a condition")
        yield match[match.lastgroup or 0]
        position = match.end()
