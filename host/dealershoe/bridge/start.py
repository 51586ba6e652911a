"""Puts bridges together: rules, journal, the hand in play, link, port. For the commands and the tests.

`open_bridge` is for one table, `open_tables` for all tables of one process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from shoelink import schema
from shoelink.link import Link

from dealershoe import __version__
from dealershoe.bridge.bridge import Bridge, moment
from dealershoe.bridge.room import Room
from dealershoe.bridge.writer import Writer
from dealershoe.desk.acquaintance import Dictionaries
from dealershoe.desk.desk import Desk
from dealershoe.desk.facts import NEW_TABLE, read_before
from dealershoe.desk.happening import Happening
from dealershoe.desk.sealed import HANDS
from dealershoe.desk.table_link import TableLink, message_of
from dealershoe.entries import BRIDGE, RULES, Fact
from dealershoe.errors import UserError
from dealershoe.link.codec import Decoder
from dealershoe.port.identity import Address, Glances, PortLost, Ports, check, find
from dealershoe.record.head import head_path
from dealershoe.record.journal import Journal
from dealershoe.record.keys import bridge_key
from dealershoe.record.upgrade import run_row
from dealershoe.rules.shelf import Shelf, default_shelf
from dealershoe.rules.shelf_pins import pins, read_layers
from dealershoe.rules.shelf_watch import Watch
from dealershoe.rules.stack import DEFAULT, Stack, load_stack
from dealershoe.session import TableSession
from dealershoe.trial.scenarios import refuse_failing

IDENT = schema.Ident(b"bridge\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))


@dataclass(frozen=True, slots=True)
class Place:
    """A table to be opened: its `name` in the room, the `port` of its shoe, the file that keeps its facts.

    `port`: a path, "usb:VID:PID[:SERIAL]" or "auto". `rules`: the stack to begin with, "" for what is in force on the
    shelf. `open_table`: cards may be named. `signs`: the file of the key that signs the journal, None: nobody does.
    """

    name: str
    port: str
    journal: Path
    rules: str = ""
    open_table: bool = False
    signs: Path | None = None


class Rulebooks:
    """The rules of a process's tables: each stack is read and tried once, and so is what is put in force later."""

    def __init__(self, shelf: Path | None) -> None:
        """Raises UserError for a shelf that is not sound."""
        self.shelf = Shelf(shelf or default_shelf())
        self._watch = Watch(self.shelf)
        self._stacks: dict[str, Stack] = {}
        self._news: Stack | UserError | None = None  # what was put in force last
        self._changes = 0

    def stack(self, rules: str) -> Stack:
        """The stack `rules`; where that is "", what is in force, or the default. Raises UserError, also for a pack
        that fails a scenario of its own."""
        if rules not in self._stacks:
            stack = (None if rules else self.shelf.active()) or load_stack(rules or DEFAULT, self.shelf)
            for pack in stack.packs:
                refuse_failing(pack, self.shelf)
            self._stacks[rules] = stack
        return self._stacks[rules]

    def follow(self, shelf: Path) -> None:
        """Another shelf from now on: what is in force there judges from the next hand on; where nothing is, each table
        keeps its rules. Raises UserError, nothing changed, for a shelf that is not sound, or rules that cannot be used.
        """
        other = Shelf(shelf)
        watch, active = Watch(other), other.active()
        for pack in active.packs if active is not None else ():
            refuse_failing(pack, other)
        self.shelf, self._watch, self._stacks = other, watch, {}
        if active is not None:
            self._news = active
            self._changes += 1

    def follower(self) -> Callable[[], Stack | None]:
        """What one table asks for other rules, on the room's thread: the newest, once. As `Watch.look`."""
        heard = self._changes

        def look() -> Stack | None:
            nonlocal heard
            try:
                news: Stack | UserError | None = self._watch.look()
            except UserError as error:
                news = error
            if news is not None:
                self._news = news
                self._changes += 1
            if heard == self._changes:
                return None
            heard = self._changes
            if isinstance(self._news, UserError):
                raise self._news
            return self._news

        return look


def desk_from(journal: Journal, stack: Stack, shelf: Shelf, *, open_table: bool = False) -> Desk:
    """A desk for `stack`, with the hand in play as `journal` has it, under the rules that it began with."""

    def kept(line: str) -> Stack:
        layers = read_layers(line)
        return stack if layers == pins(stack.files) else shelf.pinned(layers)

    last = journal.last_hand()
    before = read_before(last.before) if last is not None else NEW_TABLE
    session = TableSession(stack, before.table)
    desk = Desk(session, open_table=open_table, next_fact=journal.next_fact(), before=before)
    first = journal.next_fact() if last is None else last.fact
    desk.recall(message_of(raw) for raw in reversed(journal.reports(schema.COMMIT, first, HANDS)))
    if last is not None:
        rules = Fact(0, BRIDGE, RULES + last.layers.encode(), 0, 0)
        desk.resume(last.hand, [rules, *journal.facts(last.fact)], message_of, kept)
    elif (in_play := journal.hand_in_play()) is not None:
        desk.resume(*in_play, message_of, kept)
    desk.judge_by(stack, moment())
    return desk


def open_bridge(
    port: str,
    rules: str,
    journal: Path,
    heard: Callable[[Happening], None],
    *,
    open_table: bool = False,
    shelf: Path | None = None,
    keys: Mapping[bytes, bytes] | None = None,
    dictionaries: Dictionaries | None = None,
    signs: Path | None = None,
) -> Bridge:
    """A bridge on `port` (a path or "auto"), not started yet; `heard` gets every happening, on its room's thread.

    It begins with the stack `rules`, or, where that is "", with what is in force on the `shelf` (or with the default,
    where nothing is), and takes up what is put in force there later. `keys`: of the shoes that are enrolled; if there
    are any, no other shoe is taken. `dictionaries`: where schemas of other releases are kept. `signs`: the file of the
    key that signs the journal, made where there is none. Raises UserError for a stack, a shelf, a journal, a key or a
    port that cannot be used, and for a pack that fails a scenario of its own.
    """
    place = Place("", port, journal, rules, open_table, signs)
    return _open(place, Room(), Rulebooks(shelf), heard, keys, dictionaries, None)


class House:
    """What the tables of one process share: the thread that turns them, rules, looks for shoes, keys."""

    def __init__(
        self,
        heard: Callable[[str, Happening], None],
        *,
        shelf: Path | None = None,
        keys: Mapping[bytes, bytes] | None = None,
        dictionaries: Dictionaries | None = None,
    ) -> None:
        """As for `open_tables`. Raises UserError for a shelf that is not sound."""
        self._heard = heard
        self._keys = keys
        self._dictionaries = dictionaries
        self._room, self._books, self._ports = Room(), Rulebooks(shelf), Glances()

    def follow(self, shelf: Path) -> None:
        """Another shelf for all tables, as `Rulebooks.follow`. Raises UserError, nothing changed."""
        self._books.follow(shelf)

    def open(self, place: Place) -> Bridge:
        """A bridge for `place`, not started yet. Raises UserError, nothing left open, when it cannot be."""
        heard = partial(self._heard, place.name)
        try:
            return _open(place, self._room, self._books, heard, self._keys, self._dictionaries, self._ports)
        except UserError as error:
            raise UserError(f"table {place.name}: {error.seen}", error.cause, error.do) from error


def open_tables(
    places: Sequence[Place],
    heard: Callable[[str, Happening], None],
    *,
    shelf: Path | None = None,
    keys: Mapping[bytes, bytes] | None = None,
    dictionaries: Dictionaries | None = None,
) -> dict[str, Bridge]:
    """A bridge for each place, by name, not started yet; one thread will turn them all, and call `heard` with the name.

    Otherwise as `open_bridge`, except for a shoe that is not there yet: its table waits for it, unsupervised, and says
    so. Raises UserError, nothing left open, for the first place that cannot be opened, and for two of one name or port.
    """
    for what in ("name", "port"):
        taken = [getattr(place, what) for place in places]
        double = next((each for each in taken if taken.count(each) > 1), None)
        if double is not None:
            raise UserError(f"two tables have the {what} {double}", "one was copied from the other", "change one")
    house = House(heard, shelf=shelf, keys=keys, dictionaries=dictionaries)
    bridges: dict[str, Bridge] = {}
    try:
        for place in places:
            bridges[place.name] = house.open(place)
    except BaseException:
        for bridge in bridges.values():
            bridge.stop()
        raise
    return bridges


def _open(
    place: Place,
    room: Room,
    books: Rulebooks,
    heard: Callable[[Happening], None],
    keys: Mapping[bytes, bytes] | None,
    dictionaries: Dictionaries | None,
    ports: Ports | None,
) -> Bridge:
    """A bridge in `room`. `ports`: where its shoe will be looked for, None: it must be there now."""
    stack = books.stack(place.rules)
    check(place.port)
    new = not place.journal.exists()
    journal = Journal(place.journal, bridge_key(place.signs) if place.signs else None)
    writer = Writer(journal, room.scribes)
    try:
        desk = desk_from(journal, stack, books.shelf, open_table=place.open_table)
        desk.entries.insert(0, run_row("begin", f"port {place.port}", *moment()))
        address = Address(place.port, sought=True) if ports else find(place.port)
        link = Link(schema.HOST, IDENT, os.urandom, decoder=Decoder(), keys=keys)
        table = TableLink(link, desk, writer.stored, dictionaries)
        faults = place.journal.with_name(place.journal.name + ".faults")
        return Bridge(address, table, writer, room, heard, books.follower(), faults, ports, patient=bool(ports))
    except BaseException as error:
        writer.close()
        if new:  # there was no table
            for made in (place.journal, head_path(place.journal)):
                made.unlink(missing_ok=True)
        if isinstance(error, PortLost):
            raise UserError(*str(error).split("; ", 2)) from error
        raise
