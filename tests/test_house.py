"""The house's import rules (DESIGN section 1): who may import whom, and that cores do no I/O."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOST = ROOT / "host" / "dealershoe"
# what reaches a port, a thread, a clock, a file or a random source
OUTSIDE = {
    "asyncio", "fcntl", "io", "multiprocessing", "os", "pathlib", "pty", "random", "secrets", "select", "serial",
    "signal", "socket", "sqlite3", "subprocess", "tempfile", "termios", "threading", "time", "urllib",
}  # fmt: skip
CORES = [
    *sorted((HOST / "table").glob("*.py")),
    *sorted((HOST / "deal").glob("*.py")),
    *sorted((HOST / "desk").glob("*.py")),
    *(HOST / name for name in ("chronicle.py", "entries.py", "events.py", "log.py", "session.py")),
    *(HOST / "rules" / name for name in ("conditions.py", "judge.py", "remedy.py", "ruling.py")),
    HOST / "judge" / "runner.py",
    HOST / "deck" / "check.py",
    *(HOST / "record" / name for name in ("chain.py", "checkpoint.py", "phh.py", "words.py")),
    *(HOST / "trial" / name for name in ("diff.py", "situations.py")),
    *(HOST / "console" / name for name in ("access.py", "document.py", "metrics.py", "state.py")),
    *(HOST / "frames" / name for name in ("capture.py", "explain.py", "meaning.py", "words.py")),
    *sorted((ROOT / "protocol" / "shoelink").glob("*.py")),
    *(
        ROOT / "firmware" / "shoe" / name
        for name in ("cardcode.py", "passage.py", "lanes.py", "seats.py", "signals.py")
    ),
]


def imported(path: Path) -> set[str]:
    """Every module that a file imports, by its full dotted name."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return names


def python_files(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"{folder}/ has no Python files"
    return found


@pytest.mark.parametrize("path", CORES, ids=lambda path: str(path.relative_to(ROOT)))
def test_cores_do_no_io(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(path)}
    assert roots & OUTSIDE == set()
    calls = {node.func.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
             and isinstance(node.func, ast.Name)}  # fmt: skip
    assert calls & {"open", "print", "input"} == set()


@pytest.mark.parametrize("folder", ["firmware", "protocol"])
def test_nothing_below_imports_the_host(folder: str) -> None:
    for path in python_files(folder):
        assert not {name for name in imported(path) if name.split(".")[0] == "dealershoe"}, path


def test_the_host_does_not_import_the_firmware() -> None:
    inside = {path.stem for path in (ROOT / "firmware").glob("*.py")} | {"shoe", "drivers"}
    for path in python_files("host"):
        if "hal" in path.parts:  # runs inside the shoe's interpreter, beside the firmware
            continue
        assert not {name for name in imported(path) if name.split(".")[0] in inside}, path


def test_the_link_stands_alone() -> None:
    for path in sorted((ROOT / "protocol" / "shoelink").glob("*.py")):
        for name in imported(path):
            assert name.split(".")[0] in {
                "shoelink",
                "array",
                "binascii",
                "collections",
                "hashlib",
                "micropython",
                "struct",
                "typing",
            }, path


@pytest.mark.parametrize(
    ("folder", "never"),
    [
        ("table", ("rules", "chronicle", "session", "judge", "bridge", "view", "emulate", "demo")),
        ("deal", ("table", "rules", "chronicle", "session", "judge", "bridge", "view", "emulate", "demo")),
        ("rules", ("chronicle", "session", "judge", "bridge", "view", "emulate", "demo")),
        ("judge", ("trial", "bridge", "view", "emulate", "demo")),
        ("trial", ("bridge", "view", "emulate", "demo")),
        ("view", ("bridge", "emulate", "demo")),
        ("emulate", ("bridge", "desk", "port", "view", "demo")),
        ("desk", ("bridge", "port", "record", "console", "config", "emulate", "demo", "judge", "trial")),
        ("port", ("bridge", "desk", "frames", "record", "console", "config", "emulate", "session", "table")),
        ("record", ("bridge", "port", "console", "config", "emulate", "demo")),
        ("frames", ("bridge", "emulate", "view", "demo", "rules", "chronicle", "session", "table")),
        ("console", ("config", "emulate", "demo", "judge", "bench")),
        ("config", ("emulate", "demo", "judge", "bench")),
    ],
)
def test_data_flows_one_way(folder: str, never: tuple[str, ...]) -> None:
    for path in sorted((HOST / folder).rglob("*.py")):
        used = {name.split(".")[1] for name in imported(path) if name.startswith("dealershoe.")}
        assert used & set(never) == set(), path


def test_every_room_of_the_host_is_on_the_map() -> None:
    text = (ROOT / "docs" / "inside.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in HOST.glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)/`", text)) - {"firmware", "protocol"} == rooms


def test_only_commands_of_the_rules_put_packs_to_the_trial() -> None:
    for path in sorted((HOST / "rules").rglob("*.py")):
        if not path.name.endswith("command.py"):
            assert not {name for name in imported(path) if name.startswith("dealershoe.trial")}, path


def test_the_store_of_the_record_stands_below_the_bridge() -> None:
    """What writes and verifies a journal needs no table: only what judges and shows it again does."""
    below = ("chain", "checkpoint", "head", "journal", "keys", "opening", "schema", "upgrade", "verify")
    for name in below:
        known = imported(HOST / "record" / f"{name}.py")
        used = {part.split(".")[1] for part in known if part.startswith("dealershoe.")}
        never = {"bridge", "desk", "port", "chronicle", "session", "table", "judge", "deal", "view", "emulate"}
        assert used & never == set(), name


def test_only_the_board_knows_pins() -> None:
    """No firmware file but board.py names a GPIO by number."""
    for path in python_files("firmware"):
        if path.name == "board.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                assert not (name == "Pin" and node.args and isinstance(node.args[0], ast.Constant)), path
