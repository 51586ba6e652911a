"""FRAM and the journal in it: the part as its data sheet says, and no event lost or doubled whenever the power goes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from dealershoe.emulate.parts.fram import SIZE, Fram, PowerLossError
from dealershoe.emulate.parts.i2c import Bus
from firmware.parts_machine import Wires, stand_in
from hypothesis import given, settings
from hypothesis import strategies as st
from shoelink import schema

kept_module: Any = import_module("shoe.kept")
SLOTS = kept_module.CAPACITY + 2


@pytest.fixture
def part() -> Fram:
    return Fram()


@pytest.fixture
def driver(part: Fram, monkeypatch: pytest.MonkeyPatch) -> Any:
    return stand_in(monkeypatch, "drivers.fram", Bus([part])).Fram(0, 9, 8)


class Memory:
    """The driver's methods on a model, without a bus to build for each of thousands of boots."""

    DEVICE_ID = bytes((0b00000000, 0b10100101, 0b00010000))  # DS501-00017: manufacturer 00A, density 5, product 510

    def __init__(self, part: Fram) -> None:
        self.bus = Bus([part])
        self.recovered = 0

    def recover(self) -> None:
        self.recovered += 1

    def device_id(self) -> bytes:
        found = bytearray(3)
        self.bus.writeto(0x7C, b"\xa0", False)
        self.bus.readfrom_into(0x7C, found)
        return bytes(found)

    def read_into(self, address: int, buffer: Any) -> None:
        self.bus.writeto(0x50, bytes((address >> 8, address & 0xFF)), False)
        self.bus.readfrom_into(0x50, buffer)

    def write(self, message: Any) -> None:
        self.bus.writeto(0x50, message)


def entropy() -> Callable[[int], bytes]:
    numbers = itertools.count(1)
    return lambda size: next(numbers).to_bytes(size, "big")


RANDOM = entropy()


def journal(part: Fram, capacity: int = kept_module.CAPACITY) -> Any:
    """What the shoe has after a boot with this part."""
    return kept_module.KeptJournal(Memory(part), RANDOM, capacity)


def add(into: Any, value: int) -> Any:
    at = into.open(schema.KEY, 8)
    if at < 0:
        return None
    into.buffer[at : at + 8] = value.to_bytes(8, "little")
    return into.close()


def content(of: Any) -> dict[int, int]:
    """Number → value of every event that is held."""
    found = {}
    for number in range(of.oldest, of.next):
        at = of.load(number)
        assert (of.buffer[at - 2], of.length(number)) == (schema.KEY, 8)
        found[number] = int.from_bytes(of.buffer[at : at + 8], "little")
    return found


# ---- the part


def test_bytes_are_kept_where_they_were_put(driver: Any, part: Fram) -> None:
    driver.write(b"\x12\x34" + bytes(range(40)))
    assert part.memory[0x1234 : 0x1234 + 40] == bytes(range(40))
    back = bytearray(41)
    driver.read_into(0x1234, back)
    assert back == bytes(range(40)) + b"\0"


def test_sequential_access_rolls_over_from_7fff_to_0000(driver: Any, part: Fram) -> None:
    """DS501-00017, page write and sequential read."""
    driver.write(b"\x7f\xfe" + b"abcd")
    assert part.memory[SIZE - 2 :] + part.memory[:2] == b"abcd"
    back = bytearray(4)
    driver.read_into(0x7FFE, back)
    assert back == b"abcd"


def test_a_read_without_an_address_goes_on_from_the_last(part: Fram) -> None:
    """DS501-00017, current address read."""
    bus = Bus([part])
    part.memory[8:12] = b"wxyz"
    bus.writeto(0x50, b"\0\x08", False)
    first, second = bytearray(2), bytearray(2)
    bus.readfrom_into(0x50, first)
    bus.readfrom_into(0x50, second)
    assert first + second == b"wxyz"


def test_the_device_id_is_that_of_the_data_sheet(driver: Any, part: Fram) -> None:
    """DS501-00017, device ID: manufacturer 00A, density 5, product 510; only in one transfer with its request."""
    assert driver.device_id() == bytes((0b00000000, 0b10100101, 0b00010000))
    part.fault = "stranger"
    assert driver.device_id() != bytes((0b00000000, 0b10100101, 0b00010000))
    bus = Bus([Fram()])
    bus.writeto(0x7C, b"\xa0", True)
    with pytest.raises(OSError, match="5"):
        bus.readfrom_into(0x7C, bytearray(3))


def test_nobody_else_answers(part: Fram) -> None:
    bus = Bus([part])
    answering = [address for address in range(8, 0x78) if bus.connect(address, False)]
    assert answering == [0x50]
    part.fault = "absent"
    with pytest.raises(OSError, match="5"):
        bus.writeto(0x50, b"\0\0\1")


def test_a_part_that_holds_the_bus_is_clocked_free(part: Fram, monkeypatch: pytest.MonkeyPatch) -> None:
    """NXP UM10204, 3.1.16: nine clocks on SCL. The processor was reset while the part sent a zero."""
    wires = Wires()
    wires.levels[8] = 0
    clocks = []

    def drive(pin: int, level: int) -> None:
        if pin == 9 and level == 0:
            clocks.append(level)
        if len(clocks) == 9:
            wires.levels[8] = 1
            part.fault = ""

    wires.on_drive = drive
    part.fault = "stuck"
    driver = stand_in(monkeypatch, "drivers.fram", Bus([part]), wires).Fram(0, 9, 8)
    assert len(clocks) == 9
    driver.write(b"\0\0\x55")
    assert part.memory[0] == 0x55


@pytest.mark.parametrize("held", [1, 4, 8])
def test_a_part_that_lets_go_earlier_gets_no_more_clocks(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It held SDA for the acknowledgement of a byte of a write: eight more clocks would be a byte of ones, kept in the
    cell behind, which may be another record's."""
    wires = Wires()
    wires.levels[8] = 0
    clocks = []

    def drive(pin: int, level: int) -> None:
        if pin == 9 and level == 0:
            clocks.append(level)
        if len(clocks) == held:
            wires.levels[8] = 1

    wires.on_drive = drive
    stand_in(monkeypatch, "drivers.fram", Bus([Fram()]), wires).Fram(0, 9, 8)
    assert len(clocks) == held


def test_a_part_that_never_lets_go_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    wires = Wires()
    wires.levels[8] = 0
    stand_in(monkeypatch, "drivers.fram", Bus([Fram()]), wires).Fram(0, 9, 8)
    assert [level for pin, level in wires.driven if pin == 9] == [1] + [0, 1] * 9


# ---- the journal over boots


def test_numbers_and_the_journals_id_outlive_the_power(part: Fram) -> None:
    before = journal(part)
    assert (before.trouble, before.kept, before.oldest, before.next) == (kept_module.GOOD, True, 1, 1)
    for value in range(5):
        assert add(before, value) == value + 1
    before.release(2)
    after = journal(part)
    assert (after.id, after.trouble) == (before.id, kept_module.GOOD)
    assert content(after) == {3: 2, 4: 3, 5: 4}
    assert add(after, 99) == 6
    assert content(journal(part)) == {3: 2, 4: 3, 5: 4, 6: 99}


def test_it_holds_512_events_and_goes_round(part: Fram) -> None:
    one = journal(part)
    for value in range(512):
        assert add(one, value)
    assert (add(one, 0), one.room()) == (None, 0)
    assert content(journal(part)) == {value + 1: value for value in range(512)}
    for lap in range(3):
        one.release(one.next - 4)
        while add(one, one.next - 1):
            pass
        assert content(journal(part)) == content(one), lap
        assert one.held() == 512


def test_the_reserve_says_that_it_is_full(part: Fram) -> None:
    one = journal(part, 4)
    while add(one, 0):
        pass
    assert one.open(schema.FAULT, 7) == -1
    assert one.open(schema.FAULT, 7, True) >= 0


def cuts_of(part: Fram, operation: Callable[[Any], object], capacity: int, torn: int | None) -> list[tuple[int, Any]]:
    """The journal found after a cut at each byte that `operation` writes, and after the whole of it."""
    memory = bytes(part.memory)
    whole = Fram(bytearray(memory))
    one = journal(whole, capacity)
    start = whole.writes
    operation(one)
    written = whole.writes - start
    found = []
    for cut in range(written + 1):
        again = Fram(bytearray(memory))
        one = journal(again, capacity)
        again.cut, again.torn = cut, torn
        try:
            operation(one)
        except PowerLossError:
            assert cut < written
        else:
            assert cut == written
        again.cut = -1
        found.append((cut, journal(again, capacity)))
    return found


@pytest.mark.parametrize("torn", [None, 0x0F, 0xAA], ids=["whole bytes", "torn in half", "torn in stripes"])
@pytest.mark.parametrize("lap", [0, 1, 2])
def test_a_cut_at_any_byte_of_an_append_leaves_the_event_whole_or_not_at_all(lap: int, torn: int | None) -> None:
    part = Fram()
    one = journal(part, 6)
    for value in range(3 + 5 * lap):  # on later laps over the records of released events
        add(one, value)
        one.release(one.next - 3)
    before = content(one)
    found = cuts_of(part, lambda j: add(j, 1234), 6, torn)
    assert len(found) == 39  # a record is 38 bytes
    for cut, after in found:
        assert (after.id, after.trouble) == (one.id, kept_module.GOOD), cut
        assert content(after) in (before, before | {one.next: 1234}), cut
        number = add(after, 77)  # and the numbers go on
        assert number == (one.next if content(after).get(one.next) == 77 else one.next + 1), cut
    assert content(found[-1][1]) == before | {one.next: 1234, one.next + 1: 77}


@pytest.mark.parametrize("torn", [None, 0x0F, 0xAA], ids=["whole bytes", "torn in half", "torn in stripes"])
def test_a_cut_at_any_byte_of_a_release_loses_nothing_that_is_held(torn: int | None) -> None:
    part = Fram()
    one = journal(part, 6)
    for value in range(5):
        add(one, value)
    one.release(2)
    before = content(one)
    found = cuts_of(part, lambda j: j.release(4), 6, torn)
    assert len(found) == 21  # a head is 20 bytes
    for cut, after in found:
        assert after.trouble == kept_module.GOOD
        assert content(after) in (before, {5: 4}), cut  # released, or held on: sent again and known to the host
        assert after.next == 6
    assert content(found[-1][1]) == {5: 4}


def test_a_cut_at_any_byte_of_the_first_boot_leaves_a_memory_that_begins() -> None:
    whole = Fram()
    journal(whole)
    for cut in range(whole.writes):
        part = Fram()
        part.cut = cut
        with pytest.raises(PowerLossError):
            journal(part)
        after = journal(part)
        assert after.kept
        assert add(after, 5) == 1
        assert content(journal(part)) == {1: 5}


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_host_gets_every_event_once_whenever_the_power_goes(data: st.DataObject) -> None:
    """A model host stores by (journal, number); the shoe dies at random bytes. What was appended comes exactly once."""
    part = Fram()
    stored: dict[tuple[bytes, int], int] = {}
    appended: list[int] = []
    last: dict[bytes, int] = {}
    value = 0
    for _ in range(data.draw(st.integers(1, 12))):
        one = journal(part, 8)
        assert one.kept
        told = last.get(one.id, 0)
        assert told < one.next, "the host has a number that the shoe never gave"
        assert one.oldest <= told + 1, "an event is gone that the host never had"
        part.cut = data.draw(st.integers(0, 400))
        part.torn = data.draw(st.sampled_from((None, 0x0F, 0xF0, 0x55)))
        try:
            one.release(told)
            for number, held in content(one).items():  # what the host has not stored comes again
                if number > told:
                    assert (one.id, number) not in stored
                    stored[one.id, number] = held
                    last[one.id] = number
            for _ in range(data.draw(st.integers(0, 8))):
                value += 1
                if add(one, value) is not None:
                    appended.append(value)
                if data.draw(st.booleans()):
                    number = last.get(one.id, 0) + 1
                    if number < one.next:
                        stored[one.id, number] = content(one)[number]
                        last[one.id] = number
                        one.release(number)
        except PowerLossError:
            pass
        part.cut = -1
    one = journal(part, 8)
    for number, held in content(one).items():
        stored.setdefault((one.id, number), held)
    values = list(stored.values())
    assert sorted(set(values)) == sorted(values), "doubled"
    assert set(appended) <= set(values), "lost"
