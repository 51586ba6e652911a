"""What happened, written into the journal as the wire's events: COMMIT, REVEAL, CARD, CARD_BACK, SEAT, KEY, FAULT,
CLEAR.

Listens to the passage, the seat bus and the keys; keeps the hand's number and the numbers of its draws. From a sensor's
edge to the journal nothing here allocates: bodies are packed straight into the journal's buffer.
"""

import struct
from array import array

from shoelink import schema

from shoe import lanes
from shoe.cardcode import CARDS, FEW, JOKERS, READ
from shoe.sampleclock import PER_MS, since
from shoe.selftest import TEST_CARD, TEST_DECK
from shoe.strip import print_below

_PENDING = 4  # draws that may be on their way to a seat node at once
_FLIGHT = 2000 * PER_MS  # samples after which a draw is no longer waited for: its place has no node
_UNREAD = bytearray(schema.TOKEN_UNREAD)
_DOUBTFUL = schema.CARD_UNREAD | schema.CARD_DOUBLE | schema.CARD_REVERSED | schema.CARD_FOREIGN | schema.CARD_BY_TAG
_CERTAIN_SEAT = 95  # percent: a node saw a card arrive; that it is this draw follows from the order
_DOUBTFUL_SEAT = 30  # no card was on its way: the host is told, and believes it not
MISSED = 0x100  # detail of FAULT SLOT, beside the slot; else it is the marks that were seen of something odd
NO_TEST, AWAITED, TEST_READ, TEST_FAILED = 0, 1, 2, 3  # of the test card


def next_hand(hand: int) -> int:
    """The number of the hand after `hand`: 16 bits, never 0, which means that no hand has begun."""
    return hand % 0xFFFF + 1


class Events:
    """`link` is the journal's owner, `clock` the sample clock, `exits` the exit lanes, `veil` what cards are called."""

    def __init__(self, link, clock, exits, veil):
        self._link = link
        self._clock = clock
        self._exits = exits
        self._veil = veil
        self.hand = 0
        self.draw = 0  # the draw that left last; 0: none in this hand
        self.faults = 0  # bit c: FAULT c is open
        self.cards = 0  # cards that have left since the start; the lights watch it
        self.doubtful = False  # the last of them is one that the shoe itself doubts
        self.new_hand = False  # a hand has begun: the main loop clears it when it has tidied up
        self._due = schema.TARGET_UNKNOWN
        self._old_hand = -1  # the hand before the key was pressed, while the host may not know of the press
        self._key_number = 0  # that press's number in the journal
        self._t_us = bytearray(4)
        self._token = bytearray(4)
        self._on_the_way = array("i", (0,) * (4 * _PENDING))  # (draw, target expected, lanes, sample), oldest first
        self._waiting = 0
        self._odd = 0  # the place whose node has told of a card that went elsewhere, as far as the shoe knows
        self._odd_draw = array("i", (0,) * 4)  # that draw, as it was on its way
        self.test_card = NO_TEST
        self.tags = None  # rfid/tags.py, where there is a reader of tags

    def resume(self, hand: int, draw: int, anew: bool) -> None:
        """Go on in a hand after a reset: what the journal's last events were of. `anew`: its secret is lost, and the
        rest of it has another.
        """
        if anew and hand:
            self._begin(hand)
        self.hand = hand
        self.draw = draw

    # ---- from the host

    def take_due(self, due) -> None:
        """The host's DUE: what the next card is for, and which hand it is."""
        self._due = lanes.due_target(due.due, due.seat)
        if due.hand == self.hand or due.hand == 0:
            return
        if due.hand == self._old_hand and self._link.journal.oldest <= self._key_number:
            return  # sent before the host heard of the new-hand key
        self._begin(due.hand)

    def _begin(self, hand: int) -> None:
        self.hand = hand
        self.draw = 0
        self._waiting = self._odd = 0
        self._old_hand = -1
        self.new_hand = True
        over, commit = self._veil.begin(hand)
        if over is not None:
            self._say(schema.REVEAL, over)
        self._say(schema.COMMIT, commit)

    # ---- from the passage

    def left(self, passage) -> None:
        """A card has left: CARD. With DOUBLE the passage took two draw numbers, this one and the next.

        The test card, when a test waits for it, is none of the game; any other card is.
        """
        below, above = passage.below, passage.above
        self.clear(schema.FAULT_SLOT, 0, passage.at)
        if self.test_card == AWAITED:
            whole = below.result == READ and below.card == TEST_CARD and below.deck == TEST_DECK
            self.test_card = TEST_READ if whole and not passage.double else TEST_FAILED
            if self.test_card == TEST_READ:
                self._exits.take()
                return
        flags = 0
        if below.result == READ:
            reading, way_up = below, schema.WAY_DOWN
        elif above.result == READ:
            reading, way_up = above, schema.WAY_UP
        elif passage.bottom.marks >= FEW and passage.top.marks < FEW and print_below(passage.bottom, passage.top):
            reading, way_up = below, schema.WAY_DOWN
        elif passage.top.marks >= FEW and passage.bottom.marks < FEW:
            reading, way_up = above, schema.WAY_UP
        else:
            reading, way_up = below, schema.WAY_UNKNOWN
        deck = schema.DECK_UNKNOWN
        token = _UNREAD
        if reading.result == READ:
            deck = reading.deck
            if reading.reversed:
                flags |= schema.CARD_REVERSED
            if reading.card < CARDS:
                token = self._token
                self._veil.name(reading.card, token)
                if reading.card >= JOKERS:
                    flags |= schema.CARD_JOKER
            else:
                flags |= schema.CARD_FOREIGN
        else:
            flags |= schema.CARD_UNREAD
        if passage.double:
            flags |= schema.CARD_DOUBLE
        if self.tags is not None:
            place = self.tags.passed(reading, way_up == schema.WAY_DOWN, passage.double, passage.at)
            if place >= 0:  # a tag says nothing of which way up its card lies
                flags = schema.CARD_BY_TAG | (schema.CARD_JOKER if place % CARDS >= JOKERS else 0)
                way_up, deck, token = schema.WAY_UNKNOWN, place // CARDS, self._token
                self._veil.name(place % CARDS, token)
        self.doubtful = flags & _DOUBTFUL != 0 or way_up == schema.WAY_UP
        covered = self._exits.take()
        target = lanes.hint(covered, self._due)
        origin = certainty = 0
        if target != schema.TARGET_UNKNOWN:
            origin = schema.ORIGIN_LANE
            certainty = lanes.AGREED if target == self._due else lanes.ALONE
        draw = self.draw + 1
        self.draw = draw + 1 if passage.double else draw
        self.cards += 1
        expected = target if target != schema.TARGET_UNKNOWN else self._due
        for number in range(draw, self.draw + 1):
            self._expect(number, expected, covered, passage.at)
        at = self._open(schema.CARD)
        if at < 0:
            return
        self._clock.stamp(passage.at, self._t_us)
        struct.pack_into(
            schema.LAYOUTS[schema.CARD],
            self._link.journal.buffer,
            at,
            self.hand,
            draw,
            self._t_us,
            token,
            deck,
            way_up,
            target,
            origin,
            certainty,
            flags,
            passage.speed,
            reading.erasures,
        )
        self._link.journal.close()

    def back(self, passage) -> None:
        """A card came back: CARD_BACK, with the number it had, or the one it would have had if it had not left yet."""
        draw = self.draw
        if not passage.had_left:
            draw += 1
        elif draw:
            self.draw = draw - 1
            self._waiting = max(self._waiting - 1, 0)
        self._exits.take()
        at = self._open(schema.CARD_BACK)
        if at < 0:
            return
        self._clock.stamp(passage.at, self._t_us)
        struct.pack_into(
            schema.LAYOUTS[schema.CARD_BACK],
            self._link.journal.buffer,
            at,
            self.hand,
            draw,
            self._t_us,
            passage.distance,
        )
        self._link.journal.close()

    def stopped(self, passage, slots: int) -> None:
        self.fault(schema.FAULT_HALF_DRAWN, slots, passage.at)

    def moved(self, passage) -> None:
        self.clear(schema.FAULT_HALF_DRAWN, 0, passage.at)

    def odd(self, passage, marks: int) -> None:
        """Something was put in and taken out, or a card was missed: a person must look. Over at once."""
        if not self.faults >> schema.FAULT_SLOT & 1:
            self.fault(schema.FAULT_SLOT, marks, passage.at)
            self.clear(schema.FAULT_SLOT, marks, passage.at)

    def missed(self, passage, slot: int) -> None:
        """A card may have left past a slot that did not see it; over when one has been seen by both."""
        self.fault(schema.FAULT_SLOT, MISSED | slot, passage.at)

    def dirty(self, passage, bits: int) -> None:
        if bits:
            self.fault(schema.FAULT_HEAD, bits, passage.at)
        else:
            self.clear(schema.FAULT_HEAD, 0, passage.at)

    # ---- from the other parts

    def arrived(self, place: int, way_up: int) -> int:
        """A seat node saw a card arrive: SEAT, for the draw that it most likely is.

        Returns the place whose node tells of cards out of nothing: this one where no card was on its way; or the one
        whose report took this card, which was on its way here. 0: it is this one's. -1: it may be, though the card was
        seen over another lane, or was due elsewhere.
        """
        at = self._open(schema.SEAT)
        found = self._arrival(place)
        draw = liar = 0
        way, odd = self._on_the_way, self._odd_draw
        fits = found >= 0 and _fits(place, way, 4 * found)
        robbed = self._odd and _fits(place, odd, 0) and since(self._clock.index, odd[3]) <= _FLIGHT
        if robbed and not fits:
            draw = odd[0]
            liar, self._odd = self._odd, 0
        elif found >= 0:
            draw = way[4 * found]
            if not fits:
                liar = 0 if self._odd == place else -1  # nobody has claimed the one before
                self._odd = place
                for i in range(4):
                    odd[i] = way[4 * found + i]
            self._forget(found)
        else:
            liar = place
        if at < 0:
            return liar
        self._clock.stamp(self._clock.index, self._t_us)
        struct.pack_into(
            schema.LAYOUTS[schema.SEAT],
            self._link.journal.buffer,
            at,
            self.hand,
            draw or self.draw,
            self._t_us,
            place,
            way_up,
            _CERTAIN_SEAT if draw else _DOUBTFUL_SEAT,
        )
        self._link.journal.close()
        return liar

    def pressed(self, key: int, press: int) -> None:
        """A key: KEY. New hand, pressed short, begins the next hand here and now, and carries its number."""
        begins = key == schema.KEY_NEW_HAND and press == schema.PRESS_SHORT
        old = self.hand
        if begins:
            self._begin(next_hand(old))
        at = self._open(schema.KEY)
        if at < 0:
            return
        self._clock.stamp(self._clock.index, self._t_us)
        struct.pack_into(schema.LAYOUTS[schema.KEY], self._link.journal.buffer, at, self.hand, self._t_us, key, press)
        number = self._link.journal.close()
        if begins:
            self._old_hand = old
            self._key_number = number

    def fault(self, code: int, detail: int, index: int, another: bool = False) -> None:
        """FAULT, once until it is cleared, and for `another` part of the same kind. `index`: the sample."""
        if another or not self.faults >> code & 1:
            self.faults |= 1 << code
            self._device(schema.FAULT, code, detail, index)

    def clear(self, code: int, detail: int, index: int) -> None:
        """CLEAR, if the fault is open."""
        if self.faults >> code & 1:
            self.faults &= ~(1 << code)
            self._device(schema.CLEAR, code, detail, index)

    # ---- helpers

    def nodes(self) -> int:
        """The places that had a seat node before the power was off, a bit each."""
        return self._link.journal.nodes()

    def keep_nodes(self, nodes: int) -> None:
        """These have one now."""
        self._link.journal.keep_nodes(nodes)

    def _open(self, kind: int) -> int:
        return self._link.open(kind, schema.MINIMUM[kind])

    def _say(self, kind: int, message) -> None:
        at = self._open(kind)
        if at >= 0:
            schema.pack_into(self._link.journal.buffer, at, message)
            self._link.journal.close()

    def _device(self, kind: int, code: int, detail: int, index: int) -> None:
        at = self._open(kind)
        if at < 0:
            return
        self._clock.stamp(index, self._t_us)
        struct.pack_into(schema.LAYOUTS[kind], self._link.journal.buffer, at, self._t_us, code, detail)
        self._link.journal.close()

    def _expect(self, draw: int, target: int, covered: int, index: int) -> None:
        """A draw is on its way."""
        if self._waiting == _PENDING:
            self._forget(0)
        at = 4 * self._waiting
        way = self._on_the_way
        way[at] = draw
        way[at + 1] = target
        way[at + 2] = covered
        way[at + 3] = index
        self._waiting += 1

    def _forget(self, place: int) -> None:
        for i in range(4 * place, 4 * self._waiting - 4):
            self._on_the_way[i] = self._on_the_way[i + 4]
        self._waiting -= 1

    def _arrival(self, target: int) -> int:
        """Which of the draws on their way has arrived at `target`; -1 when there is none.

        The oldest that went over the lane of `target` or, where no lane sensor saw it, was expected there: of two in
        the air over one lane the first to leave is the first to lie. Where none fits it is the oldest that no lane
        sensor saw, else the oldest.
        """
        way = self._on_the_way
        while self._waiting and since(self._clock.index, way[3]) > _FLIGHT:
            self._forget(0)
        unseen = -1
        for place in range(self._waiting):
            if _fits(target, way, 4 * place):
                return place
            if unseen < 0 and not way[4 * place + 2]:
                unseen = place
        return unseen if unseen >= 0 or not self._waiting else 0


def _fits(target: int, way, at: int) -> bool:
    """Whether the draw at `at` of those on their way was seen over the lane of `target` or, where none saw it, was due
    there."""
    lane = lanes.lane_of(target)
    covered = way[at + 2]
    return (covered >> lane & 1) != 0 if covered and lane >= 0 else way[at + 1] == target
