"""The smallest host: greets the shoe on the port given, and prints each card that leaves it. For tests of your own.

    python docs/examples/listen.py PORT

A real host stores an event before it says `stored`: the shoe keeps everything until then.
"""

import os
import select
import sys
import time

import serial
from shoelink import notice, schema
from shoelink.link import Link


def main(path: str) -> None:
    me = schema.Ident(b"EXAMPLE\0", b"0.1.0".ljust(12, b"\0"), bytes(16))
    link = Link(schema.HOST, me, os.urandom)
    with serial.Serial(path, 115200, timeout=0, exclusive=True) as port:
        link.start(now())
        while True:
            select.select([port], [], [], link.wait(now()) / 1000)
            for what in [*link.receive(port.read(4096), now()), *link.poll(now())]:
                if isinstance(what, notice.Greeting):
                    link.resume(0, now())  # nothing is stored yet: send all that you have
                elif isinstance(what, notice.Recorded):
                    if isinstance(what.message, schema.Card):
                        print(f"card #{what.message.draw}, target {what.message.target}", flush=True)
                    link.stored(what.number)
            link.poll(now())
            port.write(link.take())


def now() -> int:
    """Milliseconds that wrap as the shoe's do."""
    return time.monotonic_ns() // 1_000_000 & 0x3FFFFFFF


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        pass
    except serial.SerialException as gone:
        sys.exit(f"the shoe has gone: {gone}")
