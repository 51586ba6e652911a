"""What goes wrong at a tablet, and that the page says so in words: no connection, slow answers, old pages, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from browser.pages import KEYS, Dealer, Floor
from browser.room import Room

HAND = "hand seats=1-6 button=6\n"
# What comes within 250 ms is too soon (REACT_MS of pages/lib/state.js): a busy machine needs longer for a touch.
LONG_TO_REACT = """() => {
  const real = window.setTimeout;
  window.setTimeout = (act, ms, ...more) => real(act, ms === 250 ? 600_000 : ms, ...more);
}"""


def test_a_lost_connection_is_said_and_comes_back(room: Room, dealer: Callable[..., Dealer]) -> None:
    page = dealer()
    room.tables["t1"].play(HAND)
    page.due("next: seat 1")
    page.page.context.set_offline(True)
    page.see("#banner.urgent", "No connection")
    page.see("#line.lost", "no connection")
    page.page.locator(KEYS["call floor"]).click(force=True)  # it says that it is of no use now
    page.see("#notice.refused", "Call floor: not taken, there is no connection")
    room.tables["t1"].play("deal 1")
    page.due("next: seat 1")  # the page cannot know better, and says so
    page.page.context.set_offline(False)
    page.due("next: seat 2")
    page.gone("#banner")
    page.see("#notice.taken", "The connection is back")
    assert page.read("#line") == "✓ connected"
    page.page.context.clear_cookies()  # the log-in is over
    page.page.context.set_offline(True)
    page.page.context.set_offline(False)
    page.page.wait_for_url("**/login")


def test_a_console_that_stops_says_so_and_its_page_comes_back_by_itself(
    room: Room, dealer: Callable[..., Dealer], floor: Callable[..., Floor]
) -> None:
    page = dealer()
    pages = [page, floor()]
    room.tables["t1"].play(HAND)
    page.due("next: seat 1")
    room.restart(lambda: [one.see("#banner.urgent", "The console was stopped") for one in pages])
    for one in pages:
        one.see(".link:not(.lost)")  # nobody had to log in again
        one.see("#notice.taken", "The connection is back")
        one.gone("#banner.urgent")
    page.press("call floor")


def test_a_wrong_token_is_said_on_the_page(room: Room, opened: Callable[..., Any]) -> None:
    page = opened(locale="de")
    page.goto(f"{room.url}login#{room.tokens['dealer'][:-1]}")
    page.locator("html[lang=de]").wait_for()
    page.get_by_role("button").click()
    page.locator("#wrong", has_text="Niemand hat diesen Token").wait_for()
    page.locator("#token").fill(room.tokens["dealer"])
    page.get_by_role("button").click()
    page.wait_for_url("**/dealer")


def test_a_touch_too_soon_after_another_takes_back_nothing(room: Room, dealer: Callable[..., Dealer]) -> None:
    """Two dealers, or two touches of one, undo at once: one thing is taken back."""
    page = dealer()
    room.tables["t1"].play(HAND + "deal hole")
    page.due("betting")
    page.press("act")
    page.press("act")
    page.looked()
    page.page.evaluate(LONG_TO_REACT)
    page.press("undo")
    page.page.locator(KEYS["undo"]).click()
    page.see("#notice.refused", "the table has moved on since you looked")
    assert room.tables["t1"].bridge.snapshot().can_undo


def test_a_slow_answer_shows_at_once_that_the_key_was_pressed(room: Room, dealer: Callable[..., Dealer]) -> None:
    page, other = dealer(), dealer()
    room.tables["t1"].play(HAND + "deal hole")
    page.due("betting")
    other.due("betting")
    page.newest()
    held: list[Any] = []
    page.page.route("**/lines", lambda route: held.append(route))
    ms = page.page.evaluate(
        """selector => new Promise((done) => {
            const key = document.querySelector(selector);
            const begun = performance.now();
            const seen = new MutationObserver(() => done(performance.now() - begun));
            seen.observe(key, { attributeFilter: ["data-state"] });
            key.click();
        })""",
        KEYS["betting complete"],
    )
    assert ms < 100
    page.see(f"{KEYS['betting complete']}[data-state=sent][aria-busy=true]")
    page.see("#notice.waiting", "Betting complete: waiting for the table")
    other.press("betting complete")  # meanwhile at the other page
    page.due("next: burn")
    held[0].continue_()
    page.see("#notice.refused", "the table has moved on since you looked")  # or the flop's betting would be closed
    page.due("next: burn")
    assert "betting complete" in other.read("#notice").lower()


def test_two_pages_say_what_the_other_has_said(room: Room, dealer: Callable[..., Dealer]) -> None:
    one, two = dealer(), dealer()
    room.tables["t1"].play(HAND + "deal hole")
    one.due("betting")
    one.press("betting complete")
    two.due("next: burn")
    two.see("#notice", "Last said: Betting complete (page)")


def test_a_refused_line_is_said_with_its_reason(room: Room, dealer: Callable[..., Dealer]) -> None:
    page = dealer()
    room.tables["t1"].play(HAND)
    page.due("next: seat 1")
    page.newest()
    page.page.locator(KEYS["exposed by dealer"]).click()
    page.see(f"{KEYS['exposed by dealer']}[data-state=refused]")
    assert "no card has been drawn in this hand" in page.read("#notice.refused")
    assert page.page.locator("#notice [lang=en]").count() == 1


def test_the_next_hand_is_asked_twice_while_one_is_in_play(room: Room, dealer: Callable[..., Dealer]) -> None:
    page = dealer()
    room.tables["t1"].play(HAND + "deal 3")
    page.due("next: seat 4")
    page.newest()
    page.page.locator(KEYS["hand next"]).click()
    page.see("#notice", "The hand is still in play")
    page.page.keyboard.press("Escape")
    assert page.page.locator(".armed").count() == 0
    assert page.read("#hand") == "Hand 1"
    page.page.locator(KEYS["hand next"]).click()
    page.press("hand next")
    page.see("#hand", "Hand 2")


def test_the_floor_is_called_and_the_call_taken_back(room: Room, dealer: Callable[..., Dealer]) -> None:
    page = dealer()
    room.tables["t1"].play(HAND)
    page.due("next: seat 1")
    page.press("call floor")
    page.see("#signal.floor", "FLOOR")
    page.see("#banner", "The floor has been called")
    page.press("ack")
    page.see("#signal.ready")


def test_a_shoe_that_goes_away_is_said(room: Room, dealer: Callable[..., Dealer]) -> None:
    page = dealer()
    room.tables["t1"].play(HAND)
    page.due("next: seat 1")
    room.unplug("t1")
    page.see("#signal.unsupervised", "UNSUPERVISED")
    page.see("#banner", "The shoe is not there")


def test_a_misdeal_is_shuffled_loaded_and_dealt_again(room: Room, dealer: Callable[..., Dealer]) -> None:
    page = dealer()
    room.tables["t1"].play(HAND + "card 1 exposed by=dealer")
    page.see("#signal.stop", "STOP")
    assert "Collect every card" in page.read("#now")
    page.press("ack")
    page.due("next: seat 1")
    page.see("#signal.ready")
