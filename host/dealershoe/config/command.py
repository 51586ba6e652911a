"""`dealershoe run --config FILE`: a room's tables and their console until Ctrl-C; SIGHUP reads the file again."""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import sys
import time
from functools import partial
from pathlib import Path

import click

from dealershoe.bridge.start import House
from dealershoe.config.read import Config, read
from dealershoe.config.room import Room
from dealershoe.console import logins
from dealershoe.console.people import Current
from dealershoe.console.serve import Server
from dealershoe.desk.happening import Happening
from dealershoe.ending import asked_to_end
from dealershoe.errors import UserError
from dealershoe.link import dictionary, keystore
from dealershoe.overheard import overheard

AT_START = ("console", "keys")  # what of the file counts when the room is started
TURN_S = 0.25  # between two looks at what is to be opened and closed


class Log:
    """What happens at the tables and in the room, a line each."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.ended = False  # somebody has asked to end
        self._waiting: queue.SimpleQueue[tuple[str, Happening] | None] = queue.SimpleQueue()  # None: just then

    def hear(self, table: str, happening: Happening) -> None:
        """On the tables' thread."""
        self._waiting.put((table, happening))

    def say(self, text: str) -> None:
        """Something about the room itself."""
        self._waiting.put(("", Happening("room", text)))

    def end(self) -> None:
        """Somebody asks to end; for a signal."""
        self.ended = True
        self._waiting.put(None)

    def print(self, timeout_s: float) -> None:
        """Print what comes within that time, until somebody asks to end."""
        end = time.monotonic() + timeout_s
        with contextlib.suppress(queue.Empty):
            while (left := end - time.monotonic()) > 0:
                said = self._waiting.get(timeout=left)
                if said is None:
                    break
                self._put(*said)

    def rest(self) -> None:
        """Print what was said and not printed yet."""
        with contextlib.suppress(queue.Empty, BrokenPipeError):
            while True:
                said = self._waiting.get_nowait()
                if said is not None:
                    self._put(*said)

    def _put(self, table: str, happening: Happening) -> None:
        if self.as_json:
            at = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "table": table or None}
            print(json.dumps({**at, **happening.as_data()}, ensure_ascii=False), flush=True)
        else:
            print(f"{table or '-':<12} {happening.as_line()}", flush=True)


def run_room(path: Path, *, as_json: bool) -> None:
    """Run the room of the file `path` until Ctrl-C. Raises UserError when it cannot be opened as it is written."""
    config = read(path)
    log = Log(as_json=as_json or config.log == "json")
    with overheard(partial(log.hear, "")):
        ended = _run(path, config, log, as_json=as_json)
    failed = "every table of this room has failed"
    if not ended and log.as_json:
        log.say(failed)
    log.rest()
    if ended:
        return
    if not log.as_json:
        click.echo(f"dealershoe: {failed}", err=True)
    sys.exit(1)


def _run(path: Path, config: Config, log: Log, *, as_json: bool) -> bool:
    """Until somebody ends it: True; or until no table is left: False."""
    people = Current(config.users) if config.console is not None else None
    server = _server(config, people, log)
    asked: list[int] = []  # a SIGHUP that was not heeded yet
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda number, _: asked.append(number))

    def heard(table: str, happening: Happening) -> None:
        log.hear(table, happening)
        if server is not None:
            server.hear(table, happening)

    try:
        house = House(
            heard,
            shelf=config.shelf,
            keys=keystore.enrolled(config.keys) if config.keys else None,
            dictionaries=dictionary.Shelf(dictionary.default_folder()),
        )
        room = Room(house, server, log.say)
        again = Again(path, config, room, house, server, people, log, as_json=as_json)
        room.open(config)
        try:
            if server is not None:
                server.start()
                log.say(f"the console is at {server.names}")
            with asked_to_end(log.end):
                while not log.ended and any(bridge.alive for bridge in room.bridges.values()):
                    log.print(TURN_S)
                    if asked:
                        asked.clear()
                        config = again(config)
                    room.turn()
            return log.ended
        except (KeyboardInterrupt, BrokenPipeError):
            return True
        finally:
            if server is not None:
                server.stop()  # before its tables: pages are told that it stops, and not that they have no table
            room.close()
    finally:
        if server is not None:
            server.stop()


def _server(config: Config, people: Current | None, log: Log) -> Server | None:
    place = config.console
    if place is None or people is None:
        return None
    return Server(
        place.listen, people, place.certificate, place.certificate_key,
        shelf=config.shelf, hosts=place.hosts, trouble=lambda: people.trouble, say=log.say,
        logins=logins.default_path(place.listen),
    )  # fmt: skip


class Again:
    """Reads the file anew, and makes the room that runs as it says. A file with a mistake changes nothing."""

    def __init__(
        self,
        path: Path,
        config: Config,
        room: Room,
        house: House,
        server: Server | None,
        people: Current | None,
        log: Log,
        *,
        as_json: bool,
    ) -> None:
        self._path = path
        self._begun = config
        self._room = room
        self._house = house
        self._server = server
        self._people = people
        self._log = log
        self._as_json = as_json

    def __call__(self, before: Config) -> Config:
        """The configuration now."""
        say = self._log.say
        try:
            config = read(self._path)
            if self._people is not None and config.users != before.users:
                self._people.follow(config.users)
            if config.shelf != before.shelf:
                self._follow_shelf(config, before)
        except UserError as error:
            say(f"the room stays as it is: {error}")
            return before
        self._log.as_json = self._as_json or config.log == "json"
        wait = [name for name in AT_START if getattr(config, name) != getattr(self._begun, name)]
        if wait:
            names = " and ".join(f"`{name}`" for name in wait)
            say(f"{names} in {self._path.name}: what has changed there counts when the room is started again")
        self._room.want(config)
        say(f"{self._path.name} was read again: {len(config.tables)} tables")
        return config

    def _follow_shelf(self, config: Config, before: Config) -> None:
        try:
            self._house.follow(config.shelf)
        except UserError:
            if self._people is not None:
                self._people.follow(before.users)
            raise
        if self._server is not None:
            self._server.follow(config.shelf)
        for bridge in self._room.bridges.values():
            bridge.look_for_rules()
