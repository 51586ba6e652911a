"""The doctor at the shoe's parts: digest, self-test, test card; against the real firmware on model parts."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner
from dealershoe.deck.strip import print_strip
from dealershoe.doctor import command, parts
from dealershoe.doctor import shoe as shoe_module
from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding
from dealershoe.emulate.mechanics import PaperCard, printed
from dealershoe.emulate.shoe import TURNS, EmulatedShoe
from dealershoe.port.identity import Ports
from doctor.test_doctor import be_patient
from shoelink import schema

TEST_CARD, TEST_DECK = 54, 1  # firmware/shoe/selftest.py


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)
    monkeypatch.setattr(shoe_module, "STATS_MS", 600.0)


def of(topic: str, findings: Iterator[Finding]) -> list[tuple[str, str]]:
    return [(found.verdict, found.seen) for found in findings if found.topic == topic]


def examined(shoe: EmulatedShoe, draws: int = 0, paper: PaperCard | None = None) -> list[Finding]:
    """What the doctor finds at `shoe`; when it asks for a card, `paper` is drawn."""

    def draw() -> None:
        asked = schema.Test(draws)
        shoe.wait_for(lambda: any(heard.message == asked for heard in shoe.line.heard), "it to hear of the card")
        for _ in range(TURNS):  # the frame is read; the turn of the loop that heeds it comes later
            shoe.settle()
        shoe.pull(paper, arrives=False)

    drawing = threading.Thread(target=draw)
    findings = list(shoe_module.shoe(shoe.port, Ports(), draws, ask=lambda _: drawing.start()))
    if draws:
        drawing.join()
    return findings


def test_a_shoe_that_is_well_says_so_of_its_parts_and_runs_this_release() -> None:
    with EmulatedShoe(pace="fast") as shoe:
        findings = examined(shoe)
    well = of("parts", iter(findings))
    assert [verdict for verdict, _ in well] == [NOTE, GOOD]  # and calibration is not among those that are well
    assert "never calibrated" in well[0][1]
    assert "tested 11 parts" in well[1][1]
    assert "Bar and piezo it cannot sense" in well[1][1]
    ((verdict, seen),) = of("firmware", iter(findings))
    assert (verdict, "those of this release" in seen) == (GOOD, True)


def test_a_shoe_with_a_reader_of_tags_is_of_this_release_and_the_reader_is_named() -> None:
    with EmulatedShoe(pace="fast", variant="rfid") as shoe:
        findings = examined(shoe)
    well = of("parts", iter(findings))
    assert "tested 12 parts, the reader of tags among them, in" in well[1][1]
    ((verdict, seen),) = of("firmware", iter(findings))
    assert (verdict, "those of this release" in seen) == (GOOD, True)
    with EmulatedShoe(pace="fast", variant="rfid", failing={"reader": "busy"}) as shoe:
        findings = examined(shoe)
    bad = [seen for verdict, seen in of("parts", iter(findings)) if verdict == BAD]
    assert bad == ["The shoe's self-test finds out of order: the reader of the cards' tags."]


def test_parts_that_are_out_of_order_are_named() -> None:
    with EmulatedShoe(pace="fast", failing={"fram": "absent", "lid": "open", "ambient": "dead"}) as shoe:
        findings = examined(shoe)
    bad = [seen for verdict, seen in of("parts", iter(findings)) if verdict == BAD]
    assert [part for part in ("FRAM", "lid", "ambient") if any(part in seen for seen in bad)] == [
        "FRAM",
        "lid",
        "ambient",
    ]
    assert len(bad) == 3
    # the shoe reports FRAM, LID and SELF_TEST, too: a failure is told once
    assert [finding.topic for finding in findings if finding.verdict == BAD] == ["parts"] * 3


@pytest.mark.parametrize("failing", [{"fram": "absent"}, {}], ids=["no FRAM", "well"])
def test_what_it_holds_is_only_called_safe_where_there_is_an_fram(failing: dict[str, str]) -> None:
    with EmulatedShoe(pace="fast", failing=failing) as shoe:
        shoe.press("new-hand")
        findings = examined(shoe)
    (held,) = [finding for finding in findings if finding.topic == "events"]
    assert ("they are lost if it loses power" in held.seen) == bool(failing)
    assert ("they are safe" in held.seen) == (not failing)
    (calibration,) = [finding for finding in findings if finding.topic == "parts" and "calibrat" in finding.seen]
    assert ("Put the FRAM right first" in calibration.do) == bool(failing)


def test_one_event_is_it_and_not_they() -> None:
    assert shoe_module._events(1, in_ram=False).seen == "It holds 1 event that no bridge has stored; it is safe."
    assert "does not keep it: it is lost if" in shoe_module._events(1, in_ram=True).seen


def test_without_an_fram_nobody_draws_for_a_calibration_that_could_not_be_kept() -> None:
    asked: list[str] = []
    nobody: Any = None
    (finding,) = parts.with_card(nobody, schema.TEST_CALIBRATE, parts.bit("FRAM"), asked.append)
    assert (finding.verdict, finding.do, asked) == (BAD, "Put the FRAM right first.", [])


def test_who_draws_is_told_when() -> None:
    class Waits:
        told: ClassVar[list[object]] = []

        def say(self, message: object) -> None:
            self.told.append(message)

        def wait(self, ms: float, _wanted: Any) -> None:
            self.told.append(ms)

    peer: Any = Waits()
    (finding,) = parts.with_card(peer, schema.TEST_CARD, 0, peer.told.append)
    asked = "Draw the test card now, within a minute."
    assert peer.told == [schema.Test(schema.TEST_CARD), asked, 60_000.0]  # when the shoe knows, before it is waited for
    assert (finding.verdict, finding.seen) == (BAD, "No card was drawn.")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_card_is_asked_for_where_no_program_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    def shoe(_port: str, _ports: Ports, draws: int, _keys: object, ask: Callable[[str], None]) -> Iterator[Finding]:
        assert draws == schema.TEST_CARD
        ask("Draw.")
        yield Finding("test card", GOOD, "Read.")

    monkeypatch.setattr(command, "shoe", shoe)
    arguments = ["--port", "x", "--journal", str(tmp_path / "j"), "--shelf", str(tmp_path / "s"), "--test-card"]
    ran = CliRunner().invoke(command.command, [*arguments, *(["--json"] if as_json else [])])
    assert ("Draw.\n" in ran.stdout, ran.stderr) == ((False, "Draw.\n") if as_json else (True, ""))
    for line in ran.stdout.splitlines() if as_json else ():
        json.loads(line)


def test_every_part_that_fails_is_a_finding_of_its_own_and_none_of_it_is_called_well() -> None:
    for bit, name in schema.CODES["part"]:
        if name in parts.SHOWN:  # nobody can find them out of order
            continue
        findings = list(parts._result(schema.SelfTest(bytes(4), schema.WHY_HOST, 0xFFFF, bit, 110)))
        said = [finding.seen for finding in findings if finding.verdict in (BAD, NOTE)]
        assert len(said) == 1, name
        assert parts.PARTS[name].split(",")[0].split(":")[0].removeprefix("the ") in said[0] or name == "CALIBRATION"
        assert any(finding.verdict == GOOD for finding in findings) == (name == "CALIBRATION")


def test_a_calibration_that_cannot_be_kept_is_said_of_the_memory_and_not_of_the_light() -> None:
    class Draws:
        def say(self, message: object) -> None:
            pass

        def wait(self, _ms: float, wanted: Any) -> Any:
            failed = parts.bit("FRAM") | parts.bit("CALIBRATION")
            heard = SimpleNamespace(message=schema.SelfTest(bytes(4), schema.WHY_HOST, 0xFFFF, failed, 110))
            return heard if wanted(heard) else None

    peer: Any = Draws()
    (finding,) = parts.with_card(peer, schema.TEST_CALIBRATE)
    assert (finding.verdict, "could not be kept: the FRAM" in finding.seen) == (BAD, True)


def test_another_digest_is_noticed() -> None:
    ident = schema.Ident(bytes(8), bytes(12), bytes(range(16)))
    assert parts.digest(ident).verdict == NOTE
    assert parts.digest(ident._replace(digest=bytes(16))).verdict == NOTE


@pytest.mark.parametrize(
    ("card", "draws", "verdict"),
    [(TEST_CARD, schema.TEST_CARD, GOOD), (12, schema.TEST_CARD, BAD), (TEST_CARD, schema.TEST_CALIBRATE, GOOD)],
    ids=["the test card", "another card", "calibration"],
)
def test_the_card_that_is_drawn(card: int, draws: int, verdict: str) -> None:
    paper = printed("2c").with_strips(print_strip(card, TEST_DECK))
    with EmulatedShoe(pace="fast", opened=True) as shoe:
        findings = examined(shoe, draws, paper)
        assert [found for found, _ in of("test card", iter(findings))] == [verdict]
        if draws == schema.TEST_CALIBRATE:  # it is kept over a power cut
            shoe.power_cycle()
            assert [found for found, _ in of("parts", iter(examined(shoe)))] == [GOOD]


def test_who_calibrates_the_shoe_takes_the_seat_nodes_as_they_are() -> None:
    """One that is missing since the power came on counts as taken away: hardware/seat-bus.md."""
    paper = printed("2c").with_strips(print_strip(TEST_CARD, TEST_DECK))

    def named(findings: list[Finding]) -> bool:
        return any("SEAT_NODE" in seen for _, seen in of("fault", iter(findings)))

    with EmulatedShoe(pace="fast", opened=True) as shoe:
        shoe.rest(3_000)
        shoe.fail("seats", "node 5 absent")
        shoe.power_cycle()
        shoe.rest(20_000)
        assert named(examined(shoe))
        examined(shoe, schema.TEST_CALIBRATE, paper)
        shoe.rest(10_000)
        assert not named(examined(shoe))
