"""Sealed identities at the table: what is found all the same, what a broken word is called, and that nothing tells."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from bridge.rig import SHOE_IDENT, Rig
from click.testing import CliRunner
from dealershoe.bench.table import Table
from dealershoe.bridge.health import Health
from dealershoe.cli import commands
from dealershoe.console.state import state_of
from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.demo.scripts import load
from dealershoe.desk.desk import Moment
from dealershoe.desk.look import snapshot
from dealershoe.desk.sealed import UNBOUND_SHOE
from dealershoe.doctor.machine import journal as doctored
from dealershoe.emulate.command import _frame as frame_words
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.shoe import EmulatedShoe, Shown
from dealershoe.emulate.sniffer import Heard
from dealershoe.emulate.timeline import Output
from dealershoe.entries import EventRow, Fact, HandRow, RulingRow
from dealershoe.errors import UserError
from dealershoe.frames.recorder import Recorder
from dealershoe.record.journal import Journal
from dealershoe.rules.stack import Stack, load_stack
from dealershoe.session import TableSession
from hypothesis import given, settings
from hypothesis import strategies as st
from shoelink import schema, tokens

CARD = re.compile(r"(?<![\\\w])[2-9TJQKA][cdhs]\b")
RAW = re.compile(r"""b'(?:\\.|[^'\\])*'|b"(?:\\.|[^"\\])*\"""")  # bytes of a token can look like anything
STACK = "tda-2024+house"
HAND = "hand seats=1-6 button=6"


@cache
def rules() -> Stack:
    return load_stack(STACK)


class Sealed(Rig):
    """A rig whose shoe calls its cards by tokens, and is honest unless told otherwise."""

    def __init__(self, secret: bytes = bytes(16)) -> None:
        super().__init__(rules=rules())
        self.secret = secret
        self.run(50)
        self.say(HAND)
        self.run(20)
        self.begins()

    def begins(self, secret: bytes | None = None) -> None:
        """The shoe says that a hand begins."""
        bound = tokens.commitment(SHOE_IDENT.device, self.shoe.due.hand, secret or self.secret)
        self.shoe.link.report(schema.Commit(self.shoe.due.hand, bound))
        self.run(20)

    def draw(self, number: int, name: str, **changed: Any) -> None:
        """A card leaves."""
        card = card_number(name)
        flags = changed.pop("flags", 0) | (schema.CARD_JOKER if name == "joker" else 0)
        token = tokens.tokens(self.secret)[4 * card : 4 * card + 4]
        self.card(number, token=token, flags=flags, **changed)
        self.run(20)

    @property
    def ruled(self) -> list[str]:
        return [entry.finding.split("(")[0] for entry in self.durable if isinstance(entry, RulingRow)]


def test_a_card_that_comes_twice_is_found_while_it_is_sealed() -> None:
    rig = Sealed()
    for number, name in enumerate(("As", "Kd", "7c", "As"), 1):
        assert rig.ruled == []
        rig.draw(number, name)
    assert len(rig.ruled) == 1
    assert "duplicate" in rig.ruled[0]
    assert rig.shoe.signal.signal == schema.SIGNAL_STOP
    assert not [line for line in rig.said if "As" in line or "~" in line]


def test_a_joker_and_a_card_of_another_deck_are_found_while_they_are_sealed() -> None:
    for name, flags, finding in (("joker", 0, "joker"), ("As", schema.CARD_FOREIGN, "foreign")):
        rig = Sealed()
        rig.draw(1, "2c")
        rig.draw(2, name, flags=flags)
        assert len(rig.ruled) == 1, rig.said
        assert finding in rig.ruled[0]


def end_of_hand(rig: Sealed, secret: bytes) -> list[str]:
    """The next hand begins, the shoe reveals `secret`; what the record says of it, and what the table said."""
    old = rig.shoe.due.hand
    rig.say("award")
    rig.say("hand next")
    rig.run(20)
    before = len(rig.said)
    rig.shoe.link.report(schema.Reveal(old, secret))
    rig.run(20)
    kinds = [entry.kind for entry in rig.durable if isinstance(entry, EventRow) and entry.hand == old]
    return [kinds[-1], *rig.said[before:]]


def test_a_secret_that_was_committed_to_opens_the_hand_without_a_word() -> None:
    rig = Sealed()
    rig.draw(1, "As")
    assert end_of_hand(rig, rig.secret) == ["Revealed"]


def test_another_secret_than_the_one_committed_to_proves_nothing_and_is_said() -> None:
    rig = Sealed()
    rig.draw(1, "As")
    kind, said = end_of_hand(rig, b"another secret..")
    assert kind == "Broken"
    assert "proves nothing: it had committed itself to another" in said


def test_a_secret_that_nothing_was_committed_to_proves_nothing() -> None:
    rig = Rig(rules=rules())
    rig.run(50)
    rig.shoe.link.report(schema.Reveal(9, bytes(16)))
    rig.run(20)
    assert any("hand 9 proves nothing: it had not committed itself to any" in line for line in rig.said)


def test_a_hand_that_nothing_was_committed_to_is_said_at_its_first_card() -> None:
    rig = Rig(rules=rules())
    rig.run(50)
    rig.say(HAND)
    rig.run(20)
    for number in (1, 2):
        rig.card(number)
        rig.run(20)
    said = [line for line in rig.said if "without having committed itself" in line]
    assert len(said) == 1
    assert UNBOUND_SHOE in snapshot(rig.desk, "", "").faults
    sealed = Sealed()
    sealed.draw(1, "As")
    sealed.say("award")
    sealed.say("hand next")
    sealed.run(20)
    assert snapshot(sealed.desk, "", "").faults == ()
    sealed.card(1)
    sealed.run(20)
    assert snapshot(sealed.desk, "", "").faults == (UNBOUND_SHOE,)


def test_a_shoe_that_begins_the_hand_in_play_anew_has_lost_its_memory() -> None:
    rig = Sealed()
    rig.begins()  # said twice before the first card: nothing was forgotten
    assert not rig.desk.align_why
    rig.draw(1, "As")
    rig.begins(b"another secret..")
    assert rig.desk.align_why.startswith("the shoe lost its memory in the middle of the hand")


@pytest.mark.parametrize("how", ["it says so", "it does not say so"])
def test_a_table_that_is_not_open_stops_at_a_shoe_that_is(how: str) -> None:
    rig = Sealed()
    if how == "it says so":
        rig.shoe.link.report(schema.Commit(rig.shoe.due.hand, tokens.OPEN))
    else:
        rig.card(1, token=schema.word(51))
    rig.run(20)
    assert rig.shoe.signal.signal == schema.SIGNAL_STOP
    for draw in (2, 3, 4):
        rig.card(draw, token=schema.word(50 - draw))
    rig.run(20)
    said = [line for line in rig.said if "this shoe is an open one" in line]
    assert len(said) == 1
    assert "run the table with --open" in said[0]
    assert rig.desk.session.draws == 0


def told_of(names: list[tuple[str, bool, bool]], renamed: dict[str, str]) -> tuple[Any, ...]:
    """Everything that comes out of a table when cards are dealt: lines, signals, dues, the record, the picture."""
    rig = Sealed(hashlib.sha256(b"the same for both").digest()[:16])
    for number, (name, boxed, back) in enumerate(names, 1):
        rig.draw(number, renamed[name], way_up=schema.WAY_UP if boxed else schema.WAY_DOWN)
        if back:
            rig.back(number)
            rig.run(20)
            rig.draw(number, renamed[name])
    kept = [entry for entry in rig.durable if not isinstance(entry, Fact)]
    return rig.said, rig.shoe.dues, rig.shoe.signal, kept, snapshot(rig.desk, "", "")


DEALS = st.lists(st.tuples(st.sampled_from(FIFTY_TWO), st.booleans(), st.booleans()), min_size=1, max_size=14)


@given(DEALS, st.permutations(FIFTY_TWO))
@settings(max_examples=40, deadline=None)
def test_two_deals_that_differ_by_a_permutation_of_the_cards_look_the_same(
    names: list[tuple[str, bool, bool]], order: list[str]
) -> None:
    """Duplicates among them. The raw frames apart: they have other tokens."""
    same = dict(zip(FIFTY_TWO, FIFTY_TWO, strict=True))
    assert told_of(names, same) == told_of(names, dict(zip(FIFTY_TWO, order, strict=True)))


COMMANDS = (  # each on the journal's file while the hand is in play
    ("show",),
    ("show", "--json"),
    ("show", "--hand", "{hand}"),
    ("show", "--hand", "{hand}", "--json"),
    ("hands", "--json"),
    ("tail", "-n", "10000"),
    ("tail", "-n", "10000", "--json"),
    ("export", "--format", "jsonl", "--open"),
    ("export", "--format", "csv", "--open"),
    ("export", "--format", "phh", "--open"),
    ("receipt", "--open"),
    ("replay", "--rules", "roberts", "--json"),
)
REFUSED = (  # what people say that cannot be; most of it is answered with a sentence
    "report misread #99", "report target #99 board", "pick #3", "report count seat=11 cards=9", "card 3 As", "nonsense",
    "place #1 seat 99", "floor dead 9", "hand seats=1 button=1",
)  # fmt: skip
STRANGE = (  # reports that no shoe makes
    {"draw": 0}, {"draw": 60_000}, {"target": 200, "origin": 250}, {"way_up": 9}, {"deck": 9, "flags": 0xFFFF},
)  # fmt: skip
# how long it took, where the record stands in the chain (a hash over the tokens too), when a frame went by
VARIES = re.compile(
    r'"seconds": [0-9.]+|chain +[0-9a-f]{64}|^[0-9:. -]+(?=  shoe|  host|the link failed)', re.MULTILINE
)


def given_away(names: list[tuple[str, bool, int]], renamed: dict[str, str], folder: Path) -> list[str]:
    """All that a person can read of a hand in play who has every program of the project, the journal and the line."""
    folder.mkdir()
    rig = Sealed(hashlib.sha256(b"the same for both").digest()[:16])
    line = Recorder()
    captured = bytearray()
    heard = rig.table.received

    def listens(data: bytes, at: Moment) -> None:
        line.heard(data)
        captured.extend(data)
        heard(data, at)

    rig.table.received = listens  # type: ignore[method-assign]
    rig.shoe.link.report(schema.Deck(rig.shoe.due.hand, bytes(4), schema.DECK_LOADED, 0, 0))
    for number, (name, boxed, erasures) in enumerate(names, 1):
        rig.draw(number, renamed[name], way_up=schema.WAY_UP if boxed else schema.WAY_DOWN, erasures=erasures)
    rig.shoe.link.report(schema.Deck(rig.shoe.due.hand, bytes(4), schema.DECK_EMPTY, 0, 0))
    rig.run(20)
    refusals = []
    for text in REFUSED:
        try:
            rig.say(text)
        except UserError as error:
            refusals.append(repr(error))
    rig.run(20)
    path = folder / "table.journal"
    with Journal(path) as journal:
        journal.write(rig.durable)
        (hand, *_), *_ = journal.rows(HandRow)
    told = [repr(one) for one in rig.desk.happenings]
    told += [repr(rig.desk.session.question), rig.desk.align_why, *rig.desk.notes]
    figures = Health(rig.table).statistics()
    told.append(json.dumps(state_of("table", 1, snapshot(rig.desk, "table", ""), figures, open_table=False)))
    told += refusals
    told.append(line.report("the link failed", ""))
    told += [str(finding).replace(str(folder), "") for finding in doctored(path)]
    (folder / "line").write_bytes(captured)
    for how in ((), ("--lines",), ("--json",)):
        told.append(CliRunner().invoke(commands, ["frames", str(folder / "line"), *how]).output)
    told += failures(rig, names, renamed)
    for command in COMMANDS:
        words = [word.format(hand=hand) for word in command[1:]]
        result = CliRunner().invoke(commands, ["journal", command[0], str(path), *words])
        assert not isinstance(result.exception, Exception) or isinstance(result.exception, SystemExit), result.exception
        told.append(" ".join(command) + "\n" + result.output.replace(str(folder), ""))
    return [VARIES.sub("", one) for one in told]


def failures(rig: Sealed, names: list[tuple[str, bool, int]], renamed: dict[str, str]) -> list[str]:
    """What goes wrong, in what words, when a shoe reports what none can."""
    told = []
    before = len(rig.said)
    for number, (name, _, _) in enumerate(names):
        try:
            rig.draw(len(names) + 2 + number, renamed[name], **STRANGE[number % len(STRANGE)])
        except Exception as error:  # a bridge that fails says this
            told.append(repr(error))
    return [*told, *rig.said[before:], rig.desk.align_why, *rig.desk.wrong.values()]


@given(
    st.lists(st.tuples(st.sampled_from(FIFTY_TWO), st.booleans(), st.integers(0, 3)), min_size=4, max_size=14),
    st.permutations(FIFTY_TWO),
)
@settings(max_examples=8, deadline=None)
def test_nothing_that_can_be_read_while_a_hand_is_in_play_depends_on_which_cards_they_are(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, bool, int]], order: list[str]
) -> None:
    """The journal's commands, lines, pages and API, what was proposed as misread, and the frames a fault leaves."""
    same = dict(zip(FIFTY_TWO, FIFTY_TWO, strict=True))
    names = [*names, (names[0][0], False, 2)]  # one card turns up twice: something is proposed
    folder = tmp_path_factory.mktemp("sealed")
    one = given_away(names, same, folder / "one")
    other = given_away(names, dict(zip(FIFTY_TWO, order, strict=True)), folder / "other")
    assert one == other
    assert any("may have been misread" in line for line in one) or any(boxed for _, boxed, _ in names)
    assert any("CARD from the shoe" in line for line in one)
    assert sum("UserError" in line for line in one) >= len(REFUSED) / 2
    assert any("token" in line and "hidden (--open shows it)" in line for line in one)


def fram_tokens(memory: bytes) -> list[int]:
    """The tokens of the cards in the shoe's memory, laid out as firmware/shoe/kept.py says."""
    records = (memory[at : at + 38] for at in range(0x0100, 0x0100 + 514 * 38, 38))
    cards = (schema.unpack(schema.CARD, one[10:34]) for one in records if schema.known(one[8], False) == schema.CARD)
    return [schema.value(card.token) for card in cards]


class Watched:
    """A script dealt at the emulated shoe, by its firmware: what host, light, sound and journal gave away."""

    def __init__(self, script: str, seed: int, folder: Path) -> None:
        folder.mkdir()
        flash = folder / "flash"
        with EmulatedShoe(pace="fast", flash=flash) as shoe, Table(shoe.port, STACK, folder) as table:
            cards: list[bytes] = []

            def heard(one: Heard) -> None:
                self.frames.append(frame_words(one))
                if isinstance(one.message, schema.Card):
                    cards.append(one.message.token)

            self.frames: list[str] = []  # as `emulate --verbose` shows them
            shoe.line.on_frame = heard
            dealer = ScriptedDealer(shoe, TableSession(rules()), table.ask, seed=seed, hosted=True)
            order = []
            for line in dealer.play(load(script).lines):
                if line.text.startswith("hand"):  # before it the light says how shoe and host meet, in real time
                    shoe.wait_for(lambda: shoe.line.due is not None and shoe.line.due.hand != 0, "the hand")
                    shoe.quiet()
                    shoe.shown.clear()
                order += [card.name for card in shoe.pulled] if line.text.startswith("card") else []
            shoe.quiet()
            self.pulled = order
            self.fram = fram_tokens((flash / "fram.bin").read_bytes())
            self.tokens = {schema.value(token) for token in cards} - {schema.value(schema.TOKEN_UNREAD)}
            self.said = [(one.kind, one.text) for one in table.said if one.kind not in ("stats", "link", "note")]
            # the rhythm of a light is real time: what it lights up in, one after the other, is not
            self.light = [colour for colour, _ in groupby(one for one in map(lit, shoe.shown) if one)]


def lit(shown: Shown) -> str:
    """The colour of a light, or the pitch of a sound; "" for what else a shoe puts out, and for darkness."""
    if shown.output == Output.BITS:
        colours = {shown.data[at : at + 3] for at in range(1, len(shown.data) - 2, 3)} - {bytes(3)}
        return ",".join(sorted(colour.hex() for colour in colours))
    return shown.data.hex() if shown.output == Output.PWM else ""


@pytest.mark.parametrize("script", ["t03-third-card-exposed", "t11-two-boxed-cards-nothing-for-the-first"])
def test_light_sound_and_words_of_the_real_firmware_do_not_depend_on_the_order_of_the_deck(
    script: str, tmp_path: Path
) -> None:
    one, other = (Watched(script, seed, tmp_path / str(seed)) for seed in (1, 2))
    assert one.pulled != other.pulled  # the same deal of two decks
    assert one.said == other.said
    # how often each comes round, and how far they have come when they are looked at last, is real time; the order
    # in which they are seen first is not
    first, second = (list(dict.fromkeys(watched.light)) for watched in (one, other))
    assert all(mine == others for mine, others in zip(first, second, strict=False))
    assert min(len(first), len(second)) > 1
    assert one.tokens
    assert min(one.tokens | other.tokens) > 53  # and no frame named a card
    assert not one.tokens & other.tokens
    for watched in (one, other):
        assert watched.fram
        assert min(watched.fram) > 53
        assert any("Card(" in line for line in watched.frames)
        assert not [line for line in watched.frames if CARD.search(RAW.sub("", line))]
