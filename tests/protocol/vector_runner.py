"""Runs the golden vectors on the interpreter it is started with, MicroPython too: `vector_runner.py vectors.json`."""

import json
import sys

from shoelink import frame, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def run(path: "str | Path", new_decoder: "type[frame.Decoder]") -> int:
    """The number of vectors that hold; raises AssertionError with the name of one that does not."""
    with open(str(path)) as file:
        vectors = json.load(file)
    for vector in vectors:
        name = vector["name"]
        wire = bytes.fromhex(vector["wire"])
        expected = [(k, f, s, a, bytes.fromhex(body)) for k, f, s, a, body in vector["frames"]]
        for step in (1, 7, len(wire)):
            decoder = new_decoder()
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
    return len(vectors)


def fields(vector: "dict[str, Any]", kind: int) -> "list[Any]":
    """The vector's values in the order of the schema."""
    plain = schema.known(kind, kind & schema.FROM_HOST != 0)
    return [vector["message"][field] for field in schema.FIELDS[plain].split(" ")]


if __name__ == "__main__":
    print(run(sys.argv[1], frame.Decoder), "vectors hold")
