"""`dealershoe demo` in a pipe: every expectation holds, plain lines, no escape codes, exit 0, within its minute."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dealershoe.demo.command import closing_table
from dealershoe.demo.player import Result
from dealershoe.demo.screen import Stage
from dealershoe.demo.scripts import CLEAN, FAST, INCIDENTS, SHOWN, load
from dealershoe.rules.ruling import Ruling
from dealershoe.rules.stack import DEFAULT
from rich.console import Console
from rich.live import Live
from rich.text import Text

MINUTE_S = 60  # the demonstration's own limit; on a busy machine three of them are waited for
MAIN = "from dealershoe.cli import main; main()"


def test_the_demonstration_has_clean_hands_of_every_kind_and_eight_real_incidents() -> None:
    assert {"clean-2-seats", "clean-6-seats", "clean-9-seats", "clean-11-seats"} <= set(CLEAN)
    assert len([name for name in INCIDENTS if re.match(r"[dt][0-9]+-", name)]) >= 8
    for name in (SHOWN, *FAST):
        script = load(name)
        assert script.title
        assert script.lines


def test_piped_it_prints_plain_lines_checks_everything_and_ends_with_0() -> None:
    begun = time.monotonic()
    demo = subprocess.run([sys.executable, "-c", MAIN, "demo"], capture_output=True, text=True, timeout=3 * MINUTE_S)
    assert demo.returncode == 0, demo.stdout[-2000:] + demo.stderr
    assert demo.stderr == ""
    assert "\x1b" not in demo.stdout
    lines = demo.stdout.splitlines()
    total = re.fullmatch(r"(\d+) of (\d+) expectations hold, in (\d+) s", lines[-1])
    assert total is not None
    assert total[1] == total[2]
    assert int(total[2]) >= 100
    for name in (SHOWN, *FAST):
        assert [line for line in lines if line.startswith(f"{name} ")], name
    told = demo.stdout
    assert not re.search(r"\b[2-9TJQKA][cdhs]\b", told)  # its table is not an open one
    assert f"rules {DEFAULT}" in told
    assert "draw     #3 down → seat 3 (inferred)" in told
    assert "seat     #3 lies at seat 3, says its seat sensor" in told
    assert "ruling   REPLACE:" in told
    assert "ruling   MISDEAL:" in told
    assert "step     now: Deal the next card to seat 3" in told
    assert "shoe     light amber, sound 440 Hz" in told
    assert "shoe     light red, sound 880 Hz" in told
    print(f"demo took {time.monotonic() - begun:.1f} s")


def test_ended_from_outside_it_leaves_no_folder_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as demo:  # fmt: skip
        assert demo.stdout is not None
        assert any(line.startswith("draw ") for line in demo.stdout)
        assert [*tmp_path.iterdir()]
        demo.terminate()
        said = demo.communicate(timeout=MINUTE_S)[1]
    assert demo.returncode == 1
    assert "Traceback" not in said
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("rows", [8, 12, 13, 14, 40])
def test_how_far_it_is_can_be_seen_on_a_terminal_of_few_rows(rows: int) -> None:
    out = io.StringIO()
    console = Console(file=out, width=84, height=rows, force_terminal=True, color_system=None)
    picture = Text("\n".join(f"line {number}" for number in range(13)))
    with Live(Stage(picture, Text("███░░░ 3/22")), console=console, auto_refresh=False):
        pass
    drawn = [line.strip() for line in re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", out.getvalue()).splitlines()]
    assert "███░░░ 3/22" in drawn[:rows]
    assert drawn.index("███░░░ 3/22") == (13 if rows >= 14 else 0)


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_no_figure_of_the_last_table_is_cut_off(width: int) -> None:
    out = io.StringIO()
    well, ill = (Result(load(name), 1, 16, 2, expected=12) for name in (SHOWN, max(INCIDENTS, key=len)))
    ruling = Ruling("replace", "", "", "", "exposed", (), 0, "", "dealer", (), ())
    well.rulings += [ruling, ruling._replace(ruling="play-on")]
    ill.failures.append("line 3: ...")
    Console(file=out, width=width).print(closing_table([well, ill]))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    first = next(line for line in lines if line.startswith(SHOWN[:6]))
    second = next(line for line in lines if line.startswith(ill.script.name[:6]))
    assert re.search(r" 1 +16 +2 +replace,.* 12 +12$", first)
    assert re.search(r" 1 +16 +2 +none +12 +✗ 11$", second)
    assert "play-on" in out.getvalue()
    assert lines[-1].split() == ["in", "all", "2", "32", "4", "2", "24", "23"]
