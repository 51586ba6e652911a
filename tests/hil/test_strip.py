"""The printed code: its bits, its marks, what damage does to it."""

import pytest
from dealershoe.deck.cards import FIFTY_TWO, card_name, card_number
from dealershoe.deck.strip import CELL, MARGIN, Strip, code_word, crc8h2f, print_strip


@pytest.mark.parametrize(
    ("data", "crc"),
    [  # AUTOSAR SWS CRC Library, "8-bit 0x2F polynomial CRC calculation", its table of test patterns
        ("00000000", 0x12),
        ("F20183", 0xC2),
        ("0FAA0055", 0xC6),
        ("00FF5511", 0x77),
        ("332255AABBCCDDEEFF", 0x11),
        ("926B55", 0x33),
        ("FFFFFFFF", 0x6C),
    ],
)
def test_crc_is_autosar_crc8h2f(data: str, crc: int) -> None:
    assert crc8h2f(bytes.fromhex(data)) == crc


def test_names_and_numbers_are_those_of_the_wire() -> None:
    assert [card_number(name) for name in ("2c", "Ac", "2d", "2h", "As", "joker")] == [0, 12, 13, 26, 51, 52]
    assert [card_name(number) for number in range(52)] == list(FIFTY_TWO)
    with pytest.raises(ValueError, match="'10h' is no card"):
        card_number("10h")


def test_the_first_six_bits_are_the_card_the_next_two_the_deck() -> None:
    word = code_word(card_number("As"), 2)
    assert word >> 10 == 51
    assert word >> 8 & 3 == 2
    assert word & 0xFF == crc8h2f(bytes([51 << 2 | 2])) ^ 0x20  # hardware/card-code.md


def test_marks_of_a_strip_are_where_the_card_code_puts_them() -> None:
    strip = print_strip(0, 0)  # 2c: eight zero bits, then the CRC
    assert MARGIN == 9.25
    assert strip.clk[0] == (9.25, 10.5)  # first half of the start cell
    assert len(strip.clk) == 18
    assert strip.clk[-1] == (51.75, 53.0)
    assert strip.data[0] == (9.25, 11.75)  # start cell dark on both
    assert strip.ndata[0] == (9.25, 31.75)  # ... and /DATA stays dark through the eight zeros
    assert max(end for _, end in strip.data + strip.ndata) == MARGIN + 17 * CELL  # stop cell light on both


def test_a_strip_is_dark_on_one_data_track_in_each_data_cell() -> None:
    for card in range(54):
        for deck in range(4):
            strip = print_strip(card, deck)
            for cell in range(1, 17):
                middle = MARGIN + (cell + 0.5) * CELL
                dark = [any(a <= middle < b for a, b in track) for track in (strip.data, strip.ndata)]
                assert dark[0] is not dark[1]


def test_damage_changes_only_what_it_touches() -> None:
    strip = print_strip(17, 1)
    torn = strip.torn(20.0, 30.0)
    assert all(end <= 20.0 or start >= 30.0 for start, end in torn.clk + torn.data + torn.ndata)
    assert [m for m in strip.clk if m[1] < 20.0] == [m for m in torn.clk if m[1] < 20.0]
    dirty = strip.dirty("clk", 0.0, 2.0)
    assert dirty.clk == ((0.0, 2.0), *strip.clk)
    assert dirty.data == strip.data
    assert strip.misprinted(shift=0.5).clk[0] == (9.75, 11.0)
    assert Strip().torn(0, 60) == Strip()
