"""What holds for every request of the console: its size and pace, where it comes from, what a browser must not do."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers as Fields
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect", "font")),
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
YEAR_S = 31_536_000
LONGEST_HEAD = 16_384  # bytes, of names and values
READ_FIRST = (403, 421)  # refused when the body is here: a connection closed on one that is not read is reset, and the
# client may never see why
BODY_S = 10.0  # for a body to come
SEND_S = 30.0  # for a piece of an answer to go: who has gone to sleep comes back with the last event it has seen


class TooSlow(Exception):  # noqa: N818 - a tablet that has gone to sleep, no error
    """A client that does not take its answer."""


class Headers:
    """Puts what a browser must not do on every answer, errors too. State is not to be kept by anyone on the way."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._fields = HEADERS | ({"Strict-Transport-Security": f"max-age={YEAR_S}"} if secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._fields.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static") else "no-store")
            try:
                async with asyncio.timeout(SEND_S):
                    await send(message)
            except TimeoutError as error:
                raise TooSlow from error

        try:
            await self._app(scope, receive, sent)
        except TooSlow:
            return  # the server closes what was not completed


class Guard:
    """Refuses what is too long or too slow, and what a browser sends from a page of another site.

    `hosts`: the names that the console answers to. A name that somebody has made to point here (DNS rebinding) is none
    of them, and its pages get nothing. Where there are none (TLS) the certificate's names do the same.
    """

    def __init__(self, app: ASGIApp, longest: int, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._longest = longest
        self._hosts = frozenset(name.lower() for name in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal: bytes | tuple[int, str] | None = self._refusal(scope["method"], Fields(scope=scope))
        if refusal is None or refusal[0] in READ_FIRST:
            body = await self._body(receive)
            refusal = refusal or body
        if isinstance(refusal, tuple):
            await _answer(send, *refusal)
            return
        whole: list[Message] = [{"type": "http.request", "body": refusal, "more_body": False}]

        async def received() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, received, send)

    async def _body(self, receive: Receive) -> bytes | tuple[int, str]:
        """The whole body, or why it is not taken."""
        body = b""
        try:
            async with asyncio.timeout(BODY_S):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return 400, "the body was cut off"
                    body += bytes(message.get("body", b""))
                    if len(body) > self._longest:
                        return 413, f"more than {self._longest} bytes"
                    if not message.get("more_body", False):
                        return body
        except TimeoutError:
            return 408, f"the body did not come within {BODY_S:.0f} s"

    def _refusal(self, method: str, fields: Fields) -> tuple[int, str] | None:
        if sum(len(name) + len(value) for name, value in fields.raw) > LONGEST_HEAD:
            return 431, f"a head of more than {LONGEST_HEAD} bytes"
        host = fields.get("host", "").lower()
        if self._hosts and host_name(host) not in self._hosts:
            return 421, "this is not the console of that name"
        if "content-length" in fields and "transfer-encoding" in fields:  # RFC 9112, 6.1: somebody hides a request
            return 400, "the body has two lengths"
        length = fields.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()):
            return 400, "the length of the body is no number"
        if len(length) > 12 or int(length) > self._longest:
            return 413, f"more than {self._longest} bytes"
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = fields.get("origin")
        try:
            foreign = origin is not None and urlsplit(origin).netloc.lower() != host
        except ValueError:
            foreign = True
        if foreign or fields.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this comes from a page of another site"
        return None


def host_name(host: str) -> str:
    """The name in a Host field, without the port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


async def _answer(send: Send, status: int, error: str) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what follows on it may be the rest of what was refused
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
