"""Where the demonstration is seen: the live view in a terminal, plain lines in a pipe. One interface, two classes."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from dealershoe.bridge.bridge import Bridge
from dealershoe.demo.player import Result
from dealershoe.desk.happening import Happening
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.words import Watcher, colour
from dealershoe.view.table import Picture

READ_S = 0.9  # a watching person reads a ruling
BAR = 30  # characters of the progress bar
FRAMES = 12  # pictures a second
# Of the fast scripts a pipe gets what matters; of the hand at a dealer's pace everything.
TOLD = ("hand", "ruling", "step", "question", "signal", "fault", "refused", "link")


class Pipe:
    """Plain lines: everything of the first script, then the rulings and a line for each script."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._all = True
        self._shoe: EmulatedShoe | None = None
        self._lit = self._shown = ""

    def say(self, text: str) -> None:
        """A line of the demonstration's own."""
        self._flush()
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def heard(self, happening: Happening) -> None:
        """What the bridge says, on its thread."""
        if self._all or happening.kind in TOLD:
            self._said.put(happening.as_line())

    def begins(self, result: Result, place: int, of: int, slow: bool) -> None:
        """A script begins."""
        self._all = slow
        self.say(f"[{place}/{of}] {result.script.name}: {result.script.title}")

    def went_on(self, result: Result, line: int) -> None:
        """A line of the script is done, by both ends: what happened, and what the shoe shows now if that is new."""
        self._flush()
        if self._lit != self._shown:
            self._shown = self._lit
            self.say(f"shoe     {self._lit}")

    def ended(self, result: Result) -> None:
        """A script has ended."""
        self.say(f"         {result.draws} draws, {result.held} of {result.expected} expectations hold")

    @contextlib.contextmanager
    def watching(self, shoe: EmulatedShoe, bridge: Bridge) -> Iterator[None]:
        """While the demonstration runs."""
        self._shoe = shoe
        shoe.on_change = self._changed
        yield
        shoe.on_change = None
        self._flush()

    def _changed(self) -> None:
        """The lamps or the tone have changed. The dark phase of a rhythm is no news."""
        shoe = self._shoe
        assert shoe is not None
        lit = {colour(pixel) for pixel in shoe.lights} - {"dark"}
        if lit:
            self._lit = f"light {' and '.join(sorted(lit))}, sound {f'{shoe.tone} Hz' if shoe.tone else 'none'}"

    def _flush(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                line = self._said.get_nowait()
                self._console.print(line, markup=False, highlight=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class Stage:
    """The table and, below it, how far the demonstration is; above it on a terminal with too few rows for both."""

    picture: RenderableType
    progress: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        picture, progress = (
            console.render_lines(part, options.update(height=None), new_lines=True)
            for part in (self.picture, self.progress)
        )
        fits = len(picture) + len(progress) <= console.size.height
        for line in picture + progress if fits else progress + picture:
            yield from line


class Screen:
    """The live view: the table, the lamps and the sound as the model of the shoe has them, and how far it is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._watcher = Watcher()
        self._lock = threading.Lock()
        self._shoe: EmulatedShoe | None = None
        self._bridge: Bridge | None = None
        self._progress = Text()
        self._findings = 0
        self._place, self._of = 0, 1

    def say(self, text: str) -> None:
        """A line of the demonstration's own."""
        self._console.print(text, markup=False, highlight=False)

    def heard(self, happening: Happening) -> None:
        """The picture says it all."""

    def begins(self, result: Result, place: int, of: int, slow: bool) -> None:
        """A script begins."""
        self._place, self._of, self._findings = place, of, 0
        self._show(result, 0)

    def went_on(self, result: Result, line: int) -> None:
        """A line of the script is done, by both ends; a ruling stays long enough to be read."""
        self._show(result, line)
        if result.findings > self._findings:
            self._findings = result.findings
            time.sleep(READ_S)

    def ended(self, result: Result) -> None:
        """A script has ended."""

    @contextlib.contextmanager
    def watching(self, shoe: EmulatedShoe, bridge: Bridge) -> Iterator[None]:
        """While the demonstration runs."""
        self._shoe, self._bridge = shoe, bridge
        shoe.on_change = self._changed
        live = Live(get_renderable=self._picture, console=self._console, refresh_per_second=FRAMES, transient=True)
        with live:
            yield
        shoe.on_change = None

    def _changed(self) -> None:
        shoe = self._shoe
        assert shoe is not None
        with self._lock:
            now = time.monotonic()
            self._watcher.light(now, shoe.lights)
            self._watcher.tone(now, shoe.tone)

    def _show(self, result: Result, line: int) -> None:
        done = (self._place - 1 + line / max(1, len(result.script.lines))) / self._of
        filled = round(BAR * done)
        bar = "█" * filled + "░" * (BAR - filled)
        said = f"{bar} {self._place}/{self._of}  {result.script.title}"
        self._progress = Text(said, no_wrap=True, overflow="ellipsis")

    def _picture(self) -> RenderableType:
        bridge, shoe = self._bridge, self._shoe
        if bridge is None or shoe is None:
            return self._progress
        with self._lock:
            light, _, sound = self._watcher.words(time.monotonic()).partition("; sound ")
        now = bridge.snapshot()
        shown = replace(now.light, light=light.removeprefix("light "), sound=sound, pixels=shoe.lights)
        return Stage(Picture(replace(now, light=shown)), self._progress)
