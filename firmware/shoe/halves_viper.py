"""What is asked of half cells, for MicroPython's viper emitter: machine code, integers only, no allocation. For the
card code.

`rhythm` is that of `cardcode.py` without the quick look (`cardcode.steady`): the long one takes a fiftieth of its time
here. `margin` is that of `twocards.py`.
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


@micropython.viper
def odd(halves: ptr16, at: int, gap: int) -> int:
    first: int = halves[at]
    second: int = halves[at + 1]
    third: int = halves[at + 2]
    fourth: int = halves[at + 3]
    unlike: int = 0
    low: int = first
    high: int = third
    if third < first:
        low = third
        high = first
    if high > 2 * low + 2:
        unlike = 1
        if int(near(first, second)) >= int(near(third, second)):
            first = third
        third = first
    low = second
    high = fourth
    if fourth < second:
        low = fourth
        high = second
    if high > 2 * low + 2:
        if unlike == 1:
            return 2
        unlike = 1
        if int(near(second, first)) >= int(near(fourth, first)):
            second = fourth
        fourth = second
    low = first
    high = first
    if second < low:
        low = second
    if third < low:
        low = third
    if fourth < low:
        low = fourth
    if second > high:
        high = second
    if third > high:
        high = third
    if fourth > high:
        high = fourth
    if gap < 5 * high or gap > 30 * low or high > 4 * low:
        return 2
    return unlike


@micropython.viper
def near(a: int, b: int) -> int:
    return a - b if a > b else b - a


@micropython.viper
def stopping(halves: ptr16, at: int, step: int, gap: int) -> int:
    first: int = halves[at]
    second: int = halves[at + step]
    low: int = first
    high: int = second
    if second < first:
        low = second
        high = first
    if gap < 4 * high or gap > 30 * low or high > 4 * low:
        return 0
    if int(halves[at + 2 * step]) + 2 >= first and int(halves[at + 3 * step]) + 2 >= second:
        return 1
    return 0


@micropython.viper
def margin(halves: ptr16, mark: int, last: int) -> int:
    while mark <= last:
        at: int = 2 * mark
        gap: int = halves[at]
        if gap >= 5 * int(halves[at + 1]) or gap >= 5 * int(halves[at + 3]):
            if gap >= 5 * int(halves[at - 1]) or gap >= 5 * int(halves[at - 3]):
                behind: int = int(odd(halves, at + 1, gap))
                before: int = int(odd(halves, at - 4, gap))
                if behind + before <= 1:
                    return mark
                if behind == 0 and int(stopping(halves, at - 1, -1, gap)) == 1:
                    return mark
                if before == 0 and int(stopping(halves, at + 1, 1, gap)) == 1:
                    return mark
        mark += 1
    return -1
