"""`dealershoe run --console`: the real command beside an emulated shoe, asked by a real client."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from console.test_attacks import made_certificate
from dealershoe.bridge.command import command as run_command
from dealershoe.console.people import Current
from dealershoe.console.serve import Server
from dealershoe.console.users_command import command as users_command
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.errors import UserError

DEALERSHOE = str(Path(sys.executable).with_name("dealershoe"))


def made(path: Path, name: str, role: str) -> str:
    """The token of a new person."""
    return CliRunner().invoke(users_command, ["add", name, "--role", role, "--users", str(path)]).output.strip()


def test_a_table_is_told_by_its_pipe_and_by_its_console(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    token = made(users, "ann", "dealer")
    with EmulatedShoe(pace="fast") as shoe:
        process = subprocess.Popen(
            [DEALERSHOE, "run", "--port", shoe.port, "--rules", "tda-2024+house", "--journal", str(tmp_path / "j"),
             "--console", "127.0.0.1:0", "--users", str(users), "--shelf", str(tmp_path / "shelf"), "--json"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        log = ""
        for line in process.stdout:
            log += line
            if "the console is at" in line:
                break
        url = re.search(r"the console is at (\S+)\"", log)
        assert url is not None, log
        process.stdin.write("hand seats=1-6 button=6\n")
        process.stdin.flush()
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url[1], headers=headers, timeout=30) as ann:
            end = time.monotonic() + 30
            while ann.get("/api/v1/tables/table").json()["hand"] is None:
                assert time.monotonic() < end
            said = {"id": "1", "line": "hand seats=2-4 button=3"}
            assert ann.post("/api/v1/tables/table/lines", json=said).status_code == 200
            assert ann.post("/login", data={"token": token}).status_code == 303
        process.send_signal(signal.SIGINT)
        log += process.stdout.read()
        assert process.wait(30) == 0
        process.communicate()
        assert '"seats": [2, 3, 4]' in log  # the page's hand is on the pipe too
        assert "ann (dealer) has logged in from 127.0.0.1" in log


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--console", "0.0.0.0:0"], "can be reached by others"),
        (["--console", "8080x"], "is no address"),
        (["--console", "127.0.0.1:0", "--certificate", "none.pem"], "cannot be used with its key"),
        (["--console", "127.0.0.1:0", "--name", "Table 1"], "is no name of a table"),
    ],
)
def test_a_console_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, arguments: list[str], said: str) -> None:
    users = tmp_path / "users.json"
    made(users, "ann", "dealer")
    port = tmp_path / "port"
    port.symlink_to("/dev/ptmx")  # opens as a port does; nothing is ever said there
    fixed = ["--port", str(port), "--journal", str(tmp_path / "j"), "--users", str(users), "--shelf", str(tmp_path)]
    result = CliRunner().invoke(run_command, [*fixed, *arguments])
    assert isinstance(result.exception, UserError)
    assert said in str(result.exception)


def test_people_count_as_soon_as_they_are_made_and_nobody_when_the_file_is_damaged(tmp_path: Path) -> None:
    users = tmp_path / "users.json"
    with pytest.raises(UserError, match="nobody may use the console"):
        Current(users)
    made(users, "ann", "dealer")
    current = Current(users)
    made(users, "bob", "floor")
    assert sorted(current()) == ["ann", "bob"]
    whole = users.read_text()
    users.write_text(whole[:-5])
    assert current() == {}
    assert "damaged" in current.trouble
    users.write_text(whole)
    assert sorted(current()) == ["ann", "bob"]
    assert current.trouble == ""


def test_a_console_at_every_address_says_the_names_that_a_tablet_can_open(tmp_path: Path) -> None:
    """Those of the room's file, those in the certificate, and this machine's."""
    fixed = [made_certificate(tmp_path), tmp_path / "key.pem"]
    for where in ("0.0.0.0:0", "[::]:0"):
        server = Server(where, dict, *fixed, shelf=tmp_path / "shelf", hosts=("tables.example",))
        port = httpx.URL(server.url).port
        try:
            names = ["tables.example", "127.0.0.1", socket.gethostname()]
            assert server.names == " or ".join(f"https://{name}:{port}/" for name in names)
        finally:
            server.stop()
    server = Server("[::1]:0", dict, *fixed, shelf=tmp_path / "shelf", hosts=("tables.example",))
    server.stop()
    assert server.names == server.url
    assert server.names.startswith("https://[::1]:")
