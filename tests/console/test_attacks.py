"""Attacks tried on the console, against the real server over real sockets. Each test says what is tried.

Sources: OWASP Web Security Testing Guide 4.2 (CSRF, session fixation, traversal, brute force), RFC 9110 and 9112
(methods, messages), WHATWG HTML 9.2 (event streams).
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import json
import logging
import re
import socket
import sqlite3
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from console.hall import PEOPLE, TLS, TOKENS, Hall, hall
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from dealershoe.console import app, document, guard, patient, serve, stream
from dealershoe.console.access import RIGHTS, ROLES, Person, digest_of

LINE = {"id": "a", "line": "hand seats=1-6 button=6"}
SAY = "/api/v1/tables/t1/lines"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """Two tables without shoes: nothing here is about cards."""
    folder = tmp_path_factory.mktemp("room")
    with hall(folder, {"t1": str(folder / "none"), "t2": str(folder / "none-2")}) as found:
        yield found


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Hall]:
    """A room of its own, for what leaves marks."""
    with hall(tmp_path, {"t1": str(tmp_path / "none")}) as found:
        yield found


def raw(room: Hall, data: bytes, *, wait_s: float = 15.0, head: bool = False) -> bytes:
    """What the server answers to these bytes, until it closes or `wait_s` are over. `head`: or to the end of a head."""
    host, port = httpx.URL(room.url).host, httpx.URL(room.url).port
    answer = b""
    with (
        socket.create_connection((host, port or 0), timeout=wait_s) as wire,
        contextlib.suppress(TimeoutError, OSError),
    ):
        wire.sendall(data)
        while not (head and b"\r\n\r\n" in answer) and (piece := wire.recv(65536)):
            answer += piece
    return answer


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


# ---- somebody else's page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[", "x-csrf": "right"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"x-csrf": ""}, 403),
        ({"x-csrf": "wrong"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_a_page_of_another_site_says_nothing(room: Hall, headers: dict[str, str], status: int) -> None:
    """Cross-site request forgery: with the cookie of somebody who has logged in."""
    with room.page("dealer") as page:
        before = page.get("/api/v1/tables/t1").json()["counts"]
        answer = page.post(SAY, content=json.dumps(LINE), headers={"content-type": "application/json", **headers})
        assert answer.status_code == status
        assert page.get("/api/v1/tables/t1").json()["counts"] == before


def test_a_page_that_is_refused_hears_why() -> None:
    """A connection that is closed on a body that nobody has read is reset, and the refusal is lost on its way."""
    order: list[str] = []

    async def receive() -> dict[str, Any]:
        order.append("body")
        return {"type": "http.request", "body": b"x" * 100, "more_body": False}

    async def send(message: Any) -> None:
        order.append(str(message.get("status", "end")))

    async def nothing(*_: Any) -> None:
        raise AssertionError

    headers = [(b"host", b"here"), (b"origin", b"https://evil.example"), (b"content-length", b"100")]
    scope = {"type": "http", "method": "POST", "headers": headers}
    asyncio.run(guard.Guard(nothing, 1000, ("here",))(scope, receive, send))
    assert order == ["body", "403", "end"]


def test_a_form_of_another_site_logs_nobody_in_or_out(room: Hall) -> None:
    """Login forgery (a victim works in the attacker's session), and logging out from afar."""
    with room.page("dealer") as page:
        foreign = {"origin": "https://evil.example"}
        assert page.post("/login", data={"token": TOKENS["floor"]}, headers=foreign).status_code == 403
        assert page.post("/logout", headers=foreign).status_code == 403
        assert page.post("/logout", headers={"x-csrf": "x"}).status_code == 403
        assert page.get("/api/v1/me").json()["role"] == "dealer"
        assert page.get("/logout").status_code == 405


def test_a_name_that_was_made_to_point_here_gets_nothing(room: Hall) -> None:
    """DNS rebinding: the browser takes the console for a page of evil.example."""
    with room.client("floor") as floor:
        for path in ("/", "/login", "/api/v1/tables", "/healthz", "/static/dealer.js"):
            assert floor.get(path, headers={"host": "evil.example"}).status_code == 421
        assert floor.get("/healthz", headers={"host": "localhost:8080"}).status_code == 200


def test_every_answer_forbids_a_browser_what_is_not_needed(room: Hall) -> None:
    """Framing (clickjacking), injected script, sniffing, caching by proxies: on errors and refusals too."""
    with room.page("floor") as page:
        asked = ["/", "/login", "/floor", "/static/login.js", "/api/v1/tables", "/nothing", "/metrics", "/favicon.ico"]
        answers = [page.get(path) for path in asked]
        answers += [page.delete("/api/v1/tables"), page.post("/api/v1/tables/t1/lines", content=b"x" * 20_000)]
        answers += [page.get("/", headers={"host": "evil.example"})]
    for answer in answers:
        for name, value in guard.HEADERS.items():
            assert answer.headers[name] == value, (answer.url, name)
        assert answer.headers["cache-control"] in ("no-store", "no-cache")
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers
    assert "'unsafe" not in guard.POLICY
    assert "frame-ancestors 'none'" in guard.POLICY


# ---- sessions and tokens


def test_a_cookie_is_the_server_s_own_and_no_script_s(room: Hall) -> None:
    """Session fixation: a cookie that was planted before the log-in is worth nothing after it."""
    with httpx.Client(verify=TLS, base_url=room.url) as client:
        client.cookies.set("shoe", "planted", domain="127.0.0.1")
        told = client.post("/login", data={"token": TOKENS["dealer"]})
        cookie = told.headers["set-cookie"]
        value = re.match(r"shoe=([^;]+)", cookie)
        assert value is not None
        assert value[1] != "planted"
        assert len(value[1]) == 43  # 32 random bytes
        assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
    with httpx.Client(verify=TLS, base_url=room.url, cookies={"shoe": "planted"}) as other:
        assert other.get("/api/v1/me").status_code == 401
    with httpx.Client(verify=TLS, base_url=room.url, cookies={"shoe": value[1]}) as same:
        assert same.get("/api/v1/me").status_code == 200
        assert same.post("/logout", headers={"x-csrf": same.get("/api/v1/me").json()["csrf"]}).status_code == 303
    with httpx.Client(verify=TLS, base_url=room.url, cookies={"shoe": value[1]}) as replayed:
        assert replayed.get("/api/v1/me").status_code == 401


def test_over_tls_a_cookie_is_never_sent_in_the_clear(tmp_path: Path) -> None:
    certificate = made_certificate(tmp_path)
    server = serve.Server("127.0.0.1:0", lambda: PEOPLE, certificate, tmp_path / "key.pem", shelf=tmp_path / "shelf")
    server.start()
    try:
        with httpx.Client(base_url=server.url, verify=ssl.create_default_context(cafile=str(certificate))) as client:
            told = client.post("/login", data={"token": TOKENS["dealer"]})
            assert "; secure" in told.headers["set-cookie"].lower()
            assert told.headers["strict-transport-security"].startswith("max-age=")
    finally:
        server.stop()


def made_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "shoe")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem = serialization.Encoding.PEM
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(pem))
    return folder / "certificate.pem"


def test_who_guesses_waits_and_who_has_a_token_does_not(fresh: Hall) -> None:
    """Brute force, by the form and by the API together; and locking out a room behind one address by guessing there."""
    with fresh.client("") as client:
        for number in range(5):
            if number % 2:
                assert client.post("/login", data={"token": f"guess-{number}"}).status_code == 401
            else:
                wrong = {"authorization": f"Bearer guess-{number}"}
                assert client.get("/api/v1/me", headers=wrong).status_code == 401
        told = client.post("/login", data={"token": "guess-5"})
        assert told.status_code == 429
        assert 0 < int(told.headers["retry-after"]) <= 61
        assert "set-cookie" not in told.headers
        assert client.post("/login", data={"token": TOKENS["dealer"]}).status_code == 303
    with fresh.client("system") as system:
        assert system.get("/api/v1/me").status_code == 200
    assert fresh.said[:1] == ["too many wrong tokens from 127.0.0.1: no guess from there is heard for a minute"]
    assert fresh.said[1:] == ["dealer (dealer) has logged in from 127.0.0.1"]


def test_a_token_stands_in_no_log_and_counts_in_no_address(
    fresh: Hall, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A token in a URL would stay in histories and proxies' logs: it is not taken there, and nothing is logged."""
    caplog.set_level(logging.DEBUG)
    secret = TOKENS["floor"]
    with fresh.client("") as client:
        for path in (f"/api/v1/me?token={secret}", f"/?token={secret}", f"/login?token={secret}"):
            assert client.get(path).status_code in (200, 303, 401)
        assert client.get(f"/api/v1/me?token={secret}").status_code == 401
        assert client.get("/api/v1/me", headers={"authorization": f"Basic {secret}"}).status_code == 401
    with fresh.client("floor") as floor:
        floor.get("/api/v1/me")
        floor.post(SAY, json=LINE)
    said = capfd.readouterr()
    server_log = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert secret not in "".join((*server_log, said.out, said.err))
    with sqlite3.connect(fresh.journal("t1")) as db:
        assert secret not in "\n".join(db.iterdump())


def test_who_is_taken_away_is_out_at_once_streams_too(tmp_path: Path) -> None:
    people = dict(PEOPLE)
    with hall(tmp_path, {"t1": str(tmp_path / "none")}, people) as room, room.page("dealer") as page:
        with page.stream("GET", "/api/v1/events") as events:
            lines = events.iter_lines()
            assert next(lines) == "event: state"
            del people["dealer"]
            with room.client("system") as system:
                system.post(SAY, json=LINE)
            assert "event: over" in list(lines)
        assert page.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize("role", ["dealer", "system"])
def test_a_decision_of_the_floor_is_taken_back_by_the_floor_alone(fresh: Hall, role: str) -> None:
    """Escalation by the back door: `undo` takes back what was said last, whoever said it."""
    with fresh.client(role) as other, fresh.client("floor") as floor:
        for line in ("hand seats=1-6 button=6", "report bad-shuffle"):
            assert other.post(SAY, json={"id": line, "line": line}).status_code == 200
        decision = {"id": "d", "line": "floor play-on", "reason": "seen"}
        assert floor.post(SAY, json=decision).status_code == 200
        for said in ("undo", "call floor", "undo"):  # nor behind a call for the floor
            told = other.post(SAY, json={"id": f"{said}{time.monotonic()}", "line": said})
            assert told.status_code == (200 if said == "call floor" else 403)
            assert told.status_code == 200 or _kind(told) == "refused.floors"
        assert other.post(SAY, json={"id": "back", "line": "ack"}).status_code == 200  # the call
        assert floor.post(SAY, json={"id": "u1", "line": "undo"}).status_code == 200
        assert other.post(SAY, json={"id": "u2", "line": "undo"}).status_code == 200  # what they said themselves


def _kind(refused: httpx.Response) -> str:
    """Of the sentence of a refusal."""
    told = refused.json()
    return str(told["kinds"][told["error"]]["kind"])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"id": "x", "line": "undo", "sen": 1}', "there is no 'sen' here"),  # it would protect nobody
        ('{"id": "x", "line": "call floor", "line": "undo"}', "names something twice"),
        ('{"id": "x", "line": "floor play-on", "reason": "   "}', "`reason`"),
        ('{"id": "x", "line": "undo"}', "there is nothing to take back"),
    ],
)
def test_what_says_something_else_than_it_seems_to_is_refused(fresh: Hall, body: str, said: str) -> None:
    with fresh.client("floor") as floor:
        assert floor.post(SAY, json=LINE).status_code == 200
        told = floor.post(SAY, content=body, headers={"content-type": "application/json"})
        assert told.status_code == 422
        assert said in told.json()["error"]


def test_a_page_of_a_console_before_this_one_is_stale(fresh: Hall) -> None:
    """Its versions are no longer those of the table, and may be higher."""
    with fresh.client("dealer") as dealer:
        assert dealer.post(SAY, json=LINE).status_code == 200
        told = dealer.post(SAY, json={"id": "b", "line": "call floor", "seen": 10**30})
        assert told.status_code == 409
        assert told.json()["state"]["hand"] == 1


# ---- a console that stops


def test_a_console_that_stops_says_so_on_every_stream_and_its_pages_stay_logged_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "LINGER_S", 30)
    port = {"t1": str(tmp_path / "none")}
    with hall(tmp_path, port) as room, room.page("dealer") as page, room.client("system") as system:
        cookie = page.cookies["shoe"]
        with page.stream("GET", "/api/v1/events") as one, system.stream("GET", "/api/v1/events") as other:
            streams = [one.iter_lines(), other.iter_lines()]
            assert [next(lines) for lines in streams] == ["event: state"] * 2
            began = time.monotonic()
            room.server.stop()
            for lines in streams:
                assert "event: stopped" in list(lines)
            assert time.monotonic() - began < serve.LINGER_S  # nobody had to be cut off
    with hall(tmp_path, port) as again, httpx.Client(base_url=again.url, cookies={"shoe": cookie}) as page:
        told = page.get("/api/v1/me").json()
        assert told["role"] == "dealer"
        assert page.post(SAY, json=LINE, headers={"x-csrf": told["csrf"]}).status_code == 200


# ---- roles

BODIES = {"say": {"id": "roles", "line": "ack"}, "activate": {"id": "roles", "stack": "nothing"}}


@pytest.mark.parametrize("role", ["", *ROLES])
@pytest.mark.parametrize("way", document.WAYS, ids=lambda way: way.name)
def test_every_route_knows_every_role(room: Hall, role: str, way: document.Way) -> None:
    """Escalation: 401 for nobody, 403 without the right, and never another answer than to who has it."""
    path = (document.PREFIX + way.path).replace("{table}", "t2").replace("{hand}", "1")
    with room.client(role) as client:
        asked = client.build_request(way.method, path, json=BODIES.get(way.name))
        answer = client.send(asked, stream=True)
        answer.close()
    allowed = not way.rights or (bool(role) and bool(RIGHTS[role] & set(way.rights)))
    assert answer.status_code == (401 if not role else 403 if not allowed else answer.status_code)
    if role and allowed:
        assert answer.status_code not in (401, 403), answer


@pytest.mark.parametrize("path", ["/dealer", "/floor", "/"])
def test_a_page_is_for_who_has_logged_in(room: Hall, path: str) -> None:
    with room.client("") as nobody:
        told = nobody.get(path)
        assert (told.status_code, told.headers["location"]) == (303, "/login")


def test_a_person_of_one_table_has_no_other(tmp_path: Path) -> None:
    """Asking for another table by its name is as asking for one that is not there."""
    people = {"ann": Person("ann", "floor", digest_of(TOKENS["floor"]), ("t1",))}
    ports = {name: str(tmp_path / name) for name in ("t1", "t2")}
    with hall(tmp_path, ports, people) as room, room.client("floor") as ann:
        assert [one["table"] for one in ann.get("/api/v1/tables").json()["tables"]] == ["t1"]
        for rest in ("", "/books", "/hands", "/hands/1"):
            there = ann.get(f"/api/v1/tables/t2{rest}")
            missing = ann.get(f"/api/v1/tables/t3{rest}")
            assert there.status_code == missing.status_code == 404
            assert there.json()["error"].replace("t2", "t3") == missing.json()["error"]
        assert ann.post("/api/v1/tables/t2/lines", json=LINE).status_code == 404
        assert ann.get("/api/v1/events", params={"table": "t2"}).status_code == 404
        assert "t2" not in ann.get("/metrics").text
        assert ann.post("/api/v1/tables/t1/rules", json={"id": "1", "stack": "roberts"}).status_code == 403


@pytest.mark.parametrize(
    "line", ["floor misdeal", " FLOOR misdeal", "floor\tmisdeal", "\ufefffloor misdeal", "floor void # x"]
)
def test_a_dealer_decides_nothing_however_it_is_written(room: Hall, line: str) -> None:
    with room.client("dealer") as dealer:
        assert dealer.post(SAY, json={"id": line, "line": line, "reason": "why"}).status_code in (403, 422)
        assert not [one for one in dealer.get("/api/v1/tables/t1").json()["rulings"] if one["layer"] == "floor"]


# ---- words that would do harm


@pytest.mark.parametrize(
    "line",
    ["act 3 raise\nfloor misdeal", "act 3\rraise", "act 3 \u2028 raise", "act 3 \x00", "\ud800", "act \x1b[2J",
     "a" * 1001, "act 3 \x85", "\u202eact 3 raise", ""],
)  # fmt: skip
def test_a_line_with_signs_that_are_no_letters_is_refused(room: Hall, line: str) -> None:
    """Two lines in one, terminal escapes, halves of characters (which no journal could write)."""
    with room.client("dealer") as dealer:
        for field in ("id", "line", "reason"):
            body = {"id": "x", "line": "ack", "reason": None, field: line}
            answer = dealer.post(SAY, content=json.dumps(body), headers={"content-type": "application/json"})
            if not (field == "reason" and line == ""):
                assert answer.status_code == 422, (field, answer)
        assert room.bridges["t1"].alive


@pytest.mark.parametrize(
    "name", ["../t1", "t1%00", "t1/", "%2e%2e", "T1", "t1;x", "t1%0d%0aX-A:1", "ｔ1", "%ff", "a" * 5000]
)
def test_a_table_s_name_is_a_name(room: Hall, name: str) -> None:
    with room.client("floor") as floor:
        answer = floor.get(f"/api/v1/tables/{name}")
        assert answer.status_code in (404, 307), answer
        assert "x-a" not in answer.headers


@pytest.mark.parametrize(
    "path", ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "..%5capp.py", "/etc/passwd", "%2fetc%2fpasswd",
             "words/../../app.py", "....//app.py", "login.js%00.html"],
)  # fmt: skip
def test_no_file_but_the_pages_is_served(room: Hall, path: str) -> None:
    """Path traversal; sent as it is, for a client would tidy it up."""
    answer = raw(room, f"GET /static/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert status_of(answer) in (400, 404), answer[:200]
    assert b"import" not in answer
    assert b"root:" not in answer


# ---- too much, too slow


def test_a_body_that_is_too_long_is_refused_before_it_is_read(room: Hall) -> None:
    with room.client("dealer") as dealer:
        assert dealer.post(SAY, content=b"x" * (app.LONGEST_BODY + 1)).status_code == 413
        deep = "[" * 8_000
        assert dealer.post(SAY, content=deep, headers={"content-type": "application/json"}).status_code == 422
    head = b"POST /api/v1/tables/t1/lines HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    assert status_of(raw(room, head + b"Content-Length: 99999999999999999999\r\n\r\n", head=True)) in (400, 413)
    chunks = b"4000\r\n" + b"x" * 0x4000 + b"\r\n1\r\nx\r\n0\r\n\r\n"  # a byte more than is taken, and no length said
    assert status_of(raw(room, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks, head=True)) == 413
    both = b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"  # smuggling: RFC 9112, 6.1
    assert status_of(raw(room, head + both, head=True)) in (400, 401)


def test_heads_that_are_too_long_or_no_heads_are_refused(room: Hall) -> None:
    bomb = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: " + b"b" * 100_000 + b"\r\n\r\n"
    assert status_of(raw(room, bomb, wait_s=1)) in (0, 400, 431)
    many = b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: b\r\n" * 20_000 + b"\r\n"
    assert status_of(raw(room, many, wait_s=1)) in (0, 400, 431)
    assert status_of(raw(room, b"\x16\x03\x01 no http at all\r\n\r\n", wait_s=1)) in (0, 400)
    with room.client("floor") as floor:
        assert floor.get("/healthz").status_code == 200


def test_who_is_too_slow_is_let_go(room: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow heads and slow bodies (slowloris), with less patience than in earnest."""
    monkeypatch.setattr(patient, "HEAD_S", 0.3)
    monkeypatch.setattr(guard, "BODY_S", 0.3)
    begun = time.monotonic()
    assert raw(room, b"GET / HTTP/1.1\r\nHost: loc") == b""
    monkeypatch.setattr(patient, "HEAD_S", 10.0)  # this head comes whole, on a busy machine late
    body = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\ntoken"
    assert status_of(raw(room, body + b"", wait_s=10)) == 408
    assert time.monotonic() - begun < 14  # not the 15 s of `raw`


def test_one_person_has_so_many_streams_and_no_more(room: Hall) -> None:
    """A flood of streams; who has closed one has one again."""
    with room.client("auditor") as auditor, contextlib.ExitStack() as held:
        streams = [held.enter_context(auditor.stream("GET", "/api/v1/events")) for _ in range(stream.STREAMS)]
        assert {one.status_code for one in streams} == {200}
        assert auditor.get("/api/v1/events").status_code == 429
        with room.client("dealer") as dealer, dealer.stream("GET", "/api/v1/events") as other:
            assert other.status_code == 200
        assert auditor.head("/api/v1/events").status_code == 200  # and it ends
        held.close()
        end = time.monotonic() + 30
        while True:
            with auditor.stream("GET", "/api/v1/events") as again:
                if again.status_code == 200:
                    break
            assert time.monotonic() < end


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "OPTIONS", "FOO"])
def test_other_methods_do_nothing(room: Hall, method: str) -> None:
    for path in ("/api/v1/tables", "/login", SAY):
        answer = raw(room, f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert status_of(answer) in (400, 404, 405, 501), (path, answer)


def test_a_head_is_an_answer_without_a_body(room: Hall) -> None:
    with room.client("floor") as floor:
        for path in ("/api/v1/tables", "/healthz", "/login", "/static/login.js"):
            answer = floor.head(path)
            assert (answer.status_code, answer.content) == (200, b"")
        assert floor.head(SAY).status_code == 405


def test_a_number_of_5000_digits_is_no_hand(room: Hall) -> None:
    """Not before log-in either: Python refuses to read such a number."""
    with httpx.Client(base_url=room.url, timeout=30) as nobody:
        for digits in (19, 400, 5_000):
            assert nobody.get(f"/api/v1/tables/t1/hands/{'9' * digits}").status_code == 404


def test_a_body_of_two_lengths_hides_no_request(room: Hall) -> None:
    """RFC 9112, 6.1 and 11.2: the body ends at the chunk of 0 or after 60 bytes, who knows; so nothing follows it."""
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = raw(room, head + b"0\r\n\r\n" + hidden)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()


def test_a_websocket_is_not_opened(room: Hall) -> None:
    ask = (
        b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://evil.example\r\n\r\n"
    )
    answer = raw(room, ask, head=True)
    assert status_of(answer) == 401
    assert b"101" not in answer.split(b"\r\n")[0]


# ---- two at once, the same twice


def test_two_dealers_at_once_are_told_one_after_the_other(fresh: Hall) -> None:
    """The same touch from two pages that saw the same table: one is taken, the other is told to look again."""
    with fresh.page("dealer") as one, fresh.page("dealer") as two:
        one.post(SAY, json=LINE)
        one.post(SAY, json={"id": "b", "line": "report bad-shuffle"})
        seen = one.get("/api/v1/tables/t1").json()["version"]
        answers: list[int] = []

        def touch(page: httpx.Client, id: str) -> None:
            answers.append(page.post(SAY, json={"id": id, "line": "undo", "seen": seen}).status_code)

        touches = [threading.Thread(target=touch, args=(page, id)) for page, id in ((one, "x"), (two, "y"))]
        for thread in touches:
            thread.start()
        for thread in touches:
            thread.join()
        assert sorted(answers) == [200, 409]
        assert one.get("/api/v1/tables/t1").json()["signal"] == two.get("/api/v1/tables/t1").json()["signal"]


def test_what_is_sent_twice_is_told_once(fresh: Hall) -> None:
    """A client that does not know whether it was heard sends again: twenty at once, one hand."""

    async def flood() -> list[Any]:
        headers = {"authorization": f"Bearer {TOKENS['system']}"}
        async with httpx.AsyncClient(verify=TLS, base_url=fresh.url, headers=headers, timeout=30) as client:
            return [(one.status_code, one.json()) for one in
                    await asyncio.gather(*(client.post(SAY, json=LINE) for _ in range(20)))]  # fmt: skip

    answers = asyncio.run(flood())
    assert all(one == answers[0] for one in answers)
    with fresh.client("system") as system, fresh.client("dealer") as dealer:
        assert system.get("/api/v1/tables/t1").json()["counts"]["hands"] == 1
        assert system.post(SAY, json=LINE | {"line": "ack"}).status_code == 409
        assert dealer.post(SAY, json=LINE).status_code == 200  # another person's ids are another's
        assert system.get("/api/v1/tables/t1").json()["counts"]["hands"] == 2


def test_nothing_of_a_hidden_defect_is_told(fresh: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> dict[str, Any]:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(fresh.server.tables["t1"].bridge, "look", broken)
    with fresh.client("system") as system:
        answer = system.get("/api/v1/tables/t1")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the console has failed"}
    assert answer.headers["content-security-policy"] == guard.POLICY


def test_what_is_served_needs_no_internet(room: Hall) -> None:
    """No page, style or script names another host."""
    named = []
    for path in sorted(app.PAGES.rglob("*")):
        if path.suffix in (".html", ".js", ".css", ".json"):
            named += [(path.name, url) for url in re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", path.read_text())]
    assert [one for one in named if "www.w3.org" not in one[1]] == []
