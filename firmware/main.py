"""Start-up of the shoe and its one loop. MicroPython runs this file when the Pico is switched on."""

import os
import sys
import time

from shoe import rooms  # isort: skip  # before all that is large

import machine
import shoelink
from board import Board, Shoe
from drivers import flash
from shoe import enrol, garbage
from shoe.kept import KeptJournal
from shoe.selftest import SelfTest
from shoelink import schema
from shoelink.link import Link
from shoelink.tokens import Veil

BUILD = b"0.1.0\0\0\0\0\0\0\0"

_RESETS = {1: schema.RESET_POWER, 3: schema.RESET_WATCHDOG}  # machine.reset_cause() of the rp2 port


def folder(path: str) -> str:
    """The folder of a file, "" for the root of a Pico's file system."""
    return path[: path.rindex("/")] if "/" in path else ""


def ident():
    """Who this shoe is: the chip's own number, the firmware's version and the digest of its files."""
    root, link = folder(globals().get("__file__", "")), folder(shoelink.__file__)  # main.py in a Pico's root has none
    if not root or link.startswith(root + "/"):
        link = ""
    return schema.Ident((machine.unique_id() + bytes(8))[:8], BUILD, flash.digest(root, link))


def wait(ms: int) -> None:
    """Let so many milliseconds pass, whatever arrives meanwhile."""
    until = time.ticks_add(time.ticks_ms(), ms)
    while time.ticks_diff(until, time.ticks_ms()) > 0:
        time.sleep_ms(1)


def is_held_at_power_up(board, key: int) -> bool:
    """Whether the shoe was switched on with this key down: the floor key enrols it, the exposed key opens the table."""
    level, tolerance = board.calibration.keys[key - 1], board.calibration.tolerance
    switched_on = machine.reset_cause() == machine.PWRON_RESET
    return switched_on and enrol.is_held(board.keys, level, tolerance, lambda: wait(5))


def main():
    """Runs until the power is cut. An error resets the shoe through the watchdog: the host resumes the journal or is
    told by the new boot id that it is gone."""
    garbage.know(sys.modules.values(), schema)
    garbage.collect()  # what the imports left behind, 40 kB: what follows is large
    board = Board()
    journal = KeptJournal(board.memory, os.urandom, buffer=rooms.EVENTS)
    me = ident()
    key = enrol.read_key()
    enrolling = is_held_at_power_up(board, schema.KEY_FLOOR)
    veil = Veil(me.device, os.urandom, is_held_at_power_up(board, schema.KEY_EXPOSED))
    link = Link(
        schema.SHOE,
        me,
        os.urandom,
        journal,
        boot=os.urandom(4),
        reset=_RESETS.get(machine.reset_cause(), schema.RESET_UNKNOWN),
        keys={me.device: key} if key and not enrolling else None,
    )
    if enrolling:
        now = time.ticks_ms()
        link.start(now)
        enrolment = enrol.Enrolment(board.host, board.bar, link, now)
        while not enrolment.turn(time.ticks_ms()):
            board.watchdog.feed()
            time.sleep_ms(1)
        machine.reset()
    board.watch()
    selftest = SelfTest(board, wait, time.ticks_ms)
    shoe = Shoe(board, link, veil, selftest, selftest.run(), time.ticks_ms())
    garbage.collect()
    while True:
        if shoe.turn(time.ticks_ms()):
            time.sleep_ms(1)


main()
