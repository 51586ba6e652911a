"""A report of a kind that is not known here is read in the record as at the table: by the shoe's own dictionary."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from dealershoe.cli import commands
from dealershoe.entries import DeviceRow
from dealershoe.link.dictionary import Shelf, default_folder, parse
from dealershoe.record.journal import Journal
from record.dealing import DEVICE, SHOE_JOURNAL, WALL_NS, Table
from shoelink import schema

NEWER = schema.canonical() + "28 HUMID 1 <4sHB4s t_us humidity place token\n"
HASH = hashlib.sha256(NEWER.encode()).digest()[:4]
BODY = bytes(4) + b"\x90\x01\x02" + b"\x33\0\0\0"


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hand with such a report in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "journal"
    with Journal(path) as kept:
        table = Table(kept, 1)
        kept.write([DeviceRow(SHOE_JOURNAL, b"boot", DEVICE, "2", None, 1, WALL_NS, HASH, 0)])
        table.say("hand seats=1-3 button=3")
        table.number += 1
        table.desk.report(None, b"\x28" + BODY, table.at, SHOE_JOURNAL, table.number)
        table.commit()
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(commands, ["journal", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def told(text: str, **wanted: object) -> list[dict[str, object]]:
    """The JSON lines that have these values."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if wanted.items() <= line.items()]


@pytest.mark.parametrize("known", [True, False], ids=["with the dictionary", "without"])
def test_tail_and_show_say_what_it_is(journal: Path, known: bool) -> None:
    if known:
        Shelf(default_folder()).keep(parse(NEWER.encode(), HASH))
    # a token could be a card's
    line = "HUMID t_us=00000000 humidity=400 place=2 token=…" if known else "of kind 28, which is not known here"
    fields = {"t_us": "00000000", "humidity": 400, "place": 2, "token": None} if known else None
    wanted = {"kind": "28", "name": "HUMID" if known else None, "fields": fields}
    first = told(run("hands", journal, "--json"))[0]["fact"]
    assert f"from shoe, 12 bytes: {line}\n" in run("tail", journal)
    assert f"report: {line}\n" in run("show", journal, "--hand", first)
    for asked in (("tail", journal, "--json"), ("show", journal, "--hand", first, "--json")):
        text = run(*asked)
        assert len(told(text, table="facts", **wanted)) == 1, text
        assert "33000000" not in text
