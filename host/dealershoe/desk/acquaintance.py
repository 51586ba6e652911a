"""What a bridge learns of the shoe on its line beside its reports: its clock, and its schema if that is another one."""

from __future__ import annotations

from typing import Any, Protocol

from shoelink import schema

from dealershoe.link.clock import Clock, When
from dealershoe.link.dictionary import OWN, Dictionary, Inquiry, in_words


class Dictionaries(Protocol):
    """Where dictionaries are kept: `dealershoe.link.dictionary.Shelf`, or nothing."""

    def find(self, hash: bytes) -> Dictionary | None: ...

    def keep(self, dictionary: Dictionary) -> None: ...


class Acquaintance:
    """One shoe at a time, from its greeting on; a shoe that has lost its memory has another clock."""

    def __init__(self, dictionaries: Dictionaries | None = None) -> None:
        self.clock = Clock()
        self._shelf = dictionaries
        self._boot = b""
        self._dictionary = OWN
        self._inquiry: Inquiry | None = None

    def greeted(self, hello: schema.Hello) -> None:
        """A shoe says who it is."""
        if hello.boot != self._boot:
            self._boot = hello.boot
            self.clock = Clock()
        self._inquiry = None
        if hello.schema != self._dictionary.hash:
            found = OWN if hello.schema == OWN.hash else self._shelf.find(hello.schema) if self._shelf else None
            self._dictionary = found or OWN
            self._inquiry = None if found else Inquiry(hello.schema)

    def heard(self, message: Any, mono_us: int) -> str:
        """An unnumbered message has come. Returns what there is to say about it, "" for nothing."""
        match message:
            case schema.Pong():
                stamps = [schema.value(four) for four in message]
                self.clock.pong(stamps[0], stamps[1], stamps[2], mono_us)
            case schema.Words() if self._inquiry is not None:
                self._inquiry.heard(message)
                return self._learned(self._inquiry)
        return ""

    @property
    def asks(self) -> bool:
        """Whether a dictionary is still asked for."""
        return self._inquiry is not None

    def question(self, now: int) -> schema.Lookup | None:
        """What to ask the shoe now, while it is in session; `now` in the link's milliseconds."""
        return self._inquiry.turn(now) if self._inquiry is not None else None

    def when(self, message: Any, kind: int, body: bytes, mono_us: int) -> When | None:
        """When a report was made that has come now; None: not known. `message`: what it says, if that is known here."""
        if message is not None:
            t_us = getattr(message, "t_us", None)
        else:
            read = self._read(kind, body)
            t_us = read[1].get("t_us") if read else None
        return self.clock.when(schema.value(t_us), mono_us) if isinstance(t_us, bytes) else None

    def describe(self, kind: int, body: bytes) -> str:
        """A report of a kind that this bridge does not know, in words."""
        read = self._read(kind, body)
        if read is None:
            return f"the shoe reports something of kind {kind:02x}, which is kept and not understood"
        return f"the shoe reports {in_words(*read)}, which is kept and not acted on"

    def kind_words(self, kind: int) -> str:
        """A kind by its number, and its name where the shoe's dictionary is here: "7f, ALARM"."""
        declared = self._dictionary.kinds.get(kind)
        return f"{kind:02x}, {declared.name}" if declared else f"{kind:02x}"

    def _read(self, kind: int, body: bytes) -> tuple[str, dict[str, int | bytes]] | None:
        try:
            return self._dictionary.read(kind, body)
        except schema.ShortBodyError:
            return None

    def _learned(self, inquiry: Inquiry) -> str:
        if not inquiry.done:
            return ""
        self._inquiry = None
        if inquiry.dictionary is None:
            return str(inquiry.refused)
        self._dictionary = inquiry.dictionary
        if self._shelf is not None:
            try:
                self._shelf.keep(inquiry.dictionary)
            except OSError as error:
                return f"the shoe's dictionary cannot be kept ({error.strerror}): it is asked for again next time"
        return "the shoe is of another release; its dictionary was asked for and is used"
