"""The Pico's own main.py: starts the version that is good, or a new one for a trial. `dealershoe flash` puts it there.

The folders /a and /b hold a version each. The file /slot says what to do; it is only ever replaced whole (a rename is
one step on littlefs), so a power cut leaves the old word or the new one:

    a       run /a
    a b     /b is new: note "a b!" and run it for a trial
    a b!    the trial ended without a HELLO: note "a" and run /a

The trial's first HELLO to the host makes /b the good one: "b". A trial that hangs is ended by the watchdog. "-" stands
for the good version while there is none.
"""

import os
import sys

import machine

MARK = "/slot"
TRIAL_MS = 8000  # of 8388 ms at most: RP2040 datasheet 4.7; the shoe's own watchdog takes over when it starts
HOST = 0  # the UART to the host


def choose(words):
    """Which folder to run, what to note first (None: nothing) and whether it is a trial, from the words of /slot."""
    good, new = words[0], words[1] if len(words) > 1 else ""
    if not new:
        return good, None, False
    if new[-1] != "!":
        return new, good + " " + new + "!", True
    if good == "-":
        return new[:-1], None, True
    return good, good, False


def note(text: str) -> None:
    """Replace /slot, whole or not at all."""
    with open(MARK + ".new", "w") as file:
        file.write(text)
    os.rename(MARK + ".new", MARK)


class Listened:
    """A UART that looks for the HELLO in what is sent, and is as fast as any other after it."""

    def __init__(self, slot: str, *given, **named):
        from shoelink import frame

        self._uart = machine.UART(*given, **named)
        self._slot = slot
        self._decoder = frame.Decoder()
        self._decoder.keyed = True  # a shoe that has a key may seal it

    def __getattr__(self, name):
        return getattr(self._uart, name)

    def write(self, data):
        from shoelink import schema

        sent = self._uart.write(data)
        for found in self._decoder.feed(memoryview(data)[: sent or 0]):
            if found[0] == schema.HELLO:
                note(self._slot)
                self.write = self._uart.write  # type: ignore[method-assign]
                break
        return sent


class Machine:
    """The module machine, with a host's UART that is listened to."""

    def __init__(self, slot: str):
        self._slot = slot
        self.UART = self._uart  # on the object: MicroPython imports no method by its name

    def __getattr__(self, name):
        return getattr(machine, name)

    def _uart(self, number, *given, **named):
        if number == HOST:
            return Listened(self._slot, number, *given, **named)
        return machine.UART(number, *given, **named)


def start() -> None:
    """Run a version; returns only if that one ends."""
    with open(MARK) as file:
        slot, mark, trial = choose(file.read().split())
    if mark:
        note(mark)
    sys.path.insert(0, "/" + slot)
    if trial:
        machine.WDT(timeout=TRIAL_MS)
        sys.modules["machine"] = Machine(slot)  # type: ignore[assignment]
    __import__("main")


if __name__ == "__main__":
    start()
