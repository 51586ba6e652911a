"""Reading a pack: every problem with its line, and nothing but a sentence for a file that is not one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
from dealershoe.errors import UserError
from dealershoe.rules.pack import BIGGEST, MOST_RULES, examine, read_pack
from dealershoe.rules.pack_fields import LONGEST_LINE
from dealershoe.rules.stack import SHIPPED
from hypothesis import given
from hypothesis import strategies as st

HEAD = '[pack]\nid = "mine"\nversion = "1.0.0"\ntitle = "Mine"\n'
RULE = '[[rules]]\nid = "r{n}"\nfinding = "boxed"\nruling = "floor"\ncite = "1"\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packs") / "mine.toml"


def problems(place: Path, text: str) -> list[str]:
    place.write_text(text, encoding="utf-8")
    return [f"{problem.line}: {problem.seen}" for problem in examine(place).problems]


def test_every_problem_of_a_file_has_its_line(place: Path) -> None:
    text = """[pack]
id = "Mine"
version = "one"
title = "Mine"
colour = "red"

[parameters]
limit = 2
seat = 3
half = 0.5

[windows]
early = "actions < limit"
late = '''
actions >= limt'''
[procedure]
button_tie = "coin"

[[rules]]
id = "a"
finding = ["exposed", "expsed"]
when = "heads_up && positon < 3"
window = "erly"
ruling = "misdeal"
remedy = [
  "redeal",
  "return-to-floor",
]
cite = "1"
say = "Seat {seat} and {card}"
closed = { ruling = "playon", remedy = ["dead-hand 5"] }

[[rules]]
id = "a"
finding = "boxed"
ruling = "floor"
cite = "1"

[[scenarios]]
name = "s"
stack = "other"
deal = 3
"""
    assert problems(place, text) == [
        "2: [pack]: `id`: 'Mine' is no name of a pack",
        "3: [pack]: 'one' is no version",
        "5: [pack]: unknown key `colour`",
        "9: parameter `seat` has the name of a fact",
        "10: parameter `half` must be a number, a text, true or false",
        "15: window `late`: unknown fact `limt`, did you mean `limit`?",
        "17: [procedure]: `button_tie` is `coin`",
        "21: rule `a`: unknown finding `expsed`",
        "22: rule `a`: unknown fact `positon`, did you mean `position`?",
        "23: rule `a`: unknown window `erly`",
        "27: rule `a`: unknown step `return-to-floor`",
        "30: rule `a`: `say` has the unknown blank `{card}`",
        "31: rule `a`, closed: step `dead-hand` with unknown operand `5`",
        "31: rule `a`, closed: unknown ruling `playon`",
        "41: scenario `s`: stack `other`",
        "42: scenario `s`: `deal` must be a script of at most 200 lines",
    ]


def test_two_rules_of_one_name_are_refused_at_the_second(place: Path) -> None:
    text = HEAD + RULE.format(n=1) + RULE.format(n=2) + RULE.format(n=1)
    assert problems(place, text) == ["16: two rules are named `r1`, the first on line 5"]


def test_lines_hold_behind_texts_that_look_like_headers(place: Path) -> None:
    text = HEAD.replace('"Mine"', '"""\n[[rules]]\nid = 1 # """') + "# [[rules]]\n\n" + RULE.format(n=1)
    text = text.replace('ruling = "floor"', 'ruling = "flor"')
    assert problems(place, text)[-1] == "12: rule `r1`: unknown ruling `flor`"


def test_a_file_with_the_line_ends_of_windows_is_read(place: Path) -> None:
    place.write_bytes((HEAD + RULE.format(n=1)).replace("\n", "\r\n").encode())
    assert read_pack(place).rules[0].line == 5


def test_a_day_may_stand_with_or_without_quotes(place: Path) -> None:
    for said in ("2024-10-09", '"2024-10-09"'):
        place.write_text(HEAD + f"effective = {said}\n")
        assert read_pack(place).effective == "2024-10-09"


def test_the_language_of_its_sentences_is_a_tag_that_a_page_can_use(tmp_path: Path) -> None:
    place = tmp_path / "a.toml"
    place.write_text(HEAD)
    assert read_pack(place).language == "en"
    for said in ("de", "es-MX", "zh-Hant-TW"):
        place.write_text(HEAD + f'language = "{said}"\n')
        assert read_pack(place).language == said
    for said in ("German", "de_DE", "d", ""):
        place.write_text(HEAD + f'language = "{said}"\n')
        with pytest.raises(UserError, match="write a tag such as de or es-MX"):
            read_pack(place)


HOSTILE: dict[str, bytes] = {
    "nothing at all": b"",
    "zeros": b"\0\0\0\0",
    "not UTF-8": HEAD.encode() + b"source = '\xff'",
    "a giant": b"#" * (BIGGEST + 1),
    "a line without end": b"a = " + b"1" * LONGEST_LINE,
    "lists in lists": b"a = " + b"[\n" * 50_000,
    "tables in tables": b"a = " + b"{b=" * 190,
    "keys in keys": b"\n".join(b"a%d." % n + b"a." * 250 + b"b = 1" for n in range(200)),
    "a number of many digits": b"a = " + b"9" * 590,
    "a terminal's escape in a title": HEAD.replace('"Mine"', r'"\u001b[2J"').encode(),
    "a terminal's escape in a key": HEAD.encode() + b'"\\u001b[2J" = 1',
    "a terminal's escape in a condition": HEAD.encode() + b"[windows]\nw = \"game == '\\u001b[2J'\"",
    "text that runs backwards": HEAD.replace("Mine", "Mine \u202e").encode(),
    "too many rules": HEAD.encode() + "".join(RULE.format(n=n) for n in range(MOST_RULES + 1)).encode(),
    "rules that are no list": HEAD.encode() + b"[rules]\na = 1",
    "rules that are no tables": b"rules = [1, [2], 'x', {}]\n" + HEAD.encode(),
    "a finding that is a table": HEAD.encode() + RULE.replace('"boxed"', "{ a = 1 }").encode(),
    "findings that are tables": HEAD.encode() + RULE.replace('"boxed"', "[{ a = 1 }, [], 1.5]").encode(),
    "no finding": HEAD.encode() + RULE.replace('"boxed"', "[]").encode(),
    "a ruling that is a list": HEAD.encode() + RULE.replace('"floor"', '["floor"]').encode(),
    "steps that are numbers": HEAD.encode() + RULE.encode() + b"remedy = [1, [], {}]",
    "a remedy that is a text": HEAD.encode() + RULE.encode() + b"remedy = 'redeal'",
    "a remedy without end": HEAD.encode() + RULE.encode() + b"remedy = [" + b'"redeal",\n' * 500 + b"]",
    "an id of spaces": HEAD.encode() + RULE.replace("r{n}", "  ").encode(),
    "closed without a window": HEAD.encode() + RULE.encode() + b'closed = "play-on"',
    "closed that is a number": HEAD.encode() + RULE.encode() + b"closed = 1",
    "a pack that climbs out of its folder": HEAD.encode() + b'extends = "../../etc/passwd"',
    "a scenario that reads a file": HEAD.encode() + b"[[scenarios]]\nname='a'\nstack='self+/etc/x.toml'\ndeal='ack'",
    "a scenario without end": HEAD.encode() + b"[[scenarios]]\nname='a'\ndeal='''" + b"ack\n" * 5000 + b"'''",
    "a parameter that is a word of the language": HEAD.encode() + b"[parameters]\ntrue = 1",
    "a parameter beyond reckoning": HEAD.encode() + b"[parameters]\nlimit = 99999999999999999999",
    "a window that loops": HEAD.encode() + b'[windows]\nw = "[1].all(seat, seat > 0)"',
    "a window that is a table": HEAD.encode() + b"[windows.w]\na = 1",
    "a pack that is a list": b"[[pack]]\nid = 'mine'",
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_refuses_in_a_sentence(place: Path, raw: bytes) -> None:
    place.write_bytes(raw.replace(b"{n}", b"1"))
    with pytest.raises(UserError) as refused:
        read_pack(place)
    said = str(refused.value)
    assert said.startswith("mine.toml")
    assert said.isprintable()
    assert len(said) < 600


@pytest.mark.parametrize("name", ["nowhere.toml", "a\0b.toml", "x" * 5000, ""])
def test_refuses_what_is_not_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError) as refused:
        read_pack(tmp_path / name)
    assert str(refused.value).isprintable()


# Packs near the format: shipped ones with one value put in the place of another, and values of any type.
SHIPPED_TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(SHIPPED.glob("*.toml"))}
WORDS = sorted({word for text in SHIPPED_TEXTS.values() for word in text.split()})
VALUES = st.sampled_from(
    ["1", "-1", "1.5", "true", "''", "[]", "{}", "[[1]]", "{ ruling = 1 }", "1979-05-27", "nan", '"\\u001b"']
)


@given(data=st.data())
def test_a_pack_with_lines_changed_is_read_or_refused(place: Path, data: Any) -> None:
    lines = data.draw(st.sampled_from(sorted(SHIPPED_TEXTS.values()))).split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[at].partition("=")
        change = data.draw(st.sampled_from(["value", "word", "drop", "double", "any"]))
        if change == "value" and equals:
            lines[at] = f"{key}= {data.draw(VALUES)}"
        elif change == "word":
            lines[at] = lines[at].replace(lines[at].split(" ")[-1], data.draw(st.sampled_from(WORDS)))
        elif change == "drop":
            del lines[at : at + data.draw(st.integers(1, 4))]
            lines = lines or [""]
        elif change == "double":
            lines[at:at] = lines[at : at + 5]
        else:
            lines[at] = data.draw(st.text(max_size=30))
    place.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    with contextlib.suppress(UserError):
        read_pack(place)


@given(raw=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(place: Path, raw: bytes) -> None:
    place.write_bytes(raw)
    with contextlib.suppress(UserError):
        read_pack(place)


JUNK = st.recursive(
    st.one_of(st.booleans(), st.integers(-(10**30), 10**30), st.text(max_size=5), st.floats(allow_nan=False)),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(c):08X}" if not 0xD800 <= ord(c) < 0xE000 else "?" for c in value) + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value).replace("inf", "1.0")


@given(
    values=st.dictionaries(
        st.sampled_from(["pack", "parameters", "windows", "procedure", "rules", "scenarios"]),
        st.dictionaries(
            st.sampled_from(["id", "version", "title", "finding", "when", "window", "ruling", "remedy", "cite", "say",
                             "decides", "closed", "name", "stack", "deal", "button_tie", "effective", "extends"]),
            JUNK,
            max_size=10,
        ),
    )
)  # fmt: skip
def test_any_values_are_read_or_refused(place: Path, values: dict[str, dict[str, object]]) -> None:
    text = ""
    for section, table in values.items():
        text += f"[[{section}]]\n" if section in ("rules", "scenarios") else f"[{section}]\n"
        text += "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())
    place.write_text(text, encoding="utf-8")
    with contextlib.suppress(UserError):
        read_pack(place)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "mine.toml"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match="a pipe or a device"):
        read_pack(pipe)
