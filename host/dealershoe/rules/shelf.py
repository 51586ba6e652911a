"""The house's shelf: the rule packs that it has taken, whose signatures it trusts, which stack is in force.

A folder with `history.jsonl`, the shelf's only truth, and `packs/`, one file a digest, with signatures. A change writes
the files first and the history last: until then nothing knows of them. What is read is held against digest and
signature every time.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dealershoe.errors import UserError
from dealershoe.rules import shelf_history
from dealershoe.rules.pack import BIGGEST, Pack, read_pack
from dealershoe.rules.shelf_disk import Disk, alone, guarded, make_folders, read_file, replace_file
from dealershoe.rules.shelf_history import Change, State
from dealershoe.rules.shelf_names import Version, checked_id
from dealershoe.rules.shelf_pins import Layers, Pin, names, pin_of, pins
from dealershoe.rules.shelf_trust import signers
from dealershoe.rules.signing import BIGGEST as BIGGEST_SIGNATURE
from dealershoe.rules.signing import key_id, read_signatures
from dealershoe.rules.stack import SHIPPED, Chain, Library, Stack, chains, combined, extended, shipped, stacked

HISTORY = "history.jsonl"
PACKS = "packs"
VARIABLE = "DEALERSHOE_SHELF"
NAMED = 16  # digits of the digest in a file's name; the history has all 64
Trial = Callable[[Pack, Library], None]  # plays a pack's scenarios; raises UserError when one fails


class Author(NamedTuple):
    """Who changes the shelf, and when (UTC, ISO 8601)."""

    who: str
    at: str


def default_shelf() -> Path:
    """DEALERSHOE_SHELF, or the user's data folder by the XDG base directory specification."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "dealershoe" / "shelf"


class Shelf:
    """A shelf in `folder`, which need not exist yet. A change is whole or has not happened, also through a power cut.

    Every method raises UserError, in one sentence, for what the shelf does not take, and for a shelf that is not sound.
    """

    def __init__(self, folder: Path, disk: Disk | None = None) -> None:
        self.folder = folder
        self._disk = disk or Disk()
        self._history = folder / HISTORY

    # ---- what is there

    def state(self) -> State:
        """What the history comes to; the empty state where there is no shelf yet."""
        return shelf_history.read(self._lines())

    def stamp(self) -> tuple[int, int, int] | None:
        """Changes whenever the history does; costs one system call. None where there is none."""
        try:
            seen = os.stat(self._history, follow_symlinks=False)
        except OSError:
            return None
        return seen.st_ino, seen.st_mtime_ns, seen.st_size

    def find(self, pack: str, version: Version | None) -> Pack | None:
        """An installed pack, for `load_stack`: that version or the highest; None when it is not installed."""
        state = self.state()
        version = version or state.highest(pack)
        if version is None or (pack, version) not in state.installed:
            return None
        return self._load(state, state.installed[pack, version].pin)

    def active(self) -> Stack | None:
        """The stack in force, every file of it checked; None where nothing was ever activated."""
        state = self.state()
        return self.pinned(state.active, state) if state.active else None

    def pinned(self, layers: Layers, state: State | None = None) -> Stack:
        """The stack of exactly these files: from the shelf, or of the program where they are the same."""
        state = state or self.state()
        return stacked(tuple(tuple(self._load(state, pin) for pin in layer) for layer in layers))

    def check(self) -> State:
        """Read everything that was installed or is in force, as if it were to be used."""
        state = self.state()
        for installed in state.installed.values():
            self._load(state, installed.pin)
        self.pinned(state.active, state)
        return state

    def _lines(self) -> bytes:
        if not os.path.lexists(self.folder):
            return b""
        guarded(self.folder)
        if not os.path.lexists(self._history):
            return b""
        guarded(self._history)
        return read_file(self._history, shelf_history.BIGGEST)

    def _path(self, pin: Pin) -> Path:
        return self.folder / PACKS / f"{pin}-{pin.digest[:NAMED]}.toml"

    def _load(self, state: State, pin: Pin) -> Pack:
        """The pack of a pin: by its digest, and by the signatures that were needed when it was installed."""
        path = self._path(pin)
        installed = state.installed.get((pin.pack, Version.parse(pin.version)))
        signed = installed is not None and installed.pin == pin
        if os.path.lexists(path):
            guarded(path.parent)
            guarded(path)
        elif not signed:
            path = SHIPPED / f"{pin.pack}.toml"
        if not os.path.lexists(path):
            raise UserError(f"{pin} is gone from the shelf", f"{path.name} was deleted", "put it back from a copy")
        if hashlib.sha256(read_file(path, BIGGEST)).hexdigest() != pin.digest:
            raise _changed(pin)
        if signed and installed is not None:
            name = signature_path(path)
            guarded(name)
            signers(state, read_signatures(read_file(name, BIGGEST_SIGNATURE), name.name), pin, installed.needed)
        pack = read_pack(path)
        if pack.digest != pin.digest:
            raise _changed(pin)
        return pack

    # ---- changes

    def trust(self, public: bytes, by: Author) -> str:
        """Take packs signed with this key (32 bytes) from now on. Returns the key's id."""
        key = key_id(public)
        with self._change(by) as (state, write):
            if key in state.revoked:
                raise UserError(
                    f"the key {key} was revoked", "someone else may have it", "make a new one with `rules keygen`"
                )
            if key not in state.trusted:
                write(Change("trust", key=key, public=public.hex()))
        return key

    def revoke(self, key: str, reason: str, by: Author) -> tuple[str, tuple[Pin, ...]]:
        """Never trust a key again, given by its id or the beginning of that. Returns it and what is in force and lost.

        What needs its signature is not loaded any more; a table that plays goes on by the rules that it has.
        """
        with self._change(by) as (state, write):
            found = [one for one in state.trusted if key and one.startswith(key)]
            if len(found) != 1:
                raise UserError(
                    f"{len(found)} trusted keys begin with {key!r}",
                    "the id is wrong or too short",
                    "see `rules history`",
                )
            write(Change("revoke", key=found[0], reason=_sentence(reason)))
        state = self.state()
        return found[0], tuple(pin for layer in state.active for pin in layer if not self._sound(state, pin))

    def need(self, signatures: int, by: Author) -> None:
        """From now on a pack needs signatures by so many different trusted keys."""
        with self._change(by) as (state, write):
            if not 1 <= signatures <= len(state.trusted):
                raise UserError(
                    f"{signatures} signatures a pack", f"{len(state.trusted)} keys are trusted", "trust the keys first"
                )
            if signatures != state.needed:
                write(Change("need", signatures=signatures))

    def install(self, file: Path, signatures: Path, by: Author, tried: Trial) -> Pin:
        """Put a pack on the shelf: signed by trusted keys, sound, `tried`, above all its versions."""
        raw = read_file(file, BIGGEST)
        signed = read_file(signatures, BIGGEST_SIGNATURE)
        found = read_signatures(signed, signatures.name)
        pin = Pin(found[0].pack, found[0].version, hashlib.sha256(raw).hexdigest())
        if found[0].digest != pin.digest:
            raise UserError(
                f"{file.name} is not the file that was signed as {pin}",
                "it was changed after that, or the signature is another pack's",
                "sign this file, or get both again",
            )
        with self._change(by) as (state, write):
            keys = signers(state, found, pin, state.needed)
            pack = read_pack(file)
            if (pack.id, pack.version, pack.digest) != pin:
                raise UserError(
                    f"{file.name} says it is {pack.id}@{pack.version}", f"it was signed as {pin}", "sign it again"
                )
            self._upwards(state, pin)
            tried(combined(extended(pack, library=self)), self)
            self._put(self._path(pin), raw)
            self._put(signature_path(self._path(pin)), signed)
            write(Change("install", pin=pin, keys=keys, signatures=state.needed))
        return pin

    def activate(self, spec: str, by: Author, reason: str = "") -> Layers:
        """Put a stack in force, from the next hand on. No pack may be below its version that was in force last.

        `reason`: for the history, where there is something to be said of it.
        """
        with self._change(by) as (state, write):
            files = self._files(spec)
            layers = pins(files)
            for pin in (pin for layer in layers for pin in layer):
                mark = state.marks.get(pin.pack)
                if mark is not None and Version.parse(pin.version) < mark:
                    raise UserError(
                        f"{pin} is older than {pin.pack}@{mark}, which was in force",
                        "versions only go up",
                        "to go back on purpose use `rules rollback`",
                    )
            self.pinned(layers, state)
            self._keep(files)
            write(Change("activate", layers=layers, reason=reason))
        return layers

    def rollback(self, spec: str, reason: str, by: Author) -> Layers:
        """Go back on purpose: to `spec`, or where that is "" to what was in force before."""
        reason = _sentence(reason)
        with self._change(by) as (state, write):
            files = self._files(spec) if spec else ()
            layers = pins(files) if spec else state.before
            if not layers:
                raise UserError(
                    "there is nothing to go back to", "no other stack was in force before", "name one, or activate one"
                )
            if layers == state.active:
                raise UserError(f"{names(layers)} is in force already", "", "name the stack to go back to")
            self.pinned(layers, state)
            self._keep(files)
            write(Change("rollback", layers=layers, reason=reason))
        return layers

    @contextmanager
    def _change(self, by: Author) -> Iterator[tuple[State, Callable[[Change], None]]]:
        """One change at a time: the state it starts from, and how it is written, which makes it true."""
        make_folders(self._disk, self.folder)
        guarded(self.folder)
        with alone(self.folder / "lock"):
            lines = self._lines()

            def write(change: Change) -> None:
                signed = replace(change, who=by.who, at=by.at)
                replace_file(self._disk, self._history, shelf_history.write(lines, signed))

            yield shelf_history.read(lines), write

    def _files(self, spec: str) -> tuple[Chain, ...]:
        """The files of a stack of installed and shipped packs. No paths: what is in force comes from the shelf."""
        for name in spec.split("+"):
            checked_id(name.partition("@")[0].strip())
        return chains(spec, self)

    def _keep(self, files: tuple[Chain, ...]) -> None:
        """Copy what came with the program: a new program does not change what is in force."""
        for pack in (pack for chain in files for pack in chain):
            if Path(pack.path).parent == SHIPPED:
                self._put(self._path(pin_of(pack)), read_file(Path(pack.path), BIGGEST))

    def _upwards(self, state: State, pin: Pin) -> None:
        highest = state.highest(pin.pack)
        if pin.pack in shipped():
            ours = Version.parse(read_pack(SHIPPED / f"{pin.pack}.toml").version)
            highest = max(ours, highest or ours)
        if highest is not None and Version.parse(pin.version) <= highest:
            raise UserError(
                f"{pin} is not above {pin.pack}@{highest}, which is there",
                "versions only go up",
                "give the pack a higher version and sign it",
            )

    def _put(self, path: Path, data: bytes) -> None:
        make_folders(self._disk, path.parent)
        guarded(path.parent)
        replace_file(self._disk, path, data)

    def _sound(self, state: State, pin: Pin) -> bool:
        try:
            self._load(state, pin)
        except UserError:
            return False
        return True


def signature_path(pack: Path) -> Path:
    """Where the signatures of a pack's file are: beside it, with `.sig` behind its name."""
    return pack.with_name(pack.name + ".sig")


def now() -> str:
    """The time of a change."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _sentence(reason: str) -> str:
    text = " ".join(reason.split())
    if not text or len(text) > 500:
        raise UserError("a reason of no length" if not text else "a reason of more than 500 letters", "", "say why")
    return text


def _changed(pin: Pin) -> UserError:
    return UserError(
        f"{pin} on the shelf is not the file that was put there",
        "it was changed on the disk",
        "put it back from a copy, or go on with another by `rules activate`",
    )
