"""Puts a bridge together: rules, journal, the hand in play, link, port. For the commands and the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from shoelink import schema
from shoelink.link import Link

from dealershoe import __version__
from dealershoe.bridge.bridge import Bridge, Wake
from dealershoe.bridge.desk import Desk
from dealershoe.bridge.happening import Happening
from dealershoe.bridge.identity import PortLost, find
from dealershoe.bridge.journal import Journal
from dealershoe.bridge.table_link import TableLink, message_of
from dealershoe.bridge.writer import Writer
from dealershoe.errors import UserError
from dealershoe.link.codec import Decoder
from dealershoe.rules.stack import load_stack
from dealershoe.session import TableSession

IDENT = schema.Ident(b"bridge\0\0", __version__.encode().ljust(12, b"\0"), bytes(16))


def desk_from(journal: Journal, rules: str, *, open_table: bool = False) -> Desk:
    """A desk for the stack `rules`, with the hand in play as `journal` has it. Raises UserError for a bad stack."""
    desk = Desk(TableSession(load_stack(rules)), rules, open_table=open_table, next_fact=journal.next_fact())
    in_play = journal.hand_in_play()
    if in_play is not None:
        desk.resume(*in_play, message_of)
    return desk


def open_bridge(
    port: str, rules: str, journal: Path, heard: Callable[[Happening], None], *, open_table: bool = False
) -> Bridge:
    """A bridge on `port` (a path or "auto"), not started yet; `heard` gets every happening, on the bridge's thread.

    Raises UserError for a stack, a journal or a port that cannot be used.
    """
    kept = Journal(journal)
    try:
        desk = desk_from(kept, rules, open_table=open_table)
        address = find(port)
    except BaseException:
        kept.close()
        raise
    wake = Wake()
    writer = Writer(kept, wake.up)
    table = TableLink(Link(schema.HOST, IDENT, os.urandom, decoder=Decoder()), desk, writer.stored)
    try:
        return Bridge(address, table, writer, wake, heard)
    except BaseException as error:
        writer.close()
        wake.close()
        if isinstance(error, PortLost):
            raise UserError(*str(error).split("; ", 2)) from error
        raise
