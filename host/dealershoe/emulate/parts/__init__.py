"""Models of the shoe's parts at the level of bytes, clocks and voltages, for the emulated shoe and the emulated RP2040.

Each runs unchanged on CPython and inside MicroPython (beside the firmware, as the stand-in hardware's device). A model
has a `fault`: "" or the name of a way in which the real part fails. A plug connects it: `hal/machine`, or a test.
"""

# Every way in which a part of the shoe can be made to fail, as (part, fault). `EmulatedShoe.fail` takes them by name.
FAILURES = (
    ("fram", "absent"),
    ("fram", "stuck"),
    ("fram", "forgets"),
    ("fram", "protected"),
    ("fram", "flips"),
    ("fram", "stranger"),
    ("lanes", "open"),
    ("lanes", "high"),
    ("lanes", "low"),
    ("lanes", "no load"),
    ("lanes", "no clock"),
    ("lanes", "lane 3 covered"),
    ("light", "dark"),
    ("light", "dusty"),
    ("light", "saturated"),
    ("light", "does not go off"),
    ("light", "stuck at one card"),
    ("ambient", "dazzled"),
    ("ambient", "dead"),
    ("keys", "done held"),
    ("keys", "between"),
    ("keys", "at ground"),
    ("keys", "off"),
    ("lid", "open"),
    ("tamper", "open"),
    ("supply", "low"),
    ("supply", "dead"),
    ("heads", "dark"),
    ("heads", "blind"),
    ("heads", "one track dark"),
    ("heads", "one track blind"),
    ("slots", "throat blocked"),
    ("slots", "lip blocked"),
    ("slots", "throat free"),
    ("slots", "lip free"),
    ("sampler", "stalled"),
    ("seats", "node 5 absent"),
    ("seats", "node 5 lies"),
    ("seats", "node 5 garbled"),
    ("seats", "node 5 blocked"),
    ("seats", "bus shorted"),
    ("seats", "bus noisy"),
)

# And of a shoe with a reader of tags in place of the seat bus; "tag at rest": one lies in its field.
READER_FAILURES = (
    ("reader", "absent"),
    ("reader", "zeros"),
    ("reader", "busy"),
    ("reader", "floats"),
    ("reader", "freezes"),
    ("reader", "restarts"),
    ("reader", "flips"),
    ("reader", "no E0"),
    ("reader", "no field"),
    ("reader", "tag at rest"),
)
EVERY_FAILURE = FAILURES + READER_FAILURES
