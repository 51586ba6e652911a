"""The shoe's key: the file it is kept in, the key that is held for it, and the state that takes it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from shoelink import notice, schema

enrol: Any = import_module("shoe.enrol")
KEY = bytes(range(32))
LEVEL, TOLERANCE = 49151, 2730  # the floor key: hardware/pinout.md


@pytest.fixture(autouse=True)
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_shoe_that_was_never_enrolled_has_no_key() -> None:
    assert enrol.read_key() is None


def test_a_key_is_kept_and_replaced_whole(disk: Path) -> None:
    for key in (KEY, bytes(32)):
        assert enrol.write_key(key)
        assert enrol.read_key() == key
    assert [file.name for file in disk.iterdir()] == ["device.key"]


@pytest.mark.parametrize("size", [0, 1, 31, 33, 4096])
def test_a_damaged_file_is_a_key_that_nobody_has_and_never_none(size: int, disk: Path) -> None:
    """Without a key a shoe speaks to anyone."""
    (disk / "device.key").write_bytes(bytes(size))
    keys = {enrol.read_key() for _ in range(8)}
    assert len(keys) == 8
    assert {len(key) for key in keys} == {32}


def test_a_disk_that_is_full_or_does_not_rename_leaves_the_old_key(disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enrol.write_key(KEY)

    def refuse(*_: Any) -> None:
        raise OSError(28)

    with monkeypatch.context() as patch:
        patch.setattr(enrol.os, "rename", refuse)
        assert not enrol.write_key(bytes(32))
    assert enrol.read_key() == KEY
    (disk / "device.key.new").unlink()
    (disk / "device.key.new").mkdir()  # it cannot be written
    assert not enrol.write_key(bytes(32))
    assert enrol.read_key() == KEY


@pytest.mark.parametrize(
    ("readings", "held"),
    [
        ([LEVEL] * 4, True),
        ([LEVEL - TOLERANCE, LEVEL + TOLERANCE, LEVEL, LEVEL], True),
        ([LEVEL, LEVEL, LEVEL, 57343], False),  # let go
        ([LEVEL, 40959, LEVEL, LEVEL], False),  # a wire that is loose
        ([LEVEL + TOLERANCE + 1] * 4, False),
        ([57343] * 4, False),
    ],
)
def test_a_key_is_held_when_four_readings_in_20_ms_say_so(readings: list[int], held: bool) -> None:
    left = list(readings)
    waits: list[int] = []
    adc = SimpleNamespace(read_u16=lambda: left.pop(0))
    assert enrol.is_held(adc, LEVEL, TOLERANCE, lambda: waits.append(5)) == held
    assert len(waits) == (4 if held else readings.index(next(r for r in readings if abs(r - LEVEL) > TOLERANCE)))


class Link:
    """What the state says, and what it is given."""

    def __init__(self) -> None:
        self.notices: list[Any] = []
        self.said: list[int] = []
        self.out, self.ready = bytearray(8), 0

    def receive(self, data: Any, now: int) -> list[Any]:
        told, self.notices = self.notices, []
        return told

    def poll(self, now: int) -> None:
        pass

    def send(self, message: Any, now: int) -> bool:
        self.said.append(message.result)
        return True


class Uart:
    def any(self) -> int:
        return 1

    def readinto(self, buffer: Any) -> int:
        return 1


def state(link: Link) -> Any:
    return enrol.Enrolment(Uart(), SimpleNamespace(show=lambda *_: None), link, 0)


def asks(key: bytes) -> Any:
    return notice.Delivered(schema.ENROLL, schema.Enroll(key))


def test_the_first_key_counts_and_the_shoe_starts_again_when_the_answer_is_out() -> None:
    link = Link()
    taking = state(link)
    assert not taking.turn(10)
    link.notices = [asks(KEY)]
    assert not taking.turn(1000)
    link.notices = [asks(bytes(32))]  # another host, or the same again
    assert not taking.turn(1100)
    assert link.said == [schema.ENROLLED_WRITTEN] * 2
    assert enrol.read_key() == KEY
    assert not taking.turn(1299)
    assert taking.turn(1300)


def test_a_key_that_could_not_be_kept_is_said_and_may_come_again(disk: Path) -> None:
    link = Link()
    taking = state(link)
    (disk / "device.key.new").mkdir()
    link.notices = [asks(KEY)]
    taking.turn(1000)
    os.rmdir(disk / "device.key.new")
    link.notices = [asks(KEY)]
    taking.turn(2000)
    assert link.said == [schema.ENROLLED_FAILED, schema.ENROLLED_WRITTEN]
    assert enrol.read_key() == KEY


def test_without_a_host_the_state_ends_after_five_minutes() -> None:
    taking = state(Link())
    assert not taking.turn(299_999)
    assert taking.turn(300_000)
