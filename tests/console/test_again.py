"""What a client sends again is told once, also when the host was killed between: the real command and its journal."""

from __future__ import annotations

import asyncio
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from console.hall import hall
from console.test_run import DEALERSHOE, made
from dealershoe.console import once
from dealershoe.console.once import KEPT, Answer, Known, Once
from dealershoe.record.journal import Journal
from dealershoe.record.read import opened
from dealershoe.record.verify import Check

TABLES = "/api/v1/tables"
LINES = f"{TABLES}/table/lines"
HAND = {"id": "hand-1", "line": "hand seats=1-6 button=6"}
REFUSED = {"id": "refused", "line": "exposed by=dealer"}  # no card is out


@contextmanager
def running(folder: Path, stdout: int = subprocess.DEVNULL) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`dealershoe run --console` at a port where nothing is ever said, and where its console is."""
    port = folder / "port"
    if not port.is_symlink():
        port.symlink_to("/dev/ptmx")
    process = subprocess.Popen(
        [DEALERSHOE, "run", "--port", str(port), "--journal", str(folder / "j"), "--console", "127.0.0.1:0",
         "--users", str(folder / "users.json"), "--shelf", str(folder / "shelf"), "--signs", str(folder / "key")],
        stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        url = re.search(r"http://\S+", process.stderr.readline())
        assert url is not None
        yield process, url[0]
    finally:
        process.kill()
        process.communicate()


def test_a_line_that_is_sent_again_after_kill_9_is_told_once_and_answered_the_same(tmp_path: Path) -> None:
    headers = {"authorization": f"Bearer {made(tmp_path / 'users.json', 'ann', 'dealer')}"}
    other = {"authorization": f"Bearer {made(tmp_path / 'users.json', 'bob', 'dealer')}"}
    asked = [HAND, REFUSED, {"id": "act-1", "line": "call floor"}, {"id": "act-2", "line": "undo"}]
    with running(tmp_path) as (process, url), httpx.Client(base_url=url, headers=headers, timeout=30) as ann:
        first = [ann.post(LINES, json=one) for one in asked]
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert [one.status_code for one in first] == [200, 422, 200, 200]
    with running(tmp_path) as (_, url), httpx.Client(base_url=url, headers=headers, timeout=30) as ann:
        before = ann.get(f"{TABLES}/table").json()
        again = [ann.post(LINES, json=one) for one in asked]
        assert [(one.status_code, one.json()) for one in again] == [(one.status_code, one.json()) for one in first]
        assert ann.get(f"{TABLES}/table").json()["counts"] == before["counts"]  # nothing was told
        for one in (HAND, REFUSED):
            something_else = ann.post(LINES, json=one | {"line": "ack"})
            assert something_else.status_code == 409
            assert "was used for something else" in something_else.json()["error"]
        stale = ann.post(LINES, json={"id": "old", "line": "call floor", "seen": first[0].json()["version"]})
        assert stale.status_code == 409  # what was seen of a host before this one
        assert ann.post(LINES, json={"id": "new", "line": "call floor"}).status_code == 200
        assert ann.post(LINES, json=HAND, headers=other).status_code == 200  # another person's ids are another's
    with opened(tmp_path / "j") as db:
        told = db.execute("SELECT who, raw FROM facts WHERE origin = 'api' ORDER BY id").fetchall()
        assert list(Check(db).run()) == []
    lines = [line["line"] for line in asked]
    assert [(who, raw.decode()) for who, raw in told] == [
        *(("ann", line) for line in lines), ("ann", "call floor"), ("bob", HAND["line"]),
    ]  # fmt: skip


def test_a_line_is_answered_when_the_disk_has_it(tmp_path: Path) -> None:
    with hall(tmp_path, {"t1": str(tmp_path / "none")}) as room, room.client("system") as system:
        for number in range(5):
            said = {"id": f"n{number}", "line": "hand seats=1-6 button=6"}
            answer = system.post(f"{TABLES}/t1/lines", json=said).json()
            with opened(room.journal("t1")) as db:  # another connection sees what is committed
                row = db.execute(
                    "SELECT requests.id, version, who FROM requests JOIN facts ON facts.id = fact"
                ).fetchall()
            assert row[-1] == (answer["id"], answer["version"], "system")
            assert answer["version"] <= system.get(f"{TABLES}/t1").json()["version"]


def test_a_line_is_answered_while_the_disk_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deal goes on, and the page says what the disk says: nobody at the table waits for it."""

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with (
        hall(tmp_path, {"t1": str(tmp_path / "none")}) as room,
        room.client("system") as system,
        monkeypatch.context() as broken,
    ):
        broken.setattr(Journal, "write", full)
        assert system.post(f"{TABLES}/t1/lines", json=HAND).status_code == 200
        assert "disk is full" in str(system.get(f"{TABLES}/t1").json()["faults"])


def test_a_room_s_tables_know_what_was_said_to_them_before(tmp_path: Path) -> None:
    ports = {"t1": str(tmp_path / "none"), "t2": str(tmp_path / "none-2")}
    with hall(tmp_path, ports) as room, room.client("system") as system:
        first = {name: system.post(f"{TABLES}/{name}/lines", json=HAND).json() for name in ports}
    with hall(tmp_path, ports) as room, room.client("system") as system:
        for name in ports:
            assert system.post(f"{TABLES}/{name}/lines", json=HAND).json() == first[name]
            with opened(room.journal(name)) as db:
                assert db.execute("SELECT count(*) FROM facts WHERE origin = 'api'").fetchone() == (1,)


def test_rules_are_put_in_force_once_also_when_the_console_begins_anew(tmp_path: Path) -> None:
    """What was sent again would undo what somebody else has put in force since."""
    port = {"t1": str(tmp_path / "none")}
    ask = {"id": 'r: "1"', "stack": "roberts"}
    with hall(tmp_path, port) as room, room.client("floor") as floor:
        first = floor.post(f"{TABLES}/t1/rules", json=ask)
        assert first.status_code == 200
        assert floor.post(f"{TABLES}/t1/rules", json={"id": "r", "stack": "house"}).status_code == 200
    with hall(tmp_path, port) as room, room.client("floor") as floor:
        again = floor.post(f"{TABLES}/t1/rules", json=ask)
        assert (again.status_code, again.json()) == (first.status_code, first.json())
        assert floor.post(f"{TABLES}/t1/rules", json=ask | {"stack": "tda-2024"}).status_code == 409
        changes = floor.get("/api/v1/rules").json()["changes"]
        assert [one["stack"].split("@")[0] for one in changes] == ["house", "roberts"]


def test_answers_are_kept_up_to_a_number_the_oldest_go_first() -> None:
    told: list[str] = []

    def job(id: str) -> Answer:
        told.append(id)
        return Answer(200, {"id": id})

    async def ask(again: Once, id: str) -> Answer:
        async def done() -> Answer:
            return job(id)

        return await again.do("ann", id, "ack", done)

    async def story() -> None:
        again = Once([Known("ann", str(number), "ack", Answer(200, {"id": str(number)})) for number in range(KEPT)])
        assert (await ask(again, "0")).body == (await ask(again, str(KEPT - 1))).body | {"id": "0"}
        assert told == []
        await ask(again, "new")
        await ask(again, "1")
        assert told == ["new"]
        await ask(again, "0")
        assert told == ["new", "0"]

    asyncio.run(story())


def test_what_was_refused_before_it_was_told_may_be_asked_for_again_under_its_id() -> None:
    """No journal keeps it: a console that begins anew does not know it either, and must not answer otherwise."""
    answers = iter([Answer(422, {"error": "there is nothing to take back"}, told=False), Answer(200, {"id": "a"})])

    async def story() -> None:
        again = Once()

        async def next_answer() -> Answer:
            return next(answers)

        got = [(await again.do("ann", "a", "undo", next_answer)).status for _ in range(3)]
        assert got == [422, 200, 200]

    asyncio.run(story())


def test_who_waits_too_long_is_told_so_and_finds_the_answer_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that takes long: the line must not be told again."""
    monkeypatch.setattr(once, "PATIENCE_S", 0.01)
    told: list[str] = []

    async def story() -> None:
        again, written = Once(), asyncio.Event()

        async def slow() -> Answer:
            told.append("act")
            await written.wait()
            return Answer(200, {"id": "a"})

        late = await again.do("ann", "a", "act", slow)
        assert late.status == 503
        assert "ask again with the same id" in late.body["error"]
        written.set()
        assert await again.do("ann", "a", "act", slow) == Answer(200, {"id": "a"})
        assert told == ["act"]

    asyncio.run(story())
