"""One thing that the doctor found."""

from __future__ import annotations

from dataclasses import dataclass

GOOD, BAD, NOTE = "good", "bad", "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """`verdict`: "good", "bad" (the table will not work well until it is put right) or "note". `seen` is a sentence;
    `do` is the next step, "" where there is none to take."""

    topic: str
    verdict: str
    seen: str
    do: str = ""


def counted(number: int, thing: str) -> str:
    """As one says it: 1 event, 2 events."""
    return f"{number} {thing}{'s' * (number != 1)}"
