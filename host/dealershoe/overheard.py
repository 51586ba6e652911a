"""What libraries and Python itself say while a program runs, as happenings of its log. For `run`, one table or a room.

Such words are made elsewhere and could hold anything, a card among it: what is logged is who spoke, the sentence before
its blanks are filled in, and of an exception its type and where it was raised.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from dealershoe.defects import kind_and_place
from dealershoe.desk.happening import Happening

KIND = "program"
LONGEST = 200  # characters of a sentence

Hear = Callable[[Happening], None]


@contextlib.contextmanager
def overheard(hear: Hear) -> Iterator[None]:
    """Until the end, whatever would be written to standard error goes to `hear`, on any thread."""
    handler = _Handler(hear)
    root = logging.getLogger()
    before = threading.excepthook, sys.unraisablehook, root.handlers[:]

    def thread_ended(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_type is not SystemExit:
            _say(hear, "error", "a thread", "has ended", ended.exc_type, ended.exc_traceback)

    def not_raised(lost: Any) -> None:
        _say(hear, "error", "Python", "could not raise", lost.exc_type, lost.exc_traceback)

    def warned(message: object, category: type[Warning], filename: str, lineno: int, *_: object, **__: object) -> None:
        hear(Happening(KIND, f"Python: {category.__name__} at {Path(filename).name}:{lineno}", {"level": "warning"}))

    with warnings.catch_warnings():
        warnings.showwarning = warned
        root.handlers[:] = [handler]
        threading.excepthook, sys.unraisablehook = thread_ended, not_raised
        try:
            yield
        finally:
            threading.excepthook, sys.unraisablehook, root.handlers[:] = before


class _Handler(logging.Handler):
    """Gives what is logged as a warning or worse to `hear`."""

    def __init__(self, hear: Hear) -> None:
        super().__init__(logging.WARNING)
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        sentence = next(iter(str(record.msg).strip().splitlines()), "")[:LONGEST]
        kind, _, where = record.exc_info or (None, None, None)
        _say(self._hear, record.levelname.lower(), record.name, sentence, kind, where)


def _say(
    hear: Hear, level: str, who: str, sentence: str, kind: type[BaseException] | None, where: TracebackType | None
) -> None:
    text = f"{who}: {sentence}"
    if kind is not None:
        text += f" ({kind_and_place(kind, where)})"
    hear(Happening(KIND, text, {"level": level}))
