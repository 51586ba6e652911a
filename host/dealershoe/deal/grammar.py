"""Reads deal scripts and writes them: `parse` a file, `parse_line` of live input, `render` an item. Driven by `forms`.

>>> parse("card 3 Ah exposed by=dealer  # seat 3's first card", "demo.deal")[0].item.exposed
'dealer'
>>> render(parse_line("hand button=6 seats=1,2,3", 1, "demo.deal").item)
'hand seats=1-3 button=6'
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from dealershoe.deal.forms import FORMS, Field, Form
from dealershoe.deal.items import DealError, Item, Line

_COMMENT = re.compile(r"#+(?=\s|$)")
_STACKED = re.compile(r"expect\[([^\]]*)\](?=\s|$)")
_STACK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\+[A-Za-z0-9][A-Za-z0-9._-]*)*")
_HEADER = re.compile(r"#\s+stacks:(.*)")
_LONGEST_SHOWN = 40  # characters of a strange word in an error

_BY_WORDS = {form.words: form for form in FORMS}
_NEXT: dict[tuple[str, ...], list[str]] = {}
for _words in _BY_WORDS:
    for _length in range(len(_words)):
        _following = _NEXT.setdefault(_words[:_length], [])
        if _words[_length] not in _following:
            _following.append(_words[_length])


def parse(text: str, name: str) -> tuple[Line, ...]:
    """The lines of a script that say something; `name` is the file's name for errors. Raises `DealError`."""
    lines = (parse_line(line, number, name) for number, line in enumerate(text.split("\n"), 1))
    return tuple(line for line in lines if line is not None)


def parse_line(text: str, number: int, name: str) -> Line | None:
    """One line, None if it is blank or a comment. `number` counts from 1. Raises `DealError`."""
    return _Reader(text, number, name).line()


def header_stacks(text: str) -> tuple[str, ...]:
    """The stacks named by a script's first line, `# stacks: first first+second`; empty if it names none."""
    match = _HEADER.match(text.lstrip("\ufeff"))
    return tuple(match[1].split()) if match else ()


def render(item: Item) -> str:
    """The one line that `parse_line` reads as `item`: words, values, keys and flags in that order."""
    form, values = _form_of(item)
    words = list(form.words)
    stacks = values.get("stacks")
    if stacks:
        words[0] = f"{words[0]}[{','.join(stacks)}]"
    words += [place.value.write(values[place.fills]) for place in form.places if place.fills in values]
    words += [f"{key.name}={key.value.write(values[key.fills])}" for key in form.keys if key.fills in values]
    words += [flag.word for flag in form.flags if values.get(flag.field) == flag.value]
    return " ".join(words)


def _form_of(item: Item) -> tuple[Form, dict[str, Any]]:
    for form in FORMS:
        if form.item is type(item) and all(getattr(item, field) == value for field, value in form.fixed):
            return form, form.take(item)
    raise TypeError(f"{item!r} cannot be written as a line of a deal script")


class _Reader:
    """Reads one line against the table."""

    def __init__(self, text: str, number: int, name: str) -> None:
        self.text = text.strip().strip("\ufeff")
        self.number = number
        self.name = name

    def line(self) -> Line | None:
        comment = _COMMENT.search(self.text)
        statement = self.text[: comment.start()] if comment else self.text
        stacks, statement = self.stacks(statement)
        words = statement.split()
        if not words:
            return None
        return Line(self.number, self.text, self.item(words, stacks))

    def stacks(self, statement: str) -> tuple[tuple[str, ...], str]:
        match = _STACKED.match(statement)
        if match is None:
            return (), statement
        names = tuple(part.strip() for part in match[1].split(","))
        for name in names:
            if not _STACK.fullmatch(name):
                raise self.wrong(f"saw {_show(name)} among the stacks", "packs joined by +, such as first+second")
        return names, "expect" + statement[match.end() :]

    def item(self, words: list[str], stacks: tuple[str, ...]) -> Item:
        form, rest = self.form(words)
        values = dict(form.fixed) | self.values(form, rest)
        if stacks:
            values["stacks"] = stacks
        try:
            item: Item = (form.make or form.item)(**values)
        except ValueError as error:
            raise self.wrong(f"saw {_show(' '.join(words))}", str(error)) from None
        return item

    def form(self, words: list[str]) -> tuple[Form, list[str]]:
        """The form whose words start the line, the longest, and what follows them."""
        taken: tuple[str, ...] = ()
        while len(taken) < len(words) and words[len(taken)] in _NEXT.get(taken, ()):
            taken = (*taken, words[len(taken)])
        if taken in _BY_WORDS:
            return _BY_WORDS[taken], words[len(taken) :]
        choices = _NEXT[taken]
        where = f"after `{' '.join(taken)}`" if taken else "at the start of a line"
        got = words[len(taken)] if len(taken) < len(words) else None
        if got is not None and got.startswith("#"):
            raise self.wrong(f"saw {_show(got)} {where}", "a blank after the # that starts a comment", f"# {got[1:]}")
        raise self.wrong(f"saw {_show(got)} {where}", ", ".join(choices), _nearest(got, choices))

    def values(self, form: Form, words: list[str]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        places = list(form.places)
        keys = {key.name: key for key in form.keys}
        flags = {flag.word: flag for flag in form.flags}
        for word in words:
            name, equals, value = word.partition("=")
            if equals and name in keys:
                self.fill(values, keys[name], value, word)
            elif word in flags:
                if flags[word].field in values:
                    raise self.wrong(f"saw {_show(word)} twice", "it once")
                values[flags[word].field] = flags[word].value
            elif places and not (equals and keys):
                place = places.pop(0)
                self.fill(values, place, word, word, also=() if place.required else tuple(flags))
            else:
                raise self.surplus(form, word, () if values else _NEXT.get(form.words, ()))
        for field in form.places + form.keys:
            if field.required and field.fills not in values:
                label = field.value.what if field in form.places else f"{field.name}= with {field.value.what}"
                raise self.wrong(f"saw {_show(' '.join((*form.words, *words)))} and no more", label)
        if form.some and not values:
            raise self.surplus(form, None, _NEXT.get(form.words, ()))
        return values

    def fill(self, values: dict[str, Any], field: Field, word: str, seen: str, also: Any = ()) -> None:
        if field.fills in values:
            raise self.wrong(f"saw {_show(seen)} after another {field.name}=", "it once")
        try:
            values[field.fills] = field.value.read(word)
        except ValueError:
            expected = ", ".join((field.value.what, *also))
            nearest = _nearest(word, (*field.value.words, *also))
            raise self.wrong(f"saw {_show(seen)}", expected, nearest) from None

    def surplus(self, form: Form, word: str | None, also: Any) -> DealError:
        """A word that has no place in the line (None: the line ends too early)."""
        keys = [f"{key.name}=" for key in form.keys]
        expected = [*also, *keys, *(flag.word for flag in form.flags)]
        name = word.partition("=")[0] + "=" if word and "=" in word else word
        nearest = _nearest(name, expected)
        if nearest and word and nearest.endswith("="):
            nearest += word.partition("=")[2]
        where = f"after `{' '.join(form.words)}`"
        listed = ", ".join(dict.fromkeys(re.sub(r"[0-9]+=", "N=", choice) for choice in expected))
        return self.wrong(f"saw {_show(word)} {where}", listed or "the end of the line", nearest)

    def wrong(self, got: str, expected: str, nearest: str | None = None) -> DealError:
        return DealError(self.name, self.number, got, expected, nearest)


def _show(word: str | None) -> str:
    """A word as it stands in an error: on one line, printable, not too long."""
    if word is None:
        return "the end of the line"
    shown = word if len(word) <= _LONGEST_SHOWN else word[: _LONGEST_SHOWN - 1] + "…"
    return "`" + "".join(char if char.isprintable() else ascii(char)[1:-1] for char in shown) + "`"


def _nearest(word: str | None, words: Any) -> str | None:
    return next(iter(get_close_matches(word, words, n=1)), None) if word else None
