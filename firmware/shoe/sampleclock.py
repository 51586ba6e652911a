"""The shoe's clock for events: the number of the sample, kept so that nothing here allocates on a Pico.

A sample is 50 µs. Its index counts modulo 2^30, the largest that is a small int on MicroPython's 32-bit ports; one
more bit is kept beside it, because the wire's time (index * 50 µs modulo 2^32) repeats only every 2^31 samples.
"""

MASK = 0x3FFFFFFF
SAMPLE_US = 50
PER_MS = 20  # samples


def since(now: int, then: int) -> int:
    """Samples from index `then` to index `now`; both modulo 2^30, so right up to 14.9 hours."""
    return (now - then) & MASK


def write_t_us(out, index: int, half: int) -> None:
    """Put the time of sample `index` in the `half` (0 or 1) of its 2^31 into 4 bytes, little-endian microseconds."""
    low = (index & 0xFFFF) * SAMPLE_US
    high = ((index >> 16 | half << 14) * SAMPLE_US + (low >> 16)) & 0xFFFF
    out[0] = low & 0xFF
    out[1] = low >> 8 & 0xFF
    out[2] = high & 0xFF
    out[3] = high >> 8


class SampleClock:
    """The index of the next sample. `index` 0 to 2^30 - 1; `half` the bit above it."""

    def __init__(self, index: int = 0, half: int = 0):
        self.index = index
        self.half = half

    def advance(self, n: int) -> None:
        """`n` more samples were taken."""
        index = (self.index + n) & MASK
        if index < self.index:
            self.half ^= 1
        self.index = index

    def stamp_ahead(self, n: int, out) -> None:
        """The wire's time `n` samples (less than 14.9 hours) after the next one, into 4 bytes."""
        index = (self.index + n) & MASK
        write_t_us(out, index, self.half if index >= self.index else self.half ^ 1)

    def stamp(self, index: int, out) -> None:
        """The wire's time of a sample not later than the next and less than 14.9 hours old, into 4 bytes."""
        write_t_us(out, index, self.half if index <= self.index else self.half ^ 1)
