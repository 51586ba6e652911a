"""The words that a rule pack may use, as tables in Markdown: made from the code, so that they cannot be out of date."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dealershoe.events import SEATS
from dealershoe.rules.lint_space import TEXTS
from dealershoe.rules.pack import PROCEDURES
from dealershoe.rules.remedy import VERBS
from dealershoe.rules.ruling import SIGNALS
from dealershoe.rules.show import RULINGS, step_in_words
from dealershoe.table.findings import FACTS, KINDS

_TYPES = {"bool": "true or false", "int": "a number", "string": "a text"}


def tables() -> dict[str, str]:
    """Each table by its name: findings, facts, steps, rulings, procedure."""
    return {
        "findings": _table(("finding", "what happened"), ((f"`{kind}`", said) for kind, said in KINDS.items())),
        "facts": _table(("fact", "what it is", "it says"), (_fact(name) for name in FACTS)),
        "steps": _table(("step", "operands", "the dealer reads"), (_step(verb) for verb in VERBS)),
        "rulings": _table(
            ("ruling", "it means", "the light"),
            ((f"`{name}`", RULINGS[name], f"`{SIGNALS[name]}`") for name in RULINGS),
        ),
        "procedure": _table(
            ("question", "it is about", "answers"),
            ((f"`{name}`", about, _either(answers)) for name, (about, answers) in PROCEDURES.items()),
        ),
    }


def put_into(text: str) -> str:
    """A Markdown text with each table between its `<!-- table: NAME -->` and `<!-- end -->` as it is now."""
    now = tables()
    return re.sub(
        r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", lambda m: m[1] + now[m[2]] + m[3], text, flags=re.DOTALL
    )


def _fact(name: str) -> tuple[str, str, str]:
    kind, meaning = FACTS[name]
    said = meaning.partition(":")[0] if kind == "string" else meaning
    values = _either(value for value in TEXTS[name] if value) if kind == "string" else _TYPES[kind]
    if name == "seat":
        values = f"0 to {SEATS[-1]}"
    return f"`{name}`", said, values


def _step(verb: str) -> tuple[str, str, str]:
    return f"`{verb}`", _either(VERBS[verb].operands), step_in_words(verb)


def _either(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
