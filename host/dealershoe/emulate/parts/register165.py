"""The 74HC165 behind the exit lanes, pin by pin: parallel load, shift, serial input. For both tiers of emulation.

Data sheet: Nexperia 74HC165, function table. While the load input (SH//LD) is low the inputs D0 to D7 stand in the
register and D7 at the output; while it is high, a rising clock shifts D6 to D7 and so on, and the serial input DS to
D0. On the shoe DS is tied to the supply, so that the ninth bit is always 1: that tells a chip from a loose wire.
"""

# "open": the chip is missing and the data line floats, which reads low. "high": the data line is held high. "low": it
# is shorted to ground. "no load": the load input is loose. "no clock": so is the clock.
FAULTS = ("open", "high", "low", "no load", "no clock")


class Register165:
    """`lanes` are the inputs, D0 in bit 0; `stuck` are inputs that read 1 whatever passes. `data()` is the output."""

    def __init__(self) -> None:
        self.lanes = 0
        self.stuck = 0
        self.fault = ""
        self._bits = 0
        self._load = 1
        self._clock = 0

    def load(self, level: int) -> None:
        """SH//LD."""
        if self.fault != "no load":
            self._load = level
            self._take()

    def clock(self, level: int) -> None:
        """CP."""
        rises = level and not self._clock
        self._clock = level
        if rises and self._load and self.fault != "no clock":
            self._bits = (self._bits << 1 | 1) & 0xFF

    def data(self) -> int:
        """Q7."""
        if self.fault in ("open", "low"):
            return 0
        if self.fault == "high":
            return 1
        self._take()
        return self._bits >> 7

    def _take(self) -> None:
        if not self._load:
            self._bits = self.lanes | self.stuck
