"""A table on a link: the desk and the shoe's link as one object, bytes in and bytes out. Pure; for the bridge's thread.

The promise of the acknowledgement is kept here: a report is told to the table once, its signal goes out at once, and it
is acknowledged only when the journal says that it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shoelink import notice, schema
from shoelink.link import Link

from dealershoe.desk.acquaintance import Acquaintance, Dictionaries
from dealershoe.desk.desk import Desk, Moment
from dealershoe.desk.ration import Ration
from dealershoe.entries import DeviceRow, LinkRow

STORE_S = 1.0  # a report that is not stored so long: behind it the shoe sends one more, and the next cards go unseen
NOT_STORED = "what the shoe reports cannot be stored"
NOT_UNDERSTOOD = "the shoe reports something that must be understood and is not ({})"
STORE_MS = 250  # between two turns while the disk is waited for
ASK_MS = 20  # while a dictionary is asked for, so long at most between two turns
# Without a key anybody on the line can greet and be gone, ten times a second. A shoe with a bad cable starts every two
# seconds at most, and each time is recorded twice: who it is, and that the link is up. What is above the ration is
# counted, and the newest of it recorded as soon as there is room.
RECORDS, RECORDS_S = 60, 60.0
REASONS = 16  # why a link stays down, recorded while it does: each once
TICKS = 0x3FFFFFFF  # milliseconds of the link wrap at 2^30, as on the shoe


def ticks(at: Moment) -> int:
    """The link's time of a moment."""
    return at.mono_ns // 1_000_000 & TICKS


def frame_of(kind: int, body: bytes) -> bytes:
    """A report as the journal keeps it: its kind and its body as they came. Header and CRC change with each sending."""
    return bytes((kind,)) + bytes(body)


def message_of(raw: bytes) -> Any:
    """The message of a kept report, None when its kind is not known here."""
    kind = schema.known(raw[0], False)
    return schema.unpack(kind, raw[1:]) if kind else None


def device_name(raw: bytes) -> str:
    """A device's 8 bytes as text: as they are where they are a name, else in hexadecimal."""
    name = raw.rstrip(b"\0")
    return name.decode() if name and all(0x20 < byte < 0x7F for byte in name) else raw.hex()


class TableLink:
    """One shoe at one table. The caller gives bytes and time, sends what `take` returns, calls `turn` in time."""

    def __init__(
        self, link: Link, desk: Desk, stored: Mapping[bytes, int], dictionaries: Dictionaries | None = None
    ) -> None:
        self.link = link
        self.desk = desk
        self.why_down = "waiting for the shoe"  # "" while the link is up
        self.device = ""  # the shoe's name, when it has said it
        self.sessions = 0  # so many times the link came up
        self.shoe = Acquaintance(dictionaries)
        self.shoe_stats: schema.Stats | None = None  # the newest that the shoe has sent
        self._taken = dict(stored)  # for each journal that told something, the highest number told to the table
        self._stored: Mapping[bytes, int] = stored
        self._at = Moment(0, 0)  # now
        self._journal: bytes | None = None  # of the shoe on the line
        self._came = 0  # the highest number that came since it greeted
        self._kept = 0  # the highest of these that is stored
        self._shown = (-1, "")  # what of the desk was wished for last
        self._backlog = 0  # its numbers below this one are from before it greeted
        self._owed_ns: int | None = None  # since when the oldest report waits to be stored
        self._open = False  # the link is told what comes: there is a port, and the disk is not waited for
        self._cut = 0  # sessions that ended here, of which the link was told nothing
        self._stopped: notice.Stopped | None = None  # what stopped the deal in this session
        self.waits_for_disk = False  # nothing is said to the shoe, which shows that nobody watches it
        self.refused = False  # what is at this port was understood, and there can be no session with it
        self._reasons: set[str] = set()  # why the link is down, as far as that was recorded
        self._ration = Ration(RECORDS, int(RECORDS_S * 1e9))
        self._met: DeviceRow | None = None  # who greeted last, as it was recorded
        self._unmet: DeviceRow | None = None  # and who has greeted since, and was not
        self._rises = 0  # so many times the link came up since that was recorded

    # ---- in

    def opened(self, at: Moment) -> None:
        """The port is open (again): greet."""
        self._tell_time(at)
        self.refused = False
        if self.waits_for_disk:
            self._down(NOT_STORED)
            return
        self._open = True
        self.link.start(ticks(at))
        self.turn(at)

    def closed(self, why: str) -> None:
        """The port is gone."""
        self._owed_ns = None
        self._end_session()
        self._down(why)

    def received(self, data: bytes, at: Moment) -> None:
        """Bytes have come from the shoe."""
        self._tell_time(at)
        if self.waits_for_disk:
            return
        for told in self.link.receive(data, ticks(at)):
            self._heed(told, at)
        self.turn(at)

    def committed(self, stored: Mapping[bytes, int], at: Moment) -> None:
        """The journal has stored up to these numbers: acknowledge what has come of them."""
        self._tell_time(at)
        self._stored = stored
        self._acknowledge()
        journal = self._journal or b""
        if self.waits_for_disk and stored.get(journal, 0) >= self._taken.get(journal, 0):
            self.waits_for_disk = False
            self.opened(at)
            return
        self.turn(at)

    def turn(self, at: Moment) -> None:
        """Say what the shoe is to show and run the link's timers."""
        self._tell_time(at)
        if self._owed_ns is not None and at.mono_ns - self._owed_ns > STORE_S * 1e9:
            self.waits_for_disk = True
            self._end_session()
            self._down(NOT_STORED)
        if self.waits_for_disk:
            return
        self._make_up()
        self._desire()
        question = self.shoe.question(ticks(at)) if self.up else None
        if question is not None:
            self.link.send(question, ticks(at))
        for told in self.link.poll(ticks(at)):
            self._heed(told, at)

    # ---- out

    def take(self) -> bytes:
        """What is to be sent now."""
        if self.waits_for_disk:
            return b""
        return bytes(self.link.take())

    def wait_ms(self, at: Moment) -> int:
        """Milliseconds until `turn` is needed."""
        if self.waits_for_disk:
            return STORE_MS
        wait = int(self.link.wait(ticks(at)))
        return min(wait, ASK_MS) if self.shoe.asks and self.up else wait

    @property
    def up(self) -> bool:
        """Whether there is a session now."""
        return self._open and bool(self.link.up)

    @property
    def lost(self) -> int:
        """So many sessions were lost: to silence, to a new start of the shoe, with the port, or to a slow disk."""
        return int(self.link.count["lost"]) + self._cut

    # ---- what the link says

    def _heed(self, told: Any, at: Moment) -> None:
        match told:
            case notice.Recorded():
                self._recorded(told, at)
            case notice.Greeting():
                self._greeted(told, at)
            case notice.LinkUp():
                self.why_down = self.desk.halt_why = ""
                self.sessions += 1
                self.refused = False
                self._risen()
            case notice.Delivered(message=schema.Stats() as stats):
                self.shoe_stats = stats
            case notice.Delivered():
                said = self.shoe.heard(told.message, at.mono_ns // 1_000)
                if said:
                    self.desk.happen("note", said)
                    self._name_stop(at)
            case notice.LinkLost():
                self._down("the shoe is silent" if told.reason == "silence" else "the shoe started again")
            case notice.Refused():
                self.refused = True
                self._down(f"no session with this shoe: {told.detail}")
            case notice.Gap():
                if self._taken.get(self._journal or b""):  # else nothing of it was ever part of a hand here
                    self.desk.align(f"reports {told.first} to {told.next - 1} of the shoe are gone for good", at)
            case notice.Stopped():
                self._stopped = told
                self._name_stop(at)

    def _name_stop(self, at: Moment) -> None:
        """What stopped the deal; its name comes later than it where the shoe's dictionary does."""
        if self._stopped is not None:
            why = NOT_UNDERSTOOD.format(f"{self._stopped.reason} {self.shoe.kind_words(self._stopped.kind)}")
            if why != self.desk.halt_why:
                self.desk.halt(why, at)

    def _greeted(self, greeting: Any, at: Moment) -> None:
        hello, ident = greeting.hello, greeting.ident
        self._stopped = None
        self.shoe.greeted(hello)
        journal = bytes(hello.journal)
        if journal not in self._taken and not self.desk.align_why and self.desk.session.draws:
            self.desk.align("the shoe lost its memory, or it is another one, in the middle of the hand", at)
        self._journal = journal
        self._backlog = hello.next
        self._came = self._kept = 0
        self._owed_ns = None
        self.desk.device = bytes(ident.device) if ident else b""
        self.device = device_name(bytes(ident.device)) if ident else ""
        build = bytes(ident.build).rstrip(b"\0").decode("ascii", "replace") if ident else None
        self._meet(
            DeviceRow(
                journal,
                bytes(hello.boot),
                bytes(ident.device) if ident else None,
                build,
                bytes(ident.digest) if ident else None,
                hello.reset,
                at.wall_ns,
                bytes(hello.schema),
                int(self.link.sealed is not None),
            )
        )
        self.link.resume(self._stored.get(journal, 0), ticks(at))

    def _recorded(self, told: Any, at: Moment) -> None:
        assert self._journal is not None  # the link records only after a greeting
        self._came = max(self._came, told.number)
        if told.number > self._taken.get(self._journal, 0):  # else it was told before the link broke, its commit comes
            self._taken[self._journal] = told.number
            raw = frame_of(told.kind, told.body)
            backlog = told.number < self._backlog
            when = self.shoe.when(told.message, told.kind, told.body, at.mono_ns // 1_000)
            if told.message is None:
                self.desk.happen("note", self.shoe.describe(told.kind, told.body))
            self.desk.report(told.message, raw, at, self._journal, told.number, backlog=backlog, when=when)
            self._desire()
        self._acknowledge()

    def _acknowledge(self) -> None:
        if self._journal is not None:
            number = min(self._came, self._stored.get(self._journal, 0))
            if number:
                self.link.stored(number)
            if number == self._came:
                self._owed_ns = None
            elif self._owed_ns is None or number > self._kept:
                self._owed_ns = self._at.mono_ns
            self._kept = number

    def _desire(self) -> None:
        """Every change of what is shown has its fact, or is a halt that ends."""
        shown = (self.desk.counts["facts"], self.desk.halt_why)
        if shown == self._shown:
            return
        self._shown = shown
        self.link.desire(schema.Signal(0, *self.desk.shown_signal))
        due = self.desk.shown_due
        if due is not None:
            self.link.desire(schema.Due(0, *due))

    # ---- what is recorded of who comes and goes

    def _meet(self, row: DeviceRow) -> None:
        """Record who has greeted, if that is news: the same boot of the same shoe greets after each silence."""
        if self._met is not None and row == replace(self._met, wall_ns=row.wall_ns):
            self._unmet = None
        elif row.proven or self._ration.take(self._at.mono_ns):
            self._met, self._unmet = row, None
            self.desk.entries.append(row)
        else:
            self._unmet = row

    def _risen(self) -> None:
        """Record that the link is up, and why it was down when it goes down next."""
        if not self.link.sealed and not self._ration.take(self._at.mono_ns):
            self._rises += 1
            return
        more = f"; it came and went {self._rises} times before, which was not recorded" if self._rises else ""
        self._rises = 0
        self._reasons.clear()
        proven = ", proven by its key" if self.link.sealed else ""
        self.desk.entries.append(LinkRow("up", more.removeprefix("; "), self.device, *self._at))
        self.desk.happen("link", f"the shoe {self.device} is on the line{proven}{more}")

    def _make_up(self) -> None:
        """Record what there was no room for, as it is by now, once there is."""
        if (self._unmet is None and not self._rises) or not self._ration.room(self._at.mono_ns):
            return
        if self._unmet is not None:
            self._meet(self._unmet)
        if self._rises and self.up:
            self._rises -= 1
            self._risen()

    def _end_session(self) -> None:
        """The link is told nothing from here on until it greets anew."""
        self._cut += self.up
        self._open = False

    def _down(self, why: str) -> None:
        if why == self.why_down:
            return
        self.why_down = why
        reason = re.sub(r"\d+", "", why)  # how many bytes were seen changes from look to look
        if reason not in self._reasons and len(self._reasons) < REASONS:
            self._reasons.add(reason)
            self.desk.entries.append(LinkRow("down", why, self.device, *self._at))
            self.desk.happen("link", f"unsupervised: {why}")

    def _tell_time(self, at: Moment) -> None:
        self._at = at
        self.link.stamp = schema.word(at.mono_ns // 1_000 & 0xFFFFFFFF)
