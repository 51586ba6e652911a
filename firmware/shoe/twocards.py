"""Whether the marks of one passage are those of two cards: a card's blank margins lie among them. For `cardcode.read`.

A margin between two codes is 7.4 to 17 times as long as a half cell. Where a card came to rest there is a gap like that
too, so the gap has to be a margin by one of these:

* all is even in the two cells on one side of it at least (`margin`): a hand cannot do much there, while a card that
  rests comes to its stop by and by, and a tremble makes halves of any length;
* nothing else among the marks took long (`alone`): a card that turned once turned twice;
* a code that was read below begins or ends there (`beside`), or one's stop cell and another's start cell lie there
  (`met`; where one of the strips is stuck on the wrong way about the other looks have to do).

A card that turned about in its margin looks like that as well. But then its cells came the other way about before, the
end cell twice on end; or the way back was not seen, and the same cells came before. Two cards differ from both. (A card
that turned more than once has fewer cells that came back: two on end are believed, four above.)
"""

from shoe.strip import CELLS, DARK, FEW, LIGHT

ENDS = bytes((LIGHT, DARK))  # a stop cell and a start cell
MARGIN = 30  # times a half cell: longer is a rest
# Cells on end that came the other way about. Of two cards one of the nearest two is an end cell, and hardly ever like
# the other. The top head takes ends for bits: there four cells of two cards are like each other once in 16 pairs.
BACK, BACK_ABOVE = 2, 4


def margin_python(halves, mark: int, last: int) -> int:
    """The next mark, from this one to `last`, that has a blank margin before it; -1: none has. `halves` has two marks
    on both sides of each. All is even there, but for one half that is soiled or that the other card's edge has cut; or
    all is even on one side, and on the other the hand comes from its stop or to it (`stopping`)."""
    while mark <= last:
        at = 2 * mark
        gap = halves[at]
        if gap >= 5 * min(halves[at + 1], halves[at + 3]) and gap >= 5 * min(halves[at - 1], halves[at - 3]):
            behind = odd(halves, at + 1, gap)
            before = odd(halves, at - 4, gap)
            if (
                behind + before <= 1
                or (behind == 0 and stopping(halves, at - 1, -1, gap))
                or (before == 0 and stopping(halves, at + 1, 1, gap))
            ):
                return mark
        mark += 1
    return -1


def stopping(halves, at: int, step: int, gap: int) -> bool:
    """Whether the four halves on this side of the gap took ever longer, marks and gaps for themselves, the farther from
    it they are, and the nearest two are alike and a quarter of it or less."""
    first, second = halves[at], halves[at + step]
    shortest = min(first, second)
    if gap < 4 * max(first, second) or gap > MARGIN * shortest or max(first, second) > 4 * shortest:
        return False
    return halves[at + 2 * step] + 2 >= first and halves[at + 3 * step] + 2 >= second  # samples, for the sampling


def odd(halves, at: int, gap: int) -> int:
    """How many of these four halves are unlike the others (2: more than one), which are alike, marks and gaps for
    themselves, and of which the gap is at least five."""
    first, second, third, fourth = halves[at], halves[at + 1], halves[at + 2], halves[at + 3]
    unlike = 0
    if abs(first - third) > min(first, third) + 2:  # twice, and 2 samples for the sampling
        unlike = 1
        first = third = first if abs(first - second) < abs(third - second) else third
    if abs(second - fourth) > min(second, fourth) + 2:
        if unlike:
            return 2
        unlike = 1
        second = fourth = second if abs(second - first) < abs(fourth - first) else fourth
    longest = max(first, second, third, fourth)
    shortest = min(first, second, third, fourth)
    return 2 if gap < 5 * longest or gap > MARGIN * shortest or longest > 4 * shortest else unlike


try:
    from shoe.halves_viper import margin
except ImportError:  # CPython has no viper; a test proves the two equal
    margin = margin_python


def alone(halves, mark: int, marks: int) -> int:
    """Whether the gap before this mark is as long as a margin, and no other half took long: -1 no, 0 yes, 1 but for one
    that lost its neighbour. (Of the half cells beside the gap one may be soiled.)"""
    at = 2 * mark
    beside = max(min(halves[at - 1], halves[at - 3]), min(halves[at + 1], halves[at + 3]))
    if not 3 * beside <= halves[at] <= 24 * beside:
        return -1
    doubt = 0
    for half in range(3, at + 2 * min(CELLS, marks - mark)):
        like = halves[half - 2]
        if half != at and halves[half] > 3 * like:
            if halves[half] > 6 * like:
                return -1
            doubt = 1
    return doubt


def again(kinds, mark: int, cells: int) -> bool:
    """Whether so many cells from this mark on are those from the first mark on."""
    for cell in range(cells):
        if kinds[cell] != kinds[mark + cell]:
            return False
    return True


def differ(strip, mark: int, marks: int, doubt: int) -> bool:
    """Whether what begins with this mark is no part of the card before it. `doubt`: cells that may be soiled."""
    kinds = strip.kinds
    cells = min(CELLS, mark, marks - mark)
    back = 0
    while back < cells and kinds[mark - 1 - back] == kinds[mark + back]:
        back += 1
    if doubt and back >= (BACK if strip.paired else BACK_ABOVE):
        return False
    if again(kinds, mark, cells):
        return False
    if strip.paired and not doubt and not back:
        return True
    unlike = 0
    turned = (marks - CELLS - 1) // 2  # so far a card that turned once has come back, at the least
    for cell in range(min(cells, turned)):
        if kinds[mark - 1 - cell] != kinds[mark + cell]:
            unlike += 1
    return unlike > doubt


def apart(strip, mark: int, marks: int) -> bool:
    """Whether a margin between two cards is before this mark, by the second look."""
    doubt = alone(strip.halves, mark, marks)
    return doubt >= 0 and differ(strip, mark, marks, doubt)


def widest(halves, marks: int) -> int:
    """The mark with most light before it, of those that leave a FEW on both sides."""
    found = FEW
    for mark in range(found, marks - FEW + 1):
        if halves[2 * mark] > halves[2 * found]:
            found = mark
    return found


def steep(halves, at: int) -> bool:
    """Whether this gap took three times as long as each of the halves next to it."""
    return halves[at] >= 3 * max(halves[at - 2], halves[at - 1], halves[at + 1], halves[at + 2])


def met(strip, marks: int) -> bool:
    """Whether the stop cell of one card is followed by a margin and the start cell of another."""
    halves = strip.halves
    mark = strip.kinds.find(ENDS, FEW - 1, marks - FEW + 1) + 1
    while mark > 0:
        if steep(halves, 2 * mark):
            return True
        mark = strip.kinds.find(ENDS, mark + 1, marks - FEW + 1) + 1
    return False


def two_cards(strip, marks: int, first: int) -> bool:
    """Whether these marks, more than one card has with all its dirt, are two cards'. `first`: the first mark of a code
    that was read, -1: none was."""
    if strip.paired and met(strip, marks):
        return True
    halves = strip.halves
    if first < 0:
        if apart(strip, widest(halves, marks), marks):
            return True
    elif beside(strip, first, marks) or beside(strip, first + CELLS, marks):
        return True
    last = marks - FEW
    mark = margin(halves, FEW, last)
    while mark >= 0:
        if differ(strip, mark, marks, 1):
            return True
        mark = margin(halves, mark + 1, last)
    return False


def beside(strip, edge: int, marks: int) -> bool:
    """Whether a code that was read below has another card's marks beyond this edge, though the hand may have rested
    there. But for dirt, of its own there is the end cell once more, where it turned in its margin, or all again."""
    if edge < FEW or marks - edge < FEW:
        return False
    kinds = strip.kinds
    if kinds[edge - 1] != kinds[edge] and not again(kinds, edge, min(CELLS, edge, marks - edge)):
        return True
    return apart(strip, edge, marks)
