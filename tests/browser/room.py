"""A card room for the tests of the pages: tables with emulated shoes, the console beside them, and a browser.

For `conftest.py` and `screenshots.py`. The browser is Debian's Chromium; `missing()` says why there is none.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import Place, open_tables
from dealershoe.console import access
from dealershoe.console.access import Person
from dealershoe.console.serve import Server
from dealershoe.deal.grammar import parse, parse_line
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.events import Event
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession

BROWSERS = ("chromium", "chromium-browser")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
DEADLINE_S = 60.0  # generous: the machine may be busy with other tests


def missing() -> str:
    """Why the pages cannot be tested here, "" when they can."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "Playwright is not installed: `make setup` does it"
    return "" if browser_path() else "there is no Chromium here: `make browser` installs Debian's (as root)"


def browser_path() -> str | None:
    """Where Chromium is."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


class Table:
    """A table, its shoe, and who pulls its cards. What a shoe cannot sense goes to `tell`: at first the bridge."""

    def __init__(self, name: str, bridge: Bridge, shoe: EmulatedShoe, rules: str) -> None:
        self.name = name
        self.bridge = bridge
        self.shoe = shoe
        self.tell: Callable[[str], None] = lambda line: bridge.ask(line, "test")
        self.dealer = ScriptedDealer(shoe, TableSession(load_stack(rules)), self._said, seed=1, hosted=True)

    def play(self, script: str) -> None:
        """Play lines of a deal script, to the last of them taken by the bridge."""
        self._agreed()
        for _ in self.dealer.play(parse(script, self.name)):
            pass

    def _said(self, line: str) -> None:
        self.tell(line)
        self._agreed()

    def _agreed(self) -> None:
        """Wait until the shoe has heard what is due. A card that it gives before would be one of the hand before."""
        due = self.bridge.read(lambda desk: desk.shown_due, DEADLINE_S)
        line = self.shoe.line
        if due is not None and line.up:
            self.shoe.wait_for(
                lambda: line.due is not None and tuple(line.due)[1:] == tuple(due), f"the shoe knows {due}"
            )

    def knows(self, line: str) -> None:
        """Somebody has said `line` elsewhere: the dealer knows it too."""
        parsed = parse_line(line, 1, self.name)
        assert parsed is not None
        assert isinstance(parsed.item, Event)
        self.dealer.session.tell(parsed.item, "page")

    def has_its_shoe(self) -> bool:
        """Whether the shoe is on the line."""
        return self.bridge.snapshot().link != "unsupervised"


class Room:
    """Tables by name, their console, and a person of each role with a token. Use as a context manager."""

    def __init__(self, folder: Path, rules: dict[str, str]) -> None:
        """`rules`: the stack of each table, by its name."""
        self.tokens = {role: access.new_token(os.urandom) for role in access.ROLES}
        self._people = {role: Person(role, role, access.digest_of(token)) for role, token in self.tokens.items()}
        self._folder = folder
        self._rules = rules
        self._stack = ExitStack()
        self._shoes: dict[str, ExitStack] = {}
        self.tables: dict[str, Table] = {}
        self._kept: dict[str, Any] = {"shelf": folder / "shelf", "logins": folder / "logins.json"}
        self.server = Server("127.0.0.1:0", lambda: self._people, **self._kept)
        self.url = self.server.url

    def __enter__(self) -> Self:
        self._shoes = {name: self._stack.enter_context(ExitStack()) for name in self._rules}
        shoes = {name: plug.enter_context(EmulatedShoe(pace="fast")) for name, plug in self._shoes.items()}
        places = [
            Place(name, shoe.port, self._folder / f"{name}.journal", self._rules[name]) for name, shoe in shoes.items()
        ]
        bridges = open_tables(places, self._hear, shelf=self._folder / "shelf")
        for name, bridge in bridges.items():
            self.tables[name] = Table(name, bridge, shoes[name], self._rules[name])
            self.server.add(name, bridge)
            bridge.start()
            self._stack.callback(bridge.stop)
        self.server.start()
        for table in self.tables.values():
            until(table.has_its_shoe, f"the shoe of {table.name}")
        return self

    def __exit__(self, *why: object) -> None:
        self.server.stop()
        self._stack.close()

    def _hear(self, name: str, happening: Any) -> None:
        self.server.hear(name, happening)

    def restart(self, down: Callable[[], object]) -> None:
        """The console ends, `down` looks at what its pages say, and it begins anew at the same place."""
        self.server.stop()
        down()
        self.server = Server(self.url[len("http://") : -1], lambda: self._people, **self._kept)
        for table in self.tables.values():
            self.server.add(table.name, table.bridge)
        self.server.start()

    def unplug(self, table: str) -> None:
        """The shoe of a table goes away for good."""
        self._shoes[table].close()

    def version(self, table: str) -> int:
        """The version of a table's newest state."""
        return self.server.tables[table].feed.version


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until `holds`. Fails after DEADLINE_S."""
    end = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {DEADLINE_S:.0f} s"
        time.sleep(0.02)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        yield browser
        browser.close()
