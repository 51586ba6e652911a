"""The link between shoe and host, for both ends: the same files run on CPython and on MicroPython."""
