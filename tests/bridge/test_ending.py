"""A run that is told to end loses no line of its log: the signal comes where it hurts, while a line is on its way."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from dealershoe.bridge import command
from dealershoe.config.command import Log
from dealershoe.desk.happening import Happening
from dealershoe.ending import asked_to_end

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LINES = ["room     before", "room     when it comes", "room     after"]


class Struck(Happening):
    """A happening that is out of the queue and not yet printed when the signal comes."""

    def as_line(self) -> str:
        os.kill(os.getpid(), int(str(self.data["signal"])))
        return super().as_line()


def happenings(number: int) -> list[Happening]:
    return [
        Happening("room", "before"),
        Struck("room", "when it comes", {"signal": number}),
        Happening("room", "after"),
    ]


@pytest.fixture(autouse=True)
def as_the_command_begins() -> object:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_table_ends_between_two_lines(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    said: command.Said = queue.SimpleQueue()
    for happening in happenings(number):
        said.put(happening)
    with asked_to_end(lambda: said.put(None)):
        command._print(SimpleNamespace(alive=True), said, False)  # type: ignore[arg-type]
    said.put(Happening("link", "the last word"))
    command._rest(said, False)
    assert capsys.readouterr().out.splitlines() == [*LINES, "link     the last word"]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_room_ends_between_two_lines(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(as_json=False)
    for happening in happenings(number):
        log.hear("t1", happening)
    with asked_to_end(log.end):
        log.print(60)
    assert log.ended
    log.say("the last word")
    log.rest()
    said = [*(f"t1           {line}" for line in LINES), "-            room     the last word"]
    assert capsys.readouterr().out.splitlines() == said


def test_a_log_is_printed_to_its_last_line_however_long_that_takes(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log(as_json=False)
    for number in range(5_000):
        log.say(str(number))
    log.rest()
    assert len(capsys.readouterr().out.splitlines()) == 5_000


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_breaks_off_again_afterwards_and_an_ignored_one_stays_ignored(number: int) -> None:
    told: list[str] = []
    end: Callable[[], None] = lambda: told.append("end")  # noqa: E731
    with asked_to_end(end):
        os.kill(os.getpid(), number)
        assert told == ["end"]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with asked_to_end(end):
            os.kill(os.getpid(), number)
        assert told == ["end"]
    finally:
        signal.signal(number, before)
