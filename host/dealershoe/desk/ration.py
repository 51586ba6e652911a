"""So many in so long and no more: bounds what others on a line can have recorded. For the bridge; time is given."""

from __future__ import annotations

from collections import deque


class Ration:
    """At most `most` in any `span_ns`."""

    def __init__(self, most: int, span_ns: int) -> None:
        self._taken: deque[int] = deque(maxlen=most)
        self._span_ns = span_ns

    def room(self, at_ns: int) -> bool:
        """Whether one can be had at `at_ns`, which never goes back."""
        return len(self._taken) < (self._taken.maxlen or 0) or at_ns - self._taken[0] >= self._span_ns

    def take(self, at_ns: int) -> bool:
        """Have one. False: there is none left."""
        if not self.room(at_ns):
            return False
        self._taken.append(at_ns)
        return True
