"""Conditions of rule packs: what is refused, and that the syntax tree says what CEL computes. For rules maintainers."""

from __future__ import annotations

import contextlib
from typing import Any

import cel
import pytest
from dealershoe.rules.conditions import LONGEST, Condition
from dealershoe.rules.expression import (
    Among,
    Binary,
    Choice,
    ConditionError,
    Literal,
    Name,
    Node,
    Unary,
    check,
    parse,
    type_of,
)
from dealershoe.table.findings import FACTS
from hypothesis import given
from hypothesis import strategies as st

TYPES = {name: kind for name, (kind, _) in FACTS.items()}
REFUSED = {
    "a loop": "[1, 2].all(seat, seat > 1)",
    "a loop over a fact's name": "[1, 2].map(seat, seat * 2) == [2, 4]",
    "a loop in a loop": "[1,2].map(seat, [1,2].map(seat, seat)) == []",
    "a function": "size(game) == 6",
    "a method": "game.matches('a+')",
    "a field": "game.length == 6",
    "an index": "[1, 2][seat] == 1",
    "a map": "{'a': 1} == {'a': 1}",
    "a list by itself": "[1] == [1]",
    "a fraction": "seat > 1.5",
    "bytes": "b'x' == b'x'",
    "an escape in a text": "game == 'hold\\x1bem'",
    "a text over three quotes": "game == '''holdem'''",
    "a text that does not end": "game == 'holdem",
    "a number beyond bounds": "seat == 99999999999999999999",
    "a product that overflows": "seat * actions * players * position > 0",
    "a division by a fact": "seat / actions == 1",
    "a division by zero": "seat % 0 == 1",
    "brackets without end": "(" * 100 + "heads_up" + ")" * 100,
    "nots without end": "!" * 300 + "heads_up",
    "a condition too long to read": "heads_up || " * 40 + "heads_up",
    "an unknown fact": "heads_upp",
    "a number": "seat + 1",
    "a text": "game",
    "a truth compared with a number": "heads_up == 1",
    "a text compared with a number": "seat == '1'",
    "an order of texts": "game < 'stud'",
    "a sum of texts": "game + 'x' == 'holdemx'",
    "nothing": "",
    "an empty choice": "seat in []",
    "a word of CEL": "null == null",
    "two expressions": "heads_up heads_up",
    "a semicolon": "heads_up; heads_up",
}


@pytest.mark.parametrize("source", REFUSED.values(), ids=REFUSED)
def test_refuses(source: str) -> None:
    with pytest.raises(ConditionError):
        Condition(source, {})


def test_the_longest_condition_is_read() -> None:
    source = "heads_up" + " " * (LONGEST - 8)
    assert Condition(source, {}).holds({"heads_up": True})


def test_names_every_unknown_fact_and_the_nearest_known_one() -> None:
    with pytest.raises(ConditionError) as refused:
        Condition("positon == 1 && knobs", {})
    assert refused.value.reasons == ("unknown fact `positon`, did you mean `position`?", "unknown fact `knobs`")


def test_a_parameter_counts_with_its_type() -> None:
    assert Condition("seat == mine", {"mine": 4}).holds({"seat": 4})
    with pytest.raises(ConditionError):
        Condition("seat == mine", {"mine": "4"})


def _names(kind: str) -> st.SearchStrategy[Node]:
    return st.sampled_from([Name(name) for name, known in sorted(TYPES.items()) if known == kind])


LEAVES: dict[str, st.SearchStrategy[Node]] = {
    "bool": _names("bool") | st.booleans().map(Literal),
    "int": _names("int") | st.integers(0, 1_000_000).map(Literal),
    "string": _names("string") | st.text("abcé ", max_size=3).map(Literal),
}


def _trees(kind: str, depth: int) -> st.SearchStrategy[Node]:
    """Well-typed trees."""
    if depth == 0:
        return LEAVES[kind]

    def below(k: str) -> st.SearchStrategy[Node]:
        return _trees(k, depth - 1)

    either = st.sampled_from(["bool", "int", "string"])
    choice = st.builds(Choice, below("bool"), below(kind), below(kind))
    if kind == "string":
        return LEAVES[kind] | choice
    if kind == "int":
        parts: list[st.SearchStrategy[Node]] = [
            LEAVES[kind],
            choice,
            st.builds(Binary, st.sampled_from("+-"), below("int"), below("int")),
            st.builds(Binary, st.sampled_from("/%"), below("int"), st.integers(1, 9).map(Literal)),
            st.builds(Unary, st.just("-"), LEAVES["int"]),
        ]
        return st.one_of(parts)
    return st.one_of(
        LEAVES[kind],
        choice,
        st.builds(Unary, st.just("!"), LEAVES["bool"]),
        st.builds(Binary, st.sampled_from(["&&", "||"]), below("bool"), below("bool")),
        st.builds(Binary, st.sampled_from(["<", "<=", ">", ">="]), below("int"), below("int")),
        either.flatmap(lambda k: st.builds(Binary, st.sampled_from(["==", "!="]), below(k), below(k))),
        either.flatmap(lambda k: st.builds(Among, below(k), st.lists(below(k), min_size=1, max_size=3).map(tuple))),
    )


def written(node: Node) -> str:
    """A tree as CEL, every part in brackets."""
    match node:
        case Literal(value):
            return f"'{value}'" if isinstance(value, str) else str(value).lower()
        case Name(name):
            return name
        case Unary(mark, of):
            return f"({mark}{written(of)})"
        case Binary(mark, left, right):
            return f"({written(left)} {mark} {written(right)})"
        case Among(item, options):
            return f"({written(item)} in [{', '.join(map(written, options))}])"
        case Choice(test, yes, no):
            return f"({written(test)} ? {written(yes)} : {written(no)})"


def value(node: Node, facts: dict[str, Any]) -> Any:
    """What a tree means, without CEL. Division truncates towards zero (CEL specification, arithmetic)."""
    match node:
        case Literal(constant):
            return constant
        case Name(name):
            return facts[name]
        case Unary(mark, of):
            return not value(of, facts) if mark == "!" else -value(of, facts)
        case Among(item, options):
            return value(item, facts) in [value(option, facts) for option in options]
        case Choice(test, yes, no):
            return value(yes if value(test, facts) else no, facts)
        case Binary(mark, left, right):
            a, b = value(left, facts), value(right, facts)
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if mark in "/%" else 0
            results: dict[str, Any] = {
                "&&": lambda: a and b, "||": lambda: a or b, "==": lambda: a == b, "!=": lambda: a != b,
                "<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b, ">=": lambda: a >= b,
                "+": lambda: a + b, "-": lambda: a - b, "/": lambda: quotient, "%": lambda: a - quotient * b,
            }  # fmt: skip
            return results[mark]()


_VALUES = {"bool": st.booleans(), "int": st.integers(0, 1_000_000), "string": st.sampled_from(["a", "b", "é", ""])}
FACT_VALUES = st.fixed_dictionaries({name: _VALUES[kind] for name, kind in TYPES.items()})


@given(tree=_trees("bool", 3), facts=FACT_VALUES)
def test_a_tree_that_passes_means_in_cel_what_it_says(tree: Node, facts: dict[str, Any]) -> None:
    source = written(tree)
    check(parse(source), TYPES)
    assert parse(source) == tree
    assert cel.compile(source).execute(facts) is value(tree, facts)


PIECES = st.sampled_from(
    ["heads_up", "seat", "game", "1", "0", "'a'", "true", "(", ")", "[", "]", "in", "==", "<", "&&", "||", "!", "-",
     "+", "*", "/", "%", "?", ":", ",", ".", "all", "size", "\x1b", "'"]
)  # fmt: skip


@given(pieces=st.lists(PIECES, max_size=12), facts=FACT_VALUES)
def test_what_is_accepted_never_fails(pieces: list[str], facts: dict[str, Any]) -> None:
    source = " ".join(pieces)
    try:
        condition = Condition(source, {})
    except ConditionError:
        return
    assert condition.holds(facts) is value(parse(source), facts)
    assert type_of(condition.holds(facts)) == "bool"


@given(source=st.text(max_size=60))
def test_any_text_is_read_or_refused(source: str) -> None:
    with contextlib.suppress(ConditionError):
        Condition(source, {})
