"""How soon the link is back after a silence or a reconnect, on a line that stays bad; and what it does not say twice.

Resumed: both ends are up and every event that waited is stored. Virtual time; the id is the seed.
"""

from __future__ import annotations

import os

import pytest
from dealershoe.bench.faults import DAMAGE, Faults
from protocol.attacker import frames_in
from protocol.faulty_line import KEYS, Rig, card, damaged
from protocol.lone import heard, hello, lone_host, lone_shoe, say
from protocol.test_seal import OTHER
from shoelink import frame, link, notice, numbered, schema, seal, timing

SEEDS = range(int(os.environ.get("DEALERSHOE_SEEDS", "5")))
WITHIN_MS = 2000
LINES = {name: Faults(**{name: 0.2}) for name in ("loss", "duplicate", "reorder", "spike", *DAMAGE)} | {
    "all": Faults(loss=0.1, **damaged(0.1), duplicate=0.02, reorder=0.05, spike=0.01),
}
HOST = schema.FROM_HOST


def _rig(seed: int, sealed: bool) -> Rig:
    keys = KEYS if sealed else None
    rig = Rig(seed, shoe_keys=keys, host_keys=keys)
    rig.run(900)
    assert rig.host.up
    assert rig.shoe.up
    return rig


def _worsen(rig: Rig, faults: Faults) -> None:
    for line in (rig.up_line, rig.down_line):
        line.faults = faults


def _lost(rig: Rig) -> list[str]:
    """Why the shoe's sessions ended."""
    return [what.reason for _, what in rig.of(schema.SHOE, notice.LinkLost) if isinstance(what, notice.LinkLost)]


def _resumed(rig: Rig, within: float) -> float:
    began = rig.now
    rig.run(began + within, stop=lambda: rig.host.up and rig.shoe.up and not rig.shoe_journal.held())
    assert not rig.shoe_journal.held(), f"not resumed within {within} ms"
    rig.check(rig.shoe_journal)
    return rig.now - began


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("fault", LINES)
@pytest.mark.parametrize("seed", SEEDS)
def test_resumed_within_2_s_of_a_silence_with_a_fifth_of_the_frames_bad(seed: int, fault: str, sealed: bool) -> None:
    rig = _rig(seed, sealed)
    rig.silence(2000)
    _worsen(rig, LINES[fault])
    for draw in range(1, 6):
        rig.report(card(draw))
        rig.run(rig.now + 50)
    rig.run(rig.up_line.silent_until)
    _resumed(rig, WITHIN_MS)


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("fault", LINES)
@pytest.mark.parametrize("seed", SEEDS)
def test_resumed_within_2_s_of_a_reconnect_with_a_fifth_of_the_frames_bad(seed: int, fault: str, sealed: bool) -> None:
    rig = _rig(seed, sealed)
    _worsen(rig, LINES[fault])
    for draw in range(1, 6):
        rig.report(card(draw))
    rig.replug()
    _resumed(rig, WITHIN_MS)


# ---- what is not said twice


def _hellos(end: link.Link) -> list[schema.Hello]:
    return [message for message in heard(end.take()) if isinstance(message, schema.Hello)]


def test_hellos_that_waited_on_the_line_are_answered_together() -> None:
    """Ten that ask come at once: the first is answered, and one of the others in case that this was lost."""
    host, _ = lone_host()
    answers = []
    for now in range(200, 200 + timing.HELLO_MS + 1):
        if now < 210:
            host.receive(say(hello(), flags=schema.FLAG_ASK), now)
        host.poll(now)
        answers += [now] * len(_hellos(host))
    assert answers == [200, 200 + timing.HELLO_MS]
    assert host.wait(200 + timing.HELLO_MS + 1) > 0, "and there is nothing more to be said"


def test_one_that_asks_a_while_after_an_answer_is_answered_at_once() -> None:
    host, _ = lone_host()
    for now in (200, 200 + timing.HELLO_MS):
        host.receive(say(hello(), flags=schema.FLAG_ASK), now)
        assert host.wait(now) == 0
        host.poll(now)
        assert len(_hellos(host)) == 1


def test_a_hello_acknowledges_nothing_and_needs_no_acknowledgement() -> None:
    host, _ = lone_host()
    host.receive(say(hello(), flags=schema.FLAG_ASK), 200)
    host.poll(200)
    assert not [message for message in heard(host.take()) if isinstance(message, schema.Ack)]
    host.receive(say(card(1), seq=1), 201)
    host.stored(1)
    host.receive(say(hello(), flags=schema.FLAG_ASK), 301)
    host.poll(301)
    kinds = [kind & ~HOST for kind, *_ in frames_in(host.take())]
    assert kinds.index(schema.HELLO) < kinds.index(schema.ACK), "what is stored is acknowledged behind the greeting"


def test_after_a_time_out_two_events_ask_whether_the_line_is_back() -> None:
    shoe = lone_shoe()
    for draw in range(1, 6):
        shoe.report(card(draw))

    def draws(now: int) -> list[int]:
        shoe.poll(now)
        return [message.draw for message in heard(shoe.take()) if isinstance(message, schema.Card)]

    assert draws(10) == [1, 2, 3, 4, 5]
    assert draws(10 + timing.RTO_START_MS) == [1, 2][: numbered.PROBE]
    shoe.receive(say(schema.Ack(0, 0), ack=1, mark=HOST), 220)
    assert draws(220) == [3, 4, 5], "twice as many with the acknowledgement"


def test_a_nak_brings_the_whole_window_after_a_time_out() -> None:
    shoe = lone_shoe()
    for draw in range(1, 6):
        shoe.report(card(draw))
    shoe.poll(10)
    shoe.poll(10 + timing.RTO_START_MS)
    shoe.take()
    shoe.receive(say(schema.Nak(1, schema.NAK_GAP), mark=HOST), 220)
    shoe.poll(220)
    assert [message.draw for message in heard(shoe.take()) if isinstance(message, schema.Card)] == [1, 2, 3, 4, 5]


# ---- a host that begins anew says so in the session that was up


def test_a_sealed_session_is_resumed_after_a_reconnect_without_waiting_for_the_silence() -> None:
    rig = _rig(1, True)
    rig.report(card(1))
    rig.replug()
    assert _resumed(rig, timing.LOST_MS) < 150
    assert _lost(rig) == ["restart"]
    assert rig.of(schema.HOST, notice.Refused) == []


def test_again_and_again() -> None:
    """Each session follows from the one before, with a key of its own."""
    rig = _rig(1, True)
    keys = set()
    for draw in range(1, 20):
        rig.report(card(draw))
        rig.replug()
        assert _resumed(rig, timing.LOST_MS) < 150
        assert rig.shoe.peer
        assert rig.host.peer
        keys.add(rig.shoe.peer.nonce + rig.host.peer.nonce)
    assert len(keys) == 19
    assert len({key[:8] for key in keys}) == len({key[8:] for key in keys}) == 19


def test_a_host_without_the_session_is_met_after_the_silence() -> None:
    rig = _rig(1, True)
    rig.reset_host()
    assert _resumed(rig, 2 * timing.LOST_MS) >= timing.LOST_MS - 250
    assert _lost(rig) == ["silence"]


def test_the_word_that_a_host_begins_anew_is_worth_nothing_later() -> None:
    """Recorded, and played again to the session that came of it, and to a shoe that waits for its host."""
    rig = _rig(1, True)
    said = len(rig.down_line.kept)
    rig.replug()
    rig.run(rig.now + 1)
    word = rig.down_line.kept[said]
    assert frames_in(word)[0][0] == schema.HELLO | HOST
    rig.run(rig.now + 300)
    lost = rig.shoe.count["lost"]
    for _ in range(5):
        rig.down_line.put_in(word, rig.now)
        rig.run(rig.now + 100)
    assert rig.shoe.count["lost"] == lost
    assert rig.shoe.up
    rig.reset_shoe(ram_lost=False)
    assert rig.shoe.receive(word, rig.ticks()) == ()
    assert rig.shoe.peer is None


@pytest.mark.parametrize("of", ["another key", "another session", "the shoe's side"])
def test_nobody_else_can_say_that_the_host_begins_anew(of: str) -> None:
    rig = _rig(1, True)
    assert rig.shoe.peer
    assert rig.host.peer
    key = OTHER if of == "another key" else KEYS[b"s" * 8]
    nonces = (
        (b"another.", rig.host.peer.nonce) if of == "another session" else (rig.shoe.peer.nonce, rig.host.peer.nonce)
    )
    sender = schema.SHOE if of == "the shoe's side" else schema.HOST
    flags = schema.FLAG_AUTH | schema.FLAG_ASK
    body = schema.pack(hello(nonce=b"forged..", answers=bytes(4)))
    for count in range(1, 200):
        tag = seal.Seal(key, b"s" * 8, *nonces).tag(sender, count, schema.HELLO | HOST, flags, count, 0, body)
        rig.down_line.put_in(frame.encode(schema.HELLO | HOST, flags, count, 0, body + tag), rig.now)
    rig.run(rig.now + 500)
    assert rig.shoe.up
    assert rig.shoe.count["lost"] == 0
