# Runs on the emulated Pico in place of main.py and prints what the reader of tags takes there. See test_pico_rfid.py.
# mypy: ignore-errors
import gc
import time

import micropython
from drivers.fram import Fram
from drivers.pn5180 import Pn5180
from machine import UART, Pin
from rfid.table import TagTable
from rfid.tags import Tags
from shoe.cardcode import READ, UNREAD

SAMPLE_US = 50


class Told:
    """Takes the faults."""

    def __init__(self):
        self.faults = 0

    def fault(self, code, detail, index):
        self.faults += 1

    def clear(self, code, detail, index):
        pass


class Reading:
    result = READ
    card = 51
    deck = 0
    erasures = 0


told, reading = Told(), Reading()
uart = UART(0, baudrate=115200, tx=Pin(0), rx=Pin(1))
began = time.ticks_us()
table = TagTable(Fram(0, 9, 8))
loaded_us = time.ticks_diff(time.ticks_us(), began)
reader = Pn5180(0, 2, 3, 4, 5, 6, 7)
tags = Tags(reader, table, told)
zero = time.ticks_us()
took = bytearray(4)  # the longest look, the longest look at a card that has left, in units of 4 us


def look(idle):
    now = time.ticks_diff(time.ticks_us(), zero) // SAMPLE_US
    began = time.ticks_us()
    tags.look(now, idle, 1)
    took[0] = max(took[0], time.ticks_diff(time.ticks_us(), began) >> 2)
    return now


while not tags.met:
    tags.turn(look(True), True)
took[0] = 0
print("started", reader.trouble, loaded_us)
uart.write(b"go")  # a tag comes into the field


def card(result):
    """The heap is locked from before the card comes until it has left."""
    reading.result = result
    gc.collect()
    gc.disable()
    inventories = reader.inventories
    began = now = look(True)
    micropython.heap_lock()
    try:
        while now - began < 600:  # 30 ms
            now = look(False)
        before = time.ticks_us()
        place = tags.passed(reading, True, False, now)
        took[1] = max(took[1], time.ticks_diff(time.ticks_us(), before) >> 2)
    finally:
        micropython.heap_unlock()
    gc.enable()
    print("card", place, reader.inventories - inventories, reader.found, 4 * took[0], 4 * took[1])
    tags.turn(look(True), True)


card(READ)
card(UNREAD)
before = gc.mem_free()
began = time.ticks_us()
table.learn(9, bytes((1, 2, 3, 4, 5, 6, 7, 0xE0)))
print("learned", time.ticks_diff(time.ticks_us(), began), table.place_of(bytes((1, 2, 3, 4, 5, 6, 7, 0xE0))))
print("faults", told.faults, "end")
