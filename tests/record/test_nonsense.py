"""Journals that hold what nobody wrote: bytes turned over, values of another kind. A sentence, never a traceback.

And what no journal is at all. A file that was looked at is as it was.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from dealershoe.cli import commands
from dealershoe.entries import NAMES, TABLES
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.rules.signing import new_key, public_pem
from record.dealing import Table

KEY = new_key()
READERS = (
    ("show", "--open"), ("hands", "--json"), ("tail", "-n", "500"), ("verify", "--key", "{key}"),
    ("replay", "--rules", "roberts"), ("export", "--format", "csv", "--open"), ("export", "--format", "phh", "--open"),
    ("receipt", "--open"),
)  # fmt: skip
WEIRD = (None, -1, 2**62, "x", b"\xff\xfe", "[]", "{}", "[1,", 1.5, '{"hand": 1}', float("inf"))
BYTES, VALUES = 15, 30  # journals of each sort
COLUMNS = [(table, name) for kind, table in TABLES.items() for name in (*NAMES[kind], "chain")]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nonsense")
    (folder / "pub").write_bytes(public_pem(KEY))
    with Journal(folder / "base", KEY) as journal:
        table = Table(journal, 3, accidents=1.0)
        for _ in range(5):
            table.hand()
    return folder / "base"


def read(path: Path, key: Path) -> list[int]:
    """Every command that reads, on this file: its exit statuses. Any exception but a sentence fails the test."""
    statuses = []
    before = path.read_bytes()
    for name, *options in READERS:
        words = [word.format(key=key) for word in options]
        result = CliRunner().invoke(commands, ["journal", name, str(path), *words])
        if isinstance(result.exception, UserError):
            statuses.append(2)
            assert "Traceback" not in str(result.exception)
            continue
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"{name} {words}") from result.exception
        statuses.append(result.exit_code)
    assert path.read_bytes() == before
    return statuses


def test_bytes_turned_over_anywhere_get_a_sentence_or_are_named_by_verify(base: Path, tmp_path: Path) -> None:
    for seed in range(BYTES):
        dice = random.Random(seed)
        raw = bytearray(base.read_bytes())
        for _ in range(dice.choice((1, 3, 20))):
            raw[dice.randrange(100, len(raw))] ^= dice.randrange(1, 256)
        path = tmp_path / str(seed)
        path.write_bytes(raw)
        read(path, base.with_name("pub"))


def test_values_of_another_kind_get_a_sentence_and_are_named_by_verify(base: Path, tmp_path: Path) -> None:
    changed = 0
    for seed in range(VALUES):
        dice = random.Random(seed)
        table, column = dice.choice(COLUMNS)
        path = tmp_path / str(seed)
        shutil.copy(base, path)
        db = sqlite3.connect(path, isolation_level=None)
        try:
            sql = f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})"
            value = dice.choice(WEIRD)
            was = db.execute(f"SELECT {column} FROM {table} ORDER BY rowid DESC LIMIT 1").fetchone()
            written = db.execute(sql, (value,)).rowcount and was[0] != value
        except sqlite3.Error:
            written = False
        finally:
            db.close()
        statuses = read(path, base.with_name("pub"))
        if written:
            changed += 1
            assert statuses[[name for name, *_ in READERS].index("verify")] in (1, 2), (table, column, value)
    assert changed > VALUES / 3


@pytest.mark.parametrize("name", ["pipe", "folder", "device"])
@pytest.mark.parametrize("command", ["show", "verify", "upgrade"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, name: str, command: str) -> None:
    path = Path("/dev/null") if name == "device" else tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    elif name == "folder":
        path.mkdir()
    result = CliRunner().invoke(commands, ["journal", command, str(path)])
    assert isinstance(result.exception, UserError | SystemExit)
    assert "is not a file" in str(result.exception) or "is a directory" in result.output
    with pytest.raises(UserError, match="is not a file"):
        Journal(path)


def test_a_journal_that_was_pruned_twice_is_verified_exported_judged_copied_and_gone_on_with(
    base: Path, tmp_path: Path
) -> None:
    path, key = tmp_path / "journal", base.with_name("pub")
    with Journal(path, KEY) as journal:
        table = Table(journal, 9, accidents=1.0)
        for _ in range(9):
            table.hand()
    for _ in range(2):
        with Journal(path, KEY) as journal:
            (third,) = journal._db.execute("SELECT fact FROM hands ORDER BY fact LIMIT 1 OFFSET 3").fetchone()
            assert journal.prune(third, "Ann", "they are old") > 50
    show, hands, tail, verify, other, csv, phh, receipt = read(path, key)
    assert (show, hands, tail, verify, csv, phh) == (0, 0, 0, 0, 0, 0)
    assert other in (0, 1)  # other rules may differ
    assert receipt in (0, 1)  # nobody dealt out a deck
    with Journal(path, KEY) as journal:
        number = journal.stored_up_to(b"JRN1")
        table = Table(journal, 10)
        assert table.number == number
        table.hand()
    copy = tmp_path / "copy"
    assert CliRunner().invoke(commands, ["journal", "backup", str(path), str(copy)]).exit_code == 0
    assert read(copy, key)[3] == 0
    assert CliRunner().invoke(commands, ["journal", "replay", str(copy)]).exit_code == 0
