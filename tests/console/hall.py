"""A console with real tables for the tests: bridges at emulated shoes or at nothing, a real server, real clients."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Iterator
from pathlib import Path

import httpx
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import Place, open_tables
from dealershoe.console import access
from dealershoe.console.access import Person
from dealershoe.console.serve import Server

TLS = ssl.create_default_context()  # one for all clients: to make it takes longer than most requests
TOKENS = {role: access.new_token(os.urandom) for role in access.ROLES}
PEOPLE = {role: Person(role, role, access.digest_of(token)) for role, token in TOKENS.items()}


class Hall:
    """The server, its bridges by name, and clients with a role."""

    def __init__(self, server: Server, bridges: dict[str, Bridge], folder: Path, said: list[str]) -> None:
        """`said`: what the server has told its log."""
        self.server = server
        self.bridges = bridges
        self.folder = folder
        self.said = said
        self.url = server.url

    def client(self, role: str) -> httpx.Client:
        """A table system's client with the token of `role`; "": without one."""
        headers = {"authorization": f"Bearer {TOKENS[role]}"} if role else {}
        return httpx.Client(verify=TLS, base_url=self.url, headers=headers, timeout=30)

    @contextlib.contextmanager
    def page(self, role: str) -> Iterator[httpx.Client]:
        """A page that has logged in."""
        with httpx.Client(verify=TLS, base_url=self.url, timeout=30) as client:
            assert client.post("/login", data={"token": TOKENS[role]}).status_code == 303
            client.headers["x-csrf"] = client.get("/api/v1/me").json()["csrf"]
            yield client

    def journal(self, table: str) -> Path:
        """Of a table."""
        return self.folder / f"{table}.journal"


@contextlib.contextmanager
def hall(folder: Path, ports: dict[str, str], people: dict[str, Person] | None = None) -> Iterator[Hall]:
    """Tables by name, each at a port; one that is not there is waited for, which takes no time of a test."""
    said: list[str] = []
    server = Server(
        "127.0.0.1:0", lambda: PEOPLE if people is None else people,
        shelf=folder / "shelf", logins=folder / "logins.json", say=said.append,
    )  # fmt: skip
    with contextlib.ExitStack() as held:
        held.callback(server.stop)
        places = [Place(name, port, folder / f"{name}.journal", "tda-2024+house") for name, port in ports.items()]
        bridges = open_tables(places, server.hear, shelf=folder / "shelf")
        for name, bridge in bridges.items():
            held.callback(bridge.stop)
            server.add(name, bridge)
            bridge.start()
        held.callback(server.stop)  # before the tables; again at the end does nothing
        server.start()
        yield Hall(server, bridges, folder, said)
    assert server.error is None
