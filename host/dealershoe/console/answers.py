"""Answers of the console that are no success, and what is read from a body. For its routes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from dealershoe.console.said import kinds
from dealershoe.deal.items import DealError
from dealershoe.errors import UserError

LONGEST_ID = 64  # characters
LONGEST_LINE = 1_000  # characters; the longest line of the grammar has a fifth of that


def refused(status: int, error: str, headers: Mapping[str, str] | None = None, **more: Any) -> HTTPException:
    """What is answered instead: an object with one sentence."""
    return HTTPException(status, json.dumps(sentence(error, **more)), headers)


def sentence(error: str, **more: Any) -> dict[str, Any]:
    """That object; with its kind, where a page can say the sentence in its own language."""
    known = kinds([error])
    return {"error": error, **more, **({"kinds": known} if known else {})}


def unusable(error: UserError, status: int = 422) -> HTTPException:
    """What is answered to what a table or a shelf does not take."""
    return refused(status, str(error), seen=error.seen, cause=error.cause, do=error.do)


def unread(error: DealError) -> HTTPException:
    """What is answered to a line that is none: it stands in no file, and has no number there."""
    do = f"did you mean `{error.nearest}`? Send it again so" if error.nearest else "put it right and send it again"
    return unusable(UserError(f"the line cannot be read: {error.got}", error.cause, do))


async def as_json(_: Request, error: Exception) -> Response:
    """Every refusal as JSON, those of the router too."""
    assert isinstance(error, HTTPException)
    body = error.detail if error.detail.startswith("{") else json.dumps({"error": error.detail.lower()})
    return Response(body, error.status_code, error.headers, "application/json")


async def failed(_: Request, error: Exception) -> Response:
    """A defect of the console: the client learns no more than that."""
    return Response(json.dumps({"error": "the console has failed"}), 500, media_type="application/json")


async def body_of(request: Request, *names: str) -> dict[str, Any]:
    """The object that is sent, with nothing in it but `names`. Raises 415 and 422."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise refused(415, "send application/json")
    try:
        body = json.loads(await request.body(), object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise refused(422, "the body is no JSON object, or it names something twice")
    strange = sorted(body.keys() - names)
    if strange:  # a misspelt `seen` would protect nobody
        raise refused(422, f"there is no {strange[0][:LONGEST_ID]!r} here; send {', '.join(names)}")
    return body


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's values by name. Raises ValueError for a name that stands there twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


def text_of(body: Mapping[str, Any], name: str, longest: int, what: str) -> str:
    """A text on one line. Control characters and halves of characters would do harm in logs and journals."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > longest or not value.isprintable():
        raise refused(422, f"`{name}` is to be a text of 1 to {longest} printable characters: {what}")
    return value


def number_of(body: Mapping[str, Any], name: str) -> int | None:
    """A whole number, or None where there is none."""
    value = body.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise refused(422, f"`{name}` is to be a whole number")
    return value
