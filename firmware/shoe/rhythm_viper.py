"""`cardcode.rhythm` for MicroPython's viper emitter: machine code, integers only, no allocation. See `cardcode.py`.

The quick look (`cardcode.steady`) is left out: the long one takes a fiftieth of its time here.
"""

# ruff: noqa: F821 (ptr16 is a word of the emitter)

import micropython


@micropython.viper
def rhythm(halves: ptr16, mark: int) -> int:
    low: int = 2 * mark + 1
    high: int = low + 34
    first: int = -1
    last: int = -1
    at: int = low
    while at <= high:
        length: int = halves[at]
        most: int = 0
        least: int = 0
        near: int = 0
        if at >= low + 2:
            most = int(halves[at - 2])
            least = most
            if at >= low + 4:
                near = int(halves[at - 4])
                if near > most:
                    most = near
                else:
                    least = near
        if at <= high - 2:
            most_behind: int = halves[at + 2]
            least_behind: int = most_behind
            if at <= high - 4:
                near = int(halves[at + 4])
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
        short: int = 0
        if 22 * length + 20 < 10 * most:
            short = 1
        long: int = 0
        if 10 * length > 22 * least + 20:
            long = 1
        cut: int = 0
        if at <= high - 2:
            three: int = int(halves[at]) + int(halves[at + 1]) + int(halves[at + 2])
            before: int = 0
            after: int = 0
            if at >= low + 2:
                before = int(halves[at - 2])
            if at + 4 <= high:
                after = int(halves[at + 4])
            if before == 0 or after == 0:
                if 2 * three < 3 * (before + after):
                    cut = 1
            else:
                if after < before:
                    before = after
                if 2 * three < 3 * before:
                    return 0
        if short + long + cut > 0:
            if short == 1 and at >= low + 2 and at <= high - 2:
                return 0
            if first < 0:
                first = at
            last = at
        at += 1
    if first < 0:
        return 2
    if last - first > 6:
        return 0
    return 1
