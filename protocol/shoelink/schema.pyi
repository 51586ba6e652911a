"""The types of `schema.py`; written by `protocol/stub.py`, do not edit."""

from typing import Any, Final, NamedTuple

MAJOR: Final = 1
MINOR: Final = 0
FROM_HOST: Final = 128
CRITICAL: Final = 64
RELIABLE: Final = 32
SHOE: Final = 1
HOST: Final = 2
HELLO: Final = 65
IDENT: Final = 2
PING: Final = 3
PONG: Final = 4
ACK: Final = 5
NAK: Final = 6
STATS: Final = 7
ENROLL: Final = 138
ENROLLED: Final = 11
LOOKUP: Final = 140
WORDS: Final = 13
SELF_TEST: Final = 14
TEST: Final = 143
CARD: Final = 97
CARD_BACK: Final = 98
SEAT: Final = 35
KEY: Final = 100
DECK: Final = 101
FAULT: Final = 102
CLEAR: Final = 39
COMMIT: Final = 42
REVEAL: Final = 43
SIGNAL: Final = 232
DUE: Final = 169
FLAG_AUTH: Final = 128
FLAG_ASK: Final = 64
FLAGS_MUST: Final = 240
HEADER: Final = 6
BODY: Final = 40
EVENT: Final = 24
TAG: Final = 8
CRC: Final = 4
WORDS_TEXT: Final = 32
FRAME: Final = 61
WAY_DOWN: Final = 0
WAY_UP: Final = 1
WAY_UNKNOWN: Final = 2
TARGET_UNKNOWN: Final = 0
TARGET_BURN: Final = 32
TARGET_BOARD: Final = 33
TARGET_MUCK: Final = 34
TARGET_OFF_TABLE: Final = 35
ORIGIN_NONE: Final = 0
ORIGIN_LANE: Final = 1
ORIGIN_SEAT_SENSOR: Final = 2
CARD_DOUBLE: Final = 1
CARD_REVERSED: Final = 2
CARD_UNREAD: Final = 4
CARD_FOREIGN: Final = 8
CARD_JOKER: Final = 16
CARD_BY_TAG: Final = 32
DECK_UNKNOWN: Final = 255
KEY_NEW_HAND: Final = 1
KEY_ACTION: Final = 2
KEY_BETTING_COMPLETE: Final = 3
KEY_EXPOSED: Final = 4
KEY_DONE: Final = 5
KEY_FLOOR: Final = 6
PRESS_SHORT: Final = 0
PRESS_HELD: Final = 1
DECK_LOADED: Final = 1
DECK_EMPTY: Final = 2
COUNT_UNKNOWN: Final = 255
FAULT_HALF_DRAWN: Final = 1
FAULT_HEAD: Final = 2
FAULT_SLOT: Final = 3
FAULT_DAZZLE: Final = 4
FAULT_JOURNAL_FULL: Final = 5
FAULT_LID: Final = 6
FAULT_UNKNOWN_KIND: Final = 7
FAULT_SAMPLES_LOST: Final = 8
FAULT_SEAT_NODE: Final = 9
FAULT_FRAM: Final = 10
FAULT_TAMPER: Final = 11
FAULT_SUPPLY: Final = 12
FAULT_KEYS: Final = 13
FAULT_LANES: Final = 14
FAULT_LIGHT: Final = 15
FAULT_SEAT_BUS: Final = 16
FAULT_CALIBRATION: Final = 17
FAULT_SAMPLER: Final = 18
FAULT_SELF_TEST: Final = 19
FAULT_READER: Final = 20
FAULT_TAG: Final = 21
SIGNAL_READY: Final = 0
SIGNAL_ATTENTION: Final = 1
SIGNAL_STOP: Final = 2
SIGNAL_FLOOR: Final = 3
MODE_SUPERVISED: Final = 0
MODE_ALIGN: Final = 1
REASON_NONE: Final = 0
REASON_MISDEAL: Final = 1
REASON_REPLACE: Final = 2
REASON_CORRECT: Final = 3
REASON_DEAD: Final = 4
REASON_VOID: Final = 5
REASON_PLAY_ON: Final = 6
REASON_FLOOR: Final = 7
REASON_FAULT: Final = 8
DUE_NOTHING: Final = 0
DUE_SEAT: Final = 1
DUE_BURN: Final = 2
DUE_BOARD: Final = 3
DUE_BETTING: Final = 4
DUE_ACK: Final = 5
DUE_SHUFFLE: Final = 6
DUE_PICK: Final = 7
RESET_UNKNOWN: Final = 0
RESET_POWER: Final = 1
RESET_WATCHDOG: Final = 2
RESET_SOFT: Final = 3
NAK_GAP: Final = 1
NAK_DAMAGED: Final = 2
ENROLLED_WRITTEN: Final = 1
ENROLLED_CLOSED: Final = 2
ENROLLED_FAILED: Final = 3
WHY_POWER_UP: Final = 0
WHY_HOST: Final = 1
TEST_PARTS: Final = 1
TEST_CARD: Final = 2
TEST_CALIBRATE: Final = 3
TOKEN_UNREAD: Final[bytes]
NO_JOURNAL: Final[bytes]
SCHEMA: Final[bytes]

class Hello(NamedTuple):
    major: int
    minor: int
    schema: bytes
    journal: bytes
    boot: bytes
    reset: int
    oldest: int
    next: int
    receive: int
    nonce: bytes
    answers: bytes

class Ident(NamedTuple):
    device: bytes
    build: bytes
    digest: bytes

class Ping(NamedTuple):
    t_us: bytes

class Pong(NamedTuple):
    ping: bytes
    received: bytes
    sent: bytes

class Ack(NamedTuple):
    kind: int
    generation: int

class Nak(NamedTuple):
    expected: int
    reject: int

class Stats(NamedTuple):
    t_us: bytes
    frames: int
    damaged: int
    sent: int
    resent: int
    naks: int
    lost: int
    held: int
    peak: int
    refused: int
    overruns: int
    free: int

class Enroll(NamedTuple):
    secret: bytes

class Enrolled(NamedTuple):
    result: int

class Lookup(NamedTuple):
    offset: int

class Words(NamedTuple):
    offset: int
    total: int
    text: bytes

class SelfTest(NamedTuple):
    t_us: bytes
    why: int
    tested: int
    failed: int
    took: int

class Test(NamedTuple):
    what: int

class Card(NamedTuple):
    hand: int
    draw: int
    t_us: bytes
    token: bytes
    deck: int
    way_up: int
    target: int
    origin: int
    certainty: int
    flags: int
    speed: int
    erasures: int

class CardBack(NamedTuple):
    hand: int
    draw: int
    t_us: bytes
    distance: int

class Seat(NamedTuple):
    hand: int
    draw: int
    t_us: bytes
    place: int
    way_up: int
    certainty: int

class Key(NamedTuple):
    hand: int
    t_us: bytes
    key: int
    press: int

class Deck(NamedTuple):
    hand: int
    t_us: bytes
    event: int
    deck: int
    count: int  # type: ignore[assignment]

class Fault(NamedTuple):
    t_us: bytes
    code: int
    detail: int

class Clear(NamedTuple):
    t_us: bytes
    code: int
    detail: int

class Commit(NamedTuple):
    hand: int
    commitment: bytes

class Reveal(NamedTuple):
    hand: int
    secret: bytes

class Signal(NamedTuple):
    generation: int
    signal: int
    reason: int
    mode: int

class Due(NamedTuple):
    generation: int
    hand: int
    due: int
    seat: int
    cards: int

Message = (
    Hello
    | Ident
    | Ping
    | Pong
    | Ack
    | Nak
    | Stats
    | Enroll
    | Enrolled
    | Lookup
    | Words
    | SelfTest
    | Test
    | Card
    | CardBack
    | Seat
    | Key
    | Deck
    | Fault
    | Clear
    | Commit
    | Reveal
    | Signal
    | Due
)

NAMES: dict[int, str]
SENDERS: dict[int, int]
TYPES: dict[int, type[Message]]
FIELDS: dict[int, str]
LAYOUTS: dict[int, str]
MINIMUM: dict[int, int]
KIND_OF: dict[type[Message], int]
CODES: dict[str, tuple[tuple[int, str], ...]]

class ShortBodyError(ValueError): ...

def canonical() -> str: ...
def pack(message: Message) -> bytes: ...
def pack_into(buffer: bytearray | memoryview, at: int, message: Message) -> int: ...
def unpack(kind: int, body: bytes | bytearray | memoryview) -> Any: ...
def known(kind: int, from_host: bool) -> int: ...
def code_name(field: str, code: int) -> str: ...
def word(value: int) -> bytes: ...
def value(four: bytes) -> int: ...
