"""From samples to edges: the one loop that looks at every sample, 20,000 times a second.

`scan(samples, n, state, out) -> edges` reads `n` bytes of pin levels. A level counts once two samples in a row agree,
bit by bit, so a glitch of one sample (50 µs; 0.15 mm of card at 3 m/s) does not exist. Each change of the accepted
levels is put in `out` as two numbers: the place of the sample in this chunk, and the new levels. `state` carries the
accepted levels and the last sample from chunk to chunk, so the chunks' sizes do not matter.

`out` must have room for `2 * n` numbers. MicroPython runs the compiled twin in `edges_viper.py`; a test proves the
two equal.
"""

from array import array

ACCEPTED, LAST = 0, 1  # the places in `state`


def scan_python(samples, n: int, state, out) -> int:
    """The reference, for interpreters without the viper emitter."""
    accepted = state[ACCEPTED]
    last = state[LAST]
    found = 0
    for i in range(n):
        now = samples[i]
        if now != accepted:
            moving = last ^ now
            new = accepted & moving | now & ~moving
            if new != accepted:
                accepted = new
                out[found] = i
                out[found + 1] = accepted
                found += 2
        last = now
    state[ACCEPTED] = accepted
    state[LAST] = last
    return found >> 1


try:
    from shoe.edges_viper import scan
except ImportError:  # CPython has no `micropython` module, hence no viper
    scan = scan_python


def new_state():
    """The state before the first sample: all light, nothing blocked."""
    return array("i", (0, 0))


def new_out(n: int):
    """Room for the edges of `n` samples."""
    return array("H", bytes(4 * n))
