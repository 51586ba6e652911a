"""Proves every pair of faults for 2, 6 and 9 seats under every shipped stack: `make prove`.

`PYTHONPATH=tests python tests/rules/prove.py [--seats 2,6,9] [--games holdem,stud] [--stacks A,B] [--jobs N]`
What is proven of each pair is what `proof.Table` checks. Hands that are the same for all that can still happen are
followed once; `merging.py` says which are. What is proven of a part is kept in `build/prove/`, one moment of the first
fault after the other, until the code or a pack changes, so a run that was cut short goes on where it was. The page that
sums it up is `build/prove.md`. Exit status 1, and the shortest script of each kind of counterexample, when there are
any.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
from dealershoe.rules.ruling import STRENGTH
from dealershoe.rules.stack import Stack, load_stack
from dealershoe.trial.situations import Acts, faults
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rules.merging import Key, Names, outlook, past, reach, recent, way
from rules.proof import STACKS, BrokenError, Table, moments, single

ROOT = Path(__file__).parent.parent.parent
BUILD = ROOT / "build"
FIRST: Acts = ((), ("fold", "fold"), ("call", "call"))  # closed for one book, for two, for all
LATER: Acts = ((), ("check",))
NO_ACTS: Acts = ((),)
COLUMNS = (
    "game", "seats", "stack", "moments", "first faults", "pairs", "hands", "told", "refused", "ways", "counterexamples",
    "CPU s",
)  # fmt: skip
PAIRS = {"holdem": (2, 6, 9), "stud": (2, 5)}  # seats
SINGLES = {"stud": (3, 4, 6, 7, 8)}  # seats, of which `make test` proves no single faults


class Part(NamedTuple):
    """Every pair of faults in a hand of so many seats, the last of which has the button, under one stack.

    `faults` 1: every single one, of every seat and draw.
    """

    stack: str
    seats: int
    game: str
    faults: int = 2

    @property
    def file(self) -> Path:
        return BUILD / "prove" / f"{self.stack}-{self.game}-{self.seats}-{self.faults}.json"


@dataclass
class Proven:
    """What has been proven of a part."""

    code: str  # digest of the code and the packs that it is true of
    of: int = 0  # moments of the hand without a fault
    moments: int = 0  # those of them at which every first fault has been followed
    firsts: int = 0  # first faults that the table took
    pairs: int = 0  # each first fault with each one at each moment after it
    hands: int = 0  # different ones after a first fault
    told: int = 0  # second faults that were told: all others come in a hand that is the same for them as one of these
    refused: int = 0  # of those told, facts that cannot be true; they changed nothing
    ways: int = 0  # different ways on after a second fault, each followed to the end of the hand
    seconds: float = 0
    rulings: dict[str, int] = field(default_factory=dict)  # the strongest of the hand, after each second fault told
    broken: dict[str, int] = field(default_factory=dict)  # kinds of counterexample
    shortest: dict[str, str] = field(default_factory=dict)  # script of each kind

    @property
    def whole(self) -> bool:
        return 0 < self.moments == self.of


@cache
def books(stack: str) -> Stack:
    """A stack, read once: the processes take it over, so that a pack changed meanwhile changes nothing."""
    return load_stack(stack)


@cache
def code_digest() -> str:
    """Of everything that a proof speaks about."""
    found = hashlib.sha256()
    host = ROOT / "host" / "dealershoe"
    rooms = (*(host / room for room in ("table", "rules", "trial")), Path(__file__).parent)
    files = [path for room in rooms for path in room.rglob("*") if path.suffix in (".py", ".toml", ".txt")]
    for path in sorted((*files, *host.glob("*.py"))):
        if not path.name.startswith(("shelf", "test_")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


class Prover:
    """Follows every pair of a part, each different hand once; hands that an earlier run met are not remembered."""

    def __init__(self, part: Part, found: Proven) -> None:
        self.part = part
        self.found = found
        self.rulings = Counter(found.rulings)
        self.counterexamples = Counter(found.broken)
        self.names = Names()
        self.seen: dict[str, set[Key]] = {"folded": set(), "recent": set(), "past": set()}
        self.seconds: dict[Key, tuple[str, ...]] = {}  # kinds of the second faults that there are in a hand
        self.ways: set[Key] = set()  # hands from which the way to the end is in order, and nothing is found on it
        self.ends: set[Key] = set()  # the same where something is found on it
        self.ways_kept = 0

    def moment(self, moment: Table) -> None:
        """Every pair whose first fault comes at this moment of the hand."""
        self.second(moment)  # nothing went wrong before: the single faults
        for first in faults(moment.session, False, FIRST, LATER):
            table = moment.fork()
            try:
                if not table.inject(first):
                    continue
                self.found.firsts += 1
                going = True
                while going:
                    seconds = self.second(table)
                    self.found.pairs += len(seconds)
                    going = table.step()
                self.end(table)
            except BrokenError as error:
                self.broken(str(error))
        self.found.moments += 1

    def singles(self) -> None:
        """Every single fault of the hand."""
        for reason in single(Table(books(self.part.stack), self.part.seats, self.part.game), NO_ACTS, NO_ACTS):
            self.found.firsts += 1
            if reason:
                self.broken(reason)
        self.found.moments = self.found.of

    def second(self, moment: Table) -> tuple[str, ...]:
        """Every second fault at this moment, unless it was told in a hand that is the same for it; the kinds of all."""
        key = outlook(moment, self.names)
        keys = {"folded": key, "recent": key + recent(moment, self.names), "past": key + past(moment, self.names)}
        new = {what for what, known in keys.items() if known not in self.seen[what]}
        if not new:
            return self.seconds[key]
        for what in new:
            self.seen[what].add(keys[what])
        self.found.hands += "folded" in new
        kinds = []
        for fault in faults(moment.session, False, NO_ACTS, NO_ACTS):
            kinds.append(fault.name)
            if reach(moment.hand, fault.events) not in new:
                continue
            self.found.told += 1
            table = moment.fork()
            try:
                if not table.inject(fault):
                    self.found.refused += 1
                    continue
                ruled = [ruling.ruling for ruling in table.rulings]
                self.rulings[max(ruled, key=STRENGTH.__getitem__, default="none")] += 1
                self.follow(table)
            except BrokenError as error:
                self.broken(str(error))
        self.seconds[key] = tuple(kinds)
        return self.seconds[key]

    def follow(self, table: Table) -> None:
        """The way from here to the end of the hand, unless it is known to be in order."""
        noticed = table.session._noticed
        passed: list[tuple[int, Key, Key]] = []  # what had been noticed by then, and the keys
        streets = -1
        found_later = False
        while True:
            if len(table.hand.closed) != streets:  # a street further, or dealt anew
                streets = len(table.hand.closed)
                rough = way(table, self.names)
                if rough in self.ways:
                    break
                exact = outlook(table, self.names)
                if exact in self.ends:
                    found_later = True
                    break
                passed.append((len(noticed), rough, exact))
            if not table.step():
                self.end(table)
                break
        for before, rough, exact in passed:
            if found_later or before != len(noticed):
                self.ends.add(exact)
            else:
                self.ways.add(rough)

    def end(self, table: Table) -> None:
        table.check_cards()
        table.check_end()

    def broken(self, script: str) -> None:
        kind = kind_of(script)
        if kind not in self.counterexamples:
            click.echo(script, err=True)  # at once: a part takes minutes
        self.counterexamples[kind] += 1
        self.found.shortest[kind] = min(self.found.shortest.get(kind, script), script, key=len)

    def keep(self, seconds: float) -> Proven:
        """Write down what has been proven so far, after so many more seconds."""
        found = self.found
        found.ways += len(self.ways) + len(self.ends) - self.ways_kept
        self.ways_kept = len(self.ways) + len(self.ends)
        found.seconds = round(found.seconds + seconds, 1)
        found.rulings = dict(self.rulings.most_common())
        found.broken = dict(self.counterexamples.most_common())
        self.part.file.parent.mkdir(parents=True, exist_ok=True)
        whole = self.part.file.with_suffix(".new")
        whole.write_text(json.dumps(asdict(found), indent=1), encoding="utf-8")
        whole.replace(self.part.file)
        return found


def kind_of(script: str) -> str:
    """What is wrong with a counterexample, without its stack and numbers."""
    reason = script.rsplit("# under ", 1)[-1].split(": ", 1)[-1]
    return "".join("N" if letter.isdigit() else letter for letter in reason)


progressed: Any = None  # moments proven so far, by all processes


def shared(counter: Any) -> None:
    global progressed
    progressed = counter


def advance(done: int) -> None:
    if progressed is not None:
        with progressed.get_lock():
            progressed.value += done


def length(part: Part) -> int:
    """Moments of the hand without a fault."""
    return sum(1 for _ in moments(Table(books(part.stack), part.seats, part.game)))


def prove(part: Part) -> tuple[Part, Proven]:
    """Prove what is left of a part, and keep each moment's result."""
    found = kept(part) or Proven(code_digest(), length(part))
    prover = Prover(part, found)
    if part.faults == 1:
        begun = time.process_time()
        prover.singles()
        advance(found.of)
        return part, prover.keep(time.process_time() - begun)
    for moment in list(moments(Table(books(part.stack), part.seats, part.game)))[found.moments :]:
        begun = time.process_time()
        prover.moment(moment)
        advance(1)
        prover.keep(time.process_time() - begun)
    return part, found


def kept(part: Part) -> Proven | None:
    """What an earlier run proved of this part with the same code and packs."""
    try:
        proven = Proven(**json.loads(part.file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return proven if proven.code == code_digest() else None


def parts(seats: list[int] | None, games: list[str], stacks: list[str]) -> list[Part]:
    """The longest first, so that no process is left alone with one."""
    found = [
        Part(stack, count, game, faults)
        for faults, table in ((2, PAIRS), (1, SINGLES))
        for game in games
        for count in table.get(game, ())
        for stack in stacks
        if seats is None or count in seats
    ]
    return sorted(found, key=lambda part: (part.faults, part.seats * (3 if part.game == "stud" else 1)), reverse=True)


def page(results: dict[Part, Proven]) -> str:
    """The result on one page."""
    lines = [
        "# Every pair of faults",
        "",
        "A first fault at each moment of a hand, a second one at each moment after it, then the hand to its end, dealt",
        "by a dealer who follows every remedy: no exception, a ruling or a call for the floor, the 52 cards each in",
        "one place throughout, and a due order that deals the hand to its end. `told` second faults stand for all",
        "pairs: every other one comes in a hand that is the same for it (`tests/rules/merging.py`), and `ways` stand",
        "for all ways to the end.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "| --- " * len(COLUMNS) + "|",
    ]
    for part, proven in sorted(results.items(), key=lambda item: (item[0].game, item[0].seats, item[0].stack)):
        if part.faults == 1:
            continue
        row = [proven.firsts, proven.pairs, proven.hands, proven.told, proven.refused, proven.ways,
               sum(proven.broken.values()), round(proven.seconds)]  # fmt: skip
        done = f"{proven.moments} of {proven.of}"
        cells = [part.game, str(part.seats), part.stack, done, *(f"{cell:,}" for cell in row)]
        lines.append("| " + " | ".join(cells) + " |")
    rulings: Counter[str] = Counter()
    for proven in results.values():
        rulings.update(proven.rulings)
    spread = ", ".join(f"{name} {count:,}" for name, count in rulings.most_common())
    ones = sorted((part.game, part.seats, part.stack, proven) for part, proven in results.items() if part.faults == 1)
    alone = ", ".join(
        f"{game} {seats} seats {stack} {proven.firsts:,} ({sum(proven.broken.values())} counterexamples)"
        for game, seats, stack, proven in ones
    )
    total = sum(proven.pairs for proven in results.values())
    told = sum(proven.told for proven in results.values())
    cpu = sum(proven.seconds for proven in results.values())
    codes = ", ".join(sorted({proven.code for proven in results.values()}))
    lines += [
        "",
        f"{total:,} pairs by {told:,} second faults told, in {cpu:,.0f} s of CPU. Code and packs: {codes}.",
        "",
        *(
            [f"Single faults, of every seat and draw, beside those that `make test` proves: {alone}.", ""]
            if alone
            else []
        ),
        f"The strongest ruling of the hand after the second fault: {spread}.",
        "",
    ]
    return "\n".join(lines)


@click.command()
@click.option("--seats", default="", help="Only hands of so many seats, as in 2,6.")
@click.option("--games", default=",".join(PAIRS), show_default=True)
@click.option("--stacks", default=",".join(STACKS), show_default=True)
@click.option("--jobs", default=multiprocessing.cpu_count(), show_default=True, help="Processes.")
def main(seats: str, games: str, stacks: str, jobs: int) -> None:
    """Prove every pair of faults."""
    wanted = parts([int(count) for count in seats.split(",")] if seats else None, games.split(","), stacks.split(","))
    known = {part: proven for part in wanted if (proven := kept(part))}
    results = {part: proven for part, proven in known.items() if proven.whole}
    todo = [part for part in wanted if part not in results]
    counter = multiprocessing.Value("i", sum(known[part].moments for part in todo if part in known))
    total = sum(map(length, todo))
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        multiprocessing.Pool(jobs, shared, (counter,), maxtasksperchild=1) as pool,
        Progress(*columns, console=Console(stderr=True)) as progress,
    ):
        bar = progress.add_task("", total=total)
        coming = pool.imap_unordered(prove, todo)
        while len(results) < len(wanted):
            try:
                part, proven = coming.next(timeout=1)
                results[part] = proven
            except multiprocessing.TimeoutError:
                pass
            said = f"{counter.value} of {total} moments, {len(results)} of {len(wanted)} parts"
            progress.update(bar, completed=counter.value, description=said)
    BUILD.mkdir(exist_ok=True)
    text = page(results)
    (BUILD / "prove.md").write_text(text, encoding="utf-8")
    click.echo(text)
    broken: dict[str, str] = {}
    for proven in results.values():
        for kind, script in proven.shortest.items():
            broken[kind] = min(broken.get(kind, script), script, key=len)
    for kind, script in broken.items():
        times = sum(proven.broken.get(kind, 0) for proven in results.values())
        click.echo(f"{times} times: {kind}\n{script}\n")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
