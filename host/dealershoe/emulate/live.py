"""Live commands to an emulated shoe: a line each, from a terminal or a pipe. For `dealershoe emulate`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from dealershoe.deal.grammar import parse_line
from dealershoe.deck.sheet import TEST_CARD, TEST_DECK
from dealershoe.deck.strip import print_strip
from dealershoe.emulate.dealer import ScriptedDealer
from dealershoe.emulate.mechanics import PaperCard
from dealershoe.emulate.narrator import Narrator
from dealershoe.emulate.parts import EVERY_FAILURE
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.emulate.timeline import KEYS
from dealershoe.errors import UserError

LOOK_S = 0.5  # between two looks whether the firmware still runs
WAYS = "\n".join(
    f"  {part:<8} {', '.join(how for other, how in EVERY_FAILURE if other == part)}"
    for part in dict.fromkeys(part for part, _ in EVERY_FAILURE)
)
LIVE_HELP = f"""\
Lines of deal scripts work as in a file: hand seats=1-6 button=6, deal hole, card 3 exposed, betting complete. Also:
  press KEY [held]     KEY one of {", ".join(KEYS)};
                       done+new-hand: the shoe tests itself
  look                 what light and sound do, how many cards there are (with --open which is next)
  power [held KEY]     switch the shoe off and on; with the floor key held it can be enrolled
  test card            draw the test card, as `doctor --test-card` asks for; else it is a card of another deck
  fail PART HOW        a part fails from now on, also over `power`: fail lid open, fail seats node 5 absent
  mend [PART]          it works again; without PART all do
  help
The end of the input (Ctrl-D) or Ctrl-C switches the shoe off. Parts, and how they can fail
(seats and tamper with --variant seats, reader with --variant rfid):
{WAYS}"""


def live(shoe: EmulatedShoe, dealer: ScriptedDealer, narrator: Narrator, out: Callable[[str], None]) -> None:
    """Commands from standard input until it ends. A bad line on a terminal is told, in a pipe it ends the run.

    Raises UserError naming the line.
    """
    if sys.stdin.isatty():
        if os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp():
            _stay(shoe, out)
        out(LIVE_HELP)
    for number, raw in enumerate(sys.stdin.buffer, 1):
        try:
            _obey(_text(raw, number), number, shoe, dealer, narrator, out)
        except UserError as error:
            shoe.check()
            if not sys.stdin.isatty():
                raise
            out(f"dealershoe: {error}")


def _text(raw: bytes, number: int) -> str:
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        raise UserError(f"line {number} of standard input is no text", "", "write commands in UTF-8") from None


def _stay(shoe: EmulatedShoe, out: Callable[[str], None]) -> NoReturn:
    """In the background of a terminal: whoever reads from it there is stopped, and the shoe would not answer."""
    out("in the background of a terminal no commands are read; `kill` switches the shoe off")
    while True:
        shoe.check()
        time.sleep(LOOK_S)


def _obey(
    text: str,
    number: int,
    shoe: EmulatedShoe,
    dealer: ScriptedDealer,
    narrator: Narrator,
    out: Callable[[str], None],
) -> None:
    try:
        done = _own(text.split(), shoe, narrator, out)
    except UserError as error:
        shoe.check()
        raise UserError(f"line {number}, `{text}`: {error.seen}", error.cause, error.do) from error
    if done:
        return
    line = parse_line(text, number, "standard input")
    if line is not None:
        dealer.do(line, [line.item])
        out(f"done {line.text}")


def _own(words: list[str], shoe: EmulatedShoe, narrator: Narrator, out: Callable[[str], None]) -> bool:
    """Whether it was a command of the shoe's own, and not a line of deal scripts."""
    match words:
        case ["help"]:
            out(LIVE_HELP)
        case ["look"]:
            following = f"{len(shoe.deck)} cards" if shoe.deck else "no card"
            if shoe.opened and shoe.deck:
                following += f", next {shoe.deck[0].name}"
            out(f"{narrator.words()}; in the shoe {following}")
        case ["power"]:
            shoe.power_cycle()
        case ["power", "held", key]:
            shoe.power_cycle(holding=key)
        case ["press", key, *rest] if rest in ([], ["held"]):
            shoe.press(key, held=bool(rest))
            shoe.quiet()
        case ["test", "card"]:
            strip = print_strip(TEST_CARD, TEST_DECK)
            shoe.pull(PaperCard("test card", (strip, strip)), "off-table")
            shoe.quiet()
        case ["fail", part, *how]:
            shoe.fail(part, " ".join(how))
            shoe.settle()
        case ["mend", *part] if len(part) < 2:
            shoe.mend(*part)
            shoe.settle()
        case [("press" | "power" | "test" | "fail" | "mend") as word, *_]:
            raise UserError(f"`{word}` wants other words", "", "say help, and it shows what there is")
        case _:
            return False
    return True
