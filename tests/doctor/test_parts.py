"""The doctor at the shoe's parts: digest, self-test, test card; against the real firmware on model parts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dealershoe.deck.strip import print_strip
from dealershoe.doctor import parts
from dealershoe.doctor import shoe as shoe_module
from dealershoe.doctor.finding import BAD, GOOD, NOTE, Finding
from dealershoe.emulate.mechanics import printed
from dealershoe.emulate.shoe import EmulatedShoe
from dealershoe.port.identity import Ports
from shoelink import schema

TEST_CARD, TEST_DECK = 54, 1  # firmware/shoe/selftest.py


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUIET_MS", "GREETS_MS", "STATS_MS"):
        monkeypatch.setattr(shoe_module, name, 600.0)


def of(topic: str, findings: Iterator[Finding]) -> list[tuple[str, str]]:
    return [(found.verdict, found.seen) for found in findings if found.topic == topic]


def examined(shoe: EmulatedShoe, draws: int = 0) -> list[Finding]:
    return list(shoe_module.shoe(shoe.port, Ports(), draws))


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


def test_parts_that_are_out_of_order_are_named() -> None:
    with EmulatedShoe(pace="fast", failing={"fram": "absent", "lid": "open", "ambient": "dead"}) as shoe:
        bad = [seen for verdict, seen in of("parts", iter(examined(shoe))) if verdict == BAD]
    assert [part for part in ("FRAM", "lid", "ambient") if any(part in seen for seen in bad)] == [
        "FRAM",
        "lid",
        "ambient",
    ]
    assert len(bad) == 3


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
        drawing = threading.Timer(3.0, lambda: shoe.pull(paper, arrives=False))
        drawing.start()
        findings = examined(shoe, draws)
        drawing.join()
        assert [found for found, _ in of("test card", iter(findings))] == [verdict]
        if draws == schema.TEST_CALIBRATE:  # it is kept over a power cut
            shoe.power_cycle()
            assert [found for found, _ in of("parts", iter(examined(shoe)))] == [GOOD]
