"""`dealershoe frames` as a person and a program use it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from shoelink import frame, schema

CARD = frame.encode(
    schema.CARD, 0, 18, 0, schema.pack(schema.Card(7, 12, bytes(4), schema.word(51), 1, 0, 3, 1, 60, 0, 900, 0))
)


def run(*args: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    code = "from dealershoe.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, "frames", *args], input=data, capture_output=True)


def test_a_file_is_decoded_byte_by_byte(tmp_path: Path) -> None:
    (tmp_path / "capture").write_bytes(CARD + CARD[:-3] + b"\0")
    ran = run(str(tmp_path / "capture"))
    assert ran.returncode == 0, ran.stderr
    text = ran.stdout.decode()
    assert "000001  CARD from the shoe, event 18" in text
    assert "target       seat 3" in text
    assert "failed: the chain of stuffing codes" in text
    assert "1 whole frame, 1 not (zero 1)" in text
    assert "As" not in text
    assert "33 00 00 00" not in text
    assert "As" in run(str(tmp_path / "capture"), "--open").stdout.decode()


def test_standard_input_and_json(tmp_path: Path) -> None:
    ran = run("-", "--json", data=CARD.hex(" ").encode())
    (told,) = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (told["verdict"], told["kind"], told["seq"], told["sender"]) == ("frames", "CARD", 18, "shoe")
    hidden = [field["name"] for field in told["fields"] if field["bytes"] is None]
    assert hidden == ["stuffing", "token", "CRC-32"]


def test_one_line_a_frame() -> None:
    ran = run("-", "--lines", data=b"> " + CARD.hex().encode())
    assert ran.stdout.decode().splitlines()[0] == f"from the host, {len(CARD)} bytes"
    assert ran.stdout.decode().splitlines()[1].startswith("000001  CARD from the shoe, event 18: hand 7, draw 12,")


def test_bad_input_is_one_sentence_and_status_two(tmp_path: Path) -> None:
    ran = run(str(tmp_path / "none"))
    assert ran.returncode == 2
    assert b"none cannot be read; No such file or directory; name a capture" in ran.stderr
