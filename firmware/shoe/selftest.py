"""The shoe tests its own parts: at power-up, and when the host asks. The result is SELF_TEST's bits. For main.py, loop.

What needs a person is not judged: the light bar and the piezo are shown, and the code head is tested with the test card
(`TEST_CARD`). Everything else is driven or read, and must be as it is with no card in the throat and no hand about.
"""

import gc

from shoelink import schema
from shoelink.timing import elapsed

from shoe.calibration import GOOD

BIT = {name: bit for bit, name in schema.CODES["part"]}
TEST_CARD = 54  # its code is no card's: 110110, deck 1
TEST_DECK = 1
SCRATCH = 0x00C0  # in the FRAM
_PATTERNS = (0x55, 0xAA)
LEAST_MEMORY = 20_000  # bytes free
TRACKS = 0x1F  # the heads' bits of a sample
SLOTS = 0x60
DARKEST = 16  # of the ambient light; a receiver that is there gives more even in the dark
MOST_SUPPLY = 40000  # 6 V
MOST_LIGHT = 64500  # a receiver in its stop
SHOW_MS = 50  # bar and tone each: together shorter than the sampler's ring
TONE = 880


class SelfTest:
    """`board` has the parts (board.py), `wait(ms)` lets time pass, `ticks()` are its milliseconds. `tested` and
    `failed` after `run`.
    """

    def __init__(self, board, wait, ticks):
        self._board = board
        self._wait = wait
        self._ticks = ticks
        self.tested = 0
        self.failed = 0

    def run(self) -> int:
        """Test everything that needs no person; returns how many ms it took, some 110."""
        begun = self._ticks()
        self.tested = self.failed = 0
        board = self._board
        self.judge("MEMORY", self._memory())
        if board.memory is not None:
            self.judge("FRAM", self._fram())
        self.judge("HEADS", self._heads())
        self.judge("SLOTS", not board.levels() & SLOTS)
        self.judge("LIGHT", self._light())
        self.judge("LANES", board.lanes.read() == 0)
        self.judge("KEYS", self._keys())
        self.judge("LID", not board.lid() and not (board.tamper is not None and board.tamper()))
        self.judge("AMBIENT", DARKEST <= board.ambient.read_u16() <= board.calibration.dazzle)
        self.judge("SUPPLY", board.SUPPLY_LOW <= board.supply.read_u16() <= MOST_SUPPLY)
        self.judge("SAMPLER", self._sampler())
        self.judge_calibration()
        self.show()
        return elapsed(self._ticks(), begun)

    @property
    def faulty(self) -> int:
        """Of `failed`, what is out of order: a shoe that was never calibrated deals with the levels of its board."""
        return self.failed & ~BIT["CALIBRATION"]

    def judge_card(self, read: bool) -> None:
        """The test card has passed; whether it was read as it is."""
        self.judge("CODE", read)

    def judge_calibration(self) -> None:
        """Whether there is one that was made on this shoe."""
        self.judge("CALIBRATION", self._board.calibration.state == GOOD)

    def show(self) -> None:
        """All lamps and a tone, for the person who looks on."""
        board = self._board
        self.tested |= BIT["BAR"] | BIT["PIEZO"]
        board.bar.show(0xFF, (40, 40, 40))
        self._wait(SHOW_MS)
        board.piezo.tone(TONE)
        self._wait(SHOW_MS)
        board.piezo.tone(0)

    def judge(self, part: str, well: bool) -> None:
        """What is known of a part."""
        bit = BIT[part]
        self.tested |= bit
        if well:
            self.failed &= ~bit
        else:
            self.failed |= bit

    def _memory(self) -> bool:
        memory = bytearray(512)
        for pattern in _PATTERNS:
            for i in range(len(memory)):
                memory[i] = pattern ^ (i & 0xFF)
            for i in range(len(memory)):
                if memory[i] != pattern ^ (i & 0xFF):
                    return False
        gc.collect()
        return self._board.free_memory() >= LEAST_MEMORY

    def _fram(self) -> bool:
        memory = self._board.memory
        back = bytearray(8)
        try:
            if memory.device_id() != memory.DEVICE_ID:
                return False
            for pattern in _PATTERNS:
                memory.write(bytes((SCRATCH >> 8, SCRATCH & 0xFF)) + bytes([pattern] * 8))
                memory.read_into(SCRATCH, back)
                if back != bytes([pattern] * 8):
                    return False
        except OSError:
            return False
        return True

    def _heads(self) -> bool:
        """Every track is light over the white plate; with the emitters off none is."""
        board = self._board
        if board.levels() & TRACKS:
            return False
        if board.head_emitter is None:
            return True
        board.head_emitter(0)
        self._wait(1)
        dark = board.levels() & TRACKS
        board.head_emitter(1)
        self._wait(1)
        return dark == TRACKS and not board.levels() & TRACKS

    def _light(self) -> bool:
        board = self._board
        lit = board.light.read_u16()
        if 2 * lit < board.calibration.free or lit >= MOST_LIGHT:
            return False
        if board.emitter is None:
            return True
        board.emitter(0)
        dark = board.light.read_u16()
        board.emitter(1)
        return 4 * dark <= lit

    def _keys(self) -> bool:
        """A level of a key, or of none; which it is does not count: one may be held down on purpose."""
        level, calibration = self._board.keys.read_u16(), self._board.calibration
        return any(-calibration.tolerance <= level - key <= calibration.tolerance for key in calibration.keys)

    def _sampler(self) -> bool:
        before = self._board.sampler.waiting()
        for _ in range(10):
            self._wait(1)
            if self._board.sampler.waiting() > before:
                return True
        return False
