"""The sampler: PIO reads the pins of heads and slots 20,000 times a second, DMA stores them in a ring. Nothing waits.

One instruction: `in_(pins, 8)` takes GP10 and the seven above it; the eighth (GP17, the lanes' data line) is masked
off. A whole block is taken because `jmp_pin` is wrong on some pins (micropython#18080). Four samples make a word, the
first in its low byte, so the ring's bytes are in order. A full turn of the ring is 205 ms: so late may the loop be.
"""

import rp2
from machine import Pin
from uctypes import addressof

TYPE_CHECKING = False
if TYPE_CHECKING:  # the words of the assembler
    from rp2.asm_pio import in_, pins, wrap, wrap_target


RATE = 20_000  # samples a second
RING_BITS = 12
RING = 1 << RING_BITS  # bytes, a sample each
_WORDS = (1 << 28) - 1  # of 4 samples: 14.9 hours, then the channel is started again


def copy_python(ring, at: int, out, n: int) -> None:
    """Copy `n` bytes of the ring from `at` on into `out`, the pins' seven bits of each."""
    for i in range(n):
        out[i] = ring[(at + i) & (RING - 1)] & 0x7F


try:
    from drivers.copy_viper import copy_ring
except ImportError:  # no viper emitter here
    copy_ring = copy_python


@rp2.asm_pio(in_shiftdir=rp2.PIO.SHIFT_RIGHT, autopush=True, push_thresh=32, fifo_join=rp2.PIO.JOIN_RX)
def _sample():
    wrap_target()
    in_(pins, 8)
    wrap()


class Sampler:
    """`pin` is the first of the block, `memory` twice the ring. `overruns` counts how often samples were overwritten
    before they were read, `lost` how many are missing for it."""

    def __init__(self, pin: int, machine_id: int = 0, memory=None):
        memory = memory or bytearray(2 * RING)
        skip = -addressof(memory) & (RING - 1)  # the channel wraps at multiples of the ring's size
        self._ring = memoryview(memory)[skip : skip + RING]
        self.lost = 0
        self.overruns = 0
        for number in range(pin, pin + 7):
            Pin(number, Pin.IN)
        self._machine = rp2.StateMachine(machine_id, _sample, freq=RATE, in_base=Pin(pin))
        self._dma = rp2.DMA()
        self._ctrl = self._dma.pack_ctrl(
            size=2,
            inc_read=False,
            inc_write=True,
            ring_size=RING_BITS,
            ring_sel=True,
            treq_sel=4 + machine_id,  # DREQ_PIO0_RX0 + n: RP2040 datasheet 2.5.3.1
        )
        self._start()
        self._machine.active(1)

    def _start(self) -> None:
        self._taken = self._stored = self._safe = 0
        self._dma.config(read=self._machine, write=self._ring, count=_WORDS, ctrl=self._ctrl, trigger=True)

    def readinto(self, buf) -> int:
        """Put the next samples into `buf`, one byte of levels each; returns how many (0: none yet)."""
        if self._taken == self._stored:
            self._look()
        n = min(self._stored - self._taken, len(buf))
        copy_ring(self._ring, self._taken & (RING - 1), buf, n)
        self._taken += n
        return n

    def waiting(self) -> int:
        """Samples that are in the ring and not read: so far is the sampler's clock ahead of the reader's."""
        stored = (_WORDS - self._dma.count) << 2  # type: ignore[attr-defined]  # not in the stubs
        return max(0, stored - self._taken)

    def _look(self) -> None:
        """See how far the channel is. If it has gone round since the last look, what was read meanwhile may be wrong,
        and only the newest half of the ring is sure not to be overwritten before it is read."""
        stored = (_WORDS - self._dma.count) << 2  # type: ignore[attr-defined]  # not in the stubs
        if stored - self._safe > RING:
            self.overruns += 1
            skipped = stored - self._taken - RING // 2
            if skipped > 0:
                self.lost += skipped
                self._taken += skipped
        elif stored == self._taken and not self._dma.active():
            self._start()  # after 14.9 hours; the state machine's FIFO holds 1.6 ms meanwhile
            return
        self._safe = self._taken
        self._stored = stored
