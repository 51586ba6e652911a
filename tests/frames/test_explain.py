"""Captures taken apart: every golden vector, every counter named as a receiver counts it, no card unless it is open."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dealershoe.errors import UserError
from dealershoe.frames import words
from dealershoe.frames.capture import read
from dealershoe.frames.explain import explain, sizes, verdict_of_all
from dealershoe.link.codec import Decoder
from protocol.faulty_line import damage
from shoelink import frame, schema

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(schema.__file__).parents[1] / "vectors.json").read_text(encoding="utf-8")
)
ACE = schema.Card(7, 12, bytes(4), schema.word(51), 1, 0, 3, 1, 60, 0, 900, 0)


def wire(message: Any, seq: int = 18) -> bytes:
    return frame.encode(schema.KIND_OF[type(message)], 0, seq, 0, schema.pack(message))


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_golden_vectors_have_the_verdict_that_a_receiver_counts(vector: dict[str, Any]) -> None:
    stream = bytes.fromhex(vector["wire"])
    blocks = list(explain(stream))
    count = Counter({"sealed": "flags"}.get(block.verdict, block.verdict) for block in blocks)  # no key here
    count.pop("open", None)
    assert count == vector["count"]
    for block in blocks:
        assert stream[block.at : block.at + len(block.wire)] == block.wire
        assert b"".join(field.wire for field in block.fields) in (b"", block.wire)
        assert block.whole or block.why
        for field in block.fields:
            assert stream[field.at : field.at + len(field.wire)] == field.wire


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if "message" in v], ids=[v["name"] for v in VECTORS if "message" in v]
)
def test_golden_fields_stand_where_the_schema_says(vector: dict[str, Any]) -> None:
    (block,) = explain(bytes.fromhex(vector["wire"]))
    assert f"{block.name} from the {block.sender}" == vector["name"]
    fields = {field.name: field.plain for field in block.fields[5:]}  # after the header: CARD has a `flags` of its own
    for name, value in vector["message"].items():
        expected = bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
        got = fields[name]
        assert got == expected if isinstance(expected, bytes) else int.from_bytes(got, "little") == expected


def test_every_stream_is_counted_as_the_decoder_counts_it() -> None:
    dice = random.Random(7)
    for _ in range(300):
        good = [wire(ACE, n) for n in range(4)]
        stream = b"".join(damage(one, dice) if dice.random() < 0.5 else one for one in good) + b"\0"
        decoder = Decoder()
        decoder.feed(stream)
        verdicts = Counter(block.verdict for block in explain(stream))
        assert verdicts == Counter({name: n for name, n in decoder.count.items() if n}), stream.hex()


def test_sizes_of_the_fields_fill_the_body() -> None:
    for kind in schema.NAMES:
        assert sum(sizes(kind)) == schema.MINIMUM[kind]


def test_no_card_can_be_told_from_what_is_shown() -> None:
    """54 frames that differ in the card alone give one and the same text."""
    streams = []
    for token in range(54):
        whole = wire(ACE._replace(token=schema.word(token)))
        damaged = bytearray(whole)
        damaged[24] ^= 0x20
        unknown = frame.encode(0x7F, 0, 5, 0, schema.word(token))
        streams.append(whole + bytes(damaged) + unknown + whole[:21])
    shown = set()
    for stream in streams:
        blocks = list(explain(stream))
        shown.add(
            "\n".join(
                [json.dumps(words.as_object(block, "", False)) for block in blocks]
                + [line for block in blocks for line in words.many_lines(block, False)]
                + [words.one_line(block, False) for block in blocks]
            )
        )
    # where a token 0 lengthens no frame, lengths are equal too
    assert len(shown) == 1


def test_a_sealed_frame_is_whole_and_its_card_is_hidden() -> None:
    body = schema.pack(ACE) + b"8bytetag"
    (block,) = explain(frame.encode(schema.CARD, schema.FLAG_AUTH, 18, 0, body))
    assert (block.verdict, block.whole) == ("sealed", True)
    assert [field.name for field in block.fields][-3:] == ["erasures", "tag", "CRC-32"]
    assert words.one_line(block, False).startswith("CARD from the shoe, event 18 (sealed): hand 7, draw 12")
    assert "As" not in words.one_line(block, False)
    assert words.summary([block]) == "1 whole frame (1 sealed, their tags are not checked), 0 not"


def test_the_key_of_a_device_is_shown_to_nobody() -> None:
    key = bytes(range(1, 33))
    wire = frame.encode(schema.ENROLL, 0, 1, 0, key)
    (block,), (damaged,) = explain(wire), explain(wire[:-3] + b"\0")
    for open_table in (False, True):
        for lines in (words.as_object(damaged, "", open_table), words.many_lines(damaged, open_table)):
            assert key[:8].hex() not in str(lines).replace(" ", "")
        shown = json.dumps(words.as_object(block, "", open_table)) + "".join(words.many_lines(block, open_table))
        assert key.hex() not in shown
        assert key.hex(" ")[:20] not in shown
        assert "never shown" in shown


def test_the_secret_of_a_hand_that_is_over_is_called_so_and_shown_where_cards_are() -> None:
    secret = bytes(range(1, 17))
    stream = frame.encode(schema.REVEAL, 0, 1, 0, schema.pack(schema.Reveal(7, secret)))
    (block,) = explain(stream)
    for made in (words.one_line, words.many_lines, lambda *how: words.as_object(how[0], "", how[1])):
        said = str(made(block, False))
        assert "the secret of a hand that is over: hidden (--open shows it)" in said
        assert "key" not in said
        assert secret.hex() not in said.replace(" ", "")
        said = str(made(block, True))
        assert f"{secret.hex()}: the secret of a hand that is over" in said
        assert "never shown" not in said


def test_an_open_table_names_the_card_and_shows_the_bytes() -> None:
    (block,) = explain(wire(ACE))
    text = "\n".join(words.many_lines(block, True))
    assert "token        As" in text
    assert "33 01 01" in text
    assert words.as_object(block, "", True)["bytes"] == block.wire.hex()


@pytest.mark.parametrize(
    ("stream", "verdict", "usual"),
    [
        (wire(ACE)[:-1] + wire(ACE)[1:], "long", "two whole frames: the delimiter between them, before byte 32"),
        (b"\0" + wire(ACE)[1:9] + b"\x41" + wire(ACE)[9:-1] + b"\0", "zero", "one byte was put in"),
        (b"\0\r\nTraceback (most recent call last):\0", "zero", "the firmware stopped with an error"),
        (b">>> \0", "zero", "the prompt of MicroPython"),
        (b"\0AT+GMM\r\n\0", "zero", "looks for modems"),
        (wire(ACE)[5:], "crc", "half a frame"),
        (wire(ACE)[:-3] + b"\0", "zero", "a byte was lost"),
    ],
)
def test_damage_is_explained(stream: bytes, verdict: str, usual: str) -> None:
    block = next(explain(stream))
    assert block.verdict == verdict
    assert usual in block.usual


def test_a_flipped_bit_is_found_and_a_byte_that_became_zero() -> None:
    flipped = bytearray(wire(ACE))
    flipped[12] ^= 0x10
    assert next(explain(bytes(flipped))).usual == "one bit was flipped: bit 4 of byte 11"
    cut = bytearray(wire(ACE))
    cut[20] = 0
    _, second = explain(bytes(cut))
    assert "the byte between them became 00" in second.usual


def test_a_line_at_the_wrong_level_is_told_from_silence() -> None:
    stream = wire(ACE) * 3
    assert verdict_of_all(stream) == ""
    assert "every bit is turned round" in verdict_of_all(bytes(b ^ 0xFF for b in stream))
    assert "bit 0 of every byte is wrong" in verdict_of_all(bytes(b ^ 1 for b in stream))
    assert "not one frame in 240 bytes" in verdict_of_all(random.Random(1).randbytes(239) + b"\0")
    assert verdict_of_all(random.Random(1).randbytes(63) + b"\0") == "", "one torn frame says nothing of a line"


# ---- captures as people keep them

RAW = wire(ACE) + wire(schema.Signal(1, 2, 1, 0))


def xxd(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        piece = data[at : at + 16]
        groups = " ".join(piece[i : i + 2].hex() for i in range(0, len(piece), 2))
        text = "".join(chr(b) if 0x20 <= b < 0x7F else "." for b in piece)
        lines.append(f"{at:08x}: {groups:<39}  {text}")
    return "\n".join(lines)


def canonical(data: bytes) -> str:
    """`hexdump -C`."""
    lines = []
    for at in range(0, len(data), 16):
        piece = data[at : at + 16]
        halves = "  ".join(half.hex(" ") for half in (piece[:8], piece[8:]))
        text = "".join(chr(b) if 0x20 <= b < 0x7F else "." for b in piece)
        lines.append(f"{at:08x}  {halves:<48}  |{text}|")
    return "\n".join([*lines, f"{len(data):08x}"])


def words_of_two(data: bytes) -> str:
    """`hexdump` without options: words, low byte first."""
    data += b"\0" * (len(data) % 2)
    lines = []
    for at in range(0, len(data), 16):
        piece = data[at : at + 16]
        lines.append(f"{at:07x} " + " ".join(piece[i : i + 2][::-1].hex() for i in range(0, len(piece), 2)))
    return "\n".join([*lines, f"{len(data):07x}"])


def octal(data: bytes) -> str:
    """`od -tx1`."""
    lines = [f"{at:07o} {data[at : at + 16].hex(' ')}" for at in range(0, len(data), 16)]
    return "\n".join([*lines, f"{len(data):07o}"])


def wireshark(data: bytes) -> str:
    lines = []
    for at in range(0, len(data), 16):
        piece = data[at : at + 16]
        text = "".join(chr(b) if 0x20 <= b < 0x7F else "." for b in piece)
        lines.append(f"{at:04x}   {piece.hex(' '):<47}   {text}")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        RAW.hex(),
        RAW.hex(" "),
        RAW.hex(" ").upper(),
        ", ".join(f"0x{byte:02x}" for byte in RAW),
        "".join(f"\\x{byte:02x}" for byte in RAW),
        repr(RAW),
        f"# what the shoe said\nread {RAW!r} from the port",
        xxd(RAW),
        canonical(RAW),
        words_of_two(RAW),
        octal(RAW),
        wireshark(RAW),
        RAW.decode("latin-1"),
    ],
    ids=["hex", "spaced", "upper", "0x", "escapes", "repr", "log", "xxd", "hexdump -C", "hexdump", "od", "wireshark",
         "raw"],
)  # fmt: skip
def test_every_usual_form_of_a_capture_is_read(text: str) -> None:
    data = text.encode("latin-1")
    (stream,) = read(data).values()
    assert stream.rstrip(b"\0") == RAW.rstrip(b"\0")


def test_two_directions_are_two_streams() -> None:
    half = len(RAW) // 2
    text = f"12:00:01.5 RX: {RAW[:half].hex(' ')}\n> 00 01 02\n[12:00:02] <<< {RAW[half:].hex()}\nTX: 00"
    assert read(text.encode()) == {"shoe": RAW, "host": b"\x00\x01\x02\x00"}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the capture is empty"),
        (b"# nothing\n", "the capture is empty"),
        (b"00 02\nhello world\n", "line 2 of the capture is no hex dump: `hello`"),
        (b"00 02 6\n", "no hex dump: `6`"),
    ],
)
def test_what_is_no_capture_is_refused_by_line(data: bytes, says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)):
        read(data)
