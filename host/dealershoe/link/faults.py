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
}
