"""The pages' words: the same keys in every language, none missing, none left over. Needs no browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields
from importlib.resources import files
from typing import get_args

import pytest
from dealershoe.console.said import WORDS as SENTENCES
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
    "link-is": ("supervised", "align", "unsupervised"),
    "now": ("seat", "burn", "board", "betting", "ack", "shuffle", "pick", "nothing"),
    "place": ("seat", "stub", "aside", "unknown", *PLACES),
    "act": ACTIONS,
    "flag": ("boxed", "double", "unread", "unseen", "foreign", "wrong_back", "up", "touched", "out_of_turn"),
    "health": HEALTH,
    "counts": ("hands", "draws", "findings", "facts"),
    "light": LIGHTS,
    "sound": LIGHTS,
    "origin": ("shoe", "key", "seat sensor", "api", "console", "stdin", "bridge", "rules", "link", "fault", "note"),
}
# the story of a hand: every event that can be on record, and what may be said of one in another way
STORIES = {one.__name__ for one in get_args(Event)} | {
    "Act.seat", "Exposed.last", "ReportBoxed.not", "FloorDecision.seat", "FloorCall", "FloorCall.back", "Revealed",
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
        for family in re.findall(r"(?:say\(|words\[)`([a-z-]+)[.-]\$\{", source):
            if family != "by":
                found |= {f"{family}.{name}" for name in FAMILIES[family]}
    found |= SENTENCES.keys()
    return found | {f"by-{decider}" for decider in ("dealer", "floor")} | {f"story.{name}" for name in STORIES}


def test_three_languages_have_the_same_words() -> None:
    assert sorted(WORDS) == ["de", "en", "es"]
    for language, words in WORDS.items():
        assert words.keys() == WORDS["en"].keys(), language
        assert all(words.values()), language


def test_no_word_is_missing_and_none_is_left_over() -> None:
    assert used() == WORDS["en"].keys()


def test_no_family_of_the_pages_words_is_one_of_the_host_s_sentences() -> None:
    """A word that a page asks for by a name of the host's would else be a sentence of the host's."""
    host = {kind.partition(".")[0] for kind in SENTENCES}
    assert len(host) >= 8
    pages = {*FAMILIES, "story", *(key.partition(".")[0] for key in used() - SENTENCES.keys() if "." in key)}
    assert not pages & host


@pytest.mark.parametrize("path", sorted(WORDS))
def test_no_word_stands_twice_in_a_file(path: str) -> None:
    pairs = json.loads((PAGES / "words" / f"{path}.json").read_text(), object_pairs_hook=list)
    assert len({key for key, _ in pairs}) == len(pairs)


def _braced(text: str) -> str:
    """What stands before the brace that ends an object which has begun, without what is in brackets of any kind."""
    depth, top = 0, ""
    for sign in text:
        if depth == 0 and sign == "}":
            break
        depth += (sign in "({[") - (sign in ")}]")
        top += sign if depth == 0 else ""
    return top


def asked() -> Iterable[tuple[str, set[str]]]:
    """Every word that a page asks for, and the blanks that it fills in there. The host's sentences fill their own."""
    for source in SOURCES:
        for key in re.findall(r'data-(?:say|label)="([^"]+)"', source):
            yield key, set()
        for listed in re.findall(r"\[([^\]]*)\]\.map\(\(key\) => say\(key\)\)", source):
            yield from ((key, set()) for key in re.findall(r'"([^"]+)"', listed))
        for choice in re.findall(r'\bsay\((?!["`])[^;]*?\? "([^"]+)" : "([^"]+)"\)', source):
            yield from ((key, set()) for key in choice)
        for call in re.finditer(r'\bsay\((?:"([^"]+)"|`([a-z-]+)\.\$\{[^`]*`)(,\s*\{)?', source):
            plain, family, given = call.groups()
            filled = set(re.findall(r"(?:^|,)\s*(\w+)\s*(?=[:,]|$)", _braced(source[call.end() :]) if given else ""))
            if plain:
                yield plain, filled
            else:
                yield from ((f"{family}.{name}", filled) for name in FAMILIES.get(family, ()))


def test_no_page_shows_a_word_with_a_blank_that_it_does_not_fill_in() -> None:
    words = list(asked())
    assert len(words) > 150
    assert any(filled for _, filled in words)
    for key, filled in words:
        for language, said in WORDS.items():
            assert set(re.findall(r"\{(\w+)\}", said.get(key, ""))) <= filled, (language, key)


def test_what_the_story_of_a_hand_fills_in_is_always_there() -> None:
    made = {"seats", "place", "act", "by", "decision", "signal"}  # by the page, whatever the event has
    # of those that an event may be without: said in another way then, or on record with the shoe's own number
    cared_for = {("Act.seat", "seat"), ("Exposed", "number"), ("FloorDecision.seat", "seat"), ("Draw", "number")}
    for event in get_args(Event):
        sure = {field.name for field in fields(event) if "None" not in str(field.type)}
        name = event.__name__
        for key in {name, f"{name}.seat", f"{name}.last", f"{name}.back"} & STORIES:
            blanks = set(re.findall(r"\{(\w+)\}", WORDS["en"][f"story.{key}"]))
            assert blanks - made - sure <= {blank for of, blank in cared_for if of == key}, key


@pytest.mark.parametrize("language", sorted(WORDS))
def test_what_is_filled_in_is_the_same(language: str) -> None:
    for key, text in WORDS[language].items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", WORDS["en"][key])), key


@pytest.mark.parametrize("language", sorted(WORDS))
def test_every_key_has_a_letter_of_its_own(language: str) -> None:
    letters = [WORDS[language][f"typed.{key}"] for key in KEYS]
    assert len(set(letters)) == len(letters)
    assert all(re.fullmatch("[A-Z]", letter) for letter in letters)
