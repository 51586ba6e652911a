"""Start-up of the shoe and its one loop. MicroPython runs this file when the Pico is switched on."""

import gc
import os
import time

import machine
from board import Board
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
    link = Link(
        schema.SHOE,
        ident(),
        os.urandom,
        Journal(os.urandom(4)),
        boot=os.urandom(4),
        reset=_RESETS.get(machine.reset_cause(), schema.RESET_UNKNOWN),
    )
    now = time.ticks_ms()
    link.start(now)
    shoe = Shoe(board, link, now)
    gc.collect()  # what the imports left behind: 40 kB
    while True:
        board.watchdog.feed()
        if shoe.turn(time.ticks_ms()):
            time.sleep_ms(1)


main()
