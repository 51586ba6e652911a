"""Two cards drawn as one, for the tests of the passage: which of them hides the other from a head."""

from __future__ import annotations

from firmware.physics import LENGTH, Card, Scene


def hide(first: Card, second: Card, lag: float, below: bool) -> Scene:
    """Two cards, the second so many mm behind, the nearer of which hides the other from the head; `below`: the second
    one does."""
    for track in ("clk", "data", "ndata"):
        if below:
            setattr(first, track, [(a, min(b, lag)) for a, b in getattr(first, track) if a < lag])
        else:
            marks = [(max(a, LENGTH - lag), b) for a, b in getattr(second, track) if b > LENGTH - lag]
            setattr(second, track, marks)
    return Scene([(first, 0), (second, lag)])
