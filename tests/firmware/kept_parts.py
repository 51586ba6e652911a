"""Parts of a long run of simulated passes kept in a file, so that it can be cut off and gone on with. For `passes.py`.

A line of the file is a part: what was run, with the digest of all that its counts depend on. Parts of another decoder
or of other physics stay in the file and count for nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DECODER = (
    "cardcode",
    "crc8",
    "doublefeed",
    "edges",
    "events",
    "passage",
    "sampleclock",
    "strip",
    "twocards",
)  # firmware/shoe
PHYSICS = ("hand", "magnitudes", "optics", "passes", "physics")  # tests/firmware

Job = tuple[str, int, int, tuple[str, ...]]  # what, seed, passes, checks left out


def digest() -> str:
    """Sixteen digits of what decodes and what is decoded."""
    files = [ROOT / "firmware" / "shoe" / f"{name}.py" for name in DECODER]
    files += [Path(__file__).with_name(f"{name}.py") for name in PHYSICS]
    files.append(ROOT / "hardware" / "faults.toml")
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:16]


class KeptParts:
    """The parts in `file`, which is made by the first."""

    def __init__(self, file: Path):
        self._file = file
        self._digest = digest()
        self._counts: dict[Job, Counter[str]] = {}
        for line in file.read_text().splitlines() if file.exists() else ():
            try:
                part: Any = json.loads(line)
            except ValueError:
                continue  # the run was cut off while it wrote: that part is run again
            if isinstance(part, dict) and part.get("digest") == self._digest:
                what, seed, passes, without = part["job"]
                self._counts[what, seed, passes, tuple(without)] = Counter(part["count"])

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, job: Job) -> bool:
        return job in self._counts

    def __getitem__(self, job: Job) -> Counter[str]:
        return self._counts[job]

    def keep(self, job: Job, count: Counter[str]) -> None:
        """Write down a part that has been run."""
        self._counts[job] = count
        self._file.parent.mkdir(parents=True, exist_ok=True)
        cut = self._file.exists() and not self._file.read_bytes().endswith(b"\n")
        with self._file.open("a") as out:
            out.write("\n" * cut + json.dumps({"digest": self._digest, "job": job, "count": count}) + "\n")
