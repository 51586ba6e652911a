"""`dealershoe run`: the bridge at a table. People's lines on standard input; plain lines, JSON or the live view out."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from click.core import ParameterSource
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import open_bridge
from dealershoe.defects import shown
from dealershoe.desk.happening import Happening
from dealershoe.ending import asked_to_end
from dealershoe.errors import UserError
from dealershoe.link import dictionary, keystore
from dealershoe.overheard import overheard
from dealershoe.record.keys import default_key
from dealershoe.record.upgrade import user
from dealershoe.rules.shelf import Shelf
from dealershoe.rules.shelf_command import shelf_option
from dealershoe.rules.stack import DEFAULT
from dealershoe.view.prompt import Prompt
from dealershoe.view.table import Picture

if TYPE_CHECKING:
    from dealershoe.console.serve import Server

try:
    import termios
    import tty
except ImportError:  # Windows: lines instead of the live view
    termios = None  # type: ignore[assignment]

Said = queue.SimpleQueue[Happening | None]  # None: somebody asks to end

STDIN = "stdin"  # origin of what is said on standard input
WAITING_LINES = 64  # said and not yet taken by the table: whoever writes faster waits
LONGEST_LINE = 1000  # characters; the longest line of the grammar has a fifth of that
FRAME_S = 0.1  # between two pictures of the live view
REFUSALS = 3  # shown at a time
READ_S = 8.0  # how long a refusal stays on the screen
WATCH_S = 0.25  # between two looks whether the bridge lives
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("run", short_help="the bridge at a table: a shoe, a rule stack, a journal")
@click.option("--port", metavar="auto|usb:VID:PID[:SERIAL]|PATH", help="The shoe; a path is best one of by-id.")
@click.option(
    "--rules",
    default="",
    metavar="STACK",
    help=f"Packs to begin with, highest first; without it what is in force on the shelf, or {DEFAULT}.",
)
@click.option(
    "--journal",
    default="dealershoe.journal",
    show_default=True,
    type=FILE,
    help="The file that keeps every fact; a hand in play goes on from it.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.option("--open", "open_table", is_flag=True, help="An open table: cards may be named on the screen.")
@click.option(
    "--keys",
    type=FILE,
    help="The file of keys that `enroll` writes: only shoes that prove a key in it are taken. Without it those in your "
    "configuration folder; without any, each shoe is.",
)
@click.option("--any-shoe", is_flag=True, help="Take a shoe without a key, whatever is in that file.")
@click.option(
    "--signs", type=FILE, metavar="KEY", default=default_key,
    help="The bridge's own key, which signs the journal; without it the one in the user's data folder, made at need.",
)  # fmt: skip
@shelf_option
@click.option(
    "--console", metavar="HOST:PORT", help="Serve pages for dealer and floor there, and the API for table systems."
)
@click.option("--name", default="table", show_default=True, help="What the console calls this table.")
@click.option("--users", type=FILE, help="Who may use the console: the file that `users` writes.")
@click.option("--certificate", type=FILE, help="Serve the console over TLS; needed where others can reach it.")
@click.option("--certificate-key", type=FILE, help="The key of the certificate, where it is not in the same file.")
@click.option("--config", type=FILE, help="Run the room that this file describes, instead of one table.")
@click.pass_context
def command(
    context: click.Context,
    port: str | None,
    rules: str,
    journal: Path,
    as_json: bool,
    open_table: bool,
    keys: Path | None,
    any_shoe: bool,
    signs: Path,
    shelf: Shelf,
    console: str | None,
    name: str,
    users: Path | None,
    certificate: Path | None,
    certificate_key: Path | None,
    config: Path | None,
) -> None:
    """Run a table: seats, button, actions and reports come as lines of deal scripts on standard input.

    \b
    hand seats=1-6 button=6        who sits where
    act 3 raise                    what the shoe cannot sense
    report target #13 board        what it got wrong

    What `rules activate` puts in force on the shelf judges from the next hand on.
    """
    if config is not None:
        _run_room(context, config, as_json)
        return
    if port is None:
        raise UserError("no port was named", "", "name the shoe's with --port, or a room with --config")
    said: Said = queue.SimpleQueue()
    live = termios is not None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    listeners: list[Callable[[Happening], None]] = [] if live else [said.put]

    def heard(happening: Happening) -> None:
        for listener in listeners:
            listener(happening)

    bridge = open_bridge(
        port,
        rules,
        journal,
        heard,
        open_table=open_table,
        shelf=shelf.folder,
        keys=None if any_shoe else keystore.enrolled(keys),
        dictionaries=dictionary.Shelf(dictionary.default_folder()),
        signs=signs,
    )

    def say(text: str) -> None:
        said.put(Happening("room", text))

    with contextlib.ExitStack() as held:
        held.callback(_rest, said, as_json)  # the last words: they come while the bridge is stopped
        held.enter_context(overheard(said.put))
        held.callback(bridge.stop)
        if live:
            held.callback(listeners.append, said.put)
        if console is not None:
            server = _serve(console, name, bridge, users, certificate, certificate_key, shelf.folder, say)
            listeners.append(partial(server.hear, name))
            held.callback(server.stop)
            _aside(f"the console is at {server.names}", said, as_json)
        _run(bridge, said, live, as_json)
        if bridge.error is not None:
            _aside(f"the table is unsupervised; the bridge has failed: {shown(bridge.error)}", said, as_json)
    if bridge.error is not None:
        sys.exit(1)


def _aside(text: str, said: Said, as_json: bool) -> None:
    """A word to whoever runs this: on standard error, or in the log of JSON, where every line is an object."""
    if as_json:
        said.put(Happening("room", text))
    else:
        click.echo(f"dealershoe: {text}", err=True)


def _run(bridge: Bridge, said: Said, live: bool, as_json: bool) -> None:
    """Until Ctrl-C, or until the bridge ends."""

    def refused(error: UserError | None) -> None:
        if error is not None:
            _aside(str(error), said, as_json)

    try:
        bridge.start()
        if live:
            _show(bridge)
        else:
            threading.Thread(target=_listen, args=(bridge, refused), name="stdin", daemon=True).start()
            with asked_to_end(partial(said.put, None)):
                _print(bridge, said, as_json)
    except (KeyboardInterrupt, BrokenPipeError):
        pass


def _run_room(context: click.Context, config: Path, as_json: bool) -> None:
    from dealershoe.config.command import run_room

    for name in context.params:
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in ("config", "as_json"):
            raise UserError(f"--{name.replace('_', '-')} beside --config", "the room's file says it", "take one away")
    run_room(config, as_json=as_json)


def _serve(
    where: str,
    name: str,
    bridge: Bridge,
    users: Path | None,
    certificate: Path | None,
    key: Path | None,
    shelf: Path,
    say: Callable[[str], None],
) -> Server:
    """The console of one table, served. A web server is loaded only where it is asked for."""
    from dealershoe.console import logins
    from dealershoe.console.people import Current, check_name, default_path
    from dealershoe.console.serve import Server

    check_name(name, "a table")

    people = Current(users or default_path())
    kept = logins.default_path(where)
    server = Server(where, people, certificate, key, shelf=shelf, trouble=lambda: people.trouble, logins=kept, say=say)
    server.add(name, bridge)
    server.start()
    return server


def _listen(bridge: Bridge, refused: Callable[[UserError | None], None]) -> None:
    """Read standard input to its end, no faster than the table takes it. The run goes on after a bad line, and after
    the end. `refused` gets what became of each line."""
    room = threading.Semaphore(WAITING_LINES)

    def done(error: UserError | None) -> None:
        refused(error)
        room.release()

    for number, line in enumerate(lines_of(sys.stdin), 1):
        if line is None:
            refused(UserError(f"{STDIN}, line {number}: more than {LONGEST_LINE} characters", "no line is that long"))
            continue
        room.acquire()
        bridge.tell(line, STDIN, number, done, user())


def lines_of(stream: TextIO) -> Iterator[str | None]:
    """The lines of a stream without their ends; None for one that is longer than LONGEST_LINE, which is not kept."""
    while piece := stream.readline(LONGEST_LINE + 1):
        whole = piece.endswith("\n") or len(piece) <= LONGEST_LINE
        yield piece.rstrip("\n") if whole else None
        while not whole and (piece := stream.readline(LONGEST_LINE)):
            whole = piece.endswith("\n")


def _print(bridge: Bridge, said: Said, as_json: bool) -> None:
    """Print what happens until the bridge ends, or somebody asks for that."""
    while bridge.alive:
        with contextlib.suppress(queue.Empty):
            happening = said.get(timeout=WATCH_S)
            if happening is None:
                return
            _put(happening, as_json)


def _put(happening: Happening, as_json: bool) -> None:
    print(happening.as_json() if as_json else happening.as_line(), flush=True)


def _rest(said: Said, as_json: bool) -> None:
    """Print what was said and not printed yet."""
    with contextlib.suppress(queue.Empty, BrokenPipeError):
        while True:
            happening = said.get_nowait()
            if happening is not None:
                _put(happening, as_json)


def _show(bridge: Bridge) -> None:
    """The live view, with a line to type on, until the bridge ends."""
    prompt = Prompt()
    typed = 0
    refusals: deque[tuple[float, str]] = deque(maxlen=REFUSALS)

    def refused(error: UserError | None) -> None:
        if error is not None:
            refusals.append((time.monotonic(), str(error)))

    with _keys() as keys, Live(console=Console(), screen=True, auto_refresh=False) as screen:
        while bridge.alive:
            if select.select([keys], [], [], FRAME_S)[0]:
                for line in prompt.feed(os.read(keys, 1024)):
                    typed += 1
                    bridge.tell(line, STDIN, typed, refused, user())
            now = Picture(replace(bridge.snapshot(), prompt=prompt.text))
            said = [Text(text, style="bold yellow") for at, text in refusals if time.monotonic() - at < READ_S]
            screen.update(Group(now, *said), refresh=True)


@contextlib.contextmanager
def _keys() -> Iterator[int]:
    """Standard input with its keys one by one and not echoed; as it was afterwards."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield descriptor
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
