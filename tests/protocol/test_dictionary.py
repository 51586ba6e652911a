"""A shoe that is newer than its host: its schema is asked for, believed only if it can be true, and used."""

from __future__ import annotations

import hashlib
import random
import shutil
import sys
from pathlib import Path

import pytest
from dealershoe.bench.faults import Faults
from dealershoe.link import codec
from dealershoe.link.dictionary import LONGEST, OWN, TRIES, BadDictionaryError, Dictionary, Inquiry, Shelf, parse
from hypothesis import given
from hypothesis import strategies as st
from protocol.faulty_line import Line, Rig, damaged, ident
from protocol.shoe_beside import ShoeBeside
from protocol.shoe_process import newer_schema
from protocol.strategies import fields, kinds
from protocol.test_vectors import MICROPYTHON, PROTOCOL, needs_micropython
from shoelink import link, notice, schema

from protocol import shoe_process

TEXT = schema.canonical().encode()


def _hash(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()[:4]


def _refused(text: bytes, why: str) -> None:
    with pytest.raises(BadDictionaryError, match=why):
        parse(text, _hash(text))


# ---- what is believed


@given(st.data())
def test_the_own_text_reads_every_body_as_the_schema_does(data: st.DataObject) -> None:
    kind = data.draw(kinds)
    values = data.draw(fields(kind))
    body = schema.pack(schema.TYPES[kind](**values))
    assert OWN.read(kind, body) == (schema.NAMES[kind], values)
    assert OWN.read(kind, body + b"newer") == (schema.NAMES[kind], values)
    with pytest.raises(schema.ShortBodyError):
        OWN.read(kind, body[:-1])


def test_a_text_with_another_hash_is_refused() -> None:
    with pytest.raises(BadDictionaryError, match="hash is not 00000000"):
        parse(TEXT, bytes(4))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("dealershoe link 1.0", "dealershoe link 2.0", "of link 2.0"),
        ("dealershoe link", "something else", "does not begin and end"),
        ("61 CARD 1 <HH", "61 CARD 1 <HB", r"CARD \(61\) is not what it is here"),
        ("61 CARD 1", "61 CARD 2", "number 61, which its sender cannot have"),
        ("61 CARD 1", "61 DECK 1", r"DECK \(61\) is not what it is here"),
        ("hand draw t_us token deck", "draw hand t_us token deck", "is not what it is here"),
        ("hand draw t_us distance", "hand draw t_us", "4 values and the fields"),
        ("hand draw t_us distance", "hand draw t_us t_us", "4 values and the fields"),
        (
            "<HH4sH hand draw t_us distance",
            "<HH4sH20s hand draw t_us distance note",
            "30 bytes, more than there is room",
        ),
        ("<HH4sH hand draw t_us distance", "<HH4sHi hand draw t_us distance far", "no kind"),
        ("<HH4sH hand draw t_us distance", "<HH4sH99999s hand draw t_us distance far", "no kind"),
        ("27 CLEAR", "26 CLEAR", "CLEAR has the number 26, here it has another"),
        ("66 FAULT", "7f WRONG", "does not have FAULT"),
        ("<4sBH t_us code detail", "<4sBH t_us code Detail", "no kind"),
    ],
)
def test_a_text_that_cannot_be_true_is_refused_though_its_hash_is_right(old: str, new: str, why: str) -> None:
    assert old in TEXT.decode()
    _refused(TEXT.decode().replace(old, new, 1).encode(), why)


def test_a_kind_cannot_be_there_twice() -> None:
    line = TEXT.decode().splitlines()[-1]
    _refused(TEXT + line.encode() + b"\n", "twice")


def test_a_text_is_bounded() -> None:
    _refused(TEXT + b"x" * LONGEST, "more than 8192")


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_refused(text: bytes) -> None:
    _refused(text, "dictionary is refused")


@given(st.data())
def test_any_change_is_refused_or_reads_known_kinds_as_before(data: st.DataObject) -> None:
    changed = bytearray(TEXT)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    text = bytes(changed)
    try:
        read = parse(text, _hash(text))
    except BadDictionaryError:
        return
    for kind, declared in OWN.kinds.items():
        if kind in read.kinds:
            assert read.kinds[kind].fields[: len(declared.fields)] == declared.fields
            assert read.kinds[kind].name == declared.name


# ---- how it is asked for


def _answer(text: bytes, offset: int, total: int | None = None) -> schema.Words:
    return schema.Words(offset, len(text) if total is None else total, text[offset : offset + 32].ljust(32, b"\0"))


def test_it_is_asked_for_piece_by_piece_and_again_when_nothing_comes() -> None:
    inquiry = Inquiry(schema.SCHEMA)
    assert inquiry.turn(0) == schema.Lookup(0)
    assert inquiry.turn(99) is None
    assert inquiry.turn(100) == schema.Lookup(0)
    inquiry.heard(_answer(TEXT, 0))
    assert inquiry.turn(101) == schema.Lookup(32)
    inquiry.heard(_answer(TEXT, 0))  # the answer to the repeat
    assert inquiry.turn(102) is None
    while not inquiry.done:
        lookup = inquiry.turn(500)
        assert lookup
        inquiry.heard(_answer(TEXT, lookup.offset))
    assert inquiry.dictionary == OWN
    assert inquiry.turn(10_000) is None


@pytest.mark.parametrize("total", [0, LONGEST + 1, 0xFFFF])
def test_a_length_that_cannot_be_is_refused(total: int) -> None:
    inquiry = Inquiry(schema.SCHEMA)
    inquiry.turn(0)
    inquiry.heard(_answer(TEXT, 0, total))
    assert inquiry.refused


def test_a_shoe_that_tells_nothing_is_not_asked_for_ever() -> None:
    inquiry = Inquiry(schema.SCHEMA)
    asked = [inquiry.turn(now) for now in range(0, 60_000, 50)]
    assert len([one for one in asked if one]) == TRIES
    assert inquiry.refused
    assert "does not tell it" in str(inquiry.refused)


@given(
    st.lists(
        st.builds(schema.Words, st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.binary(min_size=32, max_size=32))
    )
)
def test_lies_end_in_a_refusal_not_in_a_loop(lies: list[schema.Words]) -> None:
    inquiry = Inquiry(schema.SCHEMA)
    for words in lies:
        inquiry.turn(0)
        inquiry.heard(words)
    assert inquiry.dictionary is None
    assert len(inquiry._text) <= LONGEST + 32


# ---- how it is kept


def test_it_is_kept_by_its_hash_and_a_damaged_one_is_asked_for_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "dictionaries")
    assert shelf.find(schema.SCHEMA) is None
    shelf.keep(OWN)
    assert shelf.find(schema.SCHEMA) == OWN
    (kept,) = (tmp_path / "dictionaries").iterdir()
    assert kept.name == f"{schema.SCHEMA.hex()}.txt"
    kept.write_bytes(kept.read_bytes()[:-1])
    assert shelf.find(schema.SCHEMA) is None


# ---- the whole way: another schema, another process, both interpreters, a bad line


@pytest.mark.parametrize(
    "interpreter", [pytest.param(MICROPYTHON, marks=needs_micropython), sys.executable], ids=["micropython", "cpython"]
)
def test_a_newer_shoe_is_read_and_stored(interpreter: str, tmp_path: Path) -> None:
    shutil.copytree(PROTOCOL / "shoelink", tmp_path / "shoelink", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "shoelink" / "schema.py"
    path.write_text(newer_schema(path.read_text()))
    with ShoeBeside(interpreter, tmp_path) as shoe:
        stored, dictionary = _session(shoe)
    assert [number for number, _, _, _ in stored] == list(range(1, 41))
    assert all(schema.unpack(kind, body).draw for _, kind, _, body in stored[::2]), (
        "the host's own schema reads the rest"
    )
    read = [dictionary.read(kind, body) for _, kind, _, body in stored]
    for draw in range(1, 21):
        card, humid = read[2 * draw - 2 : 2 * draw]
        assert card
        assert (card[0], card[1]["draw"], card[1]["wear"]) == ("CARD", draw, shoe_process.WEAR)
        assert humid == ("HUMID", {"t_us": bytes(4), "humidity": 400 + draw, "place": 2})


def _session(shoe: ShoeBeside) -> tuple[list[tuple[int, int, object, bytes]], Dictionary]:
    """Twenty draws on a bad line; what the host stored, and the dictionary that it asked for."""
    dice = random.Random(4)
    bad = Faults(loss=0.1, **damaged(0.1))
    up, down = Line("up", 4, bad), Line("down", 4, bad)
    host = link.Link(schema.HOST, ident(b"h"), dice.randbytes, decoder=codec.Decoder())
    host.start(0)
    stored: list[tuple[int, int, object, bytes]] = []
    inquiry: Inquiry | None = None
    for now in range(0, 20_000, 5):
        for told in host.receive(up.arrived(now), now) + host.poll(now):
            if isinstance(told, notice.Greeting):
                assert told.hello.schema != schema.SCHEMA
                inquiry = inquiry or Inquiry(told.hello.schema)
                host.resume(len(stored), now)
            elif isinstance(told, notice.Recorded):
                stored.append((told.number, told.kind, told.message, told.body))
                host.stored(told.number)
            elif isinstance(told, notice.Delivered) and isinstance(told.message, schema.Words):
                assert inquiry
                inquiry.heard(told.message)
        if host.up and inquiry:
            lookup = inquiry.turn(now)
            if lookup:
                host.send(lookup, now)
        host.poll(now)
        down.send(host.take(), now)
        draw = now // 200 if now % 200 == 0 and now <= 4000 else 0
        up.send(shoe.turn(now, draw, down.arrived(now)), now)
        if now > 4000 and not shoe.held and inquiry and inquiry.done:
            break
    assert inquiry
    assert inquiry.dictionary, inquiry.refused
    assert [message for _, kind, message, _ in stored if kind == shoe_process.NEWER_KIND] == [None] * 20
    return stored, inquiry.dictionary


def test_a_whole_dictionary_takes_less_than_a_second_on_a_clean_line() -> None:
    rig = Rig()
    rig.run(500)
    inquiry = Inquiry(schema.SCHEMA)
    began = rig.now
    seen = len(rig.notices)
    while not inquiry.done:
        lookup = inquiry.turn(rig.ticks())
        if lookup:
            rig.host.send(lookup, rig.ticks())
        rig.run(rig.now + 1)
        for _, _, what in rig.notices[seen:]:
            if isinstance(what, notice.Delivered) and isinstance(what.message, schema.Words):
                inquiry.heard(what.message)
        seen = len(rig.notices)
    assert inquiry.dictionary == OWN
    assert rig.now - began < 1000
