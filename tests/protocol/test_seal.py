"""Who has no key changes nothing: every kind of forgery against both real ends, in virtual time.

"Nothing" is the whole state of the end (`attacker.state`), no notice, and, but for an event that was here before, not a
byte of answer. What sealing is: `protocol/README.md`, "Sealing".
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest
from dealershoe.bench.faults import Faults
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol.attacker import Frame, frames_in, state, wire
from protocol.faulty_line import KEY, KEYS, Rig, card, damaged, ident
from protocol.strategies import bodies
from shoelink import link, notice, schema, seal

from protocol import attacker

OTHER = bytes(range(32))  # a key that is not the device's


# ---- the tag


# RFC 4231, test cases 1, 2, 3 and 4
@pytest.mark.parametrize(
    ("key", "data", "mac"),
    [
        (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        (b"\xaa" * 20, b"\xdd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        (bytes(range(1, 26)), b"\xcd" * 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    ],
)
def test_rfc_4231(key: bytes, data: bytes, mac: str) -> None:
    assert seal.Mac(key).of(data).hex() == mac


@given(st.binary(max_size=64), st.binary(max_size=100))
def test_the_shoes_hmac_is_everybodys(key: bytes, data: bytes) -> None:
    assert seal.Mac(key).of(data) == hmac.digest(key, data, hashlib.sha256)


@given(st.binary(max_size=9), st.binary(max_size=9))
def test_same_is_equality(one: bytes, other: bytes) -> None:
    assert seal.same(one, other) == (one == other)
    assert seal.same(one, bytes(one))


class Watched(bytes):
    """Bytes that count how often one of them is looked at."""

    looks = 0

    def __getitem__(self, at: Any) -> Any:
        Watched.looks += 1
        return super().__getitem__(at)


def test_comparing_looks_at_every_byte_wherever_they_differ() -> None:
    """How long it takes must not tell how much of a forged tag is right."""
    tag = bytes(range(8))
    looks = []
    for at in range(9):
        forged = bytes(byte ^ (number == at) for number, byte in enumerate(tag))
        Watched.looks = 0
        assert seal.same(Watched(forged), tag) == (at == 8)
        looks.append(Watched.looks)
    assert looks == [8] * 9


# ---- a session


class Sealed(Rig):
    """Both ends with the key; what an attacker has recorded of this session and of the one before."""

    def __init__(self, seed: int = 1, faults: Faults | None = None) -> None:
        super().__init__(seed, shoe_keys=KEYS, host_keys={b"another.": OTHER} | KEYS)
        self.run(500)
        assert self.shoe.up
        assert self.host.up
        for line in (self.up_line, self.down_line):
            line.faults = faults or Faults()

    def talk(self, cards: int = 5) -> None:
        """Something of everything goes over the line."""
        for draw in range(1, cards + 1):
            self.report(card(draw))
            self.host.desire(schema.Signal(0, draw % 4, 0, 0))
            self.host.desire(schema.Due(0, 1, schema.DUE_SEAT, draw % 9 + 1, 1))
            self.run(self.now + 100)
        self.shoe.send(self.shoe.stats(0, 0), self.ticks())
        self.host.send(schema.Lookup(0), self.ticks())
        self.run(self.now + 200)

    def heard_by(self, side: int) -> list[Frame]:
        """Every frame that this end was sent until now."""
        line = self.up_line if side == schema.HOST else self.down_line
        return frames_in(b"".join(line.kept))

    def end(self, side: int) -> link.Link:
        return self.host if side == schema.HOST else self.shoe

    def nonces(self) -> tuple[bytes, bytes]:
        """Of host and shoe: everybody can read them."""
        hello_of_host, hello_of_shoe = self.shoe.peer, self.host.peer
        assert hello_of_host
        assert hello_of_shoe
        return hello_of_host.nonce, hello_of_shoe.nonce

    def attack(self, side: int, one: Frame) -> None:
        """Give the end a frame. It must not change."""
        end = self.end(side)
        now = self.ticks()
        end.poll(now)
        end.take()
        before = state(end)
        assert end.receive(wire(one), now) == ()
        assert end.poll(now) == ()
        answer = frames_in(end.take())
        assert state(end) == before, one
        if not (side == schema.HOST and one[0] & schema.RELIABLE):
            assert not answer, one
        assert [kind for kind, *_ in answer] in ([], [schema.ACK | schema.FROM_HOST]), one

    def goes_on(self) -> None:
        """The real session is the one it was."""
        lost = self.host.count["lost"] + self.shoe.count["lost"]
        assert lost == self.lost
        held = len(self.stored[self.shoe_journal.id])
        self.report(card(held + 1))
        self.host.desire(schema.Signal(0, schema.SIGNAL_FLOOR, held % 9, 0))
        self.run(self.now + 1000)
        self.check(self.shoe_journal)
        assert self.signals[-1][1:3] == (schema.SIGNAL_FLOOR, held % 9)
        assert self.host.count["lost"] + self.shoe.count["lost"] == lost

    lost = 0


def _attacked() -> Sealed:
    rig = Sealed()
    rig.talk()
    return rig


both_ends = pytest.mark.parametrize("side", [schema.SHOE, schema.HOST], ids=["shoe", "host"])


def test_a_session_is_sealed_from_the_first_hello_that_answers() -> None:
    rig = Sealed()
    rig.talk()
    assert rig.host.sealed == b"s" * 8
    assert rig.shoe.sealed == b"s" * 8
    from_shoe, from_host = rig.heard_by(schema.HOST), rig.heard_by(schema.SHOE)
    assert all(flags & schema.FLAG_AUTH for _, flags, *_ in from_shoe)
    (first, *others) = from_host  # nobody is known yet for whom it could be sealed
    assert first[0] == schema.HELLO | schema.FROM_HOST
    assert not first[1] & schema.FLAG_AUTH
    assert all(flags & schema.FLAG_AUTH for _, flags, *_ in others)
    kinds = {kind for kind, *_ in from_shoe + from_host}
    assert schema.PING | schema.FROM_HOST in kinds
    assert kinds >= {schema.CARD, schema.SIGNAL, schema.DUE, schema.STATS, schema.WORDS, schema.PONG}
    for count in (rig.host.count, rig.shoe.count):
        assert (count["bad_tag"], count["replayed"]) == (0, 0)
    rig.goes_on()


def test_without_keys_nothing_is_sealed_and_nothing_is_different() -> None:
    rig = Rig()
    rig.run(500)
    assert rig.host.sealed is None
    assert not any(flags & schema.FLAG_AUTH for _, flags, *_ in frames_in(b"".join(rig.up_line.kept)))


# ---- replay


@both_ends
def test_no_frame_counts_twice(side: int) -> None:
    rig = _attacked()
    recorded = rig.heard_by(side)
    before = dict(rig.end(side).count)
    for one in recorded:
        rig.attack(side, one)
    after = rig.end(side).count
    refused = [after[cause] - before[cause] for cause in ("replayed", "bad_tag", "unsealed", "duplicates")]
    assert sum(refused) == len(recorded), "each is counted by its cause"
    assert after["replayed"] > before["replayed"]
    rig.goes_on()


@both_ends
def test_no_frame_of_an_earlier_session_counts(side: int) -> None:
    rig = _attacked()
    recorded = rig.heard_by(side)
    rig.silence(1000)
    rig.run(rig.now + 3000)
    assert rig.host.up
    rig.lost = rig.host.count["lost"] + rig.shoe.count["lost"]
    for one in recorded:
        rig.attack(side, one)
    assert rig.end(side).count["bad_tag"] >= len(recorded) - 2
    rig.goes_on()


def test_a_repeated_event_is_no_sign_of_life() -> None:
    """The shoe is unplugged and its last frame played again and again: the table is told within 750 ms."""
    rig = _attacked()
    last = [one for one in rig.heard_by(schema.HOST) if one[0] == schema.CARD][-1]
    began = rig.now
    rig.silence(3000)
    while rig.host.up and rig.now < began + 2000:
        rig.host.receive(wire(last), rig.ticks())
        rig.run(rig.now + 10)
    assert rig.now - began <= 750
    assert rig.host.count["duplicates"] > 50


# ---- reflection, forgery


@both_ends
def test_an_ends_own_frames_change_nothing(side: int) -> None:
    rig = _attacked()
    own = rig.heard_by(schema.SHOE + schema.HOST - side)
    before = dict(rig.end(side).count)
    for one in own:
        rig.attack(side, one)
        rig.attack(side, attacker.turned(one))
    after = rig.end(side).count
    assert after["echoes"] - before["echoes"] == len(own)
    assert after["bad_tag"] + after["unsealed"] - before["bad_tag"] - before["unsealed"] == len(own)
    rig.goes_on()


@both_ends
def test_a_bit_turned_in_any_field_of_any_frame_changes_nothing(side: int) -> None:
    """Frames that have not arrived, so that the tag and nothing else stands against them."""
    rig = _attacked()
    line = rig.up_line if side == schema.HOST else rig.down_line
    sent = len(line.kept)
    line.silent_until = rig.now + 300
    rig.report(card(6))
    rig.report(schema.Key(1, bytes(4), schema.KEY_DONE, schema.PRESS_HELD))
    rig.host.desire(schema.Signal(0, schema.SIGNAL_STOP, schema.REASON_MISDEAL, 0))
    rig.run(rig.now + 270)
    fresh = frames_in(b"".join(line.kept[sent:]))
    assert len({kind for kind, *_ in fresh}) >= 2
    for one in {one[0]: one for one in fresh}.values():
        for bit in range(attacker.bits(one)):
            rig.attack(side, attacker.flipped(one, bit))
    rig.run(rig.now + 500)
    rig.goes_on()


@both_ends
def test_a_frame_without_its_tag_or_with_another_keys_changes_nothing(side: int) -> None:
    rig = _attacked()
    of_host, of_shoe = rig.nonces()
    guard = rig.end(side)._guard
    assert guard
    assert guard.seal
    for one in rig.heard_by(side):
        rig.attack(side, attacker.bare(one))
        event = one[0] & schema.RELIABLE and side == schema.HOST
        count = len(rig.stored[rig.shoe_journal.id]) + 1 if event else guard.seal.taken + 1
        rig.attack(side, attacker.resealed(one, OTHER, of_host, of_shoe, count))
        rig.attack(side, attacker.resealed(one, OTHER, bytes(8), of_shoe, 0))
    rig.goes_on()


@both_ends
@pytest.mark.parametrize("flags", [0, schema.FLAG_ASK])
def test_a_forged_hello_cannot_talk_a_session_down(side: int, flags: int) -> None:
    """Downgrade: greetings without a seal, of this peer and of new ones, other versions, other journals, IDENT."""
    rig = _attacked()
    end = rig.end(side)
    mark = 0 if side == schema.HOST else schema.FROM_HOST
    real = end.peer
    assert real
    assert end.peer_ident
    forged: list[schema.Message] = [
        real,
        real._replace(nonce=b"attacker", answers=bytes(4)),
        real._replace(nonce=b"attacker"),
        real._replace(major=2),
        real._replace(major=0, minor=0, schema=bytes(4)),
        real._replace(journal=b"none", next=1, oldest=1),
        real._replace(boot=b"boot"),
        end.peer_ident,
        ident(b"x"),
    ]
    for message in forged:
        kind = schema.KIND_OF[type(message)] | mark
        for one in (
            (kind, flags, 1, 0, schema.pack(message)),
            (kind, flags | 0x80, 1, 0, schema.pack(message) + bytes(8)),
        ):
            rig.attack(side, one)
    rig.goes_on()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_nothing_that_hypothesis_makes_changes_anything(data: st.DataObject) -> None:
    side = data.draw(st.sampled_from([schema.SHOE, schema.HOST]))
    rig = _shared()
    recorded = rig.heard_by(side) + rig.heard_by(schema.SHOE + schema.HOST - side)
    kind, flags, seq, ack, body = data.draw(st.sampled_from(recorded))
    other = data.draw(st.sampled_from(recorded))
    one: Frame = (
        data.draw(st.sampled_from([kind, kind ^ 0x80, other[0]]) | st.integers(1, 255)),
        data.draw(st.sampled_from([flags, 0, 0x40, 0x80, 0xC0, 0x8F])),
        data.draw(st.just(seq) | st.integers(0, 0xFFFF)),
        data.draw(st.just(ack) | st.integers(0, 0xFFFF)),
        data.draw(st.sampled_from([body, other[4], body[:-8] + other[4][-8:], other[4][:-8] + body[-8:]]) | bodies)[
            :48
        ],
    )
    tag = schema.TAG if one[1] & schema.FLAG_AUTH else 0
    if tag <= len(one[4]) <= schema.BODY + tag:  # else it is damage: one NAK, as for any noise
        rig.attack(side, one)
    assert rig.host.up
    assert rig.shoe.up


def _shared() -> Sealed:
    if not _SHARED:
        _SHARED.append(_attacked())
    return _SHARED[0]


_SHARED: list[Sealed] = []


# ---- a room of many keys


def _of_a_room(shoes: int) -> Rig:
    """A host that has the keys of so many shoes; that of the one on its line is the last of them."""
    others = {number.to_bytes(8, "big"): number.to_bytes(32, "big") for number in range(1, shoes)}
    return Rig(1, shoe_keys=KEYS, host_keys=others | KEYS)


def test_one_shoe_of_many_is_met_at_once() -> None:
    rig = _of_a_room(256)
    rig.run(200)
    assert rig.host.sealed == b"s" * 8
    assert rig.host.count["untried"] == 0


def test_a_flood_of_strange_greetings_does_not_take_the_thread_that_turns_all_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many as 115,200 Bd carry (190 a second) at a host with 256 keys: it holds at most 1,024 keys against them in
    100 ms and one for each greeting, and the shoe that it knows is met among them."""
    rig = _of_a_room(256)
    rig.run(500)
    compared = 0

    def counting(one: bytes, other: bytes) -> bool:
        nonlocal compared
        compared += 1
        return one == other

    rig.silence(1000)
    rig.run(rig.now + 999)
    assert not rig.host.up
    monkeypatch.setattr(seal, "same", counting)
    greetings = 0
    most = 0
    began = rig.now
    rig.silence(300, rig.up_line)  # the shoe stays away for a while
    while rig.now < began + 1000:
        before, until = compared, rig.now + 100
        while rig.now < until:
            stranger = schema.Hello(1, 0, bytes(4), b"jour", b"boot", 0, 1, 1, 256, rig.dice.randbytes(8), bytes(4))
            one = (schema.HELLO, 0xC0, 0, 0, schema.pack(stranger) + rig.dice.randbytes(8))
            rig.up_line.put_in(wire(one), rig.now)
            greetings += 1
            rig.run(rig.now + 5.2)
        most = max(most, compared - before)
    assert greetings > 180
    assert 1024 <= most <= 2 * (1024 + 2 * 20), "of the shoe's side a few; the hundred milliseconds of both may cross"
    assert rig.host.count["untried"] > 20
    assert rig.host.up
    assert rig.host.sealed == b"s" * 8


# ---- a flood, a bad line


@pytest.mark.parametrize("seed", range(5))
def test_under_a_flood_of_forged_frames_the_session_goes_on(seed: int) -> None:
    """As many as the line carries, both ways, replayed ones among them, while cards are dealt for 10 s."""
    rig = Sealed(seed)
    rig.talk()
    notices = len(rig.notices)
    recorded = {side: rig.heard_by(side) for side in (schema.SHOE, schema.HOST)}
    for draw in range(6, 26):
        rig.report(card(draw))
        rig.host.desire(schema.Signal(0, draw % 4, draw % 9, 0))
        for _ in range(80):
            for side, line in ((schema.HOST, rig.up_line), (schema.SHOE, rig.down_line)):
                one = rig.dice.choice(recorded[side])
                forgery = rig.dice.randrange(5)
                if forgery == 0:
                    one = attacker.bare(one)
                elif forgery == 1:
                    one = attacker.flipped(one, rig.dice.randrange(attacker.bits(one)))
                elif forgery == 2:
                    one = (one[0], 0xC0, rig.dice.randrange(1 << 16), 0, rig.dice.randbytes(48))
                elif forgery == 3:
                    one = (schema.HELLO | (0x80 if side == schema.SHOE else 0), 0x40, 1, 0, rig.dice.randbytes(39))
                line.put_in(wire(one), rig.now)
            rig.run(rig.now + 6)
    rig.run(rig.now + 1000)
    rig.check(rig.shoe_journal)
    assert rig.shoe_journal.next == 26
    assert rig.host.count["lost"] + rig.shoe.count["lost"] == 0
    told = {type(what) for _, _, what in rig.notices[notices:]}
    assert told <= {notice.Recorded, notice.Delivered}
    assert [s.signal for s in rig.signals if isinstance(s, schema.Signal)][-20:] == [d % 4 for d in range(6, 26)]
    for end in (rig.host, rig.shoe):
        assert min(end.count["bad_tag"], end.count["replayed"], end.count["unsealed"]) > 100


@pytest.mark.parametrize("seed", range(10))
def test_a_sealed_link_loses_nothing_on_a_bad_line(seed: int) -> None:
    rig = Sealed(seed, Faults(loss=0.1, **damaged(0.1), duplicate=0.05))
    for draw in range(1, 41):
        rig.report(card(draw))
        rig.run(rig.now + rig.dice.uniform(0, 150))
        trouble = rig.dice.randrange(40)
        if trouble == 0:
            rig.silence(rig.dice.uniform(0, 2000))
        elif trouble == 1:
            rig.replug()
        elif trouble == 2:
            rig.reset_host()
        elif trouble == 3:
            rig.reset_shoe(ram_lost=False)
    rig.up_line.faults = rig.down_line.faults = Faults()
    rig.run(rig.now + 4000, stop=lambda: not rig.shoe_journal.held())
    rig.check(rig.shoe_journal)


@pytest.mark.parametrize("who", ["host", "shoe", "replug", "silence"])
def test_a_sealed_session_is_resumed_within_2_s(who: str) -> None:
    rig = Sealed()
    rig.talk()
    began = rig.now
    if who == "host":
        rig.reset_host()
    elif who == "shoe":
        rig.reset_shoe(ram_lost=False)
    elif who == "replug":
        rig.replug()
    else:
        rig.silence(1500)
        began = rig.up_line.silent_until
    rig.report(card(6))
    rig.run(began + 2000, stop=lambda: rig.now > began + 1 and rig.host.up and not rig.shoe_journal.held())
    rig.check(rig.shoe_journal)
    assert rig.host.sealed
    assert not [what for _, _, what in rig.notices if isinstance(what, notice.Refused)], "nothing foreign was there"


def test_counts_go_on_past_two_to_the_sixteenth() -> None:
    rig = Sealed()
    for one, other in ((rig.host, rig.shoe), (rig.shoe, rig.host)):
        assert one._guard
        assert one._guard.seal
        assert other._guard
        assert other._guard.seal
        one._guard.seal.sent = other._guard.seal.taken = 65_500
    rig.run(rig.now + 30_000)
    assert rig.host._guard
    assert rig.host._guard.seal
    assert rig.host._guard.seal.sent > 65_536
    assert rig.host.count["lost"] + rig.shoe.count["lost"] == 0
    rig.talk()
    rig.goes_on()


# ---- no session with a stranger


def _never_up(rig: Rig) -> None:
    rig.run(100)
    before = state(rig.host)
    journal = list(rig.notices)
    rig.run(5000)
    assert not rig.host.up
    assert not rig.shoe.up
    after = state(rig.host)
    changed = {path for path in before if before[path] != after[path]} | before.keys() ^ after.keys()
    assert changed <= {"._greeting._said_at"}, "only the time of its own greetings"
    refused = [what for _, side, what in rig.notices if side == schema.HOST]
    assert len(refused) == len([1 for _, side, _ in journal if side == schema.HOST]) == 1, "said once"
    assert isinstance(refused[0], notice.Refused)
    assert refused[0].reason == "key"


def test_a_device_with_another_key_is_a_stranger() -> None:
    rig = Rig(shoe_keys={b"s" * 8: OTHER}, host_keys=KEYS)
    _never_up(rig)
    assert rig.host.count["bad_tag"] > 10


def test_a_device_with_the_right_key_under_another_name_is_a_stranger() -> None:
    rig = Rig(shoe_keys=KEYS, host_keys={b"x" * 8: KEY})
    _never_up(rig)


def test_a_pinned_device_that_proves_nothing_is_a_stranger() -> None:
    """The shoe was replaced by one of the same name, or talks as if it had no key: the downgrade."""
    rig = Rig(host_keys=KEYS)
    _never_up(rig)
    assert rig.host.count["unsealed"] > 10


def test_a_host_without_the_key_gets_nothing_from_a_shoe_that_has_one() -> None:
    rig = Rig(shoe_keys=KEYS)
    rig.report(card(1))
    rig.run(5000)
    assert not rig.shoe.up
    assert rig.shoe_journal.held() == 1
    (refused,) = [what for _, side, what in rig.notices if side == schema.HOST]
    assert isinstance(refused, notice.Refused)
    assert refused.reason == "key"
    assert "enroll" in refused.detail
    assert {kind for kind, *_ in frames_in(b"".join(rig.up_line.kept))} == {schema.HELLO}, "it only calls"


@pytest.mark.parametrize("seed", range(5))
def test_greetings_played_again_do_not_keep_the_real_ones_apart(seed: int) -> None:
    """Every greeting of twenty earlier sessions, over and over, twenty a second each way."""
    rig = Sealed(seed)
    for _ in range(20):
        rig.replug()
        rig.run(rig.now + 1500)
    recorded = {side: [one for one in rig.heard_by(side) if one[0] & 0x7F == schema.HELLO] for side in (1, 2)}
    rig.reset_host()
    rig.reset_shoe(ram_lost=False)
    began = rig.now
    while not (rig.host.up and rig.shoe.up) and rig.now < began + 10_000:
        for side, line in ((schema.HOST, rig.up_line), (schema.SHOE, rig.down_line)):
            line.put_in(wire(rig.dice.choice(recorded[side])), rig.now)
        rig.run(rig.now + 50)
    assert rig.now < began + 5000
    rig.talk()
    rig.check(rig.shoe_journal)
