"""Reads the file that describes a room. Every mistake is one sentence with its line. For `run --config` and `check`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dealershoe.bridge.start import Place
from dealershoe.console.people import check_name, default_path
from dealershoe.console.serve import address, is_loopback
from dealershoe.errors import UserError
from dealershoe.link import keystore
from dealershoe.port.identity import check as check_port
from dealershoe.record.keys import default_key
from dealershoe.rules.shelf import default_shelf
from dealershoe.rules.toml_lines import Lines

BIGGEST = 256 * 1024  # bytes; a table takes a hundred
LOGS = ("lines", "json")
HOST = re.compile(r"[A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:]+\]")
Key = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ConsolePlace:
    """Where the console is served, and as what. `hosts`: more names that it answers to."""

    listen: str
    certificate: Path | None = None
    certificate_key: Path | None = None
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """A room. `keys`: the file of the shoes' keys, None: any shoe is taken."""

    tables: tuple[Place, ...]
    console: ConsolePlace | None
    users: Path
    shelf: Path
    keys: Path | None
    log: str


def read(path: Path) -> Config:
    """The room in the file `path`; relative paths in it start from its folder. Raises UserError."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror})", "", "check the name") from error
    try:
        if len(raw) > BIGGEST:
            raise ValueError(f"more than {BIGGEST} bytes")
        text = raw.decode()
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise UserError(f"{path} is no TOML ({error})", "a letter is missing or one too many", "correct it") from error
    return _Reader(path, Lines(text)).config(data)


class _Reader:
    """Takes values out of the file's data, checked."""

    def __init__(self, path: Path, lines: Lines) -> None:
        self._path = path
        self._lines = lines

    def wrong(self, at: Key, seen: str, cause: str, do: str) -> UserError:
        return UserError(f"{self._path.name}, line {self._lines.line(at)}: {seen}", cause, do)

    def config(self, data: dict[str, Any]) -> Config:
        self._known(data, (), ("users", "shelf", "keys", "any-shoe", "log", "console", "table"))
        tables = data.get("table", [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            raise self.wrong(("table",), "`table` is no list of tables", "", "begin each with [[table]]")
        if not tables:
            raise self.wrong((), "no table is named", "[[table]] is missing", "name at least one, with its shoe's port")
        places = tuple(self._table(one, index) for index, one in enumerate(tables))
        for what in ("name", "port", "journal"):
            self._once(places, what)
        log = self._text(data, (), "log", LOGS[0])
        if log not in LOGS:
            raise self.wrong(("log",), f"log = {log!r}", "", f"logs are {' or '.join(LOGS)}")
        keys = self._file(data, (), "keys", keystore.default_path())
        return Config(
            tables=places,
            console=self._console(data["console"]) if "console" in data else None,
            users=self._file(data, (), "users", default_path()),
            shelf=self._file(data, (), "shelf", default_shelf()),
            keys=None if self._flag(data, (), "any-shoe") else keys,
            log=log,
        )

    def _table(self, data: dict[str, Any], index: int) -> Place:
        at: Key = ("table", index)
        self._known(data, at, ("name", "port", "journal", "rules", "open", "signs"))
        name, port = self._text(data, at, "name"), self._port(self._text(data, at, "port"))
        self._checked(at, "name", lambda: check_name(name, "a table"))
        self._checked(at, "port", lambda: check_port(port))
        if port == "auto":
            raise self.wrong(
                (*at, "port"), "port = 'auto'", "any shoe could be this table's", "name the shoe's own port"
            )
        return Place(
            name=name,
            port=port,
            journal=self._file(data, at, "journal", self._path.parent / f"{name}.journal"),
            rules=self._text(data, at, "rules", ""),
            open_table=self._flag(data, at, "open"),
            signs=self._file(data, at, "signs", default_key()),
        )

    def _console(self, data: Any) -> ConsolePlace:
        at: Key = ("console",)
        if not isinstance(data, dict):
            raise self.wrong(at, "`console` is no table", "", "write [console] and its keys below")
        self._known(data, at, ("listen", "certificate", "certificate-key", "hosts"))
        listen = self._text(data, at, "listen")
        self._checked(at, "listen", lambda: address(listen))
        certificate = self._file(data, at, "certificate") if "certificate" in data else None
        if certificate is None and not is_loopback(address(listen)[0]):
            raise self.wrong(
                (*at, "listen"), f"a console on {listen} can be reached by others, and there is no certificate",
                "without TLS they read every token", "name a certificate and its key, or listen on 127.0.0.1",
            )  # fmt: skip
        hosts = data.get("hosts", [])
        if not isinstance(hosts, list) or not all(isinstance(one, str) and HOST.fullmatch(one) for one in hosts):
            raise self.wrong((*at, "hosts"), "`hosts` is no list of host names", "", 'write hosts = ["tables.example"]')
        key = self._file(data, at, "certificate-key") if "certificate-key" in data else None
        return ConsolePlace(listen, certificate, key, tuple(hosts))

    def _port(self, port: str) -> str:
        """A path from the file's folder on; a USB identity, or a name as Windows has them, as it is."""
        named = port == "auto" or port.startswith("usb:") or os.name != "posix"
        return port if named else str((self._path.parent / port).absolute())

    # ---- values

    def _known(self, data: Mapping[str, Any], at: Key, names: tuple[str, ...]) -> None:
        for name in data:
            if name not in names:
                where = f"[{at[0]}]" if at else "the file"
                raise self.wrong((*at, name), f"unknown key `{name}`", f"{where} has {', '.join(names)}", "correct it")

    def _text(self, data: Mapping[str, Any], at: Key, name: str, default: str | None = None) -> str:
        value = data.get(name, default)
        if value is None:
            raise self.wrong(at, f"`{name}` is missing", "", f"say it: {name} = …")
        if not isinstance(value, str) or (name in data and not value) or not value.isprintable():
            raise self.wrong((*at, name), f"`{name}` is no text on one line", "", f'write {name} = "…"')
        return value

    def _flag(self, data: Mapping[str, Any], at: Key, name: str) -> bool:
        value = data.get(name, False)
        if not isinstance(value, bool):
            raise self.wrong((*at, name), f"`{name}` is neither true nor false", "", f"write {name} = true")
        return value

    def _file(self, data: Mapping[str, Any], at: Key, name: str, default: Path | None = None) -> Path:
        """A path, from the file's folder on. Default: where there is none."""
        if name not in data and default is not None:
            return default
        return (self._path.parent / self._text(data, at, name)).absolute()

    def _checked(self, at: Key, name: str, check: Callable[[], object]) -> None:
        try:
            check()
        except UserError as error:
            raise self.wrong((*at, name), error.seen, error.cause, error.do) from error

    def _once(self, places: tuple[Place, ...], what: str) -> None:
        known: dict[str, str] = {}
        for index, place in enumerate(places):
            value = str(getattr(place, what))
            if what == "port":  # by-id and ttyACM0 may be one
                value = os.path.realpath(value) if value.startswith("/") else value.lower()
            if value in known:
                raise self.wrong(
                    ("table", index, what), f"tables {known[value]} and {place.name} have the same {what} {value}",
                    "one was copied from the other", "change one",
                )  # fmt: skip
            known[value] = place.name
