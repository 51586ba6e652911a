"""Runs the golden vectors, `vector_runner.py vectors.json sealed.json`, on the interpreter it is started with.

The second file is for an end with a key.
"""

import json
import sys

from shoelink import frame, schema, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def run(path: "str | Path", new_decoder: "type[frame.Decoder]", keyed: bool = False) -> int:
    """The number of vectors that hold; raises AssertionError with the name of one that does not."""
    with open(str(path)) as file:
        vectors = json.load(file)
    for vector in vectors:
        name = vector["name"]
        wire = bytes.fromhex(vector["wire"])
        expected = [(k, f, s, a, bytes.fromhex(body)) for k, f, s, a, body in vector["frames"]]
        for step in (1, 7, len(wire)):
            decoder = new_decoder()
            decoder.keyed = keyed
            frames = []
            for at in range(0, len(wire), step):
                frames += decoder.feed(wire[at : at + step])
            assert frames == expected, name
            counts = {counter: count for counter, count in decoder.count.items() if count}
            assert counts == vector["count"], (name, counts)
        if "message" in vector:
            kind, flags, seq, ack, body = expected[0]
            values = [v if isinstance(v, int) else bytes.fromhex(v["hex"]) for v in fields(vector, kind)]
            plain = schema.known(kind, kind & schema.FROM_HOST != 0)
            make: Any = schema.TYPES[plain]
            message = make(*values)
            assert schema.unpack(kind, body) == message, name
            assert schema.pack(message) == body, name
            assert frame.encode(kind, flags, seq, ack, body) == wire, name
        if "seal" in vector:
            check_seal(vector)
    return len(vectors)


def check_seal(vector: "dict[str, Any]") -> None:
    """The tag is the one that the shoe and the host make."""
    kind, flags, seq, ack, body = vector["frames"][0]
    what = vector["seal"]
    names = ("device_key", "device", "nonce_host", "nonce_shoe")
    made = seal.Seal(*[bytes.fromhex(what[name]) for name in names])
    plain = bytes.fromhex(body)[: -schema.TAG]
    sender = schema.HOST if kind & schema.FROM_HOST else schema.SHOE
    tag = made.tag(sender, what["count"], kind, flags, seq, ack, plain)
    assert tag == bytes.fromhex(what["tag"]), vector["name"]
    out = bytearray(schema.FRAME)
    end = frame.encode_into(out, 0, kind, flags, what["count"], ack, plain, 0, len(plain), tag)
    assert out[:end] == bytes.fromhex(vector["wire"]), vector["name"]


def fields(vector: "dict[str, Any]", kind: int) -> "list[Any]":
    """The vector's values in the order of the schema."""
    plain = schema.known(kind, kind & schema.FROM_HOST != 0)
    return [vector["message"][field] for field in schema.FIELDS[plain].split(" ")]


if __name__ == "__main__":
    print(run(sys.argv[1], frame.Decoder), "vectors hold")
    print(run(sys.argv[2], frame.Decoder, True), "sealed vectors hold")
