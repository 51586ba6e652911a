"""How fast hands are recorded, judged again and verified, and whether memory stays flat. For `make bench`.

The hands are dealt through a real desk into a journal, one in five with an accident: no link, and nobody waits for the
disk. Rates are of this process's own time, whatever else the machine does. More hands, and a journal that is kept, gone
on with if it was cut off, and judged again the next time (a million are 12 GB, and more than an hour):

    HANDS=1000000 JOURNAL=/big/disk/million.journal python tests/bench/run.py record
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from dealershoe.record.journal import Journal
from dealershoe.record.keys import bridge_key
from dealershoe.record.read import count_hands, opened
from dealershoe.record.replay import Packs, replay
from dealershoe.record.verify import Check
from dealershoe.rules.signing import key_id, raw_public
from record.dealing import Table

COMMAND = "python tests/bench/run.py record"
HANDS = int(os.environ.get("HANDS", "2000"))
JOURNAL = os.environ.get("JOURNAL", "")
ACCIDENTS = 0.2  # of the hands
FLAT_KB = 1024  # memory that may be taken between the first quarter of the hands and the last
TOLD = 10_000  # hands between two words about how far it is


def resident_kb() -> int:
    """This process's memory now, 0 where the system does not tell (proc(5): the second number, in pages)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return 0


class Told:
    """How far a long run is, on standard error."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._begun = time.monotonic()

    def __call__(self, done: int) -> None:
        if done and done % TOLD == 0:
            rate = done / (time.monotonic() - self._begun)
            left = (self._total - done) / rate / 60
            said = (
                f"{self._what}: {done:,} of {self._total:,}, {rate:,.0f}/s, {left:.0f} min left, {resident_kb():,} kB"
            )
            print(said, file=sys.stderr, flush=True)


def recorded(path: Path, key: Any) -> float:
    """A journal of HANDS hands; how many were recorded a second, 0.0 where they were there already."""
    with Journal(path, key) as journal:
        journal._db.execute("PRAGMA synchronous = OFF")
        there = count_hands(journal._db)
        told = Told("recording", HANDS - there)
        table = Table(journal, 1 + there, accidents=ACCIDENTS)
        begun = time.process_time()
        while (made := table.desk.counts["hands"]) < HANDS - there:  # a hand that cannot begin is none
            table.hand()
            told(made + 1)
        return made / (time.process_time() - begun)


def replayed(path: Path) -> tuple[float, float, list[int]]:
    """Hands judged a second, facts a hand, kilobytes resident at the beginning and after each quarter of the hands."""
    facts = hands = wrong = 0
    memory = []
    told = Told("judging", HANDS)
    with opened(path) as db, Packs(db) as packs:
        begun = time.process_time()
        for hand in replay(db, packs):
            if hands % (HANDS // 4) == 0:
                memory.append(resident_kb())
            hands += 1
            facts += hand.facts
            wrong += not hand.same
            told(hands)
        spent = time.process_time() - begun
    if wrong:
        raise RuntimeError(f"{wrong} hands were not ruled on as they had been")
    return hands / spent, facts / hands, [*memory[:4], resident_kb()]


def verified(path: Path, key: Any) -> float:
    """Records verified a second of this process."""
    public = raw_public(key.public_key())
    with opened(path) as db:
        begun = time.process_time()
        check = Check(db, {key_id(public): public})
        if list(check.run()):
            raise RuntimeError("a journal as it was written does not verify")
        return check.records / (time.process_time() - begun)


def figures() -> list[dict[str, Any]]:
    """The figures of this benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(JOURNAL or Path(folder) / "journal")
        key = bridge_key(path.with_name(path.name + ".key"))
        written = recorded(path, key)
        rate, facts, memory = replayed(path)
        records = verified(path, key)
    grown = memory[-1] - memory[1]
    return [
        {"name": "replay_rate", "value": rate, "unit": "hands/s", "target": ">= 1000", "ok": rate >= 1000,
         "command": COMMAND},
        {"name": "replay_memory_kb", "value": grown, "unit": "kB", "target": f"<= {FLAT_KB}", "ok": grown <= FLAT_KB,
         "command": COMMAND},
        *({"name": f"replay_resident_{part}_kb", "value": value, "unit": "kB", "target": "", "ok": None,
           "command": COMMAND} for part, value in zip(("0", "25", "50", "75", "100"), memory, strict=True)),
        {"name": "replay_hands", "value": HANDS, "unit": "hands", "target": "", "ok": None, "command": COMMAND},
        {"name": "replay_facts", "value": facts, "unit": "facts/hand", "target": "", "ok": None, "command": COMMAND},
        {"name": "record_rate", "value": written or None, "unit": "hands/s", "target": "", "ok": None,
         "command": COMMAND, "reason": "they were recorded already"},
        {"name": "verify_rate", "value": records, "unit": "records/s", "target": "", "ok": None, "command": COMMAND},
    ]  # fmt: skip
