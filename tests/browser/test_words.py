"""The pages' words: the same keys in every language, none missing, none left over. Needs no browser."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import get_args

import pytest
from dealershoe.console.said import WORDS as WORDS_OF_THE_HOST
from dealershoe.console.state import HEALTH
from dealershoe.deal.items import RULINGS
from dealershoe.desk.look import LIGHTS
from dealershoe.events import ACTIONS, FLOOR_DECISIONS, PLACES, Event
from dealershoe.table.agenda import HOLDEM_STREETS, STUD_STREETS

PAGES = files("dealershoe.console") / "pages"
SOURCES = [
    path.read_text()
    for folder in (PAGES, PAGES / "lib")
    for path in folder.iterdir()
    if path.name.endswith((".js", ".html"))
]
WORDS = {
    path.name.removesuffix(".json"): json.loads(path.read_text())
    for path in (PAGES / "words").iterdir()
    if path.name.endswith(".json")
}
KEYS = ("act", "complete", "over", "exposed-dealer", "exposed-player", "floor", "undo", "next", "ack")
MARKS = ("button", "sb", "bb", "away", "dead", "not in")
# what a page asks for by a name that comes from the host
FAMILIES = {
    "signal": LIGHTS,
    "due": ("seat", "burn", "board", "betting", "ack", "shuffle", "pick", "nothing"),
    "street": (*HOLDEM_STREETS, *STUD_STREETS),
    "mark": MARKS,
    "short": MARKS,
    "ruling": {*RULINGS, *FLOOR_DECISIONS} - {"none"},
    "key": KEYS,
    "typed": KEYS,
    "link": ("supervised", "align", "unsupervised"),
    "now": ("seat", "burn", "board", "betting", "ack", "shuffle", "pick", "nothing"),
    "place": ("seat", "stub", "aside", "unknown", *PLACES),
    "act": ACTIONS,
    "flag": ("boxed", "double", "unread", "foreign", "wrong_back", "up", "touched", "out_of_turn"),
    "health": HEALTH,
    "counts": ("hands", "draws", "findings", "facts"),
    "light": LIGHTS,
    "sound": LIGHTS,
    "origin": ("shoe", "key", "seat sensor", "api", "console", "stdin", "bridge", "rules", "link", "fault", "note"),
}
# the story of a hand: every event that can be on record, and what may be said of one in another way
STORIES = {one.__name__ for one in get_args(Event)} | {
    "Act.seat", "Exposed.last", "FloorDecision.seat", "FloorCall", "FloorCall.back", "Revealed",
    "by.dealer", "by.player", "refused", "signal",
}  # fmt: skip


def used() -> set[str]:
    found = {"language"}  # what a language calls itself
    for source in SOURCES:
        found |= set(re.findall(r'\bsay\("([^"]+)"', source))
        found |= set(re.findall(r'data-(?:say|label)="([^"]+)"', source))
        for choice in re.findall(r'\bsay\((?!["`])[^;]*?\? "([^"]+)" : "([^"]+)"', source):
            found |= set(choice)
        for listed in re.findall(r"\[([^\]]*)\]\.map\(\(key\) => say\(key\)\)", source):
            found |= set(re.findall(r'"([^"]+)"', listed))
        for family in re.findall(r"(?:say\(|words\[)`([a-z]+)[.-]\$\{", source):
            if family != "by":
                found |= {f"{family}.{name}" for name in FAMILIES[family]}
    found |= WORDS_OF_THE_HOST.keys()
    return found | {f"by-{decider}" for decider in ("dealer", "floor")} | {f"story.{name}" for name in STORIES}


def test_three_languages_have_the_same_words() -> None:
    assert sorted(WORDS) == ["de", "en", "es"]
    for language, words in WORDS.items():
        assert words.keys() == WORDS["en"].keys(), language
        assert all(words.values()), language


def test_no_word_is_missing_and_none_is_left_over() -> None:
    assert used() == WORDS["en"].keys()


@pytest.mark.parametrize("language", sorted(WORDS))
def test_what_is_filled_in_is_the_same(language: str) -> None:
    for key, text in WORDS[language].items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", WORDS["en"][key])), key


@pytest.mark.parametrize("language", sorted(WORDS))
def test_every_key_has_a_letter_of_its_own(language: str) -> None:
    letters = [WORDS[language][f"typed.{key}"] for key in KEYS]
    assert len(set(letters)) == len(letters)
    assert all(re.fullmatch("[A-Z]", letter) for letter in letters)
