"""What a house's shelf takes and what it refuses: each refusal is one sentence and leaves every file as it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from dealershoe.errors import UserError
from dealershoe.judge.command import command as judge_command
from dealershoe.rules import signing
from dealershoe.rules.shelf import Shelf, default_shelf, signature_path
from dealershoe.rules.shelf_command import install_command
from dealershoe.rules.shelf_names import Version
from dealershoe.rules.shelf_pins import Pin, names
from dealershoe.rules.stack import SHIPPED, load_stack
from dealershoe.trial.scenarios import refuse_failing
from rules.shelf_house import FLOOR, KEY, OTHER_KEY, House, public, tree


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path).opened()


@contextmanager
def refused(house: House, words: str) -> Iterator[None]:
    """One sentence with `words` in it, and the shelf is byte for byte what it was."""
    before = tree(house.shelf.folder)
    with pytest.raises(UserError, match=words) as caught:
        yield
    assert "\n" not in str(caught.value)
    assert tree(house.shelf.folder) == before


def stored(house: House, pin: Pin) -> Path:
    (path,) = house.shelf.folder.glob(f"packs/{pin}-*.toml")
    return path


# ---- what it takes


def test_a_signed_pack_is_installed_activated_and_judges(house: House) -> None:
    pin = house.install("room", "1.0.0")
    assert stored(house, pin).read_bytes() == (house.desk / "room-1.0.0.toml").read_bytes()
    house.shelf.activate("room+house", FLOOR)
    stack = house.shelf.active()
    assert stack is not None
    assert stack.name == "room+house"
    assert (stack.packs[0].version, stack.packs[0].digest) == ("1.0.0", pin.digest)


def test_nothing_there_is_no_shelf_and_no_error(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "none")
    assert shelf.active() is None
    assert shelf.find("house", None) is None
    assert shelf.check().changes == ()
    assert not shelf.folder.exists()


def test_two_editions_stand_side_by_side(house: House) -> None:
    """By two ids in any order, or as two versions of one id."""
    house.install("tda-room-2024", "1.0.0")
    house.install("tda-room-2022", "1.0.0")
    house.install("room", "2022.1.0")
    house.install("room", "2024.1.0")
    for spec, title in (
        ("tda-room-2022", "The room's rules 1.0.0"),
        ("room@2022.1.0", "The room's rules 2022.1.0"),
        ("room@2024.1.0", "The room's rules 2024.1.0"),
        ("room", "The room's rules 2024.1.0"),
    ):
        assert load_stack(spec, house.shelf).packs[0].title == title
    both = load_stack("tda-room-2022+tda-room-2024", house.shelf)
    assert both.name == "tda-room-2022+tda-room-2024"
    with pytest.raises(UserError, match="stands in it twice"):
        load_stack("room@2022.1.0+room@2024.1.0", house.shelf)
    with pytest.raises(UserError, match=r"no rule pack `room@2023\.1\.0`"):
        load_stack("room@2023.1.0", house.shelf)


def test_the_higher_of_shelf_and_program_is_meant_and_each_can_be_named(house: House) -> None:
    pin = house.install("house", "9.0.0")
    assert load_stack("house", house.shelf).packs[0].digest == pin.digest
    assert load_stack("house@1.0.0", house.shelf).packs[0].path.startswith(str(SHIPPED))
    assert load_stack("house").packs[0].path.startswith(str(SHIPPED))


def test_what_a_pack_extends_is_pinned_when_it_is_put_in_force(house: House) -> None:
    """A later version of the base changes nothing until someone puts it in force."""
    house.install("base", "1.0.0", ruling="misdeal")
    house.install("room", "1.0.0", 'extends = "base"\n')
    layers = house.shelf.activate("room", FLOOR)
    assert [str(pin) for pin in layers[0]] == ["room@1.0.0", "base@1.0.0"]
    house.install("base", "1.1.0", ruling="correct")
    stack = house.shelf.active()
    assert stack is not None
    assert [rule.open.ruling for rule in stack.packs[0].rules if rule.id == "base-boxed"] == ["misdeal"]
    house.shelf.activate("room", FLOOR)
    stack = house.shelf.active()
    assert stack is not None
    assert [rule.open.ruling for rule in stack.packs[0].rules if rule.id == "base-boxed"] == ["correct"]


def test_a_base_beside_the_file_is_no_way_round_the_signature(house: House) -> None:
    house.write("base", "1.0.0")
    (house.desk / "base.toml").write_bytes((house.desk / "base-1.0.0.toml").read_bytes())
    pack = house.signed(house.write("room", "1.0.0", 'extends = "base"\n'))
    with refused(house, "no rule pack `base`"):
        house.put(pack)


def test_a_new_program_does_not_change_what_is_in_force(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.shelf.activate("house", FLOOR)
    before = house.shelf.active()
    empty = house.folder / "other program"
    empty.mkdir()
    monkeypatch.setattr("dealershoe.rules.shelf.SHIPPED", empty)
    after = house.shelf.active()
    assert before is not None
    assert after is not None
    assert after.packs[0].digest == before.packs[0].digest


# ---- versions go up, and back only on purpose


@pytest.mark.parametrize("version", ["1.0.0", "0.9.9", "1.0.0-rc.1"])
def test_no_version_is_installed_that_is_not_above_those_there(house: House, version: str) -> None:
    house.install("room", "1.0.0")
    pack = house.signed(house.write("room", version, ruling="correct"))
    with refused(house, f"room@{version} is not above room@1.0.0"):
        house.put(pack)


def test_no_version_is_installed_below_what_comes_with_the_program(house: House) -> None:
    pack = house.signed(house.write("house", "0.9.0"))
    with refused(house, r"house@0.9.0 is not above house@"):
        house.put(pack)


def test_an_older_version_comes_back_into_force_only_by_a_rollback(house: House) -> None:
    house.install("room", "1.0.0")
    house.install("room", "1.1.0")
    house.shelf.activate("room", FLOOR)
    house.shelf.activate("house", FLOOR)  # not even by way of a stack without it
    with refused(house, "room@1.0.0 is older than room@1.1.0, which was in force; versions only go up"):
        house.shelf.activate("room@1.0.0", FLOOR)
    house.shelf.rollback("room@1.0.0", "players misread 1.1.0", FLOOR)
    last = house.shelf.state().changes[-1]
    assert (last.what, last.who, last.reason) == ("rollback", "floor", "players misread 1.1.0")
    house.shelf.activate("room@1.0.0+house", FLOOR)  # it is what is in force now: no way down
    house.shelf.activate("room@1.1.0", FLOOR)


def test_a_rollback_goes_to_what_was_in_force_before_and_again_further_back(house: House) -> None:
    house.install("room", "1.0.0")
    for spec in ("house", "room", "room", "roberts"):
        house.shelf.activate(spec, FLOOR)
    assert names(house.shelf.rollback("", "one", FLOOR)) == "room@1.0.0"
    assert names(house.shelf.rollback("", "two", FLOOR)).startswith("house@")
    with refused(house, "there is nothing to go back to"):
        house.shelf.rollback("", "three", FLOOR)
    with refused(house, "a reason of no length"):
        house.shelf.rollback("room", " \n", FLOOR)
    with refused(house, "is in force already"):
        house.shelf.rollback("house", "again", FLOOR)


# ---- who signed


def test_a_pack_that_nobody_or_a_stranger_signed_is_refused(house: House) -> None:
    pack = house.write("room", "1.0.0")
    with refused(house, r"room-1.0.0.toml.sig"):
        house.put(pack)
    house.signed(pack, OTHER_KEY)
    with refused(house, "the house does not trust that key"):
        house.put(pack)


def test_a_pack_that_was_changed_after_it_was_signed_is_refused(house: House) -> None:
    pack = house.signed(house.write("room", "1.0.0"))
    pack.write_text(pack.read_text().replace("misdeal", "play-on"))
    with refused(house, "is not the file that was signed as room@1.0.0"):
        house.put(pack)


def test_a_changed_signature_is_refused(house: House) -> None:
    pack = house.signed(house.write("room", "1.0.0"))
    path = signature_path(pack)
    data = json.loads(path.read_text())
    data["signature"] = data["signature"][:-2] + ("00" if data["signature"][-2:] != "00" else "01")
    path.write_text(json.dumps(data) + "\n")
    with refused(house, "is not genuine"):
        house.put(pack)


@pytest.mark.parametrize(("field", "value"), [("version", "2.0.0"), ("pack", "house")])
def test_a_signature_does_not_speak_of_another_version_or_pack(house: House, field: str, value: str) -> None:
    pack = house.signed(house.write("room", "1.0.0"))
    path = signature_path(pack)
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}) + "\n")
    with refused(house, "is not genuine"):
        house.put(pack)


def test_the_signature_of_another_pack_is_refused(house: House) -> None:
    one = house.signed(house.write("room", "1.0.0"))
    other = house.signed(house.write("room", "1.1.0"))
    signature_path(one).write_bytes(signature_path(other).read_bytes())
    with refused(house, "the signature is another pack's"):
        house.put(one)


def test_a_signer_who_says_another_name_than_the_pack_is_refused(house: House) -> None:
    pack = house.write("room", "1.0.0")
    digest = signing.sign(KEY, "house", "9.0.0", hashlib.sha256(pack.read_bytes()).hexdigest())
    signature_path(pack).write_bytes(signing.write_signatures([digest]))
    with refused(house, "says it is room@1.0.0; it was signed as house@9.0.0"):
        house.put(pack)


def test_a_revoked_key_counts_no_more_for_what_comes_and_for_what_is_there(house: House) -> None:
    pin = house.install("room", "1.0.0")
    house.shelf.activate("room", FLOOR)
    later = house.signed(house.write("room", "1.1.0"))
    key, lost = house.shelf.revoke(signing.key_id(public(KEY))[:8], "left the house", FLOOR)
    assert (key, lost) == (signing.key_id(public(KEY)), (pin,))
    for use in (lambda: house.put(later), house.shelf.active, lambda: house.shelf.activate("room", FLOOR)):
        with refused(house, "signed by the revoked key"):
            use()
    with refused(house, "was revoked"):
        house.shelf.trust(public(KEY), FLOOR)
    with refused(house, "0 trusted keys begin with"):
        house.shelf.revoke("", "x", FLOOR)


def test_a_house_can_ask_for_two_signatures(house: House) -> None:
    house.install("early", "1.0.0")
    with refused(house, "1 keys are trusted"):
        house.shelf.need(2, FLOOR)
    house.shelf.trust(public(OTHER_KEY), FLOOR)
    house.shelf.need(2, FLOOR)
    pack = house.signed(house.write("room", "1.0.0"))
    with refused(house, "has 1 of 2 signatures"):
        house.put(pack)
    house.put(house.signed(pack, KEY, OTHER_KEY))
    house.shelf.activate("room+early", FLOOR)  # what came before stays good
    house.shelf.revoke(signing.key_id(public(OTHER_KEY)), "lost", FLOOR)
    with refused(house, "revoked key"):
        house.shelf.active()


# ---- what is not sound


def test_a_pack_that_does_not_load_is_refused(house: House) -> None:
    pack = house.signed(house.write("room", "1.0.0"))
    text = pack.read_text().replace('"boxed"', '"baked"')
    pack.write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    signature_path(pack).write_bytes(signing.write_signatures([signing.sign(KEY, "room", "1.0.0", digest)]))
    with refused(house, "baked"):
        house.put(pack)


def test_a_pack_that_fails_a_scenario_of_its_own_is_refused(house: House) -> None:
    pack = house.write("room", "1.0.0")
    scenario = '\n[[scenarios]]\nname = "a boxed card"\nstack = "self"\ndeal = """\n'
    scenario += 'hand seats=1-3 button=3\ncard 1 boxed\nexpect {ruling}\n"""\n'
    text = pack.read_text()
    pack.write_text(text + scenario.format(ruling="dead"))
    with refused(house, "fails a scenario"):
        house.put(house.signed(pack))
    pack.write_text(text + scenario.format(ruling="misdeal"))
    house.put(house.signed(pack))


# ---- names and files


@pytest.mark.parametrize("spec", ["../house", "/etc/passwd", "room/../house", "x.toml", "house@../1", "", "house+"])
def test_no_path_is_put_in_force(house: House, spec: str) -> None:
    with refused(house, "is no name of a pack|is no version"):
        house.shelf.activate(spec, FLOOR)


def _link(path: Path) -> None:
    kept = path.with_name("kept")
    path.rename(kept)
    path.symlink_to(kept)


def _open(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o002)


@pytest.mark.parametrize("spoil", [_link, _open])
@pytest.mark.parametrize("what", [".", "history.jsonl", "packs", "packs/*.toml", "packs/*.sig"])
def test_links_and_files_that_anyone_may_write_are_refused(
    house: House, what: str, spoil: Callable[[Path], None]
) -> None:
    house.install("room", "1.0.0")
    house.shelf.activate("room", FLOOR)
    (path,) = [house.shelf.folder] if what == "." else house.shelf.folder.glob(what)
    spoil(path)
    with refused(house, "is a link|anyone may write"):
        house.shelf.active()
    with refused(house, "is a link|anyone may write"):
        house.shelf.activate("room", FLOOR)


def test_a_folder_above_that_anyone_may_write_is_refused(house: House) -> None:
    house.folder.chmod(0o777)
    with refused(house, "anyone may write"):
        house.shelf.activate("house", FLOOR)
    house.folder.chmod(0o1777)  # as /tmp: only its owner takes the shelf away
    house.shelf.activate("house", FLOOR)


def test_a_linked_pack_or_signature_is_not_installed(house: House) -> None:
    pack = house.signed(house.write("room", "1.0.0"))
    for path in (pack, signature_path(pack)):
        _link(path)
        with refused(house, "is a link"):
            house.put(pack)
        (path.parent / "kept").replace(path)
    (house.desk / "pipe").mkdir()
    with refused(house, "is not a file"):
        house.shelf.install(house.desk / "pipe", signature_path(pack), FLOOR, refuse_failing)


# ---- what changed behind the shelf's back


def test_a_pack_that_changed_on_the_disk_is_not_loaded(house: House) -> None:
    """Even with the same length and time; and a shipped pack's copy as well."""
    pin = house.install("room", "1.0.0")
    house.shelf.activate("room+house", FLOOR)
    mine = stored(house, pin)
    for path in (mine, next(house.shelf.folder.glob("packs/house@*.toml"))):
        sound = path.read_bytes()
        path.write_bytes(sound.replace(b"misdeal", b"correct"))
        with refused(house, "on the shelf is not the file that was put there"):
            house.shelf.active()
        path.write_bytes(sound)
    assert house.shelf.active() is not None
    mine.unlink()
    with refused(house, "is gone from the shelf"):
        house.shelf.active()


def test_a_signature_that_changed_on_the_disk_is_noticed(house: House) -> None:
    pin = house.install("room", "1.0.0")
    house.shelf.activate("room", FLOOR)
    path = signature_path(stored(house, pin))
    path.write_bytes(signing.write_signatures([signing.sign(OTHER_KEY, *pin)]))
    with refused(house, "does not trust that key"):
        house.shelf.active()


def test_any_line_of_the_history_that_changes_or_goes_is_noticed(house: House) -> None:
    """But for the end, which only a copy elsewhere can hold: see `follows` for a table that runs."""
    house.install("room", "1.0.0")
    house.shelf.activate("room", FLOOR)
    house.shelf.activate("house", FLOOR)
    path = house.shelf.folder / "history.jsonl"
    sound = path.read_bytes()
    lines = sound.splitlines(keepends=True)
    assert len(lines) == 4
    for number in range(len(lines) - 1):
        for spoilt in (b"", lines[number].replace(b"floor", b"clerk"), lines[number] * 2, b"{}\n", b"[[[[\n"):
            path.write_bytes(b"".join(lines[:number]) + spoilt + b"".join(lines[number + 1 :]))
            with refused(house, "history is damaged in line"):
                house.shelf.active()
            with refused(house, "history is damaged in line"):
                house.shelf.activate("house", FLOOR)
    path.write_bytes(sound[:-1])
    with refused(house, "its end is missing"):
        house.shelf.active()
    path.write_bytes(sound)
    assert house.shelf.check().highest("room") == Version.parse("1.0.0")


def test_the_history_says_who_what_when_and_the_digest(house: House) -> None:
    pin = house.install("room", "1.0.0")
    house.shelf.activate("room", FLOOR)
    changes = house.shelf.state().changes
    assert [(change.what, change.who, change.at) for change in changes] == [
        (what, FLOOR.who, FLOOR.at) for what in ("trust", "install", "activate")
    ]
    assert changes[1].pin == pin
    assert changes[1].keys == (signing.key_id(public(KEY)),)
    assert changes[2].layers == ((pin,),)


def test_where_the_shelf_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """XDG base directory specification: a relative XDG_DATA_HOME is to be ignored."""
    monkeypatch.setenv("DEALERSHOE_SHELF", str(tmp_path))
    assert default_shelf() == tmp_path
    monkeypatch.delenv("DEALERSHOE_SHELF")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_shelf() == Path("/data/dealershoe/shelf")
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert default_shelf() == Path.home() / ".local/share/dealershoe/shelf"


def test_judge_reads_its_packs_from_the_shelf(house: House, tmp_path: Path) -> None:
    house.install("room", "1.0.0", ruling="misdeal")
    house.install("room", "1.1.0", ruling="dead")
    script = tmp_path / "boxed.deal"
    script.write_text("hand seats=1-3 button=3\ncard 1 boxed\n")
    for spec, ruling in (("room@1.0.0", "misdeal"), ("room", "dead")):
        arguments = [str(script), "--rules", spec, "--shelf", str(house.shelf.folder), "--json"]
        assert json.loads(CliRunner().invoke(judge_command, arguments).stdout)["ruling"] == ruling


def test_the_command_says_of_an_unsigned_pack_that_it_is_not_signed(house: House) -> None:
    pack = house.write("room", "1.0.0")
    with refused(house, "room-1.0.0.toml is not signed; .*sign it with `rules sign`"):
        arguments = [str(pack), "--shelf", str(house.shelf.folder)]
        CliRunner().invoke(install_command, arguments, catch_exceptions=False)
