"""The firmware on a Raspberry Pi Pico, emulated instruction by instruction: stock MicroPython, our .mpy files, pins.

Wants MicroPython for the Pico, which is not part of this project: download RPI_PICO (a .uf2, v1.26) from
micropython.org and name it in HIL_PICO_UF2. Without it only the tests that need no MicroPython run. All times are
emulated and repeat exactly.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from firmware.physics import LENGTH, Card, Scene, print_card, ride
from hil.emulated_pico import FLASH, EmulatedPico, compiled, file_system
from hil.rp2040_patches import applicable
from littlefs import LittleFS, UserContext
from shoelink import schema
from shoelink.link import Link
from shoelink.notice import Greeting, Recorded

ROOT = Path(__file__).resolve().parents[2]
UF2 = os.environ.get("HIL_PICO_UF2", "")
needs_uf2 = pytest.mark.skipif(
    not UF2, reason="no MicroPython for the Pico: download RPI_PICO .uf2 from micropython.org and set HIL_PICO_UF2"
)
SHOELINK = ROOT / "protocol" / "shoelink"


def test_the_corrections_of_the_emulator_still_fit() -> None:
    assert applicable() == []


def test_a_file_system_image_holds_what_was_put_in(tmp_path: Path) -> None:
    (tmp_path / "shoe").mkdir()
    (tmp_path / "main.py").write_text("print(1)\n")
    (tmp_path / "shoe" / "big.mpy").write_bytes(bytes(range(256)) * 40)
    context = UserContext(FLASH.fs_blocksize * FLASH.fs_blockcount)
    context.buffer = bytearray(file_system(tmp_path))
    disk = LittleFS(context=context, block_size=FLASH.fs_blocksize, block_count=FLASH.fs_blockcount, mount=True)
    with disk.open("/shoe/big.mpy", "rb") as file:
        assert file.read() == bytes(range(256)) * 40
    assert sorted(disk.listdir("/")) == ["main.py", "shoe"]


class Table:
    """A Pico with the shoe's firmware and a host on its UART 0, in emulated time."""

    def __init__(self, pico: EmulatedPico):
        self.pico = pico
        self.link = Link(schema.HOST, schema.Ident(b"TESTHOST", b"test".ljust(12, b"\0"), bytes(16)), os.urandom)
        self.events: list[Any] = []
        self.hello: Any = None
        self._read = 0
        self.link.start(self._now())

    def _now(self) -> int:
        return int(self.pico.ns / 1e6) & 0x3FFFFFFF

    def _turn(self) -> None:
        data = bytes(self.pico.sent[self._read :])
        self._read += len(data)
        for told in [*self.link.receive(data, self._now()), *self.link.poll(self._now())]:
            if isinstance(told, Greeting):
                self.hello = told.hello
                self.link.resume(0, self._now())
            elif isinstance(told, Recorded):
                self.events.append(told.message)
                self.link.stored(told.number)
        self.link.poll(self._now())
        self.pico.write(bytes(self.link.take()))

    def up(self) -> bool:
        self._turn()
        return bool(self.link.up)

    def pass_by(self, cards: list[tuple[Card, float]], speed: float, count: int = 1) -> list[Any]:
        """Pull cards past the sensors at so many mm/s and wait for `count` CARD events."""
        before = len(self.events)
        self.pico.play(Scene(cards).samples(ride([(cards[-1][1] + 110, speed, speed)])))

        def told() -> bool:
            self._turn()
            return len(self.events) >= before + count

        assert self.pico.run(told, emulated_s=1), bytes(self.pico.console)
        return self.events[before:]


def rest_of_the_parts(pico: EmulatedPico) -> None:
    """What the ADC inputs read at rest, in 12 bits: light through no card, a lit room, no key."""
    pico.chip.adc.channel_values[0:3] = [3750, 187, 4095]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    root = compiled([ROOT / "firmware"], tmp_path_factory.mktemp("pico"))
    compiled([SHOELINK], root / "shoelink")
    pico = EmulatedPico(Path(UF2), file_system(root))
    rest_of_the_parts(pico)
    table = Table(pico)
    assert pico.run(table.up, emulated_s=3, wall_s=300), bytes(pico.console)
    yield table
    assert b"Traceback" not in pico.console, pico.console.decode()


@needs_uf2
def test_it_boots_from_its_file_system_and_greets(table: Table) -> None:
    print(f"the link is up {table.pico.ns / 1e6:.0f} ms after power-on")
    assert (table.hello.major, table.hello.schema) == (schema.MAJOR, schema.SCHEMA)
    assert table.hello.reset == schema.RESET_POWER


@needs_uf2
def test_a_moving_card_is_sampled_and_told(table: Table) -> None:
    (card,) = table.pass_by([(print_card(51, 2), 0)], 1000)
    assert (card.token, card.deck, card.way_up, card.flags) == (bytes((51, 0, 0, 0)), 2, schema.WAY_DOWN, 0)
    assert card.speed == pytest.approx(1000, rel=0.02)


@needs_uf2
def test_at_the_highest_speed_a_boxed_card_and_two_close_behind_each_other(table: Table) -> None:
    (boxed,) = table.pass_by([(print_card(12, 1, boxed=True), 0)], 3000)
    assert (boxed.token[0], boxed.deck, boxed.way_up, boxed.flags) == (12, 1, schema.WAY_UP, 0)
    pair = table.pass_by([(print_card(1), 0), (print_card(2), LENGTH + 5)], 3000, 2)
    assert [(card.token[0], card.flags) for card in pair] == [(1, 0), (2, 0)]


@needs_uf2
def test_a_slow_card_and_one_card_in_two_cannot_be_confused(table: Table) -> None:
    (slow,) = table.pass_by([(print_card(30), 0)], 300)
    assert (slow.token[0], slow.speed) == (30, pytest.approx(300, rel=0.02))
    (double,) = table.pass_by([(print_card(30), 0), (Card(), 30)], 1000)
    assert (double.token[0], double.flags) == (30, schema.CARD_DOUBLE)


@needs_uf2
def test_the_golden_vectors_hold_on_the_pico(tmp_path: Path) -> None:
    compiled([SHOELINK], tmp_path / "shoelink")
    for source in (ROOT / "tests" / "protocol" / "vector_runner.py", ROOT / "protocol" / "vectors.json"):
        shutil.copy(source, tmp_path)
    (tmp_path / "main.py").write_text(
        "import vector_runner\nfrom shoelink import frame\n"
        'print(vector_runner.run("vectors.json", frame.Decoder), "vectors hold")\n'
    )
    pico = EmulatedPico(Path(UF2), file_system(tmp_path))
    pico.run(lambda: b"hold" in pico.console or b"Error" in pico.console, emulated_s=20, wall_s=300)
    print(f"{pico.ns / 1e6:.0f} ms after power-on: {pico.console.decode()}")
    assert b"vectors hold" in pico.console, pico.console.decode()
