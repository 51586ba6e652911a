"""The schema of a shoe that this host does not know: asked for, checked, kept by its hash, used to read what it sends.

`Dictionary` reads bodies by a schema's text. `Inquiry` gets the text over the link. `Shelf` keeps texts in a folder. A
text is believed when its hash is the one that the shoe names and when it can be true beside this host's own schema.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from shoelink import schema
from shoelink.timing import elapsed

from dealershoe.errors import UserError

LONGEST = 8192  # bytes of a text: eight times what it is today
AGAIN_MS = 100  # until a piece that has not come is asked for again
TRIES = 100  # without a single piece, 10 s in session: the shoe does not answer such questions
HIDDEN = ("token", "secret")  # fields that are not shown, of whatever kind
_HEAD = re.compile(r"dealershoe link (\d{1,3})\.(\d{1,3})")
_FIELD = "[a-z][a-z0-9_]{0,30}"
_LINE = re.compile(
    rf"([0-9a-f]{{2}}) ([A-Z][A-Z0-9_]{{0,30}}) ([123]) <((?:[BHQ]|\d{{1,2}}s){{1,40}}) ({_FIELD}(?: {_FIELD})*)"
)


class BadDictionaryError(UserError):
    """A schema's text that is damaged or cannot be true."""

    def __init__(self, seen: str) -> None:
        super().__init__(
            f"the shoe's dictionary is refused: {seen}",
            "it is damaged, or the shoe is not what it says",
            "update this host; the shoe's events are kept as they came",
        )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind as a text declares it."""

    name: str
    senders: int
    layout: str  # of `struct`
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A schema that was read from its text. `hash`: the 4 bytes that HELLO names it by."""

    hash: bytes
    text: bytes
    kinds: Mapping[int, Kind]

    def read(self, kind: int, body: bytes) -> tuple[str, dict[str, int | bytes]] | None:
        """Name and fields of a body, None: no such kind. Raises schema.ShortBodyError."""
        declared = self.kinds.get(kind) or self.kinds.get(kind & ~schema.FROM_HOST)
        if declared is None:
            return None
        least = struct.calcsize(declared.layout)
        if len(body) < least:
            raise schema.ShortBodyError(f"{declared.name}: {len(body)} bytes of body, at least {least} expected")
        return declared.name, dict(zip(declared.fields, struct.unpack_from(declared.layout, body), strict=True))


def parse(text: bytes, hash: bytes) -> Dictionary:
    """The dictionary that a text is. Raises BadDictionaryError when it has another hash or is not believable."""
    if len(text) > LONGEST:
        raise BadDictionaryError(f"it has {len(text)} bytes, more than {LONGEST}")
    if hashlib.sha256(text).digest()[:4] != hash:
        raise BadDictionaryError(f"its hash is not {hash.hex()}")
    try:
        head, *lines, end = text.decode("ascii").split("\n")
    except (UnicodeDecodeError, ValueError) as error:
        raise BadDictionaryError("it is not lines of text") from error
    version = _HEAD.fullmatch(head)
    if version is None or end:
        raise BadDictionaryError("it does not begin and end as one")
    if int(version[1]) != schema.MAJOR:
        raise BadDictionaryError(f"it is of link {version[1]}.{version[2]}")
    kinds: dict[int, Kind] = {}
    for line in lines:
        kind, declared = _kind(line)
        if kind in kinds:
            raise BadDictionaryError(f"it has kind {kind:02x} twice")
        kinds[kind] = declared
    missing = [name for kind, name in schema.NAMES.items() if kind not in kinds and kind & schema.CRITICAL]
    if missing:
        raise BadDictionaryError(f"it does not have {', '.join(missing)}")
    return Dictionary(hash, text, MappingProxyType(kinds))


def _kind(line: str) -> tuple[int, Kind]:
    """A line of the text. Raises BadDictionaryError."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise BadDictionaryError(f"this is no kind: {line[:60]!r}")
    kind, name, senders = int(parts[1], 16), parts[2], int(parts[3])
    layout, fields = "<" + parts[4], tuple(parts[5].split(" "))
    codes = re.findall(r"\d*[a-zA-Z]", parts[4])
    if len(codes) != len(fields) or len(set(fields)) != len(fields):
        raise BadDictionaryError(f"{name} has {len(codes)} values and the fields {', '.join(fields)}")
    event = kind & schema.RELIABLE and senders == schema.SHOE
    size = struct.calcsize(layout)
    if size > (schema.EVENT if event else schema.BODY):
        raise BadDictionaryError(f"{name} has {size} bytes, more than there is room for")
    if not kind & 0x1F or bool(kind & schema.FROM_HOST) != (senders == schema.HOST):
        raise BadDictionaryError(f"{name} has the number {kind:02x}, which its sender cannot have")
    if kind in schema.NAMES:
        own = schema.LAYOUTS[kind].removeprefix("<"), schema.FIELDS[kind]
        same = name == schema.NAMES[kind] and senders == schema.SENDERS[kind]
        if not same or not parts[4].startswith(own[0]) or not f"{parts[5]} ".startswith(f"{own[1]} "):
            raise BadDictionaryError(f"{name} ({kind:02x}) is not what it is here with something added at its end")
    elif name in schema.NAMES.values():
        raise BadDictionaryError(f"{name} has the number {kind:02x}, here it has another")
    return kind, Kind(name, senders, layout, fields)


def in_words(name: str, values: Mapping[str, int | bytes]) -> str:
    """What `Dictionary.read` has read, on one line; what would name a card, or is a secret, is left out."""
    said = (f"{field}={_value(field, value)}" for field, value in values.items())
    return " ".join((name, *said))


def _value(field: str, value: int | bytes) -> str:
    if field in HIDDEN:
        return "…"
    return value.hex() if isinstance(value, bytes) else str(value)


class Inquiry:
    """Gets one text over the link in pieces. The caller sends what `turn` says and gives every WORDS to `heard`."""

    def __init__(self, hash: bytes) -> None:
        self.hash = hash
        self.dictionary: Dictionary | None = None
        self.refused: BadDictionaryError | None = None
        self._text = b""
        self._tries = 0
        self._asked_at: int | None = None

    @property
    def done(self) -> bool:
        """Whether there is nothing more to ask."""
        return self.dictionary is not None or self.refused is not None

    def turn(self, now: int) -> schema.Lookup | None:
        """What to send now, if anything. Call it while the session is up."""
        if self.done or (self._asked_at is not None and elapsed(now, self._asked_at) < AGAIN_MS):
            return None
        self._tries += 1
        if self._tries > TRIES:
            self.refused = BadDictionaryError("the shoe does not tell it")
            return None
        self._asked_at = now
        return schema.Lookup(len(self._text))

    def heard(self, words: schema.Words) -> None:
        """A piece has come. One that was not asked for, or was here before, changes nothing."""
        if self.done or words.offset != len(self._text):
            return
        if not len(self._text) < words.total <= LONGEST:
            self.refused = BadDictionaryError(f"it would have {words.total} bytes")
            return
        self._text += words.text[: words.total - words.offset]
        self._tries = 0
        self._asked_at = None
        if len(self._text) == words.total:
            try:
                self.dictionary = parse(self._text, self.hash)
            except BadDictionaryError as error:
                self.refused = error


class Shelf:
    """A folder of texts, each under its hash. What is damaged there is as if it were not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, hash: bytes) -> Dictionary | None:
        """The dictionary with this hash, None: not here, or not what it should be."""
        try:
            with self._path(hash).open("rb") as file:
                return parse(file.read(LONGEST + 1), hash)
        except (OSError, BadDictionaryError):
            return None

    def keep(self, dictionary: Dictionary) -> None:
        """Keep a dictionary. Raises OSError; the folder is then as it was."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(dictionary.hash)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_bytes(dictionary.text)
        new.replace(path)

    def _path(self, hash: bytes) -> Path:
        return self._folder / f"{hash.hex()}.txt"


OWN = parse(schema.canonical().encode(), schema.SCHEMA)


def default_folder() -> Path:
    """Where texts are kept: $XDG_CACHE_HOME/dealershoe/dictionaries, or ~/.cache/…"""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dealershoe" / "dictionaries"
