"""How fast recorded hands are judged again and verified, and whether memory stays flat. For `make bench`.

The hands are dealt through a real desk into a journal, one in five with an accident. `HANDS=20000 python
tests/bench/run.py record` does it with more of them.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from dealershoe.record.journal import Journal
from dealershoe.record.read import opened
from dealershoe.record.replay import Packs, replay
from dealershoe.record.verify import Check
from dealershoe.rules.signing import key_id, new_key, raw_public
from record.dealing import Table

COMMAND = "python tests/bench/run.py record"
HANDS = int(os.environ.get("HANDS", "2000"))
ACCIDENTS = 0.2  # of the hands
FLAT_KB = 1024  # memory that may be taken between the first quarter of the hands and the last


def resident_kb() -> int:
    """This process's memory now, 0 where the system does not tell (proc(5): the second number, in pages)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return 0


def recorded(path: Path, key: Any) -> None:
    """A journal of HANDS hands. Nobody waits for this disk."""
    with Journal(path, key) as journal:
        journal._db.execute("PRAGMA synchronous = OFF")
        table = Table(journal, 1, accidents=ACCIDENTS)
        for _ in range(HANDS):
            table.hand()


def replayed(path: Path) -> tuple[float, int, int]:
    """Hands judged a second of this process, facts a hand, kilobytes taken after the first quarter."""
    facts = wrong = 0
    early = 0
    with opened(path) as db, Packs(db) as packs:
        begun = time.process_time()
        for number, hand in enumerate(replay(db, packs), 1):
            facts += hand.facts
            wrong += not hand.same
            if number == HANDS // 4:
                early = resident_kb()
        spent = time.process_time() - begun
    if wrong:
        raise RuntimeError(f"{wrong} hands were not ruled on as they had been")
    return HANDS / spent, facts // HANDS, resident_kb() - early


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
    key = new_key()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        recorded(path, key)
        rate, facts, grown = replayed(path)
        records = verified(path, key)
    return [
        {"name": "replay_rate", "value": rate, "unit": "hands/s", "target": ">= 1000", "ok": rate >= 1000,
         "command": COMMAND},
        {"name": "replay_memory_kb", "value": grown, "unit": "kB", "target": f"<= {FLAT_KB}", "ok": grown <= FLAT_KB,
         "command": COMMAND},
        {"name": "replay_facts", "value": facts, "unit": "facts/hand", "target": "", "ok": None, "command": COMMAND},
        {"name": "verify_rate", "value": records, "unit": "records/s", "target": "", "ok": None, "command": COMMAND},
    ]  # fmt: skip
