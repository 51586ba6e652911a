"""One direction of a bad line: named faults, a seed, the same faults every time. Bytes and the time come in.

For `FaultyLine`. A frame's fate depends on the seed and on the frame's number alone, not on how the bytes were cut.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, fields

HOLD_MS = 20.0  # bytes that no delimiter has followed for so long go on as they are


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares from 0 to 1 of the frames that a fault befalls, and milliseconds of delay. A frame may meet several."""

    loss: float = 0.0  # it vanishes
    duplicate: float = 0.0  # it comes twice
    bit_error: float = 0.0  # one bit is flipped
    inserted: float = 0.0  # one byte is put in
    dropped: float = 0.0  # one byte is lost
    delay_ms: float = 0.0  # it comes so much later
    jitter_ms: float = 0.0  # and up to so much later still; frames keep their order

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            most = float("inf") if field.name.endswith("_ms") else 1.0
            if not 0 <= value <= most:
                raise ValueError(f"{field.name} {value}: 0 to {most:g}")


class Wire:
    """Bytes go in with `send` and come out with `arrived`. `silent`: whatever is sent is lost."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.faults = Faults()
        self.silent = False
        self.frames = 0  # frames that went in
        self.log: list[str] = []  # every fault, in order
        self._seed = seed
        self._held = b""  # of a frame that has not ended
        self._held_at = 0.0
        self._under_way: list[tuple[float, int, bytes]] = []
        self._last = 0.0
        self._pieces = 0

    def send(self, data: bytes, now: float) -> None:
        """Bytes at `now` milliseconds."""
        if data and not self._held:
            self._held_at = now
        self._held += data
        while True:
            start = len(self._held) - len(self._held.lstrip(b"\0"))
            end = self._held.find(b"\0", start)
            if end < 0:
                break
            self._frame(self._held[: end + 1], now)
            self._held = self._held[end + 1 :]
            self._held_at = now

    def arrived(self, now: float) -> bytes:
        """What has come out by `now`."""
        if self._held and now - self._held_at >= HOLD_MS:
            self._put(self._held, now)
            self._held = b""
        out = b""
        while self._under_way and self._under_way[0][0] <= now:
            out += heapq.heappop(self._under_way)[2]
        return out

    def wait(self, now: float) -> float | None:
        """Milliseconds until something comes out, None: nothing is under way."""
        times = [self._under_way[0][0]] if self._under_way else []
        if self._held:
            times.append(self._held_at + HOLD_MS)
        return max(0.0, min(times) - now) if times else None

    def cut(self) -> None:
        """What is under way is lost."""
        self._held = b""
        self._under_way.clear()

    def _frame(self, piece: bytes, now: float) -> None:
        number = self.frames
        self.frames += 1
        faults = self.faults
        dice = random.Random(f"{self._seed}/{self.name}/{number}")
        chances = [dice.random() for _ in range(5)]  # drawn all, so that one share does not move the others' dice
        later = faults.delay_ms + faults.jitter_ms * dice.random()
        if self.silent or chances[0] < faults.loss:
            self._note(number, "lost")
            return
        data = bytearray(piece)
        if chances[1] < faults.bit_error:
            at, bit = dice.randrange(len(data)), dice.randrange(8)
            data[at] ^= 1 << bit
            self._note(number, f"bit {bit} of byte {at} flipped")
        if chances[2] < faults.inserted:
            at, byte = dice.randrange(len(data) + 1), dice.randrange(256)
            data.insert(at, byte)
            self._note(number, f"{byte:02x} put in before byte {at}")
        if chances[3] < faults.dropped:
            at = dice.randrange(len(data))
            del data[at]
            self._note(number, f"byte {at} lost")
        self._put(bytes(data), now + later)
        if chances[4] < faults.duplicate:
            self._note(number, "twice")
            self._put(bytes(data), now + later)

    def _put(self, data: bytes, at: float) -> None:
        self._last = max(self._last, at)
        self._pieces += 1
        heapq.heappush(self._under_way, (self._last, self._pieces, data))

    def _note(self, number: int, what: str) -> None:
        self.log.append(f"{self.name} {number}: {what}")
