"""A table that fails in a living room: it says so to machines and people, and the others go on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from console.hall import PEOPLE, TOKENS, hall
from console.test_config import TABLE, written
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import House
from dealershoe.config.read import read
from dealershoe.config.room import Room
from dealershoe.console.serve import Server
from dealershoe.defects import shown

HAND = "hand seats=1-6 button=6"
TABLES = "/api/v1/tables"


def break_down(bridge: Bridge) -> None:
    """Its journal meets something that it cannot write: a defect, and no disk that refuses."""
    bridge.keep(object())  # type: ignore[arg-type]
    until(lambda: not bridge.alive)


def until(true: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_table_that_fails_says_so_and_the_others_go_on(tmp_path: Path) -> None:
    ports = {name: str(tmp_path / f"none-{name}") for name in ("t1", "t2")}
    with hall(tmp_path, ports) as room, room.client("floor") as floor:
        for name in ports:
            assert floor.post(f"{TABLES}/{name}/lines", json={"id": "1", "line": HAND}).status_code == 200
        assert floor.get("/readyz").status_code == 200
        with floor.stream("GET", "/api/v1/events", params={"table": "t2"}) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: state"
            break_down(room.bridges["t1"])
            assert floor.post(f"{TABLES}/t2/lines", json={"id": "2", "line": "call floor"}).status_code == 200
            assert "event: happening" in lines
        assert floor.get("/healthz").json() == {"ok": True}
        ready = floor.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"ok": False, "error": "1 of 2 tables are down"})
        failed, lives = (floor.get(f"{TABLES}/{name}").json() for name in ports)
        assert (failed["signal"], failed["link"]) == ("unsupervised", "unsupervised")
        assert failed["link_why"].startswith("the table's bridge has failed: ")
        assert failed["kinds"][failed["link_why"]]["kind"] == "reason.table-failed"
        assert (lives["signal"], lives["floor_called"]) == ("unsupervised", True)  # no shoe is there: not failed
        refused = floor.post(f"{TABLES}/t1/lines", json={"id": "3", "line": "ack"})
        assert refused.status_code == 503
        assert "table t1 is down" in refused.json()["error"]
        figures = floor.get("/metrics").text
        assert 'dealershoe_table_up{table="t1"} 0' in figures
        assert 'dealershoe_table_up{table="t2"} 1' in figures


def test_a_room_says_which_table_has_failed_and_opens_it_again_when_its_file_is_read(tmp_path: Path) -> None:
    said: list[str] = []
    path = written(tmp_path, "".join(TABLE.format(name) for name in ("t1", "t2")))
    server = Server("127.0.0.1:0", lambda: PEOPLE, shelf=tmp_path / "shelf")
    room = Room(House(server.hear, shelf=tmp_path / "shelf"), server, said.append)
    room.open(read(path))
    server.start()
    try:
        headers = {"authorization": f"Bearer {TOKENS['floor']}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=30) as floor:
            first = floor.post(f"{TABLES}/t1/lines", json={"id": "1", "line": HAND}).json()
            with floor.stream("GET", "/api/v1/events", params={"table": "t1"}) as stream:
                lines = stream.iter_lines()
                break_down(room.bridges["t1"])
                room.turn()
                assert next(line for line in lines if "the table has failed" in line and "happening" not in line)
            assert said == [f"table t1: {_failed(room)}; it is opened again when the room's file is read again"]
            assert room.bridges["t2"].alive
            room.want(read(path))
            assert "table t1 is closed, and opened as it is now" in said
            assert room.bridges["t1"].alive
            assert floor.get("/readyz").status_code == 200
            assert floor.get(f"{TABLES}/t1").json()["hand"] == 1  # as the journal has it
            assert floor.post(f"{TABLES}/t1/lines", json={"id": "1", "line": HAND}).json() == first
    finally:
        server.stop()
        room.close()
    assert server.error is None


def _failed(room: Room) -> str:
    error = room.bridges["t1"].error
    assert error is not None
    return f"the table has failed: {shown(error)}"
