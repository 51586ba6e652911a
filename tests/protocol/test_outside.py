"""The C header and the Kaitai file are what the generator writes, and read the golden vectors as the shoe does."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import outside
import pytest
import yaml
from shoelink import schema

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(schema.__file__).parents[1] / "vectors.json").read_text(encoding="utf-8")
)
CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def test_both_files_are_what_the_generator_writes() -> None:
    assert outside.HEADER.read_text(encoding="utf-8") == outside.header(), "run python protocol/outside.py"
    assert outside.KAITAI.read_text(encoding="utf-8") == outside.kaitai(), "run python protocol/outside.py"


def test_every_kind_and_every_code_is_in_both() -> None:
    kaitai = yaml.safe_load(outside.kaitai())
    header = outside.header()
    for kind, name in schema.NAMES.items():
        assert f"DEALERSHOE_{name} = 0x{kind:02X}" in header
        assert [field["id"] for field in kaitai["types"][name.lower()]["seq"]] == schema.FIELDS[kind].split()
    enums = [set(codes.items()) for codes in kaitai["enums"].values()]
    for field, codes in schema.CODES.items():
        if field != "flags":  # bits
            assert {(code, name.lower()) for code, name in codes} in enums


def test_a_shoe_in_c_can_answer_a_lookup() -> None:
    """The text is in the header, and its hash is the one that its HELLO names."""
    found = re.search(r'#define DEALERSHOE_SCHEMA_TEXT ((?:\\\n +"[^"]+" ?)+)\n', outside.header())
    assert found
    text = "".join(re.findall(r'"([^"]+)"', found[1])).replace("\\n", "\n")
    assert hashlib.sha256(text.encode()).digest()[:4] == schema.SCHEMA


# ---- C

PROGRAM = """
#include <stdio.h>
#include "dealershoe.h"

static void show(const uint8_t *bytes, size_t length)
{
    while (length--)
        printf("%02x", *bytes++);
}

static void again(const struct dealershoe_frame *frame) /* read and written again; nothing for an unknown kind */
{
    uint8_t body[DEALERSHOE_BODY];
    switch (frame->kind) {
CASES
    default:
        break;
    }
}

int main(void)
{
    static struct dealershoe_decoder decoder;
    struct dealershoe_frame frame;
    uint8_t wire[DEALERSHOE_FRAME];
    int byte;
    while ((byte = getchar()) != EOF)
        if (dealershoe_feed(&decoder, (uint8_t)byte, &frame)) {
            printf("frame %d %d %d %d ", frame.kind, frame.flags, frame.seq, frame.ack);
            show(frame.body, frame.length);
            printf("\\nwire ");
            show(wire, dealershoe_encode(wire, frame.kind, frame.flags, frame.seq, frame.ack, frame.body,
                                         frame.length));
            printf("\\nagain ");
            again(&frame);
            printf("\\n");
        }
    printf("count frames %u zero %u short %u long %u crc %u flags %u\\n", (unsigned)decoder.frames,
           (unsigned)decoder.zero, (unsigned)decoder.short_, (unsigned)decoder.long_, (unsigned)decoder.crc,
           (unsigned)decoder.flags);
    return 0;
}
"""
CASE = """    {labels}: {{
        struct dealershoe_{low} message;
        if (dealershoe_{low}_read(frame->body, frame->length, &message) == 0)
            show(body, dealershoe_{low}_write(body, &message));
        break;
    }}"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if CC is None:
        pytest.skip("no C compiler here (cc, gcc, clang): the header is compared with the generator only")
    cases = []
    for kind, name in schema.NAMES.items():
        labels = [f"case DEALERSHOE_{name}"]
        if schema.SENDERS[kind] == schema.SHOE + schema.HOST:
            labels.append(f"case DEALERSHOE_{name}_FROM_HOST")
        cases.append(CASE.format(labels=": ".join(labels), low=name.lower()))
    folder = tmp_path_factory.mktemp("c")
    (folder / "main.c").write_text(PROGRAM.replace("CASES", "\n".join(cases)))
    built = folder / "main"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
    made = subprocess.run(
        [CC, *strict, f"-I{outside.FOLDER}", str(folder / "main.c"), "-o", str(built)], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    return built


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_golden_vectors_in_c(program: Path, vector: dict[str, Any]) -> None:
    ran = subprocess.run([program], input=bytes.fromhex(vector["wire"]), capture_output=True, check=True)
    lines = [line.split() for line in ran.stdout.decode().splitlines()]
    frames = [[*map(int, line[1:5]), line[5] if len(line) > 5 else ""] for line in lines if line[0] == "frame"]
    assert frames == vector["frames"]
    for line in (line for line in lines if line[0] == "wire"):
        assert line[1] in vector["wire"]
    count = lines[-1][1:]
    assert {name: int(n) for name, n in zip(count[::2], count[1::2], strict=True) if n != "0"} == vector["count"]
    if "message" in vector:
        assert [line[1] for line in lines if line[0] == "again"] == [frames[0][4]]


def test_the_header_is_c_plus_plus_too(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    (tmp_path / "empty.cc").write_text('#include "dealershoe.h"\nint main() { return 0; }\n')
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    made = subprocess.run([compiler, *strict, f"-I{outside.FOLDER}", str(tmp_path / "empty.cc")], capture_output=True)
    assert made.returncode == 0, made.stderr.decode()


# ---- Kaitai: as much of its language as the file uses (the compiler itself is no Python package)


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if "message" in v], ids=[v["name"] for v in VECTORS if "message" in v]
)
def test_golden_fields_by_the_kaitai_file(vector: dict[str, Any]) -> None:
    kaitai = yaml.safe_load(outside.KAITAI.read_text(encoding="utf-8"))
    ((kind, _, _, _, hexes),) = vector["frames"]
    body = bytes.fromhex(hexes)
    fields = kaitai["types"][kaitai["seq"][4]["type"]["cases"][kind]]["seq"]
    at = 0
    for field in fields:
        size = field["size"] if "size" in field else int(field["type"][1:])
        raw = body[at : at + size]
        at += size
        value = vector["message"][field["id"]]
        expected = bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.to_bytes(size, "little")
        assert raw == expected
        assert ("type" in field) != ("size" in field)
    assert at == len(body)
