"""What the bridge keeps of a shoe beside its reports: when they were made and how certain that is, whose they are."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest
from bridge.rig import Rig
from click.testing import CliRunner
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import open_bridge
from dealershoe.cli import commands
from dealershoe.desk.happening import Happening
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.entries import BRIDGE, DeviceRow, Fact
from dealershoe.link import keystore
from dealershoe.link.dictionary import Dictionary, in_words, parse
from dealershoe.record.journal import Journal
from shoelink import frame, schema

NEWER = schema.canonical() + "28 HUMID 1 <4sHB t_us humidity place\n7f ALARM 1 <4s t_us\n"
HASH = hashlib.sha256(NEWER.encode()).digest()[:4]
DEADLINE_S = 20.0


class Kept:
    """Dictionaries in memory."""

    def __init__(self) -> None:
        self.all: dict[bytes, Dictionary] = {}

    def find(self, hash: bytes) -> Dictionary | None:
        return self.all.get(hash)

    def keep(self, dictionary: Dictionary) -> None:
        self.all[dictionary.hash] = dictionary


def _facts(rig: Rig) -> list[Fact]:
    return [entry for entry in rig.durable if isinstance(entry, Fact) and entry.number is not None]


def test_each_report_is_kept_with_its_time_and_the_bound_of_it() -> None:
    """The shoe's clock is 4 s ahead and runs 80 ppm too fast; a report's time is the host's."""
    rig = Rig()
    made: dict[int, int] = {}
    for step in range(4000):
        shoe_us = int((rig.ms + 1) * 1000 * (1 + 80e-6)) + 4_000_000
        rig.shoe.link.stamp = schema.word(shoe_us % 2**32)
        if step % 100 == 99:
            told = schema.Key(1, schema.word(shoe_us % 2**32), schema.KEY_ACTION, schema.PRESS_SHORT)
            made[rig.shoe.link.report(told)] = (rig.ms + 1) * 1_000_000
        rig.run(1)
    facts = _facts(rig)
    assert len(facts) == 40
    for fact in facts:
        assert fact.number is not None
        assert fact.made_ns is not None
        assert fact.within_ns is not None
        assert abs(fact.made_ns - made[fact.number]) <= fact.within_ns <= 2_000_000


def test_a_report_before_the_first_answer_has_no_time_of_its_own() -> None:
    rig = Rig()
    rig.table.shoe.heard = lambda message, mono_us: ""  # type: ignore[method-assign]
    rig.shoe.link.report(schema.Key(1, bytes(4), schema.KEY_ACTION, schema.PRESS_SHORT))
    rig.run(10)
    (fact,) = _facts(rig)
    assert (fact.made_ns, fact.within_ns) == (None, None)


def _greeting_of_another_release(rig: Rig) -> None:
    """From here on the shoe says that its schema is NEWER, and tells that text."""
    link = rig.shoe.link
    say = link._greeting.say

    def said(*how: object) -> schema.Hello:
        return say(*how)._replace(schema=HASH)  # type: ignore[arg-type]

    link._greeting.say = said  # type: ignore[assignment]
    link._teller._text = NEWER.encode()
    link._teller.forget = lambda: None  # type: ignore[method-assign]


def _report_humidity(rig: Rig) -> None:
    _report(rig, 0x28, bytes(4) + b"\x90\x01\x02")


def _report(rig: Rig, kind: int, body: bytes) -> None:
    at = rig.shoe.journal.open(kind, len(body))
    rig.shoe.journal.buffer[at : at + len(body)] = body
    rig.shoe.journal.close()


def test_a_report_of_a_newer_shoe_is_kept_and_read_by_the_shoes_own_dictionary() -> None:
    rig = Rig()
    kept = rig.table.shoe._shelf = Kept()
    _greeting_of_another_release(rig)
    rig.run(2000)
    assert list(kept.all) == [HASH]
    assert "note     the shoe is of another release; its dictionary was asked for and is used" in rig.said
    _report_humidity(rig)
    rig.run(100)
    line = "note     the shoe reports HUMID t_us=00000000 humidity=400 place=2, which is kept and not acted on"
    assert [said for said in rig.said if "kept" in said] == [line]
    assert _facts(rig)[-1].raw == b"\x28" + bytes(4) + b"\x90\x01\x02"
    (device, *_) = [entry for entry in rig.durable if isinstance(entry, DeviceRow)]
    assert device.schema == HASH

    again = Rig()
    again.table.shoe._shelf = kept
    _greeting_of_another_release(again)
    sent = []
    take = again.table.link.take
    again.table.link.take = lambda: (sent.append(take()), sent[-1])[1]  # type: ignore[method-assign,func-returns-value]
    again.run(500)
    asked = [kind for kind, *_ in frame.Decoder().feed(b"".join(sent)) if kind == schema.LOOKUP]
    assert not asked, "it is known by its hash"


def test_a_report_that_nothing_explains_is_kept_all_the_same() -> None:
    rig = Rig()
    rig.run(100)
    _report_humidity(rig)
    rig.run(100)
    line = "note     the shoe reports something of kind 28, which is kept and not understood"
    assert [said for said in rig.said if "kept" in said] == [line]
    assert _facts(rig)[-1].raw[0] == 0x28


@pytest.mark.parametrize("known", [True, False], ids=["a dictionary that is here", "one that comes after it"])
def test_what_stops_the_deal_is_named_once_the_shoes_dictionary_is_here(known: bool) -> None:
    rig = Rig()
    rig.table.shoe._shelf = kept = Kept()
    if known:
        kept.keep(parse(NEWER.encode(), HASH))
    _greeting_of_another_release(rig)
    _report(rig, 0x7F, bytes(4))
    rig.run(2_000)
    stops = "the shoe reports something that must be understood and is not (unknown critical kind 7f{})"
    assert rig.desk.halt_why == rig.desk.align_why == stops.format(", ALARM")
    written = [entry.raw.decode() for entry in rig.durable if isinstance(entry, Fact) and entry.origin == BRIDGE]
    assert written == [f"align {stops.format(name)}" for name in ([] if known else [""]) + [", ALARM"]]


def test_a_field_that_could_name_a_card_is_not_shown_of_any_kind() -> None:
    assert (
        in_words("PEEK", {"draw": 3, "token": b"\x33\0\0\0", "t_us": bytes(4)}) == "PEEK draw=3 token=… t_us=00000000"
    )


def test_a_shelf_that_refuses_is_said() -> None:
    class Full(Kept):
        def keep(self, dictionary: Dictionary) -> None:
            raise OSError(28, "No space left on device")

    rig = Rig()
    rig.table.shoe._shelf = Full()
    _greeting_of_another_release(rig)
    rig.run(2000)
    assert any("cannot be kept (No space left on device)" in line for line in rig.said)
    assert parse(NEWER.encode(), HASH).kinds[0x28].name == "HUMID"


# ---- keys, with the real firmware and the commands


def _wait(bridge: Bridge, heard: list[Happening], words: str) -> None:
    until = time.monotonic() + DEADLINE_S
    while not any(words in happening.text for happening in heard):
        assert bridge.error is None
        assert time.monotonic() < until, [happening.text for happening in heard]
        time.sleep(0.01)


@pytest.mark.skipif(os.name != "posix", reason="a pty is needed")
def test_an_enrolled_shoe_runs_a_table_and_no_other_does(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    with EmulatedShoe(pace="real", flash=tmp_path / "flash", holding="floor") as shoe:
        done = CliRunner().invoke(commands, ["enroll", "--port", shoe.port, "--keys", str(path)])
        assert done.exit_code == 0, done.exception
        heard: list[Happening] = []
        keys = keystore.load(path)
        bridge = open_bridge(shoe.port, "tda-2024", tmp_path / "one.journal", heard.append, keys=keys)
        bridge.start()
        try:
            _wait(bridge, heard, "is on the line, proven by its key")
            bridge.ask("hand seats=1-3 button=3", "test")
            shoe.wait_for(lambda: shoe.line.due is not None and shoe.line.due.hand != 0, "the hand")
            time.sleep(1.0)  # the clock of a shoe that plays in real time, a few round trips of it
            began = time.monotonic_ns()
            shoe.pull("As", target=1)
            ended = time.monotonic_ns()
            shoe.quiet()
        finally:
            bridge.stop()
        assert bridge.error is None
    with Journal(tmp_path / "one.journal") as journal:
        (device, *_) = journal.rows(DeviceRow)
        assert device[-1] == 1
        card = next(fact for fact in journal.facts() if fact.number is not None and fact.raw[0] == schema.CARD)
        assert card.made_ns is not None
        assert card.within_ns is not None
        assert card.within_ns < 2_000_000_000  # on a busy machine; test_table_link.py and the above have it to the ms
        assert began - card.within_ns <= card.made_ns <= ended + card.within_ns

    with EmulatedShoe(pace="fast") as stranger:
        heard = []
        bridge = open_bridge(stranger.port, "tda-2024", tmp_path / "two.journal", heard.append, keys=keys)
        bridge.start()
        try:
            _wait(bridge, heard, "does not prove to be a shoe that is enrolled here: enroll it")
        finally:
            bridge.stop()
