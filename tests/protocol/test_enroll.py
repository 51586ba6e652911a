"""Enrolment: a key for a shoe that was switched on with its floor key held down, for no other; then all is sealed."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from dealershoe import owned
from dealershoe.bench.faults import Faults
from dealershoe.cli import commands
from dealershoe.emulate.process import micropython
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError
from dealershoe.link import keystore
from dealershoe.link.enrolment import Enrolment
from dealershoe.port.identity import PortLost
from hil.hostend import HostEnd, ticks
from protocol.faulty_line import KEY, Line, Rig, damaged, ident
from shoelink import journal, link, notice, schema

needs_micropython = pytest.mark.skipif(micropython() is None, reason="no micropython here: no wheel for this platform")
MAGENTA = (90, 0, 90)


# ---- the host's half, in virtual time


class Taker:
    """A shoe in its enrolment state, or not; a reset after it has a key, as the firmware does it."""

    def __init__(self, rig: Rig, key: bytes | None, opened: bool) -> None:
        self.key = key
        self.opened = opened
        self.rig = rig
        self.link = self._boot()

    def _boot(self) -> link.Link:
        keys = {b"s" * 8: self.key} if self.key and not self.opened else None
        shoe = link.Link(schema.SHOE, ident(b"s"), self.rig.dice.randbytes, journal.Journal(b"jrnl"), keys=keys)
        shoe.start(0)
        return shoe

    def turn(self, data: bytes, now: int) -> bytes:
        for told in self.link.receive(data, now):
            if isinstance(told, notice.Delivered) and isinstance(told.message, schema.Enroll):
                if self.opened:
                    self.key = told.message.secret
                    self.link.send(schema.Enrolled(schema.ENROLLED_WRITTEN), now)
                    self.link.poll(now)
                    answer = self.link.take()
                    self.opened = False
                    self.link = self._boot()
                    return answer
                self.link.send(schema.Enrolled(schema.ENROLLED_CLOSED), now)
        self.link.poll(now)
        return self.link.take()


def _enroll(taker: Taker, faults: Faults, seed: int = 0) -> Enrolment:
    up, down = Line("up", seed, faults), Line("down", seed, faults)
    enrolment = Enrolment(ident(b"e"), taker.rig.dice.randbytes, KEY, 0)
    for now in range(0, 30_000, 5):
        enrolment.received(up.arrived(now), now)
        enrolment.kept = enrolment.device
        down.send(enrolment.turn(now), now)
        up.send(taker.turn(down.arrived(now), now), now)
        if enrolment.done:
            break
    return enrolment


@pytest.mark.parametrize("old", [None, bytes(32)], ids=["new", "again"])
@pytest.mark.parametrize("seed", range(10))
def test_a_shoe_that_is_open_gets_its_key_whatever_the_line_does(seed: int, old: bytes | None) -> None:
    taker = Taker(Rig(seed), old, opened=True)
    enrolment = _enroll(taker, Faults(loss=0.2, **damaged(0.1), duplicate=0.05), seed)
    assert enrolment.done, "a sealed session, which only the shoe with this key could bring up"
    assert (enrolment.device, taker.key) == (b"s" * 8, KEY)


@pytest.mark.parametrize("old", [None, bytes(32)], ids=["without a key", "with another key"])
def test_a_shoe_that_is_not_open_keeps_what_it_has(old: bytes | None) -> None:
    taker = Taker(Rig(), old, opened=False)
    with pytest.raises(UserError, match="does not take a key; it was not switched on with its floor key held down"):
        _enroll(taker, Faults())
    assert taker.key == old


def test_a_shoe_gets_no_key_that_its_host_has_not_kept() -> None:
    taker = Taker(Rig(), None, opened=True)
    enrolment = Enrolment(ident(b"e"), taker.rig.dice.randbytes, KEY, 0)
    up, down = Line("up", 0, Faults()), Line("down", 0, Faults())
    for now in range(0, 3_000, 5):
        enrolment.received(up.arrived(now), now)
        down.send(enrolment.turn(now), now)
        up.send(taker.turn(down.arrived(now), now), now)
    assert enrolment.device == b"s" * 8
    assert (enrolment.given, taker.key) == (False, None)


# ---- the file of keys


def test_keys_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "keys.json"
    assert keystore.load(path) == {}
    keystore.pin(path, b"shoe-one", KEY)
    keystore.pin(path, b"shoe-two", bytes(32))
    assert keystore.load(path) == {b"shoe-one": KEY, b"shoe-two": bytes(32)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="no such rights on this system")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_keys_that_others_may_read_are_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keys.json"
    keystore.pin(path, b"shoe-one", KEY)
    path.chmod(mode)
    with pytest.raises(UserError, match="open to others"):
        keystore.load(path)


@pytest.mark.skipif(os.name != "posix", reason="no such rights on this system")
@pytest.mark.parametrize(
    "data", [b"root:x:0:0:root:/root:/bin/bash\n", b"\x7fELF\xff", b"", b'{"name": "x"}', b'{"00": "00"}']
)
def test_nobody_is_told_to_change_the_rights_of_a_file_that_has_no_keys(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "passwd"
    path.write_bytes(data)
    path.chmod(0o644)
    with pytest.raises(UserError, match=r"passwd is no file of keys; .*; name another with --keys") as refused:
        keystore.load(path)
    assert "chmod" not in str(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="no such owners on this system")
def test_a_file_of_another_user_that_has_no_keys_is_nobodys_to_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other"
    path.write_text("text")
    path.chmod(0o600)
    mine = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(UserError, match="other is no file of keys") as refused:
        keystore.load(path)
    assert "chown" not in str(refused.value)


@pytest.mark.skipif(os.name != "posix", reason="no such owners on this system")
def test_keys_that_belong_to_another_user_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for root, who may run a table with the keys of anybody."""
    path = tmp_path / "keys.json"
    keystore.pin(path, b"shoe-one", KEY)
    mine = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(UserError, match=f"belong to user {mine} and not to this one"):
        keystore.load(path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert keystore.load(path) == {b"shoe-one": KEY}


@pytest.mark.parametrize(
    "text",
    ["", "{", "\xff\xfe", "[]", '{"00": "00"}', '{"zz": 1}', '{"0011223344556677": "00"}', "null", "7", "[" * 100_000],
)
def test_damaged_keys_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(UserError, match="damaged"):
        keystore.load(path)


def test_keys_in_a_pipe_are_no_keys_and_nobody_waits_for_them(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    os.mkfifo(path, 0o600)
    with pytest.raises(UserError, match="a pipe or a device"):
        keystore.load(path)


@pytest.mark.parametrize("text", [None, "{}"], ids=["mistyped", "emptied"])
def test_keys_that_are_not_where_they_are_said_to_be_do_not_mean_any_shoe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    path = tmp_path / "keys.json"
    if text is not None:
        path.write_text(text)
        path.chmod(0o600)
    run = ["run", "--port", "none", "--journal", str(tmp_path / "journal")]
    for command in (run, ["deck", "check", "--port", "none"]):
        done = CliRunner().invoke(commands, [*command, "--keys", str(path)])
        assert isinstance(done.exception, UserError)
        assert "no file of keys" in str(done.exception) if text is None else "no key in" in str(done.exception)
    assert keystore.enrolled(None) == {}, "nothing was ever enrolled by this user"
    keystore.pin(path, b"shoe-one", KEY)
    assert keystore.enrolled(path) == {b"shoe-one": KEY}


def test_where_no_key_can_be_kept_the_shoe_gets_none(tmp_path: Path) -> None:
    """It would be in the shoe and nowhere else."""
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(commands, ["enroll", "--port", "none", "--keys", str(tmp_path / "file" / "keys.json")])
    assert isinstance(done.exception, UserError)
    assert "cannot be" in str(done.exception)


@pytest.mark.skipif(os.name != "posix", reason="no such limit on this system")
def test_a_file_that_there_is_no_room_for_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "keys.json"
    keystore.pin(path, b"shoe-one", KEY)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))  # bytes; an empty file is still made
    try:
        for keep in (keystore.pin, keystore.pend):
            with pytest.raises(UserError, match="cannot be written"):
                keep(path, b"shoe-two", KEY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert keystore.load(path) == {b"shoe-one": KEY}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="no such locks on this system")
def test_of_shoes_that_are_enrolled_at_once_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    devices = [b"shoe-%03d" % number for number in range(16)]
    waiting = [keystore.pend(path, device, KEY) for device in devices[:8]]
    jobs: list[Callable[[], None]] = [one.settle for one in waiting]
    jobs += [partial(keystore.pin, path, device, KEY) for device in devices[8:]]
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keystore.load(path) == dict.fromkeys(devices, KEY)
    assert list(tmp_path.iterdir()) == [path]


# ---- the whole way: real firmware, a pty, the command


@pytest.fixture(params=[pytest.param("micropython", marks=needs_micropython), "cpython"])
def shoe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EmulatedShoe]:
    with EmulatedShoe(pace="fast", interpreter=request.param, flash=tmp_path / "flash", device_id=b"SHOE-ONE") as one:
        yield one


def _run(shoe: EmulatedShoe, path: Path) -> tuple[int, str]:
    done = CliRunner().invoke(commands, ["enroll", "--port", shoe.port, "--keys", str(path)])
    if isinstance(done.exception, UserError):
        return 2, str(done.exception)
    return done.exit_code, done.output


def test_enroll_with_the_real_firmware(shoe: EmulatedShoe, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key_file = tmp_path / "flash" / "device.key"
    status, said = _run(shoe, path)  # not held at power-up
    assert status == 2
    assert "does not take a key" in said
    assert not key_file.exists()
    assert not path.exists()

    shoe.power_cycle(holding="floor")
    shoe.wait_for(lambda: shoe.lights == (MAGENTA,) * 8, "the enrolment state shows")
    assert _run(shoe, path) == (0, f"enrolled {b'SHOE-ONE'.hex()}; its key is in {path}\n")
    keys = keystore.load(path)
    assert keys == {b"SHOE-ONE": key_file.read_bytes()}
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert shoe.resets == 1, "it left the state by itself"

    with HostEnd(shoe.port, keys) as host:  # sealed now, and it deals
        assert host.link.sealed == b"SHOE-ONE"
        host.want(schema.Due(0, 9, schema.DUE_SEAT, 3, 1))
        shoe.wait_for(lambda: shoe.line.due is not None, "the DUE")
        shoe.pull("As", target=3)
        (came,) = host.next(schema.Card)
        assert came.hand == 9
    status, said = _run(shoe, path)  # an enrolled shoe that was not asked to
    assert status == 2
    assert "does not take a key" in said
    assert keystore.load(path) == keys == {b"SHOE-ONE": key_file.read_bytes()}

    shoe.power_cycle()  # the key outlives the power
    with HostEnd(shoe.port, keys) as host:
        assert host.link.sealed == b"SHOE-ONE"
    shoe.power_cycle(holding="floor")  # and gives way to a new one, by the same gesture
    shoe.wait_for(lambda: shoe.lights == (MAGENTA,) * 8, "the enrolment state shows")
    assert _run(shoe, path)[0] == 0
    assert keystore.load(path) != keys


def _no_room(*_: object) -> Path:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def open_shoe(tmp_path: Path) -> Iterator[EmulatedShoe]:
    """One in its enrolment state."""
    with EmulatedShoe(pace="fast", flash=tmp_path / "flash", device_id=b"SHOE-ONE", holding="floor") as one:
        yield one


@pytest.mark.parametrize("room", [0, 1], ids=["full", "full when the shoe has greeted"])
def test_on_a_full_disk_the_shoe_gets_no_key(
    open_shoe: EmulatedShoe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    path = tmp_path / "keys" / "keys.json"
    writes: list[Callable[..., Path]] = [owned._write] * room + [_no_room] * 9
    monkeypatch.setattr(owned, "_write", lambda *told: writes.pop(0)(*told))
    status, said = _run(open_shoe, path)
    assert (status, "cannot be written" in said, "the shoe" in said) == (2, True, False)
    assert not (tmp_path / "flash" / "device.key").exists()
    assert not path.parent.exists() or not list(path.parent.iterdir())


def test_a_key_that_the_shoe_has_is_never_lost(
    open_shoe: EmulatedShoe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file cannot be put in its place after the shoe has taken the key."""
    path = tmp_path / "keys" / "keys.json"
    keystore.pin(path, b"shoe-two", KEY)
    monkeypatch.setattr(Path, "replace", _no_room)
    status, said = _run(open_shoe, path)
    monkeypatch.undo()
    assert status == 2
    assert f"the shoe {b'SHOE-ONE'.hex()} has a key that is not in {path}; the keys cannot be written" in said
    assert keystore.load(path) == {b"shoe-two": KEY}
    (pending,) = (each for each in path.parent.iterdir() if each != path)
    assert f"that key is in {pending}, with all others" in said
    key = (tmp_path / "flash" / "device.key").read_bytes()
    assert keystore.load(pending) == {b"shoe-two": KEY, b"SHOE-ONE": key}
    with HostEnd(open_shoe.port, keystore.load(pending)) as host:
        assert host.link.sealed == b"SHOE-ONE"


@pytest.mark.parametrize(
    ("error", "status", "cause"),
    [
        (PortLost("the port was lost; it was unplugged; plug it in again"), 2, "the port was lost"),
        (KeyboardInterrupt(), 1, "the enrolment was ended"),
    ],
    ids=["port lost", "Ctrl-C"],
)
def test_an_enrolment_that_breaks_off_says_where_the_key_is(
    open_shoe: EmulatedShoe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
    cause: str,
) -> None:
    """The shoe has taken the key, and its port goes before it could prove it; or a person ends the program there."""
    path = tmp_path / "keys" / "keys.json"
    received = Enrolment.received

    def breaks(self: Enrolment, data: bytes, now: int) -> None:
        received(self, data, now)
        if self.written:
            raise error

    monkeypatch.setattr(Enrolment, "received", breaks)
    ended, said = _run(open_shoe, path)
    assert ended == status
    assert f"the shoe {b'SHOE-ONE'.hex()} may have a key that is not in {path}; {cause}; that key" in said
    assert not path.exists()
    (pending,) = path.parent.iterdir()
    assert str(pending) in said
    assert keystore.load(pending) == {b"SHOE-ONE": (tmp_path / "flash" / "device.key").read_bytes()}


def test_a_shoe_with_a_damaged_key_file_speaks_to_nobody_until_it_is_enrolled_again(tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    flash.mkdir()
    (flash / "device.key").write_bytes(b"cut off")
    with EmulatedShoe(pace="fast", flash=flash) as shoe:
        host = link.Link(schema.HOST, ident(b"h"), os.urandom)
        host.start(ticks())
        shoe.wait_for(lambda: any(heard.kind == schema.HELLO for heard in shoe.line.heard), "its call")
        assert all(heard.kind == schema.HELLO for heard in shoe.line.heard)
        shoe.power_cycle(holding="floor")
        assert _run(shoe, tmp_path / "keys.json")[0] == 0


def test_what_a_shoe_keeps_may_be_named_from_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with EmulatedShoe(pace="fast", flash=Path("flash")) as shoe:
        shoe.wait_for(lambda: any(heard.kind == schema.HELLO for heard in shoe.line.heard), "its call")
    assert (tmp_path / "flash" / "fram.bin").exists()


def test_another_key_at_power_up_does_not_open_the_shoe(tmp_path: Path) -> None:
    with EmulatedShoe(pace="fast", holding="done", flash=tmp_path / "flash") as shoe:
        status, said = _run(shoe, tmp_path / "keys.json")
        assert status == 2, said
