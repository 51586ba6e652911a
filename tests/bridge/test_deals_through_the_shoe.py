"""Every deal script of the rule tests, dealt at an emulated shoe with the real firmware, judged by a real bridge.

The same expectations that hold for the judge alone must hold for what the bridge made of sensors, frames and keys, and
the lamps of the shoe must show what `expect signal` says.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dealershoe.bridge.start import open_bridge
from dealershoe.deal.grammar import header_stacks
from dealershoe.demo.player import Player, Result, wait_for_session
from dealershoe.demo.scripts import folder, load
from dealershoe.emulate.shoe import EmulatedShoe

STACKS = ("tda-2024", "roberts", "house", "tda-2024+house")


def scripts_of(stack: str) -> list[str]:
    """Names of the scripts that are dealt under `stack`: each under one of the stacks that it names, in turn."""
    found = []
    for place, path in enumerate(sorted(folder().glob("*.deal"))):
        named = [one for one in header_stacks(path.read_text("utf-8")) if one in STACKS]
        if named and named[place % len(named)] == stack:
            found.append(path.stem)
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_every_script_holds_through_sensors_frames_and_port(stack: str, tmp_path: Path) -> None:
    names = scripts_of(stack)
    assert names
    failures = []
    with EmulatedShoe(pace="fast") as shoe:
        bridge = open_bridge(shoe.port, stack, tmp_path / "journal", lambda _: None)
        bridge.start()
        try:
            wait_for_session(shoe, bridge, 1)
            player = Player(shoe, bridge, stack, 0.0)
            for name in names:
                result = Result(load(name))
                for _ in player.play(result):
                    pass
                failures += [f"{name}, {failure}" for failure in result.failures]
        finally:
            bridge.stop()
        assert bridge.error is None
    assert failures == []
