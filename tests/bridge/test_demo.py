"""`dealershoe demo` in a pipe: every expectation holds, plain lines, no escape codes, exit 0, within its minute."""

from __future__ import annotations

import re
import subprocess
import sys
import time

from dealershoe.demo.scripts import CLEAN, FAST, INCIDENTS, SHOWN, load
from dealershoe.rules.stack import DEFAULT

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
        assert [line for line in lines if line.startswith("│ " + name[:40])], name
    told = demo.stdout
    assert f"rules {DEFAULT}" in told
    assert "draw     #3 down → seat 3 (inferred)" in told
    assert "seat     #3 lies at seat 3, says its seat sensor" in told
    assert "ruling   REPLACE:" in told
    assert "ruling   MISDEAL:" in told
    assert "step     now: Deal the next card to seat 3" in told
    assert "shoe     light amber, sound 440 Hz" in told
    assert "shoe     light red, sound 880 Hz" in told
    print(f"demo took {time.monotonic() - begun:.1f} s")
