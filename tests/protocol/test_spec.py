"""The struct codec and the construct specification are one link: the same bytes for every message, stream and cut."""

from __future__ import annotations

from typing import Any

import pytest
import spec
from dealershoe.link import codec
from hypothesis import given
from hypothesis import strategies as st
from protocol.strategies import bodies, fields, headers, kinds
from shoelink import frame, schema

DECODERS = [frame.Decoder, codec.Decoder]


def test_the_specification_declares_the_same_kinds() -> None:
    senders = {"shoe": schema.SHOE, "host": schema.HOST, "both": schema.SHOE + schema.HOST}
    declared = {
        spec.KINDS[name].on_wire(spec.KINDS[name].sender == "host"): (name, senders[spec.KINDS[name].sender])
        for name in spec.KINDS
    }
    assert declared == {kind: (name, schema.SENDERS[kind]) for kind, name in schema.NAMES.items()}
    assert {kind: spec.KINDS[name].body.sizeof() for kind, name in schema.NAMES.items()} == schema.MINIMUM


@given(st.data())
def test_every_message_over_the_whole_range_of_its_fields(data: st.DataObject) -> None:
    kind = data.draw(kinds)
    values = data.draw(fields(kind))
    message = schema.TYPES[kind](**values)
    body = spec.KINDS[schema.NAMES[kind]].body.build(values)
    assert schema.pack(message) == body
    assert schema.unpack(kind, body) == message
    buffer = bytearray(len(body) + 2)
    assert schema.pack_into(buffer, 1, message) == len(body)
    assert buffer == b"\0" + body + b"\0"
    parsed: Any = spec.KINDS[schema.NAMES[kind]].body.parse(body)
    assert {name: parsed[name] for name in values} == values


@given(headers, bodies)
def test_every_frame(header: tuple[int, int, int, int], body: bytes) -> None:
    wire = frame.encode(*header, body)
    assert wire == spec.write(*header, body)
    assert len(wire) == 3 + 6 + len(body) + 4 <= schema.FRAME
    assert wire.count(0) == 2


_pieces = st.one_of(
    st.tuples(headers, bodies).map(lambda made: spec.write(*made[0], made[1])),
    st.binary(max_size=80),
    st.lists(st.sampled_from([0, 1, 2, 3, 0x40, 255]), max_size=70).map(bytes),
    # sealed packets that must be refused for what they say: flags, length
    st.tuples(st.integers(1, 255), st.integers(0, 255), st.binary(max_size=48)).map(
        lambda made: spec.write(made[0], made[1], 0, 0, made[2])
    ),
    # blocks that unstuff, whatever they hold
    st.binary(max_size=60).map(lambda packet: b"\0" + spec.stuff(packet) + b"\0"),
)


@pytest.mark.parametrize("decoder", DECODERS, ids=["reference", "host"])
@given(st.lists(_pieces, max_size=8), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_every_stream_however_it_is_cut(decoder: type[frame.Decoder], pieces: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(pieces)
    frames, counts = spec.read(stream)
    reader = decoder()
    delivered = []
    at = turn = 0
    while at < len(stream):
        size = cuts[turn % len(cuts)]
        delivered += reader.feed(stream[at : at + size])
        at += size
        turn += 1
    assert delivered == frames
    assert reader.count == counts
    assert reader.pending() == (not stream.endswith(b"\0") and stream != b"")
    assert reader.damaged == sum(counts[name] for name in ("zero", "short", "long", "crc"))


@given(st.integers(0, 2**64), st.integers(-0x7FFF, 0x8000))
def test_sixteen_bits_extend_to_the_nearest_number(near: int, away: int) -> None:
    assert frame.extend((near + away) & 0xFFFF, near) in (near + away, near + away - 0x10000)
    if -0x7FFF <= away < 0x8000:
        assert frame.extend((near + away) & 0xFFFF, near) == near + away
