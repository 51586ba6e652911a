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
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
from dealershoe.emulate.parts import FAILURES
from dealershoe.emulate.portname import named
from dealershoe.emulate.process import ShoeStoppedError
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from hil.hostend import HostEnd
from shoelink import schema

COMMAND = [sys.executable, "-c", "from dealershoe.cli import main; main()", "emulate", "--pace", "fast"]
DEADLINE = 30.0
HAND = "hand seats=1-3 button=3\n"


def emulate(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
        errors="surrogateescape",
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


def test_the_test_card_is_drawn_for_the_doctor_and_at_any_other_time_is_a_card(running: list[Running]) -> None:
    shoe = Running("--open")
    running.append(shoe)
    port = shoe.until(r"port (\S+)")[1]
    doctor = [*COMMAND[:3], "doctor", "--port", port, "--test-card"]
    with subprocess.Popen(doctor, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as asks:
        assert asks.stdout is not None
        while "Draw the test card now" not in (line := asks.stdout.readline()):
            assert line, "the doctor asked for no card"
        shoe.say("test card\n")
        assert "The test card was read." in asks.communicate(timeout=DEADLINE)[0]
    with HostEnd(port) as host:
        shoe.say("test card\n")
        assert host.next(schema.Card)[0].deck == 1
    assert shoe.close() == 0


def test_a_part_fails_on_command_until_it_is_mended(running: list[Running]) -> None:
    """Also over a power cycle, and another part does not mend it."""
    shoe = Running()
    running.append(shoe)
    port = shoe.until(r"port (\S+)")[1]
    with HostEnd(port) as host:
        shoe.say("fail supply low\nfail lid open\n")
        host.wait_for(lambda: faults(host) >= {schema.FAULT_LID, schema.FAULT_SUPPLY}, "both faults")
        host.events.clear()
        shoe.say("power\n")
        host.wait_for(lambda: faults(host) >= {schema.FAULT_LID, schema.FAULT_SUPPLY}, "both again")
        shoe.say("mend lid\n")
        host.wait_for(lambda: schema.FAULT_LID in cleared(host), "the lid is closed")
        host.events.clear()
        shoe.say("power\n")
        host.wait_for(lambda: schema.FAULT_SUPPLY in faults(host), "the supply")
        assert schema.FAULT_LID not in faults(host)
        shoe.say("mend\n")
        host.wait_for(lambda: schema.FAULT_SUPPLY in cleared(host), "the supply is well")
    assert shoe.close() == 0


def cleared(host: HostEnd) -> set[int]:
    return {event.code for event in host.events if isinstance(event, schema.Clear)}


def faults(host: HostEnd) -> set[int]:
    return {event.code for event in host.events if isinstance(event, schema.Fault)}


def test_the_help_names_every_part_and_every_way() -> None:
    for text in (emulate("--help").stdout, emulate(text="help\n").stdout):
        assert "test card" in text
        for part, how in FAILURES:
            assert re.search(rf"^ +{part} .*\b{how}\b", text, re.MULTILINE), (part, how)


def test_a_second_shoe_does_not_take_the_name_of_one_that_is_on(tmp_path: Path, running: list[Running]) -> None:
    name = tmp_path / "shoe"
    shoe = Running("--link", str(name))
    running.append(shoe)
    shoe.until("port ")
    mine = os.readlink(name)
    second = emulate("--link", str(name))
    assert second.returncode == 2
    assert second.stderr.startswith(
        f"dealershoe: another emulated shoe has the name {name}; its port {mine} is alive; "
    )
    assert len(second.stderr.splitlines()) == 1
    assert os.readlink(name) == mine
    shoe.process.kill()
    shoe.process.wait()
    assert name.is_symlink()  # nobody took it away
    assert emulate("--link", str(name)).returncode == 0
    assert not name.is_symlink()


def test_a_name_is_taken_over_from_the_dead_only_and_taken_away_only_while_it_is_ones_own(tmp_path: Path) -> None:
    name, folder = tmp_path / "shoe", tmp_path / "folder"
    folder.mkdir()
    name.symlink_to(folder)
    with pytest.raises(UserError, match=f"shoe is a link to {folder} already"), named(name, "/dev/pts/1"):
        pass
    name.unlink()
    master, window = os.openpty()  # a window's terminal, which has got the number of a dead shoe's port
    name.symlink_to(os.ttyname(window))
    with named(name, "/dev/pts/of-mine"):
        assert os.readlink(name) == "/dev/pts/of-mine"
        name.unlink()
        name.symlink_to("/dev/pts/of-another")
    assert os.readlink(name) == "/dev/pts/of-another"
    tty.setraw(window)
    name.unlink()
    name.symlink_to(os.ttyname(window))
    with pytest.raises(UserError, match="another emulated shoe"), named(name, "/dev/pts/of-mine"):
        pass
    with named(name, os.ttyname(window)):  # the system gave the dead shoe's pty to this one
        assert name.is_symlink()
    assert not name.is_symlink()
    os.close(master)
    os.close(window)


def killed(shoe: EmulatedShoe, number: signal.Signals) -> None:
    process = shoe._firmware._process
    assert process is not None
    process.send_signal(number)
    shoe.wait_for(lambda: False, "its end")


@pytest.mark.parametrize(("number", "words"), [(signal.SIGKILL, "want of memory"), (signal.SIGSEGV, "a crash of")])
def test_a_firmware_that_is_killed_is_said_to_be(number: signal.Signals, words: str) -> None:
    with pytest.raises(ShoeStoppedError) as caught, EmulatedShoe(pace="fast") as shoe:
        killed(shoe, number)
    assert f"firmware was killed by {number.name}" in str(caught.value)
    assert words in str(caught.value)
    assert "error in the firmware" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "text", "seen"),
    [
        (["--fault", "sneeze@1"], "", "there is no fault `sneeze@1`"),
        (["nowhere.deal"], "", "nowhere.deal cannot be read"),
        ([], "card 3 Ahh\n", "saw `Ahh`"),
        ([], "deal 1\n", "no card is due"),
        ([], "press bell\n", "line 1, `press bell`: the shoe has no key 'bell'"),
        ([], "look\n\nfail lid ajar\n", "line 3, `fail lid ajar`: lid cannot fail as 'ajar'; its ways are open"),
        ([], "fail lip open\n", "line 1, `fail lip open`: no part 'lip' can fail; the parts that can are fram, lanes,"),
        ([], "mend lip\n", "line 1, `mend lip`: no part 'lip' can fail"),
        ([], "mend lid open\n", "line 1, `mend lid open`: `mend` wants other words"),
        ([], "test cards\n", "line 1, `test cards`: `test` wants other words"),
        ([], "look\nsneeze\n", "standard input, line 2: saw `sneeze`"),
        ([], "look\n\udcff\n", "line 2 of standard input is no text"),
        (["--no-wait"], "", "--no-wait is for a script"),
        (["--flash", __file__], "", "; it is a file; "),
        (["--flash", "/nowhere/flash"], "", "/nowhere/flash; there is no folder to make it in; "),
        (["--flash", "/proc/flash"], "", "the shoe cannot keep its files in /proc/flash"),
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
