"""When the emulated Pico's MicroPython collects garbage, and what comes of one moment in several ways. For test_pico.

Emulated time repeats exactly, and a fork of this process is the same board in the same moment: one copy tells when the
next collection will begin, others what comes of a card that enters so much before or after.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from multiprocessing import get_context
from typing import NamedTuple, TypeVar

from hil.emulated_pico import EmulatedPico

T = TypeVar("T")
STATICS = 16_000  # bytes of the RAM, below the heap, of which there are 245,888 that end at 256 kB
LOOK_NS = 500_000  # between two looks at all of these, to find the flag
WATCH_NS = 10_000  # ... and at the flag
LEAST_NS = 8e6  # no collection of this firmware is shorter, nor does any other work have the heap locked for as long


def in_a_copy(act: Callable[[], T]) -> T:
    """What `act` returns in a copy of this process, which ends with it: the board here has not moved."""
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    copy = context.Process(target=lambda: theirs.send(act()))
    copy.start()
    theirs.close()
    try:
        answer: T = ours.recv()
    except EOFError:
        raise RuntimeError("a copy of this process has failed: stderr says why") from None
    finally:
        copy.join()
    return answer


class Collection(NamedTuple):
    """Emulated ns."""

    began: float
    ended: float


class Collector:
    """Sees MicroPython collect: `gc_lock_depth` (py/mpstate.h) is odd while it does, and even else: 2 for each
    `heap_lock`.

    Where that lies differs from build to build. It is the small word that is odd for as long as a collection takes and
    never before and after: `rest` lets a time pass in which garbage is collected once.
    """

    def __init__(self, pico: EmulatedPico, rest: Callable[[], None]):
        self._pico = pico
        self._at = in_a_copy(lambda: self._find(rest))

    def _find(self, rest: Callable[[], None]) -> int:
        looks: list[tuple[int, ...]] = []

        def look() -> None:
            looks.append(struct.unpack(f"<{STATICS // 4}I", self._pico.chip.sram[:STATICS]))
            alarm.schedule(LOOK_NS)

        alarm = self._pico.alarm(look)
        alarm.schedule(LOOK_NS)
        rest()
        found = [word for word in range(STATICS // 4) if not looks[0][word] & 1 and not looks[-1][word] & 1]
        for seen in looks:
            found = [word for word in found if seen[word] <= 3]
        courses = {word: "".join(str(seen[word] & 1) for seen in looks).strip("0") for word in found}
        lasting = {word: len(course) for word, course in courses.items() if "0" not in course}
        at = max(
            lasting, key=lambda word: lasting[word]
        )  # others, gc_stack_overflow among them, are odd within this time
        assert lasting[at] >= LEAST_NS // LOOK_NS
        assert list(lasting.values()).count(lasting[at]) == 1, "two words look like the collector's"
        return 4 * at

    def watch(self) -> list[Collection]:
        """From now on: every collection, once it has ended."""
        found: list[Collection] = []
        began: list[float] = []

        def look() -> None:
            collecting = bool(self._pico.chip.sram[self._at] & 1)
            if collecting and not began:
                began.append(self._pico.ns)
            elif began and not collecting:
                found.append(Collection(began.pop(), self._pico.ns))
            alarm.schedule(WATCH_NS)

        alarm = self._pico.alarm(look)
        alarm.schedule(1)
        return found
