"""The command line as a whole: any terminal, any disk, any path; what goes wrong is one sentence and exit status 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dealershoe import streams

MAIN = "from dealershoe.cli import main; main()"
DEAL = Path(__file__).parent / "rules/deals/t03-third-card-exposed.deal"
SOURCES = Path(streams.__file__).parent


def run(*words: str, stdout: int = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, *words], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
        env=os.environ | environment, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("encoding", ["latin-1", "cp437"])
def test_a_terminal_without_our_signs_gets_letters_one_for_one(encoding: str) -> None:
    done = run("rules", "show", "house", PYTHONIOENCODING="utf-8").stdout.decode()
    plain = run("rules", "show", "house", PYTHONIOENCODING=encoding)
    assert (plain.returncode, plain.stderr) == (0, b"")
    assert "“" in done
    assert plain.stdout.decode(encoding) == done.translate(streams.NEAREST)


def test_every_sign_of_ours_has_a_letter_and_others_a_question_mark() -> None:
    streams.make_safe()
    signs = "".join(map(chr, streams.NEAREST))
    assert "?" not in signs.encode("ascii", streams.ERRORS).decode()
    assert "é ▮▮ 2".encode("ascii", streams.ERRORS) == b"? ## 2"
    written = set("".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")))
    assert {sign for sign in written if not sign.isascii()} <= {*signs}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_full_disk_is_one_sentence() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = run("judge", str(DEAL), "--rules", "house", stdout=full)
    finally:
        os.close(full)
    assert done.returncode == 2
    assert done.stderr == b"dealershoe: nothing more can be written; No space left on device; make room on that disk\n"


def test_a_folder_is_no_script(tmp_path: Path) -> None:
    done = run("judge", str(tmp_path), "--rules", "house")
    assert done.returncode == 2
    assert done.stderr.decode() == f"dealershoe: {tmp_path} cannot be read; Is a directory; name a deal script\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_leads_to_nowhere_and_its_descriptor_is_nobody_elses(closed: str) -> None:
    code = "import os; from dealershoe import streams; streams.make_safe(); print(1); assert os.open(os.curdir, 0) > 2"
    ran = subprocess.run(["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, code], capture_output=True)
    assert ran.returncode == 0, ran.stderr
    ran = subprocess.run(
        ["sh", "-c", f'exec "$0" -c "$1" rules list {closed}', sys.executable, MAIN], capture_output=True
    )
    assert ran.returncode == 0, ran.stderr
