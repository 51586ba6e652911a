"""Simulated passes by the hundred thousand through the firmware's own decoder, counted by what came of them.

`python tests/firmware/passes.py --passes 1000000 --processes 2 --keep build/passes.jsonl` prints the table that
`hardware/card-code.md` cites; cut off, it goes on where it was when it is called again.
The physics are `optics.py` and `hand.py`, the magnitudes `hardware/faults.toml`; from the samples on it is the
firmware: edges, strip, passage and card code. Only `edges.scan` is replaced, by a twin that skips
what does not change (a test proves it equal). `--without crc` and `--without complement` are the negative control.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
for folder in ("firmware", "protocol", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

import numpy as np  # noqa: E402
from firmware.hand import Hand, Places  # noqa: E402
from firmware.kept_parts import Job, KeptParts, digest  # noqa: E402
from firmware.magnitudes import Magnitudes  # noqa: E402
from firmware.optics import Paper, Press, Window  # noqa: E402
from firmware.physics import CELL, HEAD_AT, LENGTH, LIP_AT, cell_at  # noqa: E402

cardcode: Any = import_module("shoe.cardcode")
passage_module: Any = import_module("shoe.passage")
strip_module: Any = import_module("shoe.strip")
doublefeed: Any = import_module("shoe.doublefeed")

CHUNK = 8192  # samples given at once: what is found does not depend on the cuts (test_passage.py)
LANES_AT = 30.0  # mm that a leading edge goes on beyond the lip and the card's length
PART = 5000  # passes with one seed
MIRRORED = 0.05  # of the strips: they are read from stop to start
PER_WINDOW = 50  # passes through one shoe before the next is built
QUIET = bytes(8)
CALIBRATED = (60000, 30000)  # hardware/faults.toml, light and halves: through no card and through one

DOUBLES = ("double", "soiled-double", "resting-double", "turned-double")  # two cards drawn as one
# of 100 passes
KINDS = {"clean": 42, "soiled": 25, "dazzled": 10, "halting": 6, "back": 8, "close": 5, "inverted": 4}


def scan_changes(samples: Any, n: int, state: Any, out: Any) -> int:
    """`edges.scan`, looking only at samples next to a change."""
    line = np.frombuffer(samples, np.uint8, n)
    changes = np.flatnonzero(line[1:] != line[:-1]) + 1
    accepted, last = state[0], state[1]
    found = 0
    done = -1
    for begin in (0, *changes.tolist()):
        for i in (begin, begin + 1):
            if i <= done or i >= n:
                continue
            done = i
            now = samples[i]
            if now != accepted:
                moving = last ^ now
                new = accepted & moving | now & ~moving
                if new != accepted:
                    accepted = new
                    out[found] = i
                    out[found + 1] = accepted
                    found += 2
            last = now
    state[0] = accepted
    state[1] = last
    return found >> 1


class Told(NamedTuple):
    """A card that the passage said has left, as `shoe/events.py` puts it on the wire."""

    code: tuple[int, int] | None  # None: unread
    up: bool | None  # None: unknown
    double: bool
    marks: int  # on the head that saw more


class Reader:
    """The firmware from samples to cards. Listens to the passage, as Events does."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.passage = passage_module.Passage(self)

    def left(self, passage: Any) -> None:
        """Which head counts: the rules of `Events.left`."""
        below, above = passage.below, passage.above
        low, high = passage.bottom.marks, passage.top.marks
        few = cardcode.FEW
        up: bool | None = None
        if below.result == cardcode.READ:
            up = False
        elif above.result == cardcode.READ or low < few <= high:
            up = True
        elif high < few <= low and strip_module.print_below(passage.bottom, passage.top):
            up = False
        reading = above if up else below
        code = (reading.card, reading.deck) if reading.result == cardcode.READ else None
        self.told.append(Told(code, up, passage.double, max(low, high)))

    def _other(self, passage: Any, detail: int = 0) -> None:
        pass

    back = stopped = moved = odd = missed = dirty = _other

    def feed(self, samples: bytes) -> list[Told]:
        """What is told of these samples."""
        samples = samples + QUIET
        for at in range(0, len(samples), CHUNK):
            piece = samples[at : at + CHUNK]
            self.passage.feed(piece, len(piece))
        return self.told

    def look(self, samples: bytes, light: Any, looks: list[int]) -> list[Told]:
        """The same in turns of the loop that end at `looks`; the double-feed light is read as `shoe/loop.py` does: that
        of two cards in two looks in a row. No empty throat was seen since the calibration, so no drift is followed."""
        doubles = doublefeed.DoubleFeed(*CALIBRATED)
        dim = False
        at = 0
        for look in looks:
            if not self.passage.idle:
                now = doubles.two_cards(light[min(look, len(light) - 1)])
                if now and dim:
                    self.passage.two_cards()
                dim = now
            piece = samples[at:look]
            self.passage.feed(piece, len(piece))
            at = look
        return self.feed(samples[at:])


class Scene(NamedTuple):
    """A pass and the truth about it."""

    kind: str
    codes: list[tuple[int, int]]  # card and deck, in the order in which they come
    boxed: bool
    samples: bytes


class Maker:
    """Makes passes: shoes, cards, hands and accidents, all from one seed."""

    def __init__(self, seed: int):
        self._rng = random.Random(seed)
        self._size = Magnitudes()
        self._press = Press(self._rng, self._size)
        self._hand = Hand(self._rng, self._size)
        self._made = 0
        self._window = self._build()

    def _build(self) -> Window:
        return Window(self._rng, self._size)

    def _code(self) -> tuple[int, int]:
        return self._rng.randrange(54), self._rng.randrange(4)

    def _edge(self, code: tuple[int, int], boxed: bool, handled: bool = False) -> Paper:
        """One of a card's two edges, each printed for itself, some stuck on the wrong way about; it may have been
        handled."""
        paper = self._press.edge(code, boxed=boxed, mirrored=self._rng.random() < MIRRORED)
        if handled:
            self._press.handle(paper)
        return paper

    def window(self) -> Window:
        """The shoe that the next pass goes through."""
        if self._made % PER_WINDOW == 0:
            self._window = self._build()
        self._made += 1
        return self._window

    def make(self, kind: str) -> Scene:
        """One pass of this kind."""
        rng = self._rng
        window = self.window()
        code = self._code()
        boxed = rng.random() < 0.25
        paper = self._edge(code, boxed, kind != "clean" and rng.random() < 0.5)
        cards = [(paper, 0.0)]
        codes = [code]
        way = LENGTH + LIP_AT + LANES_AT
        if kind == "close":
            codes.append(self._code())
            lag = LENGTH + self._size.draw("gap", rng)
            cards.append((self._edge(codes[1], boxed), lag))
            way += lag
        places = self._places(kind, way)
        told = kind
        if kind in ("soiled", "inverted") or (kind in ("dazzled", "halting", "back") and rng.random() < 0.3):
            self._press.soil(paper, 3)
            told = kind if kind in ("soiled", "inverted") else f"{kind}-soiled"
        if kind == "inverted":
            first = rng.randrange(1, 16)
            self._press.invert(paper, [(cell_at(first), cell_at(min(first + rng.randint(1, 5), 17)))])
        return Scene(told, codes, boxed, window.samples(cards, places, kind == "dazzled"))

    def _places(self, kind: str, way: float, lag: float = 0.0) -> Places:
        """Of the leading edge; a rest or turn is anywhere over the code, cell after cell, of the first card or the one
        `lag` behind it."""
        rng = self._rng
        if kind in ("halting", "back", "resting-double", "turned-double"):
            at = HEAD_AT + cell_at(self._made % 20 - 1) + rng.uniform(0, CELL)
            if lag and rng.random() < 0.5:
                at += lag
            return self._hand.halting(way, at, kind in ("back", "turned-double"))
        return self._hand.draw(way)

    def double(self, kind: str = "double") -> tuple[Scene, Any, list[int]]:
        """Two cards drawn as one (`kind`: one of DOUBLES), the light that comes through them, and when the firmware's
        loop looks at it."""
        rng, size = self._rng, self._size
        low, high = size.range("lag")
        lag = rng.uniform(low, 2.0) if rng.random() < 1 / 3 else rng.uniform(2.0, high)
        boxed = rng.random() < 0.1
        codes = [self._code()]
        while len(codes) < 2 or codes[0] == codes[1]:  # a deck has each card once
            codes[1:] = [self._code()]
        cards = [(self._edge(codes[0], boxed), 0.0), (self._edge(codes[1], boxed), lag)]
        told = kind
        if kind == "soiled-double" or (kind in DOUBLES[2:] and rng.random() < 0.3):
            self._press.soil(cards[rng.randrange(2)][0], 3)
            told = kind if kind == "soiled-double" else f"{kind}-soiled"
        if rng.random() < 0.5:  # the second card lies below the first
            cards.reverse()
        window = self.window()
        places = self._places(kind, LENGTH + LIP_AT + LANES_AT + lag, lag)
        samples = window.samples(cards, places)
        return Scene(told, codes, boxed, samples), self._light(places, [0.0, lag]), self._looks(len(samples))

    def single(self) -> tuple[Scene, Any, list[int]]:
        """One card, with the light through it: for the false alarms."""
        code = self._code()
        places = self._hand.draw(LENGTH + LIP_AT + LANES_AT)
        samples = self.window().samples([(self._edge(code, False), 0.0)], places)
        return Scene("single", [code], False, samples), self._light(places, [0.0]), self._looks(len(samples))

    def _light(self, places: Places, lags: list[float]) -> Any:
        rng, size = self._rng, self._size
        light = np.full(len(places), size.high("light") * (1 + size.either("light_drift", rng)))
        for lag in lags:
            at = places - HEAD_AT - lag
            on = (at >= 0) & (at < LENGTH)
            through = size.high("halves") * (1 + rng.gauss(0, size.high("deck_spread")))
            face = [1 + size.either("face_print", rng) for _ in range(14)]
            light[on] *= through * np.interp(at[on], np.arange(14) * 5.0, face)
        return light

    def _looks(self, n: int) -> list[int]:
        looks: list[int] = []
        at = self._rng.randrange(1, 60)
        while at < n:
            looks.append(at)
            at += round(self._size.draw("look", self._rng) * 20)
        return looks


def judge(scene: Scene, told: list[Told], count: Counter[str]) -> None:
    """Count what was told of a pass against the truth. A boxed card's identity is told as uncertain, so a wrong one is
    no silent misread and has a count of its own."""
    kind = scene.kind
    count[f"{kind} passes"] += 1
    count[f"{kind} cards"] += len(scene.codes)
    doubted = len(told) != len(scene.codes) or any(one.double for one in told)
    count[f"{kind} doubted"] += doubted
    for at, one in enumerate(told):
        if one.code is None:
            count[f"{kind} unread"] += 1
        elif one.code == scene.codes[at] if not doubted else one.code in scene.codes:
            count[f"{kind} right"] += 1
        else:
            count[f"{kind} {'boxed misread' if one.up else 'misread'}"] += 1
    for one in told if scene.boxed else ():
        count[f"{kind} boxed"] += 1
        count[f"{kind} boxed unread"] += one.code is None
        if one.up:
            count[f"{kind} boxed found"] += 1
        elif one.up is False:
            count[f"{kind} boxed taken for face down"] += 1
        else:
            count[f"{kind} boxed with {'few' if one.marks else 'no'} marks"] += 1


def run(seed: int, passes: int, shares: dict[str, int] = KINDS) -> Counter[str]:
    """So many passes of all kinds."""
    maker = Maker(seed)
    rng = random.Random(seed + 1)
    count: Counter[str] = Counter()
    for kind in rng.choices(list(shares), list(shares.values()), k=passes):
        scene = maker.make(kind)
        judge(scene, Reader().feed(scene.samples), count)
    return count


def run_doubles(seed: int, passes: int) -> Counter[str]:
    """So many doubles of each kind, and as many single cards with the same light."""
    maker = Maker(seed)
    count: Counter[str] = Counter()
    for number in range((len(DOUBLES) + 1) * passes):
        kind = number % (len(DOUBLES) + 1)
        scene, light, looks = maker.double(DOUBLES[kind]) if kind < len(DOUBLES) else maker.single()
        told = Reader().look(scene.samples, light, looks)
        two = len(told) > 1 or any(one.double for one in told)
        count[f"{scene.kind} passes"] += 1
        count[f"{scene.kind} told as two"] += two
        count[f"{scene.kind} told as one, read"] += len(scene.codes) > 1 and not two and told[0].code is not None
        for one in told:
            if one.code is not None and one.code not in scene.codes:
                count[f"{scene.kind} {'boxed misread' if one.up else 'misread'}"] += 1
    return count


@contextmanager
def fast(without: tuple[str, ...] = ()) -> Iterator[None]:
    """The decoder as it is used here: with the quick scan, whole passes at a time, and without a check if so told."""
    kind_of: Callable[[Any], int] = strip_module.Strip._kind
    kept = (passage_module.scan, passage_module.CHUNK, cardcode.proven)

    def blind(strip: Any) -> int:
        """A cell's kind by DATA alone, except at the ends, where start and stop are told by both tracks."""
        kind: int = kind_of(strip)
        if kind <= 1 or not strip.paired or strip.marks in (0, cardcode.CELLS - 1):
            return kind
        return int(strip_module.ONE if 2 * (strip._seen[1] + strip._seen[3]) >= strip._span else strip_module.ZERO)

    passage_module.scan, passage_module.CHUNK = scan_changes, CHUNK
    if "crc" in without:
        cardcode.proven = lambda byte, check: True
    if "complement" in without:
        strip_module.Strip._kind = blind
    try:
        yield
    finally:
        passage_module.scan, passage_module.CHUNK, cardcode.proven = kept
        strip_module.Strip._kind = kind_of


def part(job: Job) -> Counter[str]:
    """One process's share."""
    what, seed, passes, without = job
    with fast(without):
        if what == "doubles":
            return run_doubles(seed, passes)
        return run(seed, passes, {what: 1} if what in KINDS else KINDS)


def totals(
    passes: int,
    doubles: int = 0,
    *,
    seed: int = 1,
    processes: int = 1,
    without: tuple[str, ...] = (),
    only: str = "",
    keep: Path | None = None,
) -> Counter[str]:
    """All counts, of parts of 5,000 passes with seeds of their own; the same for any number of processes. `only`: the
    passes are of one kind. `keep`: a file of parts; those that it has are not run again."""
    jobs: list[Job] = []
    for kind, (what, number) in enumerate(((only or "passes", passes), ("doubles", doubles))):
        for begin in range(0, number, PART):
            own = 1_000_003 * seed + 97 * (begin // PART) + 48 * kind  # a part takes its seed and the next
            jobs.append((what, own, min(PART, number - begin), without))
    kept = KeptParts(keep) if keep else None
    missing = [job for job in jobs if kept is None or job not in kept]
    count: Counter[str] = Counter()
    for job in jobs:
        if kept is not None and job in kept:
            count += kept[job]
    begun = time.monotonic()
    with ExitStack() as stack:
        ran: Iterator[Counter[str]]
        if processes == 1:
            ran = map(part, missing)
        else:
            ran = stack.enter_context(ProcessPoolExecutor(processes)).map(part, missing)
        for number, (job, some) in enumerate(zip(missing, ran, strict=True), 1):
            count += some
            if kept is not None:
                kept.keep(job, some)
            if number % 20 == 0:
                left = f"{number} of {len(missing)} parts, {time.monotonic() - begun:.0f} s"
                print(left, file=sys.stderr, flush=True)
    return count


def total(count: Counter[str], what: str) -> int:
    """The sum over all kinds of the counts that end in ` what`."""
    return sum(number for name, number in count.items() if name.split(" ", 1)[1] == what)


def at_least(least: int) -> Callable[[str], int]:
    """The whole numbers from `least` on, for an argument."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return number


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--passes", type=at_least(0), default=20_000)
    arguments.add_argument("--doubles", type=at_least(0), default=0)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--processes", type=at_least(1), default=1)
    arguments.add_argument("--without", action="append", default=[], choices=["crc", "complement"])
    arguments.add_argument("--only", default="", choices=["", *KINDS], help="passes of this kind alone")
    arguments.add_argument("--keep", type=Path, help="a file of parts: a run that was cut off goes on where it was")
    given = arguments.parse_args()
    try:
        count = totals(**vars(given) | {"without": tuple(given.without)})
    except OSError as error:
        arguments.error(f"{given.keep} cannot keep the parts of a run ({error.strerror}): name another file")
    for name in sorted(count):
        print(f"{name}: {count[name]}")
    print(f"decoder and physics: {digest()}")


if __name__ == "__main__":
    main()
