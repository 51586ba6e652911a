"""`dealershoe journal`: a page for the floor, a verdict for whoever verifies, copies and pruning for who keeps it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dealershoe.cli import commands
from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.entries import PackRow, PruneRow
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.record.keys import bridge_key
from dealershoe.record.opening import reading
from dealershoe.record.read import opened
from dealershoe.record.verify import Check
from dealershoe.rules.signing import key_id, new_key, private_pem, raw_public
from record import earlier
from record.dealing import WALL_NS, Table

HANDS = 14
CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "bridge.key"
    bridge_key(path)
    return path


@pytest.fixture
def journal(tmp_path: Path, key: Path) -> Path:
    """Two hands described in full, the second one half way; the last hand is in play."""
    path = tmp_path / "journal"
    with Journal(path, bridge_key(key)) as kept:
        table = Table(kept, 11, accidents=1.0)
        for hand in range(HANDS):
            table.hand()
            if hand == HANDS // 2:
                table.say("hand seats=1-5 button=1")
        table.say("hand next")
        table.draw_due()
        table.commit()
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands, ["journal", *map(str, arguments)], catch_exceptions=False)


def test_the_last_ten_hands_are_a_page(journal: Path) -> None:
    result = run("show", journal)
    assert result.exit_code == 0
    begun = [line for line in result.stdout.splitlines() if not line.startswith("    ")]
    assert len(begun) == 10
    assert len(result.stdout.splitlines()) <= 40
    assert CARD.search(result.stdout) is None
    assert all(re.search(r"fact \d+ +seats 1-\d, button \d", line) for line in begun)


def test_a_ruling_that_was_taken_back_is_not_the_last_word_of_the_page(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Journal(path) as kept:
        table = Table(kept, 2, accidents=0)
        table.say("hand seats=1-6 button=6")
        table.draw_due()
        table.deck.append(FIFTY_TWO.index(table.dealt[0]))
        table.draw_due()  # the same card again
        assert table.say("report misread #2")
        table.commit()
    page = run("show", path).stdout
    assert "VOID" in page
    assert "after that: Misread number=2" in page


def test_hands_are_listed_and_chosen_by_fact_and_by_time(journal: Path) -> None:
    listed = [json.loads(line) for line in run("hands", journal, "--json").stdout.splitlines()]
    assert len(listed) == HANDS + 2
    third, fifth = listed[2]["fact"], listed[4]["fact"]
    chosen = run("hands", journal, "--from", third, "--to", fifth, "--json").stdout.splitlines()
    assert [json.loads(line) for line in chosen] == listed[2:5]
    day = time.strftime("%Y-%m-%d", time.localtime(WALL_NS // 10**9))
    assert len(run("hands", journal, "--from", day, "--to", day).stdout) == len(run("hands", journal).stdout)
    assert run("hands", journal, "--from", "2030-01-01").stdout == ""
    with pytest.raises(UserError, match="neither a fact nor a time"):
        run("hands", journal, "--from", "yesterday")


def test_a_hand_in_full_says_who_said_what_and_names_cards_only_when_asked(journal: Path) -> None:
    listed = [json.loads(line) for line in run("hands", journal, "--json").stdout.splitlines()]
    fact = next(hand["fact"] for hand in listed if hand["rulings"])
    closed = run("show", journal, "--hand", fact).stdout
    assert "console (floor: Ann)" in closed
    assert "finding: " in closed
    assert re.search(r" [A-Z-]+: .* decides\]", closed)
    assert CARD.search(closed) is None
    shown = run("show", journal, "--hand", fact, "--open")
    assert len(CARD.findall(shown.stdout)) == next(hand["cards"] for hand in listed if hand["fact"] == fact)
    rows = [json.loads(line) for line in run("show", journal, "--hand", fact, "--json").stdout.splitlines()]
    assert {row["table"] for row in rows} >= {"events", "findings", "rulings"}
    with pytest.raises(UserError, match="no hand began with fact 3"):
        run("show", journal, "--hand", 3)


def test_the_cards_of_a_hand_in_play_are_told_to_nobody_at_a_table_that_is_not_open(journal: Path) -> None:
    db = sqlite3.connect(journal, isolation_level=None)
    db.execute("UPDATE hands SET open_table = 0")
    db.close()
    listed = [json.loads(line) for line in run("hands", journal, "--json").stdout.splitlines()]
    with pytest.raises(UserError, match="is in play; nobody is told its cards before it is over"):
        run("show", journal, "--hand", listed[-1]["fact"], "--open")
    assert CARD.search(run("show", journal, "--hand", listed[0]["fact"], "--open").stdout)
    exported = run("export", journal, "--open", "--from", listed[-1]["fact"]).stdout
    assert '"kind": "Draw"' in exported
    assert CARD.search(exported) is None


def test_tail_is_the_last_records_in_order(journal: Path) -> None:
    lines = run("tail", journal, "-n", 7).stdout.splitlines()
    numbers = [int(line.split()[0]) for line in lines]
    assert numbers == list(range(numbers[-1] - 6, numbers[-1] + 1))
    told = [json.loads(line) for line in run("tail", journal, "-n", 7, "--json").stdout.splitlines()]
    assert [one["record"] for one in told] == numbers
    assert all("raw" not in one for one in told)


def test_a_checkpoint_as_tail_prints_it_is_what_verify_takes(journal: Path) -> None:
    printed = re.findall(r"checkpoint ([0-9]+:[0-9a-f]{64})$", run("tail", journal, "-n", 999).stdout, re.MULTILINE)
    assert len(printed) > 3
    assert run("verify", journal, *(word for one in printed for word in ("--seen", one))).exit_code == 0
    other = printed[-1][:-1] + ("0" if printed[-1][-1] != "0" else "1")
    assert "has another chain value than was noted elsewhere" in run("verify", journal, "--seen", other).stdout


def test_verify_needs_the_public_key_alone_and_names_what_is_wrong(journal: Path, key: Path, tmp_path: Path) -> None:
    public = tmp_path / "bridge.pub"
    assert run("key", "--out", public, "--key", key).exit_code == 0
    good = run("verify", journal, "--key", public)
    assert good.exit_code == 0
    assert "all as written, signed up to record" in good.stdout
    assert "no key was given" in run("verify", journal).stdout
    db = sqlite3.connect(journal, isolation_level=None)
    (seq, chain) = db.execute("SELECT seq, chain FROM checkpoints LIMIT 1").fetchone()
    assert run("verify", journal, "--key", public, "--seen", f"{seq}:{chain.hex()}").exit_code == 0
    db.execute("UPDATE facts SET who = 'nobody' WHERE id = 5")
    (changed,) = db.execute("SELECT seq FROM facts WHERE id = 5").fetchone()
    db.close()
    bad = run("verify", journal, "--key", public, "--json")
    assert bad.exit_code == 1
    assert json.loads(bad.stdout.splitlines()[0])["record"] == changed
    assert "(facts, fact 5) is not what was written" in run("verify", journal, "--key", public).stdout
    with pytest.raises(UserError, match="is no checkpoint"):
        run("verify", journal, "--seen", "12")
    with pytest.raises(UserError, match="holds no public Ed25519 key"):
        run("verify", journal, "--key", key)


def test_the_key_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "bridge.key"
    assert run("key", "--key", path).stdout.startswith("-----BEGIN PUBLIC KEY-----")
    assert path.stat().st_mode & 0o777 == 0o600
    assert run("key", "--key", path).stdout == run("key", "--key", path).stdout
    path.chmod(0o644)
    with pytest.raises(UserError, match="others may read or change the private key"):
        run("key", "--key", path)


def test_replay_says_how_many_hands_come_again_as_they_were(journal: Path) -> None:
    same = run("replay", journal)
    assert same.exit_code == 0
    assert same.stdout.startswith(f"{HANDS + 2} hands, ")
    assert same.stdout.endswith(": 0 not as on record\n")
    other = run("replay", journal, "--rules", "roberts", "--json")
    told = [json.loads(line) for line in other.stdout.splitlines()]
    assert told[-1]["different"] == len(told) - 1 == sum("then" in one for one in told)
    assert other.exit_code == (1 if told[-1]["different"] else 0)


def test_a_backup_is_whole_and_verifies_while_a_bridge_writes(journal: Path, key: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    public = raw_public(bridge_key(key).public_key())
    with Journal(journal, bridge_key(key)) as kept:  # the bridge has it open, its log is not in the file yet
        table = Table(kept, 12)
        table.hand()
        assert run("backup", journal, copy).exit_code == 0
        records = kept.records
        table.hand()
    with reading(copy) as db:
        check = Check(db, {key_id(public): public})
        assert list(check.run()) == []
        assert check.last == records
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy"]
    with pytest.raises(UserError, match="is there already"):
        run("backup", journal, copy)


def test_pruned_hands_are_gone_and_the_rest_verifies_and_replays(journal: Path, key: Path) -> None:
    listed = [json.loads(line) for line in run("hands", journal, "--json").stdout.splitlines()]
    public = raw_public(bridge_key(key).public_key())
    with Journal(journal) as kept:
        marks, last, packs = kept.stored(), kept.last_hand(), len(kept.rows(PackRow))
    size = journal.stat().st_size
    result = run("prune", journal, "--keep-days", 90, "--why", "ninety days are over", "--key", key)
    assert "taken out" in result.stdout
    assert journal.stat().st_size < size
    left = [json.loads(line) for line in run("hands", journal, "--json").stdout.splitlines()]
    assert left == [hand for hand in listed if hand["fact"] >= left[0]["fact"]]
    assert 0 < len(left) < len(listed)
    with Journal(journal, bridge_key(key)) as kept:
        assert kept.stored() == marks  # the shoe is not asked for them again
        assert kept.last_hand() == last
        assert len(kept.rows(PackRow)) == packs
        (pruning,) = (PruneRow(*row) for row in kept.rows(PruneRow))
        assert pruning.why == "ninety days are over"
        Table(kept, 13).hand()
    with reading(journal) as db:
        check = Check(db, {key_id(public): public})
        assert list(check.run()) == []
        assert check.pruned_up_to == pruning.last
    assert run("replay", journal).exit_code == 0
    again_pruned = run("prune", journal, "--keep-days", 90, "--why", "once more", "--key", key)
    assert again_pruned.exit_code == 0
    with reading(journal) as db:
        assert list(Check(db, {key_id(public): public}).run()) == []


def test_a_forged_pruning_is_named(journal: Path, key: Path) -> None:
    run("prune", journal, "--keep-days", 90, "--why", "old", "--key", key)
    public = raw_public(bridge_key(key).public_key())
    for change in ("marks = '{}'", "why = 'x'", "who = 'x'", "last = last + 1", "head = zeroblob(32)", "wall_ns = 1"):
        copy = journal.with_name("forged")
        shutil.copy(journal, copy)
        db = sqlite3.connect(copy, isolation_level=None)
        db.execute(f"UPDATE prunings SET {change}")
        db.close()
        with reading(copy) as reader:
            faults = list(Check(reader, {key_id(public): public}).run())
        assert any("no key given signed that records up to" in fault.what for fault in faults), change


def test_nothing_is_pruned_without_the_key_or_while_a_bridge_writes(journal: Path, tmp_path: Path, key: Path) -> None:
    before = journal.read_bytes()
    with pytest.raises(UserError, match="is not there"):
        run("prune", journal, "--keep-days", 1, "--why", "x", "--key", tmp_path / "none")
    with Journal(journal), pytest.raises(UserError, match="is in use"):
        run("prune", journal, "--keep-days", 1, "--why", "x", "--key", key)
    assert journal.read_bytes() == before
    assert "nothing to take out" in run("prune", journal, "--keep-days", 99_999, "--why", "x", "--key", key).stdout


def test_an_earlier_journal_is_read_after_an_upgrade_only(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "old"
    earlier.make(path, 2)
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"has version 2, .* `dealershoe journal upgrade old`"):
        run("show", path)
    assert path.read_bytes() == before
    assert run("upgrade", path, "--key", key).exit_code == 0
    assert run("show", path).stdout == "no hand is on record\n"  # what judged them was not recorded then
    assert run("verify", path).exit_code == 0


def test_what_is_no_journal_gets_a_sentence(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a journal")
    for name, said in ((text, "is not a journal of a bridge"), (tmp_path / "none", "cannot be read")):
        for command in ("show", "verify", "replay", "tail", "hands", "export"):
            with pytest.raises(UserError, match=said):
                run(command, name)
    with pytest.raises(UserError, match="there is no"):
        run("upgrade", tmp_path / "none")
    assert sorted(os.listdir(tmp_path)) == ["notes.txt"]


def test_another_key_cannot_go_on_unnoticed(journal: Path, key: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    other.write_bytes(private_pem(new_key()))
    other.chmod(0o600)
    with Journal(journal, bridge_key(other)) as kept:
        Table(kept, 1).hand()
    public = raw_public(bridge_key(key).public_key())
    with opened(journal) as db:
        assert any("which was not given" in fault.what for fault in Check(db, {key_id(public): public}).run())


def test_what_a_bridge_writes_is_followed(journal: Path, key: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from dealershoe.cli import main; main()",
        "journal",
        "tail",
        str(journal),
        "-n",
        "0",
        "-f",
    ]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with Journal(journal, bridge_key(key)) as kept:
        table = Table(kept, 4)
        first = kept.records + 1
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as tail:
            assert tail.stdout is not None
            try:
                deadline = time.monotonic() + 60
                while not select.select([tail.stdout], [], [], 0.1)[0]:  # it may not look yet
                    table.hand()
                    assert time.monotonic() < deadline
                assert int(tail.stdout.readline().split()[0]) >= first
                tail.send_signal(signal.SIGINT)
                tail.communicate(timeout=60)
            finally:
                tail.kill()


def test_on_a_terminal_a_replay_shows_how_far_it_is_how_fast_and_what_is_left(journal: Path) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-c", "from dealershoe.cli import main; main()", "journal", "replay", str(journal)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"}, text=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the terminal's last writer has ended
            while piece := os.read(master, 4096):
                shown += piece
        said = process.communicate(timeout=60)[0]
    os.close(master)
    bar = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    assert re.search(rf"judging .*[\d,]+ of {HANDS + 2} .*[\d,]+/s .*left", bar), bar
    assert said.startswith(f"{HANDS + 2} hands, ")
