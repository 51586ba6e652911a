"""`dealershoe run --config FILE`: a room's tables and their console until Ctrl-C; SIGHUP reads the file again."""

from __future__ import annotations

import json
import queue
import signal
import sys
import time
from pathlib import Path
from typing import Any

import click

from dealershoe.bridge.happening import Happening
from dealershoe.bridge.start import House
from dealershoe.config.read import Config, read
from dealershoe.config.room import Room
from dealershoe.console.people import Current
from dealershoe.console.serve import Server
from dealershoe.errors import UserError
from dealershoe.link import dictionary, keystore

TURN_S = 0.25  # between two looks at what is to be opened and closed


class Log:
    """What happens at the tables and in the room, a line each."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._waiting: queue.SimpleQueue[tuple[str, Happening]] = queue.SimpleQueue()

    def hear(self, table: str, happening: Happening) -> None:
        """On the tables' thread."""
        self._waiting.put((table, happening))

    def say(self, text: str) -> None:
        """Something about the room itself."""
        self._waiting.put(("", Happening("room", text)))

    def print(self, timeout_s: float) -> None:
        """Print what comes within that time."""
        end = time.monotonic() + timeout_s
        while (left := end - time.monotonic()) > 0:
            try:
                table, happening = self._waiting.get(timeout=left)
            except queue.Empty:
                break
            if self.as_json:
                at = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "table": table or None}
                print(json.dumps({**at, **happening.as_data()}, ensure_ascii=False), flush=True)
            else:
                print(f"{table or '-':<12} {happening.as_line()}", flush=True)


def run_room(path: Path, *, as_json: bool) -> None:
    """Run the room of the file `path` until Ctrl-C. Raises UserError when it cannot be opened as it is written."""
    config = read(path)
    log = Log(as_json=as_json or config.log == "json")
    server = _server(config)
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
        room.open(config)
        try:
            if server is not None:
                server.start()
                log.say(f"the console is at {server.url}")
            while any(bridge.alive for bridge in room.bridges.values()):
                log.print(TURN_S)
                if asked:
                    asked.clear()
                    config = _again(path, config, room, log)
                room.turn()
        except (KeyboardInterrupt, BrokenPipeError):
            return
        finally:
            room.close()
    finally:
        if server is not None:
            server.stop()
    log.print(0.01)
    click.echo("dealershoe: every table of this room has failed", err=True)
    sys.exit(1)


def _server(config: Config) -> Server | None:
    place = config.console
    if place is None:
        return None
    people = Current(config.users)
    return Server(
        place.listen, people, place.certificate, place.certificate_key,
        shelf=config.shelf, hosts=place.hosts, trouble=lambda: people.trouble,
    )  # fmt: skip


def _again(path: Path, before: Config, room: Room, log: Log) -> Config:
    """The file anew. What it cannot change while the room runs is said; a file with a mistake changes nothing."""
    try:
        config = read(path)
    except UserError as error:
        log.say(f"the room stays as it is: {error}")
        return before
    fixed: tuple[tuple[str, Any, Any], ...] = tuple(
        (name, getattr(config, name), getattr(before, name)) for name in ("console", "users", "shelf", "keys", "log")
    )
    for name, now, then in fixed:
        if now != then:
            log.say(f"`{name}` has changed: that counts when the room is started again")
    room.want(config)
    log.say(f"{path.name} was read again: {len(config.tables)} tables")
    return config
