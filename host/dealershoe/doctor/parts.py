"""The doctor at the shoe's own parts: the firmware's digest, the self-test, the test card and the calibration."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import click
from shoelink import schema

from dealershoe.conform.peer import Heard, Peer
from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding
from dealershoe.emulate.process import VARIANTS, firmware_folder, protocol_folder, source
from dealershoe.errors import UserError
from dealershoe.flash import build

TEST_MS, PERSON_MS = 3_000.0, 60_000.0
PARTS = {
    "MEMORY": "its memory",
    "FRAM": "the FRAM that keeps its journal",
    "HEADS": "a reading head",
    "SLOTS": "a slot sensor (or a card is in the throat)",
    "LIGHT": "the double-feed light",
    "LANES": "the exit sensors",
    "KEYS": "the keys",
    "LID": "the lid or the base plate, which is open",
    "AMBIENT": "the ambient light",
    "SUPPLY": "the supply voltage",
    "SAMPLER": "the sampler",
    "CALIBRATION": "the calibration, which it was never given",
    "CODE": "the code head: the test card was not read",
    "READER": "the reader of the cards' tags",
}

# A fault that stands for a part: where the self-test has named that part, it is not told a second time. TAMPER is, for
# it says that it is the base plate, and DAZZLE, which says of the ambient light what is wrong.
PART_OF = {
    schema.FAULT_FRAM: "FRAM",
    schema.FAULT_HEAD: "HEADS",
    schema.FAULT_SLOT: "SLOTS",
    schema.FAULT_LIGHT: "LIGHT",
    schema.FAULT_LANES: "LANES",
    schema.FAULT_KEYS: "KEYS",
    schema.FAULT_LID: "LID",
    schema.FAULT_SUPPLY: "SUPPLY",
    schema.FAULT_SAMPLER: "SAMPLER",
    schema.FAULT_READER: "READER",
}

SHOWN = ("BAR", "PIEZO")  # no part of the shoe senses them


def digest(ident: schema.Ident) -> Finding:
    """Whether the files in the shoe are of this release: the sources (an emulated shoe) or what `flash` writes."""
    said = bytes(ident.digest)
    if not any(said):
        return Finding("firmware", NOTE, "The shoe does not say which files it runs.", "Update its firmware.")
    try:
        known = any(said in digests(variant) for variant in VARIANTS)
    except UserError as error:
        return Finding(
            "firmware", NOTE, f"Which files the shoe runs ({said.hex()}) cannot be compared: {error.seen}.", error.do
        )
    if known:
        return Finding("firmware", GOOD, f"The shoe's files are those of this release: {said.hex()}.")
    return Finding(
        "firmware",
        NOTE,
        f"The shoe's files ({said.hex()}) are not those of this release, or another compiler made them.",
        "Put the firmware on it anew: dealershoe flash.",
    )


def digests(variant: str) -> Iterator[bytes]:
    """What a shoe of that variant says: an emulated one has the sources, a Pico what `flash` has written."""
    yield build.digest(tree(variant))
    yield build.digest(build.compiled(build.sources(variant), "armv6m", variant))


def tree(variant: str = VARIANTS[0]) -> dict[str, bytes]:
    """The firmware's sources as an emulated shoe has them, by name from the root."""
    found = {}
    for root, prefix in ((firmware_folder(), ""), (protocol_folder(), "shoelink/")):
        for path in root.rglob("*.py"):
            name = path.relative_to(root)
            if not any(part[0] in "._" for part in name.parts[:-1]):
                found[prefix + name.as_posix()] = source(name.as_posix(), path, variant)
    return found


def selftest(peer: Peer) -> Generator[Finding, None, int | None]:
    """Have the shoe test its parts, and say what it found. `yield from` gives the bits of what failed, None without a
    test."""
    peer.say(schema.Test(schema.TEST_PARTS))
    heard = peer.wait(TEST_MS, _asked_for)
    if heard is None:
        yield Finding("parts", NOTE, "The shoe did not test its parts: a card is in it, or its firmware is older.")
        return None
    yield from _result(heard.message)
    failed: int = heard.message.failed
    return failed


def with_card(peer: Peer, what: int, failed: int = 0, ask: Callable[[str], None] = click.echo) -> Iterator[Finding]:
    """TEST_CARD or TEST_CALIBRATE: a person draws the test card within a minute, when `ask` says so.

    `failed`: what the self-test has found. Without an FRAM nobody is asked to draw for a calibration.
    """
    if what == schema.TEST_CALIBRATE and failed & bit("FRAM"):
        yield Finding("test card", BAD, "Without its FRAM the shoe keeps no calibration.", "Put the FRAM right first.")
        return
    peer.say(schema.Test(what))
    ask("Draw the test card now, within a minute.")
    heard = peer.wait(PERSON_MS, lambda heard: _asked_for(heard) and bool(heard.message.tested & bit("CODE")))
    if heard is None:
        yield Finding(
            "test card", BAD, "No card was drawn.", "Draw the test card (dealershoe deck print) and ask again."
        )
        return
    failed = heard.message.failed
    if failed & bit("CODE"):
        yield Finding("test card", BAD, "The card that was drawn was not read as the test card.", "Clean the window.")
    elif what == schema.TEST_CALIBRATE and failed & bit("CALIBRATION") and failed & bit("FRAM"):
        yield Finding("test card", BAD, "The calibration could not be kept: the FRAM.", "See hardware/faults.md.")
    elif what == schema.TEST_CALIBRATE and failed & bit("CALIBRATION"):
        yield Finding("test card", BAD, "The light through the card is not as it can be.", "See hardware/README.md.")
    elif what == schema.TEST_CALIBRATE:
        yield Finding("test card", GOOD, "The double-feed light is calibrated to the test card.")
    else:
        yield Finding("test card", GOOD, "The test card was read.")


def named(bits: int) -> str:
    """The parts of these bits, in words."""
    return ", ".join(PARTS.get(name, name) for part, name in schema.CODES["part"] if bits & part)


def bit(part: str) -> int:
    """The bit of a part in SELF_TEST."""
    return next(bit for bit, name in schema.CODES["part"] if name == part)


def _asked_for(heard: Heard) -> bool:
    return isinstance(heard.message, schema.SelfTest) and heard.message.why == schema.WHY_HOST


def _result(result: Any) -> Iterator[Finding]:
    failed = [name for part, name in schema.CODES["part"] if result.failed & part]
    well = result.tested & ~result.failed
    tested = sum(1 for part, name in schema.CODES["part"] if well & part and name not in SHOWN)
    for name in failed:
        if name == "CALIBRATION" and "FRAM" in failed:
            yield Finding(
                "parts", NOTE, "Without its FRAM the shoe has no calibration: it takes the levels of its board.",
                "Put the FRAM right first, then calibrate: dealershoe doctor --calibrate.",
            )  # fmt: skip
        elif name == "CALIBRATION":
            yield Finding(
                "parts", NOTE, "The shoe was never calibrated, or that is damaged: it takes the levels of its board.",
                "Have the test card at hand: dealershoe doctor --calibrate.",
            )  # fmt: skip
        else:
            what = PARTS.get(name, name)
            yield Finding("parts", BAD, f"The shoe's self-test finds out of order: {what}.", "See hardware/faults.md.")
    if not set(failed) - {"CALIBRATION"}:
        reader = ", the reader of tags among them," if well & bit("READER") else ""
        yield Finding(
            "parts",
            GOOD,
            f"The shoe has tested {tested} parts{reader} in {result.took} ms and found them well. Bar and piezo it "
            "cannot sense: all lamps and a tone of 880 Hz were to be seen and heard.",
        )
