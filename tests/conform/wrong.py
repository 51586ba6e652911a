"""Devices that are wrong in one way each, on a pty: the link's own shoe with one hand on what it hears or says.

`WRONG` has them by the check that must name them. A hook gets whole frames, (kind, flags, seq, ack, body), and gives
back those that go on.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
import threading
import time
import tty
from types import TracebackType
from typing import Self

from cobs import cobs
from shoelink import frame, schema
from shoelink.journal import Journal
from shoelink.link import Link
from shoelink.timing import TICKS

Frame = tuple[int, int, int, int, bytes]
IDENT = schema.Ident(b"wrongdev", b"0.1.0".ljust(12, b"\0"), bytes(16))
STATS_MS = 300


def ticks() -> int:
    return int(time.monotonic() * 1_000) & TICKS


class Device:
    """A shoe that is right. A context manager; `port` is its serial port."""

    def __init__(self) -> None:
        self.journal = Journal(os.urandom(4))
        self.link = Link(
            schema.SHOE, self.ident(), self.entropy, self.journal, boot=os.urandom(4), reset=schema.RESET_POWER
        )
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.port = os.ttyname(self.slave)
        self._rest = b""
        self._stats_at = ticks()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    # ---- hooks

    def ident(self) -> schema.Ident:
        return IDENT

    def entropy(self, size: int) -> bytes:
        return os.urandom(size)

    def hear(self, one: Frame) -> list[Frame]:
        """A whole frame of the host."""
        return [one]

    def noise(self, block: bytes) -> list[bytes]:
        """A block that is no frame."""
        return [block]

    def say(self, one: Frame) -> list[Frame]:
        """A frame of this device."""
        return [one]

    def wire(self, data: bytes) -> bytes:
        """What is written."""
        return data

    # ---- the thread

    def __enter__(self) -> Self:
        self.link.start(ticks())
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        os.close(self.master)
        os.close(self.slave)

    def _run(self) -> None:
        while not self._done.is_set():
            select.select([self.master], [], [], 0.001)
            data = b""
            with contextlib.suppress(BlockingIOError):
                data = os.read(self.master, 4_096)
            self.link.stamp = schema.word(time.monotonic_ns() // 1_000 & 0xFFFFFFFF)
            self.link.receive(self._heard(data), ticks())
            self.link.poll(ticks())
            if self.link.up and (ticks() - self._stats_at) & TICKS >= STATS_MS:
                self._stats_at = ticks()
                self.link.send(self.link.stats(0, 0), ticks())
            mine = frame.Decoder().feed(self.link.take())
            out = b"".join(frame.encode(*said) for one in mine for said in self.say(one))
            if out:
                with contextlib.suppress(BlockingIOError):
                    os.write(self.master, self.wire(out))

    def _heard(self, data: bytes) -> bytes:
        *blocks, self._rest = (self._rest + data).split(b"\0")
        out = b""
        for block in blocks:
            found = decode(block)
            if found is None:
                out += b"".join(b"\0" + one + b"\0" for one in self.noise(block)) if block else b"\0"
            else:
                out += b"".join(frame.encode(*one) for one in self.hear(found))
        return out


def decode(block: bytes) -> Frame | None:
    """The frame in a block, whatever its flags; None: it is damaged."""
    with contextlib.suppress(cobs.DecodeError, struct.error):
        packet = cobs.decode(block)
        kind, flags, seq, ack = struct.unpack_from("<BBHH", packet)
        body = packet[6:-4]
        if len(body) <= schema.BODY and frame.encode(kind, flags, seq, ack, body) == b"\0" + block + b"\0":
            return kind, flags, seq, ack, body
    return None


def changed(one: Frame, **fields: object) -> Frame:
    """The frame with fields of its message changed."""
    kind, flags, seq, ack, body = one
    message = schema.unpack(kind, body)
    return kind, flags, seq, ack, schema.pack(message._replace(**fields))


HELLO, IDENT_, PING, PONG = schema.HELLO, schema.IDENT, schema.PING, schema.PONG
ACK, NAK = schema.ACK, schema.NAK
HOST = schema.FROM_HOST


class SaysNoIdent(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] == IDENT_ else [one]


class DoesNotAsk(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [(one[0], 0, *one[2:])]


class NamesNoJournal(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, journal=bytes(4))] if one[0] == HELLO else [one]


class IsOfAnotherMajor(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, major=2)] if one[0] == HELLO else [one]


class HasAnUnreadableBuild(Device):
    def ident(self) -> schema.Ident:
        return IDENT._replace(build=b"\0" * 11 + b"x")


class HasAnotherSchema(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, schema=b"abcd")] if one[0] == HELLO else [one]


class GreetsSeldom(Device):
    greeted_at = 0.0

    def say(self, one: Frame) -> list[Frame]:
        if one[0] == HELLO and not self.link.up:
            if time.monotonic() - self.greeted_at < 0.9:
                return []
            self.greeted_at = time.monotonic()
        return [one]


class ConfirmsBeforeItIsUp(Device):
    def hear(self, one: Frame) -> list[Frame]:
        if one[0] == schema.SIGNAL and not self.link.up:
            body = schema.pack(schema.Ack(schema.SIGNAL, schema.unpack(schema.SIGNAL, one[4]).generation))
            os.write(self.master, frame.encode(ACK, 0, 1, 0, body))
        return [one]


class AnswersItsEcho(Device):
    def hear(self, one: Frame) -> list[Frame]:
        if not one[0] & HOST:
            os.write(self.master, frame.encode(HELLO, 0, 1, 0, bytes(schema.MINIMUM[HELLO])))
        return [one]


class IsDeafAfterNoise(Device):
    deaf = False

    def noise(self, block: bytes) -> list[bytes]:
        self.deaf = True
        return [block]

    def hear(self, one: Frame) -> list[Frame]:
        return [] if self.deaf else [one]


class TakesAnyMajor(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [changed(one, major=1)] if one[0] == HELLO | HOST else [one]


class RefusesANewerMinor(Device):
    def hear(self, one: Frame) -> list[Frame]:
        newer = one[0] == HELLO | HOST and schema.unpack(HELLO, one[4]).minor > schema.MINOR
        return [changed(one, major=schema.MAJOR + 1)] if newer else [one]


class RefusesAnotherSchema(Device):
    def hear(self, one: Frame) -> list[Frame]:
        other = one[0] == HELLO | HOST and schema.unpack(HELLO, one[4]).schema != schema.SCHEMA
        return [] if other else [one]


class TakesAnyJournal(Device):
    def hear(self, one: Frame) -> list[Frame]:
        if one[0] != HELLO | HOST or schema.unpack(HELLO, one[4]).journal == bytes(4):
            return [one]
        return [changed(one, journal=self.journal.id)]


class TakesAnyNumber(Device):
    def hear(self, one: Frame) -> list[Frame]:
        if one[0] != HELLO | HOST:
            return [one]
        return [changed(one, next=min(schema.unpack(HELLO, one[4]).next, self.journal.next))]


class AnswersNoPing(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] == PONG else [one]


class IgnoresHelloWhileUp(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [] if one[0] == HELLO | HOST and self.link.up else [one]


class HasOneNonce(Device):
    def entropy(self, size: int) -> bytes:
        return b"\1" * size


class TranslatesLineEnds(Device):
    def wire(self, data: bytes) -> bytes:
        return data.replace(b"\n", b"\r\n") if self.link.up else data


class DoesNotKnowWhenAPingCame(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, received=bytes(4))] if one[0] == PONG else [one]


class HasAStandingClock(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, received=b"\1\2\3\4", sent=b"\1\2\3\4")] if one[0] == PONG else [one]


class HasAClockOfMilliseconds(Device):
    def say(self, one: Frame) -> list[Frame]:
        if one[0] != PONG:
            return [one]
        pong = schema.unpack(PONG, one[4])
        at, sent = (schema.word(schema.value(stamp) // 1_000) for stamp in (pong.received, pong.sent))
        return [changed(one, received=at, sent=sent)]


class AnswersBeforeItIsAsked(Device):
    def say(self, one: Frame) -> list[Frame]:
        if one[0] != PONG:
            return [one]
        pong = schema.unpack(PONG, one[4])
        return [changed(one, sent=schema.word((schema.value(pong.received) - 2) & 0xFFFFFFFF))]


class NeverPings(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] == PING else [one]


class ProbesAtItsEase(Device):
    pinged_at = 0.0

    def say(self, one: Frame) -> list[Frame]:
        if one[0] == PING:
            if time.monotonic() - self.pinged_at < 0.25:
                return []
            self.pinged_at = time.monotonic()
        return [one]


class ProbesInAHurry(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [one, one] if one[0] == PING else [one]


class NeverNoticesSilence(Device):
    def _heard(self, data: bytes) -> bytes:
        alive = frame.encode(schema.ACK | HOST, 0, 0, self.journal.oldest - 1, bytes(3)) if self.link.up else b""
        return super()._heard(data) + alive


class GivesUpEarly(Device):
    def __init__(self) -> None:
        super().__init__()
        self.heard_at = ticks()

    def _heard(self, data: bytes) -> bytes:
        if data:
            self.heard_at = ticks()
        elif self.link.up and (ticks() - self.heard_at) & TICKS > 450:
            self.link.start(ticks())
        return super()._heard(data)


class NeverConfirms(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] == ACK else [one]


class NeverConfirmsDue(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] == ACK and one[4][0] == schema.DUE else [one]


class ConfirmsOnce(Device):
    def __init__(self) -> None:
        super().__init__()
        self.confirmed: set[bytes] = set()

    def say(self, one: Frame) -> list[Frame]:
        if one[0] == ACK:
            if one[4] in self.confirmed:
                return []
            self.confirmed.add(one[4])
        return [one]


class TakesTheOlder(Device):
    def hear(self, one: Frame) -> list[Frame]:
        if one[0] == schema.SIGNAL:
            body = schema.pack(schema.Ack(schema.SIGNAL, schema.unpack(schema.SIGNAL, one[4]).generation))
            os.write(self.master, frame.encode(ACK, 0, 1, 0, body))
        return [one]


class ComparesPlainly(Device):
    newest = 0

    def hear(self, one: Frame) -> list[Frame]:
        if one[0] == schema.SIGNAL:
            generation = schema.unpack(schema.SIGNAL, one[4]).generation
            if generation < self.newest:
                return []
            self.newest = generation
        return [one]


class RefusesLongerBodies(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [] if one[0] == schema.SIGNAL and len(one[4]) > schema.MINIMUM[schema.SIGNAL] else [one]


class FillsShortBodies(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [(*one[:4], one[4].ljust(5, b"\0"))] if one[0] == schema.SIGNAL else [one]


class DoesNotConfirmTheUnknown(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [] if one[0] == 0xBF else [one]


class StopsAtAnythingUnknown(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [(0xDF, *one[1:])] if one[0] == 0x9F else [one]


class IgnoresTheCritical(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [] if one[0] == 0xDF else [one]


class RefusesAnyFlag(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [] if one[1] & 0x0F else [one]


class IgnoresEveryFlag(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [(one[0], one[1] & schema.FLAG_ASK, *one[2:])]


class ChecksNoCrc(Device):
    def noise(self, block: bytes) -> list[bytes]:
        with contextlib.suppress(cobs.DecodeError, struct.error):
            packet = cobs.decode(block)
            kind, flags, seq, ack = struct.unpack_from("<BBHH", packet)
            return [frame.encode(kind, flags, seq, ack, packet[6:-4])[1:-1]]
        return [block]


class LosesTheFrameBehind(Device):
    lost = False

    def noise(self, block: bytes) -> list[bytes]:
        self.lost = True
        return [block]

    def hear(self, one: Frame) -> list[Frame]:
        lost, self.lost = self.lost, False
        return [] if lost and one[0] in (schema.SIGNAL, schema.DUE) else [one]


class NeedsTwoDelimiters(Device):
    def _heard(self, data: bytes) -> bytes:
        ended = data.find(b"\0", 1)
        if b"\0" * 60 in data and ended:
            data = b""
        return super()._heard(data)


class StallsAt64(Device):
    def _heard(self, data: bytes) -> bytes:
        return super()._heard(b"" if len(data) == 64 else data)


class SendsManyNaks(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [one] * 3 if one[0] == NAK else [one]


class SendsNoNak(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] == NAK else [one]


class SaysNakOnce(Device):
    said = False

    def say(self, one: Frame) -> list[Frame]:
        if one[0] != NAK:
            return [one]
        said, self.said = self.said, True
        return [] if said else [one]


class CountsFromZero(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [(*one[:2], (one[2] - 1) & 0xFFFF, *one[3:])] if one[0] & schema.RELIABLE else [one]


class RepeatsAtOnce(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [one, one] if one[0] & schema.RELIABLE else [one]


class NeverRepeats(Device):
    def __init__(self) -> None:
        super().__init__()
        self.said: set[int] = set()

    def say(self, one: Frame) -> list[Frame]:
        if one[0] & schema.RELIABLE:
            if one[2] in self.said:
                return []
            self.said.add(one[2])
        return [one]


class IgnoresAcknowledgements(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [one if one[0] == HELLO | HOST else (*one[:3], (self.journal.oldest - 1) & 0xFFFF, one[4])]


class BelievesAnyAcknowledgement(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [(*one[:3], min(one[3], self.journal.next - 1), one[4])]


class BelievesInTheNextNumber(Device):
    def hear(self, one: Frame) -> list[Frame]:
        ack = one[3] - 1 if one[3] == self.journal.next & 0xFFFF else one[3]
        return [(*one[:3], ack, one[4])]


class IgnoresNak(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [] if one[0] == NAK | HOST else [one]


class ForgetsOnReconnect(Device):
    def hear(self, one: Frame) -> list[Frame]:
        if one[0] == HELLO | HOST and any(schema.unpack(HELLO, one[4]).journal):
            return [changed(one, next=self.journal.next)]
        return [one]


class SendsEverythingAtOnce(Device):
    def say(self, one: Frame) -> list[Frame]:
        if not one[0] & schema.RELIABLE or one[2] != self.journal.oldest & 0xFFFF:
            return [one]
        held = []
        for number in range(self.journal.oldest, self.journal.next):
            at = self.journal.load(number)
            body = bytes(self.journal.buffer[at : at + self.journal.length(number)])
            held.append((self.journal.buffer[at - 2], 0, number & 0xFFFF, 0, body))
        return held


class TakesNoHeedOfRoom(Device):
    def hear(self, one: Frame) -> list[Frame]:
        return [changed(one, receive=256)] if one[0] == HELLO | HOST else [one]


class SendsOneAndNoMore(Device):
    """To a host with little room."""

    first = 0
    little = False

    def hear(self, one: Frame) -> list[Frame]:
        if one[0] == HELLO | HOST:
            self.little = schema.unpack(HELLO, one[4]).receive < 192
            self.first = self.journal.oldest
        return [one]

    def say(self, one: Frame) -> list[Frame]:
        return [] if one[0] & schema.RELIABLE and self.little and one[2] > self.first + 1 else [one]


class HasAnotherText(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, text=bytes(32))] if one[0] == schema.WORDS else [one]


class CountsNoDamage(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [changed(one, damaged=0)] if one[0] == schema.STATS else [one]


class Acknowledges(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [(*one[:3], 9, one[4])] if one[0] & schema.RELIABLE else [one]


class DoesNotCount(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [one] if one[0] & schema.RELIABLE else [(*one[:2], 5, *one[3:])]


class PrintsBetweenFrames(Device):
    def wire(self, data: bytes) -> bytes:
        return data + b"debug: sent something\r\n"


class HadFilledItsLine(Device):
    """It is right, but nobody had listened, and where a buffer was full frames are torn: one lost its beginning, one
    its end, and two are one that is too long."""

    spoken_to = False

    def _heard(self, data: bytes) -> bytes:
        self.spoken_to |= bool(data)
        return super()._heard(data)

    def wire(self, data: bytes) -> bytes:
        if self.spoken_to:
            return data
        whole = frame.encode(IDENT_, 0, 1, 0, schema.pack(IDENT))
        return whole[30:] + data + whole[:-20] + whole[20:] + whole[:-9]


class SendsShortBodies(Device):
    def say(self, one: Frame) -> list[Frame]:
        return [(*one[:4], one[4][:-1])] if one[0] == schema.STATS else [one]


class PausesBetweenReads(Device):
    """It is not wrong, only slow: to it there was silence in a burst."""

    unread = b""
    until = 0.0

    def _heard(self, data: bytes) -> bytes:
        self.unread += data
        if time.monotonic() < self.until:
            return b""
        piece, self.unread = self.unread[:500], self.unread[500:]
        if len(piece) == 500:
            self.until = time.monotonic() + 0.08
        return super()._heard(piece)


WRONG: list[tuple[str, type[Device]]] = [
    ("greets", SaysNoIdent),
    ("greets", DoesNotAsk),
    ("hello-fields", NamesNoJournal),
    ("hello-fields", IsOfAnotherMajor),
    ("ident-fields", HasAnUnreadableBuild),
    ("schema", HasAnotherSchema),
    ("greets-again", GreetsSeldom),
    ("early-frames", ConfirmsBeforeItIsUp),
    ("own-echo", AnswersItsEcho),
    ("noise-first", IsDeafAfterNoise),
    ("other-major", TakesAnyMajor),
    ("other-minor", RefusesANewerMinor),
    ("other-minor", RefusesAnotherSchema),
    ("other-journal", TakesAnyJournal),
    ("numbers-never-given", TakesAnyNumber),
    ("comes-up", AnswersNoPing),
    ("hello-while-up", IgnoresHelloWhileUp),
    ("new-nonce-restarts", HasOneNonce),
    ("pong-brings-the-stamp", TranslatesLineEnds),
    ("pong-times", DoesNotKnowWhenAPingCame),
    ("pong-times", HasAStandingClock),
    ("pong-times", HasAClockOfMilliseconds),
    ("pong-times", AnswersBeforeItIsAsked),
    ("probes", NeverPings),
    ("probes", ProbesAtItsEase),
    ("probes", ProbesInAHurry),
    ("speaks-when-idle", NeverPings),
    ("link-lost", NeverNoticesSilence),
    ("link-lost", GivesUpEarly),
    ("link-kept", GivesUpEarly),
    ("signal-confirmed", NeverConfirms),
    ("due-confirmed", NeverConfirmsDue),
    ("repeat-confirmed", ConfirmsOnce),
    ("older-refused", TakesTheOlder),
    ("generation-wraps", ComparesPlainly),
    ("longer-body", RefusesLongerBodies),
    ("short-body", FillsShortBodies),
    ("unknown-state", DoesNotConfirmTheUnknown),
    ("unknown-message", StopsAtAnythingUnknown),
    ("unknown-critical", IgnoresTheCritical),
    ("flags-may-be-ignored", RefusesAnyFlag),
    ("flags-must-be-known", IgnoresEveryFlag),
    ("damaged-dropped", ChecksNoCrc),
    ("damaged-dropped", LosesTheFrameBehind),
    ("half-frame", LosesTheFrameBehind),
    ("delimiters", NeedsTwoDelimiters),
    ("writes-of-64", StallsAt64),
    ("one-nak", SendsManyNaks),
    ("one-nak", SendsNoNak),
    ("nak-again", SendsNoNak),
    ("nak-again", SaysNakOnce),
    ("numbered", CountsFromZero),
    ("repeats", RepeatsAtOnce),
    ("repeats", NeverRepeats),
    ("released", IgnoresAcknowledgements),
    ("acknowledged-for-nothing", BelievesAnyAcknowledgement),
    ("acknowledged-for-nothing", BelievesInTheNextNumber),
    ("nak", IgnoresNak),
    ("resumes", ForgetsOnReconnect),
    ("room", TakesNoHeedOfRoom),
    ("room", SendsOneAndNoMore),
    ("window", SendsEverythingAtOnce),
    ("dictionary", HasAnotherText),
    ("damaged-counted", CountsNoDamage),
    ("ack-zero", Acknowledges),
    ("seq-counts", DoesNotCount),
    ("frames-fit", PrintsBetweenFrames),
    ("frames-fit", SendsShortBodies),
]
