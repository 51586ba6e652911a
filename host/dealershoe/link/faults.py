"""What the faults are that a shoe reports, in words: for whoever tells a person of them."""

from shoelink import schema

FAULTS = {
    schema.FAULT_HALF_DRAWN: "a card is stopped half out of the shoe",
    schema.FAULT_HEAD: "a reading head does not work",
    schema.FAULT_SLOT: "a slot sensor does not work",
    schema.FAULT_DAZZLE: "too much light falls into the shoe",
    schema.FAULT_JOURNAL_FULL: "the shoe's journal is full, its host does not acknowledge",
    schema.FAULT_LID: "the lid is open",
    schema.FAULT_UNKNOWN_KIND: "the shoe does not know a message that it must know",
    schema.FAULT_SAMPLES_LOST: "the shoe could not keep up with its sensors",
    schema.FAULT_SEAT_NODE: "a seat node does not answer, or cannot be believed",
    schema.FAULT_FRAM: "the shoe's memory does not keep: after a power cut its last cards would be missing",
    schema.FAULT_TAMPER: "the base plate is off the shoe",
    schema.FAULT_SUPPLY: "the shoe's power is low",
    schema.FAULT_KEYS: "a key is stuck",
    schema.FAULT_LANES: "an exit sensor is covered or out of order: targets come from the seats alone",
    schema.FAULT_LIGHT: "the double-feed light is dirty or out of order: two cards drawn as one are seen less surely",
    schema.FAULT_SEAT_BUS: "the wire to the seat nodes is out of order",
    schema.FAULT_CALIBRATION: "the shoe's calibration is damaged: calibrate it again",
    schema.FAULT_SAMPLER: "the shoe sees nothing any more: it starts again by itself",
    schema.FAULT_SELF_TEST: "the shoe's self-test has found a part out of order",
    schema.FAULT_READER: "the reader of the cards' tags is out of order: the shoe tells cards by their codes alone",
    schema.FAULT_TAG: "the cards' tags do not say what they should: the shoe tells cards by their codes",
}

# What the detail of a fault says beside its code, where that is something else for whoever is told: a name, a sentence.
# The numbers are the firmware's: FRAM's `shoe/kept.py`, KEYS' `shoe/keys.py` (below 7 it is the key), TAG's
# `rfid/tags.py`.
DETAILS = {
    (schema.FAULT_FRAM, 1): (
        "absent",
        "the shoe's memory does not answer: after a power cut its last cards would be missing",
    ),
    (schema.FAULT_FRAM, 2): (
        "failed",
        "the shoe's memory has failed: from now on a power cut would cost its last cards",
    ),
    (schema.FAULT_FRAM, 3): (
        "damaged",
        "the shoe's memory was damaged while the power was off: reports that waited in it may be lost",
    ),
    (schema.FAULT_KEYS, 7): ("between", "the shoe cannot tell which key is down: no key counts"),
    (schema.FAULT_KEYS, 8): ("ground", "the wire to the shoe's keys touches ground: no key counts"),
    (schema.FAULT_KEYS, 9): ("off", "the wire to the shoe's keys is broken or unplugged: no key counts"),
    (schema.FAULT_TAG, 1): ("many", "more than one tag passed with a card: look whether two cards were drawn as one"),
    (schema.FAULT_TAG, 2): (
        "at-rest",
        "the reader sees a tag though no card is drawn: take away what lies before the shoe; until then tags count for "
        "nothing",
    ),
    (schema.FAULT_TAG, 3): (
        "contradicts",
        "a card's tag is known as another card's: its code counts; if the deck is new to this shoe, calibrate the shoe",
    ),
}
PLACES = {seat: f"seat {seat}" for seat in range(1, 12)}
PLACES |= {schema.TARGET_BURN: "burn", schema.TARGET_BOARD: "board", schema.TARGET_MUCK: "muck"}
# Of SEAT_NODE, with the place in the low byte of its detail (firmware/shoe/seats.py).
NODE = "the node at {place} does not answer, or cannot be believed"


def sentence(code: int, detail: int = 0) -> str:
    """What a fault means, in words; of a newer shoe's at least the number."""
    if (code, detail) in DETAILS:
        return DETAILS[code, detail][1]
    if code == schema.FAULT_SEAT_NODE and detail & 0xFF in PLACES:
        return NODE.format(place=PLACES[detail & 0xFF])
    return FAULTS.get(code, f"fault {code} of the shoe")
