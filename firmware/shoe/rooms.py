"""The large buffers, taken before anything else is imported: later the heap has no such pieces. For main.py."""

SAMPLES = bytearray(2 * 4096)  # of drivers/sampler.py: the ring, and as much to align it
EVENTS = bytearray(514 * 26)  # of shoe/kept.py: 512 events and two in reserve
