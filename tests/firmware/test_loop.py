"""The shoe's loop on parts that only do as told: what waits while a card passes and for how long, and what is said of
samples that were lost or that stop coming.
"""

from __future__ import annotations

import os
from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import Fram
from firmware.physics import Card, Scene, print_card, ride
from firmware.test_parts_fram import journal
from shoelink import schema
from shoelink.link import Link
from shoelink.tokens import Veil

loop: Any = import_module("shoe.loop")
seats: Any = import_module("shoe.seats")
signals: Any = import_module("shoe.signals")
calibration: Any = import_module("shoe.calibration")
THROAT, LIP = 0x20, 0x40  # of a sample
DEFAULTS = (60000, 30000, 40000, 30000, 8191, 16383, 24575, 32767, 40959, 49151, 57343, 2730)  # hardware/pinout.md


class Sampler:
    """What is to be sampled, and how much of it was overwritten."""

    def __init__(self) -> None:
        self.waits = bytearray()
        self.overruns = self.lost = 0

    def readinto(self, buffer: bytearray) -> int:
        n = min(len(buffer), len(self.waits))
        buffer[:n] = self.waits[:n]
        del self.waits[:n]
        return n

    def waiting(self) -> int:
        return len(self.waits)

    def overwrite(self, samples: int) -> None:
        """Nobody came in time."""
        self.overruns += 1
        self.lost += samples


class Running:
    """The loop with a board on which all is well; `turn` lets so many ms pass without a card."""

    def __init__(self) -> None:
        def reads(value: int) -> Any:
            return SimpleNamespace(read_u16=lambda: value)

        def nothing(*_: Any) -> None:
            pass

        self.looked: dict[str, list[int]] = {"host": [], "seats": [], "supply": [], "keys": []}
        self.now = 0

        def looks(what: str, value: int) -> Any:
            def look() -> int:
                self.looked[what].append(self.now)
                return value

            return look

        self.fed = 0
        self.tests = 0
        self.shown: list[tuple[int, Any]] = []
        self.sampler = Sampler()
        self.board = SimpleNamespace(
            sampler=self.sampler,
            light=reads(60000),
            ambient=reads(3000),
            keys=SimpleNamespace(read_u16=looks("keys", 57343)),
            supply=SimpleNamespace(read_u16=looks("supply", 32768)),
            lanes=SimpleNamespace(read=lambda: 0),
            bar=SimpleNamespace(show=lambda lamps, colour: self.shown.append((lamps, colour))),
            piezo=SimpleNamespace(tone=nothing),
            host=SimpleNamespace(any=looks("host", 0), write=len),
            witness=lambda events: seats.SeatBus(SimpleNamespace(any=looks("seats", 0), ask=nothing), events),
            lid=lambda: 0,
            tamper=None,
            emitter=None,
            head_emitter=None,
            watchdog=SimpleNamespace(feed=self._feed),
            calibration=calibration.Calibration(None, DEFAULTS),
            free_memory=lambda: 100_000,
        )
        self.journal = journal(Fram())
        ident = schema.Ident(bytes(8), bytes(12), bytes(16))
        link = Link(schema.SHOE, ident, os.urandom, self.journal)
        self.test = SimpleNamespace(faulty=0, tested=0, failed=0, run=self._tested)
        self.shoe = loop.Shoe(self.board, link, Veil(bytes(8), os.urandom, True), self.test, 0, 0)

    def _tested(self) -> int:
        self.tests += 1
        return 110

    def _feed(self) -> None:
        self.fed += 1

    def turn(self, ms: int, samples: bytes | None = None) -> None:
        for begin in range(0, ms, 2):
            piece = bytes(40) if samples is None else samples[20 * begin : 20 * begin + 40]
            self.sampler.waits += piece
            self.now += 2
            self.shoe.turn(self.now)

    def since(self, begin: int, what: str) -> list[int]:
        """When a part was looked at from `begin` on."""
        return [at for at in self.looked[what] if at > begin]

    def told(self, *kinds: Any) -> list[Any]:
        events = []
        for number in range(self.journal.oldest, self.journal.next):
            at, length = self.journal.load(number), self.journal.length(number)
            events.append(schema.unpack(self.journal.buffer[at - 2], bytes(self.journal.buffer[at : at + length])))
        return [event for event in events if isinstance(event, kinds)]


@pytest.fixture
def running() -> Running:
    begun = Running()
    begun.turn(300)
    assert begun.told(schema.Fault) == []
    return begun


def codes(events: list[Any]) -> list[tuple[type, int]]:
    return [(type(event), event.code) for event in events]


def test_samples_that_were_overwritten_are_told_and_time_goes_on(running: Running) -> None:
    before = running.shoe.clock.index
    running.sampler.overwrite(2952)
    running.turn(2)
    assert running.shoe.clock.index - before == 2952 + 40
    (fault,) = running.told(schema.Fault)
    assert (fault.code, fault.detail) == (schema.FAULT_SAMPLES_LOST, 2952)
    running.turn(200)
    assert codes(running.told(schema.Fault, schema.Clear)) == [
        (schema.Fault, schema.FAULT_SAMPLES_LOST),
        (schema.Clear, schema.FAULT_SAMPLES_LOST),
    ]


def test_a_card_whose_samples_were_lost_is_unread_not_guessed(running: Running) -> None:
    samples = Scene([(print_card(30), 0.0)]).samples(ride([(110, 1000, 1000)]))
    middle = 40 * (len(samples) // 80)
    running.turn(middle // 20, samples[:middle])
    running.sampler.overwrite(240)  # 12 mm of it
    rest = samples[middle + 240 :]
    running.turn(len(rest) // 20, rest)
    running.turn(100)
    (card,) = running.told(schema.Card)
    assert card.token == schema.TOKEN_UNREAD
    assert [fault.code for fault in running.told(schema.Fault)] == [schema.FAULT_SAMPLES_LOST]


def test_a_sampler_that_stops_is_told_within_a_quarter_second_and_the_watchdog_starves_after_one(
    running: Running,
) -> None:
    running.turn(250, b"")
    assert [fault.code for fault in running.told(schema.Fault)] == [schema.FAULT_SAMPLER]
    running.turn(1000, b"")
    fed = running.fed
    running.turn(1000, b"")
    assert running.fed == fed


def levels_of(samples: bytes, slot: int) -> tuple[int, int]:
    """From which ms to which a slot is covered."""
    covered = [at for at, level in enumerate(samples) if level & slot]
    return covered[0] // 20, covered[-1] // 20


def test_nothing_but_samples_and_keys_is_looked_at_while_a_fast_card_passes(running: Running) -> None:
    samples = Scene([(Card(), 0.0)]).samples(ride([(110, 3000, 3000)]))  # has no code
    entered, _ = levels_of(samples, THROAT)
    _, out = levels_of(samples, LIP)
    assert out - entered < 32
    begun = running.now
    running.turn(out - out % 2, samples)
    assert running.told(schema.Card) == []
    seen = {what: running.since(begun + entered + 4, what) for what in running.looked}
    assert seen.pop("keys")
    assert seen == {"host": [], "seats": [], "supply": []}
    running.turn(4, samples[20 * (out - out % 2) :])
    (card,) = running.told(schema.Card)
    assert card.token == schema.TOKEN_UNREAD
    assert running.shown[-1][1] == signals.MAGENTA


def test_behind_a_slow_card_all_has_its_turn_until_its_tail_is_in(running: Running) -> None:
    samples = Scene([(print_card(30), 0.0)]).samples(ride([(110, 300, 300)]))
    entered, tail = levels_of(samples, THROAT)
    _, out = levels_of(samples, LIP)
    begun = running.now
    running.turn(len(samples) // 20, samples)
    for what in ("host", "seats", "supply"):
        looks = [at - begun for at in running.looked[what] if begun + entered < at <= begun + out]
        assert [at for at in looks if entered + loop.SLOW_MS < at <= tail], what
        assert [at for at in looks if tail + 4 < at] == [], what
    assert [card.token for card in running.told(schema.Card)] == [bytes((30, 0, 0, 0))]


def test_garbage_is_collected_behind_a_card_and_in_a_long_rest_never_while_one_passes(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """40 ms behind a card, for no hand is back so soon, and after 4 s without one: hardware/card-code.md."""
    collected: list[int] = []
    monkeypatch.setattr(loop, "garbage", SimpleNamespace(collect=lambda: collected.append(running.now)))
    samples = Scene([(print_card(30), 0.0)]).samples(ride([(110, 1000, 1000)]))
    _, out = levels_of(samples, LIP)
    begun = running.now
    running.turn(300, samples + bytes(20 * 300))
    assert len(collected) == 1
    assert 40 <= collected[0] - (begun + out) <= 46
    running.turn(4000)
    assert len(collected) == 2


def test_free_memory_is_told_as_it_is_behind_a_collection(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[int] = []
    asked: list[int] = []
    monkeypatch.setattr(loop, "garbage", SimpleNamespace(collect=lambda: collected.append(running.now)))

    def free_memory() -> int:
        asked.append(running.now)
        return 100_000

    running.board.free_memory = free_memory
    running.turn(3 * loop.STATS_MS + 100)
    assert len(asked) == 3
    assert all(at - 2 in collected for at in asked)  # in the turn before


def test_a_host_that_does_not_stop_leaves_turns_for_the_rest(running: Running) -> None:
    running.board.host.any = lambda: 1
    running.board.host.readinto = lambda _: 0
    begun = running.now
    running.turn(1000)
    rests = 500 // (loop.HEARD + 1)  # turns of 2 ms; in every third garbage is collected
    assert 0.6 * rests < len(running.since(begun, "seats")) <= rests


# what a hand can do for 5 s: hold a card anywhere, rub its end along a slot
HELD = {
    "in the throat": bytes((THROAT,)) * 100_000,
    "half out": bytes((THROAT,)) * 200 + bytes((THROAT | LIP,)) * 99_800,
    "at the lip": bytes((THROAT,)) * 200 + bytes((THROAT | LIP,)) * 200 + bytes((LIP,)) * 99_600,
    "to and fro": bytes((THROAT,)) * 200 + (bytes((THROAT | LIP,)) * 200 + bytes((LIP,)) * 200) * 249,
}


@pytest.mark.parametrize("samples", HELD.values(), ids=HELD)
def test_nothing_starves_whatever_the_card_does(running: Running, samples: bytes) -> None:
    begun, fed = running.now, running.fed
    running.turn(len(samples) // 20, samples)
    for what, longest in (
        ("host", 450),
        ("seats", 450),
        ("supply", 550),
        ("keys", 10),
    ):  # the supply is due each 100 ms
        looks = [begun, *running.since(begun, what), running.now]
        assert max(after - before for before, after in pairwise(looks)) <= longest + 4, what
    assert running.fed - fed >= 5000 // 155
    assert running.told(schema.Card) == []


@pytest.mark.parametrize(("faulty", "colour"), [(0, signals.BLUE), (1 << 5, signals.MAGENTA)])
def test_two_keys_start_the_self_test_and_its_result_is_shown_without_a_host(
    running: Running, faulty: int, colour: Any
) -> None:
    running.test.faulty = faulty
    for level, ms in ((40959, 300), (8191, 2200)):  # done, then new hand as well
        running.board.keys.read_u16 = lambda level=level: level
        running.turn(ms)
    assert running.tests == 1
    assert running.shown[-1][1] == colour
    assert running.told(schema.Key) == []
    assert [fault.code for fault in running.told(schema.Fault)] == [schema.FAULT_SELF_TEST] * bool(faulty)
