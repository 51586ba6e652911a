"""Every command of the README runs, in a folder that looks like a checkout, and shows what the README says it shows."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?:<!-- (?P<endless>ends with Ctrl-C; )?shows: (?P<shows>.+?) -->\n)?```sh\n(?P<script>.*?)```", re.DOTALL
)
BLOCKS = [
    (match["script"], match["shows"] or "", bool(match["endless"]))
    for match in BLOCK.finditer((ROOT / "README.md").read_text())
]
DEADLINE = 90  # seconds; a loaded machine is slow
LISTED = {"make demo\n", "make test\n"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with everything of the checkout in it, where new files do no harm."""
    for entry in ROOT.iterdir():
        if entry.name not in {".git", ".venv", "build", "typings"} and not entry.name.endswith("cache"):
            (tmp_path / entry.name).symlink_to(entry)
    return tmp_path


def environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"}


def test_commands_run_one_after_the_other(checkout: Path) -> None:
    for script, shows, endless in BLOCKS:
        if script not in LISTED:
            run(script, shows, endless, checkout)


def run(script: str, shows: str, endless: bool, checkout: Path) -> None:
    """Run one block as a person would; one that Ctrl-C ends, until it has shown what the README says it shows."""
    printed = checkout / "printed"
    with (
        printed.open("w") as output,
        subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script.replace("| head -40", "> shown && head -40 shown")],
            cwd=checkout, env=environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        ) as process,
    ):  # fmt: skip
        try:
            end = time.monotonic() + DEADLINE
            while process.poll() is None and not (endless and shows in printed.read_text()):
                assert time.monotonic() < end, printed.read_text()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.1)
            assert endless or process.returncode == 0, printed.read_text()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(DEADLINE)
                os.killpg(process.pid, signal.SIGKILL)
    assert shows in printed.read_text()
    assert "Traceback" not in printed.read_text()


def test_the_two_commands_are_the_makefile_s() -> None:
    scripts = [script for script, *_ in BLOCKS]
    assert scripts[:2] == ["make demo\n", "make test\n"]
    targets = (ROOT / "Makefile").read_text()
    for name in ("setup", "demo", "test", "lint", "bench"):
        assert f"\n{name}: " in targets
    assert "$(BIN)/dealershoe demo" in targets  # tests/bridge/test_demo.py runs the same to its end
    assert "pytest" in targets  # which is running now


def test_paths_named_in_the_readme_exist() -> None:
    text = (ROOT / "README.md").read_text()
    named = re.findall(r"\]\(([^)#]+)\)", text) + re.findall(
        r"`((?:docs|tests|protocol|host|firmware|hardware)/[^` ]*)`", text
    )
    assert named
    for name in named:
        assert (ROOT / name).exists(), name


def test_bash_is_there() -> None:
    assert shutil.which("bash"), "the README's commands are written for bash"
