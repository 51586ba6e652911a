"""Puts a bridge together: rules, journal, the hand in play, link, port. For the commands and the tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from shoelink import schema
from shoelink.link import Link

from dealershoe import __version__
from dealershoe.bridge.acquaintance import Dictionaries
from dealershoe.bridge.bridge import Bridge, Wake, moment
from dealershoe.bridge.desk import Desk
from dealershoe.bridge.happening import Happening
from dealershoe.bridge.identity import PortLost, find
from dealershoe.bridge.table_link import TableLink, message_of
from dealershoe.bridge.writer import Writer
from dealershoe.errors import UserError
from dealershoe.link.codec import Decoder
from dealershoe.record.journal import Journal
from dealershoe.trial.scenarios import refuse_failing
from dealershoe.rules.shelf import Shelf, default_shelf
from dealershoe.rules.shelf_pins import pins, read_layers
from dealershoe.rules.shelf_watch import Watch
from dealershoe.rules.stack import DEFAULT, Stack, load_stack
from dealershoe.session import TableSession

IDENT = schema.Ident(b"bridge\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))


def desk_from(journal: Journal, stack: Stack, shelf: Shelf, *, open_table: bool = False) -> Desk:
    """A desk for `stack`, with the hand in play as `journal` has it, under the rules that it began with."""

    def kept(line: str) -> Stack:
        layers = read_layers(line)
        return stack if layers == pins(stack.files) else shelf.pinned(layers)

    desk = Desk(TableSession(stack), open_table=open_table, next_fact=journal.next_fact())
    in_play = journal.hand_in_play()
    if in_play is not None:
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
) -> Bridge:
    """A bridge on `port` (a path or "auto"), not started yet; `heard` gets every happening, on the bridge's thread.

    It begins with the stack `rules`, or, where that is "", with what is in force on the `shelf` (or with the default,
    where nothing is), and takes up what is put in force there later. `keys`: of the shoes that are enrolled; if there
    are any, no other shoe is taken. `dictionaries`: where schemas of other releases are kept. Raises UserError for a
    stack, a shelf, a journal or a port that cannot be used, and for a pack that fails a scenario of its own.
    """
    house = Shelf(shelf or default_shelf())
    watch = Watch(house)
    stack = (None if rules else house.active()) or load_stack(rules or DEFAULT, house)
    for pack in stack.packs:
        refuse_failing(pack, house)
    kept = Journal(journal)
    try:
        desk = desk_from(kept, stack, house, open_table=open_table)
        address = find(port)
    except BaseException:
        kept.close()
        raise
    wake = Wake()
    writer = Writer(kept, wake.up)
    link = Link(schema.HOST, IDENT, os.urandom, decoder=Decoder(), keys=keys)
    table = TableLink(link, desk, writer.stored, dictionaries)
    try:
        faults = journal.with_name(journal.name + ".faults")
        return Bridge(address, table, writer, wake, heard, watch.look, faults)
    except BaseException as error:
        writer.close()
        wake.close()
        if isinstance(error, PortLost):
            raise UserError(*str(error).split("; ", 2)) from error
        raise
