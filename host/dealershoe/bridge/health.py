"""How the link of a table fares, for the bridge: one line of statistics, the last frames written on a fault.

And the troubles that no single frame shows: a shoe that keeps starting, a bridge that stood still, old firmware.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from shoelink import schema

from dealershoe import __version__
from dealershoe.desk.desk import Moment
from dealershoe.desk.happening import Happening
from dealershoe.desk.table_link import TableLink
from dealershoe.frames.recorder import Recorder
from dealershoe.port.port import Port

STATISTICS_S = 60.0  # between two lines of statistics
BOOTS, BOOTS_S = 4, 30.0  # so many starts of the shoe in so many seconds are no accident
FAULTS_S = 5.0  # between two faults that are written down: a host that is overwhelmed loses its links again and again
STILL_S = 3.0  # a bridge that turned last so long ago was stopped (its host slept, or a console held it)

LINE = ("frames", "zero", "short", "long", "crc", "flags")  # of the decoder, in the order of the line of statistics
LINK = (
    *("sent", "received", "naks", "gaps", "duplicates", "unknown", "short_body", "bad_ack", "early", "echoes"),
    *("bad_tag", "replayed", "unsealed", "untried", "lost"),
)
SHOE = ("frames", "damaged", "sent", "resent", "naks", "lost", "held", "peak", "refused", "overruns", "free")
NAMES = ("up", "sessions", *LINE, *LINK, "dropped", "boots", *(f"shoe_{name}" for name in SHOE))


class Health:
    """Looked at by `turn` at every turn of the bridge. `folder`: where frames are written on a fault; None: nowhere."""

    def __init__(self, table: TableLink, folder: Path | None = None) -> None:
        self.recorder = Recorder()
        self._table = table
        self._folder = folder
        self._why = table.why_down
        self._told_ns = 0
        self._turned_ns = 0
        self._next_ns = 0  # when the next fault can be written down
        self._boot = b""
        self._boots: deque[int] = deque(maxlen=BOOTS)
        self.boots = 0  # starts of the shoe that were seen
        self._dropped = 0  # bytes that ports before this one gave up
        self._port: Port | None = None

    def statistics(self) -> dict[str, int]:
        """The figures of the link, in the order of NAMES. Those of the shoe are from its last STATS, 0 before."""
        table, link = self._table, self._table.link
        shoe = table.shoe_stats
        figures = [int(table.up), table.sessions]
        figures += [link.decoder.count[name] for name in LINE]
        figures += [table.lost if name == "lost" else link.count[name] for name in LINK]
        figures += [self._dropped + (self._port.dropped if self._port else 0), self.boots]
        figures += [getattr(shoe, name) if shoe else 0 for name in SHOE]
        return dict(zip(NAMES, figures, strict=True))

    def line(self) -> str:
        """The statistics as one line of `name=value`, to be searched for."""
        return " ".join(f"{name}={value}" for name, value in self.statistics().items())

    def turn(self, port: Port | None, at: Moment) -> list[Happening]:
        """What there is to say now."""
        if port is not self._port:
            self._dropped += self._port.dropped if self._port else 0
            self._port = port
        said = [*self._stood_still(at), *self._shoe(at)]
        if at.mono_ns - self._told_ns >= STATISTICS_S * 1e9:
            if self._told_ns:
                said.append(Happening("stats", self.line(), self.statistics()))
            self._told_ns = at.mono_ns
        return said

    def _stood_still(self, at: Moment) -> list[Happening]:
        still = (at.mono_ns - self._turned_ns) / 1e9 if self._turned_ns else 0.0
        self._turned_ns = at.mono_ns
        if still < STILL_S:
            return []
        return [Happening("fault", f"this bridge stood still for {still:.0f} s: its host slept, or something held it")]

    def _shoe(self, at: Moment) -> list[Happening]:
        """A shoe that has started, and whether that is one too many; and what it runs."""
        hello, ident = self._table.link.peer, self._table.link.peer_ident
        if hello is None or ident is None or hello.boot == self._boot:
            return []
        said = []
        self._boot = bytes(hello.boot)
        self.boots += 1
        self._boots.append(at.mono_ns)
        if len(self._boots) == BOOTS and at.mono_ns - self._boots[0] < BOOTS_S * 1e9:
            said.append(
                Happening(
                    "fault",
                    f"the shoe has started {BOOTS} times within {BOOTS_S:.0f} s (last time: "
                    f"{schema.code_name('reset', hello.reset).lower()}): its power is weak; try another cable or port",
                )
            )
        build = bytes(ident.build).rstrip(b"\0").decode("ascii", "replace")
        if bytes(hello.schema) != schema.SCHEMA or build.split("+")[0] != __version__:
            said.append(
                Happening(
                    "note",
                    f"the shoe runs firmware {build or 'without a name'}, link {hello.major}.{hello.minor}, schema "
                    f"{bytes(hello.schema).hex()}; this bridge is {__version__}, link {schema.MAJOR}.{schema.MINOR}, "
                    f"schema {schema.SCHEMA.hex()}: update the older one",
                )
            )
        return said

    def fault(self, at: Moment) -> Callable[[], Path | None] | None:
        """When the link has gone down, or the reason has changed: what writes down what went before. It takes long."""
        why = self._table.why_down
        if why == self._why:
            return None
        self._why = why
        if not why or self._folder is None or at.mono_ns < self._next_ns:
            return None
        frames = self.recorder.copy()
        if not self.recorder.seen():
            return None
        self._next_ns = at.mono_ns + int(FAULTS_S * 1e9)
        return partial(frames.write, self._folder, why, self.line(), open_table=self._table.desk.open_table)

    def written(self, path: Path | None) -> Happening | None:
        """What there is to say when that is done: it was written to `path`, None if the disk refuses."""
        if path is None:
            self.recorder.unwritten += 1
            return None
        return Happening("link", f"the last frames are in {path}")
