"""A table system in fifty lines: says who sits where and who acts, and hears what the shoe's table makes of it.

    TOKEN=… python docs/examples/table_system.py http://127.0.0.1:8080

For whoever connects a system of their own: nothing but Python's standard library, and the API that the console
documents at /api/v1/openapi.json. It begins a hand, calls the floor, prints what happens and takes the call back.
"""

import json
import os
import sys
import urllib.error
import urllib.request
import uuid

API = sys.argv[1].rstrip("/") + "/api/v1"
HEADERS = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Content-Type": "application/json"}


def say(table: str, line: str) -> None:
    """Tell the table a line, as in deal scripts. The id makes it safe to send again: it is told once."""
    body = json.dumps({"id": str(uuid.uuid4()), "line": line}).encode()
    asked = urllib.request.Request(f"{API}/tables/{table}/lines", body, HEADERS)
    try:
        urllib.request.urlopen(asked, timeout=10).close()
    except urllib.error.HTTPError as refused:  # every refusal is one sentence
        sys.exit(f"`{line}`: {json.load(refused)['error']}")


def happenings(table: str):
    """What happens at the table, one object each: cards, rulings, steps, signals (server-sent events)."""
    asked = urllib.request.Request(f"{API}/events?table={table}", headers=HEADERS)
    kind = ""
    with urllib.request.urlopen(asked, timeout=30) as stream:
        for line in stream:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                kind = value
            elif field == "data" and kind == "state":
                yield {"kind": "state", **json.loads(value)}
            elif field == "data" and kind == "happening":
                yield json.loads(value)


with urllib.request.urlopen(urllib.request.Request(f"{API}/me", headers=HEADERS), timeout=10) as answer:
    table = json.load(answer)["tables"][0]
told = False
for one in happenings(table):
    if not told:  # the stream is open: it begins with the state
        told = True
        say(table, "hand seats=2,4-6 button=4")
        say(table, "call floor")
    if one["kind"] != "state":
        print(f"{one['kind']}: {one['text']}", flush=True)
    if one["kind"] == "signal" and one.get("signal") == "floor":
        say(table, "undo")
        break
