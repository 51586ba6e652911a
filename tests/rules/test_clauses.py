"""Every clause has its row, every row holds: the rule exists and cites the clause, and a script proves it."""

import pytest
from rules.clauses import FIRST_TEXT, HOUSE_RULES, PACKS, PAGE, clause_ids, faults_of, page, rows


def test_every_clause_has_its_rows() -> None:
    assert {row.clause for row in rows()} == set(clause_ids())


@pytest.mark.parametrize("pack", PACKS)
def test_every_clause_of_the_reading_has_a_row_for_each_book(pack: str) -> None:
    spoken = {row.clause for row in rows() if row.pack == pack}
    assert set(clause_ids()) - set(FIRST_TEXT) - set(HOUSE_RULES) - spoken == set()


@pytest.mark.parametrize("clause", clause_ids())
def test_the_rows_of_a_clause_hold(clause: str) -> None:
    wrong = [f"{row.clause}, {row.pack}: {fault}" for row in rows() if row.clause == clause for fault in faults_of(row)]
    assert wrong == []


def test_the_page_is_the_one_that_the_table_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: PYTHONPATH=tests python tests/rules/clauses.py"
