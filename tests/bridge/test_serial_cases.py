"""docs/serial-cases.md has every case of the collection, and each is a test or a sentence why it cannot happen.

A test's name begins with the case's number; the tests are where their subject is, most in `test_serial_*.py` here.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBERS = (
    2, 4, 5, 6, 7, 10, 12, 15, 18, 21, 23, 24, 25, 26, 31, 33, 35, 36, 38, 39, 40, 41, 42, 43, 48, 50, 53, 54, 59, 60,
    61, 63, 66, 67, 68, 71, 74, 75, 76, 79, 80, 82, 83, 84, 87, 93, 94, 95, 96, 98, 99, 100, 102, 109, 110, 111, 113,
    115, 116,
)  # fmt: skip
IDS = [f"S{number:02}" for number in NUMBERS]


def test_every_case_is_a_test_or_a_sentence_why_it_cannot_happen() -> None:
    tested: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for name in re.findall(r"^def (test_s\d\w*)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            for number in re.findall(r"(?<=_s)\d+(?=_)", name):
                tested.setdefault(f"S{int(number):02}", set()).add(name)
    rows = re.findall(
        r"^\| (S\d+) \| (.+) \| (.+) \|$", (ROOT / "docs/serial-cases.md").read_text("utf-8"), re.MULTILINE
    )
    assert [row[0] for row in rows] == IDS, "docs/serial-cases.md has every case once, in order"
    for number, _, proof in rows:
        cited = re.fullmatch(r"`(test_\w+)`", proof)
        if number in tested:
            assert cited, f"{number} has a test and docs/serial-cases.md does not name it"
            assert cited[1] in tested[number], number
        else:
            assert not cited, f"{number} cites {proof}, which does not exist"
            assert proof.startswith("cannot: "), number
            assert proof.endswith("."), number
    assert set(tested) <= set(IDS)
