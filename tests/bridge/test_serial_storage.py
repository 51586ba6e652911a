"""What went wrong with other people's files, a test a case of docs/serial-cases.md: locked, cut off, full."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.running import Running
from dealershoe.entries import Fact
from dealershoe.record.journal import Journal
from shoelink import schema


def card(draw: int) -> schema.Card:
    return schema.Card(0, draw, bytes(4), schema.word(draw), 0, 0, 0, 0, 30, 0, 1000, 0)


def test_s113_another_program_that_locks_the_file_holds_no_signal_up(shoe: PtyShoe, running: Running) -> None:
    reader = sqlite3.connect(running.journal.path, isolation_level=None)
    try:
        reader.execute("BEGIN IMMEDIATE")
        running.bridge.tell("hand seats=1-3 button=3", "test")
        wait_for(lambda: shoe.shoe.due is not None and shoe.shoe.due.seat == 1, "what is due, in spite of the lock")
        shoe.card(1)
        wait_for(lambda: shoe.shoe.due.seat == 2, "the card to be taken")
        assert shoe.held == 1, "it is not acknowledged before it is stored"
        reader.execute("ROLLBACK")
    finally:
        reader.close()
    wait_for(lambda: shoe.held == 0, "the acknowledgement once the file is free")


def test_s115_a_journal_left_in_the_middle_of_a_write_opens_whole(tmp_path: Path) -> None:
    (tmp_path / "after").mkdir()
    with Journal(tmp_path / "journal") as journal:
        journal.write([Fact(1, "shoe", b"a", 0, 0, b"JRN1", 1)])
        journal._db.execute("BEGIN IMMEDIATE")
        columns = "id, origin, raw, mono_ns, wall_ns, seq, chain"
        journal._db.execute(f"INSERT INTO facts ({columns}) VALUES (2, 'shoe', x'62', 0, 0, 99, x'00')")
        for part in tmp_path.glob("journal*"):  # what a power cut leaves: the file, its log and no lock that counts
            if part.is_file():
                (tmp_path / "after" / part.name).write_bytes(part.read_bytes())
        journal._db.execute("ROLLBACK")
    with Journal(tmp_path / "after" / "journal") as journal:
        assert [fact.raw for fact in journal.facts()] == [b"a"]


def test_s116_a_full_disk_stops_neither_the_table_nor_what_it_has_to_say(
    shoe: PtyShoe, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.Event()
    full.set()
    write = running.journal.write

    def refuses(entries: Any) -> None:
        if full.is_set():
            raise sqlite3.OperationalError("database or disk is full")
        write(entries)

    monkeypatch.setattr(running.journal, "write", refuses)
    running.faults.write_text("")  # no folder can be made of it: the report of the fault fails too
    shoe.report(card(1))
    wait_for(lambda: any("disk is full" in said.text for said in running.said), "the trouble to be said")
    shoe.mute = True
    wait_for(lambda: running.bridge.snapshot().link == "unsupervised", "the silence")
    shoe.mute = False
    assert running.bridge.alive
    wait_for(lambda: running.bridge._health.recorder.unwritten >= 1, "the report that could not be written")
    full.clear()
    running.up(2)
    wait_for(lambda: shoe.held == 0, "the card, once there is room")


def test_s116_a_full_disk_is_said_while_the_shoe_is_away_too(
    shoe: PtyShoe, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What people say is kept as well: who says it must know that it is not."""

    def refuses(entries: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    shoe.unplug()
    wait_for(lambda: running.bridge.descriptor is None, "the loss of the port")
    with monkeypatch.context() as patch:
        patch.setattr(running.journal, "write", refuses)
        running.bridge.ask("hand seats=1-6 button=6", "stdin")
        wait_for(lambda: any("disk is full" in said.text for said in running.said), "the trouble to be said")
    wait_for(lambda: any("is written again" in said.text for said in running.said), "and its end")
