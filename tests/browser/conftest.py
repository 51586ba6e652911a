"""The browser, once for each test file, and rooms to look at. All is skipped, with the reason, where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.pages import Dealer, Floor
from browser.room import Room, chromium, missing


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    why = missing()
    if why:
        pytest.skip(why)
    with chromium() as browser:
        yield browser


@pytest.fixture
def room(browser: Any, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Room]:
    """Tables under the rules of the test's `rules` mark, else one of the default stack."""
    mark = request.node.get_closest_marker("rules")
    with Room(tmp_path, mark.kwargs if mark else {"t1": "tda-2024+house"}) as room:
        yield room
    assert room.server.error is None


UNFILLED = """new MutationObserver(() => {
  const shown = [document.title, document.body?.textContent ?? ""];
  for (const one of document.querySelectorAll("[aria-label]")) shown.push(one.ariaLabel);
  const found = shown.join(" ").match(/[^{}]{0,30}\\{\\w+\\}/);
  if (found) console.error("a blank is not filled in: " + found[0]);
}).observe(document, { subtree: true, childList: true, characterData: true, attributeFilter: ["aria-label"] });"""
WRONG = ("Content Security Policy", "a blank is not filled in")


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """`opened(**options)`: a new page in a context of its own. What it throws, cannot load or shows `{so}` fails it."""
    contexts = []
    wrong: list[str] = []

    def new(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, "locale": "en", **options})
        context.add_init_script(UNFILLED)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if any(one in said.text for one in WRONG) else None)
        return page

    yield new
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def dealer(room: Room, opened: Callable[..., Any]) -> Callable[..., Dealer]:
    """`dealer()`: a dealer's page of table t1, logged in."""
    return lambda **options: Dealer.open(opened(**options), room, "dealer")


@pytest.fixture
def floor(room: Room, opened: Callable[..., Any]) -> Callable[..., Floor]:
    """`floor()`: the floor's page, logged in."""
    return lambda **options: Floor.open(opened(**options), room, "floor")
