"""Both ends of the link as a state machine that hypothesis drives, and as receivers that it throws bytes at."""

from __future__ import annotations

import random
from typing import Any

import pytest
from dealershoe.bench.faults import DAMAGE, Faults
from dealershoe.link import codec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from protocol.attacker import frames_in
from protocol.faulty_line import KEYS, Rig, card, ident
from protocol.strategies import bodies
from shoelink import frame, journal, link, notice, outbox, schema

milliseconds = st.integers(1, 50) | st.integers(1, 2000)
shares = st.sampled_from([0.0, 0.05, 0.2])
few = st.sampled_from([0.0, 0.04])
damaging = dict.fromkeys(DAMAGE, few)


class Table(RuleBasedStateMachine):
    """Whatever happens in whatever order: stored once and in order, the last wish obeyed, nothing growing."""

    @initialize(
        seed=st.integers(0, 2**32),
        sealed=st.booleans(),
        start=st.sampled_from([0, 0x3FFFFFFF - 3000]),
        commit=st.sampled_from([2.0, 60.0]),
        lost=st.sampled_from([0.0, 0.2]),
    )
    def begin(self, seed: int, sealed: bool, start: int, commit: float, lost: float) -> None:
        keys = KEYS if sealed else None
        self.rig = Rig(seed, start=start, commit=commit, shoe_keys=keys, host_keys=keys)
        self.rig.run(500)
        self.worsen(Faults(loss=lost))
        self.journals = [self.rig.shoe_journal]
        self.wish = schema.Signal(0, 0, 0, 0)
        self.draw = 0

    @rule(cards=st.integers(1, 12), gap=st.sampled_from([0, 3, 30, 300]))
    def deal(self, cards: int, gap: int) -> None:
        for _ in range(cards):
            self.draw += 1
            if self.rig.shoe_journal.room() > 0:
                self.rig.report(card(self.draw))
            self.rig.run(self.rig.now + gap)

    @rule(signal=st.integers(0, 3), reason=st.integers(0, 8))
    def desire(self, signal: int, reason: int) -> None:
        self.wish = schema.Signal(0, signal, reason, 0)
        self.rig.host.desire(self.wish)

    @rule(length=milliseconds)
    def wait(self, length: int) -> None:
        self.rig.run(self.rig.now + length)

    @rule(
        faults=st.builds(Faults, loss=shares, duplicate=shares, reorder=shares, spike=few, **dict.fromkeys(DAMAGE, few))
    )
    def worsen(self, faults: Faults) -> None:
        for line in (self.rig.up_line, self.rig.down_line):
            line.faults = faults

    @rule(length=milliseconds, way=st.sampled_from(["up", "down", "both"]))
    def silence(self, length: int, way: str) -> None:
        lines = {"up": [self.rig.up_line], "down": [self.rig.down_line], "both": []}[way]
        self.rig.silence(length, *lines)

    @rule()
    def replug(self) -> None:
        self.rig.replug()

    @rule()
    def kill_the_host(self) -> None:
        self.rig.reset_host()
        self.rig.host.desire(self.wish)

    @rule(ram_lost=st.booleans())
    def reset_the_shoe(self, ram_lost: bool) -> None:
        self.rig.reset_shoe(ram_lost)
        self.rig.signals.clear()  # its lamps are dark
        if ram_lost:
            self.journals.append(self.rig.shoe_journal)

    @rule(length=milliseconds)
    def freeze(self, length: int) -> None:
        self.rig.freeze_host(length)

    @rule(noise=st.binary(max_size=100), up=st.booleans())
    def noise(self, noise: bytes, up: bool) -> None:
        (self.rig.up_line if up else self.rig.down_line).put_in(noise, self.rig.now)

    @precondition(lambda self: self.rig.now > 0)
    @rule(up=st.booleans(), which=st.integers(0, 400))
    def replay(self, up: bool, which: int) -> None:
        """Something said long ago comes again; without keys only what changes nothing by design: an event."""
        line = self.rig.up_line if up else self.rig.down_line
        old = frames_in(b"".join(line.kept))
        if old and (self.rig.host.sealed or (up and old[which % len(old)][0] & schema.RELIABLE)):
            one = old[which % len(old)]
            if self.rig.host.sealed or one[2] < (self.rig.host._receiver.expected & 0xFFFF):
                line.put_in(frame.encode(*one), self.rig.now)

    @invariant()
    def stored_once_and_in_order(self) -> None:
        if hasattr(self, "rig"):
            for key, events in self.rig.stored.items():
                assert [number for number, _, _ in events] == list(range(1, len(events) + 1)), key.hex()
            assert self.rig.host.ready <= outbox.SIZE
            assert self.rig.shoe.ready <= outbox.SIZE

    def teardown(self) -> None:
        if not hasattr(self, "rig"):
            return
        rig = self.rig
        rig.run(max(rig._frozen_until, rig.up_line.silent_until, rig.down_line.silent_until, rig.now))
        for line in (rig.up_line, rig.down_line):
            line.faults = Faults()
        rig.host.desire(self.wish)
        rig.run(rig.now + 5000)
        rig.check(rig.shoe_journal)
        assert rig.host.up
        assert rig.shoe.up
        shown = [state for state in rig.signals if isinstance(state, schema.Signal)]
        assert shown
        assert shown[-1][1:] == tuple(self.wish)[1:]


TestTable = Table.TestCase
TestTable.settings = settings(
    max_examples=100, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


# ---- fuzz


pieces = st.one_of(
    st.binary(max_size=80),
    st.lists(st.sampled_from([0, 1, 2, 8, 255]), max_size=70).map(bytes),
    st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), bodies).map(
        lambda made: frame.encode(*made)
    ),
    # kinds that mean something, with the bodies that they have
    st.tuples(
        st.sampled_from(sorted(schema.NAMES)),
        st.sampled_from([0, 0x80]),
        st.sampled_from([0, 0x40, 0x80, 0xC0]),
        st.integers(0, 0xFFFF),
        st.integers(0, 0xFFFF),
        st.binary(min_size=48, max_size=48),
    ).map(
        lambda m: frame.encode(m[0] | m[1], m[2], m[3], m[4], m[5][: schema.MINIMUM[m[0]] + (8 if m[2] & 0x80 else 0)])
    ),
)


def _size(what: Any, seen: set[int]) -> int:
    """Elements in everything that an object keeps."""
    if id(what) in seen or isinstance(what, type) or callable(what):
        return 0
    seen.add(id(what))
    if isinstance(what, bytes | bytearray | str):
        return len(what)
    if isinstance(what, dict):
        return sum(1 + _size(value, seen) for value in what.values())
    if isinstance(what, list | tuple | set):
        return sum(1 + _size(value, seen) for value in what)
    return sum(1 + _size(value, seen) for value in getattr(what, "__dict__", {}).values())


@pytest.mark.parametrize("keyed", [False, True], ids=["plain", "keyed"])
@pytest.mark.parametrize("side", [schema.SHOE, schema.HOST], ids=["shoe", "host"])
@settings(max_examples=80, deadline=None)
@given(st.lists(pieces, max_size=30), st.integers(1, 60), st.integers(0, 2**32))
def test_a_receiver_takes_anything(side: int, keyed: bool, thrown: list[bytes], cut: int, seed: int) -> None:
    """No exception, and what it keeps does not grow with what is thrown at it."""
    dice = random.Random(seed)
    own = journal.Journal(b"jrnl") if side == schema.SHOE else None
    end = link.Link(
        side, ident(b"s"), dice.randbytes, own, decoder=dice.choice((codec.Decoder, frame.Decoder))(),
        keys=KEYS if keyed else None,
    )  # fmt: skip
    end.start(0)
    stream = b"".join(thrown)
    now = 0
    sizes = []
    for _ in range(3):
        for at in range(0, len(stream), cut):
            now += dice.choice((0, 1, 30, 300))
            told = end.receive(stream[at : at + cut], now)
            for what in told:
                if isinstance(what, notice.Greeting):
                    end.resume(dice.randrange(3), now)
                elif isinstance(what, notice.Recorded):
                    end.stored(what.number)
            if own and dice.random() < 0.1:
                end.report(card(1))
            end.poll(now)
            assert end.wait(now) >= 0
            end.take()
        sizes.append(_size(end, set()))
    assert sizes[2] <= sizes[0] + 400, "a dictionary of states, a session's key: never the stream"


@pytest.mark.parametrize("side", [schema.SHOE, schema.HOST], ids=["shoe", "host"])
def test_a_megabyte_of_frames_of_every_kind_keeps_memory_flat(side: int) -> None:
    dice = random.Random(side)
    own = journal.Journal(b"jrnl", 16) if side == schema.SHOE else None
    end = link.Link(side, ident(b"s"), dice.randbytes, own, decoder=codec.Decoder())
    end.start(0)
    sizes = []
    for turn in range(20):
        stream = b"".join(
            frame.encode(
                dice.randrange(256), dice.choice((0, 0x40)), dice.randrange(1 << 16), dice.randrange(1 << 16), body
            )
            for body in (dice.randbytes(dice.randrange(41)) for _ in range(1500))
        )
        for at in range(0, len(stream), 4096):
            end.receive(stream[at : at + 4096], turn * 1000)
            end.poll(turn * 1000)
            end.take()
        sizes.append(_size(end, set()))
    assert max(sizes[2:]) <= sizes[1] + 200
