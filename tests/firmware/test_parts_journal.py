"""The journal in an FRAM that fails, rots, is another part or loses its power, and the hand in play kept there."""

from __future__ import annotations

import random
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import FAULTS, Fram, PowerLossError
from firmware.test_parts_fram import RANDOM, Memory, add, content, cuts_of, journal, kept_module
from shoelink import notice, schema
from shoelink.link import Link


@pytest.fixture
def part() -> Fram:
    return Fram()


# ---- bad memory


@pytest.mark.parametrize("fault", FAULTS)
def test_without_a_memory_that_keeps_the_journal_is_in_ram_and_says_so(fault: str) -> None:
    part = Fram()
    part.fault = fault
    one = journal(part)
    assert one.trouble in (kept_module.ABSENT, kept_module.FAILED, kept_module.DAMAGED)
    assert not one.kept
    for value in range(512):
        assert add(one, value) == value + 1
    one.release(500)
    assert content(one) == {value + 1: value for value in range(500, 512)}
    assert not one.begin_anew()


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "stranger"])
@pytest.mark.parametrize("held", [0, 3])
def test_a_memory_that_fails_in_use_ends_its_journal_and_a_new_one_begins(fault: str, held: int) -> None:
    part = Fram()
    one = journal(part)
    for value in range(7):
        add(one, value)
    one.release(7 - held)
    old, stored = one.id, {}
    part.fault = fault
    for value in range(7, 12):
        assert add(one, value)
    assert one.trouble == kept_module.FAILED
    if held:  # the events that are in the FRAM go first, under their journal's id; nothing else does
        assert not one.begin_anew()
        assert one.id == old
        assert content(one) == {value + 1: value for value in range(7 - held, 7)}
        stored.update(content(one))
        one.release(7)
    assert (one.id, content(one)) == (old, {})  # no number of the new one while the owner has not asked
    assert one.begin_anew()
    assert one.id != old
    assert list(content(one).values()) == list(range(7, 12))
    assert one.oldest == 1
    # the part works again after the next boot: the old journal goes on where it was, for the host to compare
    part.fault = ""
    back = journal(part)
    assert (back.id, back.next) == (old, 8)


def test_a_record_that_rotted_is_given_up_by_number() -> None:
    part = Fram()
    one = journal(part)
    for value in range(6):
        add(one, value)
    one.release(2)
    part.memory[kept_module.RING + 38 * 4 + 20] ^= 1  # event 4
    after = journal(part)
    assert (after.id, after.trouble) == (one.id, kept_module.DAMAGED)
    assert content(after) == {5: 4, 6: 5}  # the host is told of a gap: 3 and 4


def test_heads_that_rotted_begin_a_new_journal() -> None:
    part = Fram()
    one = journal(part)
    add(one, 1)
    part.memory[0x08] ^= 1
    part.memory[0x28] ^= 1
    after = journal(part)
    assert after.trouble == kept_module.DAMAGED
    assert after.id != one.id
    assert content(after) == {}  # what is left in the ring is of another journal
    assert content(journal(part)) == {}


def test_a_part_that_was_left_in_a_byte_is_asked_again(part: Fram) -> None:
    one = journal(part)
    part.fault = "stuck"
    memory = one._memory

    def recover() -> None:
        part.fault = ""

    memory.recover = recover
    assert add(one, 5) == 1
    assert one.kept
    assert content(journal(part)) == {1: 5}


def test_a_part_of_another_make_is_not_written_to(part: Fram) -> None:
    """A smaller one wraps: its ring would run over its heads, and read back well each time."""
    one = journal(part)
    add(one, 5)
    before = bytes(part.memory)
    part.fault = "stranger"
    other = journal(part)
    assert (other.trouble, other.kept, other.id != one.id) == (kept_module.ABSENT, False, True)
    assert add(other, 6) == 1
    other.keep_hand(3, bytes(16))
    assert bytes(part.memory) == before
    part.fault = ""
    assert content(journal(part)) == {1: 5}


def test_a_part_that_does_not_say_who_it_is_is_used(part: Fram) -> None:
    """FRAM of other makes acknowledges no device ID; the self-test says so, and the journal is kept."""
    memory = Memory(part)

    def silent() -> bytes:
        raise OSError(5)

    memory.device_id = silent  # type: ignore[method-assign]
    one = kept_module.KeptJournal(memory, RANDOM)
    assert (one.trouble, one.kept) == (kept_module.GOOD, True)


def test_a_part_whose_name_is_read_badly_once_is_ours(part: Fram) -> None:
    one = journal(part)
    add(one, 5)
    memory = Memory(part)
    said = [b"\x00\xa5\x30", memory.DEVICE_ID]
    memory.device_id = lambda: said.pop(0)  # type: ignore[method-assign]
    after = kept_module.KeptJournal(memory, RANDOM)
    assert (after.id, after.trouble, content(after)) == (one.id, kept_module.GOOD, {1: 5})


@pytest.mark.parametrize("reads", [1, 2])
def test_heads_that_are_read_badly_once_are_read_again(part: Fram, reads: int) -> None:
    """What is taken for damage is written over: a spike on the bus must not cost a journal."""
    one = journal(part)
    for value in range(4):
        add(one, value)
    memory = Memory(part)
    clean = memory.read_into
    left = reads

    def spiked(address: int, buffer: Any) -> None:
        nonlocal left
        clean(address, buffer)
        if address in kept_module.HEADS and left:
            left -= 1
            buffer[7] ^= 0x20

    memory.read_into = spiked  # type: ignore[method-assign]
    after = kept_module.KeptJournal(memory, RANDOM)
    assert (after.id, after.trouble) == (one.id, kept_module.GOOD)
    assert content(after) == content(one)


@pytest.mark.parametrize("at", range(0, 20 * 38, 5))
@pytest.mark.parametrize("bytes_lost", [0, 1, 38])
def test_records_that_are_read_badly_once_are_read_again(part: Fram, at: int, bytes_lost: int) -> None:
    """Else events were given up, or the numbers of the last ones were given away a second time. At byte `at` of what is
    read at the start a bit is wrong, or so many bytes are left out of the transfer."""
    one = journal(part, 18)
    for value in range(35):  # round the ring once and a half
        add(one, value)
        one.release(max(0, value - 9))
    memory = Memory(part)
    clean = memory.read_into
    seen = 0

    def spiked(address: int, buffer: Any) -> None:
        nonlocal seen
        clean(address, buffer)
        if address < kept_module.RING:
            return
        if seen <= at < seen + len(buffer):
            place = at - seen
            if bytes_lost:
                buffer[place:] = (bytes(buffer[place + bytes_lost :]) + b"\xff" * len(buffer))[: len(buffer) - place]
            else:
                buffer[place] ^= 0x04
        seen += len(buffer)

    memory.read_into = spiked  # type: ignore[method-assign]
    after = kept_module.KeptJournal(memory, RANDOM, 18)
    assert seen > at
    assert (after.id, after.next, after.trouble) == (one.id, one.next, kept_module.GOOD)
    assert content(after) == content(one)


@pytest.mark.parametrize("transfers", [1, 3, 7, 20])
def test_a_part_that_goes_while_it_is_read_at_the_start_loses_nothing(part: Fram, transfers: int) -> None:
    one = journal(part)
    for value in range(9):
        add(one, value)
    memory = Memory(part)
    clean = memory.read_into
    left = transfers

    def dies(address: int, buffer: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            part.fault = "absent"
        clean(address, buffer)

    memory.read_into = dies  # type: ignore[method-assign]
    without = kept_module.KeptJournal(memory, RANDOM)
    assert (without.trouble, without.kept, without.oldest, without.next) == (kept_module.ABSENT, False, 1, 1)
    assert without.id != one.id
    part.fault = ""
    assert content(journal(part)) == content(one)


@pytest.mark.parametrize("head", [0, 1])
def test_one_head_that_rots_after_the_first_start_costs_nothing(part: Fram, head: int) -> None:
    one = journal(part)
    add(one, 1)
    for at in range(20):
        part.memory[kept_module.HEADS[head] + at] ^= 0xFF
    after = journal(part)
    assert (after.id, after.trouble, content(after)) == (one.id, kept_module.GOOD, {1: 1})


@pytest.mark.parametrize("torn", [None, 0x0F, 0xAA], ids=["whole bytes", "torn in half", "torn in stripes"])
def test_a_cut_at_any_byte_of_a_later_start_loses_nothing(torn: int | None) -> None:
    part = Fram()
    one = journal(part)
    for value in range(7):
        add(one, value)
    one.release(3)
    for cut in range(20):  # a start writes a head
        again = Fram(bytearray(part.memory))
        again.cut, again.torn = cut, torn
        with pytest.raises(PowerLossError):
            journal(again)
        after = journal(again)
        assert (after.id, after.trouble) == (one.id, kept_module.GOOD), cut
        assert {number: value for number, value in content(after).items() if number > 3} == content(one), cut


@pytest.mark.parametrize("at", range(38))
def test_a_bit_that_rots_anywhere_in_a_held_record_is_damage_and_no_other_event(at: int) -> None:
    part = Fram()
    one = journal(part)
    for value in range(6):
        add(one, value)
    one.release(2)
    part.memory[kept_module.RING + 38 * 4 + at] ^= 0x40  # event 4
    after = journal(part)
    assert (after.id, after.trouble) == (one.id, kept_module.DAMAGED)
    assert content(after) == {5: 4, 6: 5}


def test_a_full_journal_whose_part_dies_gives_the_host_all_of_it_and_refuses_what_has_no_room(part: Fram) -> None:
    one = journal(part)
    for value in range(512):
        add(one, value)
    part.fault = "stuck"
    assert add(one, 1000) is None
    one.release(500)
    assert (one.trouble, one.kept, one.held()) == (kept_module.FAILED, False, 12)
    for value in range(500):
        assert add(one, 2000 + value)
    assert add(one, 3000) is None
    assert content(one) == {value + 1: value for value in range(500, 512)}
    one.release(512)
    assert one.begin_anew()
    assert content(one) == {value + 1: 2000 + value for value in range(500)}


class Session:
    """A shoe with this memory and a host on a line, in virtual time. `got`: the values of the events, as they came."""

    def __init__(self, part: Fram, capacity: int = kept_module.CAPACITY) -> None:
        self.journal = journal(part, capacity)
        ident = schema.Ident(b"TESTSHOE", bytes(12), bytes(16))
        self.shoe = Link(schema.SHOE, ident, RANDOM, self.journal, boot=RANDOM(4))
        self.host = Link(schema.HOST, schema.Ident(b"TESTHOST", bytes(12), bytes(16)), RANDOM)
        self.shoe.stamp = self.host.stamp = bytes(4)
        self.now = 0
        self.got: list[int] = []
        self._stored: dict[bytes, int] = {}
        self._of = b""
        self.shoe.start(0)
        self.host.start(0)

    def turn(self, tidy: bool = True, lost: bool = False) -> None:
        """10 ms. `tidy`: the loop has come to it; `lost`: what both say is."""
        self.now += 10
        said = self.shoe.take()
        for told in [*self.host.receive(b"" if lost else said, self.now), *self.host.poll(self.now)]:
            if isinstance(told, notice.Greeting):
                self._of = bytes(told.hello.journal)
                self.host.resume(max(self._stored.get(self._of, 0), told.hello.oldest - 1), self.now)
            elif isinstance(told, notice.Recorded):
                if told.kind == schema.KEY:
                    self.got.append(int.from_bytes(told.body, "little"))
                self._stored[self._of] = told.number
                self.host.stored(told.number)
        self.host.poll(self.now)
        said = self.host.take()
        self.shoe.receive(b"" if lost else said, self.now)
        self.shoe.poll(self.now)
        if tidy and self.journal.begin_anew():
            self.shoe.start(self.now)

    def turns(self, count: int, tidy: bool = True) -> None:
        for _ in range(count):
            self.turn(tidy)


@pytest.mark.parametrize("stored", [0, 1, 5])
def test_what_the_host_says_of_the_old_journal_is_not_taken_for_the_new_one(part: Fram, stored: int) -> None:
    """The memory dies in a session. What the host has not stored comes again, and what it has does not."""
    session = Session(part)
    session.turns(40)
    for value in range(stored):
        add(session.journal, value)
    session.turns(40)
    assert session.got == list(range(stored))
    part.fault = "stuck"
    for value in range(100, 103):
        add(session.journal, value)
        session.turns(300, tidy=False)  # PING and its answer, and what else is said while a card is in the way
    session.turns(100)
    assert session.got == [*range(stored), 100, 101, 102]


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_memory_does_in_a_session_each_event_comes_once_and_in_its_order(part: Fram, seed: int) -> None:
    rng = random.Random(seed)
    session = Session(part, rng.choice((6, 20, 512)))
    fails, loss = rng.choice((0.01, 0.1, 0.5)), rng.choice((0.0, 0.0, 0.05))
    appended = []
    for turn in range(1_500):
        session.turn(tidy=rng.random() < 0.5, lost=rng.random() < loss)
        if turn < 1_000 and rng.random() < 0.2:
            if rng.random() < fails:
                part.fault = rng.choice((*FAULTS, "", ""))
            if add(session.journal, turn):
                appended.append(turn)
        if rng.random() < 0.02:
            session.journal.keep_hand(turn + 1, SECRETS[0])
    assert session.got == appended
    assert session.journal.trouble == kept_module.FAILED


# ---- the hand in play


SECRETS = [bytes(range(16)), bytes(range(100, 116))]


@pytest.mark.parametrize("torn", [None, 0x0F, 0xAA], ids=["whole bytes", "torn in half", "torn in stripes"])
def test_a_cut_at_any_byte_of_the_hands_secret_leaves_none_or_the_right_one(torn: int | None) -> None:
    part = Fram()
    journal(part).keep_hand(0x1234, SECRETS[0])
    assert journal(part).secret_of(0x1234) == SECRETS[0]
    found = cuts_of(part, lambda j: j.keep_hand(0x1235, SECRETS[1]), 6, torn)
    assert len(found) == 23  # number, secret, check
    for _, after in found:
        assert after.secret_of(0x1234) in (b"", SECRETS[0])
        assert after.secret_of(0x1235) in (b"", SECRETS[1])
    assert found[-1][1].secret_of(0x1235) == SECRETS[1]


def test_a_secret_is_of_its_own_hand_only_and_one_that_rotted_of_none(part: Fram) -> None:
    one = journal(part)
    one.keep_hand(0x1234, SECRETS[0])
    assert [one.secret_of(hand) for hand in (0x34, 0x1235, 0)] == [b""] * 3
    for at in range(22):
        part.memory[kept_module.HAND + at] ^= 0x01
        assert one.secret_of(0x1234) == b"", at
        part.memory[kept_module.HAND + at] ^= 0x01
    one.keep_hand(0x1236, b"")  # an open table has none
    assert one.secret_of(0x1234) == SECRETS[0]
    part.fault = "absent"
    assert one.secret_of(0x1234) == b""


@pytest.mark.parametrize("fault", ["absent", "stuck", "forgets", "protected", "flips"])
def test_a_part_that_dies_as_a_hand_begins_is_named(part: Fram, fault: str) -> None:
    one = journal(part)
    part.fault = fault
    one.keep_hand(7, SECRETS[0])
    assert (one.trouble, one.kept) == (kept_module.FAILED, False)
    assert add(one, 1)


# ---- the seat nodes


@pytest.mark.parametrize("torn", [None, 0x0F, 0xAA], ids=["whole bytes", "torn in half", "torn in stripes"])
def test_a_cut_at_any_byte_of_the_nodes_leaves_none_the_old_or_the_new(torn: int | None) -> None:
    part = Fram()
    one = journal(part)
    assert one.nodes() == 0
    add(one, 5)
    one.keep_hand(7, SECRETS[0])
    one.keep_nodes(0x15A1)
    assert journal(part).nodes() == 0x15A1
    found = cuts_of(part, lambda j: j.keep_nodes(0x2A5E), 6, torn)
    assert len(found) == 7  # two bytes and their check
    assert {after.nodes() for _, after in found} <= {0, 0x15A1, 0x2A5E}
    assert found[-1][1].nodes() == 0x2A5E
    for _, after in found:
        assert (content(after), after.secret_of(7)) == ({1: 5}, SECRETS[0])


@pytest.mark.parametrize("fault", ["absent", "stuck", "forgets", "protected", "flips", "stranger"])
def test_without_a_memory_that_keeps_no_node_is_known_of(part: Fram, fault: str) -> None:
    journal(part).keep_nodes(0x0011)
    part.fault = fault
    before = bytes(part.memory)
    one = journal(part)
    one.keep_nodes(0x0013)
    assert (one.nodes(), bytes(part.memory)[kept_module.NODES :][:6]) == (0, before[kept_module.NODES :][:6])
    part.fault = ""
    one = journal(part)
    assert one.nodes() == 0x0011
    if fault != "stranger":
        part.fault = fault
        one.keep_nodes(0x0013)
        assert (one.trouble, one.kept, one.nodes()) == (kept_module.FAILED, False, 0)


def said(into: Any, message: Any) -> None:
    kind = schema.KIND_OF[type(message)]
    at = into.open(kind, schema.MINIMUM[kind])
    schema.pack_into(into.buffer, at, message)
    into.close()


def card(hand: int, draw: int, flags: int = 0) -> Any:
    return schema.Card(hand, draw, bytes(4), bytes(4), 0, 0, 0, 0, 0, flags, 1000, 0)


def test_the_hand_and_its_draws_go_on_from_the_last_events(part: Fram) -> None:
    """What a start finds after each event, whether the host had stored it or not."""
    one = journal(part)
    assert journal(part).last_hand() == (0, 0)
    steps = [
        (schema.Commit(7, bytes(16)), (7, 0)),
        (card(7, 1), (7, 1)),
        (card(7, 2, schema.CARD_DOUBLE), (7, 3)),  # it took two numbers
        (schema.CardBack(7, 3, bytes(4), 635), (7, 2)),
        (schema.CardBack(7, 5, bytes(4), 100), (7, 2)),  # of one that had not left
        (schema.Fault(bytes(4), schema.FAULT_LID, 0), (7, 2)),  # of no hand
        (card(7, 3), (7, 3)),
        (schema.Key(7, bytes(4), schema.KEY_DONE, 0), (7, 3)),
        (schema.Commit(7, bytes(16)), (7, 3)),  # its secret was lost, and it goes on under another one
        (schema.Key(8, bytes(4), schema.KEY_NEW_HAND, 0), (8, 0)),
        (card(8, 1), (8, 1)),
        (schema.CardBack(8, 1, bytes(4), 635), (8, 0)),
    ]
    for message, expected in steps:
        said(one, message)
        assert journal(part).last_hand() == expected, message
    one.release(one.next - 1)
    assert journal(part).last_hand() == (8, 0)
