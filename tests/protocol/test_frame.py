"""Frames on a line with faults: what is intact arrives, what is not never does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dealershoe.link import codec
from hypothesis import example, given
from hypothesis import strategies as st
from protocol.single_faults import cost
from protocol.strategies import bodies, headers
from shoelink import frame, schema

DECODERS = [frame.Decoder, codec.Decoder]
both_decoders = pytest.mark.parametrize("decoder", DECODERS, ids=["reference", "host"])
frames = st.tuples(headers, bodies).map(lambda made: (*made[0], made[1]))


@both_decoders
@given(st.lists(frames, max_size=20))
def test_what_is_sent_arrives(decoder: type[frame.Decoder], sent: list[tuple[int, int, int, int, bytes]]) -> None:
    reader = decoder()
    assert reader.feed(b"".join(frame.encode(*one) for one in sent)) == sent
    assert reader.count == {**reader.count, "frames": len(sent)}
    assert reader.damaged == 0


@both_decoders
@given(st.binary(max_size=300), st.lists(frames, min_size=2, max_size=4))
@example(b"", [(1, 0, 0, 0, b"")] * 2)
@example(b"\0\x05", [(1, 0, 0, 0, b"")] * 2)
def test_after_garbage_at_most_one_intact_frame_is_lost(
    decoder: type[frame.Decoder], garbage: bytes, sent: list[tuple[int, int, int, int, bytes]]
) -> None:
    """Frames here share their delimiters, the harder case; with both written, none is lost."""
    shared = b"".join(frame.encode(*one)[1:] for one in sent)
    arrived = decoder().feed(garbage + shared)
    assert arrived[-len(sent) + 1 :] == sent[1:]
    assert decoder().feed(garbage + b"".join(frame.encode(*one) for one in sent))[-len(sent) :] == sent


@given(st.lists(frames.map(lambda one: frame.encode(*one)) | st.binary(max_size=90), max_size=12), st.integers(1, 70))
@example([b"\0" + b"x" * 70], 70)
def test_both_decoders_agree_however_the_stream_is_cut(pieces: list[bytes], size: int) -> None:
    stream = b"".join(pieces)
    reference, host = frame.Decoder(), codec.Decoder()
    for at in range(0, len(stream), size):
        part = stream[at : at + size]
        assert host.feed(part) == reference.feed(part)
        assert (host.count, host.damaged, host.pending()) == (reference.count, reference.damaged, reference.pending())


@both_decoders
@given(st.lists(frames, min_size=16, max_size=40), st.data())
def test_in_a_long_read_every_damaged_frame_is_found_wherever_it_stands(
    decoder: type[frame.Decoder], sent: list[tuple[int, int, int, int, bytes]], data: st.DataObject
) -> None:
    """A bridge that was held up reads hundreds at once."""
    wrong = data.draw(st.sets(st.integers(0, len(sent) - 1), min_size=1, max_size=3))
    wire = [bytearray(frame.encode(*one)) for one in sent]
    for number in wrong:
        at = data.draw(st.integers(2, len(wire[number]) - 2))  # no delimiter, and none is made
        wire[number][at] = data.draw(st.sampled_from(sorted({*range(1, 256)} - {wire[number][at]})))
    reader = decoder()
    assert reader.feed(b"".join(wire)) == [one for number, one in enumerate(sent) if number not in wrong]
    assert reader.damaged == len(wrong)


@both_decoders
def test_one_fault_costs_no_intact_frame_and_delivers_no_damaged_one(decoder: type[frame.Decoder]) -> None:
    paid = cost(5000, 1, decoder)
    assert (paid.worst, paid.damaged_delivered) == (0, 0)


@both_decoders
@given(st.binary(min_size=1, max_size=64), st.integers(1, 500))
def test_a_million_bytes_of_anything_keep_memory_flat(decoder: type[frame.Decoder], noise: bytes, times: int) -> None:
    reader = decoder()
    for _ in range(times):
        reader.feed(noise)
    kept = [value for value in vars(reader).values() if isinstance(value, bytes | bytearray)]
    assert all(len(value) <= schema.FRAME for value in kept)


@given(headers, bodies, st.binary(max_size=9), st.sampled_from([b"", bytes(8), b"\1\0\xff\0tag\0"]), st.integers(0, 40))
def test_the_hosts_encoder_writes_what_the_reference_writes(
    header: tuple[int, int, int, int], body: bytes, before: bytes, tag: bytes, at: int
) -> None:
    kind, flags, seq, ack = header
    for buffer in (before + body + b"behind", bytearray(before + body + b"behind"), memoryview(before + body)):
        outs = []
        for encode_into in (frame.encode_into, codec.encode_into):
            out = bytearray(b"\xee" * (schema.FRAME + 40))
            numbers = (seq + 0x1_2345_0000, ack + (1 << 40))  # the low 16 bits count
            end = encode_into(out, at, kind, flags, *numbers, buffer, len(before), len(body), tag)
            outs.append((end, out))
        assert outs[0] == outs[1]
        assert len(outs[0][1]) == schema.FRAME + 40


@pytest.mark.parametrize("encode_into", [frame.encode_into, codec.encode_into], ids=["reference", "host"])
def test_encoding_writes_only_its_own_bytes(encode_into: Callable[..., int]) -> None:
    out = bytearray(b"\xee" * 100)
    end = encode_into(out, 20, schema.CARD, 0, 1, 2, b"xxbody", 2, 4)
    assert out[:20] == b"\xee" * 20
    assert out[end:] == b"\xee" * (100 - end)
    assert frame.Decoder().feed(out[20:end]) == [(schema.CARD, 0, 1, 2, b"body")]
