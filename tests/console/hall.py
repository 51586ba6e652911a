"""A console with real tables for the tests: bridges at emulated shoes or at nothing, a real server, real clients."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import Place, open_tables
from dealershoe.console import access
from dealershoe.console.access import Person
from dealershoe.console.serve import Server

TOKENS = {role: access.new_token(os.urandom) for role in access.ROLES}
PEOPLE = {role: Person(role, role, access.digest_of(token)) for role, token in TOKENS.items()}


class Hall:
    """The server, its bridges by name, and clients with a role."""

    def __init__(self, server: Server, bridges: dict[str, Bridge], folder: Path) -> None:
        self.server = server
        self.bridges = bridges
        self.folder = folder
        self.url = server.url

    def client(self, role: str) -> httpx.Client:
        """A table system's client with the token of `role`; "": without one."""
        headers = {"authorization": f"Bearer {TOKENS[role]}"} if role else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30)

    def page(self, role: str) -> httpx.Client:
        """A page that has logged in."""
        client = httpx.Client(base_url=self.url, timeout=30)
        assert client.post("/login", data={"token": TOKENS[role]}).status_code == 303
        client.headers["x-csrf"] = client.get("/api/v1/me").json()["csrf"]
        return client

    def journal(self, table: str) -> Path:
        """Of a table."""
        return self.folder / f"{table}.journal"


@contextlib.contextmanager
def hall(folder: Path, ports: dict[str, str], people: dict[str, Person] | None = None) -> Iterator[Hall]:
    """Tables by name, each at a port; one that is not there is waited for, which takes no time of a test."""
    server = Server("127.0.0.1:0", lambda: PEOPLE if people is None else people, shelf=folder / "shelf")
    places = [Place(name, port, folder / f"{name}.journal", "tda-2024+house") for name, port in ports.items()]
    bridges = open_tables(places, server.hear, shelf=folder / "shelf")
    for place in places:
        server.add(place.name, bridges[place.name])
        bridges[place.name].start()
    server.start()
    try:
        yield Hall(server, bridges, folder)
    finally:
        server.stop()
        for bridge in bridges.values():
            bridge.stop()
    assert server.error is None
