"""All checks of the protocol, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Iterator

from dealershoe.conform import desired, dictionary, events, frames, heard, session
from dealershoe.conform.check import Check

CHECKS: list[Check] = [
    *session.CHECKS,
    *desired.CHECKS,
    *frames.CHECKS,
    *events.CHECKS,
    *dictionary.CHECKS,
    *heard.CHECKS,
]


def chosen(names: tuple[str, ...]) -> Iterator[Check]:
    """The checks with these names, in their order; all where there are none."""
    for one in CHECKS:
        if not names or one.name in names:
            yield one
