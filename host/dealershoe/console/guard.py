"""What holds for every request of the console: its size, where it comes from, and what the answer forbids a browser."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from starlette.datastructures import Headers as Fields
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "shoe"
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


class Headers:
    """Puts what a browser must not do on every answer, errors too. State is not to be kept by anyone on the way."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store" if scope["path"].startswith("/api") else "no-cache")
            await send(message)

        await self._app(scope, receive, sent)


class Guard:
    """Refuses what is too long, and what a browser sends from a page of another site (Origin, Sec-Fetch-Site).

    The host that is asked must be the one that answers: a name that was made to point here (DNS rebinding) brings the
    cookies of nobody, and is refused when it writes by its Origin.
    """

    def __init__(self, app: ASGIApp, longest: int) -> None:
        self._app = app
        self._longest = longest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fields = Fields(scope=scope)
        refusal = self._refusal(scope["method"], fields)
        if refusal:
            await _answer(send, *refusal)
            return
        taken = 0
        over = False

        async def bounded() -> Message:
            nonlocal taken, over
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._longest:
                over = True
                return {"type": "http.disconnect"}
            return message

        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if over and not begun:
                begun = True
                await _answer(send, 413, f"more than {self._longest} bytes")
            elif not over:
                begun = True
                await send(message)

        try:
            await self._app(scope, bounded, sent)
        except Exception:
            if not over:
                raise
        if over and not begun:
            await _answer(send, 413, f"more than {self._longest} bytes")

    def _refusal(self, method: str, fields: Fields) -> tuple[int, str] | None:
        length = fields.get("content-length", "0")
        if not length.isdecimal():
            return 400, "the length of the body is no number"
        if int(length) > self._longest:
            return 413, f"more than {self._longest} bytes"
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = fields.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != fields.get("host", "").lower():
            return 403, "this comes from a page of another site"
        if fields.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "this comes from a page of another site"
        return None


async def _answer(send: Send, status: int, error: str) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
