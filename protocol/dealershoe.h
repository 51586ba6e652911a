/* The link between a dealing shoe and its host, in C99: kinds, codes, bodies and a codec. For shoes and hosts that are
 * not written in Python.
 *
 * Link 1.0, schema 5cbdadf8. Written by `python protocol/outside.py` from `shoelink/schema.py` and the tables of
 * `protocol/README.md`, which tells the whole; do not edit.
 *
 * All numbers on the line are little-endian. A body may be longer than known here (fields are added at its end), and is
 * an error when it is shorter. A frame is
 *
 *     00 . COBS( kind u8 | flags u8 | seq u16 | ack u16 | body 0..40 | [tag 8] | CRC-32 u32 ) . 00
 *
 * This header needs no library and allocates nothing. `dealershoe conform --port PATH` tests a shoe built on it.
 */
#ifndef DEALERSHOE_H
#define DEALERSHOE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALERSHOE_SCHEMA {0x5C, 0xBD, 0xAD, 0xF8} /* HELLO.schema: first bytes of SHA-256 of the canonical schema */
/* The canonical schema, which a shoe gives away piece by piece: LOOKUP asks, WORDS answers. */
#define DEALERSHOE_SCHEMA_TEXT \
    "dealershoe link 1.0\n" \
    "02 IDENT 3 <8s12s16s device build digest\n" \
    "03 PING 3 <4s t_us\n" \
    "04 PONG 3 <4s4s4s ping received sent\n" \
    "05 ACK 3 <BH kind generation\n" \
    "06 NAK 3 <HB expected reject\n" \
    "07 STATS 1 <4sHHHHHHHHHHH t_us frames damaged sent resent naks lost held peak refused overruns free\n" \
    "0b ENROLLED 1 <B result\n" \
    "0d WORDS 1 <HH32s offset total text\n" \
    "0e SELF_TEST 1 <4sBHHH t_us why tested failed took\n" \
    "23 SEAT 1 <HH4sBBB hand draw t_us place way_up certainty\n" \
    "27 CLEAR 1 <4sBH t_us code detail\n" \
    "2a COMMIT 1 <H22s hand commitment\n" \
    "2b REVEAL 1 <H16s hand secret\n" \
    "41 HELLO 3 <BB4s4s4sBHQH8s4s major minor schema journal boot reset oldest next receive nonce answers\n" \
    "61 CARD 1 <HH4s4sBBBBBBHB hand draw t_us token deck way_up target origin certainty flags speed erasures\n" \
    "62 CARD_BACK 1 <HH4sH hand draw t_us distance\n" \
    "64 KEY 1 <H4sBB hand t_us key press\n" \
    "65 DECK 1 <H4sBBB hand t_us event deck count\n" \
    "66 FAULT 1 <4sBH t_us code detail\n" \
    "8a ENROLL 2 <32s secret\n" \
    "8c LOOKUP 2 <H offset\n" \
    "8f TEST 2 <B what\n" \
    "a9 DUE 2 <HHBBB generation hand due seat cards\n" \
    "e8 SIGNAL 2 <HBBB generation signal reason mode\n"

#define DEALERSHOE_MAJOR 1
#define DEALERSHOE_MINOR 0
#define DEALERSHOE_FROM_HOST 0x80
#define DEALERSHOE_CRITICAL 0x40
#define DEALERSHOE_RELIABLE 0x20
#define DEALERSHOE_FLAG_AUTH 0x80
#define DEALERSHOE_FLAG_ASK 0x40
#define DEALERSHOE_FLAGS_MUST 0xF0
#define DEALERSHOE_HEADER 6
#define DEALERSHOE_BODY 40
#define DEALERSHOE_EVENT 24
#define DEALERSHOE_TAG 8
#define DEALERSHOE_CRC 4
#define DEALERSHOE_WORDS_TEXT 32
#define DEALERSHOE_FRAME 61
#define DEALERSHOE_WAY_DOWN 0
#define DEALERSHOE_WAY_UP 1
#define DEALERSHOE_WAY_UNKNOWN 2
#define DEALERSHOE_TARGET_UNKNOWN 0
#define DEALERSHOE_TARGET_BURN 32
#define DEALERSHOE_TARGET_BOARD 33
#define DEALERSHOE_TARGET_MUCK 34
#define DEALERSHOE_TARGET_OFF_TABLE 35
#define DEALERSHOE_ORIGIN_NONE 0
#define DEALERSHOE_ORIGIN_LANE 1
#define DEALERSHOE_ORIGIN_SEAT_SENSOR 2
#define DEALERSHOE_CARD_DOUBLE 1
#define DEALERSHOE_CARD_REVERSED 2
#define DEALERSHOE_CARD_UNREAD 4
#define DEALERSHOE_CARD_FOREIGN 8
#define DEALERSHOE_CARD_JOKER 16
#define DEALERSHOE_CARD_BY_TAG 32
#define DEALERSHOE_DECK_UNKNOWN 255
#define DEALERSHOE_KEY_NEW_HAND 1
#define DEALERSHOE_KEY_ACTION 2
#define DEALERSHOE_KEY_BETTING_COMPLETE 3
#define DEALERSHOE_KEY_EXPOSED 4
#define DEALERSHOE_KEY_DONE 5
#define DEALERSHOE_KEY_FLOOR 6
#define DEALERSHOE_PRESS_SHORT 0
#define DEALERSHOE_PRESS_HELD 1
#define DEALERSHOE_DECK_LOADED 1
#define DEALERSHOE_DECK_EMPTY 2
#define DEALERSHOE_COUNT_UNKNOWN 255
#define DEALERSHOE_FAULT_HALF_DRAWN 1
#define DEALERSHOE_FAULT_HEAD 2
#define DEALERSHOE_FAULT_SLOT 3
#define DEALERSHOE_FAULT_DAZZLE 4
#define DEALERSHOE_FAULT_JOURNAL_FULL 5
#define DEALERSHOE_FAULT_LID 6
#define DEALERSHOE_FAULT_UNKNOWN_KIND 7
#define DEALERSHOE_FAULT_SAMPLES_LOST 8
#define DEALERSHOE_FAULT_SEAT_NODE 9
#define DEALERSHOE_FAULT_FRAM 10
#define DEALERSHOE_FAULT_TAMPER 11
#define DEALERSHOE_FAULT_SUPPLY 12
#define DEALERSHOE_FAULT_KEYS 13
#define DEALERSHOE_FAULT_LANES 14
#define DEALERSHOE_FAULT_LIGHT 15
#define DEALERSHOE_FAULT_SEAT_BUS 16
#define DEALERSHOE_FAULT_CALIBRATION 17
#define DEALERSHOE_FAULT_SAMPLER 18
#define DEALERSHOE_FAULT_SELF_TEST 19
#define DEALERSHOE_FAULT_READER 20
#define DEALERSHOE_FAULT_TAG 21
#define DEALERSHOE_SIGNAL_READY 0
#define DEALERSHOE_SIGNAL_ATTENTION 1
#define DEALERSHOE_SIGNAL_STOP 2
#define DEALERSHOE_SIGNAL_FLOOR 3
#define DEALERSHOE_MODE_SUPERVISED 0
#define DEALERSHOE_MODE_ALIGN 1
#define DEALERSHOE_REASON_NONE 0
#define DEALERSHOE_REASON_MISDEAL 1
#define DEALERSHOE_REASON_REPLACE 2
#define DEALERSHOE_REASON_CORRECT 3
#define DEALERSHOE_REASON_DEAD 4
#define DEALERSHOE_REASON_VOID 5
#define DEALERSHOE_REASON_PLAY_ON 6
#define DEALERSHOE_REASON_FLOOR 7
#define DEALERSHOE_REASON_FAULT 8
#define DEALERSHOE_DUE_NOTHING 0
#define DEALERSHOE_DUE_SEAT 1
#define DEALERSHOE_DUE_BURN 2
#define DEALERSHOE_DUE_BOARD 3
#define DEALERSHOE_DUE_BETTING 4
#define DEALERSHOE_DUE_ACK 5
#define DEALERSHOE_DUE_SHUFFLE 6
#define DEALERSHOE_DUE_PICK 7
#define DEALERSHOE_RESET_UNKNOWN 0
#define DEALERSHOE_RESET_POWER 1
#define DEALERSHOE_RESET_WATCHDOG 2
#define DEALERSHOE_RESET_SOFT 3
#define DEALERSHOE_NAK_GAP 1
#define DEALERSHOE_NAK_DAMAGED 2
#define DEALERSHOE_ENROLLED_WRITTEN 1
#define DEALERSHOE_ENROLLED_CLOSED 2
#define DEALERSHOE_ENROLLED_FAILED 3
#define DEALERSHOE_WHY_POWER_UP 0
#define DEALERSHOE_WHY_HOST 1
#define DEALERSHOE_TEST_PARTS 1
#define DEALERSHOE_TEST_CARD 2
#define DEALERSHOE_TEST_CALIBRATE 3

/* ---- kinds, as they stand in the header of a frame */

enum dealershoe_kind {
    /* critical, a session begins or resumes */
    DEALERSHOE_HELLO = 0x41,
    DEALERSHOE_HELLO_FROM_HOST = 0xC1,
    /* who it is: device, firmware build and digest; follows every HELLO */
    DEALERSHOE_IDENT = 0x02,
    DEALERSHOE_IDENT_FROM_HOST = 0x82,
    /* are you there, and what is your clock */
    DEALERSHOE_PING = 0x03,
    DEALERSHOE_PING_FROM_HOST = 0x83,
    /* the answer to PING, with three stamps */
    DEALERSHOE_PONG = 0x04,
    DEALERSHOE_PONG_FROM_HOST = 0x84,
    /* host: see ack of the header (body 0, 0); shoe: this kind has this generation */
    DEALERSHOE_ACK = 0x05,
    DEALERSHOE_ACK_FROM_HOST = 0x85,
    /* something is missing or damaged: send again from expected */
    DEALERSHOE_NAK = 0x06,
    DEALERSHOE_NAK_FROM_HOST = 0x86,
    /* counters of the shoe, every 5 s; they stop at 65535 */
    DEALERSHOE_STATS = 0x07,
    /* a key for the shoe, which takes it only in its enrolment state */
    DEALERSHOE_ENROLL = 0x8A,
    /* what became of it */
    DEALERSHOE_ENROLLED = 0x0B,
    /* the text of the shoe's schema is wanted, from an offset */
    DEALERSHOE_LOOKUP = 0x8C,
    /* a piece of that text */
    DEALERSHOE_WORDS = 0x0D,
    /* what a test of the shoe's own parts has found */
    DEALERSHOE_SELF_TEST = 0x0E,
    /* test the parts now; it is answered by SELF_TEST */
    DEALERSHOE_TEST = 0x8F,
    /* critical, reliable, a card left the shoe */
    DEALERSHOE_CARD = 0x61,
    /* critical, reliable, a card that had begun to leave, or had left, came back into the shoe */
    DEALERSHOE_CARD_BACK = 0x62,
    /* reliable, a seat node saw a card arrive */
    DEALERSHOE_SEAT = 0x23,
    /* critical, reliable, the dealer pressed a key */
    DEALERSHOE_KEY = 0x64,
    /* critical, reliable, a deck was put in, or the shoe is empty */
    DEALERSHOE_DECK = 0x65,
    /* critical, reliable, something is wrong with the shoe */
    DEALERSHOE_FAULT = 0x66,
    /* reliable, and is no longer */
    DEALERSHOE_CLEAR = 0x27,
    /* reliable, a hand begins, and what its secret is bound to */
    DEALERSHOE_COMMIT = 0x2A,
    /* reliable, the secret of a hand that is over */
    DEALERSHOE_REVEAL = 0x2B,
    /* critical, reliable, what light and buzzer show: the class of the ruling, never a card */
    DEALERSHOE_SIGNAL = 0xE8,
    /* reliable, which hand it is and where the next card is due */
    DEALERSHOE_DUE = 0xA9,
};

/* ---- numbers */

static inline uint64_t dealershoe_get(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

static inline void dealershoe_put(uint8_t *at, uint64_t value, size_t bytes)
{
    while (bytes--) {
        *at++ = (uint8_t)value;
        value >>= 8;
    }
}

/* ---- bodies. `read` gives 0, or -1 for a body that is too short; `write` gives the length of the body. */

/* HELLO: a session begins or resumes. */
struct dealershoe_hello {
    uint8_t major;
    uint8_t minor;
    /* first bytes of SHA-256 over schema.canonical() */
    uint8_t schema[4];
    uint8_t journal[4];
    /* random, changes when RAM is lost */
    uint8_t boot[4];
    uint8_t reset;
    uint16_t oldest;
    uint64_t next;
    /* bytes it can take unread */
    uint16_t receive;
    uint8_t nonce[8];
    uint8_t answers[4];
};
#define DEALERSHOE_HELLO_MINIMUM 39 /* bytes */

static inline int dealershoe_hello_read(const uint8_t *body, size_t length, struct dealershoe_hello *out)
{
    if (length < 39)
        return -1;
    out->major = (uint8_t)dealershoe_get(body + 0, 1);
    out->minor = (uint8_t)dealershoe_get(body + 1, 1);
    memcpy(out->schema, body + 2, 4);
    memcpy(out->journal, body + 6, 4);
    memcpy(out->boot, body + 10, 4);
    out->reset = (uint8_t)dealershoe_get(body + 14, 1);
    out->oldest = (uint16_t)dealershoe_get(body + 15, 2);
    out->next = (uint64_t)dealershoe_get(body + 17, 8);
    out->receive = (uint16_t)dealershoe_get(body + 25, 2);
    memcpy(out->nonce, body + 27, 8);
    memcpy(out->answers, body + 35, 4);
    return 0;
}

static inline size_t dealershoe_hello_write(uint8_t *body, const struct dealershoe_hello *in)
{
    dealershoe_put(body + 0, in->major, 1);
    dealershoe_put(body + 1, in->minor, 1);
    memcpy(body + 2, in->schema, 4);
    memcpy(body + 6, in->journal, 4);
    memcpy(body + 10, in->boot, 4);
    dealershoe_put(body + 14, in->reset, 1);
    dealershoe_put(body + 15, in->oldest, 2);
    dealershoe_put(body + 17, in->next, 8);
    dealershoe_put(body + 25, in->receive, 2);
    memcpy(body + 27, in->nonce, 8);
    memcpy(body + 35, in->answers, 4);
    return 39;
}

/* IDENT: who it is: device, firmware build and digest; follows every HELLO. */
struct dealershoe_ident {
    uint8_t device[8];
    /* ASCII, zeros behind */
    uint8_t build[12];
    /* of the firmware */
    uint8_t digest[16];
};
#define DEALERSHOE_IDENT_MINIMUM 36 /* bytes */

static inline int dealershoe_ident_read(const uint8_t *body, size_t length, struct dealershoe_ident *out)
{
    if (length < 36)
        return -1;
    memcpy(out->device, body + 0, 8);
    memcpy(out->build, body + 8, 12);
    memcpy(out->digest, body + 20, 16);
    return 0;
}

static inline size_t dealershoe_ident_write(uint8_t *body, const struct dealershoe_ident *in)
{
    memcpy(body + 0, in->device, 8);
    memcpy(body + 8, in->build, 12);
    memcpy(body + 20, in->digest, 16);
    return 36;
}

/* PING: are you there, and what is your clock. */
struct dealershoe_ping {
    uint32_t t_us;
};
#define DEALERSHOE_PING_MINIMUM 4 /* bytes */

static inline int dealershoe_ping_read(const uint8_t *body, size_t length, struct dealershoe_ping *out)
{
    if (length < 4)
        return -1;
    out->t_us = (uint32_t)dealershoe_get(body + 0, 4);
    return 0;
}

static inline size_t dealershoe_ping_write(uint8_t *body, const struct dealershoe_ping *in)
{
    dealershoe_put(body + 0, in->t_us, 4);
    return 4;
}

/* PONG: the answer to PING, with three stamps. */
struct dealershoe_pong {
    uint32_t ping;
    uint32_t received;
    uint32_t sent;
};
#define DEALERSHOE_PONG_MINIMUM 12 /* bytes */

static inline int dealershoe_pong_read(const uint8_t *body, size_t length, struct dealershoe_pong *out)
{
    if (length < 12)
        return -1;
    out->ping = (uint32_t)dealershoe_get(body + 0, 4);
    out->received = (uint32_t)dealershoe_get(body + 4, 4);
    out->sent = (uint32_t)dealershoe_get(body + 8, 4);
    return 0;
}

static inline size_t dealershoe_pong_write(uint8_t *body, const struct dealershoe_pong *in)
{
    dealershoe_put(body + 0, in->ping, 4);
    dealershoe_put(body + 4, in->received, 4);
    dealershoe_put(body + 8, in->sent, 4);
    return 12;
}

/* ACK: host: see ack of the header (body 0, 0); shoe: this kind has this generation. */
struct dealershoe_ack {
    uint8_t kind;
    uint16_t generation;
};
#define DEALERSHOE_ACK_MINIMUM 3 /* bytes */

static inline int dealershoe_ack_read(const uint8_t *body, size_t length, struct dealershoe_ack *out)
{
    if (length < 3)
        return -1;
    out->kind = (uint8_t)dealershoe_get(body + 0, 1);
    out->generation = (uint16_t)dealershoe_get(body + 1, 2);
    return 0;
}

static inline size_t dealershoe_ack_write(uint8_t *body, const struct dealershoe_ack *in)
{
    dealershoe_put(body + 0, in->kind, 1);
    dealershoe_put(body + 1, in->generation, 2);
    return 3;
}

/* NAK: something is missing or damaged: send again from expected. */
struct dealershoe_nak {
    uint16_t expected;
    uint8_t reject;
};
#define DEALERSHOE_NAK_MINIMUM 3 /* bytes */

static inline int dealershoe_nak_read(const uint8_t *body, size_t length, struct dealershoe_nak *out)
{
    if (length < 3)
        return -1;
    out->expected = (uint16_t)dealershoe_get(body + 0, 2);
    out->reject = (uint8_t)dealershoe_get(body + 2, 1);
    return 0;
}

static inline size_t dealershoe_nak_write(uint8_t *body, const struct dealershoe_nak *in)
{
    dealershoe_put(body + 0, in->expected, 2);
    dealershoe_put(body + 2, in->reject, 1);
    return 3;
}

/* STATS: counters of the shoe, every 5 s; they stop at 65535. */
struct dealershoe_stats {
    uint32_t t_us;
    /* received */
    uint16_t frames;
    /* received */
    uint16_t damaged;
    uint16_t sent;
    uint16_t resent;
    uint16_t naks;
    uint16_t lost;
    /* of the journal */
    uint16_t held;
    /* of the journal */
    uint16_t peak;
    /* of the journal */
    uint16_t refused;
    /* of the sampler */
    uint16_t overruns;
    /* heap, in 16 bytes */
    uint16_t free;
};
#define DEALERSHOE_STATS_MINIMUM 26 /* bytes */

static inline int dealershoe_stats_read(const uint8_t *body, size_t length, struct dealershoe_stats *out)
{
    if (length < 26)
        return -1;
    out->t_us = (uint32_t)dealershoe_get(body + 0, 4);
    out->frames = (uint16_t)dealershoe_get(body + 4, 2);
    out->damaged = (uint16_t)dealershoe_get(body + 6, 2);
    out->sent = (uint16_t)dealershoe_get(body + 8, 2);
    out->resent = (uint16_t)dealershoe_get(body + 10, 2);
    out->naks = (uint16_t)dealershoe_get(body + 12, 2);
    out->lost = (uint16_t)dealershoe_get(body + 14, 2);
    out->held = (uint16_t)dealershoe_get(body + 16, 2);
    out->peak = (uint16_t)dealershoe_get(body + 18, 2);
    out->refused = (uint16_t)dealershoe_get(body + 20, 2);
    out->overruns = (uint16_t)dealershoe_get(body + 22, 2);
    out->free = (uint16_t)dealershoe_get(body + 24, 2);
    return 0;
}

static inline size_t dealershoe_stats_write(uint8_t *body, const struct dealershoe_stats *in)
{
    dealershoe_put(body + 0, in->t_us, 4);
    dealershoe_put(body + 4, in->frames, 2);
    dealershoe_put(body + 6, in->damaged, 2);
    dealershoe_put(body + 8, in->sent, 2);
    dealershoe_put(body + 10, in->resent, 2);
    dealershoe_put(body + 12, in->naks, 2);
    dealershoe_put(body + 14, in->lost, 2);
    dealershoe_put(body + 16, in->held, 2);
    dealershoe_put(body + 18, in->peak, 2);
    dealershoe_put(body + 20, in->refused, 2);
    dealershoe_put(body + 22, in->overruns, 2);
    dealershoe_put(body + 24, in->free, 2);
    return 26;
}

/* ENROLL: a key for the shoe, which takes it only in its enrolment state. */
struct dealershoe_enroll {
    /* the key of the device */
    uint8_t secret[32];
};
#define DEALERSHOE_ENROLL_MINIMUM 32 /* bytes */

static inline int dealershoe_enroll_read(const uint8_t *body, size_t length, struct dealershoe_enroll *out)
{
    if (length < 32)
        return -1;
    memcpy(out->secret, body + 0, 32);
    return 0;
}

static inline size_t dealershoe_enroll_write(uint8_t *body, const struct dealershoe_enroll *in)
{
    memcpy(body + 0, in->secret, 32);
    return 32;
}

/* ENROLLED: what became of it. */
struct dealershoe_enrolled {
    uint8_t result;
};
#define DEALERSHOE_ENROLLED_MINIMUM 1 /* bytes */

static inline int dealershoe_enrolled_read(const uint8_t *body, size_t length, struct dealershoe_enrolled *out)
{
    if (length < 1)
        return -1;
    out->result = (uint8_t)dealershoe_get(body + 0, 1);
    return 0;
}

static inline size_t dealershoe_enrolled_write(uint8_t *body, const struct dealershoe_enrolled *in)
{
    dealershoe_put(body + 0, in->result, 1);
    return 1;
}

/* LOOKUP: the text of the shoe's schema is wanted, from an offset. */
struct dealershoe_lookup {
    uint16_t offset;
};
#define DEALERSHOE_LOOKUP_MINIMUM 2 /* bytes */

static inline int dealershoe_lookup_read(const uint8_t *body, size_t length, struct dealershoe_lookup *out)
{
    if (length < 2)
        return -1;
    out->offset = (uint16_t)dealershoe_get(body + 0, 2);
    return 0;
}

static inline size_t dealershoe_lookup_write(uint8_t *body, const struct dealershoe_lookup *in)
{
    dealershoe_put(body + 0, in->offset, 2);
    return 2;
}

/* WORDS: a piece of that text. */
struct dealershoe_words {
    uint16_t offset;
    /* bytes of the whole text */
    uint16_t total;
    /* zeros behind its end */
    uint8_t text[32];
};
#define DEALERSHOE_WORDS_MINIMUM 36 /* bytes */

static inline int dealershoe_words_read(const uint8_t *body, size_t length, struct dealershoe_words *out)
{
    if (length < 36)
        return -1;
    out->offset = (uint16_t)dealershoe_get(body + 0, 2);
    out->total = (uint16_t)dealershoe_get(body + 2, 2);
    memcpy(out->text, body + 4, 32);
    return 0;
}

static inline size_t dealershoe_words_write(uint8_t *body, const struct dealershoe_words *in)
{
    dealershoe_put(body + 0, in->offset, 2);
    dealershoe_put(body + 2, in->total, 2);
    memcpy(body + 4, in->text, 32);
    return 36;
}

/* SELF_TEST: what a test of the shoe's own parts has found. */
struct dealershoe_self_test {
    uint32_t t_us;
    uint8_t why;
    /* bits of part */
    uint16_t tested;
    /* bits of part */
    uint16_t failed;
    /* ms */
    uint16_t took;
};
#define DEALERSHOE_SELF_TEST_MINIMUM 11 /* bytes */

static inline int dealershoe_self_test_read(const uint8_t *body, size_t length, struct dealershoe_self_test *out)
{
    if (length < 11)
        return -1;
    out->t_us = (uint32_t)dealershoe_get(body + 0, 4);
    out->why = (uint8_t)dealershoe_get(body + 4, 1);
    out->tested = (uint16_t)dealershoe_get(body + 5, 2);
    out->failed = (uint16_t)dealershoe_get(body + 7, 2);
    out->took = (uint16_t)dealershoe_get(body + 9, 2);
    return 0;
}

static inline size_t dealershoe_self_test_write(uint8_t *body, const struct dealershoe_self_test *in)
{
    dealershoe_put(body + 0, in->t_us, 4);
    dealershoe_put(body + 4, in->why, 1);
    dealershoe_put(body + 5, in->tested, 2);
    dealershoe_put(body + 7, in->failed, 2);
    dealershoe_put(body + 9, in->took, 2);
    return 11;
}

/* TEST: test the parts now; it is answered by SELF_TEST. */
struct dealershoe_test {
    uint8_t what;
};
#define DEALERSHOE_TEST_MINIMUM 1 /* bytes */

static inline int dealershoe_test_read(const uint8_t *body, size_t length, struct dealershoe_test *out)
{
    if (length < 1)
        return -1;
    out->what = (uint8_t)dealershoe_get(body + 0, 1);
    return 0;
}

static inline size_t dealershoe_test_write(uint8_t *body, const struct dealershoe_test *in)
{
    dealershoe_put(body + 0, in->what, 1);
    return 1;
}

/* CARD: a card left the shoe. */
struct dealershoe_card {
    /* as DUE or the new-hand key began it, 0 before any */
    uint16_t hand;
    /* 1 is the first of the hand; goes on through reshuffles; a card that came back keeps its number */
    uint16_t draw;
    /* sample index of the trailing edge × 50 µs */
    uint32_t t_us;
    /* 0 to 53 on an open table, else under the secret of the hand; FFFFFFFF unread. With BY_TAG it is that of the
     * card whose tag it is, way_up is UNKNOWN, and UNREAD is not set: a host that does not know the flag has a
     * card that was read, and that it cannot say the way up of */
    uint32_t token;
    uint8_t deck;
    uint8_t way_up;
    uint8_t target;
    uint8_t origin;
    /* percent */
    uint8_t certainty;
    uint8_t flags;
    /* mm/s */
    uint16_t speed;
    uint8_t erasures;
};
#define DEALERSHOE_CARD_MINIMUM 21 /* bytes */

static inline int dealershoe_card_read(const uint8_t *body, size_t length, struct dealershoe_card *out)
{
    if (length < 21)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    out->draw = (uint16_t)dealershoe_get(body + 2, 2);
    out->t_us = (uint32_t)dealershoe_get(body + 4, 4);
    out->token = (uint32_t)dealershoe_get(body + 8, 4);
    out->deck = (uint8_t)dealershoe_get(body + 12, 1);
    out->way_up = (uint8_t)dealershoe_get(body + 13, 1);
    out->target = (uint8_t)dealershoe_get(body + 14, 1);
    out->origin = (uint8_t)dealershoe_get(body + 15, 1);
    out->certainty = (uint8_t)dealershoe_get(body + 16, 1);
    out->flags = (uint8_t)dealershoe_get(body + 17, 1);
    out->speed = (uint16_t)dealershoe_get(body + 18, 2);
    out->erasures = (uint8_t)dealershoe_get(body + 20, 1);
    return 0;
}

static inline size_t dealershoe_card_write(uint8_t *body, const struct dealershoe_card *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    dealershoe_put(body + 2, in->draw, 2);
    dealershoe_put(body + 4, in->t_us, 4);
    dealershoe_put(body + 8, in->token, 4);
    dealershoe_put(body + 12, in->deck, 1);
    dealershoe_put(body + 13, in->way_up, 1);
    dealershoe_put(body + 14, in->target, 1);
    dealershoe_put(body + 15, in->origin, 1);
    dealershoe_put(body + 16, in->certainty, 1);
    dealershoe_put(body + 17, in->flags, 1);
    dealershoe_put(body + 18, in->speed, 2);
    dealershoe_put(body + 20, in->erasures, 1);
    return 21;
}

/* CARD_BACK: a card that had begun to leave, or had left, came back into the shoe. */
struct dealershoe_card_back {
    uint16_t hand;
    uint16_t draw;
    uint32_t t_us;
    /* how far it had come, 0.1 mm */
    uint16_t distance;
};
#define DEALERSHOE_CARD_BACK_MINIMUM 10 /* bytes */

static inline int dealershoe_card_back_read(const uint8_t *body, size_t length, struct dealershoe_card_back *out)
{
    if (length < 10)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    out->draw = (uint16_t)dealershoe_get(body + 2, 2);
    out->t_us = (uint32_t)dealershoe_get(body + 4, 4);
    out->distance = (uint16_t)dealershoe_get(body + 8, 2);
    return 0;
}

static inline size_t dealershoe_card_back_write(uint8_t *body, const struct dealershoe_card_back *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    dealershoe_put(body + 2, in->draw, 2);
    dealershoe_put(body + 4, in->t_us, 4);
    dealershoe_put(body + 8, in->distance, 2);
    return 10;
}

/* SEAT: a seat node saw a card arrive. */
struct dealershoe_seat {
    uint16_t hand;
    uint16_t draw;
    uint32_t t_us;
    /* coded as target */
    uint8_t place;
    uint8_t way_up;
    uint8_t certainty;
};
#define DEALERSHOE_SEAT_MINIMUM 11 /* bytes */

static inline int dealershoe_seat_read(const uint8_t *body, size_t length, struct dealershoe_seat *out)
{
    if (length < 11)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    out->draw = (uint16_t)dealershoe_get(body + 2, 2);
    out->t_us = (uint32_t)dealershoe_get(body + 4, 4);
    out->place = (uint8_t)dealershoe_get(body + 8, 1);
    out->way_up = (uint8_t)dealershoe_get(body + 9, 1);
    out->certainty = (uint8_t)dealershoe_get(body + 10, 1);
    return 0;
}

static inline size_t dealershoe_seat_write(uint8_t *body, const struct dealershoe_seat *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    dealershoe_put(body + 2, in->draw, 2);
    dealershoe_put(body + 4, in->t_us, 4);
    dealershoe_put(body + 8, in->place, 1);
    dealershoe_put(body + 9, in->way_up, 1);
    dealershoe_put(body + 10, in->certainty, 1);
    return 11;
}

/* KEY: the dealer pressed a key. */
struct dealershoe_key {
    uint16_t hand;
    uint32_t t_us;
    uint8_t key;
    uint8_t press;
};
#define DEALERSHOE_KEY_MINIMUM 8 /* bytes */

static inline int dealershoe_key_read(const uint8_t *body, size_t length, struct dealershoe_key *out)
{
    if (length < 8)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    out->t_us = (uint32_t)dealershoe_get(body + 2, 4);
    out->key = (uint8_t)dealershoe_get(body + 6, 1);
    out->press = (uint8_t)dealershoe_get(body + 7, 1);
    return 0;
}

static inline size_t dealershoe_key_write(uint8_t *body, const struct dealershoe_key *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    dealershoe_put(body + 2, in->t_us, 4);
    dealershoe_put(body + 6, in->key, 1);
    dealershoe_put(body + 7, in->press, 1);
    return 8;
}

/* DECK: a deck was put in, or the shoe is empty. */
struct dealershoe_deck {
    uint16_t hand;
    uint32_t t_us;
    uint8_t event;
    /* 255 is unknown */
    uint8_t deck;
    /* 255 is unknown */
    uint8_t count;
};
#define DEALERSHOE_DECK_MINIMUM 9 /* bytes */

static inline int dealershoe_deck_read(const uint8_t *body, size_t length, struct dealershoe_deck *out)
{
    if (length < 9)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    out->t_us = (uint32_t)dealershoe_get(body + 2, 4);
    out->event = (uint8_t)dealershoe_get(body + 6, 1);
    out->deck = (uint8_t)dealershoe_get(body + 7, 1);
    out->count = (uint8_t)dealershoe_get(body + 8, 1);
    return 0;
}

static inline size_t dealershoe_deck_write(uint8_t *body, const struct dealershoe_deck *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    dealershoe_put(body + 2, in->t_us, 4);
    dealershoe_put(body + 6, in->event, 1);
    dealershoe_put(body + 7, in->deck, 1);
    dealershoe_put(body + 8, in->count, 1);
    return 9;
}

/* FAULT: something is wrong with the shoe. */
struct dealershoe_fault {
    uint32_t t_us;
    uint8_t code;
    /* of UNKNOWN_KIND the kind, else of the code's own */
    uint16_t detail;
};
#define DEALERSHOE_FAULT_MINIMUM 7 /* bytes */

static inline int dealershoe_fault_read(const uint8_t *body, size_t length, struct dealershoe_fault *out)
{
    if (length < 7)
        return -1;
    out->t_us = (uint32_t)dealershoe_get(body + 0, 4);
    out->code = (uint8_t)dealershoe_get(body + 4, 1);
    out->detail = (uint16_t)dealershoe_get(body + 5, 2);
    return 0;
}

static inline size_t dealershoe_fault_write(uint8_t *body, const struct dealershoe_fault *in)
{
    dealershoe_put(body + 0, in->t_us, 4);
    dealershoe_put(body + 4, in->code, 1);
    dealershoe_put(body + 5, in->detail, 2);
    return 7;
}

/* CLEAR: and is no longer. */
struct dealershoe_clear {
    uint32_t t_us;
    uint8_t code;
    /* of JOURNAL_FULL how many events are missing */
    uint16_t detail;
};
#define DEALERSHOE_CLEAR_MINIMUM 7 /* bytes */

static inline int dealershoe_clear_read(const uint8_t *body, size_t length, struct dealershoe_clear *out)
{
    if (length < 7)
        return -1;
    out->t_us = (uint32_t)dealershoe_get(body + 0, 4);
    out->code = (uint8_t)dealershoe_get(body + 4, 1);
    out->detail = (uint16_t)dealershoe_get(body + 5, 2);
    return 0;
}

static inline size_t dealershoe_clear_write(uint8_t *body, const struct dealershoe_clear *in)
{
    dealershoe_put(body + 0, in->t_us, 4);
    dealershoe_put(body + 4, in->code, 1);
    dealershoe_put(body + 5, in->detail, 2);
    return 7;
}

/* COMMIT: a hand begins, and what its secret is bound to. */
struct dealershoe_commit {
    uint16_t hand;
    /* zeros on an open table */
    uint8_t commitment[22];
};
#define DEALERSHOE_COMMIT_MINIMUM 24 /* bytes */

static inline int dealershoe_commit_read(const uint8_t *body, size_t length, struct dealershoe_commit *out)
{
    if (length < 24)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    memcpy(out->commitment, body + 2, 22);
    return 0;
}

static inline size_t dealershoe_commit_write(uint8_t *body, const struct dealershoe_commit *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    memcpy(body + 2, in->commitment, 22);
    return 24;
}

/* REVEAL: the secret of a hand that is over. */
struct dealershoe_reveal {
    uint16_t hand;
    uint8_t secret[16];
};
#define DEALERSHOE_REVEAL_MINIMUM 18 /* bytes */

static inline int dealershoe_reveal_read(const uint8_t *body, size_t length, struct dealershoe_reveal *out)
{
    if (length < 18)
        return -1;
    out->hand = (uint16_t)dealershoe_get(body + 0, 2);
    memcpy(out->secret, body + 2, 16);
    return 0;
}

static inline size_t dealershoe_reveal_write(uint8_t *body, const struct dealershoe_reveal *in)
{
    dealershoe_put(body + 0, in->hand, 2);
    memcpy(body + 2, in->secret, 16);
    return 18;
}

/* SIGNAL: what light and buzzer show: the class of the ruling, never a card. */
struct dealershoe_signal {
    uint16_t generation;
    uint8_t signal;
    uint8_t reason;
    uint8_t mode;
};
#define DEALERSHOE_SIGNAL_MINIMUM 5 /* bytes */

static inline int dealershoe_signal_read(const uint8_t *body, size_t length, struct dealershoe_signal *out)
{
    if (length < 5)
        return -1;
    out->generation = (uint16_t)dealershoe_get(body + 0, 2);
    out->signal = (uint8_t)dealershoe_get(body + 2, 1);
    out->reason = (uint8_t)dealershoe_get(body + 3, 1);
    out->mode = (uint8_t)dealershoe_get(body + 4, 1);
    return 0;
}

static inline size_t dealershoe_signal_write(uint8_t *body, const struct dealershoe_signal *in)
{
    dealershoe_put(body + 0, in->generation, 2);
    dealershoe_put(body + 2, in->signal, 1);
    dealershoe_put(body + 3, in->reason, 1);
    dealershoe_put(body + 4, in->mode, 1);
    return 5;
}

/* DUE: which hand it is and where the next card is due. */
struct dealershoe_due {
    uint16_t generation;
    uint16_t hand;
    uint8_t due;
    uint8_t seat;
    /* how many are due there, 0 not said */
    uint8_t cards;
};
#define DEALERSHOE_DUE_MINIMUM 7 /* bytes */

static inline int dealershoe_due_read(const uint8_t *body, size_t length, struct dealershoe_due *out)
{
    if (length < 7)
        return -1;
    out->generation = (uint16_t)dealershoe_get(body + 0, 2);
    out->hand = (uint16_t)dealershoe_get(body + 2, 2);
    out->due = (uint8_t)dealershoe_get(body + 4, 1);
    out->seat = (uint8_t)dealershoe_get(body + 5, 1);
    out->cards = (uint8_t)dealershoe_get(body + 6, 1);
    return 0;
}

static inline size_t dealershoe_due_write(uint8_t *body, const struct dealershoe_due *in)
{
    dealershoe_put(body + 0, in->generation, 2);
    dealershoe_put(body + 2, in->hand, 2);
    dealershoe_put(body + 4, in->due, 1);
    dealershoe_put(body + 5, in->seat, 1);
    dealershoe_put(body + 6, in->cards, 1);
    return 7;
}

/* ---- frames */

/* CRC-32 of IEEE 802.3, as in zlib. */
static inline uint32_t dealershoe_crc32(const uint8_t *data, size_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    while (length--) {
        crc ^= *data++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1u ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return ~crc;
}

/* Write one frame into `out` (room for DEALERSHOE_FRAME bytes); gives its length, or 0 for a body that is too long. */
static inline size_t dealershoe_encode(uint8_t *out, uint8_t kind, uint8_t flags, uint16_t seq, uint16_t ack,
                                       const uint8_t *body, size_t length)
{
    uint8_t *packet = out + 2; /* after the delimiter and the first code */
    size_t code_at = 1, size = DEALERSHOE_HEADER + length, place;
    if (length > DEALERSHOE_BODY)
        return 0;
    packet[0] = kind;
    packet[1] = flags;
    dealershoe_put(packet + 2, seq, 2);
    dealershoe_put(packet + 4, ack, 2);
    if (length)
        memcpy(packet + DEALERSHOE_HEADER, body, length);
    dealershoe_put(packet + size, dealershoe_crc32(packet, size), 4);
    size += DEALERSHOE_CRC;
    for (place = 2; place < size + 2; place++) /* COBS: each zero becomes the distance to the next one */
        if (!out[place]) {
            out[code_at] = (uint8_t)(place - code_at);
            code_at = place;
        }
    out[code_at] = (uint8_t)(place - code_at);
    out[0] = out[place] = 0;
    return place + 1;
}

/* A frame that was delivered. `body` points into the decoder and stands until its next byte. */
struct dealershoe_frame {
    uint8_t kind, flags;
    uint16_t seq, ack;
    const uint8_t *body;
    size_t length;
};

/* Finds the frames in a stream. Begin with all zeros. What is not a frame is counted and never delivered. */
struct dealershoe_decoder {
    uint32_t frames; /* delivered */
    uint32_t zero;   /* a zero inside: the chain of COBS codes points past the delimiter, or stops short of it */
    uint32_t short_; /* fewer bytes than a header and a CRC */
    uint32_t long_;  /* more bytes than the longest frame */
    uint32_t crc;    /* the CRC does not fit */
    uint32_t flags;  /* intact, with a flag that must be understood and is not (AUTH too: no key here) */
    size_t length;   /* bytes since the last delimiter */
    uint8_t block[DEALERSHOE_FRAME - 2];
};

static inline int dealershoe_end_(struct dealershoe_decoder *to, size_t length, struct dealershoe_frame *frame)
{
    uint8_t *block = to->block, *packet = block + 1;
    size_t place = 0, size = length - 1;
    while (place < length) {
        size_t next = place + block[place];
        if (place)
            block[place] = 0;
        place = next;
    }
    if (place != length)
        to->zero++;
    else if (size < DEALERSHOE_HEADER + DEALERSHOE_CRC)
        to->short_++;
    else if (dealershoe_crc32(packet, size - DEALERSHOE_CRC) != dealershoe_get(packet + size - DEALERSHOE_CRC, 4))
        to->crc++;
    else if (packet[1] & DEALERSHOE_FLAGS_MUST & ~DEALERSHOE_FLAG_ASK)
        to->flags++;
    else if (size > DEALERSHOE_HEADER + DEALERSHOE_BODY + DEALERSHOE_CRC)
        to->long_++;
    else {
        to->frames++;
        frame->kind = packet[0];
        frame->flags = packet[1];
        frame->seq = (uint16_t)dealershoe_get(packet + 2, 2);
        frame->ack = (uint16_t)dealershoe_get(packet + 4, 2);
        frame->body = packet + DEALERSHOE_HEADER;
        frame->length = size - DEALERSHOE_HEADER - DEALERSHOE_CRC;
        return 1;
    }
    return 0;
}

/* Take one byte of the line; 1 when it completes a frame. */
static inline int dealershoe_feed(struct dealershoe_decoder *to, uint8_t byte, struct dealershoe_frame *frame)
{
    size_t length = to->length;
    if (byte) {
        if (length < sizeof to->block)
            to->block[length] = byte;
        else if (length == sizeof to->block)
            to->long_++;
        to->length = length < sizeof to->block + 1 ? length + 1 : length;
        return 0;
    }
    to->length = 0;
    if (!length || length > sizeof to->block)
        return 0;
    return dealershoe_end_(to, length, frame);
}

#ifdef __cplusplus
}
#endif

#endif
