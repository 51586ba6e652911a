"""The doctor names what is wrong and what to do: real firmware, real ptys, a fake USB. It takes nothing from a shoe."""

from __future__ import annotations

import contextlib
import json
import os
import select
import sqlite3
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from conform.wrong import Device, Frame, HadFilledItsLine
from dealershoe import __version__
from dealershoe.cli import commands
from dealershoe.doctor import machine, parts, sealed, usb
from dealershoe.doctor import shoe as shoe_module
from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding
from dealershoe.doctor.shoe import shoe
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.flash import build
from dealershoe.link import keystore
from dealershoe.record.journal import Journal
from hil.hostend import HostEnd
from port.usb_tree import UsbTree
from shoelink import schema

MAIN = "from dealershoe.cli import main; main()"
LONG_MS = 20_000.0
PICO, BOOTSEL, FTDI = (0x2E8A, 0x0005), (0x2E8A, 0x0003), (0x0403, 0x6001)


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not listen for seconds where the test is not about that, and wait as long as it takes for who is there."""
    if "s25" not in request.node.name:
        be_patient(monkeypatch)
    if "pty" in request.fixturenames:  # nobody there will ever greet
        monkeypatch.setattr(shoe_module, "GREETS_MS", 300.0)
        monkeypatch.setattr(shoe_module, "ANSWERS_MS", 1_500.0)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine starts a shoe late and answers late, and that is no finding."""
    for name, ms in (("QUIET_MS", 300.0), ("GREETS_MS", LONG_MS), ("PONG_MS", LONG_MS), ("SLOW_MS", LONG_MS),
                     ("GAP_MS", LONG_MS)):  # fmt: skip
        monkeypatch.setattr(shoe_module, name, ms)


@pytest.fixture
def tree(tmp_path: Path) -> UsbTree:
    return UsbTree(tmp_path / "usb")


@pytest.fixture
def pty() -> Iterator[tuple[int, str]]:
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def of(topic: str, findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.topic == topic]


def one(topic: str, findings: Iterator[Finding]) -> Finding:
    (found,) = of(topic, list(findings))
    assert found.seen[-1] == "."
    assert not found.do or found.do[-1] == "."
    return found


# ---- the whole, at the real firmware


def test_a_shoe_that_is_well_gives_status_0_and_keeps_its_events(tmp_path: Path) -> None:
    Journal(tmp_path / "j").close()
    with EmulatedShoe(pace="fast") as running:
        running.press("new-hand")
        arguments = ["--port", running.port, "--journal", str(tmp_path / "j"), "--shelf", str(tmp_path / "s"), "--json"]
        ran = CliRunner().invoke(commands, ["doctor", *arguments])
        told = [Finding(**json.loads(line)) for line in ran.stdout.splitlines()]
        assert [finding for finding in told if finding.verdict == BAD] == [], ran
        assert ran.exit_code == 0
        assert "The shoe EMULATED is there and speaks: firmware" in of("link", told)[0].seen
        assert of("events", told)[0].seen.startswith("It holds 2 events")  # COMMIT and the key
        assert of("counts", told)[0].seen.startswith("It has lost no sample and no event: frames ")
        assert of("journal", told)[0].seen.endswith("is sound and has 0 facts.")
        with HostEnd(running.port) as host:
            assert host.next(schema.Key)[0].key == schema.KEY_NEW_HAND


def test_a_port_that_is_not_there_gives_status_1_and_a_next_step(tmp_path: Path) -> None:
    arguments = ["--port", str(tmp_path / "none"), "--journal", str(tmp_path / "j"), "--shelf", str(tmp_path / "s")]
    ran = subprocess.run([sys.executable, "-c", MAIN, "doctor", *arguments], capture_output=True, text=True)
    assert ran.returncode == 1
    lines = ran.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("✗ link"))
    assert "There is no port" in lines[at]
    assert lines[at + 1].strip() == "→ Plug it in or try --port auto."


# ---- the shoe


def test_a_prompt_is_told_from_a_shoe(pty: tuple[int, str], tree: UsbTree) -> None:
    master, path = pty
    os.set_blocking(master, False)
    ended = threading.Event()

    def speak() -> None:
        while not ended.wait(0.02):  # what is written before the port opens is thrown away by the system
            with contextlib.suppress(BlockingIOError):
                os.write(master, b"\0Traceback (most recent call last):\r\n\0")

    speaking = threading.Thread(target=speak)
    speaking.start()
    try:
        found = one("link", shoe(path, tree.ports))
    finally:
        ended.set()
        speaking.join()
    assert found.verdict == BAD
    assert "the firmware stopped with an error and printed it" in found.seen


def test_silence_and_another_program_on_the_port_are_said(pty: tuple[int, str], tree: UsbTree) -> None:
    found = one("link", shoe(pty[1], tree.ports))
    assert found.verdict == BAD
    assert "Nothing comes from" in found.seen
    assert "RX and TX" in found.do


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda data: data, "What this host says comes back"),
        (lambda data: b"\r\n>>> \x00" if data else b"", "the prompt of MicroPython"),
        (lambda data: b"ERROR 17: unknown command\r\n" if data else b"", "another program or another board"),
        (lambda data: b"ERROR\r\n" if data else b"", "is no link: "),
        (lambda data: b"\xfe" if data else b"", "too few to say of what, and no frame in them"),
    ],
    ids=["a line joined to itself", "a prompt", "another device", "one short word", "a few bytes"],
)
def test_what_only_answers_is_no_silence(
    pty: tuple[int, str], tree: UsbTree, answer: Callable[[bytes], bytes], said: str
) -> None:
    master, path = pty
    ended = threading.Event()

    def speak() -> None:
        while not ended.is_set():
            if select.select([master], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):
                    os.write(master, answer(os.read(master, 4096)))

    speaking = threading.Thread(target=speak)
    speaking.start()
    try:
        found = one("link", shoe(path, tree.ports))
    finally:
        ended.set()
        speaking.join()
    assert found.verdict == BAD
    assert said in found.seen
    assert "Nothing comes" not in found.seen


def test_a_port_s_name_is_said_as_it_is_written(tree: UsbTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reg").write_text("")
    assert one("link", shoe("reg", tree.ports)).seen.startswith("reg is not a serial port")
    assert one("link", shoe("usb:12345:1", tree.ports)).seen.startswith("usb:12345:1 is no USB identity")


class Sleeps(Device):
    """Says nothing more when nobody has spoken to it for a second: what USB power saving looks like."""

    spoken_at = 0

    def _heard(self, data: bytes) -> bytes:
        if data or not self.spoken_at:
            self.spoken_at = self.now()
        return super()._heard(data)

    def say(self, one: Frame) -> list[Frame]:
        return [one] if self.now() - self.spoken_at < 1_000 else []

    @staticmethod
    def now() -> int:
        return time.monotonic_ns() // 1_000_000


def test_s25_power_saving_that_no_list_admits_to_is_noticed(tree: UsbTree) -> None:
    with Sleeps() as device:
        findings = list(shoe(device.port, tree.ports))
    (found,) = of("silence", findings)
    assert found.verdict == BAD
    assert "USB power saving" in found.seen
    assert of("link", findings)[0].verdict == GOOD  # it wakes when it is spoken to


class OtherFiles(Device):
    """It runs this release, compiled by another compiler."""

    def ident(self) -> schema.Ident:
        return schema.Ident(b"compiled", __version__.encode().ljust(12, b"\0"), bytes(range(16)))


def test_comparing_its_files_takes_so_long_that_the_session_ends_which_is_no_fault_of_the_line(
    tree: UsbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OtherFiles() as device:

        def compiled(*_: object) -> dict[str, bytes]:
            until = time.monotonic() + 20.0
            while device.link.up and time.monotonic() < until:
                time.sleep(0.01)
            return {}

        monkeypatch.setattr(build, "compiled", compiled)
        findings = list(shoe(device.port, tree.ports))
    assert "another compiler made them" in one("firmware", iter(findings)).seen
    assert "A round trip takes" in one("line", iter(findings)).seen
    assert not any("STATS" in finding.seen for finding in findings)


class Faulty(Device):
    def __enter__(self) -> Faulty:
        self.link.report(schema.Fault(bytes(4), schema.FAULT_SLOT, 0))
        self.link.report(schema.Fault(bytes(4), schema.FAULT_LID, 0))
        self.link.report(schema.Clear(bytes(4), schema.FAULT_LID, 0))
        self.link.report(schema.Fault(bytes(4), schema.FAULT_SELF_TEST, parts.bit("SLOTS")))
        self.link.report(schema.Fault(bytes(4), schema.FAULT_KEYS, 9))
        super().__enter__()
        return self


def test_a_fault_that_stands_is_named_and_stays_in_the_shoe(tree: UsbTree) -> None:
    with Faulty() as device:
        findings = list(shoe(device.port, tree.ports))
        assert device.journal.held() == 5
    assert [finding.seen for finding in of("fault", findings)] == [
        "The shoe reports the fault SLOT: a slot sensor does not work.",
        "The shoe reports the fault KEYS: the wire to the shoe's keys is broken or unplugged: no key counts.",
        # it makes no test now
        "The shoe reports the fault SELF_TEST: the shoe's self-test has found a part out of order: a slot sensor (or a "
        "card is in the throat).",
    ]
    assert of("fault", findings)[0].do == "See hardware/faults.md."


def test_what_was_on_the_line_before_the_shoe_answered_is_no_damage(tree: UsbTree) -> None:
    with HadFilledItsLine() as device:
        findings = list(shoe(device.port, tree.ports))
    assert [finding for finding in findings if finding.verdict == BAD] == []


class DamagesOne(Device):
    """One PONG does not come through whole."""

    damaged = False

    def say(self, one: Frame) -> list[Frame]:
        self.is_pong = one[0] == schema.PONG
        return [one]

    def wire(self, data: bytes) -> bytes:
        if self.is_pong and not self.damaged:
            self.damaged = True
            return data[:9] + bytes([data[9] ^ 0x80]) + data[10:]
        return data


def test_damage_in_session_is_told(tree: UsbTree) -> None:
    with DamagesOne() as device:
        findings = list(shoe(device.port, tree.ports))
    bad = [finding.seen for finding in findings if finding.verdict == BAD]
    assert "1 damaged frame came from the shoe." in bad


class Old(Device):
    def say(self, one: Frame) -> list[Frame]:
        kind, flags, seq, ack, body = one
        if kind == schema.HELLO:
            hello = schema.unpack(kind, body)._replace(schema=b"\1\2\3\4", reset=schema.RESET_WATCHDOG)
            return [(kind, flags, seq, ack, schema.pack(hello))]
        return [one]


def test_old_firmware_and_a_watchdog_reset_are_named(tree: UsbTree) -> None:
    with Old() as device:
        findings = list(shoe(device.port, tree.ports))
    assert of("firmware", findings)[0].do == "Update the older of the two."
    assert "watchdog" in of("reset", findings)[0].seen


class Enrolled(Device):
    """It has a key, and its frames a tag that nobody can check."""

    def say(self, one: Frame) -> list[Frame]:
        return [(one[0], one[1] | schema.FLAG_AUTH, *one[2:4], one[4][:32] + bytes(8))]


@pytest.mark.parametrize("known", [{}, {b"another.": bytes(32)}], ids=["no key here", "another's key here"])
def test_a_shoe_that_is_enrolled_elsewhere_is_one_that_no_table_here_takes(
    tree: UsbTree, monkeypatch: pytest.MonkeyPatch, known: dict[bytes, bytes]
) -> None:
    monkeypatch.setattr(sealed, "MEETS_MS", 500.0)
    with Enrolled() as device:
        found = one("link", shoe(device.port, tree.ports, keys=sealed.Keys(Path("keys.json"), known)))
    assert found.verdict == BAD
    assert "The shoe is enrolled and its key is n" in found.seen
    assert ("none of the 1 in keys.json" if known else "no key in keys.json") in found.seen
    assert "A table here would refuse it" in found.seen
    assert "were not looked at" in found.seen
    assert "conform" not in found.seen + found.do


def test_where_others_are_enrolled_a_shoe_without_a_key_is_refused(tree: UsbTree) -> None:
    with Device() as device:
        findings = list(shoe(device.port, tree.ports, keys=sealed.Keys(Path("keys.json"), {b"another.": bytes(32)})))
    (found,) = of("keys", findings)
    assert found.verdict == BAD
    assert "a table here would refuse it" in found.seen
    assert "--any-shoe" in found.do


def test_a_shoe_whose_key_is_here_is_examined_sealed_and_keeps_its_events(tmp_path: Path) -> None:
    path, key = tmp_path / "keys.json", os.urandom(32)
    keystore.pin(path, b"SHOE-ONE", key)
    (tmp_path / "flash").mkdir()
    (tmp_path / "flash" / "device.key").write_bytes(key)
    with EmulatedShoe(pace="fast", flash=tmp_path / "flash", device_id=b"SHOE-ONE") as running:
        running.press("new-hand")
        arguments = ["--journal", str(tmp_path / "j"), "--shelf", str(tmp_path / "s"), "--keys", str(path), "--json"]
        ran = CliRunner().invoke(commands, ["doctor", "--port", running.port, *arguments])
        told = [Finding(**json.loads(line)) for line in ran.stdout.splitlines()]
        assert [finding for finding in told if finding.verdict == BAD] == [], ran
        assert ran.exit_code == 0
        assert of("keys", told)[0].seen == f"The shoe has proven its key, which is in {path}."
        assert "The shoe SHOE-ONE is there and speaks: firmware" in of("link", told)[0].seen
        assert "A round trip takes" in of("line", told)[0].seen
        assert any("has tested" in finding.seen for finding in of("parts", told))
        assert of("events", told)[0].seen.startswith("It holds 2 events")  # COMMIT and the key
        assert of("counts", told)[0].seen.startswith("It has lost no sample and no event: frames ")
        with HostEnd(running.port, {b"SHOE-ONE": key}) as host:
            assert host.next(schema.Key)[0].key == schema.KEY_NEW_HAND


def test_a_shoe_that_was_enrolled_just_now_is_well(
    tmp_path: Path, tree: UsbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watchdog ends its enrolment state."""
    monkeypatch.setattr(shoe_module, "STATS_MS", 600.0)
    path = tmp_path / "keys.json"
    with EmulatedShoe(pace="fast", flash=tmp_path / "flash", holding="floor") as running:
        done = CliRunner().invoke(commands, ["enroll", "--port", running.port, "--keys", str(path)])
        assert done.exit_code == 0, done.exception
        findings = list(shoe(running.port, tree.ports, keys=sealed.Keys(path, keystore.load(path))))
    assert [finding for finding in findings if finding.verdict == BAD] == []
    assert "it was given its key since" in one("reset", iter(findings)).seen


def test_a_file_of_keys_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    assert "no file of keys" in one("keys", sealed.keys(path)).seen
    path.write_text("{")
    path.chmod(0o600)
    assert one("keys", sealed.keys(path)).verdict == BAD
    assert "are damaged" in one("keys", sealed.keys(path)).seen


# ---- the ports


def test_a_part_with_everything_against_it(tree: UsbTree, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tree.plug("2-1", *FTDI, "ttyUSB0", "A50285BI", product="FT232R")
    power = tree.roots.sys / "bus/usb/devices/2-1/power"
    power.mkdir()
    (power / "control").write_text("auto\n")
    (power / "autosuspend_delay_ms").write_text("2000\n")
    held = tree.roots.proc / "77" / "fd"
    held.mkdir(parents=True)
    (held / "4").symlink_to(path)
    (held.parent / "comm").write_text("ModemManager\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    findings = list(usb.ports(tree.ports, ""))
    seen = {finding.topic: finding for finding in findings}
    assert "ttyUSB0 (0403:6001, serial A50285BI, FT232R)" in seen["port"].seen
    assert "usermod -aG" in seen["permission"].do
    assert "held by process 77 (ModemManager)" in seen["holder"].seen
    assert "to sleep after 2000 ms" in seen["power"].seen
    assert 'ATTR{power/control}="on"' in seen["power"].do
    assert "16 ms, and this user may not change it" in seen["latency"].seen
    assert "ID_MM_DEVICE_IGNORE" in seen["modemmanager"].do
    bad = {finding.topic for finding in findings if finding.verdict == BAD}
    assert bad == {"permission", "holder", "power"}


def test_holders_are_named_of_a_serial_port_and_of_nothing_else(tree: UsbTree) -> None:
    """Half of all processes hold /dev/null."""
    held = tree.roots.proc / "77" / "fd"
    held.mkdir(parents=True)
    for number, name in enumerate(("null", "ttyS0")):
        path = tree.roots.dev / name
        path.touch()
        (held / str(number)).symlink_to(path)
    (tree.roots.sys / "class/tty/ttyS0").mkdir()  # built in: a port, though of no USB part
    topics = {
        name: [finding.topic for finding in usb.ports(tree.ports, str(tree.roots.dev / name))]
        for name in ("null", "ttyS0")
    }
    assert topics == {"null": [], "ttyS0": ["holder"]}


def test_a_part_with_nothing_against_it(tree: UsbTree) -> None:
    tree.plug("2-1", *PICO, "ttyACM0", "E661")
    power = tree.roots.sys / "bus/usb/devices/2-1/power"
    power.mkdir()
    (power / "control").write_text("on\n")
    findings = list(usb.ports(tree.ports, ""))
    assert {finding.verdict for finding in findings} == {GOOD}
    assert {finding.topic for finding in findings} == {"port", "power"}


def test_none_two_and_a_boot_loader(tree: UsbTree) -> None:
    assert "No shoe is plugged in" in one("ports", usb.ports(tree.ports, "")).seen
    tree.plug("1-1", *BOOTSEL)
    assert "a Pico (RP2040) in its boot loader at 1-1" in one("bootloader", usb.ports(tree.ports, "")).seen
    tree.plug("1-2", *PICO, "ttyACM0", "E661", product="Pico")
    tree.plug("1-3", *PICO, "ttyACM1", "E662", product="Pico")
    found = one("ports", usb.ports(tree.ports, ""))
    assert "serial E661" in found.seen
    assert "serial E662" in found.seen
    assert "usb-Pico_E661-if00" in found.do


# ---- the machine


def test_a_journal_that_is_sound_foreign_old_torn_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    assert one("journal", machine.journal(path)).verdict == NOTE
    Journal(path).close()
    assert one("journal", machine.journal(path)).verdict == GOOD
    before = path.read_bytes()
    torn = bytearray(before)
    torn[4_096 : 4_096 + 200] = os.urandom(200)
    path.write_bytes(torn)
    found = one("journal", machine.journal(path))
    assert (found.verdict, "is damaged" in found.seen) == (BAD, True)
    old = bytearray(before)
    old[60:64] = (99).to_bytes(4, "big")
    path.write_bytes(old)
    assert "has version 99" in one("journal", machine.journal(path)).seen
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE shopping (item)")
    other.close()
    foreign = path.read_bytes()
    assert "is not a journal of a bridge" in one("journal", machine.journal(path)).seen
    assert path.read_bytes() == foreign
    assert "no folder" in one("journal", machine.journal(tmp_path / "nowhere" / "journal")).seen


def test_a_full_disk_is_said_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 5_000_000

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    assert one("disk", machine.journal(tmp_path / "j")).seen == "4 MB are free where the journal is written."


def test_packs_and_shelf_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [finding.verdict for finding in machine.packs(tmp_path)] == [GOOD, GOOD]
    monkeypatch.setattr(machine, "DEFAULT", "no-such-pack")
    assert one("packs", machine.packs(tmp_path)).verdict == BAD


def test_an_old_python_and_no_micropython_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "PYTHON", (99, 0))
    monkeypatch.setattr(machine, "micropython", lambda: None)
    findings = list(machine.programs())
    assert of("python", findings)[0].verdict == BAD
    assert "on CPython" in of("micropython", findings)[0].seen
