"""A change of the shelf that is cut off anywhere, by a disk, a kill or the power, leaves the old or the new, whole."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dealershoe.errors import UserError
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_history import State
from rules import shelf_killed
from rules.shelf_disks import Failing, Recorder, Step, power_cuts
from rules.shelf_house import House
from rules.shelf_killed import CHANGES, prepared

Files = dict[Path, bytes | None]


def files(folder: Path) -> Files:
    """All below `folder` and it itself, as `power_cuts` has it, by paths relative to the house."""
    found = [*([folder] if folder.exists() else []), *sorted(folder.rglob("*"))]
    return {
        path.relative_to(folder.parent): None if path.is_dir() else path.read_bytes()
        for path in found
        if path.name != "lock"
    }


def lay_out(house: Path, held: Files) -> None:
    """Make the house's shelf hold exactly that."""
    shutil.rmtree(house / "shelf", ignore_errors=True)
    for path, data in sorted(held.items(), key=lambda one: len(one[0].parts)):
        if data is None:
            (house / path).mkdir(mode=0o700, exist_ok=True)
        else:
            (house / path).write_bytes(data)


def judged_by(shelf: Shelf) -> tuple[str, ...]:
    stack = shelf.active()
    return tuple(pack.digest for pack in stack.packs) if stack else ()


def known(state: State) -> tuple[object, ...]:
    return (state.trusted, state.revoked, state.installed, state.active, state.lines)


@pytest.fixture(params=CHANGES)
def change(request: pytest.FixtureRequest) -> Callable[[House], None]:
    made: Callable[[House], None] = CHANGES[request.param]
    return made


@pytest.fixture
def base(change: Callable[[House], None], tmp_path: Path) -> House:
    """A house ready for the change; with nothing at all where the change is the first."""
    house = House(tmp_path)
    if change is not shelf_killed.trust:
        prepared(house)
    return house


def test_a_power_cut_after_any_step_leaves_the_old_or_the_new(base: House, change: Callable[[House], None]) -> None:
    before = files(base.shelf.folder)
    disk = Recorder()
    old = known(base.shelf.state())
    change(House(base.folder, disk))
    new = known(base.shelf.state())
    steps = [step.below(base.folder) for step in disk.steps]
    assert {"create", "write", "sync", "rename", "sync_folder"} <= {step.what for step in steps}
    seen = set()
    for count in range(len(steps) + 1):
        for held in power_cuts(before, steps[:count]):
            key = (count == len(steps), tuple(sorted(held.items())))
            if key in seen:
                continue
            seen.add(key)
            lay_out(base.folder, held)
            now = known(base.shelf.state())
            assert now in (old, new), f"after {count} of {len(steps)} steps: neither old nor new"
            assert now == new or count < len(steps), "the change had been reported as done"
            if change is not shelf_killed.revoke:
                base.shelf.check()
            if now == old:
                change(House(base.folder))
                assert known(base.shelf.state())[:4] == new[:4]
    assert len(seen) > len(steps), "this proves nothing"


@pytest.mark.parametrize("forgotten", ["sync", "sync_folder", "create"])
def test_the_power_cuts_above_find_a_step_that_is_left_out(tmp_path: Path, forgotten: str) -> None:
    """Without the sync a file may be half there; without the folder's the change may be lost; in place, it is torn."""
    base = House(tmp_path)
    prepared(base)
    before = files(base.shelf.folder)
    disk = Recorder()
    shelf_killed.rollback(House(base.folder, disk))
    new = files(base.shelf.folder)
    steps = [step.below(base.folder) for step in disk.steps if step.what != forgotten]
    if forgotten == "create":
        history = Path("shelf/history.jsonl")
        steps = [Step("write", history, new[history]), Step("sync", history)]
    whole = [{path: data for path, data in one.items() if path.suffix == ".jsonl"} for one in (before, new)]
    wrong = 0
    for count in range(len(steps) + 1):
        for held in power_cuts(before, steps[:count]):
            got = {path: data for path, data in held.items() if path.suffix == ".jsonl"}
            wrong += got not in (whole if count < len(steps) else whole[1:])
    assert wrong


def test_a_disk_that_refuses_any_step_is_one_sentence_and_the_old_or_the_new(
    base: House, change: Callable[[House], None]
) -> None:
    before = files(base.shelf.folder)
    old = known(base.shelf.state())
    at = 0
    while True:
        lay_out(base.folder, before)
        disk = Failing(at)
        refusal = ""
        try:
            change(House(base.folder, disk))
        except UserError as error:
            refusal = str(error)
        if disk.failed is None:
            break
        assert ("could not be written" in refusal) != ("did not confirm" in refusal)
        assert "\n" not in refusal
        assert not list(base.shelf.folder.rglob("*.new")), disk.failed
        now = known(base.shelf.state())
        if now == old:
            change(House(base.folder))
        else:
            assert disk.failed.what == "sync_folder"
            assert disk.failed.path == base.shelf.folder
        at += 1
    assert at >= 5


def test_a_kill_at_any_step_leaves_the_old_or_the_new(base: House, change: Callable[[House], None]) -> None:
    """By SIGKILL, in a process of its own for each step."""
    old = known(base.shelf.state())
    ran = subprocess.run(
        [sys.executable, shelf_killed.__file__, change.__name__, str(base.folder)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    killed = int(ran.stdout)
    assert killed >= 5
    change(base)
    new = known(base.shelf.state())
    for at in range(killed):
        house = House(base.folder / f"killed-{at}")
        now = known(house.shelf.state())
        assert now in (old, new)
        if now == old:
            change(house)
            assert known(house.shelf.state()) == new


def rounds() -> Iterator[tuple[int, float]]:
    chance = random.Random(20241009)
    for number in range(8):
        yield number, chance.uniform(0.0, 0.08)


def test_kill_9_again_and_again_while_the_rules_change(tmp_path: Path) -> None:
    house = House(tmp_path).opened()
    prepared(house)
    for number, delay in rounds():
        before = len(house.shelf.state().lines)
        with subprocess.Popen(
            [sys.executable, shelf_killed.__file__, "for-ever", str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "1\n"
            time.sleep(delay)
            child.send_signal(signal.SIGKILL)
            done = 1 + len([line for line in child.stdout.read().split("\n")[:-1] if line])
        state = house.shelf.check()
        assert before + done <= len(state.lines) <= before + done + 1, f"round {number}, killed after {delay:.3f} s"
        assert judged_by(house.shelf)
