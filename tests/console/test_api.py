"""The console's API against a real table: a bridge at an emulated shoe, asked over HTTP by a real client."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from console.hall import Hall, hall
from dealershoe.bridge import bridge
from dealershoe.console import document, history
from dealershoe.console.app import Console
from dealershoe.desk.table_link import TableLink
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.entries import Entry
from dealershoe.record.journal import Journal
from dealershoe.record.read import opened

HAND = {"id": "1", "line": "hand seats=1-6 button=6"}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A table with a shoe, `t1`, and one without, `t2`."""
    folder = tmp_path_factory.mktemp("room")
    with EmulatedShoe(pace="fast") as shoe, hall(folder, {"t1": shoe.port, "t2": str(folder / "no-shoe")}) as found:
        yield found


def test_a_hand_is_begun_once_seen_and_streamed(room: Hall) -> None:
    with room.client("system") as system:
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


def test_nobody_without_a_token_and_nobody_beyond_their_role(room: Hall) -> None:
    with room.client("") as nobody:
        assert nobody.get("/api/v1/tables").status_code == 401
        assert nobody.post("/api/v1/tables/t1/lines", json=HAND).status_code == 401
    decision = {"id": "2", "line": "floor misdeal"}
    with room.client("dealer") as dealer:
        assert dealer.post("/api/v1/tables/t1/lines", json=decision).status_code == 403
    with room.client("auditor") as auditor:
        assert auditor.post("/api/v1/tables/t1/lines", json=HAND).status_code == 403


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("{", 422, "no JSON object"),
        ('{"line": "act 3 raise"}', 422, "`id`"),
        ('{"id": "3", "line": "act 3 rise"}', 422, "did you mean `raise`?"),
        ('{"id": "3", "line": "act 99 fold"}', 422, "expected a seat from 1 to 11"),
        ('{"id": "4", "line": "card 3"}', 422, "`card` is for scripts"),
        ('{"id": "3", "line": "act 3 raise"}', 422, "no hand has begun"),
        ('{"id": "3", "line": "# a comment"}', 422, "says nothing"),
        ('{"id": "3", "line": "' + "x" * 20_000 + '"}', 413, "bytes"),
    ],
)
def test_a_bad_line_gets_one_sentence(room: Hall, body: str, status: int, said: str) -> None:
    with room.client("dealer") as dealer:
        answer = dealer.post("/api/v1/tables/t2/lines", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    told = answer.json()
    assert said in told["error"]
    assert not re.search(r"line \d", told["error"])  # it came alone
    if "seen" in told:
        assert told["error"] == "; ".join((told["seen"], told["cause"], told["do"]))
        assert all((told["seen"], told["cause"], told["do"]))


@pytest.mark.parametrize(
    ("before", "line", "kind"),
    [
        ("", "hand next", "refused.no-hand"),
        ("", "betting complete", "refused.align"),
        ("hand seats=1-6 button=6", "exposed by=dealer", "refused.no-card"),
        ("hand seats=1-6 button=6", "undo", "refused.no-undo"),
        ("", "hand seats=1-4 button=1 bb=9", "refused.blind"),
        ("hand seats=1-3 button=1", "hand next gone=1,2", "refused.left"),
    ],
)
def test_what_a_page_can_be_refused_has_a_kind(tmp_path: Path, before: str, line: str, kind: str) -> None:
    with hall(tmp_path, {"t1": str(tmp_path / "none")}) as found, found.client("dealer") as dealer:
        if before:
            assert dealer.post("/api/v1/tables/t1/lines", json={"id": "0", "line": before}).status_code == 200
        told = dealer.post("/api/v1/tables/t1/lines", json={"id": "1", "line": line}).json()
        assert told["kinds"][told["error"]]["kind"] == kind


def test_the_document_and_the_routes_are_one(room: Hall) -> None:
    """Every way of the table answers, and there is no other under its prefix."""
    with room.client("floor") as floor:
        told = floor.get("/api/v1/openapi.json").json()
    assert told == json.loads(json.dumps(document.document()))
    written = {(method.upper(), path) for path, ways in told["paths"].items() for method in ways}
    assert written == {(way.method, document.PREFIX + way.path) for way in document.WAYS}
    assert all(callable(getattr(Console, way.name)) for way in document.WAYS)
    with httpx.Client(base_url=room.url) as nobody:
        for method, path in written:
            asked = nobody.request(method, path.replace("{table}", "t2").replace("{hand}", "1"), json={})
            assert asked.status_code == 401, path


def test_every_state_is_of_the_shape_that_is_documented(room: Hall) -> None:
    with room.client("floor") as floor:
        states = floor.get("/api/v1/tables").json()["tables"]
    shape = document.SHAPES["State"]
    for state in states:
        assert set(state) == set(shape["required"])


def test_hands_are_read_from_the_journal_and_who_looks_at_cards_is_on_record(room: Hall) -> None:
    with room.client("floor") as floor:
        for number, line in enumerate(["hand seats=1-6 button=6", "floor play-on", "award", "hand next"]):
            said = {"id": f"h{number}", "line": line, "reason": "the cards were counted # twice"}
            assert floor.post("/api/v1/tables/t2/lines", json=said).status_code == 200
        told = _until(floor, "/api/v1/tables/t2/hands?last=10", lambda body: len(body["hands"]) == 2)["hands"]
        assert [(one["hand"], one["button"], one["over"]) for one in told] == [(2, 1, False), (1, 6, True)]
        assert told[0]["hand"] == floor.get("/api/v1/tables/t2").json()["hand"]
        story = floor.get("/api/v1/tables/t2/hands/1").json()["story"]
        decided = next(one for one in story if "FloorDecision" in one["text"])
        assert (decided["origin"], decided["who"]) == ("api", "floor")
        assert decided["reason"] == "the cards were counted # twice"
        in_play = floor.get("/api/v1/tables/t2/hands/2", params={"cards": "1"})
        assert in_play.status_code == 409
        assert "in play" in in_play.json()["error"]
        assert not _looks(room, "t2")
        assert floor.get("/api/v1/tables/t2/hands/1", params={"cards": "1"}).status_code == 200
        assert _looks(room, "t2") == [("floor", "at the cards of hand 1")]
        assert floor.get("/api/v1/tables/t2/hands/99999").status_code == 404
        assert floor.get("/api/v1/tables/t2/hands", params={"last": "0"}).status_code == 422
        no_reason = floor.post("/api/v1/tables/t2/lines", json={"id": "h9", "line": "floor misdeal"})
        assert no_reason.status_code == 422
    with room.client("dealer") as dealer:
        assert dealer.get("/api/v1/tables/t2/hands").status_code == 403


def test_the_story_of_a_hand_has_what_was_said_though_the_disk_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, go = Journal.write, threading.Event()

    def slow(journal: Journal, entries: list[Entry]) -> None:
        assert go.wait(20)
        write(journal, entries)

    with hall(tmp_path, {"t1": str(tmp_path / "none")}) as room, room.client("floor") as floor:
        assert floor.post("/api/v1/tables/t1/lines", json=HAND).status_code == 200
        monkeypatch.setattr(Journal, "write", slow)
        room.bridges["t1"].ask("report bad-shuffle", "test")
        room.bridges["t1"].snapshot()  # it was heard
        threading.Timer(0.3, go.set).start()
        told = floor.get("/api/v1/tables/t1/hands/1").json()["story"]
    assert "test" in [one["origin"] for one in told]


def _until(client: httpx.Client, path: str, true: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + 30
    while not true(body := client.get(path).json()):
        assert time.monotonic() < end, body
    return body


def _looks(room: Hall, table: str) -> list[tuple[str, str]]:
    with opened(room.journal(table)) as db:
        return db.execute("SELECT who, note FROM runs WHERE kind = ?", (history.LOOK,)).fetchall()


def test_every_book_says_what_it_would_rule(room: Hall) -> None:
    with room.client("floor") as floor:
        for number, line in enumerate(["hand seats=1-6 button=6", "report bad-shuffle"]):
            assert floor.post("/api/v1/tables/t2/lines", json={"id": f"b{number}", "line": line}).status_code == 200
        told = floor.get("/api/v1/tables/t2/books").json()
        state = floor.get("/api/v1/tables/t2").json()
    assert {one["happened"] for one in told} == {"a player objects to the shuffle or the cut"}
    assert [one["stack"] for one in told if one["in_force"]] == [told[0]["stack"]] == [state["stack"]]
    assert [told[0][name] for name in ("ruling", "say")] == [state["ruling"][name] for name in ("ruling", "say")]
    assert {"roberts", "tda-2024", "house"} <= {one["stack"] for one in told}


def test_rules_are_put_in_force_from_the_next_hand_on_by_the_floor(room: Hall) -> None:
    ask = {"id": "r1", "stack": "roberts"}
    with room.client("floor") as floor, room.client("dealer") as dealer:
        assert dealer.post("/api/v1/tables/t2/rules", json=ask).status_code == 403
        floor.post("/api/v1/tables/t2/lines", json={"id": "r0", "line": "hand seats=1-6 button=6"})
        done = floor.post("/api/v1/tables/t2/rules", json=ask)
        assert done.status_code == 200
        assert floor.post("/api/v1/tables/t2/rules", json=ask).json() == done.json()
        state = _until(floor, "/api/v1/tables/t2", lambda state: state["next_stack"] is not None)
        assert (state["stack"], state["next_stack"]) == ("tda-2024+house", done.json()["stack"])
        floor.post("/api/v1/tables/t2/lines", json={"id": "r2", "line": "hand next"})
        state = floor.get("/api/v1/tables/t2").json()
        assert (state["stack"], state["next_stack"]) == ("roberts", None)
        rules = floor.get("/api/v1/rules").json()
        assert rules["in_force"]["t2"] == {"stack": "roberts", "next": None}
        version = next(one["version"] for one in rules["packs"] if one["id"] == "roberts")
        assert done.json()["stack"] == f"roberts@{version}"
        assert [(one["what"], one["who"]) for one in rules["changes"]] == [("activate", "floor (console)")]
        for stack in ("nothing", "../roberts", "roberts+roberts", "roberts@9.9.9"):
            refused = floor.post("/api/v1/tables/t2/rules", json={"id": stack, "stack": stack})
            assert refused.status_code == 422, stack


def test_a_page_that_is_not_up_to_date_changes_nothing_and_is_shown_the_table(room: Hall) -> None:
    with room.client("dealer") as dealer:
        dealer.post("/api/v1/tables/t2/lines", json={"id": "s0", "line": "hand seats=1-6 button=6"})
        seen = dealer.get("/api/v1/tables/t2").json()["version"]
        dealer.post("/api/v1/tables/t2/lines", json={"id": "s1", "line": "report bad-shuffle"})
        stale = dealer.post("/api/v1/tables/t2/lines", json={"id": "s2", "line": "ack", "seen": seen})
        assert stale.status_code == 409
        assert stale.json()["state"]["ruling"]["ruling"]
        version = stale.json()["state"]["version"]
        assert (
            dealer.post("/api/v1/tables/t2/lines", json={"id": "s3", "line": "ack", "seen": version}).status_code == 200
        )


def test_figures_and_health_are_for_machines(room: Hall) -> None:
    with room.client("system") as system, room.client("") as nobody:
        assert nobody.get("/healthz").json() == nobody.get("/readyz").json() == {"ok": True}
        assert nobody.get("/metrics").status_code == 401
        text = system.get("/metrics").text
    assert 'dealershoe_table_up{table="t1"} 1' in text
    assert 'dealershoe_link_up{table="t2"} 0' in text
    families = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    used = {line.split("{")[0].split()[0] for line in text.splitlines() if not line.startswith("#")}
    assert used == families


def test_a_link_that_comes_and_goes_faster_than_is_recorded_is_seen_as_it_is(
    room: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that nothing is said of in the journal must reach pages all the same, or they show it as it was."""
    table = room.bridges["t2"]._table
    monkeypatch.setattr(table, "closed", lambda why: None)
    with room.client("dealer") as dealer:
        for why in ("", "the shoe is silent", "", "the shoe started again"):
            room.bridges["t2"].read(partial(_set, table, why))
            _until(dealer, "/api/v1/tables/t2", partial(_shows, why))


def _set(table: TableLink, why: str, _: object) -> None:
    table.why_down = why


def _shows(why: str, state: Any) -> bool:
    return bool(state["link_why"] == why) if why else state["link"] != "unsupervised"


def test_a_stream_comes_to_the_newest_state_of_a_table_that_is_too_busy_to_be_drawn(
    room: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks in vain gets the table as it was, under the version that it was of, and then as it is."""
    monkeypatch.setattr(bridge, "LOOK_S", 0.0)
    with room.client("dealer") as dealer, dealer.stream("GET", "/api/v1/events", params={"table": "t2"}) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: state"
        hand = json.loads(next(lines).removeprefix("data: "))["counts"]["hands"]
        said = {"id": "busy", "line": "hand seats=1-6 button=6"}
        version = dealer.post("/api/v1/tables/t2/lines", json=said).json()["version"]
        end = time.monotonic() + 30
        for line in lines:
            state = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if state.get("version", 0) >= version and "counts" in state:
                assert state["counts"]["hands"] == hand + 1
                break
            assert time.monotonic() < end


@pytest.mark.parametrize(
    ("last", "gap"), [("now", False), ("0", True), ("9" * 15, True), ("x", False), ("9" * 40, False)]
)
def test_a_page_that_was_away_is_told_what_it_missed_or_that_it_has(room: Hall, last: str, gap: bool) -> None:
    """A number below all of this bridge, or above, is of a bridge before it."""
    with room.client("dealer") as dealer:
        seen = dealer.get("/api/v1/tables/t2").json()["version"]
        dealer.post("/api/v1/tables/t2/lines", json={"id": f"away {last[:9]}", "line": "hand seats=1-6 button=6"})
        last = str(seen) if last == "now" else last
        asked = {"params": {"table": "t2"}, "headers": {"last-event-id": last}}
        with dealer.stream("GET", "/api/v1/events", **asked) as stream:  # type: ignore[arg-type]
            lines = (line for line in stream.iter_lines() if line.startswith("event: "))
            assert next(lines) == "event: state"
            if gap:
                assert next(lines) == "event: gap"
            elif last == str(seen):
                assert next(lines) == "event: happening"
