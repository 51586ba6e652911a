"""The code on a card's edge: which card a strip of marks is, or that it cannot be known. For the passage.

A code is 18 cells: start, 16 bits (card 6 | deck 2 | CRC-8 of both), stop. The start cell is dark on DATA and /DATA,
the stop cell light on both, a bit is dark on one of them; anything else in a bit's place is an erasure.

Why a card that stops, jitters or turns back is never read wrongly: from one mark to the next the card has moved to a
neighbouring cell or turned round on the same one. Eighteen marks that begin with the start cell and end with the stop
cell have 17 steps to cover 17 cells, so every step went forward. Only such a run is read; nothing is put together from
pieces. A mark lost to dirt and one too many could together deceive the count: they break the rhythm (`rhythm`), and
where a slow hand hides that, the check sees bits that are out of place (crc8.py). Dirt may also make a bit look like
the start or the stop: so a run must stand alone, with a margin or nothing on both sides.
"""

from shoe.crc8 import check_of
from shoe.strip import CELLS, DARK, FEW, LIGHT, ONE, ZERO
from shoe.twocards import two_cards

CARDS = 54  # 0..51 and two jokers; 54..63 are valid codes of no card of ours
JOKERS = 52  # and 53
NOTHING, UNREAD, READ = 0, 1, 2  # results
BROKEN, RESTED, EVEN = 0, 1, 2  # rhythms


def steady(halves, mark: int) -> bool:
    """Whether the 35 half cells differ so little that the rhythm is EVEN, whichever are beside each other: of most
    cards, and of all fast ones, for a hand cannot do much in 15 ms. A seventh of the time that `rhythm` takes."""
    most = gap_most = 0
    least = gap_least = 0xFFFF
    for at in range(2 * mark + 1, 2 * mark + 2 * CELLS, 2):
        length = halves[at]
        if length > most:
            most = length
        if length < least:
            least = length
    for at in range(2 * mark + 2, 2 * mark + 2 * CELLS, 2):
        length = halves[at]
        if length > gap_most:
            gap_most = length
        if length < gap_least:
            gap_least = length
    # none is short or long by `rhythm`, and three are never less than one and a half of their like
    if 10 * most > 22 * least + 20 or 10 * gap_most > 22 * gap_least + 20:
        return False
    return 4 * least + 2 * gap_least >= 3 * most and 4 * gap_least + 2 * least >= 3 * gap_most


def rhythm_python(halves, mark: int) -> int:
    """Whether the 35 half cells from `mark` on can be equal lengths that passed under a hand.

    A half cell is compared with the same halves of the two cells before and behind it (so that marks may be wider
    than gaps). A hand's speed does not more than double and fall back within 5 mm. A speck with a mark of its own
    cuts one half cell into three, of which one is a third or less, and all three are no longer than a whole one of
    its like: BROKEN. A half that took much longer than its neighbours is a lost mark, which puts three halves into one,
    or the hand rested there: RESTED, if all such are within three cells. Then a mark lost to dirt and one too many, by
    a speck or because the card turned about for a moment, are mostly less than eight cells apart, and a CRC of 8 bits
    sees all errors that are within 8 bits of each other; farther apart the check's constant was chosen against them
    (crc8.py). The ends have neighbours on one side only: there a sudden change may be a hand that begins or stops, and
    counts as a rest.
    """
    if steady(halves, mark):
        return EVEN
    low = 2 * mark + 1
    high = low + 2 * CELLS - 2
    first = last = -1
    for at in range(low, high + 1):
        length = halves[at]
        most = 0
        least = 0
        if at >= low + 2:
            most = least = halves[at - 2]
            if at >= low + 4:
                near = halves[at - 4]
                if near > most:
                    most = near
                else:
                    least = near
        if at <= high - 2:
            most_behind = least_behind = halves[at + 2]
            if at <= high - 4:
                near = halves[at + 4]
                if near > most_behind:
                    most_behind = near
                else:
                    least_behind = near
            if at < low + 2:
                most = most_behind
                least = least_behind
            else:
                if most_behind < most:
                    most = most_behind
                if least_behind > least:
                    least = least_behind
        short = 22 * length + 20 < 10 * most  # 2.2 times, and 2 samples for the sampling
        long = 10 * length > 22 * least + 20
        cut = False
        if at <= high - 2:
            three = halves[at] + halves[at + 1] + halves[at + 2]  # half as long again as one of its like is too short
            before = halves[at - 2] if at >= low + 2 else 0
            after = halves[at + 4] if at + 4 <= high else 0
            if before and after:
                if 2 * three < 3 * (before if before < after else after):
                    return BROKEN
            else:
                cut = 2 * three < 3 * (before + after)
        if not short and not long and not cut:
            continue
        if short and low + 2 <= at <= high - 2:
            return BROKEN
        if first < 0:
            first = at
        last = at
    if first < 0:
        return EVEN
    return BROKEN if last - first > 6 else RESTED


try:
    from shoe.halves_viper import rhythm
except ImportError:  # CPython has no viper; a test proves the two equal
    rhythm = rhythm_python


def rested_at(halves, mark: int) -> bool:
    """Whether the card rested on this mark, between two others. Whatever bit is put in its place then is among those
    that the CRC sees with what a rest may hide (`rhythm`)."""
    at = 2 * mark + 1
    return halves[at] > 4 * max(halves[at - 2], halves[at + 2])


def proven(byte: int, check: int) -> bool:
    """Whether the CRC of the card's byte is the one that was printed with it."""
    return check_of(byte) == check


def stands_alone(strip, mark: int, marks: int) -> bool:
    """Whether the run that begins with this mark has a margin on both sides, or nothing: else its first or last cell
    may be a bit that dirt made look like an end, and a mark that a tremble showed twice has filled the count."""
    halves = strip.halves
    end = mark + CELLS
    if mark and halves[2 * mark] < 3 * halves[2 * mark + 1]:
        return False
    return end >= marks or halves[2 * end] >= 3 * halves[2 * end - 1]


def whole(strip, mark: int) -> int:
    """The byte of the card whose 18 cells these marks are, either way about, all clear and the check right; else -1."""
    kinds = strip.kinds
    end = mark + CELLS - 1
    start = DARK if strip.paired else ONE
    stop = LIGHT if strip.paired else ZERO
    backwards = kinds[mark] == stop and kinds[end] == start
    if not backwards and (kinds[mark] != start or kinds[end] != stop):
        return -1
    word = 0
    for step in range(1, CELLS - 1):
        kind = kinds[end - step if backwards else mark + step]
        if kind > ONE:
            return -1
        word = word << 1 | kind
    return word >> 8 if proven(word >> 8, word & 0xFF) else -1


def two_codes(strip, marks: int) -> bool:
    """Whether the first cells are those of one card and the last those of another, whatever the hand did meanwhile."""
    if marks < 2 * CELLS:
        return False
    first = whole(strip, 0)
    last = whole(strip, marks - CELLS)
    return first >= 0 and last >= 0 and first != last


class Reading:
    """What a strip says; filled by `read`, so one serves for the life of the shoe."""

    def __init__(self):
        self.result = NOTHING
        self.byte = 0  # card << 2 | deck
        self.reversed = False  # the stop cell came first
        self.erasures = 0  # 1: a cell was put right. Of an unread code: cells that were not clear
        self.two = False  # two whole codes that are not the same, or cells of more than one card (twocards.py)
        self.first = 0  # of the code that was read: its first mark

    def read(self, strip, marks: int) -> int:
        """Read the strip's first `marks` marks; returns NOTHING (hardly a mark), UNREAD or READ, also in `result`."""
        self.erasures = 0
        self.reversed = False
        self.two = False
        self.result = UNREAD if marks >= FEW else NOTHING
        kinds = strip.kinds
        if strip.paired:
            start, stop = DARK, LIGHT
            last = marks - CELLS
        else:  # start and stop look like bits: only a strip of exactly 18 marks is taken, and nothing is put right
            start, stop = ONE, ZERO
            last = 0 if marks == CELLS else -1
        for mark in range(last + 1):
            end = mark + CELLS - 1
            if kinds[mark] == start and kinds[end] == stop:
                self._run(strip, mark, marks, False)
            elif kinds[mark] == stop and kinds[end] == start:
                self._run(strip, mark, marks, True)
        if marks >= CELLS + FEW and not self.two:
            first = self.first if self.result == READ else -1
            self.two = two_codes(strip, marks) or two_cards(strip, marks, first)
        return self.result

    def _run(self, strip, mark: int, marks: int, backwards: bool) -> None:
        """Take a run of 18 marks from start to stop, if it proves itself."""
        if strip.paired and not stands_alone(strip, mark, marks):
            return
        word = 0
        erased = 0  # the bit of the erased cell
        erasures = 0
        lost = 0  # the mark of it
        doubtful = False
        for step in range(1, CELLS - 1):
            at = mark + CELLS - 1 - step if backwards else mark + step
            kind = strip.kinds[at]
            word <<= 1
            erased <<= 1
            if kind == ONE:
                word |= 1
            elif kind != ZERO:
                erasures += 1
                erased |= 1
                lost = at
                # Next to the ends an erasure can be the true start or stop, and the run be one cell out of place.
                doubtful |= (step == 1 and kind == DARK) or (step == CELLS - 2 and kind == LIGHT)
        if self.result != READ:
            self.erasures = erasures
        if erasures > 1 or doubtful or (erasures and not strip.paired):
            return
        even = rhythm(strip.halves, mark)
        if even == BROKEN:
            return
        if even == RESTED and erasures and not rested_at(strip.halves, lost):
            return
        found = proven(word >> 8, word & 0xFF)
        if erased and proven((word | erased) >> 8, (word | erased) & 0xFF):
            if found:
                return  # both values fit: nothing is proven
            found = True
            word |= erased
        if not found:
            return
        if self.result == READ:
            if word >> 8 != self.byte:
                self.two = True
            elif not backwards:
                self.reversed = False
            return
        self.result = READ
        self.first = mark
        self.byte = word >> 8
        self.reversed = backwards
        self.erasures = erasures

    @property
    def card(self) -> int:
        """0..63; from 54 on the code of no card of ours."""
        return self.byte >> 2

    @property
    def deck(self) -> int:
        return self.byte & 3
