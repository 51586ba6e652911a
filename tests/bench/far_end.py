"""One shoe's end of the link behind a pty, in a process of its own and without firmware: for the benchmark of the host.

Its first line is the port's name. It answers what is asked until it is ended.
"""

from __future__ import annotations

import select
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("protocol", "host", "tests")]

from bench.hold_shoes import Dealing


def answer() -> None:
    """Never returns."""
    never = float("inf")
    shoe = Dealing(1, never, never)
    print(shoe.path, flush=True)
    while True:
        wait_s = max(0.0, shoe.poll_s - time.monotonic())
        came = bool(select.select([shoe.master], [], [], wait_s)[0])
        shoe.turn(time.monotonic(), came)


if __name__ == "__main__":
    answer()
