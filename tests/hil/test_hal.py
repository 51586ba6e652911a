"""The stand-in hardware by itself, under a throw-away firmware: what it refuses, and how an end is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import serial
from dealershoe.emulate import process
from dealershoe.emulate.process import ShoeStoppedError
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.timeline import Output, Record
from dealershoe.errors import UserError

HAL = Path(process.__file__).parent / "hal"

SAMPLER = """
import rp2, uctypes
from machine import Pin
@rp2.asm_pio(in_shiftdir=rp2.PIO.SHIFT_LEFT, autopush=True, push_thresh=8)
def sample():
    wrap_target()
    in_(pins, 8) [3]
    wrap()
memory = bytearray(8192)
skip = -uctypes.addressof(memory) % 4096
machine = rp2.StateMachine(0, sample, freq=HZ, in_base=Pin(10))
dma = rp2.DMA()
ctrl = dma.pack_ctrl(size=0, inc_read=False, inc_write=True, ring_size=12, ring_sel=True)
start = uctypes.addressof(memory) + skip
dma.config(read=machine, write=start + OFF, count=1 << 28, ctrl=ctrl, trigger=True)
machine.active(1)
"""
ECHO = """
import time
from machine import UART
host = UART(0, 115200)
while True:
    data = host.read()
    if data == b"reset":
        import machine
        machine.reset()
    if data == b"divide":
        1 // 0
    if data:
        host.write(data)
    time.sleep_ms(1)
"""

Run = Callable[[str], EmulatedShoe]


@pytest.fixture
def run(tmp_path: Path, interpreter: str) -> Iterator[Run]:
    """Starts a shoe with this text as its firmware; that it may have ended by itself is the test's business."""
    shoes = []

    def start(text: str) -> EmulatedShoe:
        (tmp_path / "main.py").write_text(text)
        shoe = EmulatedShoe(firmware=tmp_path, interpreter=interpreter, pace="fast")
        shoes.append(shoe)
        return shoe.__enter__()

    yield start
    for shoe in shoes:
        try:
            shoe.__exit__(None, None, None)
        except ShoeStoppedError:
            continue


def stopped(shoe: EmulatedShoe) -> ShoeStoppedError:
    with pytest.raises(ShoeStoppedError) as caught:
        shoe.wait_for(lambda: False, "its end")
    return caught.value


def test_both_ends_of_the_wire_name_the_same_records() -> None:
    text = (HAL / "_model.py").read_text()
    for kinds, count_of in ((Record, "LEVELS"), (Output, "OUT_PIN")):
        line = next(line for line in text.splitlines() if line.startswith(count_of))
        names = [name.removeprefix("OUT_") for name in re.findall(r"[A-Z_]+(?=,| =)", line)]
        assert names == [kind.name for kind in kinds]


def test_256_byte_values_and_an_empty_line_pass_the_port(run: Run) -> None:
    shoe = run(ECHO)
    with serial.Serial(shoe.port, 115200, timeout=10) as port:
        port.write(bytes(range(256)))
        assert port.read(256) == bytes(range(256))


def test_an_error_of_the_firmware_is_told_in_a_sentence(run: Run) -> None:
    shoe = run(ECHO)
    with serial.Serial(shoe.port, 115200, timeout=10) as port:
        port.write(b"divide")
        error = stopped(shoe)
    assert "ended with status 1: ZeroDivisionError" in str(error)
    assert "main.py" in error.trace


def test_a_reset_starts_it_again_on_the_same_port(run: Run) -> None:
    shoe = run(ECHO)
    with serial.Serial(shoe.port, 115200, timeout=10) as port:
        port.write(b"reset")
        shoe.wait_for(lambda: shoe.resets == 1, "a reset", 20.0)
        port.write(b"still here")
        assert port.read(10) == b"still here"


def test_a_sampler_of_another_rate_is_refused(run: Run) -> None:
    shoe = run(SAMPLER.replace("HZ", "160000").replace("OFF", "0"))
    assert "the sampler takes 40000 samples/s, the heads give 20000" in stopped(shoe).trace


def test_a_ring_that_is_not_aligned_is_refused(run: Run) -> None:
    shoe = run(SAMPLER.replace("HZ", "80000").replace("OFF", "64"))
    assert "the ring is not aligned to its size" in stopped(shoe).trace


def test_the_ring_gets_the_levels_of_the_model(run: Run) -> None:
    shoe = run(
        SAMPLER.replace("HZ", "80000").replace("OFF", "0")
        + """
from machine import PWM
import time
tone = PWM(Pin(21), freq=1000, duty_u16=0)
at = high = 0
while True:
    to = dma.write - start
    while at != to:
        high += memory[skip + at] >> 6 & 1
        at = (at + 1) % 4096
    if high:
        tone.freq(8 + high)
        tone.duty_u16(1)
    time.sleep_ms(1)
"""
    )
    shoe.pull(speed=1.0, wait=False)
    # the lip is blocked for 63.5 mm: 63.5 ms, 1270 samples
    shoe.wait_for(lambda: abs(shoe.tone - 8 - 1270) <= 1, "1270 samples with the lip blocked")


def test_a_part_that_is_not_there_says_so(run: Run) -> None:
    assert "nothing is connected to ADC GP25" in stopped(run("import machine\nmachine.ADC(25).read_u16()")).trace


def test_ticks_wrap_as_on_a_pico(run: Run) -> None:
    text = "import time\nprint(time.ticks_add(0x3FFFFFFF, 2), time.ticks_diff(1, 0x3FFFFFFF), 'end')\n1 // 0"
    assert "1 2 end" in stopped(run(text)).trace


def test_no_interpreter_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "micropython", lambda: None)
    with pytest.raises(UserError, match="there is no MicroPython in this environment"):
        EmulatedShoe(interpreter="micropython")
    with EmulatedShoe() as shoe:
        assert not shoe.on_micropython
