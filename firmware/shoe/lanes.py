"""From the exit lanes that a card was seen over to a hint of where it goes. For the CARD event.

Seat s leaves over lane (s - 1) * 7 // 11, burn, board and muck over lane 7. Eleven seats share seven lanes, so a lane
is never proof: if what is due lies in a lane that was covered the hint is that, else the lane's lowest target.
"""

from shoelink import schema

BESIDE = 7  # the lane of burn, board and muck
AGREED, ALONE = 60, 30  # percent: certainty of a hint that is what was due, and of one that is not


def lane_of(target: int) -> int:
    """The lane of a target (1..11 seats, 32.. places beside the seats); -1 for one that has none."""
    if 1 <= target <= 11:
        return (target - 1) * 7 // 11
    return BESIDE if schema.TARGET_BURN <= target <= schema.TARGET_MUCK else -1


LOWEST = tuple([min([seat for seat in range(1, 12) if lane_of(seat) == lane]) for lane in range(BESIDE)]) + (
    schema.TARGET_BURN,
)

_DUE_PLACE = {schema.DUE_BURN: schema.TARGET_BURN, schema.DUE_BOARD: schema.TARGET_BOARD}


def due_target(due: int, seat: int) -> int:
    """The target that DUE's fields name; TARGET_UNKNOWN when no card is due."""
    if due == schema.DUE_SEAT:
        return seat
    return _DUE_PLACE.get(due, schema.TARGET_UNKNOWN)


def hint(lanes: int, due: int) -> int:
    """The target hinted at by the covered `lanes` (bit k: lane k) when target `due` is due; TARGET_UNKNOWN for none."""
    if not lanes:
        return schema.TARGET_UNKNOWN
    lane = lane_of(due)
    if lane >= 0 and lanes >> lane & 1:
        return due
    lane = 0
    while not lanes >> lane & 1:
        lane += 1
    return LOWEST[lane]


class ExitLanes:
    """What the lane sensors saw while a card went over them; the last that was not empty counts. `ignore`: lanes that
    are out of order. More lanes at once than two are no card."""

    def __init__(self):
        self.seen = 0
        self.ignore = 0

    def see(self, lanes: int) -> None:
        """The sensors' levels now, looked at while a card is between the slots or over the lip. -1: none can be
        read.
        """
        if lanes < 0:
            return
        lanes &= ~self.ignore
        fewer = lanes & (lanes - 1)
        if lanes and not fewer & (fewer - 1):
            self.seen = lanes

    def take(self) -> int:
        """The lanes of the card that has just left; forgotten after."""
        lanes = self.seen
        self.seen = 0
        return lanes
