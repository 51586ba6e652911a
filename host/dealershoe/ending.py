"""How a command that prints as it runs is asked to end: by a word among what it prints, so that no line is lost.

A `KeyboardInterrupt` may come between taking a line out of a queue and printing it, or within the print. For `run`.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def asked_to_end(end: Callable[[], None]) -> Iterator[None]:
    """Until the end of the block Ctrl-C and SIGTERM call `end`, and break nothing off; on the main thread.

    `end` may come between any two steps: it is to set a flag, or to put a word in a `SimpleQueue`. A signal that is
    ignored, as Ctrl-C is for what a shell started in the background, stays so.
    """
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, lambda *_: end())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
