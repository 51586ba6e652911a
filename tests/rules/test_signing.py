"""A signature fits one pack, one version, one file and one key, nothing that is a bit off; versions have an order."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from dealershoe.errors import UserError
from dealershoe.rules import signing
from dealershoe.rules.shelf_command import keygen_command, sign_command
from dealershoe.rules.shelf_names import Version, checked_id, split_name
from hypothesis import given
from hypothesis import strategies as st
from rules.shelf_house import KEY, OTHER_KEY, House, public

ids = st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)
numbers = st.integers(0, 30)
parts = st.one_of(numbers.map(str), st.sampled_from(["alpha", "beta", "rc", "a-b", "0a", "-"]))
versions = st.builds(
    lambda three, before: ".".join(map(str, three)) + ("-" + ".".join(before) if before else ""),
    st.tuples(numbers, numbers, numbers),
    st.lists(parts, max_size=3),
)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
keys = st.binary(min_size=32, max_size=32).map(signing.key_id)
statements = st.tuples(ids, versions, digests, keys)


# ---- the statement


def test_the_signed_bytes_are_what_the_format_says() -> None:
    """Fixed for good: signatures of years ago must still hold."""
    assert signing.statement("house", "1.2.0", "ab" * 32, "cd" * 16) == (
        b"dealershoe rule pack, statement 1\npack house\nversion 1.2.0\nsha256 "
        + b"ab" * 32 + b"\nkey " + b"cd" * 16 + b"\n"
    )  # fmt: skip


@given(statements, statements)
def test_two_statements_have_the_same_bytes_only_if_they_are_the_same(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    assert (signing.statement(*one) == signing.statement(*other)) == (one == other)


@given(statements)
def test_a_statement_reads_back_field_by_field(one: tuple[str, str, str, str]) -> None:
    lines = signing.statement(*one).decode("ascii").split("\n")
    assert lines[0] == signing.STATEMENT
    assert tuple(line.partition(" ")[2] for line in lines[1:-1]) == one


def test_rfc_8032_vector_2() -> None:
    """The library signs as RFC 8032, 7.1, TEST 2, says; the key id is of that test's public key."""
    key = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    )
    raw = signing.raw_public(key.public_key())
    assert raw.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert key.sign(b"\x72").hex().startswith("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da")


# ---- signatures


@given(ids, versions, digests)
def test_what_is_signed_is_genuine_by_that_key_alone(pack: str, version: str, digest: str) -> None:
    made = signing.sign(KEY, pack, version, digest)
    assert signing.genuine(made, public(KEY))
    assert not signing.genuine(made, public(OTHER_KEY))
    assert signing.read_signatures(signing.write_signatures([made]), "x.sig") == (made,)


@pytest.mark.parametrize("bit", range(8))
def test_no_changed_bit_of_a_signature_file_is_taken(bit: int) -> None:
    """Each byte in turn: the file is refused, or what it says is no longer genuine."""
    raw = signing.write_signatures([signing.sign(KEY, "house", "1.2.0", "ab" * 32)])
    for index in range(len(raw)):
        damaged = bytearray(raw)
        damaged[index] ^= 1 << bit
        with contextlib.suppress(UserError):
            found = signing.read_signatures(bytes(damaged), "x.sig")
            changed = bytes(damaged).strip() != raw.strip()
            assert not changed or not any(signing.genuine(one, public(KEY)) for one in found)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_signature_file_or_refused(raw: bytes) -> None:
    with pytest.raises(UserError, match="not a signature file"):
        signing.read_signatures(raw, "x.sig")


def test_a_signature_file_speaks_of_one_pack_and_names_a_key_once() -> None:
    one = signing.sign(KEY, "house", "1.2.0", "ab" * 32)
    for other in (one, signing.sign(OTHER_KEY, "house", "1.2.1", "ab" * 32)):
        with pytest.raises(UserError, match="not a signature file"):
            signing.read_signatures(signing.write_signatures([one, other]), "x.sig")
    with pytest.raises(UserError, match="not a signature file"):
        signing.read_signatures(b" " * (signing.BIGGEST + 1), "x.sig")


@pytest.mark.parametrize(
    "name", ["../house", "a/b", "a\\b", "a..b", ".", "", "House", "a" * 65, "a\nb", "a b", "a-", "-a"]
)
def test_an_id_that_could_lead_out_of_the_folder_is_not_signed(name: str) -> None:
    with pytest.raises(UserError, match="is no name of a pack"):
        signing.sign(KEY, name, "1.0.0", "ab" * 32)
    forged = f'{{"pack": "{name}", "version": "1.0.0", "digest": "{"ab" * 32}", "key": "{"cd" * 16}", '
    forged += f'"signature": "{"ef" * 64}"}}'
    with pytest.raises(UserError, match="not a signature file"):
        signing.read_signatures(forged.replace("\\", "\\\\").encode(), "x.sig")


# ---- versions


def test_versions_have_the_order_of_semver_section_11() -> None:
    """The chain of semver.org 2.0.0, 11.2 and 11.4."""
    chain = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 2.0.0 "
    chain += "2.1.0 2.1.1 2.9.0 2.10.0"
    parsed = [Version.parse(text) for text in chain.split()]
    assert all(low < high and not high < low for low, high in pairwise(parsed))


@given(versions, versions, versions)
def test_the_order_of_versions_is_total(one: str, two: str, three: str) -> None:
    a, b, c = Version.parse(one), Version.parse(two), Version.parse(three)
    assert (a < b) + (a == b) + (a > b) == 1
    assert not (a <= b and b <= c) or a <= c
    assert (a == b) == (one == two)
    assert str(a) == one


@given(st.text(max_size=20))
def test_any_text_is_a_version_in_its_one_form_or_refused(text: str) -> None:
    with contextlib.suppress(UserError):
        assert str(Version.parse(text)) == text


@pytest.mark.parametrize("text", ["1.0", "01.0.0", "1.0.0+build", "1.0.0-01", "1.0.0-", "v1.0.0", "1.0.0\n", "٣.0.0"])
def test_not_a_version(text: str) -> None:
    with pytest.raises(UserError, match="is no version"):
        Version.parse(text)


@given(ids, versions)
def test_a_name_with_a_version_reads_back(pack: str, version: str) -> None:
    assert split_name(f"{pack}@{version}") == (checked_id(pack), Version.parse(version))
    assert split_name(pack) == (pack, None)


# ---- keys


def test_a_private_key_is_for_its_owner_alone_and_never_written_over(tmp_path: Path) -> None:
    key = tmp_path / "house.key"
    made = CliRunner().invoke(keygen_command, [str(key)])
    assert made.exit_code == 0
    before = key.read_bytes(), (tmp_path / "house.key.pub").read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    assert signing.key_id(signing.read_public(before[1], "house.key.pub")) in made.output
    again = CliRunner().invoke(keygen_command, [str(key)])
    assert isinstance(again.exception, UserError)
    (tmp_path / "house.key.pub").unlink()
    again = CliRunner().invoke(keygen_command, [str(key)])
    assert isinstance(again.exception, UserError)
    assert (key.read_bytes(), sorted(path.name for path in tmp_path.iterdir())) == (before[0], ["house.key"])


def test_a_private_key_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    house = House(tmp_path)
    key = tmp_path / "house.key"
    key.write_bytes(signing.private_pem(KEY))
    key.chmod(0o640)
    refused = CliRunner().invoke(sign_command, [str(house.write("house-rules", "1.0.0")), "--key", str(key)])
    assert isinstance(refused.exception, UserError)
    assert "chmod 600" in str(refused.exception)
    assert not list(house.desk.glob("*.sig"))


def test_files_that_hold_another_kind_of_key_are_refused() -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    pem = serialization.Encoding.PEM
    others = [
        curve.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        curve.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo),
        b"",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ]
    for raw in (*others, signing.public_pem(KEY)):
        with pytest.raises(UserError, match="no private Ed25519 key"):
            signing.read_private(raw, "key")
    for raw in (*others, signing.private_pem(KEY)):
        with pytest.raises(UserError, match="no public Ed25519 key"):
            signing.read_public(raw, "key")


def test_a_second_key_adds_its_signature_and_a_new_file_starts_afresh(tmp_path: Path) -> None:
    house = House(tmp_path)
    pack = house.write("house-rules", "1.0.0")
    for name, key in (("one", KEY), ("two", OTHER_KEY), ("one", KEY)):
        path = tmp_path / name
        path.write_bytes(signing.private_pem(key))
        path.chmod(0o600)
        assert CliRunner().invoke(sign_command, [str(pack), "--key", str(path)]).exit_code == 0
    sig = pack.with_name(pack.name + ".sig")
    assert len(signing.read_signatures(sig.read_bytes(), sig.name)) == 2
    pack.write_text(pack.read_text() + "# a word more\n")
    assert CliRunner().invoke(sign_command, [str(pack), "--key", str(tmp_path / "one")]).exit_code == 0
    (only,) = signing.read_signatures(sig.read_bytes(), sig.name)
    assert only.key == signing.key_id(public(KEY))
