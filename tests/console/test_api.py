"""The console's API against a real table: a bridge at an emulated shoe, asked over HTTP by a real client."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from dealershoe.bridge.start import Place, open_tables
from dealershoe.console import access
from dealershoe.console.access import Person
from dealershoe.console.serve import Server
from dealershoe.emulate.shoe import EmulatedShoe

TOKENS = {role: access.new_token(os.urandom) for role in access.ROLES}
PEOPLE = {role: Person(role, role, access.digest_of(token)) for role, token in TOKENS.items()}
HAND = {"id": "1", "line": "hand seats=1-6 button=6"}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A console with one table, `t1`."""
    server = Server("127.0.0.1:0", lambda: PEOPLE)
    with EmulatedShoe(pace="fast") as shoe:
        places = [Place("t1", shoe.port, tmp_path / "t1.journal", "tda-2024+house")]
        bridges = open_tables(places, server.hear, shelf=tmp_path / "shelf")
        for name, bridge in bridges.items():
            server.add(name, bridge)
            bridge.start()
        server.start()
        try:
            yield server.url
        finally:
            server.stop()
            for bridge in bridges.values():
                bridge.stop()
    assert server.error is None


def client(url: str, role: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"authorization": f"Bearer {TOKENS[role]}"}, timeout=30)


def test_a_hand_is_begun_once_seen_and_streamed(url: str) -> None:
    with client(url, "system") as system:
        said = system.post("/api/v1/tables/t1/lines", json=HAND)
        assert said.status_code == 200
        assert system.post("/api/v1/tables/t1/lines", json=HAND).json() == said.json()  # told once
        state = system.get("/api/v1/tables/t1").json()
        assert (state["hand"], state["button"], state["sb"], state["bb"]) == (1, 6, 1, 2)
        assert state["counts"]["hands"] == 1
        other = system.post("/api/v1/tables/t1/lines", json=HAND | {"line": "act 3 raise"})
        assert other.status_code == 409
        with system.stream("GET", "/api/v1/events", params={"table": "t1"}) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: state"
            assert json.loads(next(lines).removeprefix("data: "))["version"] >= state["version"]


def test_nobody_without_a_token_and_nobody_beyond_their_role(url: str) -> None:
    with httpx.Client(base_url=url) as nobody:
        assert nobody.get("/api/v1/tables").status_code == 401
        assert nobody.post("/api/v1/tables/t1/lines", json=HAND).status_code == 401
    decision = {"id": "2", "line": "floor misdeal"}
    with client(url, "dealer") as dealer:
        assert dealer.post("/api/v1/tables/t1/lines", json=decision).status_code == 403
    with client(url, "auditor") as auditor:
        assert auditor.post("/api/v1/tables/t1/lines", json=HAND).status_code == 403


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("{", 422, "no JSON object"),
        ('{"line": "act 3 raise"}', 422, "`id`"),
        ('{"id": "3", "line": "act 3 rise"}', 422, "rise"),
        ('{"id": "3", "line": "act 3 raise"}', 422, "no hand has begun"),
        ('{"id": "3", "line": "# a comment"}', 422, "says nothing"),
        ('{"id": "3", "line": "' + "x" * 20_000 + '"}', 413, "bytes"),
    ],
)
def test_a_bad_line_gets_one_sentence(url: str, body: str, status: int, said: str) -> None:
    with client(url, "dealer") as dealer:
        answer = dealer.post("/api/v1/tables/t1/lines", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert said in answer.json()["error"]
