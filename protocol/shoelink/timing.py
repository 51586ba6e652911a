"""Ticks, the link's times and its retransmission timer. All times are milliseconds of a 30-bit clock that wraps."""

TICKS = 0x3FFFFFFF  # `time.ticks_ms()` of MicroPython wraps here, after 12.4 days
_HALF = 0x20000000

# A link lost must be shown within 750 ms; 10 ms are left for the end that shows it.
LOST_MS = 740
PING_MS = 246  # 250 ms times Klipper's 0.9839: never in step with anything that repeats four times a second
IDLE_MS = 251  # the shoe pings only when it has been silent this long; a host that pings keeps it answering
PROBE_AFTER_MS = 300  # one PING or its PONG is missing: ask again quickly, so that loss alone is not taken for silence
PROBE_MS = 50
HELLO_MS = 100  # between two HELLOs: with keys and one frame in five lost, ten fit into a second
QUIET_MS = 30  # silence after which a second NAK may be sent
RTO_START_MS = 200
RTO_FLOOR_MS = 50  # Klipper's 25 ms repeated frames that had arrived (klipper #690)
RTO_CAP_MS = 250  # a point-to-point line has no congestion to wait for
RTO_SLACK_MS = 25  # at least this much above the mean: turns of the loop, and frames queued before this one


def elapsed(now: int, since: int) -> int:
    """Milliseconds from `since` to `now`, right across the wrap; negative if `since` is later."""
    return ((now - since + _HALF) & TICKS) - _HALF


class Rto:
    """Retransmission time-out by RFC 6298, section 2, in whole milliseconds; doubling is forgotten on progress.

    It doubles from the second time-out on: here a frame that is missing was lost, three in a row at one in five for one
    in 125, and nobody else shares the line.
    """

    def __init__(self) -> None:
        self.value = RTO_START_MS
        self._calm = RTO_START_MS
        self._again = False  # it has expired since the last progress
        self._mean8 = 0  # 8 × the smoothed round trip
        self._deviation4 = 0  # 4 × its mean deviation

    def sample(self, round_trip: int) -> None:
        """Take the round trip of a frame that was sent only once (Karn's rule)."""
        if self._mean8:
            error = round_trip - self._mean8 // 8
            self._mean8 += error
            self._deviation4 += abs(error) - self._deviation4 // 4
        else:
            self._mean8 = 8 * round_trip
            self._deviation4 = 2 * round_trip
        slack = max(RTO_SLACK_MS, self._deviation4)
        self._calm = min(RTO_CAP_MS, max(RTO_FLOOR_MS, self._mean8 // 8 + slack))
        self.value = self._calm

    def expired(self) -> None:
        """Double, up to the cap, if that was not the first time."""
        if self._again:
            self.value = min(RTO_CAP_MS, 2 * self.value)
        self._again = True

    def progress(self) -> None:
        """The peer has something new: forget the doubling."""
        self.value = self._calm
        self._again = False
