"""The shoe on the emulated RP2040 with the same hand, deck and parts as `EmulatedShoe`, and a host on its UART 0.

`PicoShoe` and `PicoHost` have the methods of `EmulatedShoe` and `HostEnd` that scenarios use, so one scenario runs on
both. Whoever waits lets emulated time pass: nothing here runs by itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dealershoe.deck.cards import FIFTY_TWO
from dealershoe.emulate import timeline
from dealershoe.emulate.mechanics import EMPTY, GONE, IN_SHOE, PaperCard, Run, Scene, State, angle_of, printed
from dealershoe.emulate.motion import Path as Motion
from dealershoe.emulate.motion import glide
from dealershoe.emulate.parts.fram import Fram
from dealershoe.emulate.parts.pn5180 import Pn5180, uid_of
from dealershoe.emulate.parts.register165 import Register165
from dealershoe.emulate.shoe import FLIGHT, HOLD_MS, LIGHT_PIN, PIXELS, PRESS_MS, SPEED, TONE_PIN, Pixel, Target
from dealershoe.emulate.sniffer import Sniffer
from hil.emulated_pico import SAMPLE_NS, EmulatedPico
from hil.pico_reader import plug_reader
from hil.pico_seats import SeatBus
from rp2040py.gpio_pin import GPIOPinState
from rp2040py.peripherals.i2c import I2CMode
from rp2040py.peripherals.pwm import CSR_EN
from shoelink import schema
from shoelink.link import Link
from shoelink.notice import Delivered, Greeting, Recorded

LANE_DATA, LANE_CLOCK, LANE_LOAD = 17, 18, 19  # hardware/board.toml
TAMPER, HEAD_EMIT, DOUBLE_EMIT, LID = 2, 3, 7, 22
CLOSED = (TAMPER, LID)  # contacts to ground, while all is well
DARK_HEADS = 0x1F  # of a sample: no light, so all tracks are dark
LIGHT_ADC, AMBIENT_ADC, KEYS_ADC, SUPPLY_ADC = 0, 1, 2, 3
SUPPLY = 32768  # 5 V through the Pico's divider of 3 (Pico data sheet 4.4), of 3.3 V
NODES = (7, 32)  # seat 7 and the burn
DEVICE = b"\xff" * 8  # what the emulated flash answers when it is asked for its number
WAIT_S = 5.0  # emulated
WALL_S = 1500.0  # a busy test machine is slow, not wrong
PULSE_NS = 625  # WS2812B: a 0 is high for 400 ns, a 1 for 800 ns, each give or take 150 ns
I2C_BYTE_NS = 10_300  # eight bits and the acknowledgement; an RP2040 told 1 MHz makes 0.9 (hardware/board.toml)
LATCH_NS = 50_000  # low for longer: the next frame begins


class Shown(NamedTuple):
    """The lights changed: when, in emulated ns, and to what."""

    at: float
    lights: tuple[Pixel, ...]


class Bar:
    """Eight WS2812B: bits from the widths of the pulses on their pin."""

    def __init__(self, pico: EmulatedPico, shown: Callable[[Shown], None]):
        self._pico = pico
        self._shown = shown
        self._rose = self._fell = 0.0
        self._bits: list[int] = []
        pico.chip.gpio[LIGHT_PIN].add_listener(self._edge)

    def _edge(self, new: GPIOPinState, _old: GPIOPinState) -> None:
        now = self._pico.ns
        if new == GPIOPinState.HIGH:
            if now - self._fell > LATCH_NS:
                self._bits = []
            self._rose = now
        elif new == GPIOPinState.LOW and self._rose:
            self._fell = now
            self._bits.append(int(now - self._rose > PULSE_NS))
            if len(self._bits) == 24 * PIXELS:
                octets = [int("".join(map(str, self._bits[i : i + 8])), 2) for i in range(0, 24 * PIXELS, 8)]
                # a WS2812B takes green first
                lights = tuple((octets[i + 1], octets[i], octets[i + 2]) for i in range(0, 3 * PIXELS, 3))
                self._shown(Shown(now, lights))


def plug_fram(pico: EmulatedPico, fram: Fram) -> None:
    """Put an FRAM on I2C 0, on which every byte takes its time."""
    bus = pico.chip.i2c[0]
    done: list[Callable[[], None]] = []
    byte = pico.alarm(lambda: done.pop()())

    def after_a_byte(complete: Callable[[], None]) -> None:
        done.append(complete)
        byte.schedule(I2C_BYTE_NS)

    def stop() -> None:
        fram.stop()
        bus.complete_stop()

    bus.on_connect = lambda address, mode: after_a_byte(
        partial(bus.complete_connect, fram.connect(address, mode == I2CMode.READ))
    )
    bus.on_write_byte = lambda value: after_a_byte(partial(bus.complete_write, fram.write(value)))
    bus.on_read_byte = lambda ack: after_a_byte(partial(bus.complete_read, fram.read()))
    bus.on_stop = stop


class PicoHost:
    """The host's end of UART 0: stores every event in memory and acknowledges it, in emulated time."""

    def __init__(self, pico: EmulatedPico, line: Sniffer, key: bytes) -> None:
        self.pico = pico
        me = schema.Ident(b"TESTHOST", b"test".ljust(12, b"\0"), bytes(16))
        self.link = Link(schema.HOST, me, os.urandom, keys={DEVICE: key} if key else None)
        self.events: list[Any] = []
        self.greetings: list[Any] = []
        self.delivered: list[Any] = []
        self.sent_at: list[float] = []  # emulated ns at which each event was here
        self._line = line
        self._read = 0
        self.frozen = False
        self.first_ns = 0.0  # when the shoe first said something: its loop runs
        self.link.start(self._now())

    def _now(self) -> int:
        return int(self.pico.ns / 1e6) & 0x3FFFFFFF

    def turn(self) -> None:
        """Take what has come, answer, and let the timers run."""
        if self.frozen:
            return
        data = bytes(self.pico.sent[self._read :])
        self._read += len(data)
        if data and not self.first_ns:
            self.first_ns = self.pico.ns
        self._line.feed(False, data, self.pico.ns / 1e9)
        for told in [*self.link.receive(data, self._now()), *self.link.poll(self._now())]:
            if isinstance(told, Greeting):
                self.greetings.append(told)
                self.link.resume(0, self._now())
            elif isinstance(told, Recorded):
                self.events.append(told.message)
                self.sent_at.append(self.pico.ns)
                self.link.stored(told.number)
            elif isinstance(told, Delivered):
                self.delivered.append(told.message)
        self.link.poll(self._now())
        out = bytes(self.link.take())
        self._line.feed(True, out, self.pico.ns / 1e9)
        self.pico.write(out)

    def want(self, message: Any) -> None:
        """Set the state that the shoe is to come to: a Due or a Signal."""
        self.link.desire(message)

    def wait_for(self, condition: Callable[[], bool], what: str, within_s: float = WAIT_S) -> None:
        """Let emulated time pass until the condition holds."""

        def looked() -> bool:
            self.turn()
            return condition()

        came = self.pico.run(looked, emulated_s=within_s, wall_s=WALL_S)
        assert came, f"not within {within_s} emulated s: {what}; events {self.events}, printed {self.pico.console!r}"

    def next(self, kind: Any, count: int = 1) -> list[Any]:
        """The next `count` events of a type, which are taken; those of other types before them are dropped."""
        self.wait_for(lambda: len([e for e in self.events if isinstance(e, kind)]) >= count, f"{count} {kind.__name__}")
        found: list[Any] = []
        while len(found) < count:
            event = self.events.pop(0)
            if isinstance(event, kind):
                found.append(event)
        return found


class PicoShoe:
    """A booted Pico, its deck, its parts and its host. The table is open, its cards are named on the line. `key`: what
    the host has of this shoe, whose `device.key` it is; none: neither has one. `fram`: what was kept. `reader`: a shoe
    of variant rfid has that one."""

    def __init__(self, pico: EmulatedPico, key: bytes, fram: Fram | None = None, reader: Pn5180 | None = None) -> None:
        self.pico = pico
        self.line = Sniffer()
        self.lights: tuple[Pixel, ...] = ((0, 0, 0),) * PIXELS
        self.shown: list[Shown] = []
        self.deck: list[PaperCard] = []
        self.pulled: tuple[PaperCard, ...] = ()
        self.fram = fram or Fram()
        self.kept_at: list[float] = []  # emulated ns at which something was begun to be written to the FRAM or read
        self.looked_at: list[float] = []  # ... at which the keys were read
        self.register = Register165()
        self.reader = reader
        self.seats = SeatBus(pico, NODES) if reader is None else None
        self.hand = 0
        self._scene: Scene | None = None
        self._place = IN_SHOE
        self._state = EMPTY
        self._unlit = set[int]()  # emitters that are driven low
        self._plug()
        self._see_light()
        self._adc(AMBIENT_ADC, timeline.AMBIENT)
        self._adc(KEYS_ADC, timeline.ladder("exposed"))
        self._adc(SUPPLY_ADC, SUPPLY)
        self.host = PicoHost(pico, self.line, key)
        self.host.wait_for(lambda: self.host.link.up, "the link is up", within_s=6.0)
        self.up_ns = pico.ns
        self._adc(KEYS_ADC, timeline.NO_KEY)
        self.run_ms(150)  # the key of the power-up is let go: a key that follows without a pause counts for none
        self.looked_at.clear()

    def _plug(self) -> None:
        """Put the parts' models on the emulated pins."""
        chip = self.pico.chip
        Bar(self.pico, self._show)

        def clock(new: GPIOPinState, _old: GPIOPinState) -> None:
            self.register.clock(int(new == GPIOPinState.HIGH))
            chip.gpio[LANE_DATA].set_input_value(bool(self.register.data()))

        def load(new: GPIOPinState, _old: GPIOPinState) -> None:
            self.register.load(int(new == GPIOPinState.HIGH))
            chip.gpio[LANE_DATA].set_input_value(bool(self.register.data()))

        def emitter(pin: int, new: GPIOPinState, _old: GPIOPinState) -> None:
            if (new == GPIOPinState.LOW) != (pin in self._unlit):  # a MOSFET with a resistor: on unless driven low
                self._unlit ^= {pin}
                if pin == HEAD_EMIT:
                    self._see_cards()
                else:
                    self._see_light()

        if self.reader is None:
            for pin in (HEAD_EMIT, DOUBLE_EMIT):
                chip.gpio[pin].add_listener(partial(emitter, pin))
        else:
            plug_reader(self.pico, self.reader)
        for pin in CLOSED if self.reader is None else (LID,):
            chip.gpio[pin].set_input_value(False)
        chip.gpio[LANE_CLOCK].add_listener(clock)
        chip.gpio[LANE_LOAD].add_listener(load)
        plug_fram(self.pico, self.fram)
        bus = chip.i2c[0]
        connect = bus.on_connect

        def connected(address: int, mode: I2CMode) -> None:
            self.kept_at.append(self.pico.ns)
            connect(address, mode)

        bus.on_connect = connected
        convert = chip.adc.on_adc_read

        def converts(channel: int) -> None:
            if channel == KEYS_ADC:
                self.looked_at.append(self.pico.ns)
            convert(channel)

        chip.adc.on_adc_read = converts

    def _adc(self, channel: int, reading: int) -> None:
        self.pico.chip.adc.channel_values[channel] = reading >> 4  # 12 bits, of the 16 that MicroPython makes of them

    def _show(self, shown: Shown) -> None:
        if shown.lights != self.lights:
            self.lights = shown.lights
            self.shown.append(shown)

    @property
    def tone(self) -> int:
        """What the piezo's PWM slice makes, in Hz; 0: silent."""
        channel = self.pico.chip.pwm.channels[TONE_PIN >> 1 & 7]
        level = channel.cc >> 16  # GP21 is output B: RP2040 data sheet 4.5.2
        if not channel.csr & CSR_EN or not level:
            return 0
        divider = channel.div / 16  # 8.4 bits
        return round(125_000_000 / divider / (channel.top + 1))

    # ---- the dealer's hand: as EmulatedShoe

    def load(self, deck: Iterable[PaperCard]) -> None:
        self.deck = list(deck)

    def fresh(self) -> None:
        """A full deck and a new hand, for the next scenario."""
        self.load(printed(name) for name in FIFTY_TWO)
        self.hand += 1
        begun = schema.Due(0, 100 + self.hand, schema.DUE_NOTHING, 0, 1)
        self.host.want(begun)
        self.host.want(schema.Signal(0, schema.SIGNAL_READY, schema.REASON_NONE, schema.MODE_SUPERVISED))
        self.host.wait_for(lambda: self.line.due is not None and self.line.due.hand == begun.hand, "a new hand")
        self.settle()
        self.host.events.clear()
        self.line.due = None

    def pull(
        self,
        card: PaperCard | str | None = None,
        target: Target = "board",
        *,
        speed: float = SPEED,
        boxed: bool = False,
        double: bool = False,
        face_up: bool = False,
        arrives: bool = True,
        motion: Motion | None = None,
        wait: bool = True,
    ) -> PaperCard:
        """As `EmulatedShoe.pull`; seat nodes are at the places NODES."""
        if card is not None:
            self.deck.insert(0, printed(card) if isinstance(card, str) else card)
        cards = [self.deck.pop(0) for _ in range(2 if double else 1)]
        if boxed:
            cards[0] = cards[0].boxed()
        self._begin(cards, target)
        self._leave(motion, speed, (target, face_up or boxed) if arrives else None)
        if wait:
            self.settle()
        return cards[0]

    def draw(self, to: float, target: Target = "board", *, speed: float = SPEED, boxed: bool = False) -> None:
        card = self.deck.pop(0)
        self._begin([card.boxed() if boxed else card], target)
        self._move(glide(IN_SHOE, to, speed))
        self.settle()

    def finish(self, *, speed: float = SPEED, arrives: bool = True) -> None:
        self._leave(None, speed, ("board", False) if arrives else None)
        self.settle()

    def push_back(self, *, speed: float = 0.5) -> None:
        if self._scene is None:
            self._scene = Scene(((self.pulled[-1], 0.0),), angle_of("off-table"))
            self._place = GONE
            self.pulled = self.pulled[-1:]
        self._move(glide(self._place, IN_SHOE, speed))
        self.deck[:0] = self.pulled
        self.pulled = ()
        self._scene = None
        self.settle()

    def rest(self, ms: float) -> None:
        self.run_ms(ms)

    def _begin(self, cards: list[PaperCard], target: Target) -> None:
        self._scene = Scene(tuple((card, 3.0 * behind) for behind, card in enumerate(cards)), angle_of(target))
        self.pulled = tuple(cards)
        self._place = IN_SHOE

    def _leave(self, motion: Motion | None, speed: float, arrives: tuple[Target, bool] | None) -> None:
        assert self._scene is not None
        motion = motion or glide(self._place, GONE + self._scene.last_lag, speed)
        self._move(motion)
        self._scene = None
        if arrives is not None and self.seats is not None:
            flight = FLIGHT / max(motion.speed, 0.1) * 1e6  # ns
            self.pico.move([(flight, partial(self.seats.arrive, *arrives))])

    def _move(self, motion: Motion) -> None:
        assert self._scene is not None
        self.play(self._scene.runs(motion))
        self._place = motion.at

    def play(self, runs: Iterable[Run]) -> None:
        """Drive the sensors with these states, beginning when what moves already has gone by."""
        at = 0
        moves: list[tuple[float, Callable[[], None]]] = []
        for samples, state in runs:
            moves.append((at * SAMPLE_NS, partial(self._set, state)))
            at += samples
        moves.append((at * SAMPLE_NS, lambda: None))
        self.pico.move(moves)

    def _set(self, state: State) -> None:
        if self.reader is not None:
            for tag in self._state.tags ^ state.tags:
                (self.reader.enter if tag in state.tags else self.reader.leave)(uid_of(tag), int(self.pico.ns / 1000))
        self._state = state
        self.register.lanes = state.lanes
        self._see_cards()
        self._see_light()

    def _see_cards(self) -> None:
        """The heads see what their own light falls on; the slots have theirs always."""
        self.pico.levels(self._state.pins | (DARK_HEADS if HEAD_EMIT in self._unlit else 0))

    def _see_light(self) -> None:
        self._adc(LIGHT_ADC, 0 if DOUBLE_EMIT in self._unlit else timeline.LIGHT >> self._state.layers)

    # ---- keys and the rest of the outside world

    def press(self, key: str, held: bool = False) -> None:
        self._adc(KEYS_ADC, timeline.ladder(key))
        self.run_ms(HOLD_MS if held else PRESS_MS)
        self._adc(KEYS_ADC, timeline.NO_KEY)
        self.run_ms(PRESS_MS)

    def dazzle(self, on: bool = True) -> None:
        self._adc(AMBIENT_ADC, timeline.DAZZLED if on else timeline.AMBIENT)

    # ---- time

    def run_ms(self, ms: float) -> None:
        """Let emulated time pass."""
        end = self.pico.ns + ms * 1e6
        self.host.wait_for(lambda: self.pico.ns >= end, f"{ms} ms", within_s=ms / 1000 + 1)

    def settle(self) -> None:
        """All that was moved has gone by, and the shoe has had time to say so."""
        self.host.wait_for(lambda: not self.pico.moving, "the card's way past the sensors")
        self.run_ms(25)

    quiet = settle

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        self.host.wait_for(condition, what)


def booted(
    uf2: Path, image: bytes, key: bytes = b"", fram: Fram | None = None, reader: Pn5180 | None = None
) -> PicoShoe:
    """A shoe that is in session."""
    return PicoShoe(EmulatedPico(uf2, image), key, fram, reader)
