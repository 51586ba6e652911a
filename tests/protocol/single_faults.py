"""One fault of the line at a time, between two good frames: what it costs, for a test and for the benchmark."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from protocol.faulty_line import damage
from shoelink import frame, schema

_BODY = schema.MINIMUM[schema.CARD]


@dataclass
class Cost:
    """What some faults have cost together."""

    faults: int = 0
    intact_lost: int = 0  # frames that no fault touched and that did not arrive
    worst: int = 0  # of these, most for one fault
    damaged_delivered: int = 0  # frames that arrived and were never sent


def cost(faults: int, seed: int, decoder: Callable[[], frame.Decoder]) -> Cost:
    """Send `faults` times a frame, a frame with one fault, and a frame."""
    dice = random.Random(seed)
    reader = decoder()
    paid = Cost()
    number = 0
    for _ in range(faults):
        sent = []
        for _ in range(3):
            number += 1
            body = number.to_bytes(4, "little") + dice.randbytes(_BODY - 4)
            sent.append((schema.CARD, 0, number & 0xFFFF, 0, body))
        wires = [frame.encode(*one) for one in sent]
        wires[1] = damage(wires[1], dice)
        arrived = reader.feed(b"".join(wires))
        lost = (sent[0] not in arrived) + (sent[2] not in arrived)
        paid.faults += 1
        paid.intact_lost += lost
        paid.worst = max(paid.worst, lost)
        paid.damaged_delivered += sum(one not in sent for one in arrived)
    return paid
