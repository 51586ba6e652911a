"""A log of JSON is JSON to its last line, whoever speaks; what libraries say names no card and no token."""

from __future__ import annotations

import json
import logging
import re
import signal
import socket
import subprocess
import threading
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest
from console.test_again import running
from console.test_config import TABLE, written
from console.test_run import DEALERSHOE, made
from dealershoe.desk.happening import Happening
from dealershoe.overheard import overheard

SECRET = "As Kd"  # what no log may say


def spoilt(url: str) -> None:
    """Requests that make a web server complain: no HTTP at all, a body that never comes, a connection that is reset."""
    host, port = httpx.URL(url).host, httpx.URL(url).port or 0
    for data in (b"\x16\x03\x01 no HTTP\r\n\r\n", b"POST /login HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\nhalf"):
        with socket.create_connection((host, port), timeout=15) as wire:
            wire.sendall(data)
            if b"no HTTP" in data:
                assert b"400" in wire.recv(4096)  # it has been said by then
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset, not closed


@pytest.mark.parametrize("way", ["one table", "a room"])
def test_every_line_of_a_log_of_json_is_json(tmp_path: Path, way: str) -> None:
    made(tmp_path / "users.json", "ann", "dealer")
    if way == "a room":
        head = (
            'users = "users.json"\nshelf = "shelf"\nany-shoe = true\nlog = "json"\n[console]\nlisten = "127.0.0.1:0"\n'
        )
        arguments = ["--config", str(written(tmp_path, head + TABLE.format("t1")))]
    else:
        (tmp_path / "port").symlink_to("/dev/ptmx")
        arguments = ["--port", str(tmp_path / "port"), "--journal", str(tmp_path / "j"), "--shelf", str(tmp_path / "s"),
                     "--console", "127.0.0.1:0", "--users", str(tmp_path / "users.json"), "--json"]  # fmt: skip
    process = subprocess.Popen(
        [DEALERSHOE, "run", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            url = re.search(r"the console is at (\S+)\"", line)
            if url is not None:
                if way == "one table":
                    process.stdin.write("hnad seats=1-6\n")
                    process.stdin.flush()
                spoilt(url[1])
            if "Invalid HTTP request" in "".join(lines) and (way == "a room" or "saw `hnad`" in "".join(lines)):
                break
        process.send_signal(signal.SIGINT)
        lines += process.stdout.readlines()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
    told = [json.loads(line) for line in lines]  # each is an object
    said = [one for one in told if one["kind"] == "program"]
    assert [(one["text"], one["level"]) for one in said][:1] == [
        ("uvicorn.error: Invalid HTTP request received.", "warning")
    ]


def test_without_json_it_is_a_line_like_the_others(tmp_path: Path) -> None:
    made(tmp_path / "users.json", "ann", "dealer")
    with running(tmp_path, stdout=subprocess.PIPE) as (process, url):
        spoilt(url)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("program"):
                assert line == "program  uvicorn.error: Invalid HTTP request received.\n"
                break


def test_what_is_said_elsewhere_is_told_without_what_it_is_about() -> None:
    heard: list[Happening] = []
    before = threading.excepthook, logging.getLogger().handlers[:]
    with overheard(heard.append):
        logging.getLogger("library").warning("cannot read %s", SECRET)
        logging.getLogger("library").info("nothing that matters")
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("library").exception("it failed\nwith %s", SECRET)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(SECRET, DeprecationWarning, stacklevel=1)

        def broken() -> Any:
            raise KeyError(SECRET)

        thread = threading.Thread(target=broken)
        thread.start()
        thread.join()
    assert (threading.excepthook, logging.getLogger().handlers[:]) == before
    texts = [one.text for one in heard]
    assert texts[0] == "library: cannot read %s"
    assert re.fullmatch(r"library: it failed \(ValueError at test_overheard.py:\d+\)", texts[1])
    assert re.fullmatch(r"Python: DeprecationWarning at test_overheard.py:\d+", texts[2])
    assert re.fullmatch(r"a thread: has ended \(KeyError( at \w+.py:\d+)+\)", texts[3])
    assert len(texts) == 4
    assert SECRET not in str(heard)
