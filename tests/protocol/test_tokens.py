"""Cards under a secret: tokens and commitments as README.md has them, on both interpreters; the Veil of a shoe."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocol.test_vectors import MICROPYTHON, PROTOCOL, needs_micropython
from shoelink import schema, tokens

DEVICE = b"shoe-one"
SECRETS = st.binary(min_size=16, max_size=16)


def counted() -> Callable[[int], bytes]:
    """Random bytes of a test: another secret at each call."""
    calls = itertools.count(1)
    return lambda size: hashlib.sha256(b"%d" % next(calls)).digest()[:size]


@given(SECRETS)
def test_tokens_are_four_bytes_each_of_sha_256_over_label_secret_and_block(secret: bytes) -> None:
    """README.md, "Cards under a secret": SHA-256( "shoe/1 token" | secret | n ) for n = 0 to 6, 4 bytes a card."""
    names = tokens.tokens(secret)
    assert len(names) == 54 * 4
    card = 37  # of block 4, place 5
    block = hashlib.sha256(b"shoe/1 token" + secret + b"\x04").digest()
    assert names[4 * card : 4 * card + 4] == block[20:24]
    assert tokens.card_of(names, block[20:24]) == card


@given(SECRETS, st.integers(1, 0xFFFF))
def test_a_commitment_binds_device_hand_and_secret(secret: bytes, hand: int) -> None:
    """README.md: first 22 bytes of SHA-256( "shoe/1 hand" | device id 8 | hand u16 | secret 16 )."""
    bound = tokens.commitment(DEVICE, hand, secret)
    assert bound == hashlib.sha256(b"shoe/1 hand" + DEVICE + hand.to_bytes(2, "little") + secret).digest()[:22]
    assert bound != tokens.commitment(b"shoe-two", hand, secret)
    assert bound != tokens.commitment(DEVICE, hand % 0xFFFF + 1, secret)
    assert bound != tokens.OPEN


def test_a_secret_is_not_used_when_two_cards_share_a_token_or_one_reads_as_open_or_unread() -> None:
    good = tokens.tokens(bytes(16))
    assert tokens.usable(good)
    for bad in (good[:4], schema.TOKEN_UNREAD, schema.word(0), schema.word(53)):
        assert not tokens.usable(good[:20] + bad + good[24:])


def test_a_shoe_commits_to_each_hand_before_it_and_reveals_it_at_the_next() -> None:
    veil = tokens.Veil(DEVICE, counted())
    over, commit = veil.begin(7)
    assert over is None
    called = bytearray(4)
    veil.name(51, called)
    assert called != schema.word(51)
    veil.prepare()  # drawing the next secret changes nothing of this hand
    again = bytearray(4)
    veil.name(51, again)
    assert again == called
    over, following = veil.begin(8)
    assert over is not None
    assert over.hand == 7
    assert tokens.commitment(DEVICE, 7, over.secret) == commit.commitment
    assert tokens.card_of(tokens.tokens(over.secret), bytes(called)) == 51
    assert following.commitment != commit.commitment
    veil.name(51, again)
    assert again != called


def test_an_open_table_calls_cards_by_their_numbers_and_says_so() -> None:
    veil = tokens.Veil(DEVICE, counted(), opened=True)
    assert veil.begin(1) == (None, schema.Commit(1, bytes(22)))
    assert veil.begin(2) == (None, schema.Commit(2, bytes(22)))
    called = bytearray(4)
    veil.name(51, called)
    assert called == b"\x33\0\0\0"


def test_a_bad_secret_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """README.md: a secret under which two cards have one token is not used. (None is known: one is declared so.)"""
    bad, good = bytes(16), bytes(15) + b"1"
    usable = tokens.usable
    monkeypatch.setattr(tokens, "usable", lambda names: names != tokens.tokens(bad) and usable(names))
    drawn = iter((good, bad, good))  # the first is that of before the first hand
    veil = tokens.Veil(DEVICE, lambda _: next(drawn))
    _, commit = veil.begin(3)
    assert commit.commitment == tokens.commitment(DEVICE, 3, good)
    assert next(drawn, None) is None


@needs_micropython
def test_micropython_calls_and_commits_alike_and_names_a_card_without_allocating() -> None:
    secret = bytes(range(16))
    script = """
import micropython
from shoelink import tokens
secret = bytes(range(16))
veil = tokens.Veil(b"shoe-one", lambda size: secret)
over, commit = veil.begin(513)
called = bytearray(4)
veil.name(53, called)
micropython.heap_lock()
veil.name(52, called)
micropython.heap_unlock()
print(called.hex(), commit.commitment.hex(), tokens.tokens(secret).hex())
"""
    done = subprocess.run(
        [str(MICROPYTHON), "-c", script],
        env={**os.environ, "MICROPYPATH": f"{PROTOCOL}:.frozen"},
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    names = tokens.tokens(secret)
    said = done.stdout.decode().split()
    assert said == [names[208:212].hex(), tokens.commitment(DEVICE, 513, secret).hex(), names.hex()]
