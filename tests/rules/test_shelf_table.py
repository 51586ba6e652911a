"""A table that runs takes up what is put in force on the shelf at the next hand; every ruling names its file.

The pack `room` rules on a boxed card: `misdeal` in 1.0.0, `correct` in 1.1.0, so a ruling tells who judged.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from bridge.ptyshoe import PtyShoe, wait_for
from bridge.rig import Rig
from dealershoe.bridge.bridge import moment
from dealershoe.bridge.start import desk_from
from dealershoe.entries import RULES, RulingRow
from dealershoe.errors import UserError
from dealershoe.record.journal import Journal
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_pins import Pin, names, read_layers
from dealershoe.rules.shelf_watch import Watch
from dealershoe.rules.stack import Stack
from rules.shelf_house import FLOOR, House
from shoelink import schema

HAND = "hand seats=1-3 button=3"
RUN = (sys.executable, "-c", "from dealershoe.cli import main; main()", "run")


@pytest.fixture
def house(tmp_path: Path) -> House:
    """With `room` 1.0.0 in force and 1.1.0 on the shelf."""
    made = House(tmp_path).opened()
    made.install("room", "1.0.0", ruling="misdeal")
    made.install("room", "1.1.0", ruling="correct")
    made.shelf.activate("room@1.0.0", FLOOR)
    return made


def active(house: House) -> Stack:
    stack = house.shelf.active()
    assert stack is not None
    return stack


def judged(rows: list[Any]) -> list[tuple[str, str]]:
    """Ruling and pack version of each."""
    return [(row.ruling, row.version) for row in rows if isinstance(row, RulingRow)]


def boxed(rig: Rig, draw: int = 1) -> None:
    rig.card(draw, way_up=schema.WAY_UP)
    rig.run(30)


def begin(rig: Rig) -> None:
    rig.say(HAND)
    rig.run(30)


# ---- the watch


def test_a_look_sees_each_change_of_what_is_in_force_once(house: House) -> None:
    watch = Watch(house.shelf)
    assert watch.look() is None
    house.install("room", "1.2.0")
    assert watch.look() is None
    house.shelf.activate("room@1.1.0", FLOOR)
    stack = watch.look()
    assert stack is not None
    assert stack.packs[0].version == "1.1.0"
    assert watch.look() is None
    house.shelf.rollback("", "misread", FLOOR)
    stack = watch.look()
    assert stack is not None
    assert stack.packs[0].version == "1.0.0"


def test_a_shelf_that_comes_into_being_is_seen(tmp_path: Path) -> None:
    house = House(tmp_path)
    watch = Watch(house.shelf)
    assert watch.look() is None
    house.shelf.activate("house", FLOOR)
    assert watch.look() is not None


def test_what_cannot_be_used_is_said_once_and_taken_up_when_it_is_put_right(house: House) -> None:
    watch = Watch(house.shelf)
    (path,) = house.shelf.folder.glob("packs/room@1.1.0-*.toml")
    house.shelf.activate("room@1.1.0", FLOOR)
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b"correct", b"misdeal"))
    with pytest.raises(UserError, match="is not the file that was put there"):
        watch.look()
    assert watch.look() is None
    path.write_bytes(sound)
    house.shelf.activate("room@1.1.0", FLOOR)
    assert watch.look() is not None


def test_a_history_that_was_shortened_or_written_anew_is_not_followed(house: House) -> None:
    """Every line of it holds together; only who has seen more can tell."""
    house.shelf.activate("room@1.1.0", FLOOR)
    watch = Watch(house.shelf)
    path = house.shelf.folder / "history.jsonl"
    sound = path.read_bytes()
    path.write_bytes(b"".join(sound.splitlines(keepends=True)[:-1]))
    assert active(house).packs[0].version == "1.0.0"
    with pytest.raises(UserError, match="is not the one that it was"):
        watch.look()
    path.write_bytes(sound)
    assert watch.look() is None
    path.unlink()
    with pytest.raises(UserError, match="is not the one that it was"):
        watch.look()


# ---- the table


def test_a_hand_ends_under_the_rules_it_began_with_and_the_next_has_the_new(house: House) -> None:
    rig = Rig(rules=active(house))
    rig.run(50)
    begin(rig)
    house.shelf.activate("room@1.1.0", FLOOR)
    rig.desk.judge_by(active(house), rig.at)
    boxed(rig)
    begin(rig)
    boxed(rig)
    assert judged(rig.durable) == [("misdeal", "1.0.0"), ("correct", "1.1.0")]
    assert [row.digest for row in rig.durable if isinstance(row, RulingRow)][-1] == active(house).packs[0].digest


def test_between_hands_before_the_first_the_new_rules_hold_at_once(house: House) -> None:
    rig = Rig(rules=active(house))
    rig.run(50)
    house.shelf.activate("room@1.1.0", FLOOR)
    rig.desk.judge_by(active(house), rig.at)
    begin(rig)
    boxed(rig)
    assert judged(rig.durable) == [("correct", "1.1.0")]


class Table:
    """A desk at a journal, opened as `run` opens it; a kill is to open it again. Says and hears, without a shoe."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.journal = house.folder / "journal"
        self.open()

    def open(self) -> None:
        with Journal(self.journal) as journal:
            self.desk = desk_from(journal, active(self.house), Shelf(self.house.shelf.folder))
        self.keep()

    def keep(self) -> None:
        with Journal(self.journal) as journal:
            journal.write(self.desk.entries)
        self.desk.entries = []

    def say(self, *lines: str) -> None:
        for text in lines:
            self.desk.say(text, "stdin", 1, moment())
        self.keep()


def test_a_bridge_that_starts_again_goes_on_with_the_hand_under_the_rules_it_began_with(house: House) -> None:
    table = Table(house)
    table.say(HAND)
    house.shelf.activate("room@1.1.0", FLOOR)
    table.open()  # killed after the change, before the hand was over
    assert not table.desk.align_why
    assert table.desk.session.stack.packs[0].version == "1.0.0"
    table.say("hand next")
    assert table.desk.session.stack.packs[0].version == "1.1.0"
    table.open()  # killed again, in a hand under the new rules that a hand under the old comes before
    assert table.desk.session.stack.packs[0].version == "1.1.0"
    assert not table.desk.align_why


def test_a_hand_whose_rules_are_gone_is_not_judged_by_others(house: House) -> None:
    table = Table(house)
    table.say(HAND)
    house.shelf.activate("room@1.1.0", FLOOR)
    for path in house.shelf.folder.glob("packs/room@1.0.0-*"):
        path.unlink()
    table.open()
    assert "the rules that hand" in table.desk.align_why
    assert "is gone from the shelf" in table.desk.align_why
    table.say("hand next")
    assert not table.desk.align_why
    assert table.desk.session.stack.packs[0].version == "1.1.0"


def test_the_journal_says_which_files_judged_from_when_on(house: House) -> None:
    table = Table(house)
    table.say(HAND)
    with Journal(table.journal) as journal:
        (fact,) = [fact for fact in journal.facts() if fact.raw.startswith(RULES)]
    layers = read_layers(fact.raw.removeprefix(RULES).decode())
    assert layers == ((Pin("room", "1.0.0", active(house).packs[0].digest),),)
    assert names(layers) == "room@1.0.0"


# ---- the program


class Run:
    """`dealershoe run` on a pty's shoe, with this house's shelf."""

    def __init__(self, house: House, shoe: PtyShoe) -> None:
        self.lines: list[dict[str, Any]] = []
        command = [*RUN, "--port", shoe.path, "--json", "--journal", str(house.folder / "journal")]
        self.process = subprocess.Popen(
            [*command, "--shelf", str(house.shelf.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(json.loads(line) for line in self.process.stdout)

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def wait(self, words: str) -> None:
        wait_for(lambda: any(words in str(line) for line in list(self.lines)), words)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self._reader.join(60)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()


def test_run_takes_up_an_activation_at_the_next_hand_and_a_tampered_one_never(house: House, tmp_path: Path) -> None:
    hands = [0]
    with PtyShoe() as shoe, Run(house, shoe) as run:

        def hand() -> int:
            return shoe.shoe.due.hand if shoe.shoe.due else 0

        run.wait("room 1.0.0")
        for number, activated in enumerate(("", "room@1.1.0", ""), 1):
            run.say(HAND if number == 1 else "hand next")
            run.wait(f"hand {number}:")
            wait_for(lambda: hand() != hands[-1], "the shoe to know of the hand")
            hands.append(hand())
            if activated:
                house.shelf.activate(activated, FLOOR)
                run.wait("room 1.1.0")
            shoe.card(1, way_up=schema.WAY_UP)
            wait_for(lambda: shoe.held == 0, "the card to be stored")
        house.install("room", "1.2.0")
        (path,) = house.shelf.folder.glob("packs/room@1.2.0-*.toml")
        sound = path.read_bytes()
        house.shelf.activate("room", FLOOR)
    with Journal(tmp_path / "journal") as journal:
        rows = journal.rows(RulingRow)
    assert [(row[4], row[8]) for row in rows] == [("misdeal", "1.0.0"), ("misdeal", "1.0.0"), ("correct", "1.1.0")]
    path.write_bytes(sound + b"# changed\n")
    refused = subprocess.run(
        [*RUN, "--port", "/dev/null", "--shelf", str(house.shelf.folder), "--journal", str(tmp_path / "other")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "room@1.2.0 on the shelf is not the file that was put there" in refused.stderr
    assert refused.stderr.count("\n") == 1
