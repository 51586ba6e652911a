"""A room as it runs: its tables, opened and closed as the file says, without dropping a hand. For `run --config`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from dealershoe.bridge.bridge import Bridge
from dealershoe.bridge.start import House, Place
from dealershoe.config.read import Config
from dealershoe.defects import shown
from dealershoe.desk.happening import Happening
from dealershoe.errors import UserError


class Shown(Protocol):
    """Where tables are shown: the console."""

    def add(self, name: str, bridge: Bridge) -> None: ...

    def remove(self, name: str) -> None: ...

    def hear(self, name: str, happening: Happening) -> None: ...


class Room:
    """Its tables by name. `say` gets one sentence a change. To be called from one thread."""

    def __init__(self, house: House, shown: Shown | None, say: Callable[[str], None]) -> None:
        self._house = house
        self._shown = shown
        self._say = say
        self._places: dict[str, Place] = {}
        self._wanted: dict[str, Place] = {}
        self._failed: set[str] = set()  # tables of which it was said that they have failed
        self._waits: set[str] = set()  # tables of which it was said that their hand is played out first
        self.bridges: dict[str, Bridge] = {}

    def open(self, config: Config) -> None:
        """Open every table. Raises UserError for the first that cannot be; then none is open."""
        try:
            for place in config.tables:
                self._open(place)
        except BaseException:
            self.close()
            raise
        self._wanted = dict(self._places)

    def want(self, config: Config) -> None:
        """From now on the room is to be as `config` has it; `turn` makes it so."""
        self._wanted = {place.name: place for place in config.tables}
        self._waits.clear()
        for name, bridge in self.bridges.items():
            if not bridge.alive and self._wanted.get(name) == self._places[name]:
                self._places[name] = Place("", "", bridge.journal)  # it has failed: opened again
        self.turn()

    def turn(self) -> None:
        """Close what is not wanted any more when its hand is over, open what is not there, say what has failed."""
        for name, bridge in self.bridges.items():
            if not bridge.alive and name not in self._failed:
                self._failed.add(name)
                said = shown(bridge.error) if bridge.error else "its thread has ended"
                why = f"the table has failed: {said}; it is opened again when the room's file is read again"
                self._say(f"table {name}: {why}")
                if self._shown is not None:
                    self._shown.hear(name, Happening("link", why))
        for name, place in list(self._places.items()):
            if self._wanted.get(name) != place and self._may_close(name):
                self._close(name)
                gone = name not in self._wanted
                self._say(f"table {name} is closed" if gone else f"table {name} is closed, and opened as it is now")
        for name, place in list(self._wanted.items()):
            if name not in self._places and not self._taken(place):
                try:
                    self._open(place)
                except UserError as error:
                    del self._wanted[name]
                    self._say(str(error))
                else:
                    self._say(f"table {name} is open")

    def close(self) -> None:
        """Close every table, hand or not."""
        for name in list(self.bridges):
            self._close(name)

    def _taken(self, place: Place) -> bool:
        """Whether a table that is still to be closed has the port or the journal."""
        return any(place.port == other.port or place.journal == other.journal for other in self._places.values())

    def _may_close(self, name: str) -> bool:
        bridge = self.bridges[name]
        if not bridge.alive:
            return True
        now = bridge.snapshot()
        if now.hand_over or now.link == "align" or now.due == "nothing":
            return True
        if name not in self._waits:
            self._waits.add(name)
            what = "changed" if name in self._wanted else "closed"
            self._say(f"table {name} is {what} when the hand in play is over")
        return False

    def _open(self, place: Place) -> None:
        bridge = self._house.open(place)
        self._places[place.name] = place
        self.bridges[place.name] = bridge
        if self._shown is not None:
            self._shown.add(place.name, bridge)
        bridge.start()

    def _close(self, name: str) -> None:
        if self._shown is not None:
            self._shown.remove(name)
        del self._places[name]
        self._failed.discard(name)
        self.bridges.pop(name).stop()
