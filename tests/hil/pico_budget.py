# Runs on the emulated Pico in place of main.py and prints what things take there. See test_pico.py.
# mypy: ignore-errors
import gc
import os
import time
from array import array

import micropython
from drivers.fram import Fram
from drivers.sampler import RATE, RING, Sampler
from machine import UART, Pin
from shoe.cardcode import Reading
from shoe.edges import new_out, new_state, scan
from shoe.events import Events
from shoe.kept import KeptJournal
from shoe.lanes import ExitLanes
from shoe.loop import CHUNKS
from shoe.passage import CHUNK, Passage
from shoe.sampleclock import SampleClock
from shoe.strip import ROOM, Strip
from shoelink import frame, schema
from shoelink.tokens import Veil

SLOTS = 14  # of the journal; a start that gathers 514 of them would take a minute of emulation


class Link:
    """The journal's owner, as the events see it."""

    def __init__(self):
        self.journal = KeptJournal(Fram(0, 9, 8), os.urandom, SLOTS)

    def open(self, kind, length):
        return self.journal.open(kind, length)


link = Link()
clock = SampleClock()
events = Events(link, clock, ExitLanes(), Veil(bytes(8), os.urandom, True))
passage = Passage(events, clock)


def chunks_of(name):
    """A file of samples as the sampler gives them."""
    with open(name, "rb") as file:
        samples = file.read()
    return [samples[at : at + 64] for at in range(0, len(samples), 64)]


card, pair = chunks_of("samples.bin"), chunks_of("pair.bin")
out = bytearray(schema.FRAME)
took_us = array("i", (0, 0, 0))  # a tuple given back would be an allocation


def a_card(chunks):
    """From samples to an untagged frame: the longest turn before that, the one with the event and its frame, and all
    turns together."""
    longest = last = total = 0
    journal = link.journal
    before = journal.next
    for chunk in chunks:
        began = time.ticks_us()
        passage.feed(chunk, len(chunk))
        if journal.next != before:  # in the FRAM, and read back
            at = journal.load(before)
            frame.encode_into(out, 0, schema.CARD, 0, before, 0, journal.buffer, at, journal.length(before))
            last = time.ticks_diff(time.ticks_us(), began)
            total += last
            before = journal.next
            continue
        took = time.ticks_diff(time.ticks_us(), began)
        total += took
        if took > longest:
            longest = took
    took_us[0] = longest
    took_us[1] = last
    took_us[2] = total


a_card(card)
gc.collect()
gc.disable()
micropython.heap_lock()
try:
    a_card(pair)
    a_card(card)
    link.journal.release(3)  # a host has stored all: the head is written too
finally:
    micropython.heap_unlock()
gc.enable()
journal = link.journal
print("card", journal.next - 1, took_us[0], took_us[1], took_us[2], 64 * len(card), journal.kept, journal.oldest)

# ---- the longest look there is: as many marks as are kept, with margins among them, and all of one card that trembled
looked_us = 0
for paired in (True, False):
    for seed in range(6):
        strip, reading, number = Strip(paired), Reading(), 7 * seed + 1
        strip.marks = ROOM
        for at in range(2 * ROOM):
            number = (75 * number + 74) % 65537
            # seed 0: no gap is long; 1: each tenth is a margin, all else even; others: any length
            strip.halves[at] = 20 if seed < 2 else 3 + number % 150
            if seed == 1 and at % 20 == 0:
                strip.halves[at] = 240
            strip.kinds[at // 2] = seed & 1 if seed < 4 else number >> 8 & 1
        gc.collect()
        micropython.heap_lock()
        began = time.ticks_us()
        reading.read(strip, ROOM)
        looked_us = max(looked_us, time.ticks_diff(time.ticks_us(), began))
        micropython.heap_unlock()
print("looked", looked_us)

# ---- the sampler while memory is tidied and the line is busy, at the worst
uart = UART(0, baudrate=115200, tx=Pin(0), rx=Pin(1), rxbuf=512, txbuf=512, timeout=0)
sampler = Sampler(10)
gc.collect()
# as much alive as the shoe has, and more: lists of an object and a tuple, 96 bytes each
live = [[bytearray(24), (number, None)] for number in range((gc.mem_free() - 40_000) // 96)]
buffer = bytearray(CHUNK)
received = bytearray(256)
noise = bytes(range(64))
state, found = new_state(), new_out(CHUNK)


def drain():
    """Take what has been sampled, as the shoe's loop does; returns how many edges were in it."""
    edges = 0
    for _ in range(CHUNKS):
        n = sampler.readinto(buffer)
        edges += scan(buffer, n, state, found)
        if n < CHUNK:
            break
    return edges


edges = worst = turns = heard = 0
uart.write(b"go")
end = time.ticks_add(time.ticks_ms(), 110)  # two cards at 3 m/s take 75
while time.ticks_diff(end, time.ticks_ms()) > 0:
    edges += drain()
    heard += uart.readinto(received) or 0
    uart.write(noise)
    turns += 1
    if turns % 2 == 0:
        began = time.ticks_us()
        gc.collect()
        worst = max(worst, time.ticks_diff(time.ticks_us(), began))
edges += drain() + drain()  # the first may end at what the sampler had seen before the last collection
print("sampled", edges, worst, sampler.overruns, sampler.lost, heard, RING, RATE, turns)

# ---- and when nobody comes for a whole turn of the ring
drain()
time.sleep_ms(RING * 1000 // RATE + 60)
sampler.readinto(buffer)
print("late", sampler.overruns, sampler.lost, "end")
