"""A new project with `dealershoe[bench]` from the wheel: ten lines of test get somebody's own host code a shoe.

Nothing is downloaded: the wheel is built and installed into an environment of its own, and what it depends on is taken
from this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import fields
from pathlib import Path

import pytest
from dealershoe.bench.faults import Faults
from dealershoe.emulate.process import micropython

ROOT = Path(__file__).parents[2]
SITE = Path(sysconfig.get_path("purelib"))

# somebody else's program: it knows the wire and nothing else of this package
HOST = '''
import os, time
import serial
from shoelink import schema
from shoelink.link import Link
from shoelink.notice import Greeting, Recorded


class Counter:
    """Counts the cards that leave a shoe."""

    def __init__(self, port):
        self.cards = []
        self.stored = 0
        self.link = Link(schema.HOST, schema.Ident(b"counter\\0", bytes(12), bytes(16)), os.urandom)
        self.port = serial.Serial(port, 115200, timeout=0.005)
        self.link.start(self.now())

    def now(self):
        return int(time.monotonic() * 1000) & 0x3FFFFFFF

    def turn(self):
        for notice in (*self.link.receive(self.port.read(4096), self.now()), *self.link.poll(self.now())):
            if isinstance(notice, Greeting):
                self.link.resume(self.stored, self.now())
            elif isinstance(notice, Recorded):
                if notice.kind == schema.CARD:
                    self.cards.append(notice.message.draw)
                self.stored = notice.number
                self.link.stored(notice.number)
        self.link.poll(self.now())
        self.port.write(self.link.take())
        return len(self.cards)
'''
TEST = """
from counter import Counter


def test_five_cards_are_counted_once_each_on_a_bad_line(emulated_shoe, shoe_line):
    counter = Counter(shoe_line.port)
    shoe_line.faults(loss=0.2, bit_error=0.1, duplicate=0.1)
    for seat in range(1, 6):
        emulated_shoe.pull(target=seat)
    shoe_line.wait_for(lambda: counter.turn() >= 5, "five cards")
    assert counter.cards == [1, 2, 3, 4, 5]
    counter.port.close()
"""
WITH_BRIDGE = """
def test_a_misdeal_is_ruled_on(shoe_dealer, shoe_bridge):
    shoe_dealer.play("hand seats=1-4 button=4\\ncard 1 exposed\\n")
    shoe_bridge.wait_for(lambda: shoe_bridge.snapshot().rulings, "a ruling")
"""
TWIN = """
import pytest


@pytest.fixture
def shoe_interpreter():
    return "cpython"


def test_on_the_twin(emulated_shoe):
    assert not emulated_shoe.on_micropython
    assert emulated_shoe.pull(target=1).name == "2c"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment `env` that has the wheel, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("project")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    made = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    env = folder / "env"
    venv.create(env, with_pip=False, symlinks=True)
    python = env / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    installed = subprocess.run([*pip, str(wheel)], capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip())
    for thing in SITE.iterdir():  # the dependencies, as if pip had fetched them
        if "dealershoe" not in thing.name and thing.suffix != ".pth" and not (site / thing.name).exists():
            (site / thing.name).symlink_to(thing)
    found = micropython()
    if found:
        shutil.copy(found, env / "bin" / "micropython")
    (folder / "tests").mkdir()
    (folder / "counter.py").write_text(HOST)
    (folder / "tests" / "test_counter.py").write_text(TEST)
    (folder / "tests" / "test_bridge.py").write_text(WITH_BRIDGE)
    (folder / "tests" / "test_twin.py").write_text(TWIN)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\nfilterwarnings = error\n")
    return folder


def run(project: Path, *args: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
    environment = {**inherited, "PATH": f"{project / 'env' / 'bin'}:/usr/bin:/bin", "HOME": str(project)}
    command = [str(project / "env/bin/python"), "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *args]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def test_ten_lines_of_test_get_a_shoe(project: Path) -> None:
    assert len(TEST.strip().splitlines()) <= 12  # ten, and the two blank ones after the import
    ran = run(project, "-v", "--shoe-seed=7", "tests/test_counter.py", "tests/test_bridge.py", "tests/test_twin.py")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout
    assert "--shoe-seed=7" in ran.stdout
    if micropython():
        assert f"the firmware runs on {project / 'env/bin/micropython'}" in ran.stdout
    else:
        assert "the CPython twin runs the firmware" in ran.stdout


def test_the_guide_shows_the_test_that_was_run_and_every_fixture(project: Path) -> None:
    guide = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    assert TEST.split("\n\n\n")[1].strip() in guide
    ends = ("line", "dealer", "bridge", "seed", "interpreter", "pace", "rules")
    for name in ("emulated_shoe", *(f"shoe_{end}" for end in ends)):
        assert f"| `{name}` |" in guide
    for field in fields(Faults):
        assert f"`{field.name}`" in guide


def test_the_fixtures_are_listed_with_what_they_are_for(project: Path) -> None:
    ran = run(project, "--fixtures", "tests/test_counter.py")
    for name in ("emulated_shoe", "shoe_line", "shoe_dealer", "shoe_bridge", "shoe_seed"):
        assert f"{name} --" in ran.stdout, ran.stdout


def test_the_commands_are_there(project: Path) -> None:
    capture = b"\0\x02a\0"
    ran = subprocess.run([project / "env/bin/dealershoe", "frames", "-", "--json"], input=capture, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    assert b'"verdict": "short"' in ran.stdout
