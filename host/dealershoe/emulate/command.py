"""`dealershoe emulate`: a shoe on a pty that any host program can open; plays a script, then takes live commands."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

import click

from dealershoe.deal.grammar import parse, parse_line
from dealershoe.deal.items import Expect, Line
from dealershoe.emulate.accidents import KINDS, parse_accident
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.live import WAYS, live
from dealershoe.emulate.narrator import Narrator
from dealershoe.emulate.portname import named
from dealershoe.emulate.process import VARIANTS
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.sniffer import Heard
from dealershoe.emulate.soak import PAIR, Soak, Soaked, UnjudgedError
from dealershoe.errors import UserError
from dealershoe.events import Hand, NextHand
from dealershoe.rules.stack import DEFAULT, load_stack
from dealershoe.session import TableSession

BETWEEN = {"real": 0.35, "fast": 0.0}  # seconds from card to card at a dealer's pace
A_PERSON = 600.0  # seconds to type a line somewhere else
SOAK_MOST = 30 * 24 * 60.0  # minutes: a month, 3 million cards at the fast pace, and a figure of each in memory
A_LISTENER = 5.0  # seconds for a host that has said nothing of hands to begin one; then it only listens
SOAK_HELP = "\n".join(
    (
        "\b",
        "A soak deals hands with faults at an open shoe, and holds what is reported against the cards pulled:",
        "  mkfifo said",
        *(f"  {end}" for end in PAIR),
        "Beside it go --seed, --pace, --link, --say, --flash. Exit status 0: a hand or more was dealt and nothing",
        "bad counted; 1: something was, or no hand came to its cards; 2: bad input, or the host judges nothing.",
        "The bridge stays and waits for its shoe: end it (kill %1) before the next soak.",
    )
)
FAIL_HELP = f"""\b
Live commands: lines of deal scripts, press KEY [held], look, power [held KEY], test card, fail PART HOW, mend [PART],
help. Parts, and how they can fail:
{WAYS}"""


@click.command(
    "emulate", short_help="a shoe on a pty that any host program can open", epilog=f"{SOAK_HELP}\n\n{FAIL_HELP}"
)
@click.argument("script", required=False, type=click.Path(path_type=Path))
@click.option("--seed", default=1, show_default=True, help="Shuffles the decks.")
@click.option("--pace", default="real", show_default=True, type=click.Choice(["real", "fast"]))
@click.option("--rules", default=DEFAULT, show_default=True, metavar="STACK", help="The host's rule stack.")
@click.option("--fault", "faults", multiple=True, metavar="KIND@CARD", help=f"On the CARDth card: {', '.join(KINDS)}.")
@click.option("--link", type=click.Path(path_type=Path), help="A name for the port: a symbolic link to the pty.")
@click.option("--say", type=click.Path(path_type=Path), help="Append lines that no shoe can sense to this file.")
@click.option("--flash", type=click.Path(path_type=Path), help="A folder for what the shoe keeps: its key.")
@click.option("--open", "opened", is_flag=True, help="An open table, for training and benches: cards are named.")
@click.option("--variant", default=VARIANTS[0], show_default=True, type=click.Choice(VARIANTS), help="Built with.")
@click.option("--soak", type=float, metavar="MINUTES", help="Deal hands with faults for so long; see below.")
@click.option("--no-wait", is_flag=True, help="Play the script without a host in session.")
@click.option("--verbose", "-v", is_flag=True, help="Show each frame on the line.")
@click.pass_context
def command(
    context: click.Context,
    script: Path | None,
    seed: int,
    pace: str,
    rules: str,
    faults: tuple[str, ...],
    link: Path | None,
    say: Path | None,
    flash: Path | None,
    opened: bool,
    variant: str,
    soak: float | None,
    no_wait: bool,
    verbose: bool,
) -> None:
    """Run the real firmware behind a pty, play SCRIPT at it, then take commands from standard input until it ends.

    Cards and keys go through the shoe's sensors. What a shoe cannot sense (who sits where, who acts) is written to
    --say, a pipe into the host's input say, or shown for you to tell the host.
    """
    if soak is not None:
        _refuse_beside_soak(context)
        if not 0 < soak <= SOAK_MOST:  # nor is NaN
            raise UserError(
                f"`--soak {soak:g}` is no length for a soak",
                "",
                f"give minutes, more than 0 and at most {SOAK_MOST:.0f} (30 days); Ctrl-C ends it too",
            )
        result = _soak(soak, seed, pace, link, say, flash)
        context.exit(0 if result.well else 1)
    if no_wait and script is None:
        raise UserError("--no-wait is for a script, and there is none", "", "leave it out, or name a script")
    accidents = [parse_accident(fault) for fault in faults]
    lines = _script(script) if script is not None else ()
    session = TableSession(load_stack(rules))
    out = _Printer()
    shoe = EmulatedShoe(pace=pace, flash=flash, opened=opened, variant=variant)
    if verbose:
        shoe.line.on_frame = lambda heard: out(_frame(heard))
    teller = _Teller(shoe, out, say)
    dealer = ScriptedDealer(shoe, session, teller, seed=seed, between=BETWEEN[pace], accidents=accidents)
    with (
        contextlib.suppress(KeyboardInterrupt),
        contextlib.closing(teller),
        shoe,
        named(link, shoe.port),
        Narrator(shoe, out) as narrator,
    ):
        out(f"port {link or shoe.port}")
        if not shoe.on_micropython:
            out("there is no MicroPython for this platform: the firmware runs under CPython")
        if lines and not no_wait:
            _wait_for_host(shoe, out)
        for line in dealer.play(lines):
            if not isinstance(line.item, Expect):
                out(f"done {line.text}")
        live(shoe, dealer, narrator, out)


def _refuse_beside_soak(context: click.Context) -> None:
    """What would be dropped in silence; --open says only what a soak's shoe is."""
    given = [
        param.opts[0] if isinstance(param, click.Option) else "a script"
        for param in context.command.params
        if param.name in ("script", "faults", "rules", "no_wait", "verbose", "variant")
        and context.get_parameter_source(param.name) is not click.core.ParameterSource.DEFAULT
    ]
    if given:
        raise UserError(
            "a soak deals hands and makes faults of its own, and the host has the rules",
            f"{' and '.join(given)} would do nothing",
            "leave out what a soak does not use",
        )


def _soak(minutes: float, seed: int, pace: str, link: Path | None, say: Path | None, flash: Path | None) -> Soaked:
    """Random hands with random faults, for so many minutes of the shoe's clock; the report at its end or on Ctrl-C."""
    out = _Printer()
    shoe = EmulatedShoe(pace=pace, flash=flash, opened=True)
    teller = _Teller(shoe, out, say)
    soak = Soak(shoe, teller, seed)
    with contextlib.closing(teller), shoe, named(link, shoe.port):
        out(f"port {link or shoe.port}")
        try:
            _wait_for_host(shoe, out)
            soak.run(minutes * 60, lambda so_far: _progress(so_far, minutes))
        except KeyboardInterrupt:
            pass
        except UnjudgedError:
            raise  # and no report: of nothing it would say that all is well
        except UserError:
            _report(soak, out)
            raise
        _report(soak, out)
    return soak.result


def _report(soak: Soak, out: _Printer) -> None:
    for line in soak.result.lines():
        out(line)


def _progress(so_far: Soaked, minutes: float) -> None:
    """On a terminal, how far it is; hands enough apart not to scroll."""
    if sys.stderr.isatty():
        click.echo(
            f"\r{so_far.virtual_s / 60:.1f} of {minutes:g} min, {so_far.counts['cards']} cards ", nl=False, err=True
        )


class _Printer:
    """Whole lines from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        with self._lock:
            click.echo(text)


class _Teller:
    """What the shoe cannot sense, to the host: by way of a file, or of the person who reads this."""

    def __init__(self, shoe: EmulatedShoe, say: Callable[[str], None], path: Path | None) -> None:
        self._shoe = shoe
        self._say = say
        self._file = None if path is None else _opened(path)

    def __call__(self, text: str) -> None:
        before = self._shoe.line.due
        if self._file is not None:
            self._file.write(text + "\n")
            self._file.flush()
        else:
            self._say(f"tell the host: {text}")
        line = parse_line(text, 1, "dealer")
        begins = line is not None and isinstance(line.item, Hand | NextHand)
        if begins and self._shoe.line.up:
            # its cards must not be counted in the hand before; a host that has never sent DUE may only listen
            speaks = self._file is not None or before is not None
            with contextlib.nullcontext() if speaks else contextlib.suppress(UserError):
                self._shoe.wait_for(
                    lambda: self._shoe.line.due not in (None, before),
                    f"the host to begin `{text}`",
                    deadline=A_PERSON if speaks else A_LISTENER,
                )

    def close(self) -> None:
        """No more lines."""
        if self._file is not None:
            self._file.close()


def _opened(path: Path) -> IO[str]:
    """The file, to add to. Read and write: a pipe that nobody reads yet opens at once, and ends when this is closed."""
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666), "w")
    except OSError as error:
        raise UserError(f"{path} cannot be written", str(error.strerror), "give --say a file or a pipe") from error


def _script(path: Path) -> tuple[Line, ...]:
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UserError(f"{path} cannot be read", str(cause), "name a deal script") from error


def _wait_for_host(shoe: EmulatedShoe, out: _Printer) -> None:
    if not shoe.line.up:
        out("waiting for a host in session (Ctrl-C ends, --no-wait plays without one)")
    while not shoe.line.up:
        with contextlib.suppress(UserError):
            shoe.wait_for(lambda: shoe.line.up, "a host in session", deadline=3600.0)
        shoe.check()


def _frame(heard: Heard) -> str:
    arrow = "host → shoe" if heard.from_host else "shoe → host"
    return f"{time.monotonic():.3f} {arrow} {heard.message or f'kind {heard.kind:#04x}'}"
