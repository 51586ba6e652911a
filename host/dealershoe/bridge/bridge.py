"""The bridge: what is to be done for one table when it is turned. For `dealershoe run`, the demo and the tests.

A turn: bytes → link → desk → signal out at once; then entries → journal's thread → acknowledgement. A port that goes
away is looked for again; that is the normal path. A table that fails is seen by everyone who asks its bridge anything.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from dealershoe.bridge.health import Health
from dealershoe.bridge.room import Room
from dealershoe.bridge.writer import Writer
from dealershoe.defects import shown
from dealershoe.desk.desk import Desk, Moment
from dealershoe.desk.happening import Happening
from dealershoe.desk.look import snapshot
from dealershoe.desk.table_link import TableLink
from dealershoe.entries import Entry, RequestRow
from dealershoe.errors import UserError
from dealershoe.port.identity import Address, PortLost, Ports
from dealershoe.port.port import Port, seek
from dealershoe.rules.stack import Stack
from dealershoe.view.snapshot import Snapshot

REOPEN_S = 0.25  # between two looks for a port that has gone
DEAF_S = 3.0  # a port without a session for so long is closed and opened again (S21: silent after the host slept)
IDLE_S = 0.5  # longest wait between two turns
RULES_S = 0.05  # between two looks for other rules, of which a key of the shoe can begin a hand; a person's line looks
AGAIN_S = 1.0  # between two words about a link that comes and goes faster than is recorded
HEALTH_S = 0.25  # between two looks at how the link fares
LINES = 8  # of people, taken in one turn
DISK = "disk"  # the journal's refuses
KEPT_BY_SHOE = "the shoe keeps its reports until it can, what people say is lost if the bridge ends before"
LOOK_S = 1.0  # so long a snapshot is waited for; then the last one has to do
T = TypeVar("T")


def moment() -> Moment:
    """Now, on both clocks."""
    return Moment(time.monotonic_ns(), time.time_ns())


class Told(NamedTuple):
    """What came of a line: the `version` of the table by then; why it was `refused`, None where it was taken."""

    version: int
    refused: UserError | None


@dataclass(frozen=True, slots=True)
class Said:
    """A person's line on its way to the table. `line`: its number where it came from, 0: it came alone.

    `id`: the client's own name for it, "" for none.
    """

    text: str
    origin: str
    line: int
    who: str
    id: str
    done: Callable[[Told | None], None]


class Bridge:
    """One table, turned by a `room` from `start` to `stop`.

    `tell`, `request`, `ask`, `snapshot` are for any thread; `heard` is called on the room's. `version` is the number of
    the last happening that was heard: it grows by one with each, and begins above that of any bridge before.
    """

    def __init__(
        self,
        address: Address,
        table: TableLink,
        writer: Writer,
        room: Room,
        heard: Callable[[Happening], None],
        rules: Callable[[], Stack | None] = lambda: None,
        faults: Path | None = None,
        ports: Ports | None = None,
        *,
        patient: bool = False,
    ) -> None:
        """`table` and `writer` are the bridge's from here on; `rules` is asked for other rules before a hand can begin.

        `faults`: the folder for the last frames when the link fails; `ports`: where a shoe is looked for again.
        `patient`: a shoe that is not there yet is waited for; else the port is opened here, and PortLost says why not.
        """
        self._address = address
        self._table = table
        self._writer = writer
        self._room = room
        self._heard = heard
        self._rules = rules
        self._said: deque[Said] = deque()
        self._asked: deque[tuple[int, Callable[[Told | None], None], Told]] = deque()  # until the journal has the fact
        self.version = time.time_ns() // 1_000_000  # milliseconds: no table says a thousand things a second for long
        self._ports = ports
        self._health = Health(table, faults)
        self._port: Port | None = None if patient else Port(address.path, self._health.recorder)
        self._terminal = self._port.terminal if self._port else None
        self._seeking = False  # an errand looks for the port
        self._seek_ns = 0  # when to look
        self._trouble: str | None = None
        self._stored = writer.stored
        self._session_ns = time.monotonic_ns()  # when there last was a session, or a hope of one
        self._watched_ns = 0  # when this was looked at
        self._look_ns = 0  # when to look for other rules
        self._why = ""  # the link is down, at the last look at its health
        self._said_up = not table.why_down  # when something was said last
        self._again_ns = 0  # when it may be said that this has changed, where nobody else does
        self._health_ns = 0  # when to look at it
        self._changed = False  # since the snapshot
        self._looks: deque[threading.Event] = deque()  # of those who wait for a snapshot
        self._drawn = snapshot(table.desk, address.path, table.why_down), self.version
        self.error: BaseException | None = None  # what ended the table, or its journal
        self.turn_ns = 0
        writer.wake = self._wake

    def start(self) -> None:
        """Begin to be turned."""
        self._room.enter(self)

    def tell(
        self,
        text: str,
        origin: str,
        line: int = 1,
        done: Callable[[UserError | None], None] | None = None,
        who: str = "",
    ) -> None:
        """A person's line in the words of deal scripts. `done` is called on the room's thread, with a refusal.

        `origin`: the way it was said; `who` said it, for the record.
        """
        answer = done or (lambda _: None)
        self._said.append(Said(text, origin, line, who, "", lambda told: answer(told.refused) if told else None))
        self._wake()

    def request(self, text: str, origin: str, who: str, id: str, done: Callable[[Told | None], None]) -> None:
        """`tell`, under the `id` that `who` has for it, which the journal keeps beside the line.

        `done` is called once the disk has both, or refuses; with None when the bridge ends before.
        """
        self._said.append(Said(text, origin, 0, who, id, done))
        self._wake()

    def ask(self, text: str, origin: str, line: int = 1, deadline_s: float = 20.0) -> None:
        """`tell`, and wait until the table has it. Raises UserError if it is refused, RuntimeError if none answers."""
        answer: queue.SimpleQueue[UserError | None] = queue.SimpleQueue()
        self.tell(text, origin, line, answer.put)
        try:
            refused = answer.get(timeout=deadline_s)
        except queue.Empty:
            raise RuntimeError(f"the bridge did not take a line within {deadline_s} s: {self.error}") from self.error
        if refused is not None:
            raise refused

    def snapshot(self) -> Snapshot:
        """The table as it was at its last turn. It is drawn up when somebody asks, at most LOOK_S are waited for it."""
        return self.look()[0]

    def look(self) -> tuple[Snapshot, int]:
        """`snapshot`, and the version of the table that it shows: an old one where LOOK_S were not enough."""
        if self.alive and not self._room.is_mine:
            drawn = threading.Event()
            self._looks.append(drawn)
            self._wake()
            drawn.wait(LOOK_S)
        else:
            self._draw_up()
        return self._drawn

    def read(self, ask: Callable[[Desk], T], deadline_s: float = LOOK_S) -> T:
        """What `ask` finds at the desk between two turns; it must change nothing. Raises TimeoutError when none comes.

        Not for the room's own thread.
        """
        if not self.alive:
            return ask(self.desk)
        answer: queue.SimpleQueue[T | Exception] = queue.SimpleQueue()

        def word() -> None:
            try:
                answer.put(ask(self.desk))
            except Exception as error:
                answer.put(error)

        self._room.news(self, word)
        try:
            found = answer.get(timeout=deadline_s)
        except queue.Empty:
            raise TimeoutError(f"the table did not answer within {deadline_s} s") from self.error
        if isinstance(found, Exception):
            raise found
        return found

    def keep(self, entry: Entry) -> None:
        """Put something in the journal that is not of the deal."""
        self._room.news(self, lambda: self._table.desk.entries.append(entry))

    def look_for_rules(self) -> None:
        """Others have been put in force: do not wait for a person or a card to look for them."""
        self._room.news(self, lambda: self._look(moment()))

    @property
    def journal(self) -> Path:
        """The file that keeps its facts."""
        return self._writer.path

    @property
    def written(self) -> bool:
        """Whether its journal has all that was heard; so it is called while the disk refuses, when nobody waits."""
        return not self._writer.behind

    @property
    def statistics(self) -> dict[str, int]:
        """The figures of the link, by name (`health.NAMES`); not all of one instant."""
        return self._health.statistics()

    @property
    def desk(self) -> Desk:
        """The table. It belongs to the room's thread: read it only while nothing can happen."""
        return self._table.desk

    @property
    def sessions(self) -> int:
        """So many times shoe and bridge have met."""
        return self._table.sessions

    @property
    def alive(self) -> bool:
        """Whether it is turned: started, and neither stopped nor failed."""
        return self.error is None and self._room.has(self)

    def stop(self) -> None:
        """Leave the room, commit what is waiting, close port and journal. `error` says how it went.

        Raises RuntimeError on the room's own thread.
        """
        self._room.leave(self)
        self._end()
        self._writer.close()

    def _wake(self) -> None:
        self._room.news(self)

    # ---- on the room's thread

    @property
    def descriptor(self) -> int | None:
        """Of the port, for the room to wait for."""
        return self._port.descriptor if self._port is not None else None

    @property
    def writes(self) -> bool:
        """Whether something waits until the port takes it."""
        return self._port is not None and self._port.pending > 0

    def begin(self) -> None:
        """Greet, or look for the port."""
        if self._port is not None:
            self._session_ns = time.monotonic_ns()
            self._table.opened(moment())
        self.turn(True)

    def turn(self, ready: bool) -> None:
        """Do what there is to do. `ready`: the port may have bytes. Raises what ends the table."""
        if self._writer.error is not None:
            raise RuntimeError("the journal's thread has ended") from self._writer.error
        at = moment()
        try:
            if self._port is None:
                self._wait_for_port(at)
            else:
                self._exchange(self._port, ready, at)
        except PortLost as lost:
            self._close(str(lost))
        self._heed_disk()
        self._publish(at)
        self._answer()
        self.turn_ns = at.mono_ns + self._rest_ns(at)

    def fail(self, error: BaseException) -> None:
        """A turn has raised: the table is unsupervised from now on, and says why."""
        self._close(f"the bridge has failed: {shown(error)}")
        self._changed = True
        self.error = error

    def finish(self) -> None:
        """The last words, and the port is closed."""
        with contextlib.suppress(Exception):  # what the listener raises may be what the table failed of
            self._publish(moment())
        self._end()
        self._writer.put(self._entries())
        with contextlib.suppress(Exception):
            self._hand_out()
        while self._looks:
            self._looks.popleft().set()
        for done in (*(one[1] for one in self._asked), *(said.done for said in self._said)):
            done(None)

    def _exchange(self, port: Port, ready: bool, at: Moment) -> None:
        table = self._table
        data = port.read() if ready else b""
        if self._said or (data and at.mono_ns >= self._look_ns):
            self._look(at)  # before anything that could begin a hand
        if data:
            table.received(data, at)
        if self._said:
            self._people(at)
        if self._writer.stored is not self._stored:
            self._stored = self._writer.stored
            table.committed(self._stored, at)
        else:
            table.turn(at)
        out = table.take()
        if out or port.pending:
            port.write(out)  # signals: before anything is written to the disk
        if table.desk.entries:
            self._writer.put(self._entries())
        self._watch(at)

    def _wait_for_port(self, at: Moment) -> None:
        if self._said:
            self._look(at)
        self._people(at)
        self._writer.put(self._entries())
        if not self._seeking and at.mono_ns >= self._seek_ns:
            self._seeking = True
            job = partial(seek, self._address, self._terminal, self._health.recorder, self._ports)
            self._room.errand(self, job, self._sought)

    def _sought(self, found: tuple[Address, Port] | PortLost) -> None:
        """An errand has looked for the port."""
        self._seeking = False
        if isinstance(found, PortLost):
            self._seek_ns = time.monotonic_ns() + int(REOPEN_S * 1e9)
            self._table.closed(str(found))
            return
        address, port = found
        if not self.alive:
            port.close()
            return
        self._address, self._port, self._terminal = address, port, port.terminal
        self._session_ns = time.monotonic_ns()
        self._table.opened(moment())

    def _look(self, at: Moment) -> None:
        """Have other rules been put in force?"""
        self._look_ns = at.mono_ns + int(RULES_S * 1e9)
        try:
            stack = self._rules()
        except UserError as error:
            self._table.desk.happen("fault", f"the table keeps its rules: {error}")
        else:
            if stack is not None:
                self._table.desk.judge_by(stack, at)

    def _people(self, at: Moment) -> None:
        for _ in range(min(len(self._said), LINES)):
            said, desk = self._said.popleft(), self._table.desk
            last, refused = desk.last_fact, None
            try:
                desk.say(said.text, said.origin, said.line, at, said.who)
            except UserError as error:
                refused = error
            told = Told(self.version + len(desk.happenings), refused)
            if said.id and desk.last_fact > last:
                why = json.dumps([refused.seen, refused.cause, refused.do]) if refused else None
                desk.entries.append(RequestRow(desk.last_fact, said.id, told.version, why))
                self._asked.append((desk.last_fact, said.done, told))
            else:
                said.done(told)

    def _answer(self) -> None:
        """Tell clients what came of their lines that the disk has. While it refuses nobody waits for it."""
        while self._asked and (self._asked[0][0] <= self._writer.asked or self._writer.trouble):
            _, done, told = self._asked.popleft()
            done(told)

    def _entries(self) -> list[Entry]:
        entries, self._table.desk.entries = self._table.desk.entries, []
        return entries

    def _watch(self, at: Moment) -> None:
        """A session that does not come up: the port may be deaf. While the bridge itself stood still it was not."""
        still = at.mono_ns - max(self._watched_ns, self._session_ns) - int(IDLE_S * 1e9)
        self._session_ns += max(0, still)
        self._watched_ns = at.mono_ns
        if self._table.up or self._table.waits_for_disk:
            self._session_ns = at.mono_ns
        elif at.mono_ns - self._session_ns > DEAF_S * 1e9:
            if self._table.refused or self._table.link.peer is not None:  # it was understood
                raise PortLost(self._table.why_down)
            seen = f"nothing understandable came from {self._address.path} for {DEAF_S:.0f} s"
            self._room.chore(self, self._health.recorder.copy().cause, partial(self._deaf, seen))
            raise PortLost(self._table.why_down if self._table.why_down.startswith(seen) else seen)

    def _heed_disk(self) -> None:
        """A disk that refuses: say so, once, whether or not a shoe is there. What people say waits for it too."""
        trouble = self._writer.trouble
        if trouble != self._trouble:
            self._trouble = trouble
            self._changed = True
            desk, words = self._table.desk, "the journal is written again"
            desk.wrong.pop(DISK, None)
            if trouble:
                desk.wrong[DISK] = words = f"the journal cannot be written ({trouble}); {KEPT_BY_SHOE}"
            desk.happen("fault", words)

    def _deaf(self, seen: str, cause: str) -> None:
        """What came that was not understood has been looked at."""
        if cause and not self._table.up:
            self._table.closed(f"{seen}; {cause}")

    def _written(self, frames: Path | None) -> None:
        """The frames before a fault are on the disk, or the disk has refused them."""
        said = self._health.written(frames)
        if said is None:
            return
        if self.alive:
            self._table.desk.happenings.append(said)
        else:
            self._heard(said)

    def _end(self) -> None:
        if self.error is None:
            self._close("the bridge has stopped")
            self._changed = True

    def _close(self, why: str) -> None:
        if self._port is not None:
            self._port.close()
            self._port = None
        self._table.closed(why)

    def _rest_ns(self, at: Moment) -> int:
        """Nanoseconds until the next turn is needed."""
        if self._said:
            return 0
        if self._port is None:
            return int(IDLE_S * 1e9) if self._seeking else max(0, self._seek_ns - at.mono_ns)
        return min(self._table.wait_ms(at) * 1_000_000, int(IDLE_S * 1e9))

    def _publish(self, at: Moment) -> None:
        """Hand out what happened, and the table as it is now to who waits for it."""
        desk = self._table.desk
        if self._table.why_down != self._why or at.mono_ns >= self._health_ns:
            self._why = self._table.why_down
            self._health_ns = at.mono_ns + int(HEALTH_S * 1e9)
            self._changed = True
            desk.happenings += self._health.turn(self._port, at)
            frames = self._health.fault(at)
            if frames is not None:
                self._room.chore(self, frames, self._written)
        down = self._table.why_down
        if bool(down) is self._said_up and not desk.happenings and at.mono_ns >= self._again_ns:
            self._again_ns = at.mono_ns + int(AGAIN_S * 1e9)  # whoever looks must see how it is now
            desk.happen("link", f"unsupervised again: {down}" if down else "the shoe is on the line again")
        self._changed |= bool(desk.happenings)
        if self._looks:
            self._draw_up()
            for _ in range(len(self._looks)):
                self._looks.popleft().set()
        self._hand_out()

    def _hand_out(self) -> None:
        """Say what happened."""
        happened, self._table.desk.happenings = self._table.desk.happenings, []
        if happened:
            self._said_up = not self._table.why_down
        for happening in happened:
            self.version += 1
            self._heard(happening)

    def _draw_up(self) -> None:
        now = self._drawn[0]
        if self._changed:
            now = snapshot(self._table.desk, self._address.path, self._table.why_down)
            self._changed = False
        self._drawn = now, self.version + len(self._table.desk.happenings)
