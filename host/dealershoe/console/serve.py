"""Runs the console beside the tables of a process: a thread with its own loop, and uvicorn in it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from cryptography import x509

from dealershoe.bridge.bridge import Bridge
from dealershoe.console.access import Person
from dealershoe.console.app import Console
from dealershoe.console.books import Books
from dealershoe.console.history import said_before
from dealershoe.console.patient import Patient
from dealershoe.console.tables import Table
from dealershoe.desk.happening import Happening
from dealershoe.errors import UserError
from dealershoe.rules.shelf import default_shelf

LINGER_S = 1  # for streams that are open when the console ends
CONNECTIONS = 1_000  # at a time: a room of 32 tables has some hundreds
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
EVERYWHERE = ("0.0.0.0", "::", "[::]")  # every address of this machine: what nobody can open
NAMES = 4  # said at most


def address(text: str) -> tuple[str, int]:
    """Host and port of "127.0.0.1:8080", "[::1]:8080", "localhost:8080", ":8080" (loopback). Raises UserError."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not colon or not port.isdecimal() or not 0 <= int(port) <= 65_535:
        raise UserError(f"{text!r} is no address for a console", "", "write it as 127.0.0.1:8080")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can come to `host`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Server:
    """The console of `bridges`, from `start` to `stop`. `hear` is for their happenings, from the first on."""

    def __init__(
        self,
        where: str,
        people: Callable[[], dict[str, Person]],
        certificate: Path | None = None,
        key: Path | None = None,
        *,
        shelf: Path | None = None,
        hosts: tuple[str, ...] = (),
        trouble: Callable[[], str] = lambda: "",
        logins: Path | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Takes the address; `names` says where it is, for whoever is to open it.

        Raises UserError when it cannot, and for an address that others can reach without TLS.

        `shelf`: of the rule packs, None for that of this user. `hosts`: more names that it answers to.
        `trouble`: what keeps people out. `logins`: the file that keeps who is logged in; None: that ends with the
        server. `say` gets sentences for the log, on any thread.
        """
        host, port = address(where)
        if certificate is None and not is_loopback(host):
            raise UserError(
                f"a console on {host} can be reached by others, and without TLS they read every token",
                "no certificate was given",
                "give --certificate and --certificate-key, or an address of loopback such as 127.0.0.1:8080",
            )
        if certificate is not None:
            check_certificate(certificate, key)
        self._people = people
        self._say = say
        self._loop = asyncio.new_event_loop()
        self._tables: dict[str, Table] = {}
        self._thread = threading.Thread(target=self._run, name="console", daemon=True)
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._socket = socket.create_server((host, port), family=family, backlog=128)
        except OSError as error:
            self._loop.close()
            raise UserError(
                f"the console cannot be served at {where} ({error.strerror})",
                "another program has the port, or this machine has no such address",
                "choose another one with --console",
            ) from error
        scheme, port = "https" if certificate else "http", self._socket.getsockname()[1]
        names = [bracketed(host)]
        if host in EVERYWHERE:
            names = [*hosts, *(names_in(certificate) if certificate else ()), socket.gethostname(), *names][:NAMES]
        self.url = f"{scheme}://{names[0]}:{port}/"
        self.names = " or ".join(
            f"{scheme}://{name}:{port}/" for name in dict.fromkeys(names) if name not in EVERYWHERE
        )
        answers_to = (*LOOPBACK, bracketed(host), *hosts) if certificate is None else hosts
        self._books = Books(shelf or default_shelf())
        self._console = Console(
            self._tables,
            people,
            self._books,
            secure=certificate is not None,
            hosts=answers_to,
            trouble=trouble,
            logins=logins,
            say=say,
        )
        config = uvicorn.Config(
            self._console.app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=LINGER_S,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            lifespan="off",
            loop="asyncio",
            http=Patient,
            ws="none",
            limit_concurrency=CONNECTIONS,
            proxy_headers=False,
        )
        self._server = uvicorn.Server(config)
        self.error: BaseException | None = None  # what ended the console

    def add(self, name: str, bridge: Bridge) -> None:
        """Show a table. For any thread."""
        try:
            known = said_before(bridge.journal)
        except UserError as error:
            self._say(f"table {name}: what clients send again is told again: {error}")
            known = []
        self._tables[name] = Table(name, bridge, self._loop, known)  # whoever goes through them takes a list first

    def remove(self, name: str) -> None:
        """Show a table no more."""
        self._tables.pop(name, None)

    def follow(self, shelf: Path) -> None:
        """Another shelf of rule packs from now on. For any thread."""
        self._books.follow(shelf)

    def hear(self, name: str, happening: Happening) -> None:
        """A table has said something; on the thread that runs the tables."""
        table = self._tables.get(name)
        if table is not None:
            table.hear(happening)

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables by name."""
        return self._tables

    def start(self) -> None:
        """Serve."""
        self._thread.start()

    def stop(self) -> None:
        """End the streams, each with a word that says so, and the thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has been stopped before
            self._loop.call_soon_threadsafe(self._console.end_streams)
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join()
        else:
            self._loop.close()
        self._socket.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._server.serve([self._socket]))
        except BaseException as error:
            self.error = error
        finally:
            self._loop.close()


def bracketed(host: str) -> str:
    """A host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def names_in(certificate: Path) -> list[str]:
    """The names that a certificate is for, and browsers take without a warning; those with a `*` are none to go to."""
    first = x509.load_pem_x509_certificate(certificate.read_bytes())
    try:
        found = first.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    names = [*found.get_values_for_type(x509.DNSName), *map(str, found.get_values_for_type(x509.IPAddress))]
    return [bracketed(name) for name in names if "*" not in name]


def check_certificate(certificate: Path, key: Path | None) -> None:
    """Raises UserError for a certificate that a server cannot use. A key behind a password is none for a server."""
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key, password="")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise UserError(
            f"the certificate {certificate} cannot be used with its key ({error})",
            "a file is missing, or they do not belong together, or the key has a password",
            "give the PEM files of one certificate with --certificate and --certificate-key",
        ) from error
