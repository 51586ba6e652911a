"""What `dealershoe flash` leaves on a Pico, started on an emulated one: the trial, its end by HELLO, and the budgets.

Wants MicroPython for the Pico: see tests/hil/test_pico.py.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from dealershoe.emulate.process import firmware_folder
from dealershoe.flash import build
from dealershoe.flash.repl import STOP_WATCHDOG
from hil.emulated_pico import FLASH, EmulatedPico, file_system
from littlefs import LittleFS, UserContext
from shoelink import schema
from shoelink.frame import Decoder

UF2 = os.environ.get("HIL_PICO_UF2", "")
pytestmark = pytest.mark.skipif(
    not UF2, reason="no MicroPython for the Pico: download RPI_PICO .uf2 from micropython.org and set HIL_PICO_UF2"
)
# Bytes of heap that must be free once everything is imported: the sampler's ring (16 kB with its alignment), the
# journal (7 kB), buffers, and a hand's garbage between two collections (40 kB at the start, firmware/main.py).
LEFT = 95_000


@pytest.fixture(scope="module")
def version() -> dict[str, bytes]:
    return build.compiled(build.sources(), "armv6m")


def image(folder: Path, slot: str, versions: dict[str, dict[str, bytes]], main: bytes | None = None) -> bytes:
    """The Pico's disk with these versions, and what /slot says."""
    (folder / "main.py").write_bytes(main or build.start_file())
    (folder / "slot").write_text(slot)
    for name, files in versions.items():
        for file, data in files.items():
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return file_system(folder)


def slot_of(pico: EmulatedPico) -> str:
    """What /slot says now."""
    context = UserContext(FLASH.fs_blocksize * FLASH.fs_blockcount)
    context.buffer = bytearray(pico.chip.flash[FLASH.fs_start : FLASH.fs_start + len(context.buffer)])
    disk = LittleFS(context=context, block_size=FLASH.fs_blocksize, block_count=FLASH.fs_blockcount, mount=True)
    with disk.open("/slot", "r") as file:
        return str(file.read())


def said_hello(pico: EmulatedPico) -> bool:
    return any(frame[0] == schema.HELLO for frame in Decoder().feed(bytes(pico.sent)))


def test_the_first_hello_of_the_real_firmware_makes_its_version_the_good_one(
    version: dict[str, bytes], tmp_path: Path
) -> None:
    """Also where older code lies about that would be found first by what a Pico's path says: MicroPythonOS#240."""
    stale = {f"{name}/__init__.py": b"raise ValueError('stale')" for name in ("shoe", "drivers", "shoelink")}
    pico = EmulatedPico(Path(UF2), image(tmp_path, "- a", {"a": version, "lib": stale, "": stale}))
    assert pico.run(lambda: said_hello(pico), emulated_s=8, wall_s=240), pico.console.decode()
    print(f"HELLO {pico.ns / 1e6:.0f} emulated ms after power-on, through the start of a trial")
    assert pico.run(lambda: slot_of(pico) == "a", emulated_s=1, wall_s=120), slot_of(pico)


def test_the_modules_leave_most_of_the_heap(version: dict[str, bytes], tmp_path: Path) -> None:
    tree = ast.parse((firmware_folder() / "main.py").read_text())
    wanted = "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    script = (
        "import gc, sys\nsys.path.insert(0, '/a')\ngc.collect()\nbefore = gc.mem_free()\n"
        f"{wanted}\ngc.collect()\nprint('RAM', before, before - gc.mem_free(), 'end')\n"
    )
    pico = EmulatedPico(Path(UF2), image(tmp_path, "a", {"a": version}, script.encode()))
    assert pico.run(lambda: b"end" in pico.console, emulated_s=8, wall_s=240), pico.console.decode()
    said = pico.console.decode().split("RAM ")[1].split()
    print(f"the modules take {said[1]} of {said[0]} bytes of heap")
    assert int(said[0]) - int(said[1]) >= LEFT


def test_a_trial_that_ends_in_an_error_is_ended_by_the_watchdog_and_the_old_version_runs(tmp_path: Path) -> None:
    """Small versions that only say who they are, so that the emulated seconds cost little."""
    good = tmp_path / "good.py"
    good.write_text("print('GOOD')\n")
    bad = tmp_path / "bad.py"
    bad.write_text("print('BAD')\nraise ValueError\n")
    link = {name: path for name, path in build.sources().items() if name.startswith("shoelink/")}
    versions = {
        "a": build.compiled({"main.py": good} | link, "armv6m"),
        "b": build.compiled({"main.py": bad} | link, "armv6m"),
    }
    (tmp_path / "disk").mkdir()
    pico = EmulatedPico(Path(UF2), image(tmp_path / "disk", "a b", versions))
    assert pico.run(lambda: b"BAD" in pico.console, emulated_s=4, wall_s=240), pico.console.decode()
    assert slot_of(pico) == "a b!"
    assert pico.run(lambda: b"GOOD" in pico.console, emulated_s=12, wall_s=240), pico.console.decode()
    assert slot_of(pico) == "a"


@pytest.mark.parametrize("stopped", [True, False])
def test_the_watchdog_of_an_interrupted_shoe_is_stopped_and_would_bite_otherwise(stopped: bool, tmp_path: Path) -> None:
    script = "import machine, time\nmachine.WDT(timeout=1000)\n"
    script += (STOP_WATCHDOG if stopped else "") + "\ntime.sleep_ms(2500)\nprint('ALIVE')\n"
    pico = EmulatedPico(Path(UF2), image(tmp_path, "a", {}, script.encode()))
    pico.run(lambda: b"ALIVE" in pico.console, emulated_s=5, wall_s=240)
    assert (b"ALIVE" in pico.console) == stopped
