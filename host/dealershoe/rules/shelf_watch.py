"""Notices that another stack was put in force. For the bridge of a table that runs."""

from __future__ import annotations

from dealershoe.errors import UserError
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_history import follows
from dealershoe.rules.stack import Stack


class Watch:
    """Looks at a shelf, again and again; a look at a shelf that has not changed costs one system call."""

    def __init__(self, shelf: Shelf) -> None:
        """What is in force now is known already. Raises UserError for a shelf that is not sound."""
        self._shelf = shelf
        self._stamp = shelf.stamp()
        self._state = shelf.state()
        self._known = self._state.active

    def look(self) -> Stack | None:
        """The stack that is in force now, None when it is the one that was known.

        Raises UserError, once a change, when it cannot be used; the table then keeps the rules that it has.
        """
        stamp = self._shelf.stamp()
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        state = self._shelf.state()
        if not follows(state, self._state):
            raise UserError(
                "the shelf's history is not the one that it was",
                "lines of it were changed or taken away",
                "put it back from a copy; the table keeps its rules until then",
            )
        self._state = state
        if state.active == self._known:
            return None
        stack = self._shelf.pinned(state.active, state)
        self._known = state.active
        return stack
