# Runs recorded sample streams through the firmware inside MicroPython; prints what it tells. See test_micropython.py.
# Input: a file with, for each stream, a line of sizes of chunks and a line of samples as "level*count" pieces.
# mypy: ignore-errors
import sys
from array import array

import micropython
from drivers.copy_viper import copy_ring
from shoe import cardcode, edges, twocards
from shoe.cardcode import READ
from shoe.passage import Passage

if (
    edges.scan is edges.scan_python
    or cardcode.rhythm is cardcode.rhythm_python
    or twocards.margin is twocards.margin_python
):
    print("the viper twins are not in use")
    sys.exit(1)

said = [0, 0, 0]
margins = 0
with open(sys.argv[2]) as file:
    for line in file:
        halves = array("H", [int(word) for word in line.split()])
        for mark in range((len(halves) - 36) // 2 + 1):
            found = cardcode.rhythm(halves, mark)
            said[found] += 1
            if found != cardcode.rhythm_python(halves, mark):
                print("the rhythms differ:", mark, line)
                sys.exit(1)
        last = (len(halves) - 5) // 2
        mark = 2
        while 0 <= mark <= last:
            found = twocards.margin(halves, mark, last)
            if found != twocards.margin_python(halves, mark, last):
                print("the margins differ:", mark, line)
                sys.exit(1)
            if found < 0:
                break
            margins += 1
            mark = found + 1
if min(said) < 200 or margins < 200:
    print("not enough of a rhythm, or margins:", said, margins)
    sys.exit(1)


ring = bytearray([i * 7 & 0xFF for i in range(4096)])
for at, n in ((0, 256), (4000, 200), (4095, 1), (3841, 256), (17, 0)):
    out = bytearray(256)
    copy_ring(ring, at, out, n)
    if out != bytearray([ring[(at + i) % 4096] & 0x7F for i in range(n)]) + bytearray(256 - n):
        print("copy_ring differs")
        sys.exit(1)


class Listener:
    def left(self, p):
        below, above = p.below, p.above
        up = below.result != READ and above.result == READ
        r = above if up else below
        read = r.result == READ
        print("left", p.at, r.byte if read else -1, int(up), int(r.reversed), r.erasures, p.speed, int(p.double))

    def back(self, p):
        print("back", p.at, p.distance, int(p.had_left))

    def stopped(self, p, slots):
        print("stopped", p.at, slots)

    def moved(self, p):
        print("moved", p.at, 0)

    def odd(self, p, marks):
        print("odd", p.at, marks)

    def missed(self, p, slot):
        print("missed", p.at, slot)

    def dirty(self, p, bits):
        print("dirty", p.at, bits)


class Quiet:
    def left(self, p):
        pass

    back = moved = left

    def stopped(self, p, slots):
        pass

    odd = missed = dirty = stopped


def samples_of(line):
    out = bytearray()
    for piece in line.split():
        level, count = piece.split("*")
        out.extend(bytes((int(level),)) * int(count))
    return out


def chunks_of(samples, sizes):
    at = k = 0
    while at < len(samples):
        n = min(sizes[k % len(sizes)], len(samples) - at)
        yield samples[at : at + n]
        at += n
        k += 1


with open(sys.argv[1]) as file:
    while True:
        sizes = file.readline()
        if not sizes:
            break
        sizes = [int(size) for size in sizes.split()]
        samples = samples_of(file.readline())
        print("stream")
        passage = Passage(Listener())
        for chunk in chunks_of(samples, sizes):
            passage.feed(chunk, len(chunk))
        # the same once more with the heap locked: from the first edge to the card nothing may allocate
        passage = Passage(Quiet())
        chunks = list(chunks_of(samples, sizes))
        micropython.heap_lock()
        for chunk in chunks:
            passage.feed(chunk, len(chunk))
        micropython.heap_unlock()
        # and the twins on the same samples
        native, plain = edges.new_state(), edges.new_state()
        a, b = edges.new_out(256), edges.new_out(256)
        for chunk in chunks:
            n = len(chunk)
            if edges.scan(chunk, n, native, a) != edges.scan_python(chunk, n, plain, b) or a != b or native != plain:
                print("the twins differ")
                sys.exit(1)
