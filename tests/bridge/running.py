"""A bridge without rules on a port, with everything that it says: for tests of the port and of its troubles."""

from __future__ import annotations

from pathlib import Path

from bridge.ptyshoe import wait_for
from bridge.rig import HOST_IDENT, NO_RULES, entropy
from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.room import Room
from dealershoe.bridge.writer import Writer
from dealershoe.desk.desk import Desk
from dealershoe.desk.happening import Happening
from dealershoe.desk.table_link import TableLink
from dealershoe.link.codec import Decoder
from dealershoe.port.identity import Address, Ports
from dealershoe.record.journal import Journal
from dealershoe.session import TableSession
from shoelink import schema
from shoelink.link import Link


class Running:
    """A bridge without rules at an address, with what it says."""

    def __init__(
        self,
        address: Address,
        folder: Path,
        ports: Ports | None = None,
        room: Room | None = None,
        keys: dict[bytes, bytes] | None = None,
    ) -> None:
        self.said: list[Happening] = []
        self.faults = folder / "faults"
        room = room or Room()
        self.journal = journal = Journal(folder / "journal")
        writer = Writer(journal, room.scribes)
        desk = Desk(TableSession(NO_RULES), next_fact=journal.next_fact())
        link = Link(schema.HOST, HOST_IDENT, entropy, decoder=Decoder(), keys=keys)
        self.table = TableLink(link, desk, writer.stored)
        self.bridge = Bridge(address, self.table, writer, room, self.said.append, faults=self.faults, ports=ports)
        self.bridge.start()

    @property
    def why(self) -> str:
        return self.bridge.snapshot().link_why

    def up(self, sessions: int) -> None:
        wait_for(lambda: self.bridge.sessions >= sessions and self.table.up, f"session {sessions}")
