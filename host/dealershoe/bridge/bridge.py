"""The bridge: one thread that owns the port of a shoe and runs its table. For `dealershoe run`, the demo and the tests.

The loop: bytes → link → desk → signal out at once; entries → journal's thread → acknowledgement. A port that goes away
is looked for again; that is the normal path. A thread that dies is seen by everyone who asks the bridge anything.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dealershoe.bridge.desk import Desk, Moment
from dealershoe.bridge.happening import Happening
from dealershoe.bridge.health import Health
from dealershoe.bridge.identity import Address, PortLost, Ports, locate
from dealershoe.bridge.look import snapshot
from dealershoe.bridge.port import Port
from dealershoe.bridge.ready import ready
from dealershoe.bridge.table_link import TableLink
from dealershoe.bridge.writer import Writer
from dealershoe.errors import UserError
from dealershoe.record.entries import Entry
from dealershoe.rules.stack import Stack
from dealershoe.view.snapshot import Snapshot

REOPEN_S = 0.25  # between two looks for a port that has gone
DEAF_S = 3.0  # a port without a session for so long is closed and opened again (S21: silent after the host slept)
SWITCH_S = 0.0005  # from thread to thread, for each bridge of the process
SWITCH_MOST_S = 0.02
IDLE_S = 0.5  # longest wait of the loop


def moment() -> Moment:
    """Now, on both clocks."""
    return Moment(time.monotonic_ns(), time.time_ns())


@dataclass(frozen=True, slots=True)
class Said:
    """A person's line on its way to the table."""

    text: str
    origin: str
    line: int
    done: Callable[[UserError | None], None]


class Wake:
    """Wakes a thread that waits in `ready`: a pipe with at most a few bytes in it."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)

    def up(self) -> None:
        """Wake. May be called from any thread, also after `close`."""
        with contextlib.suppress(OSError):  # full: it is awake already
            os.write(self._writer, b"!")

    def clear(self) -> None:
        """Forget that it was woken."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.reader, 64):
                pass

    def wait(self, timeout_s: float) -> None:
        """Wait to be woken, at most `timeout_s`."""
        if ready((self.reader,), (), timeout_s):
            self.clear()

    def close(self) -> None:
        """Give the pipe back."""
        reader, writer = self.reader, self._writer
        self.reader = self._writer = -1
        if reader >= 0:
            os.close(reader)
            os.close(writer)


class Bridge:
    """Runs a table until `stop`. `tell`, `ask`, `snapshot` are for any thread; `heard` is called on the bridge's."""

    def __init__(
        self,
        address: Address,
        table: TableLink,
        writer: Writer,
        wake: Wake,
        heard: Callable[[Happening], None],
        rules: Callable[[], Stack | None] = lambda: None,
        faults: Path | None = None,
        ports: Ports | None = None,
    ) -> None:
        """`table`, `writer`, `wake` are the bridge's from here on; `rules` is asked for other rules at every turn.

        `faults`: the folder for the last frames when the link fails; `ports`: where a shoe is looked for again. Raises
        PortLost when the port cannot be opened.
        """
        self._address = address
        self._table = table
        self._writer = writer
        self._wake = wake
        self._heard = heard
        self._rules = rules
        self._said: deque[Said] = deque()
        self._ports = ports
        self._health = Health(table, faults)
        self._port: Port | None = Port(address.path, self._health.recorder)
        self._stopping = False
        self._trouble: str | None = None
        self._session_ns = time.monotonic_ns()  # when there last was a session, or a hope of one
        self._snapshot = snapshot(table.desk, address.path, table.why_down)
        self.error: BaseException | None = None  # what ended the bridge's thread, or the journal's
        self._thread = threading.Thread(target=self._run, name="bridge", daemon=True)

    def start(self) -> None:
        """Begin. For the signal's sake this sets two things for the whole process.

        A view that draws gives way to the bridge's thread sooner than after Python's 5 ms; and the garbage collector
        leaves out what is loaded by now, which costs 14 ms a full collection otherwise (measured, 47,000 objects).
        Where many bridges run they give way less often: every waiting thread wakes once an interval to ask.
        """
        gc.freeze()
        self._thread.start()
        bridges = sum(thread.name == self._thread.name for thread in threading.enumerate())
        sys.setswitchinterval(min(SWITCH_S * max(1, bridges), SWITCH_MOST_S))

    def tell(
        self, text: str, origin: str, line: int = 1, done: Callable[[UserError | None], None] | None = None
    ) -> None:
        """A person's line in the words of deal scripts. `done` is called on the bridge's thread, with a refusal."""
        self._said.append(Said(text, origin, line, done or (lambda _: None)))
        self._wake.up()

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
        """The table as it was at the last turn of the loop."""
        return self._snapshot

    @property
    def desk(self) -> Desk:
        """The table. It belongs to the bridge's thread: read it only while nothing can happen."""
        return self._table.desk

    @property
    def sessions(self) -> int:
        """So many times shoe and bridge have met."""
        return self._table.sessions

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the loop, commit what is waiting, close port and journal. Raises nothing; `error` says how it went."""
        self._stopping = True
        self._wake.up()
        if self._thread.ident is not None:
            self._thread.join()
        self._close("the bridge has stopped")
        self._writer.close()
        self._wake.close()

    # ---- the thread

    def _run(self) -> None:
        try:
            if self._port is not None:
                self._table.opened(moment())
            while not self._stopping:
                self._turn()
        except BaseException as error:
            self.error = error
            self._close(f"the bridge has failed: {error}")
        self._publish()

    def _turn(self) -> None:
        if self._writer.error is not None:
            raise RuntimeError(f"the journal's thread has ended: {self._writer.error}") from self._writer.error
        try:
            self._exchange()
        except PortLost as lost:
            self._close(str(lost))
        self._publish()

    def _exchange(self) -> None:
        port = self._port
        if port is None:
            self._wake.wait(REOPEN_S)
            self._look(moment())
            self._people(moment())
            self._writer.put(self._entries())
            self._open()
            return
        timeout_s = min(self._table.wait_ms(moment()) / 1_000, IDLE_S)
        if port.wait(0.0 if self._said else timeout_s, self._wake.reader):
            self._wake.clear()
        data = port.read()
        at = moment()
        self._look(at)  # before anything that could begin a hand
        if data:
            self._table.received(data, at)
        self._people(at)
        self._table.turn(at)
        port.write(self._table.take())  # signals: before anything is written to the disk
        self._writer.put(self._entries())
        self._table.committed(self._writer.stored, moment())
        port.write(self._table.take())
        self._watch(at)

    def _look(self, at: Moment) -> None:
        """Have other rules been put in force?"""
        try:
            stack = self._rules()
        except UserError as error:
            self._table.desk.happen("fault", f"the table keeps its rules: {error}")
        else:
            if stack is not None:
                self._table.desk.judge_by(stack, at)

    def _people(self, at: Moment) -> None:
        while self._said:
            said = self._said.popleft()
            refused = None
            try:
                self._table.desk.say(said.text, said.origin, said.line, at)
            except UserError as error:
                refused = error
            said.done(refused)

    def _entries(self) -> list[Entry]:
        entries, self._table.desk.entries = self._table.desk.entries, []
        return entries

    def _watch(self, at: Moment) -> None:
        """A session that does not come up: the port may be deaf. A disk that refuses: say so, once."""
        if self._table.up:
            self._session_ns = at.mono_ns
        elif at.mono_ns - self._session_ns > DEAF_S * 1e9:
            if self._table.link.peer is not None:  # it was understood, and refused
                raise PortLost(self._table.why_down)
            cause = self._health.recorder.cause()
            seen = f"nothing understandable came from {self._address.path} for {DEAF_S:.0f} s"
            raise PortLost(f"{seen}; {cause}" if cause else seen)
        trouble = self._writer.trouble
        if trouble != self._trouble:
            self._trouble = trouble
            words = f"the journal cannot be written ({trouble}); the shoe keeps its reports until it can"
            self._table.desk.happen("fault", words if trouble else "the journal is written again")

    def _open(self) -> None:
        try:
            self._port = Port(locate(self._address, self._ports), self._health.recorder)
        except PortLost as lost:
            self._table.closed(str(lost))
            return
        self._session_ns = time.monotonic_ns()
        self._table.opened(moment())

    def _close(self, why: str) -> None:
        if self._port is not None:
            self._port.close()
            self._port = None
        self._table.closed(why)

    def _publish(self) -> None:
        """Hand out what happened, and the table as it is now."""
        desk = self._table.desk
        desk.happenings += self._health.turn(self._port, moment())
        happened, desk.happenings = desk.happenings, []
        if happened or self._table.why_down != self._snapshot.link_why:
            self._snapshot = snapshot(desk, self._address.path, self._table.why_down)
        for happening in happened:
            self._heard(happening)
