"""From the values of a card to its frame in the output, on the emulated RP2040: microseconds and bytes allocated.

Wants MicroPython for the Pico in HIL_PICO_UF2, as `tests/hil/test_pico.py` does. The time is the emulated chip's,
counted in its own instructions: it is the same on any machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
for folder in ("protocol", "host", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

COMMAND = "HIL_PICO_UF2=RPI_PICO.uf2 python tests/bench/run.py pico"
PASSES = 20
PROGRAM = f"""
import gc, micropython, time
from shoelink import frame, schema

body, out = bytearray(21), bytearray(schema.FRAME)
body[:] = bytes(range(1, 22))

def once(number):
    began = time.ticks_us()
    frame.encode_into(out, 0, schema.CARD, 0, number, 0, body, 0, 21)
    return time.ticks_diff(time.ticks_us(), began)

def clock():
    began = time.ticks_us()
    return time.ticks_diff(time.ticks_us(), began)

once(1)
times = sorted(once(number) for number in range({PASSES}))
asking = min(clock() for _ in range({PASSES}))
gc.collect()
gc.disable()
before = gc.mem_alloc()
spent = gc.mem_alloc() - before  # what asking takes
before = gc.mem_alloc()
once(3)
spent = gc.mem_alloc() - before - spent
micropython.heap_lock()
once(2)
micropython.heap_unlock()
print("encoded", times[-1] - asking, spent, "end")
"""


def _entry(name: str, value: float | None, unit: str, target: str, ok: bool | None, reason: str = "") -> dict[str, Any]:
    figure = {"name": name, "value": value, "unit": unit, "target": target, "ok": ok, "command": COMMAND}
    return figure | ({"reason": reason} if reason else {})


def _measured(uf2: Path) -> tuple[int, int]:
    """Microseconds of the slowest of some frames, and the bytes that one allocates."""
    from hil.emulated_pico import EmulatedPico, compiled, file_system

    with tempfile.TemporaryDirectory() as folder:
        root = compiled([ROOT / "protocol" / "shoelink"], Path(folder) / "shoelink").parent
        (root / "main.py").write_text(PROGRAM)
        pico = EmulatedPico(uf2, file_system(root))
        pico.run(lambda: b" end" in pico.console or b"Error" in pico.console, emulated_s=20, wall_s=300)
    words = pico.console.decode().split()
    if "encoded" not in words:
        raise RuntimeError(pico.console.decode())
    slowest, spent = map(int, words[words.index("encoded") + 1 :][:2])
    return slowest, spent


def figures() -> list[dict[str, Any]]:
    """The figures of the frame on the chip, each with its target from DESIGN."""
    uf2 = os.environ.get("HIL_PICO_UF2", "")
    if not uf2:
        why = "no MicroPython for the Pico here: name RPI_PICO .uf2 in HIL_PICO_UF2"
        return [
            _entry("encode_us", None, "us", "<= 150", None, why),
            _entry("encode_alloc_bytes", None, "bytes", "0", None, why),
        ]
    slowest, spent = _measured(Path(uf2))
    return [
        _entry("encode_us", slowest, "us", "<= 150", slowest <= 150),
        _entry("encode_alloc_bytes", spent, "bytes", "0", spent == 0),
    ]


if __name__ == "__main__":
    for figure in figures():
        print(figure)
