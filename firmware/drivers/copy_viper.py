"""`sampler.copy_ring` for MicroPython's viper emitter: out of a ring of 4096 bytes, seven bits of each."""

# ruff: noqa: F821 (ptr8 and its like are words of the emitter)

import micropython


@micropython.viper
def copy_ring(ring: ptr8, at: int, out: ptr8, n: int):
    i: int = 0
    while i < n:
        out[i] = ring[(at + i) & 4095] & 0x7F
        i += 1
