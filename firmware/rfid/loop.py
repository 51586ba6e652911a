"""The shoe's loop with a reader of tags beside the heads: some short steps of it in every turn. For board.py."""

from shoe.loop import UNSERVED_MS, Shoe
from shoe.passage import ACROSS, EMPTY, FOLLOWED
from shoe.sampleclock import MASK, PER_MS, since
from shoelink.timing import elapsed

MOST_STEPS, STEPS = 4, 3  # in a turn, of 0.3 ms; with a card on its way out
NEAR = 4 * PER_MS  # samples before it is out, at the speed at which it came: nothing is to delay its decoding
FAST = 12 * PER_MS  # samples from slot to slot, 2 m/s: few tags answer in time, and all turns are needed for the code
JOB = 10 * PER_MS  # samples that a job takes at most


class RfidShoe(Shoe):
    """As `Shoe`; what `board.witness` makes is a `rfid.tags.Tags`."""

    def _sense(self) -> None:
        Shoe._sense(self)
        if self.events.cards != self._cards:  # the light is first
            return
        passage, steps = self.passage, MOST_STEPS
        state = passage.state
        if ACROSS <= state <= FOLLOWED and not passage.still:
            came = since(passage._lipped, passage._entered)
            # The tail has the same 24 mm to go as the head had from slot to slot.
            if came < FAST or (state != ACROSS and since(self.clock.index, passage._tail) + NEAR >= came):
                return
            steps = STEPS
        self.witness.look(self.clock.index + self.board.sampler.waiting() & MASK, state == EMPTY, steps)

    def _is_urgent(self, now: int) -> bool:
        """Nor is there time for a job when the tag is about to come over the loop: at the speed at which the head came
        24 mm, its 36 mm on from the lip take half as long again."""
        if Shoe._is_urgent(self, now):
            return True
        passage = self.passage
        if passage.state != ACROSS or passage.still or elapsed(now, self._served_at) >= UNSERVED_MS:
            return False
        came = since(passage._lipped, passage._entered)
        return 3 * came // 2 < since(self.clock.index, passage._lipped) + JOB <= 3 * came + JOB

    def _greet(self, now: int) -> None:
        before = self._greets
        Shoe._greet(self, now)
        if self._greets and not before:
            self._judge_test()

    def _judge_test(self) -> None:
        """Of the reader is known what its start has shown, and every request since."""
        if self._greets:
            self.selftest.judge("READER", self.witness.reader.trouble == 0)
        Shoe._judge_test(self)
