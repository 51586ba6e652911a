# Stands in for MicroPython's time on a Pico: ticks wrap at 2^30, and a sleep ends early when bytes or samples arrive.
from utime import *
import utime

import _model
import machine

_WRAP = 0x3FFFFFFF


def ticks_ms():
    return utime.ticks_ms() & _WRAP


def ticks_us():
    return utime.ticks_us() & _WRAP


ticks_cpu = ticks_us


def ticks_add(a, b):
    return (a + b) & _WRAP


def ticks_diff(a, b):
    return ((a - b + 0x20000000) & _WRAP) - 0x20000000


def sleep_ms(ms):
    if ms > 0 and not machine.unread():
        _model.wait(ms, machine.streams)


def sleep(s):
    sleep_ms(int(s * 1000))
