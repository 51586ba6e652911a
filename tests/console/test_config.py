"""A room in one file: what is wrong with it in a sentence with its line, what `check` finds, reload under a hand."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from console.test_run import DEALERSHOE, made
from dealershoe.bridge.command import command as run_command
from dealershoe.bridge.start import House
from dealershoe.config.check_command import UNITS, found
from dealershoe.config.check_command import command as check_command
from dealershoe.config.read import read
from dealershoe.config.room import Room
from dealershoe.console import metrics
from dealershoe.console.books import Books
from dealershoe.errors import UserError
from dealershoe.link import keystore
from dealershoe.port.identity import VENDORS
from dealershoe.record.journal import Journal

TABLE = '[[table]]\nname = "{0}"\nport = "usb:2e8a:0005:{0}"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "room.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: no table is named"),
        ("[[table]", "is no TOML"),
        ("[[table]]\nname = 't1'\n", "line 1: `port` is missing"),
        (TABLE.format("t1") + "prot = 'x'\n", "line 4: unknown key `prot`; [table] has name, port"),
        ("usres = 'x'\n" + TABLE.format("t1"), "line 1: unknown key `usres`"),
        (TABLE.format("t1") + TABLE.format("t1"), "line 5: tables t1 and t1 have the same name"),
        (
            TABLE.format("t1") + TABLE.format("t1").replace('name = "t1"', 'name = "t2"'),
            "line 6: tables t1 and t2 have",
        ),
        (TABLE.format("t1").replace("usb:2e8a:0005:t1", "auto"), "line 3: port = 'auto'"),
        (TABLE.format("t1").replace("2e8a", "zz"), "line 3: usb:zz:0005:t1 is no USB identity"),
        (TABLE.format("T 1"), "line 2: 'T 1' is no name of a table"),
        (TABLE.format("t1") + "open = 1\n", "line 4: `open` is neither true nor false"),
        (TABLE.format("t1") + "[console]\nlisten = '0.0.0.0:80'\n", "line 5: a console on 0.0.0.0:80 can be reached"),
        (TABLE.format("t1") + "[console]\nlisten = '8080x'\n", "line 5: '8080x' is no address"),
        (TABLE.format("t1") + "[console]\n", "line 4: `listen` is missing"),
        (
            TABLE.format("t1") + "[console]\nlisten = ':0'\nhosts = ['a b']\n",
            "line 6: `hosts` is no list of host names",
        ),
        ("log = 'xml'\n" + TABLE.format("t1"), "line 1: log = 'xml'; logs are lines or json"),
        ("table = 3\n", "line 1: `table` is no list of tables"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read(written(tmp_path, text))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_check_says_what_it_found_and_changes_nothing(tmp_path: Path) -> None:
    head = 'users = "users.json"\nshelf = "shelf"\nkeys = "keys.json"\n'
    path = written(tmp_path, head + TABLE.format("t1") + '[console]\nlisten = "127.0.0.1:8080"\n')
    with pytest.raises(UserError, match="no file of keys"):
        found(read(path))
    keystore.pin(tmp_path / "keys.json", b"shoe-one", bytes(32))
    with pytest.raises(UserError, match="nobody may use the console"):
        found(read(path))
    made(tmp_path / "users.json", "ann", "floor")
    Journal(tmp_path / "t1.journal").close()
    before = sorted(tmp_path.iterdir())
    result = CliRunner().invoke(check_command, [str(path)])
    assert result.exit_code == 0, result
    assert "table t1: tda-2024+house, journal t1.journal; its shoe is waited for" in result.output
    assert "console: http at 127.0.0.1:8080, for 1 people" in result.output
    assert f"keys: 1 shoes are enrolled in {tmp_path / 'keys.json'}" in result.output
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('rules = "nothing"\n', "table t1: no rule pack `nothing`"),
        ('journal = "no/t1.journal"\n', "the folder of the journal"),
        ('journal = "room.toml"\n', "is not a journal of a bridge"),
        ('[console]\nlisten = ":0"\ncertificate = "none.pem"\n', "cannot be used with its key"),
        ('signs = "users.json"\n', "table t1"),
    ],
)
def test_what_a_room_names_must_be_there(tmp_path: Path, more: str, said: str) -> None:
    made(tmp_path / "users.json", "ann", "floor")
    path = written(tmp_path, 'users = "users.json"\nshelf = "shelf"\n' + TABLE.format("t1") + more)
    result = CliRunner().invoke(check_command, [str(path)])
    assert isinstance(result.exception, UserError)
    assert said in str(result.exception)


def test_two_names_of_one_port_are_one_and_a_port_is_looked_for_from_the_file_s_folder(tmp_path: Path) -> None:
    (tmp_path / "by-id").symlink_to(tmp_path / "ttyACM0")
    two = "".join(
        f'[[table]]\nname = "{name}"\nport = "{port}"\n' for name, port in (("t1", "ttyACM0"), ("t2", "by-id"))
    )
    with pytest.raises(UserError, match="tables t1 and t2 have the same port"):
        read(written(tmp_path, two))
    made(tmp_path / "users.json", "ann", "floor")
    path = written(tmp_path, 'users = "users.json"\nany-shoe = true\n[[table]]\nname = "t1"\nport = "none"\n')
    assert read(path).tables[0].port == str(tmp_path / "none")
    result = CliRunner().invoke(check_command, [str(path)])
    assert f"its shoe is waited for: there is no {tmp_path / 'none'}" in result.output


def test_options_of_one_table_do_not_go_with_a_room(tmp_path: Path) -> None:
    result = CliRunner().invoke(run_command, ["--config", str(tmp_path / "x"), "--journal", "y"])
    assert isinstance(result.exception, UserError)
    assert "--journal beside --config" in str(result.exception)


def test_a_room_changes_without_dropping_a_hand(tmp_path: Path) -> None:
    """A table with a hand in play is closed or changed when it is over; another is opened at once; one is untouched."""
    said: list[str] = []
    text = "".join(TABLE.format(name) for name in ("t1", "t2", "t3"))
    house = House(lambda *_: None, shelf=tmp_path / "shelf")
    room = Room(house, None, said.append)
    room.open(read(written(tmp_path, text)))
    try:
        first = dict(room.bridges)
        for name in ("t1", "t2"):
            room.bridges[name].ask("hand seats=1-6 button=6", "stdin")
        changed = "".join(TABLE.format(name) for name in ("t2", "t3", "t4")).replace("0005:t2", "0005:new")
        room.want(read(written(tmp_path, changed)))
        assert set(room.bridges) == {"t1", "t2", "t3", "t4"}
        assert room.bridges["t3"] is first["t3"]
        assert sorted(said) == [
            "table t1 is closed when the hand in play is over",
            "table t2 is changed when the hand in play is over",
            "table t4 is open",
        ]
        said.clear()
        room.turn()
        assert said == []
        for name in ("t1", "t2"):
            room.bridges[name].ask("award", "stdin")
        room.turn()
        assert set(room.bridges) == {"t2", "t3", "t4"}
        assert room.bridges["t2"] is not first["t2"]
        assert "table t1 is closed" in said
        with pytest.raises(UserError, match="`port` is missing"):
            read(written(tmp_path, "[[table]]\nname='x'\n"))
    finally:
        room.close()


def test_a_running_room_reads_its_file_again(tmp_path: Path) -> None:
    token = made(tmp_path / "users.json", "ann", "floor")
    head = 'users = "users.json"\nshelf = "shelf"\nany-shoe = true\nlog = "json"\n[console]\nlisten = "127.0.0.1:0"\n'
    path = written(tmp_path, head + TABLE.format("t1"))
    process = subprocess.Popen(
        [DEALERSHOE, "run", "--config", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = _told(process, r"the console is at (\S+)")[1]
        with httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=30) as ann:
            assert ann.get("/api/v1/me").json()["tables"] == ["t1"]
            written(tmp_path, head + TABLE.format("t1") + TABLE.format("t2") + "oops = 1\n")
            process.send_signal(signal.SIGHUP)
            _told(process, "the room stays as it is: room.toml, line 13: unknown key `oops`")
            written(tmp_path, head + TABLE.format("t1") + TABLE.format("t2"))
            process.send_signal(signal.SIGHUP)
            _told(process, "room.toml was read again: 2 tables")
            assert ann.get("/api/v1/me").json()["tables"] == ["t1", "t2"]
            Books(tmp_path / "shelf-2").activate("roberts", "ann", "1")
            moved = head.replace('"shelf"', '"shelf-2"').replace('"users.json"', '"nobody.json"')
            written(tmp_path, moved + TABLE.format("t1"))
            process.send_signal(signal.SIGHUP)
            _told(process, "the room stays as it is: nobody may use the console")
            assert ann.get("/api/v1/tables/t1").json()["stack"] == "tda-2024+house"
            bob = made(tmp_path / "people.json", "bob", "floor")
            moved = moved.replace("nobody.json", "people.json").replace("127.0.0.1:0", "[::1]:0")
            written(tmp_path, moved + TABLE.format("t1"))
            process.send_signal(signal.SIGHUP)
            _told(process, "`console` in room.toml: what has changed there counts when the room is started again")
            _told(process, "room.toml was read again: 1 tables")
            assert ann.get("/api/v1/me").status_code == 401
            ann.headers["authorization"] = f"Bearer {bob}"
            end = time.monotonic() + 30
            while ann.get("/api/v1/tables/t1").json()["stack"] != "roberts":  # no hand has begun yet
                assert time.monotonic() < end
            assert [one["who"] for one in ann.get("/api/v1/rules").json()["changes"]] == ["ann (console)"]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        assert process.returncode == 0
        last = json.loads(out.splitlines()[-1])
        assert (last["table"], last["text"]) == ("t1", "unsupervised: the bridge has stopped")
    finally:
        process.kill()
        process.communicate()


def _told(process: subprocess.Popen[str], wanted: str) -> re.Match[str]:
    assert process.stdout is not None
    end = time.monotonic() + 60
    for line in process.stdout:
        told = json.loads(line)
        assert set(told) >= {"at", "table", "kind", "text"}
        match = re.search(wanted, told["text"])
        if match:
            return match
        assert time.monotonic() < end, wanted
    raise AssertionError(process.stderr.read() if process.stderr else "")


def test_the_unit_and_the_rules_are_sound(tmp_path: Path) -> None:
    unit = CliRunner().invoke(check_command, ["--systemd"]).output
    assert re.search(r"^ExecStart=/\S+ run --config /etc/dealershoe/room.toml$", unit, re.MULTILINE)
    rules = CliRunner().invoke(check_command, ["--udev"]).output
    assert rules == (UNITS / "70-dealershoe.rules").read_text()
    assert {int(vendor, 16) for vendor in re.findall(r'idVendor\}=="([0-9a-f]{4})"', rules)} == VENDORS


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here to verify the unit with")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = (UNITS / "dealershoe.service").read_text().replace("/usr/bin/dealershoe", DEALERSHOE)
    (tmp_path / "dealershoe.service").write_text(unit)
    asked = [shutil.which("systemd-analyze") or "", "verify", "--man=no", str(tmp_path / "dealershoe.service")]
    result = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert not [line for line in result.stderr.splitlines() if "dealershoe.service" in line], result.stderr


def test_the_guide_s_file_is_a_room_and_its_figures_are_all(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "run-a-room.md").read_text()
    block = re.search(r"```toml\n(.*?)```", guide, re.DOTALL)
    assert block is not None
    room = read(written(tmp_path, block[1]))
    assert [place.name for place in room.tables] == ["t1", "t2"]
    text = metrics.text([metrics.Figures("t1", True, True, "ready", False, {}, {})], 0)
    for line in text.splitlines():
        if line.startswith("# TYPE dealershoe_"):
            name = line.split()[2].removeprefix("dealershoe_")
            assert name in guide or f"_{name.rpartition('link_')[2]}`" in guide, name
