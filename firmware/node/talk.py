"""The seat bus as frames: what the shoe asks and a node answers. For both ends; `hardware/seat-bus.md` tells it in
prose.

    shoe   A5 | place | taken  |       | CRC-8     4 bytes: the last arrival that it has of that node, or BEGIN, or NONE
    node   5A | place | number | flags | CRC-8     5 bytes: the oldest arrival that the shoe has not, 0: there is none

BEGIN (0) says that the shoe has just started, or that the node has: what waits there is forgotten, for it belongs to no
draw. NONE (255): nothing was taken since. Arrivals are numbered 1 to 254 and again.

The CRC is CRC8H2F of all before it. A node answers TURN_US after the last byte of a question of its own, never else.
"""

from shoe.crc8 import crc8

ASK, ANSWER = 0xA5, 0x5A
ASKS, ANSWERS = 4, 5  # bytes
BEGIN, NONE = 0, 255
UP, UNSURE, FRESH, BLOCKED, LOST = 1, 2, 4, 8, 16  # flags: the arrival lies face up, or it is not known how. The
# node has started and waits for BEGIN, something stands in its gate, arrivals were lost for want of room
PLACES = tuple(range(1, 12)) + (32, 33, 34)  # seats 1 to 11, burn, board, muck
TURN_US = 500  # between question and answer: the shoe has let go of the bus by then
BYTE_US = 87  # 115,200 Bd 8N1


def next_number(number: int) -> int:
    """The number of the arrival after `number`."""
    return number % 254 + 1


class Answerer:
    """A node's half. `hear` takes bytes; when a question is for this node it returns True and `answer` is to be
    sent.
    """

    def __init__(self, place: int, gate):
        self.place = place
        self._gate = gate
        self._fresh = True  # the shoe does not know yet that this node has started
        self._number = 1  # of the oldest arrival that waits
        self._in = bytearray(ASKS)
        self._have = 0
        self.answer = bytearray(ANSWERS)

    def silence(self) -> None:
        """The line was quiet for a byte and more: what came before is no part of what comes now."""
        self._have = 0

    def hear(self, byte: int) -> bool:
        """The next byte of the bus."""
        frame = self._in
        if self._have == ASKS:
            frame[0] = frame[1]
            frame[1] = frame[2]
            frame[2] = frame[3]
            self._have = ASKS - 1
        frame[self._have] = byte
        self._have += 1
        if self._have < ASKS or frame[0] != ASK or crc8(frame, 3) != frame[3]:
            return False
        self._have = 0
        if frame[1] != self.place:
            return False
        self._reply(frame[2])
        return True

    def _reply(self, taken: int) -> None:
        waiting = self._gate.arrived
        if taken == BEGIN:
            waiting.clear()
            self._number = 1
            self._fresh = False
        elif waiting and taken == self._number:
            waiting.pop(0)
            self._number = next_number(self._number)
        flags = FRESH if self._fresh else 0
        if waiting:
            flags |= UP if waiting[0] == 1 else UNSURE if waiting[0] == 2 else 0
        if self._gate.blocked:
            flags |= BLOCKED
        if self._gate.lost:
            flags |= LOST
            self._gate.lost = 0
        answer = self.answer
        answer[0] = ANSWER
        answer[1] = self.place
        answer[2] = self._number if waiting else 0
        answer[3] = flags
        answer[4] = crc8(answer, 4)
