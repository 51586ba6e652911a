"""`edges.scan` for MicroPython's viper emitter: machine code, integers only, no allocation. See `edges.py`."""

# ruff: noqa: F821 (ptr8 and its like are words of the emitter)

import micropython


@micropython.viper
def scan(samples: ptr8, n: int, state: ptr32, out: ptr16) -> int:
    accepted: int = state[0]
    last: int = state[1]
    found: int = 0
    i: int = 0
    while i < n:
        now: int = samples[i]
        if now != accepted:
            moving: int = last ^ now
            new: int = (accepted & moving) | (now & ~moving)
            if new != accepted:
                accepted = new
                out[found] = i
                out[found + 1] = new
                found += 2
        last = now
        i += 1
    state[0] = accepted
    state[1] = last
    return found >> 1
