"""One direction of a bad line: named faults, a seed, the same faults every time. Bytes and the time come in.

For `FaultyLine`, and for anybody's tests in virtual time. A frame's fate depends on the seed and on the frame's number
alone, not on how the bytes were cut.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, fields

from dealershoe.errors import UserError

HOLD_MS = 20.0  # bytes that no delimiter has followed for so long go on as they are
REORDER_MS = 20.0  # so long at most a frame is held back while others pass
BURST = 8  # bytes of a burst, at most


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares from 0 to 1 of the frames that a fault befalls, and milliseconds of delay. A frame may meet several.

    Raises UserError for a value that is no such number.
    """

    loss: float = 0.0  # it vanishes
    duplicate: float = 0.0  # it comes twice
    bit_error: float = 0.0  # one bit is flipped
    burst: float = 0.0  # up to 8 bytes in a row are noise
    zeroed: float = 0.0  # one byte becomes 00
    inserted: float = 0.0  # one byte is put in
    dropped: float = 0.0  # one byte is lost
    cut: float = 0.0  # the rest of it is lost
    reorder: float = 0.0  # it is held back for up to 20 ms while others pass
    spike: float = 0.0  # it comes up to `spike_ms` late, as from a busy USB host, and nothing that follows any sooner
    delay_ms: float = 0.0  # it comes so much later
    jitter_ms: float = 0.0  # and up to so much later still; frames keep their order
    spike_ms: float = 200.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            delay = field.name.endswith("_ms")
            if not (isinstance(value, (int, float)) and math.isfinite(value) and value >= 0 and (delay or value <= 1)):
                wanted = (
                    "a number of milliseconds, 0 or more" if delay else "a share of the frames, a number from 0 to 1"
                )
                raise UserError(f"{field.name}={value!r} is no fault of a line", "", f"{field.name} is {wanted}")


# ---- what can become of a frame's bytes: each changes them in place and says what it did


def _bit_error(data: bytearray, dice: random.Random) -> str:
    at, bit = dice.randrange(len(data)), dice.randrange(8)
    data[at] ^= 1 << bit
    return f"bit {bit} of byte {at} flipped"


def _burst(data: bytearray, dice: random.Random) -> str:
    at, length = dice.randrange(len(data)), dice.randrange(2, BURST + 1)
    data[at : at + length] = noise = dice.randbytes(min(length, len(data) - at))
    return f"{noise.hex(' ')} over byte {at} and on"


def _zeroed(data: bytearray, dice: random.Random) -> str:
    at = dice.randrange(len(data))
    data[at] = 0
    return f"byte {at} became 00"


def _inserted(data: bytearray, dice: random.Random) -> str:
    at, byte = dice.randrange(len(data) + 1), dice.randrange(256)
    data.insert(at, byte)
    return f"{byte:02x} put in before byte {at}"


def _dropped(data: bytearray, dice: random.Random) -> str:
    at = dice.randrange(len(data))
    del data[at]
    return f"byte {at} lost"


def _cut(data: bytearray, dice: random.Random) -> str:
    at = dice.randrange(len(data))
    del data[at:]
    return f"lost from byte {at} on"


DAMAGE: dict[str, Callable[[bytearray, random.Random], str]] = {
    "bit_error": _bit_error,
    "burst": _burst,
    "zeroed": _zeroed,
    "inserted": _inserted,
    "dropped": _dropped,
    "cut": _cut,
}
_OTHERS = ("loss", "duplicate", "reorder", "spike")


class Wire:
    """Bytes go in with `send` and come out with `arrived`. `silent`: whatever is sent is lost."""

    def __init__(self, name: str, seed: int, pace: float = float("inf"), delay_ms: float = 0.0) -> None:
        """`pace`: bytes in a millisecond; 11.52 is 115,200 Bd. `delay_ms`: how long the line itself takes."""
        self.name = name
        self.faults = Faults()
        self.silent = False
        self.frames = 0  # frames that went in
        self.log: list[str] = []  # every fault, in order
        self._seed = seed
        self._pace = pace
        self._delay = delay_ms
        self._held = b""  # of a frame that has not ended
        self._held_at = 0.0
        self._under_way: list[tuple[float, int, bytes]] = []
        self._free_at = 0.0  # the line has carried what was sent before
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
            if not self.silent:
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
        self._free_at = self._last = 0.0

    def _frame(self, piece: bytes, now: float) -> None:
        number = self.frames
        self.frames += 1
        faults = self.faults
        dice = random.Random(f"{self._seed}/{self.name}/{number}")
        # drawn all, so that one share does not move the others' dice
        met = {name: dice.random() < getattr(faults, name) for name in (*_OTHERS, *DAMAGE)}
        later = faults.delay_ms + faults.jitter_ms * dice.random()
        self._free_at = max(now, self._free_at) + len(piece) / self._pace
        if self.silent or met["loss"]:
            self._note(number, "lost")
            return
        data = bytearray(piece)
        for name, harm in DAMAGE.items():
            if met[name] and data:
                self._note(number, harm(data, dice))
        if met["spike"]:
            held = dice.uniform(0, faults.spike_ms)
            later += held
            self._note(number, f"late by {held:.0f} ms")
        if met["reorder"]:
            held = dice.uniform(0, REORDER_MS)
            self._note(number, f"held back for {held:.0f} ms")
            self._put_at(bytes(data), self._free_at + self._delay + later + held)
        else:
            self._put(bytes(data), self._free_at + self._delay + later)
        if met["duplicate"]:
            self._note(number, "twice")
            self._put(bytes(data), self._free_at + self._delay + later)

    def _put(self, data: bytes, at: float) -> None:
        """In order."""
        self._last = max(self._last, at)
        self._put_at(data, self._last)

    def _put_at(self, data: bytes, at: float) -> None:
        self._pieces += 1
        heapq.heappush(self._under_way, (at, self._pieces, data))

    def _note(self, number: int, what: str) -> None:
        self.log.append(f"{self.name} {number}: {what}")
