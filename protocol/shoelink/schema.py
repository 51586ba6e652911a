"""The one schema of the link, read as it is by shoe and host: kinds, codes, messages and their layouts.

A message is a namedtuple; its body on the wire is its fields in order, little-endian. Values of 32 bits that the
shoe handles for every card stay 4 bytes (an int above 2^30 - 1 allocates on MicroPython): `word` and `value` convert.
`protocol/README.md` says what each kind means; `protocol/spec.py` declares the same bodies a second time, as the check.
"""

import hashlib
import struct
from collections import namedtuple

MAJOR = 1  # both ends must have the same; a body or a rule changed its meaning
MINOR = 0  # the lower of the two is spoken; kinds or trailing fields were added

# ---- kind: bit 7 from the host, bit 6 critical, bit 5 reliable, bits 4..0 the number (never 0)
FROM_HOST = 0x80
CRITICAL = 0x40  # unknown: stop the deal with a named reason (not set: acknowledge, count, skip)
RELIABLE = 0x20  # from the shoe: numbered in its journal. From the host: desired state, a generation leads the body

SHOE, HOST = 1, 2  # who sends; the sum: both

HELLO = 0x41  # the kinds that both send: the host sets FROM_HOST on the wire
IDENT = 0x02
PING = 0x03
PONG = 0x04
ACK = 0x05
NAK = 0x06
STATS = 0x07
ENROLL = 0x8A
ENROLLED = 0x0B
LOOKUP = 0x8C
WORDS = 0x0D
SELF_TEST = 0x0E
TEST = 0x8F
CARD = 0x61
CARD_BACK = 0x62
SEAT = 0x23
KEY = 0x64
DECK = 0x65
FAULT = 0x66
CLEAR = 0x27
COMMIT = 0x2A
REVEAL = 0x2B
SIGNAL = 0xE8
DUE = 0xA9

# ---- flags of the header: the high nibble must be understood, the low nibble may be ignored
FLAG_AUTH = 0x80  # sealed: 8 bytes of tag before the CRC; not understood, and so refused, by an end that has no key
FLAG_ASK = 0x40  # HELLO: the sender is not up yet and waits for a HELLO
FLAGS_MUST = 0xF0

# ---- sizes in bytes
HEADER = 6
BODY = 40  # most
EVENT = 24  # most of a reliable kind's body: the room of a journal slot
TAG = 8
CRC = 4
WORDS_TEXT = 32  # of the schema's text, in one WORDS
FRAME = 61  # most on the wire, both delimiters included

# ---- codes
WAY_DOWN, WAY_UP, WAY_UNKNOWN = 0, 1, 2  # in the shoe; UP is boxed
TARGET_UNKNOWN, TARGET_BURN, TARGET_BOARD, TARGET_MUCK, TARGET_OFF_TABLE = 0, 32, 33, 34, 35  # 1..11: the seat
ORIGIN_NONE, ORIGIN_LANE, ORIGIN_SEAT_SENSOR = 0, 1, 2
CARD_DOUBLE, CARD_REVERSED, CARD_UNREAD, CARD_FOREIGN, CARD_JOKER, CARD_BY_TAG = 1, 2, 4, 8, 16, 32  # flags of CARD
DECK_UNKNOWN = 255  # deck of CARD and DECK
KEY_NEW_HAND, KEY_ACTION, KEY_BETTING_COMPLETE, KEY_EXPOSED, KEY_DONE, KEY_FLOOR = 1, 2, 3, 4, 5, 6
PRESS_SHORT, PRESS_HELD = 0, 1  # DONE held is undo
DECK_LOADED, DECK_EMPTY = 1, 2
COUNT_UNKNOWN = 255
FAULT_HALF_DRAWN, FAULT_HEAD, FAULT_SLOT, FAULT_DAZZLE, FAULT_JOURNAL_FULL, FAULT_LID = 1, 2, 3, 4, 5, 6
FAULT_UNKNOWN_KIND, FAULT_SAMPLES_LOST, FAULT_SEAT_NODE = 7, 8, 9
FAULT_FRAM, FAULT_TAMPER, FAULT_SUPPLY, FAULT_KEYS, FAULT_LANES, FAULT_LIGHT = 10, 11, 12, 13, 14, 15
FAULT_SEAT_BUS, FAULT_CALIBRATION, FAULT_SAMPLER, FAULT_SELF_TEST, FAULT_READER, FAULT_TAG = 16, 17, 18, 19, 20, 21
SIGNAL_READY, SIGNAL_ATTENTION, SIGNAL_STOP, SIGNAL_FLOOR = 0, 1, 2, 3
MODE_SUPERVISED, MODE_ALIGN = 0, 1
REASON_NONE, REASON_MISDEAL, REASON_REPLACE, REASON_CORRECT, REASON_DEAD, REASON_VOID = 0, 1, 2, 3, 4, 5
REASON_PLAY_ON, REASON_FLOOR, REASON_FAULT = 6, 7, 8
DUE_NOTHING, DUE_SEAT, DUE_BURN, DUE_BOARD, DUE_BETTING, DUE_ACK, DUE_SHUFFLE, DUE_PICK = 0, 1, 2, 3, 4, 5, 6, 7
RESET_UNKNOWN, RESET_POWER, RESET_WATCHDOG, RESET_SOFT = 0, 1, 2, 3
NAK_GAP, NAK_DAMAGED = 1, 2
ENROLLED_WRITTEN, ENROLLED_CLOSED, ENROLLED_FAILED = 1, 2, 3
WHY_POWER_UP, WHY_HOST = 0, 1
TEST_PARTS, TEST_CARD, TEST_CALIBRATE = 1, 2, 3

TOKEN_UNREAD = b"\xff\xff\xff\xff"  # CARD.token of a card that was not read
NO_JOURNAL = b"\0\0\0\0"  # HELLO.journal of a host that has not yet chosen what to resume

# Names of the codes, by the field that carries them: for a screen, a log, the tables of the README.
CODES = {
    "way_up": ((WAY_DOWN, "DOWN"), (WAY_UP, "UP"), (WAY_UNKNOWN, "UNKNOWN")),
    "target": (
        (TARGET_UNKNOWN, "UNKNOWN"),
        (TARGET_BURN, "BURN"),
        (TARGET_BOARD, "BOARD"),
        (TARGET_MUCK, "MUCK"),
        (TARGET_OFF_TABLE, "OFF_TABLE"),
    ),
    "origin": ((ORIGIN_NONE, "NONE"), (ORIGIN_LANE, "LANE"), (ORIGIN_SEAT_SENSOR, "SEAT_SENSOR")),
    "flags": (
        (CARD_DOUBLE, "DOUBLE"),
        (CARD_REVERSED, "REVERSED"),
        (CARD_UNREAD, "UNREAD"),
        (CARD_FOREIGN, "FOREIGN"),
        (CARD_JOKER, "JOKER"),
        (CARD_BY_TAG, "BY_TAG"),
    ),
    "key": (
        (KEY_NEW_HAND, "NEW_HAND"),
        (KEY_ACTION, "ACTION"),
        (KEY_BETTING_COMPLETE, "BETTING_COMPLETE"),
        (KEY_EXPOSED, "EXPOSED"),
        (KEY_DONE, "DONE"),
        (KEY_FLOOR, "FLOOR"),
    ),
    "press": ((PRESS_SHORT, "SHORT"), (PRESS_HELD, "HELD")),
    "event": ((DECK_LOADED, "LOADED"), (DECK_EMPTY, "EMPTY")),
    "code": (
        (FAULT_HALF_DRAWN, "HALF_DRAWN"),
        (FAULT_HEAD, "HEAD"),
        (FAULT_SLOT, "SLOT"),
        (FAULT_DAZZLE, "DAZZLE"),
        (FAULT_JOURNAL_FULL, "JOURNAL_FULL"),
        (FAULT_LID, "LID"),
        (FAULT_UNKNOWN_KIND, "UNKNOWN_KIND"),
        (FAULT_SAMPLES_LOST, "SAMPLES_LOST"),
        (FAULT_SEAT_NODE, "SEAT_NODE"),
        (FAULT_FRAM, "FRAM"),
        (FAULT_TAMPER, "TAMPER"),
        (FAULT_SUPPLY, "SUPPLY"),
        (FAULT_KEYS, "KEYS"),
        (FAULT_LANES, "LANES"),
        (FAULT_LIGHT, "LIGHT"),
        (FAULT_SEAT_BUS, "SEAT_BUS"),
        (FAULT_CALIBRATION, "CALIBRATION"),
        (FAULT_SAMPLER, "SAMPLER"),
        (FAULT_SELF_TEST, "SELF_TEST"),
        (FAULT_READER, "READER"),
        (FAULT_TAG, "TAG"),
    ),
    "signal": (
        (SIGNAL_READY, "READY"),
        (SIGNAL_ATTENTION, "ATTENTION"),
        (SIGNAL_STOP, "STOP"),
        (SIGNAL_FLOOR, "FLOOR"),
    ),
    "mode": ((MODE_SUPERVISED, "SUPERVISED"), (MODE_ALIGN, "ALIGN")),
    "reason": (
        (REASON_NONE, "NONE"),
        (REASON_MISDEAL, "MISDEAL"),
        (REASON_REPLACE, "REPLACE"),
        (REASON_CORRECT, "CORRECT"),
        (REASON_DEAD, "DEAD"),
        (REASON_VOID, "VOID"),
        (REASON_PLAY_ON, "PLAY_ON"),
        (REASON_FLOOR, "FLOOR"),
        (REASON_FAULT, "FAULT"),
    ),
    "due": (
        (DUE_NOTHING, "NOTHING"),
        (DUE_SEAT, "SEAT"),
        (DUE_BURN, "BURN"),
        (DUE_BOARD, "BOARD"),
        (DUE_BETTING, "BETTING"),
        (DUE_ACK, "ACK"),
        (DUE_SHUFFLE, "SHUFFLE"),
        (DUE_PICK, "PICK"),
    ),
    "reset": (
        (RESET_UNKNOWN, "UNKNOWN"),
        (RESET_POWER, "POWER"),
        (RESET_WATCHDOG, "WATCHDOG"),
        (RESET_SOFT, "SOFT"),
    ),
    "part": (
        (1, "MEMORY"),
        (2, "FRAM"),
        (4, "HEADS"),
        (8, "SLOTS"),
        (16, "LIGHT"),
        (32, "LANES"),
        (64, "KEYS"),
        (128, "LID"),
        (256, "AMBIENT"),
        (512, "SUPPLY"),
        (1024, "SAMPLER"),
        (2048, "CALIBRATION"),
        (4096, "BAR"),
        (8192, "PIEZO"),
        (16384, "CODE"),
        (32768, "READER"),
    ),
    "why": ((WHY_POWER_UP, "POWER_UP"), (WHY_HOST, "HOST")),
    "what": ((TEST_PARTS, "PARTS"), (TEST_CARD, "CARD"), (TEST_CALIBRATE, "CALIBRATE")),
    "reject": ((NAK_GAP, "GAP"), (NAK_DAMAGED, "DAMAGED")),
    "result": ((ENROLLED_WRITTEN, "WRITTEN"), (ENROLLED_CLOSED, "CLOSED"), (ENROLLED_FAILED, "FAILED")),
}

# ---- messages. Each dictionary is keyed by kind, without FROM_HOST for the kinds that both ends send.
NAMES = {}  # "CARD"
SENDERS = {}  # SHOE, HOST or both
TYPES = {}  # the namedtuple
FIELDS = {}  # its field names in order, separated by spaces
LAYOUTS = {}  # `struct` layout of the body
MINIMUM = {}  # bytes: a shorter body is an error, a longer one has fields that this schema does not know
KIND_OF = {}  # the namedtuple → its kind


def _message(name, kind, senders, layout, fields):
    title = "".join(part[0] + part[1:].lower() for part in name.split("_"))
    message = namedtuple(title, tuple(fields.split(" ")))
    NAMES[kind] = name
    SENDERS[kind] = senders
    TYPES[kind] = message
    FIELDS[kind] = fields
    LAYOUTS[kind] = layout
    MINIMUM[kind] = struct.calcsize(layout)
    KIND_OF[message] = kind
    return message


Hello = _message(
    "HELLO",
    HELLO,
    SHOE + HOST,
    "<BB4s4s4sBHQH8s4s",
    "major minor schema journal boot reset oldest next receive nonce answers",
)
Ident = _message("IDENT", IDENT, SHOE + HOST, "<8s12s16s", "device build digest")
Ping = _message("PING", PING, SHOE + HOST, "<4s", "t_us")
Pong = _message("PONG", PONG, SHOE + HOST, "<4s4s4s", "ping received sent")
Ack = _message("ACK", ACK, SHOE + HOST, "<BH", "kind generation")
Nak = _message("NAK", NAK, SHOE + HOST, "<HB", "expected reject")
Stats = _message(
    "STATS",
    STATS,
    SHOE,
    "<4sHHHHHHHHHHH",
    "t_us frames damaged sent resent naks lost held peak refused overruns free",
)
Enroll = _message("ENROLL", ENROLL, HOST, "<32s", "secret")
Enrolled = _message("ENROLLED", ENROLLED, SHOE, "<B", "result")
Lookup = _message("LOOKUP", LOOKUP, HOST, "<H", "offset")
Words = _message("WORDS", WORDS, SHOE, "<HH32s", "offset total text")
SelfTest = _message("SELF_TEST", SELF_TEST, SHOE, "<4sBHHH", "t_us why tested failed took")
Test = _message("TEST", TEST, HOST, "<B", "what")
Card = _message(
    "CARD",
    CARD,
    SHOE,
    "<HH4s4sBBBBBBHB",
    "hand draw t_us token deck way_up target origin certainty flags speed erasures",
)
CardBack = _message("CARD_BACK", CARD_BACK, SHOE, "<HH4sH", "hand draw t_us distance")
Seat = _message("SEAT", SEAT, SHOE, "<HH4sBBB", "hand draw t_us place way_up certainty")
Key = _message("KEY", KEY, SHOE, "<H4sBB", "hand t_us key press")
Deck = _message("DECK", DECK, SHOE, "<H4sBBB", "hand t_us event deck count")
Fault = _message("FAULT", FAULT, SHOE, "<4sBH", "t_us code detail")
Clear = _message("CLEAR", CLEAR, SHOE, "<4sBH", "t_us code detail")
Commit = _message("COMMIT", COMMIT, SHOE, "<H22s", "hand commitment")
Reveal = _message("REVEAL", REVEAL, SHOE, "<H16s", "hand secret")
Signal = _message("SIGNAL", SIGNAL, HOST, "<HBBB", "generation signal reason mode")
Due = _message("DUE", DUE, HOST, "<HHBBB", "generation hand due seat cards")


def canonical():
    """The schema as text, one kind a line in order of kind: what the schema hash is taken of."""
    lines = ["dealershoe link %d.%d" % (MAJOR, MINOR)]
    for kind in sorted(NAMES):
        lines.append("%02x %s %d %s %s" % (kind, NAMES[kind], SENDERS[kind], LAYOUTS[kind], FIELDS[kind]))
    return "\n".join(lines) + "\n"


SCHEMA = hashlib.sha256(canonical().encode()).digest()[:4]  # HELLO.schema


class ShortBodyError(ValueError):
    """A body shorter than its kind's minimum; never filled up with zeros, which would turn a cut into data."""


def pack(message):
    """The body of a message, as bytes. Raises `struct.error` for a value out of its field's range (CPython)."""
    return struct.pack(LAYOUTS[KIND_OF[type(message)]], *message)


def pack_into(buffer, at, message):
    """Write a message's body into `buffer` from `at`; returns its length in bytes."""
    kind = KIND_OF[type(message)]
    struct.pack_into(LAYOUTS[kind], buffer, at, *message)
    return MINIMUM[kind]


def unpack(kind, body):
    """The message of a known `kind` (FROM_HOST is ignored where both ends send it). Raises ShortBodyError."""
    if kind not in TYPES:
        kind &= ~FROM_HOST
    if len(body) < MINIMUM[kind]:
        raise ShortBodyError("%s: %d bytes of body, at least %d expected" % (NAMES[kind], len(body), MINIMUM[kind]))
    return TYPES[kind](*struct.unpack_from(LAYOUTS[kind], body, 0))


def known(kind, from_host):
    """The key of `kind` in the tables above if that end may send it, else 0."""
    if bool(kind & FROM_HOST) != from_host:
        return 0
    sender = HOST if from_host else SHOE
    if SENDERS.get(kind, 0) & sender:
        return kind
    plain = kind & ~FROM_HOST
    return plain if SENDERS.get(plain, 0) == SHOE + HOST else 0


def code_name(field, code):
    """The name of a code ("BURN"), or its digits where there is none (a seat, a code of a newer peer)."""
    for known_code, name in CODES[field]:
        if known_code == code:
            return name
    return str(code)


def word(value):
    """4 bytes of an unsigned number below 2^32."""
    return value.to_bytes(4, "little")


def value(four):
    """The unsigned number in 4 bytes."""
    return int.from_bytes(four, "little")
