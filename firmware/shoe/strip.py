"""The marks that passed one head: collected edge by edge while a card moves, for `cardcode.read` once it has left.

The CLK track of the card code is dark in the first half of each cell, so a *mark* is one dark stretch of CLK, and
whatever the card's speed one mark is one cell. A cell's kind is what DATA and /DATA showed during its mark.
"""

from array import array

ROOM = 64  # marks kept of one passage; three and a half times a code
CELLS = 18  # of a code
FEW = 6  # marks: fewer are dirt, not a code

ZERO, ONE, DARK, LIGHT, UNCLEAR = 0, 1, 2, 3, 4  # kinds of a cell

_LONGEST = 65535  # samples: 3.3 s; longer is as good as this


class Strip:
    """The marks since `clear`.

    `paired`: the head sees /DATA too (the bottom one). The top head does not: it takes a start cell for a one and a
    stop cell for a zero, and has no erasures but a cell that was half and half.
    """

    def __init__(self, paired: bool):
        self.paired = paired
        self.marks = 0  # completed
        self.in_mark = False
        self.halves = array("H", bytes(4 * ROOM))  # samples: [2m] the light before mark m, [2m + 1] mark m
        self.kinds = bytearray(ROOM)
        self._span = 0
        self._lit = 0
        self._seen = array("i", (0, 0, 0, 0))  # samples of this mark with (/DATA, DATA) = 00, 01, 10, 11

    def clear(self) -> None:
        """Forget all: the next card begins."""
        self.marks = 0
        self.in_mark = False
        self._span = 0

    def add(self, levels: int, samples: int) -> None:
        """The head showed `levels` (bit 0 CLK, 1 DATA, 2 /DATA; 1 = dark) for so many samples."""
        if levels & 1:
            if not self.in_mark:
                self.in_mark = True
                self._lit = self._span
                self._span = 0
                seen = self._seen
                seen[0] = 0
                seen[1] = 0
                seen[2] = 0
                seen[3] = 0
            self._seen[levels >> 1 & 3] += samples
        elif self.in_mark:
            self.in_mark = False
            self._close()
            self._span = 0
        span = self._span + samples
        self._span = span if span < _LONGEST else _LONGEST

    def light(self) -> int:
        """For how many samples it has been light since the last mark; 0 in a mark."""
        return 0 if self.in_mark else self._span

    def keep_from(self, mark: int) -> None:
        """Drop the marks before `mark`: they belonged to the card before."""
        left = max(self.marks - mark, 0)
        for i in range(left):
            self.halves[2 * i] = self.halves[2 * (i + mark)]
            self.halves[2 * i + 1] = self.halves[2 * (i + mark) + 1]
            self.kinds[i] = self.kinds[i + mark]
        self.marks = left

    def alike(self, enough: int) -> int:
        """How many marks, and the gaps before them, took about as long as those before; no more are looked for than
        `enough`. Cells that a hand draws past do, and what light from outside makes of a head mostly does not."""
        halves = self.halves
        found = 0
        for mark in range(1, self.marks):
            at = 2 * mark + 1
            now, before = halves[at], halves[at - 2]
            if now > 2 * before + 2 or before > 2 * now + 2:
                continue
            if mark > 1:  # what is before the first mark is no gap
                now, before = halves[at - 1], halves[at - 3]
                if now > 2 * before + 2 or before > 2 * now + 2:
                    continue
            found += 1
            if found == enough:
                break
        return found

    def _close(self) -> None:
        at = self.marks
        if at == ROOM:
            return
        self.halves[2 * at] = self._lit
        self.halves[2 * at + 1] = self._span
        self.kinds[at] = self._kind()
        self.marks = at + 1

    def _kind(self) -> int:
        """The kind of the cell whose mark has just passed: what was seen for most of it.

        Tracks may be out of line by a third of a mark (0.4 mm), so a bit may show that much of its neighbour. (The top
        head takes two fifths: it has one track to ask, and the CRC behind it.)
        """
        seen = self._seen
        total = self._span
        if not self.paired:
            dark = seen[1] + seen[3]
            if 5 * dark >= 3 * total:
                return ONE
            return ZERO if 5 * dark <= 2 * total else UNCLEAR
        if 2 * seen[1] >= total and 3 * seen[2] < total:
            return ONE
        if 2 * seen[2] >= total and 3 * seen[1] < total:
            return ZERO
        if 2 * seen[3] >= total:
            return DARK
        return LIGHT if 2 * seen[0] >= total else UNCLEAR


def print_below(bottom, top) -> bool:
    """Whether the marks below, on one Strip, are those of a print, and not of a flash that hid the print above, on the
    other, which has hardly a mark."""
    return bottom.alike(FEW) > max(2, top.alike(FEW))
