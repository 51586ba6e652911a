"""Who may speak: keys of sessions, the tag on each frame, and the count that no replay gets past.

A device's key is 32 bytes that it and its host share. A session's key comes of it and of both nonces, so that nothing
sealed in one session is worth anything in another. `protocol/README.md` says what this proves and what it does not.
No clock is asked, and the shoe's MicroPython has what it needs: SHA-256.
"""

import hashlib
import struct

from shoelink import schema
from shoelink.frame import extend

TYPE_CHECKING = False
if TYPE_CHECKING:  # MicroPython has neither
    from collections.abc import Mapping

KEY = 32  # bytes of a device's key
LABEL = b"shoe/1"
NOBODY = b"\0\0\0\0\0\0\0\0"  # in place of the nonce of a peer that has not been heard
TRIES = 1024  # keys that strange greetings are held against in HELLO_MS: what a room's one thread can spend on a line
_BLOCK = 64  # bytes of a block of SHA-256
_INNER = int.from_bytes(b"\x36" * _BLOCK, "little")
_OUTER = int.from_bytes(b"\x5c" * _BLOCK, "little")
_COVERED = "<BQBBHH"  # sender, extended count, header; then the body


class Mac:
    """HMAC-SHA-256 (RFC 2104) under one key of at most 64 bytes."""

    def __init__(self, key: bytes) -> None:
        padded = int.from_bytes(key, "little")
        self._inner = (padded ^ _INNER).to_bytes(_BLOCK, "little")
        self._outer = (padded ^ _OUTER).to_bytes(_BLOCK, "little")

    def of(self, data: bytes) -> bytes:
        """The 32 bytes."""
        return hashlib.sha256(self._outer + hashlib.sha256(self._inner + data).digest()).digest()


def same(one: bytes, other: bytes) -> bool:
    """Whether they are equal, in a time that depends on their length alone."""
    if len(one) != len(other):
        return False
    difference = 0
    for i in range(len(one)):
        difference |= one[i] ^ other[i]
    return difference == 0


class Seal:
    """The key of one pair of nonces, with what this end has sent and taken under it."""

    def __init__(self, key: "bytes | Mac", device: bytes, of_host: bytes, of_shoe: bytes) -> None:
        self.device = device
        self.sent = 0  # frames sent that are not events
        self.taken = 0  # the highest count of such a frame that was taken
        mac = key if isinstance(key, Mac) else Mac(key)
        self._mac = Mac(mac.of(LABEL + device + of_host + of_shoe))

    def tag(self, sender: int, count: int, kind: int, flags: int, seq: int, ack: int, body: bytes) -> bytes:
        """The tag of a frame; `sender` schema.SHOE or HOST, `count` what `seq` is the low 16 bits of."""
        return self._mac.of(struct.pack(_COVERED, sender, count, kind, flags, seq, ack) + body)[: schema.TAG]


# What a frame that came in is worth.
FRESH = 0  # sealed in this session, and never taken before: the peer lives
SEALED = 1  # sealed, perhaps long ago: a call, or an event out of turn
REFUSED = 2
FOREIGN = 3  # refused, and a greeting: somebody is there who has none of our keys


class Guard:
    """The keys of an end, and the seal of its session. `keys`: device → key; of a shoe its own and no other.

    `count` gets a cause for every frame that is refused: "bad_tag", "replayed", "unsealed"; "untried" for a greeting
    that was not held against every key, because there were too many of them: the device met last is always tried.
    """

    def __init__(self, side: int, device: bytes, keys: "Mapping[bytes, bytes]", count: "dict[str, int]") -> None:
        self.count = count
        self.seal: "Seal | None" = None  # of the session that is up or begins
        self.proven = False  # the peer has sealed a HELLO that answers our nonce
        self._host = side == schema.HOST
        self._side = side
        self._peers = schema.SHOE + schema.HOST - side
        self._device = device
        self.tries = TRIES  # left, until the owner gives them anew
        self._keys = [(device, Mac(key)) for device, key in keys.items()]  # whoever has proven it last is first
        self._nonce = b""
        self._peer_nonce = b""
        self._call: "Seal | None" = None
        self._last: "Seal | None" = None  # of the last session, in which the peer may think that it still is

    def begin(self, nonce: bytes) -> None:
        """This end greets anew with `nonce`: what was sealed before is worth nothing now."""
        if self.proven:
            self._last = self.seal
        self._nonce = nonce
        self._peer_nonce = b""
        self.tries = TRIES
        self.seal = None
        self.proven = False
        if not self._host:
            self._call = Seal(self._keys[0][1], self._device, NOBODY, nonce)

    def follow(self, nonce: bytes) -> None:
        """A shoe's host has said in the session that was up that it greets anew with `nonce`: no call is needed."""
        self.seal = self._pair(self._keys[0][1], self._device, nonce)
        self._peer_nonce = nonce

    def close(self, numbered: bool, number: int, kind: int, flags: int, ack: int, body: bytes) -> "tuple[int, bytes]":
        """Seal a frame that goes out: its `seq` (extended) and its tag. No tag: there is nothing to seal it with yet.

        `number` is that of an event (`numbered`), else what an unsealed frame has.
        """
        seal = self.seal or self._call or self._last
        if seal is None:
            return number, b""
        if not numbered:
            number = 0
            if seal is not self._call:  # all calls are number 0: they can be repeated by anyone
                seal.sent += 1
                number = seal.sent
        return number, seal.tag(self._side, number, kind, flags | schema.FLAG_AUTH, number & 0xFFFF, ack & 0xFFFF, body)

    def open(self, kind: int, flags: int, seq: int, ack: int, body: bytes, up: bool, expected: int) -> int:
        """Judge a frame from the peer before it changes anything. `expected`: the event that a host waits for."""
        greets = kind & ~schema.FROM_HOST == schema.HELLO
        if not flags & schema.FLAG_AUTH:
            return self._refuse("unsealed", FOREIGN if greets else REFUSED)
        tag = body[-schema.TAG :]
        body = body[: -schema.TAG]
        if greets and not up and len(body) >= schema.MINIMUM[schema.HELLO]:
            hello = schema.unpack(schema.HELLO, body)
            answers = hello.answers == self._nonce[:4]
            if not answers or self.seal is None or hello.nonce != self._peer_nonce:
                return self._meet(hello, answers, kind, flags, seq, ack, body, tag)
        seal = self.seal
        if seal is None:
            return self._refuse("bad_tag")
        event = self._host and kind & schema.RELIABLE != 0
        count = extend(seq, expected if event else seal.taken)
        if count < 0 or not same(tag, seal.tag(self._peers, count, kind, flags, seq, ack, body)):
            return self._refuse("bad_tag")
        if event:
            return FRESH if count == expected else SEALED
        if count <= seal.taken:
            return self._refuse("replayed")
        seal.taken = count
        if greets:
            self._prove(seal.device)
        return FRESH

    def _meet(
        self, hello: "schema.Hello", answers: bool, kind: int, flags: int, seq: int, ack: int, body: bytes, tag: bytes
    ) -> int:
        """A HELLO of a peer that is not known yet: of which device is it, if of any with a key?

        One that answers our nonce is sealed for the two nonces, and made now. A call, which answers nobody, is sealed
        for the shoe's nonce alone: the device has made it, perhaps long ago, and it only says whom to answer.
        """
        if not answers and (not self._host or hello.answers != NOBODY[:4]):
            return self._refuse("bad_tag")
        for device, key in self._keys:
            if self.tries <= 0 and device != self._keys[0][0]:
                return self._refuse("untried")
            self.tries -= 1
            seal = self._pair(key, device, hello.nonce) if answers else Seal(key, device, NOBODY, hello.nonce)
            if same(tag, seal.tag(self._peers, seq if answers else 0, kind, flags, seq, ack, body)):
                if not answers and self.proven:
                    return self._refuse("replayed")
                if answers or hello.nonce != self._peer_nonce:
                    self.seal = seal if answers else self._pair(key, device, hello.nonce)
                    self.seal.taken = seq if answers else 0
                    self.proven = False
                    self._peer_nonce = hello.nonce
                if answers:
                    self._prove(device)
                return FRESH if answers else SEALED
        return self._refuse("bad_tag", FOREIGN)

    def _prove(self, device: bytes) -> None:
        """The device has sealed a HELLO that answers our nonce."""
        self.proven = True
        for place in range(1, len(self._keys)):
            if self._keys[place][0] == device:
                self._keys.insert(0, self._keys.pop(place))

    def _pair(self, key: Mac, device: bytes, nonce: bytes) -> Seal:
        return Seal(key, device, self._nonce, nonce) if self._host else Seal(key, device, nonce, self._nonce)

    def _refuse(self, why: str, worth: int = REFUSED) -> int:
        self.count[why] += 1
        return worth
