"""Standard output and error where they speak no Unicode: a sign of ours becomes its nearest letter, one for one.

For the command line, so that a picture keeps its shape on every terminal and no character ever ends a run.
"""

from __future__ import annotations

import codecs
import io
import sys

NEAREST = str.maketrans("▮■█░·►◄→←✓✗▏…“”×±µ", "###..><><vx|.''x~u")
ERRORS = "nearest"  # the name of the error handler


def nearest(error: UnicodeError) -> tuple[str, int]:
    """What is written for characters that the stream's encoding has not: as many, so that columns stay columns."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end].translate(NEAREST)
    return "".join(sign if sign.isascii() else "?" for sign in signs), error.end


def make_safe() -> None:
    """Let both streams write whatever they are given."""
    codecs.register_error(ERRORS, nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)
