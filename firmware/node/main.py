"""Start-up of a seat node and its one loop. It goes on the node's Pico as main.py, beside node/ and shoe/crc8.py."""

import time

from node import talk
from node.board import Board
from node.gate import INNER, OUTER, Gate


class Node:
    """A node on its parts (`board.py`). `turn(now)` in `ticks_us`, some times a millisecond."""

    def __init__(self, board, now: int):
        self.gate = Gate(board.BACK, board.FACE)
        place = board.place()
        self._board = board
        # switches that name no place: a node that says nothing, which the shoe misses by name
        self._talk = talk.Answerer(talk.PLACES[place] if place < len(talk.PLACES) else 0, self.gate)
        self._looked = self._heard = now
        self._asked = -1  # ticks_us of a question that is still to be answered
        self._until = -1  # ticks_us until the answer has left
        self._in = bytearray(1)

    def turn(self, now: int) -> None:
        board = self._board
        if self._until >= 0:
            if time.ticks_diff(now, self._until) >= 0 and board.bus.txdone():
                board.direction(0)
                self._until = -1
        elif self._asked >= 0 and time.ticks_diff(now, self._asked) >= talk.TURN_US:
            self._asked = -1
            board.direction(1)
            board.bus.write(self._talk.answer)
            self._until = time.ticks_add(now, talk.ANSWERS * talk.BYTE_US)
        while self._until < 0 and board.bus.any():
            if time.ticks_diff(now, self._heard) > 4 * talk.BYTE_US:
                self._talk.silence()
            self._heard = now
            board.bus.readinto(self._in)
            if self._talk.hear(self._in[0]):
                self._asked = now
        if time.ticks_diff(now, self._looked) >= 1000:
            self._looked = now
            slots = (OUTER if board.outer() else 0) | (INNER if board.inner() else 0)
            self.gate.look(slots, board.light.read_u16())
            board.watchdog.feed()


def main():
    """Until the power is cut."""
    board = Board()
    node = Node(board, time.ticks_us())
    while True:
        node.turn(time.ticks_us())


if __name__ == "__main__":
    main()
