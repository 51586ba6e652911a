"""The shoe's loop with a reader of tags beside the heads: a short step of it in every turn. For board.py."""

from shoe.loop import Shoe
from shoe.passage import THROAT
from shoe.sampleclock import MASK

STEPS, MOST_STEPS = 3, 4  # in a turn: with the throat clear a card may be out, and is to be decoded, at any moment


class RfidShoe(Shoe):
    """As `Shoe`; what `board.witness` makes is a `rfid.tags.Tags`."""

    def _sense(self) -> None:
        Shoe._sense(self)
        if self.events.cards == self._cards:  # else the light is first
            now = self.clock.index + self.board.sampler.waiting() & MASK
            self.witness.look(now, self.passage.idle, MOST_STEPS if self.passage.levels & THROAT else STEPS)

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
