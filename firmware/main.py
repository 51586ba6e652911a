"""Start-up of the shoe and its one loop. MicroPython runs this file when the Pico is switched on."""

import gc
import os
import time

import machine
from board import Board
from shoe import enrol
from shoe.loop import Shoe
from shoelink import schema
from shoelink.journal import Journal
from shoelink.link import Link

BUILD = b"0.1.0\0\0\0\0\0\0\0"

_RESETS = {1: schema.RESET_POWER, 3: schema.RESET_WATCHDOG}  # machine.reset_cause() of the rp2 port


def ident():
    """Who this shoe is: the chip's own number and the firmware's version."""
    return schema.Ident((machine.unique_id() + bytes(8))[:8], BUILD, bytes(16))


def main():
    """Runs until the power is cut. An error resets the shoe through the watchdog: the host resumes the journal or is
    told by the new boot id that it is gone."""
    board = Board()
    me = ident()
    key = enrol.read_key()
    floor = board.KEY_LEVELS[schema.KEY_FLOOR - 1]
    switched_on = machine.reset_cause() == machine.PWRON_RESET
    enrolling = switched_on and enrol.is_held(board.keys, floor, board.KEY_TOLERANCE, lambda: time.sleep_ms(5))
    link = Link(
        schema.SHOE,
        me,
        os.urandom,
        Journal(os.urandom(4)),
        boot=os.urandom(4),
        reset=_RESETS.get(machine.reset_cause(), schema.RESET_UNKNOWN),
        keys={me.device: key} if key and not enrolling else None,
    )
    now = time.ticks_ms()
    link.start(now)
    if enrolling:
        enrolment = enrol.Enrolment(board.host, board.bar, link, now)
        while not enrolment.turn(time.ticks_ms()):
            board.watchdog.feed()
            time.sleep_ms(1)
        machine.reset()
    shoe = Shoe(board, link, now)
    gc.collect()  # what the imports left behind: 40 kB
    while True:
        board.watchdog.feed()
        if shoe.turn(time.ticks_ms()):
            time.sleep_ms(1)


main()
