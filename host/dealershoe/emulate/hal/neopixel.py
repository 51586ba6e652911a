# Stands in for MicroPython's neopixel: the bytes that would go down the wire, in the order of a WS2812B (green first).
from machine import bitstream


class NeoPixel:
    ORDER = (1, 0, 2, 3)

    def __init__(self, pin, n, bpp=3, timing=1):
        self.pin, self.n, self.bpp = pin, n, bpp
        self.buf = bytearray(n * bpp)
        self.timing = (400, 850, 800, 450) if timing else (800, 1700, 1600, 900)  # ns, as the original

    def __len__(self):
        return self.n

    def __setitem__(self, i, v):
        for c in range(self.bpp):
            self.buf[i * self.bpp + self.ORDER[c]] = v[c]

    def __getitem__(self, i):
        return tuple(self.buf[i * self.bpp + self.ORDER[c]] for c in range(self.bpp))

    def fill(self, v):
        for i in range(self.n):
            self[i] = v

    def write(self):
        bitstream(self.pin, 0, self.timing, self.buf)
