"""The conformance checks hold for the real firmware, and each one fails on a device that is wrong in what it names."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tty
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from conform.wrong import WRONG, Device, Frame, HadFilledItsLine, PausesBetweenReads, changed
from dealershoe.conform import run as run_module
from dealershoe.conform.checks import CHECKS
from dealershoe.conform.run import FAILS, HOLDS, UNTESTED, Verdict, run
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from dealershoe.port.port import Port
from shoelink import schema

README = Path(schema.__file__).parents[1] / "README.md"
MAIN = "from dealershoe.cli import main; main()"
# a check that needs something to have happened before it: the checks that bring it about
BEFORE = {"damaged-counted": ("half-frame",), "frames-fit": ("damaged-counted", "half-frame"), "half-frame": ()}
AT_ONCE = 12  # devices: they mostly wait


def conform(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", MAIN, "conform", *args], capture_output=True, text=True)


def at_the_firmware() -> subprocess.CompletedProcess[str]:
    with EmulatedShoe(pace="fast") as shoe:
        return conform("--port", shoe.port, "--json")


@pytest.fixture(scope="module")
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(AT_ONCE) as made:
        yield made


@pytest.fixture(scope="module")
def firmware(pool: ThreadPoolExecutor) -> Future[subprocess.CompletedProcess[str]]:
    return pool.submit(at_the_firmware)


@pytest.fixture(scope="module")
def verdicts(
    firmware: Future[subprocess.CompletedProcess[str]], pool: ThreadPoolExecutor
) -> dict[tuple[str, type[Device]], Future[Verdict]]:
    return {(name, wrong): pool.submit(judged, name, wrong) for name, wrong in WRONG}


def test_the_real_firmware_conforms(firmware: Future[subprocess.CompletedProcess[str]], verdicts: object) -> None:
    ran = firmware.result()
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [one for one in told if one["verdict"] != HOLDS] == [], ran.stderr
    assert [one["check"] for one in told] == [check.name for check in CHECKS]
    assert ran.returncode == 0


def judged(name: str, wrong: type[Device]) -> Verdict:
    with wrong() as device:
        return list(run(device.port, (*BEFORE.get(name, ()), name)))[-1]


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[f"{name}-{wrong.__name__}" for name, wrong in WRONG])
def test_a_wrong_device_fails_the_check_that_names_it(
    verdicts: dict[tuple[str, type[Device]], Future[Verdict]], name: str, wrong: type[Device]
) -> None:
    verdict = verdicts[name, wrong].result()
    assert verdict.check.name == name
    assert (verdict.verdict, bool(verdict.seen)) == (FAILS, True), verdict


def test_every_check_has_a_device_that_fails_it() -> None:
    assert {name for name, _ in WRONG} == {check.name for check in CHECKS}


def test_every_check_cites_a_section_of_the_protocol() -> None:
    text = README.read_text(encoding="utf-8")
    for check in CHECKS:
        assert f"\n## {check.section}\n" in text


def test_a_device_that_is_only_slow_to_read_is_not_said_to_be_wrong() -> None:
    verdict = judged("one-nak", PausesBetweenReads)
    assert verdict.verdict == UNTESTED
    assert "it may have paused between two reads" in verdict.seen


def test_what_was_on_the_line_before_it_answered_is_not_its_damage() -> None:
    with HadFilledItsLine() as device:
        verdicts = list(run(device.port, ("greets", "comes-up", "frames-fit")))
    assert [(one.check.name, one.verdict, one.seen) for one in verdicts] == [
        ("greets", HOLDS, ""),
        ("comes-up", HOLDS, ""),
        ("frames-fit", HOLDS, ""),
    ]


class HadGreetedLongAgo(Device):
    """Its first greeting waited in a buffer: it is from before the card that it holds was drawn."""

    greeted = 0

    def say(self, one: Frame) -> list[Frame]:
        if one[0] != schema.HELLO or self.greeted:
            return [one]
        self.greeted += 1
        hello = schema.unpack(schema.HELLO, one[4])
        return [changed(one, next=hello.next - 1)]


def test_a_greeting_that_had_waited_does_not_hide_what_a_device_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    device = HadGreetedLongAgo()
    device.link.report(schema.Key(0, bytes(4), 1, 0))
    begun = contextlib.ExitStack()

    def opened(path: str) -> Port:
        port = Port(path)  # which empties what waits in the system
        begun.enter_context(device)
        return port

    monkeypatch.setattr(run_module, "Port", opened)
    with begun, pytest.raises(UserError, match="the device holds 1 event that no host has stored"):
        list(run(device.port, ("greets",)))


def test_plain_output_and_exit_status_of_a_device_that_fails() -> None:
    with dict(WRONG)["due-confirmed"]() as device:
        ran = conform("--port", device.port, "--only", "due-confirmed", "--only", "comes-up")
    assert ran.returncode == 1
    first, second, last = ran.stdout.splitlines()
    assert first.startswith("holds     comes-up ")
    assert second.startswith("FAILS     due-confirmed")
    assert "seen: no ACK of DUE 259 within 500 ms (protocol/README.md, 'Desired state: the newest counts')" in second
    assert last == "1 hold, 1 fail"


def test_a_device_that_holds_events_is_not_robbed_of_them() -> None:
    with Device() as device:
        device.link.report(schema.Key(0, bytes(4), 1, 0))
        with pytest.raises(UserError, match="the device holds 1 event that no host has stored"):
            list(run(device.port, ("greets",)))
        assert device.journal.held() == 1
        assert [verdict.verdict for verdict in run(device.port, ("greets", "numbered"), take=True)] == [HOLDS, HOLDS]


def test_a_silent_port_and_a_missing_one_are_errors_of_one_sentence(tmp_path: Path) -> None:
    ran = conform("--port", str(tmp_path / "none"))
    assert ran.returncode == 2
    assert "there is no port" in ran.stderr
    ran = conform("--port", "auto", "--only", "everything")
    assert ran.returncode == 2
    assert "there is no check everything" in ran.stderr


def test_a_port_where_nobody_speaks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "GREETS_MS", 500.0)
    master, slave = os.openpty()
    tty.setraw(slave)
    try:
        with pytest.raises(UserError, match=r"no HELLO came within 0\.5 s"):
            list(run(os.ttyname(slave)))
    finally:
        os.close(master)
        os.close(slave)
