"""Waits for descriptors of any number, for the bridge: `select` ends at 1,023, a host of many shoes does not."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import sys
from collections.abc import Iterable

# macOS: "poll() currently does not support devices" (poll(2), BUGS). Windows has no poll.
POLLS = hasattr(select, "poll") and sys.platform != "darwin"
BLIND = -1  # stands for the descriptor of a port that cannot be waited for (Windows)


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


class Watch:
    """Descriptors that are waited for again and again. Linux keeps them between two waits, others are told each time.

    A descriptor must be forgotten before another file can get its number.
    """

    def __init__(self) -> None:
        self._wanted: dict[int, bool] = {}  # is it waited for to be written, too?
        self._epoll = select.epoll() if sys.platform == "linux" else None

    def add(self, descriptor: int, writes: bool = False) -> None:
        """Wait for `descriptor` to be read, and to be written where it `writes`. Raises OSError if it is not open."""
        before = self._wanted.get(descriptor)
        if before == writes:
            return
        if self._epoll is not None:
            events = select.EPOLLIN | (select.EPOLLOUT if writes else 0)
            (self._epoll.register if before is None else self._epoll.modify)(descriptor, events)
        self._wanted[descriptor] = writes

    def forget(self, descriptor: int) -> None:
        """Wait for it no more; it may be closed already."""
        if self._wanted.pop(descriptor, None) is not None and self._epoll is not None:
            with contextlib.suppress(OSError):
                self._epoll.unregister(descriptor)

    def wait(self, timeout_s: float) -> set[int]:
        """Those with something to do, at most `timeout_s` from now."""
        if self._epoll is not None:
            return {descriptor for descriptor, _ in self._epoll.poll(timeout_s)}
        return ready(self._wanted, [each for each, writes in self._wanted.items() if writes], timeout_s)

    def close(self) -> None:
        """Give back what the system keeps of it."""
        self._wanted.clear()
        if self._epoll is not None:
            self._epoll.close()


class Wake:
    """Wakes a thread that waits for `reader`, any number of times at the cost of one. (Windows waits for sockets only.)

    The thread that was woken calls `clear` before it looks for what there is to do.
    """

    def __init__(self) -> None:
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._far.setblocking(False)
        self._up = False

    @property
    def reader(self) -> int:
        """The descriptor to wait for; -1 once closed."""
        return self._near.fileno()

    def up(self) -> None:
        """Wake. May be called from any thread, also after `close`."""
        if not self._up:
            self._up = True
            with contextlib.suppress(OSError):
                self._far.send(b"!")

    def clear(self) -> None:
        """Forget that it was woken."""
        with contextlib.suppress(BlockingIOError):
            self._near.recv(64)
        self._up = False  # last: what was put there until now has been woken for, and is found by the thread

    def close(self) -> None:
        """Give the sockets back."""
        self._near.close()
        self._far.close()
