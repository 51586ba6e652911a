"""Waits for descriptors of any number, for the bridge: `select` ends at 1,023, a host of many shoes does not."""

from __future__ import annotations

import errno
import os
import select
import sys
from collections.abc import Iterable

# macOS: "poll() currently does not support devices" (poll(2), BUGS). Windows has no poll.
POLLS = hasattr(select, "poll") and sys.platform != "darwin"


def ready(reads: Iterable[int], writes: Iterable[int], timeout_s: float) -> set[int]:
    """Those of `reads` that can be read or are at their end, and of `writes` that can be written or have failed.

    Waits for the first of them, at most `timeout_s`. Raises OSError or ValueError for a descriptor that is not open.
    """
    if not POLLS:
        readable, writable, _ = select.select(reads, writes, [], timeout_s)
        return {*readable, *writable}
    poll = select.poll()
    wanted: dict[int, int] = {}
    for descriptor in reads:
        wanted[descriptor] = select.POLLIN
    for descriptor in writes:
        wanted[descriptor] = wanted.get(descriptor, 0) | select.POLLOUT
    for descriptor, events in wanted.items():
        poll.register(descriptor, events)
    found = poll.poll(timeout_s * 1_000)
    if any(events & select.POLLNVAL for _, events in found):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return {descriptor for descriptor, _ in found}
