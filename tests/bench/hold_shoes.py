"""Many shoes' ends of the link in one process, each behind a real pty, dealing clean hands: for a host's benchmark.

Real links of `shoelink`, not the firmware. Each shoe deals what the host says is due, so many cards a second, presses
"betting complete" where that is due, and the new-hand key when the hand is over. The parent reads the ports' names as
the first line, then writes `begin S` (measure for so many seconds from now) and reads what was seen as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
import tty
from collections import deque
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("protocol", "host")]

from dealershoe.link.codec import Decoder
from shoelink import notice, schema
from shoelink.journal import Journal
from shoelink.link import Link

TICKS = 0x3FFFFFFF
CATCH_UP_S = 1.0  # a dealer who had to wait longer than this does not make good for it
SETTLE_S = 10.0  # for what is not acknowledged when the last card is out
TURN_S = 0.01  # between two looks at every shoe's timers
PLACES = {schema.DUE_BURN: schema.TARGET_BURN, schema.DUE_BOARD: schema.TARGET_BOARD}
BUILD = b"bench\0\0\0\0\0\0\0"


def now_ms() -> int:
    return int(time.monotonic() * 1_000) & TICKS


class Dealing:
    """One shoe: its link, its pty, and a dealer who draws every `period_s` from `start_s` on."""

    def __init__(self, number: int, period_s: float, start_s: float) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.slave)
        self.journal = Journal(number.to_bytes(4, "big"))
        ident = schema.Ident(b"shoe%04d" % number, BUILD, bytes(16))
        self.link = Link(schema.SHOE, ident, os.urandom, self.journal, boot=os.urandom(4), decoder=Decoder())
        self.link.start(now_ms())
        self.period_s = period_s
        self.next_s = start_s
        self.due: Any = None
        self.hand = 0
        self.draw = 0
        self.answered = True  # what is due was dealt: wait for what is due next
        self.poll_s = 0.0
        self.lost = 0
        self.cards = 0
        self.waiting: deque[tuple[int, float]] = deque()  # numbers not acknowledged, and when they were reported
        self.latencies: list[float] = []
        self.measured_from = float("inf")
        self.measured = 0  # cards since then
        self.dealing = True

    def turn(self, at: float, ready: bool) -> None:
        """Read if something came, deal if it is time, run the link, write."""
        data = b""
        if ready:
            with contextlib.suppress(BlockingIOError, OSError):
                data = os.read(self.master, 4_096)
        dealt = self._deal(at)
        if not data and not dealt and at < self.poll_s:
            return
        now = now_ms()
        self.link.stamp = schema.word(int(at * 1e6) & 0xFFFFFFFF)
        for told in self.link.receive(data, now) if data else ():
            self._heed(told)
        if data:
            self._acknowledged(at)
            self._deal(at)
        for told in self.link.poll(now):
            self._heed(told)
        if self.link.ready:
            with contextlib.suppress(BlockingIOError):
                self.link.taken(os.write(self.master, bytes(self.link.out[: self.link.ready])))
        self.poll_s = at + self.link.wait(now) / 1_000

    def _heed(self, told: Any) -> None:
        if isinstance(told, notice.LinkLost):
            self.lost += 1
        elif isinstance(told, notice.Delivered) and isinstance(told.message, schema.Due):
            self.due = told.message
            self.answered = False
            if self.due.hand != self.hand:
                self.hand, self.draw = self.due.hand, 0

    def _acknowledged(self, at: float) -> None:
        oldest = self.journal.oldest
        while self.waiting and self.waiting[0][0] < oldest:
            _, reported = self.waiting.popleft()
            if reported >= self.measured_from:
                self.latencies.append(at - reported)

    def _deal(self, at: float) -> bool:
        """What is due now, once. The host's word on what is due next comes with each card."""
        if self.due is None or self.answered or not self.dealing:
            return False
        due = self.due.due
        stamp = self.link.stamp
        if due == schema.DUE_BETTING:
            self._report(schema.Key(self.hand, stamp, schema.KEY_BETTING_COMPLETE, 0), at)
        elif due == schema.DUE_NOTHING:
            self.hand = self.hand % 0xFFFF + 1
            self.draw = 0
            self._report(schema.Key(self.hand, stamp, schema.KEY_NEW_HAND, 0), at)
        elif at >= self.next_s and due in (schema.DUE_SEAT, *PLACES):
            self.draw += 1
            target = self.due.seat if due == schema.DUE_SEAT else PLACES[due]
            self._report(
                schema.Card(
                    self.hand, self.draw, stamp, b"\xff\xff\xff\xff", 0, schema.WAY_DOWN, target,
                    schema.ORIGIN_LANE, 60, 0, 900, 0,
                ),
                at,
            )  # fmt: skip
            self.cards += 1
            self.measured += at >= self.measured_from
            self.next_s = max(self.next_s, at - CATCH_UP_S) + self.period_s
        else:
            return False
        return True

    def _report(self, message: Any, at: float) -> None:
        number = self.link.report(message)
        self.waiting.append((number, at))
        self.answered = True


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def run(shoes: list[Dealing]) -> float:
    """Turn them until the parent's seconds are over and everything is acknowledged, or SETTLE_S later.

    Returns the seconds of a processor that they took while it was measured.
    """
    source = sys.stdin.fileno()
    poll = select.epoll()
    by_master = {shoe.master: shoe for shoe in shoes}
    for descriptor in (source, *by_master):
        poll.register(descriptor, select.EPOLLIN)
    ends = float("inf")
    all_at = begun_s = 0.0
    while True:
        came = [descriptor for descriptor, _ in poll.poll(TURN_S)]
        at = time.monotonic()
        for descriptor in came:
            if descriptor != source:
                by_master[descriptor].turn(time.monotonic(), True)
                continue
            words = os.read(source, 4_096).split()
            if not words:
                return 0.0
            ends = at + float(words[1])
            for shoe in shoes:
                shoe.measured_from = at
            begun_s = time.process_time()
        if at >= all_at:
            all_at = at + TURN_S
            for shoe in shoes:
                shoe.dealing = at < ends
                shoe.turn(time.monotonic(), False)
        if at >= ends and (not any(shoe.waiting for shoe in shoes) or at >= ends + SETTLE_S):
            return time.process_time() - begun_s


def seen(shoes: list[Dealing], took_s: float) -> dict[str, Any]:
    latencies = [latency for shoe in shoes for latency in shoe.latencies] or [float("inf")]
    return {
        "shoes": [
            {"cards": shoe.cards, "measured": shoe.measured, "last": shoe.journal.next - 1, "held": shoe.journal.held()}
            for shoe in shoes
        ],
        "lost": sum(shoe.lost for shoe in shoes),
        "took_s": took_s,
        "p50_s": percentile(latencies, 0.50),
        "p99_s": percentile(latencies, 0.99),
        "worst_s": max(latencies),
    }


def main(count: int, cards_per_s: float) -> None:
    period_s = 1 / cards_per_s
    begun = time.monotonic()
    shoes = [Dealing(number + 1, period_s, begun + period_s * number / count) for number in range(count)]
    print(json.dumps([shoe.path for shoe in shoes]), flush=True)
    print(json.dumps(seen(shoes, run(shoes))), flush=True)
    sys.stdin.read()  # the ports stay until the parent has closed them


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
