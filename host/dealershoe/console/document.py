"""The API as a table of routes with their shapes, and the OpenAPI 3.1 document that is written from it. Pure.

The console makes its routes from the same table, so that neither can know a route that the other does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dealershoe import __version__
from dealershoe.console.access import ROLES
from dealershoe.console.answers import LONGEST_ID, LONGEST_LINE
from dealershoe.console.people import NAME
from dealershoe.console.state import URGENT

PREFIX = "/api/v1"
Shape = dict[str, Any]

TEXT: Shape = {"type": "string"}
FLAG: Shape = {"type": "boolean"}
NUMBER: Shape = {"type": "integer"}
TIME: Shape = {"type": "string", "format": "date-time"}
TABLE: Shape = {"type": "string", "pattern": f"^{NAME.pattern}$"}
ID: Shape = {
    "type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": r"^[ -~]+$",
    "description": "The client's own name for this request: the same again is done once, and gets the same answer, "
    "also when the host starts anew: the table's journal and the shelf's history keep it. What was refused before the "
    "table was told is not kept.",
}  # fmt: skip


def maybe(shape: Shape) -> Shape:
    """That, or null."""
    return {"oneOf": [shape, {"type": "null"}]}


def many(shape: Shape) -> Shape:
    """A list of them."""
    return {"type": "array", "items": shape}


def ref(name: str) -> Shape:
    """A shape of SHAPES."""
    return {"$ref": f"#/components/schemas/{name}"}


def thing(optional: tuple[str, ...] = (), /, **fields: Shape) -> Shape:
    """An object: every field is there but the `optional`."""
    return {
        "type": "object",
        "properties": fields,
        "required": [name for name in fields if name not in optional],
    }


def sent(optional: tuple[str, ...] = (), /, **fields: Shape) -> Shape:
    """`thing`, in a request: nothing else may be in it."""
    return {**thing(optional, **fields), "additionalProperties": False}


HAPPENINGS = (
    "hand", "draw", "seat", "event", "ruling", "step", "due", "signal", "question", "fault", "link", "note", "refused",
    "rules", "stats",
)  # fmt: skip
SEAT: Shape = {"type": "integer", "minimum": 1, "maximum": 11}
KINDS: Shape = {
    "type": "object", "additionalProperties": thing(kind=TEXT, values={"type": "object"}),
    "description": "Of the sentences here, by their text, those that a client can say in its own language: of what "
    "kind each is, and what is filled in. The words of a kind are in /static/words/LANGUAGE.json.",
}  # fmt: skip
RULING = thing(
    n=NUMBER, ruling=TEXT, happened=TEXT, say=TEXT, cite=TEXT, layer=TEXT, decider=TEXT, seat=maybe(SEAT),
    cards=many(NUMBER), signal=TEXT, language=TEXT,
)  # fmt: skip
SHAPES: dict[str, Shape] = {
    "Error": thing(
        ("seen", "cause", "do", "state", "kinds"),
        error=TEXT, seen=TEXT, cause=TEXT, do=TEXT, state=ref("State"), kinds=KINDS,
    ),
    "Me": thing(
        name=TEXT, role={"enum": list(ROLES)}, rights=many(TEXT), tables=many(TABLE), csrf=maybe(TEXT)
    ),
    "Ruling": RULING,
    "State": thing(
        table=TABLE, version=NUMBER, title=TEXT, stack=TEXT, next_stack=maybe(TEXT), open=FLAG, link=TEXT,
        link_why=TEXT, signal={"enum": list(URGENT)}, light=thing(state=TEXT, light=TEXT, sound=TEXT),
        floor_called=FLAG, hand=maybe(NUMBER), hand_over=FLAG, street=TEXT, button=maybe(SEAT), sb=maybe(SEAT),
        bb=maybe(SEAT), due=thing(kind=TEXT, seat=maybe(SEAT), text=TEXT), ruling=maybe(ref("Ruling")), can_undo=FLAG,
        counts={"type": "object", "additionalProperties": NUMBER},
        seats=many(thing(seat=SEAT, cards=NUMBER, due=FLAG, marks=many(TEXT), faces=many(TEXT))), burns=NUMBER,
        board=NUMBER, muck=NUMBER, board_faces=many(TEXT),
        draws=many(thing(number=NUMBER, place=TEXT, confirmed=FLAG, way_up=TEXT, marks=many(TEXT), face=maybe(TEXT))),
        rulings=many(ref("Ruling")), steps=many(thing(text=TEXT, done=FLAG, current=FLAG)), question=maybe(TEXT),
        unseen=many(NUMBER), faults=many(TEXT), notes=many(TEXT), shuffle=maybe({"enum": ["stub", "deck"]}),
        health=many(thing(figure=TEXT, name=TEXT, value=TEXT)), kinds=KINDS,
    ),
    "Line": sent(
        ("seen", "reason"),
        id=ID,
        line={"type": "string", "minLength": 1, "maxLength": LONGEST_LINE,
              "description": "One line as in deal scripts, for example `act 3 raise`."},
        seen={"type": ["integer", "null"], "description":
              "The version of the state that was seen: if the deal has moved on since, or for `undo` somebody has said "
              "something since, the line is not taken (409); nor with a version that there has not been. Versions only "
              "grow: what was seen before the host started anew is old."},
        reason={"type": ["string", "null"], "maxLength": 200, "pattern": r"\S", "description":
                "Kept beside the line. A decision of the floor (`floor …`) takes one."},
    ),
    "Told": {
        **thing(id=TEXT, version=NUMBER),
        "description": "It is in the journal. `version`: of the table's first state that has what came of the line.",
    },
    "Hand": thing(
        ("story", "kinds"),
        hand=NUMBER, fact=NUMBER, began=TIME, seats=many(SEAT), button=SEAT, stack=TEXT, open=FLAG, over=FLAG,
        draws=NUMBER, findings=many(TEXT),
        rulings=many(thing(
            ruling=TEXT, rule=TEXT, say=TEXT, cite=TEXT, layer=TEXT, decider=TEXT, seat=maybe(NUMBER), language=TEXT,
        )),
        story=many(thing(
            at=TIME, origin=TEXT, who=maybe(TEXT), kind=TEXT, values={"type": "object"}, text=TEXT, reason=maybe(TEXT),
            card=maybe(TEXT),
        )),
        kinds=KINDS,
    ),
    "Books": many(thing(
        stack=TEXT, in_force=FLAG, happened=TEXT, ruling=TEXT, rule=TEXT, say=TEXT, cite=TEXT, layer=TEXT,
        version=TEXT, decider=TEXT, window=TEXT, remedy=many(TEXT), kinds=KINDS,
        language=TEXT,
    )),
    "Rules": thing(
        stacks=many(TEXT), packs=many(thing(id=TEXT, version=TEXT, title=TEXT)),
        in_force={"type": "object", "additionalProperties": thing(stack=TEXT, next=maybe(TEXT))},
        changes=many(thing(what=TEXT, who=TEXT, at=TEXT, stack=TEXT, reason=TEXT)),
    ),
    "Activation": sent(
        id=ID, stack={"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[ -~]+$"}
    ),
    "Activated": thing(id=TEXT, stack=TEXT, tables=many(TABLE)),
    "Tables": thing(tables=many(ref("State"))),
    "Hands": thing(hands=many(ref("Hand"))),
    "Happening": {
        **thing(table=TABLE, n=NUMBER, kind={"enum": list(HAPPENINGS)}, text=TEXT, kinds=KINDS),
        "description": "The data of a `happening`; `n` is the `id` of the event too. A kind may have more fields.",
    },
    "Gap": {
        **thing(table=TABLE, after=NUMBER),
        "description": "The data of a `gap`: what happened after that number, up to the state that comes, is not told.",
    },
}  # fmt: skip

EVENTS = """Server-sent events, each with JSON. What there is to be told of a table begins with its state.

- `state`: a table now (`State`): at first, and after what happened, at most every 50 ms.
- `happening`: what happened (`Happening`), numbered. With `Last-Event-ID` the stream of one table goes on after it.
- `gap`: some of that can no longer be told (`Gap`).
- `alive`: nothing happened for 10 s.
- `tables`: this person sees other tables now; connect again.
- `over`: this token or session is no longer good.
- `stopped`: the console stops; connect again in a while."""
QUERIES: dict[str, Shape] = {
    "table": {"name": "table", "in": "query", "schema": TEXT, "description": "Only this one."},
    "last": {"name": "last", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}},
    "cards": {
        "name": "cards", "in": "query", "schema": {"enum": ["0", "1"], "default": "0"},
        "description": "1: name the cards of a hand that is over. The journal keeps who looked, before they are told.",
    },
}  # fmt: skip
ERRORS = {
    400: "The request is no request.",
    401: "Nobody has this token, or none was sent.",
    403: "Not for this person, or from a page of another site.",
    404: "Not there, or not for this person.",
    409: "An id that was used for something else; a stale page (`state` is then the table now); a hand that is "
    "still in play.",
    413: "The body is too long.",
    415: "The body is no JSON.",
    422: "It cannot be read, or the table does not take it: seen, likely cause, next step.",
    429: "Too many wrong tokens, or too many streams of one person.",
    503: "The table is down.",
}


@dataclass(frozen=True, slots=True)
class Way:
    """One route: `name` is the console's function. `rights`: needed beside a token. `errors`: beside 401 and 429."""

    method: str
    path: str
    name: str
    summary: str
    answers: str
    rights: tuple[str, ...] = ()
    takes: str = ""
    queries: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()
    numbers: tuple[str, ...] = field(default=())  # of the path's parameters, those that are numbers


WAYS = (
    Way("GET", "/me", "me", "Who this token is, and the CSRF word of a page's session.", "Me"),
    Way("GET", "/tables", "all_tables", "The tables this person may see, those first that need somebody.", "Tables"),
    Way("GET", "/tables/{table}", "one_table", "A table now.", "State", errors=(404,)),
    Way("GET", "/events", "events", "What happens at the tables, as it happens.", "text/event-stream",
        queries=("table",), errors=(404,)),
    Way("POST", "/tables/{table}/lines", "say", "Say a line to a table.", "Told", ("say", "decide"), "Line",
        errors=(400, 403, 404, 409, 413, 415, 422, 503)),
    Way("GET", "/tables/{table}/hands", "hands", "The last hands of a table, the latest first.", "Hands", ("record",),
        queries=("last",), errors=(403, 404, 422, 503)),
    Way("GET", "/tables/{table}/hands/{hand}", "hand", "One hand line by line.", "Hand",
        ("record",), queries=("cards",), errors=(403, 404, 409, 422, 503), numbers=("hand",)),
    Way("GET", "/tables/{table}/books", "books", "What every rule book would rule on what is ruled on now.", "Books",
        errors=(404, 422, 503)),
    Way("GET", "/rules", "rules", "The packs of this host, and what is in force.", "Rules", errors=(422,)),
    Way("POST", "/tables/{table}/rules", "activate",
        "Put a stack in force on this host, for every table from its next hand on.", "Activated", ("rules",),
        "Activation", errors=(400, 403, 404, 409, 413, 415, 422, 503)),
    Way("GET", "/openapi.json", "openapi", "This document.", "object"),
)  # fmt: skip


def document() -> dict[str, Any]:
    """The OpenAPI document."""
    paths: dict[str, Any] = {}
    for way in WAYS:
        paths.setdefault(PREFIX + way.path, {})[way.method.lower()] = _operation(way)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "dealershoe console",
            "version": __version__,
            "description": "Tables with card-reading shoes: what happens, what is ruled, and what people say of it.",
        },
        "security": [{"token": []}, {"page": []}],
        "paths": paths,
        "components": {
            "schemas": SHAPES,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "From `dealershoe users add`."},
                "page": {
                    "type": "apiKey", "in": "cookie", "name": "shoe",
                    "description": "Of a page that has logged in; writes also take the header X-CSRF.",
                },
            },
        },
    }  # fmt: skip


def _operation(way: Way) -> dict[str, Any]:
    names = [part[1:-1] for part in way.path.split("/") if part.startswith("{")]
    path = [
        {"name": name, "in": "path", "required": True, "schema": NUMBER if name in way.numbers else TABLE}
        for name in names
    ]
    operation: dict[str, Any] = {
        "operationId": way.name,
        "summary": way.summary,
        "parameters": [*path, *(QUERIES[name] for name in way.queries)],
        "responses": {
            "200": {"description": "Done.", "content": _content(way.answers)},
            **{
                str(status): {"description": ERRORS[status], "content": _content("Error")}
                for status in sorted({401, 429, *way.errors})
            },
        },
    }
    if way.name == "events":
        operation["description"] = EVENTS
    if way.rights:
        operation["description"] = f"Takes the right to {' or '.join(way.rights)}."
    if way.takes:
        operation["requestBody"] = {"required": True, "content": _content(way.takes)}
    return operation


def _content(name: str) -> dict[str, Any]:
    if name == "text/event-stream":
        return {name: {"schema": TEXT}}
    return {"application/json": {"schema": {"type": "object"} if name == "object" else ref(name)}}
