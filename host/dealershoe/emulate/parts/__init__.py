"""Models of the shoe's parts at the level of bytes, clocks and voltages, for the emulated shoe and the emulated RP2040.

Each runs unchanged on CPython and inside MicroPython (beside the firmware, as the stand-in hardware's device). A model
has a `fault`: "" or the name of a way in which the real part fails. A plug connects it: `hal/machine`, or a test.
"""
