"""What went wrong in other people's firmware, a test a case of docs/serial-cases.md, most on the real firmware."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from dealershoe.conform.peer import Peer, now
from dealershoe.emulate.shoe import LIGHT_PIN, EmulatedShoe
from dealershoe.emulate.timeline import Output
from dealershoe.port.port import Port
from hil.hostend import HostEnd
from shoelink import frame, schema

ROOT = Path(__file__).parents[2]
CONTROL = bytes([0x00, 0x03, 0x04, 0x0A, 0x0D, 0x1A, 0x7F, 0x80, 0xFF])  # S43's list: what a console would act on


@pytest.fixture(scope="module")
def firmware() -> Iterator[EmulatedShoe]:
    """The real firmware, for all cases of its port."""
    with EmulatedShoe(pace="fast") as running:
        yield running


@pytest.fixture
def peer(firmware: EmulatedShoe) -> Iterator[Peer]:
    """A host that can do what it likes, in session with the real firmware."""
    port = Port(firmware.port)
    made = Peer(port)
    assert made.connect() is not None
    yield made
    made.connect()  # all that came is stored
    port.close()


def test_s15_modem_probing_does_not_keep_the_firmware_from_its_frames(peer: Peer) -> None:
    peer.raw(b"AT\rATZ\r+++AT+GCAP\r\n")
    assert peer.ping(2_000.0) is not None
    peer.alive = False
    peer.renew()
    peer.raw(b"AT\r")
    assert peer.answered() is not None


def test_s18_every_byte_of_the_firmware_comes_back_to_it(peer: Peer) -> None:
    peer.alive = False
    begun, at = len(peer.heard), now()
    for _ in range(15):
        for heard in peer.listen(100.0):
            peer.raw(frame.encode(heard.kind, heard.flags, heard.seq, 0, heard.body))
    after = peer.heard[begun:]
    greeted = 2 * (now() - at) / 100.0  # HELLO and IDENT every 100 ms
    assert len(after) < greeted + 10, "an echo is answered by nothing: what comes is what a shoe says on its own"
    assert {type(heard.message) for heard in after[-4:]} <= {schema.Hello, schema.Ident}


def test_s38_s39_no_byte_on_the_line_interrupts_the_firmware(firmware: EmulatedShoe, peer: Peer) -> None:
    resets = firmware.resets
    for _ in range(5):
        peer.raw(CONTROL * 10 + b"\x03\x03\x01\x04\r\x03")
        assert peer.ping(2_000.0) is not None
    assert firmware.resets == resets


@pytest.mark.parametrize("stamp", [b"\n\n\n\n", b"\r\n\r\n", b"\n\r\n\r", b"\r\r\r\r"])
def test_s40_s41_s42_line_ends_cross_both_ways_as_they_are(peer: Peer, stamp: bytes) -> None:
    peer.say(schema.Ping(stamp))
    found = peer.wait(5_000.0, lambda h: isinstance(h.message, schema.Pong) and h.message.ping == stamp, 0)
    assert found is not None


def test_s43_what_a_console_would_act_on_crosses_both_ways(peer: Peer) -> None:
    for at in range(len(CONTROL)):
        stamp = (CONTROL * 2)[at : at + 4]
        peer.say(schema.Ping(stamp))
        assert peer.wait(5_000.0, lambda h, s=stamp: isinstance(h.message, schema.Pong) and h.message.ping == s, 0)  # type: ignore[misc]


def test_s79_s80_s82_s83_no_python_of_the_shoe_runs_in_an_interrupt() -> None:
    for path in (ROOT / "firmware").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute | ast.Name):
                name = node.attr if isinstance(node, ast.Attribute) else node.id
                assert name not in ("irq", "Timer", "schedule", "_thread"), f"{path}: {name}"


def test_s100_two_cards_at_once_are_a_double_and_never_one_of_them(firmware: EmulatedShoe) -> None:
    with HostEnd(firmware.port) as host:
        firmware.pull("As", double=True)
        found = host.next(schema.Card)[0]
        host.link.stored(1 << 32)
    assert found.flags & schema.CARD_DOUBLE
    firmware.load(firmware.deck[1:])


def test_s109_the_watchdog_asks_for_what_the_chip_has() -> None:
    board = (ROOT / "firmware/board.py").read_text(encoding="utf-8")
    (ms,) = re.findall(r"WDT\(timeout=(\d+)\)", board)
    assert 2_000 <= int(ms) <= 8_388  # RP2040 datasheet, 4.7: 24 bits of microseconds, counted twice
    feeds = {
        str(path.relative_to(ROOT / "firmware"))
        for path in (ROOT / "firmware").rglob("*.py")
        if ".feed()" in path.read_text(encoding="utf-8")
    }
    assert feeds == {"main.py", "shoe/loop.py", "node/main.py"}, "the loops themselves, and nothing that they call"


def test_s110_the_lamps_go_dark_before_anything_else() -> None:
    with EmulatedShoe(pace="fast") as shoe:
        shoe.wait_for(lambda: any(any(lamp) for lamp in shoe.lights), "the shoe's own light")
        shown = [one.data for one in shoe.shown if one.output is Output.BITS and one.data[0] == LIGHT_PIN]
    assert not any(shown[0][1:]), "the strip is written dark at the start"


def test_a_host_that_is_open_and_does_not_read_holds_no_card_up(firmware: EmulatedShoe) -> None:
    """micropython #9634: what nobody reads fills the port, and a write would block the firmware."""
    ping = schema.pack(schema.Ping(b"\1\2\3\4"))
    with HostEnd(firmware.port) as host:
        host.frozen = True
        for number in range(1_000):  # 24 kB of PONGs; a pty takes 4
            host.write(frame.encode(schema.PING | schema.FROM_HOST, 0, number, 0, ping))
        for _ in range(10):
            firmware.pull(wait=False)
        firmware.settle()  # all have gone past the sensors, and the firmware has looked
        assert not [event for event in host.events if isinstance(event, schema.Card)]
        host.frozen = False
        cards = host.next(schema.Card, 10)
        host.wait_for(lambda: host.link.up, "the session")
    draws = [card.draw for card in cards]
    assert draws == list(range(draws[0], draws[0] + 10))
    times = [schema.value(card.t_us) for card in cards]
    assert times == sorted(set(times)), "taken when each card passed, not when somebody read"
