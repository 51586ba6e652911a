"""Hands without end at an emulated shoe, with random faults on the cards: what came of them. For `emulate --soak`.

The host at the other end says what is due, as at a table: its DUE is dealt, its steps are done with the keys, and when
it wants what no key can do, the next hand begins. The table must be open: reports are held against the cards pulled.
"""

from __future__ import annotations

import random
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from shoelink import schema

from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.deck.strip import MARGIN, TRAVEL, print_strip
from dealershoe.emulate.mechanics import P1, PaperCard, printed
from dealershoe.emulate.shoe import EmulatedShoe, Target
from dealershoe.emulate.sniffer import Heard
from dealershoe.errors import UserError

PAIR = (  # the two ends of a soak, as a person types them after `mkfifo said`
    "dealershoe run --port shoe --open --journal soak.journal < said > soak.log &",
    "dealershoe emulate --soak 10 --pace fast --link shoe --say said",
)
SEATS = 9
NEEDED = SEATS  # cards: a hand that brings fewer was ended early; with random faults some 8 of 100 are
SHORT = 6  # such hands in a row: no accident
TABLE = f"hand seats=1-{SEATS} button={SEATS}"
PLACES: dict[int, Target] = {schema.DUE_BURN: "burn", schema.DUE_BOARD: "board"}
KEYS = {schema.DUE_BETTING: "betting-complete", schema.DUE_ACK: "done"}
SPEEDS = (0.4, 2.5)  # m/s
DECK, FOREIGN = 0, 3
STOPPED_MS = 2000.0  # a card that stands still for 1.5 s is told
IDLE = 4  # steps of a host in a row that bring no card: the hand is begun anew
STATS_S = 5  # of this machine's time (firmware/shoe/loop.py)
WRAP_US = 1 << 32
AGAIN = 512  # events of the journal that may come a second time: as many as it holds

# A fault and how many of a thousand cards it befalls. The rest are clean.
FAULTS = {
    "turned": 40,
    "hesitates": 30,
    "dirty": 20,
    "unread": 10,
    "boxed": 10,
    "double": 8,
    "foreign": 4,
    "dazzled": 4,
    "half-drawn": 2,
    "strays": 10,
}
READ = ("clean", "turned", "hesitates", "half-drawn", "strays")  # must be read
FLAGS = {"unread": schema.CARD_UNREAD, "double": schema.CARD_DOUBLE, "foreign": schema.CARD_FOREIGN}
FAULT_CODES = {"dazzled": schema.FAULT_DAZZLE, "half-drawn": schema.FAULT_HALF_DRAWN}
BAD = {  # what must not be, as the report calls it
    "misread": "misreads",
    "no-read": "no-reads of cards that must be read",
    "false alarm": "false alarms",
    "missed": "faults not told",
    "lost": "cards not told",
    "phantom": "cards out of nothing",
}


class UnjudgedError(UserError):
    """The host asks for no whole hand: it judges nothing, and a soak would prove nothing."""


@dataclass
class Soaked:
    """What came of it. Times in ms of this machine, memory in bytes of the shoe's heap."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    answered_ms: list[float] = field(default_factory=list)  # from a card's passage to the host's acknowledgement
    free: list[int] = field(default_factory=list)  # as each STATS said
    virtual_s: float = 0.0  # on the shoe's own clock

    @property
    def well(self) -> bool:
        """Whether something was proven: a hand brought its cards, and nothing happened that must not."""
        return self.counts["whole"] > 0 and not any(self.counts[name] for name in BAD)

    def p(self, share: float) -> float:
        """A percentile of the answers, in ms."""
        ordered = sorted(self.answered_ms)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0

    @property
    def kept(self) -> tuple[int, int]:
        """Bytes that were free at most in the first quarter of the STATS and in the last: what leaks makes less."""
        quarter = (len(self.free) + 3) // 4
        return max(self.free[:quarter], default=0), max(self.free[-quarter:], default=0)

    def lines(self) -> list[str]:
        """The report for a person."""
        if not self.counts["cards"]:
            return ["nothing was dealt"]
        counts = self.counts
        befell = ", ".join(f"{name} {number}" for name, number in sorted(self.faults.items())) or "none"
        lines = [
            f"{self.virtual_s / 60:.1f} min on the shoe's clock: {counts['hands']} hands, {counts['whole']} of them "
            f"with {NEEDED} cards or more, {counts['cards']} cards",
            f"faults made: {befell}",
            ", ".join(f"{words} {counts[name]}" for name, words in BAD.items()),
            f"answered by the host: p50 {self.p(0.5):.1f} ms, p99 {self.p(0.99):.1f} ms, worst {self.p(1.0):.1f} ms",
        ]
        if self.free:
            first, last = self.kept
            lines.append(
                f"free memory of the shoe: {first} bytes at most in the first quarter, {last} in the last; "
                f"{min(self.free)} at least"
            )
        else:
            lines.append(f"free memory of the shoe: it says how much each {STATS_S} s, and this soak took less")
        return lines


class Soak:
    """`shoe` is on, open, and has a host in session; `tell` takes a dealer's line to that host."""

    def __init__(self, shoe: EmulatedShoe, tell: Callable[[str], None], seed: int = 1) -> None:
        self.shoe = shoe
        self.result = Soaked()
        self._tell = tell
        self._random = random.Random(seed)
        self._heard: list[Any] = []  # since the last card was judged
        self._open: set[int] = set()  # faults that stand
        self._numbers: deque[int] = deque(maxlen=AGAIN)  # in the journal, of what was heard
        self._last_us: int | None = None
        self._idle = 0
        self._in_hand = 0  # cards
        self._short = 0  # hands in a row that brought fewer than NEEDED
        shoe.line.on_frame = self._hear

    def _hear(self, heard: Heard) -> None:
        message = heard.message
        if heard.from_host:
            return
        if isinstance(message, schema.Stats):
            self.result.free.append(message.free << 4)
        elif isinstance(message, schema.Card | schema.CardBack | schema.Fault | schema.Clear):
            if heard.number in self._numbers:
                return  # sent again
            self._numbers.append(heard.number)
            self._heard.append(message)
            if isinstance(message, schema.Fault):
                self._open.add(message.code)
            elif isinstance(message, schema.Clear):
                self._open.discard(message.code)
        if isinstance(message, schema.Card):
            now = schema.value(message.t_us)
            if self._last_us is not None:
                self.result.virtual_s += (now - self._last_us) % WRAP_US / 1e6
            self._last_us = now

    def run(self, seconds: float, watch: Callable[[Soaked], None] | None = None) -> Soaked:
        """Deal until so many seconds have passed on the shoe's clock, and a hand has brought its cards.

        `watch` is called after each hand. Raises UnjudgedError when hand after hand does not bring its cards.
        """
        self._begin(TABLE)
        while self.result.virtual_s < seconds or not self.result.counts["whole"]:
            due = self.shoe.line.due
            kind = due.due if due is not None else schema.DUE_NOTHING
            target = due.seat if kind == schema.DUE_SEAT else PLACES.get(kind)
            if target is not None and len(self.shoe.deck) > 1:
                self._idle = 0
                self._card(target)
                continue
            self._idle += 1
            if kind in KEYS and self._idle < IDLE:
                self.shoe.press(KEYS[kind])
                self.shoe.quiet()
                continue
            if watch is not None:
                watch(self.result)
            self._ended()
            self._begin(TABLE if self._idle > 2 * IDLE else None)
        self._judge_rest()
        return self.result

    def _ended(self) -> None:
        """Whether the hand brought what a hand needs; a host that judges nothing asks for one card."""
        self._short = self._short + 1 if self._in_hand < NEEDED else 0
        self._in_hand = 0
        if self._short == SHORT:
            raise UnjudgedError(
                f"{SHORT} hands on end brought fewer than {NEEDED} cards each, {self.result.counts['cards']} in all: "
                "the host judges nothing",
                "most likely it runs without --open, and the shoe of a soak is an open one",
                f"run it with --open (`{PAIR[0]}`), and see what it says",
            )

    def _begin(self, line: str | None) -> None:
        """The next hand: said in full, or with the key."""
        names = list(FIFTY_TWO)
        self._random.shuffle(names)
        self.shoe.load(printed(name, DECK) for name in names)
        self.result.counts["hands"] += 1
        if line is not None:
            self._tell(line)
        else:
            self.shoe.press("new-hand")
        self.shoe.quiet()

    def _card(self, target: Target) -> None:
        """One card, with what befalls it, and whether it was told as it was."""
        shoe, rng = self.shoe, self._random
        fault = rng.choices(["clean", *FAULTS], [1000 - sum(FAULTS.values()), *FAULTS.values()])[0]
        if fault != "clean":
            self.result.faults[fault] += 1
        self.result.counts["cards"] += 1
        self._in_hand += 1
        self.result.counts["whole"] += self._in_hand == NEEDED
        card = shoe.deck[0] = self._prepared(shoe.deck[0], fault)
        if fault == "strays":
            target = rng.choice([seat for seat in range(1, SEATS + 1) if seat != target])
        self._judge_rest()
        speed = rng.uniform(*SPEEDS)
        if fault == "dazzled":
            shoe.dazzle()
            shoe.rest(300.0)
        if fault == "hesitates":
            shoe.draw(P1 - 6.0, target)
            shoe.push_back()
        if fault == "half-drawn":
            shoe.draw(P1 + 6.0, target)
            shoe.rest(STOPPED_MS)
            shoe.finish(speed=speed)
        else:
            shoe.pull(None, target, speed=speed, boxed=fault == "boxed", double=fault == "double")
        begun = time.monotonic()
        shoe.quiet()
        self.result.answered_ms.append((time.monotonic() - begun) * 1000)
        if fault == "dazzled":
            shoe.dazzle(False)
            shoe.rest(300.0)
        self._judge(card, fault)
        shoe.rest(rng.uniform(150.0, 600.0))  # the dealer's own pause

    def _prepared(self, card: PaperCard, fault: str) -> PaperCard:
        rng = self._random
        if fault == "turned":
            return card.rotated()
        if fault == "foreign":
            return card.with_strips(print_strip(54 + rng.randrange(10), FOREIGN))
        if fault == "unread":
            return replace(card, ends=(card.ends[0].torn(0.0, TRAVEL), card.ends[1].torn(0.0, TRAVEL)))
        if fault == "dirty":
            start = MARGIN + rng.uniform(0.0, 40.0)
            track = rng.choice(("clk", "data", "ndata"))
            return replace(card, ends=(card.ends[0].dirty(track, start, start + rng.uniform(0.3, 3.0)), card.ends[1]))
        return card

    def _judge_rest(self) -> None:
        """What was heard while no card was about is of nothing."""
        for message in self._heard:
            self.result.counts["phantom"] += isinstance(message, schema.Card | schema.CardBack)
            self.result.counts["false alarm"] += isinstance(message, schema.Fault)
        self._heard.clear()

    def _judge(self, card: PaperCard, fault: str) -> None:
        counts = self.result.counts
        told = [one for one in self._heard if isinstance(one, schema.Card)]
        codes = {one.code for one in self._heard if isinstance(one, schema.Fault)}
        backs = sum(isinstance(one, schema.CardBack) for one in self._heard)
        self._heard.clear()
        counts["phantom"] += max(len(told) - 1, 0) + (backs if fault != "hesitates" else 0)
        counts["false alarm"] += bool(codes - {FAULT_CODES.get(fault)})
        if fault in FAULT_CODES:
            counts["missed"] += FAULT_CODES[fault] not in codes | self._open
        if not told:
            counts["lost"] += 1
            return
        report = told[0]
        number = None if report.token == schema.TOKEN_UNREAD else schema.value(report.token)
        right = number == card_number(card.name) and report.deck == DECK and fault not in ("foreign", "unread")
        counts["misread"] += number is not None and not right
        counts["no-read"] += number is None and fault in READ
        if fault in FLAGS:
            counts["missed"] += not report.flags & FLAGS[fault]
        elif fault == "boxed":
            counts["missed"] += report.way_up != schema.WAY_UP
        elif fault in READ:
            counts["false alarm"] += report.flags != 0 or report.way_up != schema.WAY_DOWN
