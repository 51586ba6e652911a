# One packet of the link between a dealing shoe and its host: what stands between two delimiters (00) on the
# line, after COBS is undone. Written by `python protocol/outside.py` from the schema; do not edit. README.md
# tells the whole: how to undo COBS, what the CRC covers, what an unknown kind means.
meta:
  id: dealershoe
  title: dealershoe link 1.0, schema 5cbdadf8
  endian: le
seq:
  - id: kind
    type: u1
    doc: "bit 7 from the host, bit 6 critical, bit 5 reliable, bits 4 to 0 a number"
  - id: flags
    type: u1
    doc: "0x80 AUTH: a tag follows the body; 0x40 ASK, on HELLO. The high nibble must be understood"
  - id: seq_low
    type: u2
    doc: "of an event, the low 16 bits of its journal number"
  - id: ack_low
    type: u2
    doc: "from the host, the low 16 bits of the last event that is stored"
  - id: body
    size: '_io.size - 10 - (is_tagged ? 8 : 0)'
    type:
      switch-on: kind
      cases:
        0x41: hello
        0xc1: hello
        0x02: ident
        0x82: ident
        0x03: ping
        0x83: ping
        0x04: pong
        0x84: pong
        0x05: ack
        0x85: ack
        0x06: nak
        0x86: nak
        0x07: stats
        0x8a: enroll
        0x0b: enrolled
        0x8c: lookup
        0x0d: words
        0x0e: self_test
        0x8f: test
        0x61: card
        0x62: card_back
        0x23: seat
        0x64: key
        0x65: deck
        0x66: fault
        0x27: clear
        0x2a: commit
        0x2b: reveal
        0xe8: signal
        0xa9: due
  - id: tag
    size: 8
    if: is_tagged
  - id: crc32
    type: u4
    doc: "CRC-32 (IEEE 802.3) of everything before it"
instances:
  is_from_host:
    value: (kind & 0x80) != 0
  is_critical:
    value: (kind & 0x40) != 0
  is_reliable:
    value: (kind & 0x20) != 0
  is_tagged:
    value: (flags & 0x80) != 0
types:
  hello:
    doc: "a session begins or resumes"
    seq:
      - id: major
        type: u1
      - id: minor
        type: u1
      - id: schema
        size: 4
        doc: "first bytes of SHA-256 over schema.canonical()"
      - id: journal
        size: 4
      - id: boot
        size: 4
        doc: "random, changes when RAM is lost"
      - id: reset
        type: u1
        enum: reset_code
      - id: oldest
        type: u2
      - id: next
        type: u8
      - id: receive
        type: u2
        doc: "bytes it can take unread"
      - id: nonce
        size: 8
      - id: answers
        size: 4
  ident:
    doc: "who it is: device, firmware build and digest; follows every HELLO"
    seq:
      - id: device
        size: 8
      - id: build
        size: 12
        doc: "ASCII, zeros behind"
      - id: digest
        size: 16
        doc: "of the firmware"
  ping:
    doc: "are you there, and what is your clock"
    seq:
      - id: t_us
        type: u4
  pong:
    doc: "the answer to PING, with three stamps"
    seq:
      - id: ping
        type: u4
      - id: received
        type: u4
      - id: sent
        type: u4
  ack:
    doc: "host: see ack of the header (body 0, 0); shoe: this kind has this generation"
    seq:
      - id: kind
        type: u1
      - id: generation
        type: u2
  nak:
    doc: "something is missing or damaged: send again from expected"
    seq:
      - id: expected
        type: u2
      - id: reject
        type: u1
        enum: reject_code
  stats:
    doc: "counters of the shoe, every 5 s; they stop at 65535"
    seq:
      - id: t_us
        type: u4
      - id: frames
        type: u2
        doc: "received"
      - id: damaged
        type: u2
        doc: "received"
      - id: sent
        type: u2
      - id: resent
        type: u2
      - id: naks
        type: u2
      - id: lost
        type: u2
      - id: held
        type: u2
        doc: "of the journal"
      - id: peak
        type: u2
        doc: "of the journal"
      - id: refused
        type: u2
        doc: "of the journal"
      - id: overruns
        type: u2
        doc: "of the sampler"
      - id: free
        type: u2
        doc: "heap, in 16 bytes"
  enroll:
    doc: "a key for the shoe, which takes it only in its enrolment state"
    seq:
      - id: secret
        size: 32
        doc: "the key of the device"
  enrolled:
    doc: "what became of it"
    seq:
      - id: result
        type: u1
        enum: result_code
  lookup:
    doc: "the text of the shoe's schema is wanted, from an offset"
    seq:
      - id: offset
        type: u2
  words:
    doc: "a piece of that text"
    seq:
      - id: offset
        type: u2
      - id: total
        type: u2
        doc: "bytes of the whole text"
      - id: text
        size: 32
        doc: "zeros behind its end"
  self_test:
    doc: "what a test of the shoe's own parts has found"
    seq:
      - id: t_us
        type: u4
      - id: why
        type: u1
        enum: why_code
      - id: tested
        type: u2
        doc: "bits of part"
      - id: failed
        type: u2
        doc: "bits of part"
      - id: took
        type: u2
        doc: "ms"
  test:
    doc: "test the parts now; it is answered by SELF_TEST"
    seq:
      - id: what
        type: u1
        enum: what_code
  card:
    doc: "a card left the shoe"
    seq:
      - id: hand
        type: u2
        doc: "as DUE or the new-hand key began it, 0 before any"
      - id: draw
        type: u2
        doc: "1 is the first of the hand; goes on through reshuffles; a card that came back keeps its number"
      - id: t_us
        type: u4
        doc: "sample index of the trailing edge × 50 µs"
      - id: token
        type: u4
        doc: "0 to 53 on an open table, else under the secret of the hand; FFFFFFFF unread. With BY_TAG it is that of the card whose tag it is, way_up is UNKNOWN, and UNREAD is not set: a host that does not know the flag has a card that was read, and that it cannot say the way up of"
      - id: deck
        type: u1
      - id: way_up
        type: u1
        enum: way_up_code
      - id: target
        type: u1
        enum: target_code
      - id: origin
        type: u1
        enum: origin_code
      - id: certainty
        type: u1
        doc: "percent"
      - id: flags
        type: u1
      - id: speed
        type: u2
        doc: "mm/s"
      - id: erasures
        type: u1
  card_back:
    doc: "a card that had begun to leave, or had left, came back into the shoe"
    seq:
      - id: hand
        type: u2
      - id: draw
        type: u2
      - id: t_us
        type: u4
      - id: distance
        type: u2
        doc: "how far it had come, 0.1 mm"
  seat:
    doc: "a seat node saw a card arrive"
    seq:
      - id: hand
        type: u2
      - id: draw
        type: u2
      - id: t_us
        type: u4
      - id: place
        type: u1
        enum: target_code
        doc: "coded as target"
      - id: way_up
        type: u1
        enum: way_up_code
      - id: certainty
        type: u1
  key:
    doc: "the dealer pressed a key"
    seq:
      - id: hand
        type: u2
      - id: t_us
        type: u4
      - id: key
        type: u1
        enum: key_code
      - id: press
        type: u1
        enum: press_code
  deck:
    doc: "a deck was put in, or the shoe is empty"
    seq:
      - id: hand
        type: u2
      - id: t_us
        type: u4
      - id: event
        type: u1
        enum: event_code
      - id: deck
        type: u1
        doc: "255 is unknown"
      - id: count
        type: u1
        doc: "255 is unknown"
  fault:
    doc: "something is wrong with the shoe"
    seq:
      - id: t_us
        type: u4
      - id: code
        type: u1
        enum: fault_code
      - id: detail
        type: u2
        doc: "of UNKNOWN_KIND the kind, else of the code's own"
  clear:
    doc: "and is no longer"
    seq:
      - id: t_us
        type: u4
      - id: code
        type: u1
        enum: fault_code
      - id: detail
        type: u2
        doc: "of JOURNAL_FULL how many events are missing"
  commit:
    doc: "a hand begins, and what its secret is bound to"
    seq:
      - id: hand
        type: u2
      - id: commitment
        size: 22
        doc: "zeros on an open table"
  reveal:
    doc: "the secret of a hand that is over"
    seq:
      - id: hand
        type: u2
      - id: secret
        size: 16
  signal:
    doc: "what light and buzzer show: the class of the ruling, never a card"
    seq:
      - id: generation
        type: u2
      - id: signal
        type: u1
        enum: signal_code
      - id: reason
        type: u1
        enum: reason_code
      - id: mode
        type: u1
        enum: mode_code
  due:
    doc: "which hand it is and where the next card is due"
    seq:
      - id: generation
        type: u2
      - id: hand
        type: u2
      - id: due
        type: u1
        enum: due_code
      - id: seat
        type: u1
      - id: cards
        type: u1
        doc: "how many are due there, 0 not said"
enums:
  way_up_code:
    0: down
    1: up
    2: unknown
  target_code:
    0: unknown
    32: burn
    33: board
    34: muck
    35: off_table
  origin_code:
    0: none
    1: lane
    2: seat_sensor
  key_code:
    1: new_hand
    2: action
    3: betting_complete
    4: exposed
    5: done
    6: floor
  press_code:
    0: short
    1: held
  event_code:
    1: loaded
    2: empty
  fault_code:
    1: half_drawn
    2: head
    3: slot
    4: dazzle
    5: journal_full
    6: lid
    7: unknown_kind
    8: samples_lost
    9: seat_node
    10: fram
    11: tamper
    12: supply
    13: keys
    14: lanes
    15: light
    16: seat_bus
    17: calibration
    18: sampler
    19: self_test
    20: reader
    21: tag
  signal_code:
    0: ready
    1: attention
    2: stop
    3: floor
  mode_code:
    0: supervised
    1: align
  reason_code:
    0: none
    1: misdeal
    2: replace
    3: correct
    4: dead
    5: void
    6: play_on
    7: floor
    8: fault
  due_code:
    0: nothing
    1: seat
    2: burn
    3: board
    4: betting
    5: ack
    6: shuffle
    7: pick
  reset_code:
    0: unknown
    1: power
    2: watchdog
    3: soft
  part_code:
    1: memory
    2: fram
    4: heads
    8: slots
    16: light
    32: lanes
    64: keys
    128: lid
    256: ambient
    512: supply
    1024: sampler
    2048: calibration
    4096: bar
    8192: piezo
    16384: code
    32768: reader
  why_code:
    0: power_up
    1: host
  what_code:
    1: parts
    2: card
    3: calibrate
  reject_code:
    1: gap
    2: damaged
  result_code:
    1: written
    2: closed
    3: failed
