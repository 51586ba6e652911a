"""Two other links as they are installed, in and out, with bodies of the same size: for the benchmark of the codec.

Each is used as its own programs use it, and where there is a choice, in the way that is faster for it: the size of a
read, no acknowledgements from ASH, pymavlink with its CRC in C, no decoding of fields behind ASH.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable
from typing import Any

from protocol.faulty_line import card
from shoelink import schema

ASH_READS = (64, 128, 256, 512)  # its buffer takes 1024 bytes
# What makes an end of the link, what uses it and counts the frames; or None and why not.
Peer = tuple[Callable[[], Any], Callable[[Any], int] | None, str]


def _cut(wire: bytes, size: int) -> list[bytes]:
    return [wire[at : at + size] for at in range(0, len(wire), size)]


def _missing(package: str) -> Peer:
    return list, None, f"{package} is not installed: pip install 'dealershoe[compare]'"


def about(package: str) -> str:
    """A peer and its version, if it is there."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return package


class _Nowhere:
    """A transport that swallows what is written."""

    def write(self, data: bytes) -> None:
        pass

    def is_closing(self) -> bool:
        return False


class _Above:
    """What takes the payloads."""

    def __init__(self) -> None:
        self.payloads = 0

    def connection_made(self, transport: Any) -> None:
        pass

    def data_received(self, data: bytes) -> None:
        self.payloads += 1


def mavlink(frames: int, read: int) -> Peer:
    """RC_CHANNELS_RAW (22 bytes in 11 scalar fields; a CARD has 21 in 12): `MAVLink.parse_buffer` to messages."""
    os.environ["MAVLINK20"] = "1"
    try:
        from pymavlink.dialects.v20 import common
    except ImportError:
        return _missing("pymavlink")
    sender = common.MAVLink(_Nowhere(), 1, 1)
    wire = b""
    for number in range(frames):
        channels = [(number * 7 + channel * 500) & 0xFFFF for channel in range(8)]
        wire += common.MAVLink_rc_channels_raw_message(number * 500, 1, *channels, 200).pack(sender)
        sender.seq = (sender.seq + 1) % 256

    reads = _cut(wire, read)

    def decode(parser: Any) -> int:
        return sum(len(parser.parse_buffer(data) or ()) for data in reads)

    return lambda: common.MAVLink(_Nowhere(), 1, 1), decode, ""


def mavlink_out(frames: int) -> Peer:
    """COMMAND_ACK (10 bytes in 6 scalar fields; a DUE has 7 in 5): `MAVLink.command_ack_send`, made and written."""
    os.environ["MAVLINK20"] = "1"
    try:
        from pymavlink.dialects.v20 import common
    except ImportError:
        return _missing("pymavlink")

    def encode(sender: Any) -> int:
        for number in range(frames):
            sender.command_ack_send(number, 1, 2, 3, 4, 5)
        return frames

    return lambda: common.MAVLink(_Nowhere(), 1, 1), encode, ""


def ash(frames: int, read: int) -> Peer:
    """DATA frames with the body of a CARD: `AshProtocol.data_received` to payloads, in order, not acknowledged."""
    try:
        from bellows.ash import AshProtocol, DataFrame
    except ImportError:
        return _missing("bellows")
    wire = b""
    for number in range(frames):
        sealed = DataFrame(number % 8, False, 0, schema.pack(card(number))).to_bytes()
        wire += bytes(AshProtocol._stuff_bytes(sealed)) + b"\x7e"

    def prepare() -> tuple[_Above, Any]:
        above = _Above()
        receiver = AshProtocol(above, suppress_acks=True)
        receiver.connection_made(_Nowhere())
        return above, receiver

    reads = _cut(wire, read)

    def decode(prepared: tuple[_Above, Any]) -> int:
        above, receiver = prepared
        for data in reads:
            receiver.data_received(data)
        return above.payloads

    return prepare, decode, ""


def ash_out(bodies: list[bytes]) -> Peer:
    """DATA frames with these bodies: `AshProtocol._write_frame`, without the wait for an acknowledgement before it."""
    try:
        from bellows.ash import AshProtocol, DataFrame
    except ImportError:
        return _missing("bellows")

    def prepare() -> Any:
        sender = AshProtocol(_Above())
        sender.connection_made(_Nowhere())
        return sender

    def encode(sender: Any) -> int:
        for number, body in enumerate(bodies):
            sender._write_frame(DataFrame(number % 8, False, 0, body))
        return len(bodies)

    return prepare, encode, ""
