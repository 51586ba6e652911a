"""`dealershoe emulate` as a person and a script start it."""

from __future__ import annotations

import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hil.hostend import HostEnd
from shoelink import schema

COMMAND = [sys.executable, "-c", "from dealershoe.cli import main; main()", "emulate", "--pace", "fast"]
DEADLINE = 30.0
HAND = "hand seats=1-3 button=3\n"


def emulate(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], input=text, capture_output=True, text=True, timeout=DEADLINE, check=False
    )


class Running:
    """A shoe in the background, its output as it comes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.output = ""

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def until(self, pattern: str) -> re.Match[str]:
        assert self.process.stdout is not None
        end = time.monotonic() + DEADLINE
        while not (match := re.search(pattern, self.output)):
            assert time.monotonic() < end, f"no {pattern!r} in {self.output!r}"
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                more = os.read(self.process.stdout.fileno(), 65536).decode()
                assert more or self.process.poll() is None, f"it ended: {self.output!r}"
                self.output += more
        return match

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        status = self.process.wait(DEADLINE)
        self.process.stdout.close()
        return status


@pytest.fixture
def running() -> Iterator[list[Running]]:
    shoes: list[Running] = []
    yield shoes
    for shoe in shoes:
        if shoe.process.poll() is None:
            shoe.process.kill()
        shoe.close()


@pytest.mark.parametrize(("given", "deck"), [((), "46 cards\n"), (("--open",), "46 cards, next [2-9TJQKA][cdhs]\n")])
def test_live_commands_go_through_the_shoe_and_the_end_of_input_ends_it(given: tuple[str, ...], deck: str) -> None:
    """The next card is named only at an open table."""
    done = emulate(*given, text=HAND + "deal hole\npress done held\nlook\npower\nhelp\n")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^port /dev/\S+$", done.stdout, re.MULTILINE)
    assert "tell the host: hand seats=1-3 button=3" in done.stdout
    assert "done deal hole" in done.stdout
    assert re.search(rf"light blue.*; in the shoe {deck}", done.stdout)
    assert "press KEY [held]" in done.stdout


def test_a_script_plays_without_a_host_when_told_not_to_wait(tmp_path: Path) -> None:
    script = tmp_path / "one.deal"
    script.write_text(HAND + "deal hole\nbetting complete\ndeal flop\nexpect due betting\n")
    done = emulate(str(script), "--no-wait", "--fault", "turned@2", "--say", str(tmp_path / "said"))
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("done")] == [
        "done hand seats=1-3 button=3",
        "done deal hole",
        "done betting complete",
        "done deal flop",
    ]
    assert (tmp_path / "said").read_text() == HAND


def test_a_script_waits_for_a_host_and_its_hand(tmp_path: Path, running: list[Running]) -> None:
    script = tmp_path / "one.deal"
    script.write_text(HAND + "card 1 Ah\ncard 2 Kd\n")
    name = tmp_path / "shoe"
    shoe = Running(str(script), "--link", str(name), "--verbose")
    running.append(shoe)
    shoe.until("waiting for a host in session")
    with HostEnd(str(name)) as host:
        shoe.until("tell the host: hand seats=1-3 button=3")
        host.want(schema.Due(0, 77, schema.DUE_SEAT, 1, 1))
        shoe.until("done card 2 Kd")
        assert [(card.hand, card.draw, card.target) for card in host.next(schema.Card, 2)] == [(77, 1, 1), (77, 2, 1)]
        assert "shoe → host" in shoe.output
    assert shoe.close() == 0
    assert not name.is_symlink()


def test_a_bridge_at_the_other_end_deals_the_script_through(tmp_path: Path, running: list[Running]) -> None:
    script, name, pipe = tmp_path / "one.deal", tmp_path / "shoe", tmp_path / "table"
    script.write_text(HAND + "deal 2\ncard 3 boxed\n")
    os.mkfifo(pipe)
    shoe = Running(str(script), "--link", str(name), "--say", str(pipe))
    running.append(shoe)
    shoe.until("waiting for a host in session")
    run = [*COMMAND[:3], "run", "--port", str(name), "--journal", str(tmp_path / "journal")]
    with (
        pipe.open() as table,
        subprocess.Popen(run, stdin=table, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as bridge,
    ):
        shoe.until("done card 3 boxed")
        bridge.terminate()
        said = bridge.communicate(timeout=DEADLINE)[0]
    assert re.search(r"#3 boxed.*\nruling ", said), said


@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid gives a shell a terminal of its own")
def test_in_the_background_of_a_terminal_it_goes_on_and_leaves_no_name_behind(tmp_path: Path) -> None:
    name, log = tmp_path / "shoe", tmp_path / "log"
    master, terminal = os.openpty()
    job = f"set -m; {shlex.join([*COMMAND, '--link', str(name)])} > {shlex.quote(str(log))} & echo $!; wait"
    shell = subprocess.Popen(
        ["setsid", "--ctty", "bash", "-c", job], stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, text=True
    )
    try:
        assert shell.stdout is not None
        shoe = int(shell.stdout.readline())
        end = time.monotonic() + DEADLINE
        while "in the background" not in (log.read_text() if log.exists() else ""):
            assert time.monotonic() < end
            time.sleep(0.05)
        with HostEnd(str(name)) as host:
            host.want(schema.Due(0, 77, schema.DUE_SEAT, 1, 1))
        os.kill(shoe, signal.SIGTERM)
        assert shell.wait(DEADLINE) == 0
        assert not name.is_symlink()
    finally:
        shell.kill()
        shell.communicate()
        os.close(master)
        os.close(terminal)


def test_the_firmware_ends_with_the_process_that_started_it(running: list[Running]) -> None:
    shoe = Running()
    running.append(shoe)
    shoe.until("port /dev/")
    children = Path(f"/proc/{shoe.process.pid}/task/{shoe.process.pid}/children")
    if not children.exists():
        pytest.skip("this system does not list a process's children in /proc")
    firmware = int(children.read_text().split()[0])
    shoe.process.kill()
    shoe.process.wait()
    end = time.monotonic() + DEADLINE
    while Path(f"/proc/{firmware}/cmdline").exists() and Path(f"/proc/{firmware}/cmdline").read_bytes():
        assert time.monotonic() < end, "the firmware still runs"


def test_ctrl_c_ends_it_cleanly(running: list[Running]) -> None:
    shoe = Running()
    running.append(shoe)
    shoe.until("port /dev/")
    shoe.process.send_signal(2)
    assert shoe.process.wait(DEADLINE) == 0


@pytest.mark.parametrize(
    ("arguments", "text", "seen"),
    [
        (["--fault", "sneeze@1"], "", "there is no fault `sneeze@1`"),
        (["nowhere.deal"], "", "nowhere.deal cannot be read"),
        ([], "card 3 Ahh\n", "saw `Ahh`"),
        ([], "deal 1\n", "no card is due"),
        ([], "press bell\n", "the shoe has no key 'bell'"),
        (["--say", "/nowhere/file"], "", "/nowhere/file cannot be written"),
        (["--link", "/nowhere/file"], "", "/nowhere/file cannot be made a link"),
        (["--rules", "nobody"], "", "nobody"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(arguments: list[str], text: str, seen: str) -> None:
    done = emulate(*arguments, text=text)
    assert done.returncode == 2
    assert done.stderr.startswith("dealershoe: ")
    assert seen in done.stderr
    assert len(done.stderr.splitlines()) == 1
