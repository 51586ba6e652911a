"""The doctor at the shoe itself: does it greet, what does it run, how fast and how well does the line work.

It takes nothing from the shoe: it says that it has stored no event, acknowledges none, and the bridge gets them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

import click
from shoelink import frame, schema

from dealershoe import __version__
from dealershoe.conform.peer import Heard, Peer, now
from dealershoe.doctor import parts
from dealershoe.doctor import sealed as enrolled
from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding, counted
from dealershoe.errors import UserError
from dealershoe.frames.recorder import Recorder
from dealershoe.link import faults
from dealershoe.port.identity import PortLost, Ports, find
from dealershoe.port.port import Port

GREETS_MS, ANSWERS_MS, QUIET_MS, STATS_MS = (
    3_000.0,
    500.0,
    2_600.0,
    5_600.0,
)  # autosuspend is 2 s; the firmware's STATS come every 5 s
GAP_MS = 1_000.0  # an unanswered shoe says HELLO every 100 ms
IN_RAM = (1, 2)  # details of FAULT FRAM: ABSENT, FAILED; firmware/shoe/kept.py
PINGS, PONG_MS = 10, 100.0
DAMAGE = ("zero", "short", "long", "crc")  # what a fault of the line explains, of `frame.Decoder`
SLOW_MS = 50.0  # round trip: the floor of the link's own time-out


def shoe(
    wanted: str,
    ports: Ports,
    draws: int = 0,
    keys: enrolled.Keys = enrolled.NO_KEYS,
    ask: Callable[[str], None] = click.echo,
) -> Iterator[Finding]:
    """The shoe at `wanted`, for some 9 seconds. `draws`: TEST_CARD or TEST_CALIBRATE, if a person draws the card when
    `ask` says so.

    `keys`: a shoe that is enrolled is spoken to with its own.
    """
    try:
        address = find(wanted, ports)
        port = Port(address.path, recorder := Recorder(), ports.roots)
    except UserError as error:
        seen = f"{_sentence(error.seen, wanted)} {_sentence(error.cause)}".strip()
        yield Finding("link", BAD, seen, _sentence(error.do))
        return
    except PortLost as lost:
        yield _lost(str(lost), wanted)
        return
    try:
        yield from _examine(port, recorder, draws, keys, ask)
    except PortLost as lost:
        yield _lost(str(lost), wanted)
    finally:
        port.close()


def _examine(
    port: Port, recorder: Recorder, draws: int, keys: enrolled.Keys, ask: Callable[[str], None]
) -> Iterator[Finding]:
    peer: Peer = (ear := enrolled.Ear(port))
    if ear.hello(GREETS_MS) is None:
        ear.greet()  # what does not speak may answer: a prompt, a line that is joined to itself
        answers = ear.listen(ANSWERS_MS)
        if not any(isinstance(heard.message, schema.Hello) and not heard.kind & schema.FROM_HOST for heard in answers):
            yield _silent(ear, port.path, recorder, answers)
            return
    yield from _awake(ear)
    if ear.sealed:
        peer = sealed = enrolled.Sealed(port, keys.known)
        hello = sealed.meet() if keys.known else None
        if hello is None:
            yield enrolled.not_here(keys)
            return
        ident = sealed.ident
        yield Finding("keys", GOOD, f"The shoe has proven its key, which is in {keys.path}.")
    else:
        if ear.connect() is None:
            yield Finding(
                "link", BAD, "The shoe greets, but no session comes up: it does not hear this host, or it refuses it.",
                "Look at the other wire of the pair, and at the version of the firmware.",
            )  # fmt: skip
            return
        hello = next(h.message for h in reversed(ear.heard) if isinstance(h.message, schema.Hello))
        ident = next((h.message for h in reversed(ear.heard) if isinstance(h.message, schema.Ident)), None)
        if keys.known:
            yield enrolled.not_enrolled(keys)
    yield from _who(hello, ident, sealed=ear.sealed)
    yield from _line(peer)
    failed = None
    if hello.schema == schema.SCHEMA:
        failed = yield from parts.selftest(peer)
        if draws:
            yield from parts.with_card(peer, draws, failed or 0, ask)
    yield from _self(peer, hello, failed)
    if ident is not None and _of_this_release(hello, ident):
        yield parts.digest(ident)  # last: it compiles for seconds, in which the shoe gives the session up


def _silent(ear: enrolled.Ear, path: str, recorder: Recorder, answers: list[Heard]) -> Finding:
    if any(one.kind & schema.FROM_HOST for one in answers):
        seen = (
            f"What this host says comes back from {path}: TX is joined to RX, or the device there repeats what it gets."
        )
        return Finding("link", BAD, seen, "Look at the two wires, and whether this is the shoe's port.")
    cause = recorder.cause()
    if cause:
        return Finding("link", BAD, f"What comes from {path} is no link: {cause}.", "See it with dealershoe frames.")
    if ear.heard:
        came = counted(len(ear.heard), "frame")
        seen = f"{came} came from {path} and no greeting: another host may have spoken there just now."
        return Finding("link", BAD, seen, "See that no other program has the port, and ask again.")
    if recorder.came:
        seen = (
            f"What comes from {path} is no link: {counted(recorder.came, 'byte')}, too few to say of what, "
            "and no frame in them."
        )
        do = "Look whether this is the shoe's port; if it is, at the plug and the level of the line."
        return Finding("link", BAD, seen, do)
    return Finding(
        "link",
        BAD,
        f"Nothing comes from {path}: the shoe has no power, its wire is off, or this is another device's port.",
        "Look whether its light is on; swap RX and TX if it is.",
    )


def _awake(peer: Peer) -> Iterator[Finding]:
    """Does the shoe come through when this host says nothing? (S25: power saving that no list admits to.)"""
    begun = now()
    times = [begun, *(h.at for h in peer.listen(QUIET_MS)), now()]
    gap = max(b - a for a, b in pairwise(times))
    if gap > GAP_MS:
        yield Finding(
            "silence",
            BAD,
            f"For {gap / 1_000:.1f} s nothing came from a shoe that greets four times a second: USB power saving.",
            "Keep the part awake (power/control), and use a port of the machine itself and no hub.",
        )


def _who(hello: schema.Hello, ident: schema.Ident | None, *, sealed: bool) -> Iterator[Finding]:
    build = _build(ident)
    device = bytes(ident.device).rstrip(b"\0") if ident else b""
    name = device.decode() if device and all(0x20 < byte < 0x7F for byte in device) else device.hex()
    runs = f"firmware {build or 'without a name'}, link {hello.major}.{hello.minor}, schema {hello.schema.hex()}"
    yield Finding("link", GOOD, f"The shoe {name} is there and speaks: {runs}.")
    if not _of_this_release(hello, ident):
        mine = f"{__version__}, link {schema.MAJOR}.{schema.MINOR}, schema {schema.SCHEMA.hex()}"
        yield Finding(
            "firmware", NOTE, f"The shoe's firmware is not of this release ({mine}).", "Update the older of the two."
        )
    cause = schema.code_name("reset", hello.reset)
    if hello.reset == schema.RESET_WATCHDOG and sealed:  # which also ends an enrolment
        yield Finding(
            "reset", NOTE,
            "The shoe was last reset by its watchdog: it was given its key since it was switched on, or it failed.",
            "If it was not enrolled just now, note what was done before and report it.",
        )  # fmt: skip
    elif hello.reset == schema.RESET_WATCHDOG:
        yield Finding(
            "reset", BAD, "The shoe was last reset by its watchdog: its program failed or stood still.",
            "If it comes again, note what was done before and report it.",
        )  # fmt: skip
    else:
        yield Finding("reset", GOOD, f"The shoe last started by: {cause.lower()}.")


def _build(ident: schema.Ident | None) -> str:
    return bytes(ident.build).rstrip(b"\0").decode("ascii", "replace") if ident else ""


def _of_this_release(hello: schema.Hello, ident: schema.Ident | None) -> bool:
    return bool(hello.schema == schema.SCHEMA) and _build(ident).split("+")[0] == __version__


def _line(peer: Peer) -> Iterator[Finding]:
    trips = []
    for _ in range(PINGS):
        begun = now()
        if peer.ping(PONG_MS) is not None:
            trips.append(now() - begun)
    lost = PINGS - len(trips)
    if lost:
        yield Finding("line", BAD, f"{lost} of {PINGS} PINGs got no answer.", "Change the cable; keep it off motors.")
    if trips:
        middle = median(trips)
        slow = middle > SLOW_MS
        seen = f"A round trip takes {middle:.1f} ms ({min(trips):.1f} to {max(trips):.1f})."
        yield Finding("line", BAD if slow else GOOD, seen, "See latency and power." if slow else "")


def _self(peer: Peer, hello: schema.Hello, failed: int | None) -> Iterator[Finding]:
    """What the shoe says of itself: events that wait, faults among them, its counters.

    `failed`: the bits of the parts that its self-test has just found out of order; None: it has made none.
    """

    def stats(heard: Heard) -> bool:
        return isinstance(heard.message, schema.Stats)

    told = peer.wait(STATS_MS, stats, 0)
    held = hello.next - frame.extend(hello.oldest, hello.next)
    # Unacknowledged, the first of them come again and again: each counts once, in the order of their numbers.
    told_of = {heard.seq: heard.message for heard in peer.heard[peer.here :] if heard.kind & schema.RELIABLE}
    standing: dict[int, int] = {}  # code → detail
    for number in range(hello.next - held, hello.next):
        message = told_of.get(number & 0xFFFF)
        if isinstance(message, schema.Fault):
            standing[message.code] = message.detail
        elif isinstance(message, schema.Clear):
            standing.pop(message.code, None)
    if held:
        yield _events(held, bool((failed or 0) & parts.bit("FRAM")) or standing.get(schema.FAULT_FRAM) in IN_RAM)
    for code in sorted(standing):
        if code == schema.FAULT_SELF_TEST:
            known = failed is not None  # what that test had found was looked for anew
        else:
            known = code in parts.PART_OF and bool((failed or 0) & parts.bit(parts.PART_OF[code]))
        if not known:
            name = schema.code_name("code", code)
            means = f": {faults.sentence(code, standing[code])}" if code in faults.FAULTS else ""
            if code == schema.FAULT_SELF_TEST and standing[code]:
                means += f": {parts.named(standing[code])}"
            yield Finding("fault", BAD, f"The shoe reports the fault {name}{means}.", "See hardware/faults.md.")
    damage = peer.damage()
    damaged = sum(damage.get(name, 0) for name in DAMAGE)
    if damaged:
        yield Finding("line", BAD, f"{counted(damaged, 'damaged frame')} came from the shoe.", "Change the cable.")
    if told is None:
        yield Finding("counts", NOTE, f"It sent no STATS within {STATS_MS / 1_000:.0f} s.")
        return
    counts: schema.Stats = told.message
    named = counts._asdict()
    figures = ", ".join(f"{name} {value}" for name, value in named.items() if name != "t_us")
    if counts.overruns or counts.refused:
        yield Finding(
            "counts", BAD, f"The shoe has lost samples or events: {figures}.", "Report it with the journal's folder."
        )
    else:
        yield Finding("counts", GOOD, f"It has lost no sample and no event: {figures}.")


def _events(held: int, in_ram: bool) -> Finding:
    it, they, are = ("it", "it", "is") if held == 1 else ("them", "they", "are")
    holds = f"It holds {counted(held, 'event')} that no bridge has stored"
    if in_ram:
        seen = f"{holds}, in its RAM alone, for its FRAM does not keep {it}: {they} {are} lost if it loses power."
        return Finding("events", NOTE, seen, "Leave it on and run a table now, then put the FRAM right.")
    return Finding("events", NOTE, f"{holds}; {they} {are} safe.", "Run a table.")


def _lost(text: str, wanted: str) -> Finding:
    seen, _, rest = text.partition("; ")
    cause, _, do = rest.partition("; ")
    return Finding("link", BAD, " ".join(_sentence(part, wanted) for part in (seen, cause) if part), _sentence(do))


def _sentence(text: str, name: str = "") -> str:
    """`name`: a port's, which begins as it is written."""
    if not text:
        return ""
    return (text if name and text.startswith(name) else text[:1].upper() + text[1:]) + "."
