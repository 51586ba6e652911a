"""An emulated shoe: the real firmware behind a real port, a mechanical deck to pull from, keys, lights and sound.

>>> with EmulatedShoe(pace="fast") as shoe:      # doctest: +SKIP
...     port = serial.Serial(shoe.port)          # any host program can open it
...     shoe.pull("As", target=3)
...     shoe.wait_for(lambda: shoe.lights[0] == (0, 0, 255), "blue: no host")
"""

from __future__ import annotations

import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from dealershoe.deck.cards import FIFTY_TWO, card_number
from dealershoe.emulate import timeline
from dealershoe.emulate.mechanics import (
    EMPTY,
    GONE,
    IN_SHOE,
    NO_TAGS,
    PLACE_CODES,
    SAMPLE_MS,
    PaperCard,
    Run,
    Scene,
    State,
    angle_of,
    printed,
)
from dealershoe.emulate.motion import Path as Motion
from dealershoe.emulate.motion import glide
from dealershoe.emulate.parts import EVERY_FAILURE, FAILURES
from dealershoe.emulate.process import POWER_ON, VARIANTS, WATCHDOG, Firmware, ShoeStoppedError
from dealershoe.emulate.sniffer import Newest, Sniffer
from dealershoe.emulate.timeline import Output
from dealershoe.errors import UserError
from dealershoe.events import PLACES, SEATS

PIXELS = 8
LIGHT_PIN, TONE_PIN = 20, 21
SPEED = 1.0  # m/s, a dealer's ordinary pull
FLIGHT = 300.0  # mm from the lip to a seat
DEADLINE = 20.0  # seconds of real time until a wait gives up; a busy test machine is slow, not wrong
# Looks at the sensors, several in one turn that writes to the FRAM: what happened is read, decided, written; one turn
# in a few asks a seat node, the others hear the host, collect garbage or take stock.
TURNS = 24
PRESS_MS, HOLD_MS, BOTH_MS = 60, 1000, 2500  # a short press; held is 800 ms and more; a pair of keys 2 s and more

PARTS = tuple(dict.fromkeys(part for part, _ in FAILURES))  # that can fail
# and with a reader of tags, for which there is no seat bus, and no contact of the base plate but in the lid's loop
READER_PARTS = (*(part for part in PARTS if part not in ("tamper", "seats")), "reader")

Pixel = tuple[int, int, int]
Target = int | str


def _is_target(target: object) -> None:
    """Raise UserError unless a card can go there; what is no seat would leave by the lane of burn, board and muck."""
    if (type(target) is int and target in SEATS) or target in PLACES:
        return
    places = ", ".join(f'"{place}"' for place in PLACES)
    raise UserError(
        f"no card goes to {target!r}",
        "",
        f"the targets are the numbers of the seats, {SEATS[0]} to {SEATS[-1]}, and {places}",
    )


def _can_fail(parts: Sequence[str], part: str, how: str | None = None) -> None:
    """Raise UserError unless that part is one of `parts` and can fail (in that way)."""
    if part not in parts:
        raise UserError(f"no part {part!r} can fail", "", f"the parts that can are {', '.join(parts)}")
    ways = [way for other, way in EVERY_FAILURE if other == part]
    if how is not None and how not in ways:
        raise UserError(f"{part} cannot fail as {how!r}", "", f"its ways are {', '.join(ways)}")


@dataclass(frozen=True, slots=True)
class Shown:
    """Something the shoe put out: `at` seconds of the monotonic clock."""

    at: float
    output: Output
    data: bytes


class EmulatedShoe:
    """The shoe as a dealer and a host see it. A context manager; the port is there from `__enter__` to `__exit__`.

    `deck` is the mechanical deck, next card first (default: a fresh coded deck in the order 2c to As). `pace` "real"
    moves cards in real time; "fast" passes them as quickly as the firmware looks. `interpreter` "auto" takes
    MicroPython where there is a wheel for it and CPython elsewhere (`on_micropython` says which). `flash`: a folder for
    what the firmware keeps without power (its key), else it forgets that too. `holding`: a key held down at power-up.
    `opened`: switched on with the exposed key held, whenever no other is: its cards are named on the line.
    `variant`: one of `process.VARIANTS`, what the shoe was built with.
    """

    def __init__(
        self,
        deck: Iterable[PaperCard] | None = None,
        *,
        pace: str = "real",
        interpreter: str = "auto",
        firmware: Path | None = None,
        device_id: bytes = b"EMULATED",
        flash: Path | None = None,
        holding: str | None = None,
        opened: bool = False,
        stuck: int = 0,
        failing: Mapping[str, str] | None = None,
        variant: str = VARIANTS[0],
    ) -> None:
        if pace not in ("real", "fast"):
            raise ValueError(f"pace {pace!r}: real or fast")
        self._failing = dict(failing or {})  # part → how
        self.variant = variant
        self.parts = PARTS if variant == VARIANTS[0] else READER_PARTS
        for part, how in self._failing.items():
            _can_fail(self.parts, part, how)
        self.deck = [printed(name, tag=self.tag(name)) for name in FIFTY_TWO] if deck is None else list(deck)
        self.pace = pace
        self.stuck = stuck  # level bits of a sample that read 1 whatever passes
        self.lights: tuple[Pixel, ...] = ((0, 0, 0),) * PIXELS
        self.tone = 0  # Hz, 0: silent
        self.shown: Newest[Shown] = Newest(5000)
        self.line = Sniffer()
        self.pulled: tuple[PaperCard, ...] = ()  # the card (or two) pulled last
        self.on_change: Callable[[], None] | None = None  # called when light or sound have changed, in a thread
        self.resets = 0
        self._firmware = Firmware(interpreter, firmware, device_id, flash, variant)
        self._holding = holding
        self.opened = opened
        self.port = self._firmware.port
        self.on_micropython = self._firmware.on_micropython
        self._changed = threading.Condition()
        self._wire: socket.socket | None = None
        self._reader: threading.Thread | None = None
        self._reached = 0
        self._marks = itertools.count(1)
        self._closing = False
        self._failure: ShoeStoppedError | None = None
        # the card on its way, and how far it is out
        self._scene: Scene | None = None
        self._place = IN_SHOE
        self._target: Target | None = None
        self._face_up = False
        self._tags = NO_TAGS  # in the reader's field

    # ---- power

    def __enter__(self) -> Self:
        self._start(POWER_ON, self._holding)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._firmware.close()
        if error is None and self._failure is not None:
            raise self._failure

    def power_cycle(self, holding: str | None = None) -> None:
        """Off and on: the firmware forgets, the deck and a card that is half out stay as they are.

        `holding`: a key that is held down while the power comes on.
        """
        if holding is not None and holding not in timeline.KEYS:
            raise UserError(f"the shoe has no key {holding!r}", "", f"its keys are {', '.join(timeline.KEYS)}")
        self._stop()
        self._start(POWER_ON, holding)

    def _start(self, cause: int, holding: str | None = None) -> None:
        self._closing = False
        if cause == POWER_ON and holding is None and self.opened:
            holding = "exposed"
        self.line.restart()
        self._wire = self._firmware.start(cause, self.pace, timeline.ladder(holding), self._failing)
        if holding is not None:
            self._send(timeline.key(None) + self._steady(PRESS_MS))  # let go, for as long as anyone needs for another
        if self._scene is not None or self.stuck:
            self._tags = NO_TAGS  # the reader knows of none
            self._show([Run(1, self._state())])
        self._reader = threading.Thread(target=self._read, args=(self._wire,), name="emulated shoe", daemon=True)
        self._reader.start()

    def _stop(self) -> None:
        self._closing = True
        with self._changed:
            self._changed.notify_all()
        self._firmware.stop()
        if self._reader is not None:
            self._reader.join()
        if self._wire is not None:
            self._wire.close()
        self._reader = self._wire = None
        self.lights = ((0, 0, 0),) * PIXELS
        self.tone = 0

    # ---- the dealer's hand

    def pull(
        self,
        card: PaperCard | str | None = None,
        target: Target = "board",
        *,
        speed: float = SPEED,
        boxed: bool = False,
        face_up: bool = False,
        double: bool = False,
        arrives: bool = True,
        motion: Motion | None = None,
        wait: bool = True,
    ) -> PaperCard:
        """Pull the next card off the deck all the way out towards a target, and give it back.

        `card` puts that card on top of the deck first. `face_up` is how it lies on arrival (a boxed card lies face up
        anyhow). `double` takes the card after it along. `arrives`: a seat node is there and sees it (with the
        variant `seats`). `motion` ends at `mechanics.GONE` or beyond. `wait`: until the card has passed; else it is
        only queued.

        Raises UserError for a target that there is not, an empty deck, or a card that is half out; nothing has moved.
        """
        _is_target(target)
        if self._scene is not None:
            raise UserError("a card is half out already", "it was drawn and left there", "finish it or push it back")
        if card is not None:
            self.deck.insert(0, printed(card, tag=self.tag(card)) if isinstance(card, str) else card)
        needed = 2 if double else 1
        if len(self.deck) < needed:
            raise UserError("the shoe has no card left to pull", "the deck has run out", "load a deck")
        cards = [self.deck.pop(0) for _ in range(needed)]
        if boxed:
            cards[0] = cards[0].boxed()
        self._begin(cards, target, face_up or cards[0].face_up)
        self._leave(motion, speed, arrives)
        if wait:
            self.settle()
        return cards[0]

    def draw(
        self, to: float, target: Target = "board", *, speed: float = SPEED, hold_ms: float = 0, boxed: bool = False
    ) -> None:
        """Pull the next card until its leading edge is `to` mm past the throat slot, and leave it there."""
        _is_target(target)
        if not self.deck:
            raise UserError("the shoe has no card left to pull", "the deck has run out", "load a deck")
        card = self.deck.pop(0)
        card = card.boxed() if boxed else card
        self._begin([card], target, card.face_up)
        self._move(glide(IN_SHOE, to, speed).rest(hold_ms))
        self.settle()

    def rest(self, ms: float) -> None:
        """Nothing moves for so many milliseconds of the card's time."""
        self._show([Run(round(ms / SAMPLE_MS), self._state())])
        self.settle()

    @property
    def half_out(self) -> bool:
        """Whether a card has been drawn and is still in the throat."""
        return self._scene is not None

    def finish(self, *, speed: float = SPEED, face_up: bool = False, arrives: bool = True) -> None:
        """Pull the card that is half out all the way; `face_up` is how it lies on arrival."""
        if self._scene is None:
            raise UserError("no card is half out", "", "draw one first")
        self._face_up = self._face_up or face_up
        self._leave(None, speed, arrives)
        self.settle()

    def push_back(self, card: PaperCard | None = None, *, speed: float = 0.5) -> None:
        """Push a card back into the shoe: it is the next one again.

        Default: the card that is half out, or else the last that left.
        """
        if self._scene is None:
            card = card or (self.pulled[-1] if self.pulled else None)
            if card is None:
                raise UserError("no card has left the shoe yet", "", "pull one first")
            self._scene = Scene(((card, 0.0),), angle_of("off-table"), self.stuck)
            self._place = GONE
            self.pulled = (card,)
        self._move(glide(self._place, IN_SHOE, speed))
        self.deck[:0] = self.pulled
        self.pulled = ()
        self._scene = None
        self.settle()

    def _begin(self, cards: list[PaperCard], target: Target, face_up: bool) -> None:
        # a double feed: the second card sticks to the first and comes 3 mm behind it
        stack = tuple((card, 3.0 * behind) for behind, card in enumerate(cards))
        self._scene = Scene(stack, angle_of(target), self.stuck)
        self.pulled = tuple(cards)
        self._place = IN_SHOE
        self._target = target
        self._face_up = face_up

    def _leave(self, motion: Motion | None, speed: float, arrives: bool) -> None:
        scene = self._scene
        assert scene is not None
        end = GONE + scene.last_lag
        motion = motion or glide(self._place, end, speed)
        if motion.at < end - 0.5:
            self._scene = None
            self.deck[:0] = self.pulled
            raise ValueError(f"the motion ends at {motion.at} mm, the card is clear of everything at {end} mm")
        self._move(motion)
        self._scene = None
        if arrives and self._target is not None and self.variant == VARIANTS[0]:  # else there is no seat bus
            delay = round(FLIGHT / max(motion.speed, 0.1) / SAMPLE_MS)
            place = PLACE_CODES.get(self._target)
            if place is not None:  # there is no node for a card that left the table
                self._send(timeline.arrival(place, self._face_up, delay) * len(self.pulled))

    def _move(self, motion: Motion) -> None:
        assert self._scene is not None
        self._show(self._scene.runs(motion))
        self._place = motion.at

    def _show(self, runs: Iterable[Run]) -> None:
        """Lead the sensors through these states."""
        passed = list(runs)
        self._send(timeline.levels(passed, self._tags))
        self._tags = passed[-1].state.tags if passed else self._tags

    def _state(self) -> State:
        if self._scene is not None:
            return self._scene.at(self._place)
        return EMPTY._replace(pins=self.stuck)

    # ---- keys and the rest of the outside world

    def press(self, key: str, held: bool = False) -> None:
        """Press one of `timeline.KEYS`, shortly or (held) for a second; "done+new-hand": the second beside the first,
        and both held for two and a half seconds (which asks for the self-test)."""
        keys = key.split("+")
        for name in keys:
            if name not in timeline.KEYS:
                raise UserError(f"the shoe has no key {name!r}", "", f"its keys are {', '.join(timeline.KEYS)}")
        for down in range(1, len(keys)):
            self._send(timeline.key(timeline.lower(keys[:down])) + self._steady(PRESS_MS))
        both = BOTH_MS if len(keys) > 1 else PRESS_MS
        self._send(timeline.key(timeline.lower(keys)) + self._steady(HOLD_MS if held else both))
        self._send(timeline.key(None) + self._steady(PRESS_MS))
        self.settle()

    def _steady(self, ms: float) -> bytes:
        """Nothing moves, but the firmware is to look often: in runs that are short enough to pass in small steps."""
        step = Run(100, self._state())
        return timeline.levels([step] * round(ms / SAMPLE_MS / step.samples))

    def tag(self, name: str) -> int:
        """The number of the tag in a card of its deck; 0: a shoe without a reader needs none."""
        return 0 if self.variant == VARIANTS[0] else 1 + card_number(name)

    def load(self, deck: Iterable[PaperCard]) -> None:
        """Put another deck in the shoe."""
        self.deck = list(deck)

    def dazzle(self, on: bool = True) -> None:
        """Light from outside falls on the heads."""
        self._send(timeline.ambient(timeline.DAZZLED if on else timeline.AMBIENT))

    def switch(self, pin: int, level: int) -> None:
        """Set an input pin that is none of the sensors (a lid switch, say)."""
        self._send(timeline.switch(pin, level))

    def fail(self, part: str, how: str) -> None:
        """A part fails from now on, also after a power cycle, in one of the ways of `parts.FAILURES`.

        Raises UserError for another part or way.
        """
        _can_fail(self.parts, part, how)
        self._failing[part] = how
        self._send(timeline.fail(part, how))

    def mend(self, part: str | None = None) -> None:
        """A part works again; None: all of them. Raises UserError for a part that cannot fail."""
        for one in self.parts if part is None else (part,):
            _can_fail(self.parts, one)
            self._failing.pop(one, None)
            self._send(timeline.mend(one))

    # ---- what the shoe does

    def settle(self, deadline: float = DEADLINE) -> None:
        """Wait until all that was moved so far has gone past the sensors."""
        number = next(self._marks)
        self._send(timeline.mark(number))
        self.wait_for(lambda: self._reached >= number, "the card's way past the sensors", deadline)

    def wait_for(self, condition: Callable[[], bool], what: str, deadline: float = DEADLINE) -> None:
        """Wait until `condition` holds; it is looked at after each output of the shoe.

        Raises ShoeStoppedError when the firmware ends, UserError after `deadline` seconds.
        """
        until = time.monotonic() + deadline
        with self._changed:
            while not condition():
                self.check()
                if self._closing:
                    raise UserError(f"the emulated shoe was switched off while waiting for this: {what}")
                if not self._changed.wait(min(until - time.monotonic(), 1.0)) and time.monotonic() >= until:
                    raise UserError(
                        f"the emulated shoe did not come to this within {deadline:g} s: {what}",
                        f"lights {self.lights}, tone {self.tone} Hz, it wrote: {self.trace() or 'nothing'}",
                    )

    def quiet(self, deadline: float = DEADLINE, *, hosted: bool = False) -> None:
        """Wait until every card has arrived, the firmware has dealt with it, and the host, if one is there, has stored
        all that the shoe reported (what it wants now has reached the shoe before that).

        `hosted`: one is there for certain, and is waited for where the link was lost: a busy machine may hold a host up
        for longer than a shoe waits, and what was reported meanwhile is sent when they meet again.
        """
        self._send(timeline.arrived())
        while True:
            if hosted:
                self.wait_for(lambda: self.line.up, "the host", deadline)
            greetings = self.line.greetings
            for _ in range(TURNS):
                self.settle(deadline)
            self.wait_for(partial(self._answered, greetings, hosted), "the host's acknowledgement", deadline)
            if not hosted or greetings == self.line.greetings:
                return

    def _answered(self, greetings: int, hosted: bool) -> bool:
        """Whether there is nothing to wait for in the session after so many `greetings`."""
        over = greetings != self.line.greetings if hosted else not self.line.alive(time.monotonic())
        return self.line.answered or over

    def check(self) -> None:
        """Raise ShoeStoppedError if the firmware has ended by itself."""
        if self._failure is not None:
            raise self._failure

    def trace(self) -> str:
        """What the firmware has written to standard output and error (on a Pico: to the USB console)."""
        return self._firmware.trace()

    # ---- the wire to the stand-in hardware

    def _send(self, data: bytes) -> None:
        self.check()
        if self._wire is None:
            raise UserError("the emulated shoe is off", "", "use it inside its `with` block")
        try:
            self._wire.sendall(data)
        except OSError as error:
            status = self._firmware.ended(within=5.0)
            self.check()
            raise ShoeStoppedError(status, self.trace()) from error

    def _read(self, wire: socket.socket) -> None:
        """The thread that takes the shoe's outputs, until its process ends."""
        buffer = bytearray()
        reset = False
        while True:
            try:
                more = wire.recv(65536)
            except OSError:
                more = b""
            if not more:
                break
            buffer += more
            with self._changed:
                for output, data in timeline.outputs(buffer):
                    reset = reset or output is Output.RESET
                    self._take(output, data)
                self._changed.notify_all()
        if self._closing:
            return
        status = self._firmware.ended(within=5.0)
        if reset:
            self._restart(wire)
        else:
            with self._changed:
                self._failure = ShoeStoppedError(status, self.trace())
                self._changed.notify_all()

    def _restart(self, wire: socket.socket) -> None:
        """The firmware asked for a reset: a new process, a new reader."""
        wire.close()
        self._firmware.stop()
        self._start(WATCHDOG)
        with self._changed:
            self.resets += 1
            self._changed.notify_all()

    def _take(self, output: Output, data: bytes) -> None:
        if output is Output.MARK:
            self._reached = struct.unpack_from("<I", data)[0]
            return
        if output in (Output.SENT, Output.RECEIVED):
            self.line.feed(output is Output.RECEIVED, data, time.monotonic())
            return
        self.shown.append(Shown(time.monotonic(), output, data))
        if output is Output.BITS and data[0] == LIGHT_PIN:
            # a WS2812B takes green first
            self.lights = tuple((data[i + 1], data[i], data[i + 2]) for i in range(1, len(data) - 2, 3))
        elif output is Output.PWM and data[0] == TONE_PIN:
            hz, duty = struct.unpack_from("<IH", data, 1)
            self.tone = hz if duty else 0
        else:
            return
        if self.on_change is not None:
            self.on_change()
