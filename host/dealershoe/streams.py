"""Standard streams as they are handed to us: without Unicode, or closed. For the command line.

Where they speak no Unicode a sign of ours becomes its nearest letter, one for one, so that a picture keeps its shape on
every terminal and no character ever ends a run.
"""

from __future__ import annotations

import codecs
import io
import os
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
    """Let both streams write whatever they are given; what is closed (`>&-`) leads to nowhere from now on."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:  # or the next file that is opened, a port perhaps, would take its descriptor
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
    codecs.register_error(ERRORS, nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)
