"""The console's pages as whoever uses them sees them: what is to be read, and the keys. For the tests in a browser."""

from __future__ import annotations

from typing import Any, Self

from browser.room import Room, Table, until

PATIENCE_MS = 30_000
KEYS = {
    "ack": "#ack",
    "act": "#keys .key:nth-child(1)",
    "betting complete": "#keys .key:nth-child(2)",
    "betting over": "#keys .key:nth-child(3)",
    "exposed by dealer": "#keys .key:nth-child(4)",
    "exposed by player": "#keys .key:nth-child(5)",
    "call floor": "#keys .key:nth-child(6)",
    "undo": "#keys .key:nth-child(7)",
    "hand next": "#keys .key:nth-child(8)",
}


class Page:
    """A page of table t1 and of whoever is logged in."""

    role = ""

    def __init__(self, page: Any, room: Room) -> None:
        self.page = page
        self.room = room

    @classmethod
    def open(cls, page: Any, room: Room, role: str) -> Self:
        """Log in with a link that has the token, as a tablet is set up."""
        page.goto(f"{room.url}login#{room.tokens[role]}")
        page.locator("html[lang]").wait_for()
        page.get_by_role("button").first.click()
        made = cls(page, room)
        made.see(".link:not(.lost)")
        made.newest()
        return made

    def see(self, selector: str, text: str | None = None) -> Any:
        """Wait for an element that is there to be seen, with `text` in it."""
        found = self.page.locator(selector)
        if text is not None:
            found = found.filter(has_text=text)
        found.first.wait_for(timeout=PATIENCE_MS)
        return found.first

    def gone(self, selector: str) -> None:
        """Wait until an element is not to be seen."""
        self.page.locator(selector).first.wait_for(state="hidden", timeout=PATIENCE_MS)

    def read(self, selector: str) -> str:
        """The text of an element."""
        return str(self.page.locator(selector).first.text_content())

    def newest(self) -> None:
        """Wait until the page shows the newest state of the table that it is about."""
        body = self.page.locator("body")

        def shown() -> bool:
            table = body.get_attribute("data-table")
            return bool(table) and body.get_attribute("data-version") == str(self.room.version(table))

        until(shown, "the newest state on the page")

    def sheet(self, key: str, seats: list[int], button: int, away: int = 0) -> None:
        """Fill in who sits where, and who is `away`, and begin."""
        self.page.locator(key).click()
        self.see("#start h2")
        for tile in self.page.locator("#start input[name=seats]").all():
            tile.set_checked(int(tile.get_attribute("value")) in seats, force=True)
        self.page.locator(f"#start input[name=button][value='{button}']").check(force=True)
        if away:
            self.page.locator(f"#start input[name=away][value='{away}']").check(force=True)
        self.page.locator("#start .strong").click()
        self.gone("#start h2")


class Dealer(Page):
    """The dealer's page."""

    def looked(self) -> None:
        """Wait until whoever looks at the page has had time to see its newest state."""
        self.newest()
        body = self.page.locator("body")
        until(lambda: body.get_attribute("data-settled") == body.get_attribute("data-version"), "time to see the page")

    def press(self, line: str) -> None:
        """Touch the key that says `line`, and see that the table took it."""
        self.looked()
        key = self.page.locator(KEYS[line])
        key.click()
        self.page.locator(f"{KEYS[line]}[data-state=taken]").wait_for(state="attached", timeout=PATIENCE_MS)

    def say(self, table: Table, line: str) -> None:
        """`press`, where the dealer at the shoe is to know of it."""
        self.press(line)
        table.knows(line)

    def due(self, words: str) -> None:
        """See what is due in the middle of the table."""
        from playwright.sync_api import TimeoutError

        try:
            self.see("#oval .due-text", words)
        except TimeoutError as error:
            raise AssertionError(f"no {words!r} on this page:\n{self.page.inner_text('body')}") from error


class Floor(Page):
    """The floor's page."""
