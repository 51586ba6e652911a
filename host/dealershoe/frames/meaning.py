"""What the bytes of a field say, in words of the schema. Pure; for `explain`. A card is named only by `card`."""

from __future__ import annotations

from shoelink import schema

from dealershoe.deck.cards import card_name

HIDDEN = "hidden (--open shows it)"
SECRET = "secret"  # the field of ENROLL that is a device's key, and of REVEAL what a hand's tokens were made with
OF_A_HAND = "the secret of a hand that is over"
TIMES = {"t_us", "ping", "received", "sent"}  # of the kinds that carry clocks
UNITS = {"certainty": "%", "speed": "mm/s", "receive": "bytes"}


def names_a_card(kind: int) -> bool:
    """Whether a kind's body says which card it is, or which all of a hand are, or may (a kind that is not known)."""
    return not kind or kind == schema.REVEAL or "token" in schema.FIELDS[kind].split()


def secrecy(kind: int, field: str) -> str:
    """Of a field of a known kind: "card" if a card can be told by it, "key" for a device's key, else ""."""
    if field == SECRET:
        return "card" if kind == schema.REVEAL else "key"
    return "card" if field == "token" else ""


def card(token: bytes) -> str:
    """The card of a token, for an open table."""
    if token == schema.TOKEN_UNREAD:
        return "not read"
    number = schema.value(token)
    return card_name(number) if number <= 53 else f"{number}: no card of an open table"


def meaning(kind: str, field: str, raw: bytes) -> str:
    """The words for a field of `kind` ("": of the header)."""
    number = int.from_bytes(raw, "little")
    if not kind:
        return _kind(raw[0]) if field == "kind" else _header_flags(raw[0])
    if field == "token":
        return HIDDEN
    if field == SECRET:
        return f"{OF_A_HAND}: {HIDDEN}" if kind == "REVEAL" else "the key of a device: never shown"
    if len(raw) == 4 and field in TIMES:
        return f"{number:,} µs"
    if field in ("device", "build"):
        return _name(raw)
    if len(raw) == 4 or len(raw) > 8 or field in ("nonce",):
        return raw.hex(" ")
    if field in ("target", "place") and 1 <= number <= 11:
        return f"seat {number}"
    if field == "place":
        return schema.code_name("target", number)
    if kind == "CARD" and field == "flags":
        return ", ".join(name for code, name in schema.CODES["flags"] if number & code) or "none"
    if (kind, field) in (("CARD", "deck"), ("DECK", "deck"), ("DECK", "count")) and number == 255:
        return "not known"
    if kind == "ACK" and field == "kind":
        return _kind(raw[0]) if raw[0] else "the `ack` of the header counts"
    if field == "distance":
        return f"{number / 10:.1f} mm"
    if field == "free":
        return f"{number * 16:,} bytes"
    if field in schema.CODES and field != "flags":
        name = schema.code_name(field, number)
        return str(number) if name == str(number) else f"{number}: {name}"
    return f"{number} {UNITS[field]}" if field in UNITS else str(number)


def _kind(byte: int) -> str:
    from_host = bool(byte & schema.FROM_HOST)
    plain = schema.known(byte, from_host)
    said = [schema.NAMES[plain] if plain else "not known", "from the host" if from_host else "from the shoe"]
    said += ["critical"] * bool(byte & schema.CRITICAL) + ["reliable"] * bool(byte & schema.RELIABLE)
    return ", ".join(said)


def _header_flags(byte: int) -> str:
    said = ["AUTH: a tag follows the body"] * bool(byte & schema.FLAG_AUTH)
    said += ["ASK: the sender is not up and waits for a HELLO"] * bool(byte & schema.FLAG_ASK)
    unknown = byte & schema.FLAGS_MUST & ~schema.FLAG_AUTH & ~schema.FLAG_ASK
    said += [f"{unknown:02X}: must be understood and is not"] * bool(unknown)
    said += [f"{byte & 0x0F:X}: may be ignored"] * bool(byte & 0x0F)
    return ", ".join(said) or "none"


def _name(raw: bytes) -> str:
    text = raw.rstrip(b"\0")
    return text.decode() if text and all(0x20 <= byte < 0x7F for byte in text) else raw.hex(" ")
