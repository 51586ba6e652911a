"""The clause table: reads clauses.toml, checks it against the packs and scripts, writes docs/clauses.md.

`PYTHONPATH=tests python tests/rules/clauses.py` writes the page anew; test_clauses.py holds page and tree equal.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dealershoe.deal.grammar import header_stacks, parse
from dealershoe.errors import UserError
from dealershoe.judge.runner import Report, run_script
from dealershoe.rules.pack import Answer, Pack, Rule
from dealershoe.rules.stack import load_pack, load_stack

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "clauses.md"
FAMILIES = {  # id → how many clauses it has; 0: the id stands alone
    "MIS": 1, "EXP": 7, "BOX": 5, "SEAT": 4, "CNT": 6, "SEQ": 4, "FOUL": 6, "BRD": 9, "STUB": 3, "STUD": 5, "ALLIN": 2,
    "HOLD": 1, "DISC": 1, "DRAW": 0, "CUT": 0, "DECK": 0,
}  # fmt: skip
FIRST_TEXT = tuple(f"text-{n}" for n in range(1, 20))
HOUSE_RULES = tuple(f"house-{n}" for n in range(1, 17) if n not in (3, 10))  # two are headings
PACKS = ("tda-2024", "roberts", "house")


class Row(NamedTuple):
    """What one rule book says on one clause."""

    clause: str
    about: str
    pack: str
    stack: str
    cite: str
    rules: tuple[str, ...]
    procedure: tuple[str, ...]
    table: str
    silent: str
    scripts: tuple[str, ...]

    @property
    def seed(self) -> bool:
        """An entry of one of the user's own two texts."""
        return self.clause.startswith(("text-", "house-"))


def clause_ids() -> tuple[str, ...]:
    """Every id that must have its rows."""
    ids = [f"{name}-{n}" for name, size in FAMILIES.items() for n in range(1, size + 1)]
    return (*ids, *(name for name, size in FAMILIES.items() if not size), *FIRST_TEXT, *HOUSE_RULES)


@cache
def rows() -> tuple[Row, ...]:
    """The table as written."""
    table = tomllib.loads((HERE / "clauses.toml").read_text(encoding="utf-8"))
    return tuple(
        Row(
            clause, entry["about"], row["pack"], row.get("stack", row["pack"]), row.get("cite", ""),
            tuple(row.get("rules", ())), tuple(row.get("procedure", ())), row.get("table", ""), row.get("silent", ""),
            tuple(row.get("scripts", ())),
        )
        for clause, entry in table.items()
        for row in entry["rows"]
    )  # fmt: skip


@cache
def pack_of(name: str) -> Pack:
    return load_pack(name)


@cache
def played(script: str, stack: str) -> Report:
    """A script judged under a stack. Raises UserError when it cannot be played, or does not name the stack."""
    text = (HERE / "deals" / f"{script}.deal").read_text(encoding="utf-8")
    if stack not in header_stacks(text):
        raise UserError(f"{script}.deal under {stack}", "its first line does not name that stack", "add it there")
    return run_script(script, parse(text, script), load_stack(stack))


def rules_of(row: Row) -> tuple[Rule, ...]:
    """The pack's rules that the row names and that exist."""
    return tuple(rule for rule in pack_of(row.pack).rules if rule.id in row.rules)


def faults_of(row: Row) -> Iterator[str]:
    """What is wrong with a row, in sentences."""
    said = [bool(row.rules), bool(row.procedure), bool(row.table), bool(row.silent)]
    if said.count(True) != 1:
        yield "says not exactly one of rules, procedure, table, silent"
    if not row.scripts:
        yield "has no script"
    found = rules_of(row)
    for missing in set(row.rules) - {rule.id for rule in found}:
        yield f"names the rule {missing}, which {row.pack} does not have"
    for rule in found:
        if row.cite not in rule.cite:
            yield f"cites {row.cite}, but {rule.id} cites {rule.cite}"
    for question in row.procedure:
        if question not in pack_of(row.pack).procedure:
            yield f"{row.pack} does not answer {question}"
    yield from _script_faults(row, found)


def _script_faults(row: Row, found: tuple[Rule, ...]) -> Iterator[str]:
    ruled: set[str] = set()
    for script in row.scripts:
        try:
            report = played(script, row.stack)
        except (UserError, OSError) as error:
            yield f"{script}.deal: {error}"
            continue
        ruled |= {entry.ruling.rule for entry in report.rulings}
        if not report.checked:
            yield f"{script}.deal expects nothing under {row.stack}"
        for failure in report.failures:
            yield f"{script}.deal, line {failure.line}: expected `{failure.expected}`, got `{failure.got}`"
        called = any(entry.ruling.ruling == "floor" for entry in report.rulings)
        called = called or any("call the floor" in note for _, note in report.notes)
        if row.silent and report.rulings and not called:
            yield f"{script}.deal never calls the floor, though {row.pack} is silent"
    for rule in found:
        if rule.open.ruling != "none" and rule.id not in ruled:
            yield f"{rule.id} rules in none of its scripts"


def page() -> str:
    """The generated page."""
    lines = [
        "<!-- Every clause, what each rule book's pack makes of it, and the deal script that proves it. For rules"
        " maintainers and floor managers. Generated by tests/rules/clauses.py; do not edit. -->",
        "",
        "# Clauses",
        "",
        "Ids are those of the project's reading of the rule books; `text-N` are the entries of the user's first text"
        " (TDA, then Robert's), `house-N` the bullets of the house rules. A script is a file of `tests/rules/deals/`."
        " Where a book is silent the next layer is asked, and in the end the floor.",
        "",
        "| clause | what | book | clause cited | finding | window | ruling | remedy | decides | proven by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    last = ""
    for row in rows():
        what = row.about if row.clause != last else ""
        last = row.clause
        proof = ", ".join(f"`{script}`" for script in row.scripts)
        for index, cells in enumerate(_cells(row)):
            head = [row.clause, what, row.pack] if not index else [row.clause, "", row.pack]
            lines.append("| " + " | ".join([*head, *cells, proof if not index else "″"]) + " |")
    return "\n".join((*lines, ""))


def _cells(row: Row) -> list[list[str]]:
    if row.rules:
        return [_rule_cells(rule) for rule in rules_of(row)]
    if row.procedure:
        answers = ", ".join(f"{name}: {pack_of(row.pack).procedure.get(name, '?')}" for name in row.procedure)
        return [[row.cite, "", "", answers, "", "dealer"]]
    if row.table:
        return [[row.cite, "", "", row.table, "", ""]]
    return [["silent", "", "", row.silent, "", "floor"]]


def _rule_cells(rule: Rule) -> list[str]:
    finding = ", ".join(rule.findings)
    if not rule.window:
        return [rule.cite, finding, "", rule.open.ruling, _remedy(rule.open), rule.open.decides]
    ruling = f"open: {rule.open.ruling}; closed: {rule.closed.ruling}"
    remedy = f"open: {_remedy(rule.open)}; closed: {_remedy(rule.closed)}"
    decides = rule.open.decides
    if rule.closed.decides != decides:
        decides = f"open: {decides}; closed: {rule.closed.decides}"
    return [rule.cite, finding, rule.window, ruling, remedy, decides]


def _remedy(answer: Answer) -> str:
    return ", ".join(answer.remedy) or "none"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written to {PAGE}")
